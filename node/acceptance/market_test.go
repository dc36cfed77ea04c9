package acceptance_test

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// scene is a part of the market that is a test's own: a domain that only its runners serve, so
// that nobody else is a candidate for its jobs.
type scene struct {
	*probe
	domain string
	asker  *account

	wrongAsker *account // asks for what is to be refused; made when it is needed
}

const (
	cby         = chain.WeiPerCBY
	runnerPurse = 50 * cby // besides the stake
	price       = 10_000   // of a request, of every runner that is not to be dear
	jobTimeout  = 20       // the least that a job of several runners may name (resolution 11.27)
)

// scene makes one with a funded account that asks for work.
func (p *probe) scene(name string) *scene {
	s := &scene{probe: p, domain: name + ".example", asker: newAccount(name + " asker")}
	p.fund(1_000*cby, s.asker)
	return s
}

// offer is what a runner of the scene registers with, unless a test wants another.
func (s *scene) offer() *chain.RunnerRegister {
	return &chain.RunnerRegister{
		RateCard:     chain.RateCard{HTTPRequestBase: price},
		Capabilities: chain.Capabilities{JobTypes: []chain.JobKind{chain.JobHTTP}, HTTPDomains: []string{s.domain}, MaxConcurrentJobs: 1},
	}
}

// runners registers n runners with the least stake, each with an offer of its own.
func (s *scene) runners(n int, change ...func(i int, r *chain.RunnerRegister, stake *chain.Wei)) []*account {
	all := make([]*account, n)
	s.each(n, func(i int) {
		all[i] = newAccount(fmt.Sprintf("%s runner %d", s.domain, i))
		r, stake := s.offer(), s.net.params.Runner.StakeFloor
		for _, c := range change {
			c(i, r, &stake)
		}
		s.fund(stake+runnerPurse, all[i])
		tx := instruct(chain.AddrRunnerRegistry, r)
		tx.Value = stake
		s.must(all[i], tx)
	})
	return all
}

// job is a job for a page of the scene's domain that one runner fetches, as small as one can be.
func (s *scene) job() *chain.JobSubmit {
	return &chain.JobSubmit{
		Spec: chain.JobSpec{
			JobType: &chain.HTTPJob{URL: "https://" + s.domain + "/", Method: "GET"}, MaxPrice: price,
			Bounds:       chain.ResourceBounds{MaxWallTimeSeconds: 1, MaxMemoryMB: 1},
			Verification: chain.Verification{Mode: chain.VerifyNone, Runners: 1, Threshold: 1, DisputeWindowBlocks: 1}, TimeoutBlocks: jobTimeout,
		},
		Terms: chain.JobTerms{
			Version: chain.JobTermsVersion, JudgeSteps: 20_000,
			ResultSchema: chain.ResultSchema{MaxReturnBytes: 64, ExpectedExecutionMillis: 1, DataFormat: chain.FormatJSON},
		},
	}
}

// vote is the job for several runners, threshold of which must agree on a field.
func (s *scene) vote(runners, threshold uint8) *chain.JobSubmit {
	q := s.job()
	v := &q.Spec.Verification
	v.Mode, v.Runners, v.Threshold = chain.VerifyMajorityVote, runners, threshold
	field := "$.v"
	q.Terms.VoteField = &field
	q.Spec.MaxPrice = price * chain.Wei(runners)
	return q
}

// pair is the job for two runners that have to agree on the whole.
func (s *scene) pair() *chain.JobSubmit {
	q := s.vote(2, 2)
	q.Spec.Verification.Mode, q.Terms.VoteField = chain.VerifyStructured, nil
	q.Spec.Verification.Checks = []chain.VerifierCheck{&chain.FieldsCheck{Fields: []string{"$.v"}}}
	return q
}

func ask(q *chain.JobSubmit) chain.Tx {
	tx := instruct(chain.AddrJobDispatcher, q)
	tx.Value = q.Spec.MaxPrice + q.Spec.Tip
	return tx
}

// submitted is a job that stands on the chain.
type submitted struct {
	id chain.Hash
	at chain.Height
}

// ask submits a job that has to be taken.
func (s *scene) ask(q *chain.JobSubmit) submitted { return byHash(s.must(s.asker, ask(q))) }

// job asks the first node for a job until it is as the test wants it.
func (p *probe) await(id chain.Hash, what string, is func(*rpc.JobReply) bool) *rpc.JobReply {
	for {
		j, err := p.net.nodes[0].Job(p.ctx, id)
		if err == nil && is(j) {
			return j
		}
		select {
		case <-p.ctx.Done():
			p.fatalf("job %s is never %s: %+v, %v", id, what, j, err)
		default:
			p.pause()
		}
	}
}

// drawn waits for the committee of an attempt, counted from 0, and returns its seats in order.
func (p *probe) drawn(id chain.Hash, attempt uint8) (*rpc.JobReply, []rpc.SeatReply) {
	j := p.await(id, fmt.Sprintf("assigned for attempt %d", attempt), func(j *rpc.JobReply) bool {
		return j.Attempt >= attempt && j.AssignedAt > 0 || j.Phase == "ended"
	})
	p.reach(j.Height) // so that runners can ask any node
	return j, p.seats(id, attempt)
}

// seats are those of one attempt.
func (p *probe) seats(id chain.Hash, attempt uint8) (list []rpc.SeatReply) {
	r, err := p.net.nodes[0].JobRunners(p.ctx, id)
	p.check(err)
	for _, s := range r.Runners {
		if s.Attempt == attempt {
			list = append(list, s)
		}
	}
	return list
}

// ended waits until a job is over.
func (p *probe) ended(id chain.Hash) *rpc.JobReply {
	return p.await(id, "over", func(j *rpc.JobReply) bool { return j.Phase == "ended" })
}

// judged waits until a job has an outcome.
func (p *probe) judged(id chain.Hash) *rpc.JobReply {
	return p.await(id, "judged", func(j *rpc.JobReply) bool { return j.Outcome != "open" })
}

// candidates asks a node who could be drawn for a job.
func (p *probe) candidates(node int, id chain.Hash) *rpc.CandidatesReply {
	for {
		r, err := p.net.nodes[node].JobCandidates(p.ctx, id, 0, 1_000)
		if err == nil && (r.CandidatesRoot != hashOfNothing || r.TotalCount > 0) {
			return r
		}
		if client.IsCode(err, rpc.CodeCandidatesGone) {
			j, _ := p.net.nodes[node].Job(p.ctx, id)
			p.fatalf("nobody can be drawn for a job any more: %+v", j)
		}
		p.pause()
	}
}

var hashOfNothing = chain.Hash{}.String()

// runner is what the registry says of one.
func (p *probe) runner(a chain.Address) *rpc.RunnerReply {
	r, err := p.net.nodes[0].Runner(p.ctx, a)
	p.check(err)
	return r
}

// who finds the account of a seat.
func who(all []*account, seat *rpc.SeatReply) *account {
	i := slices.IndexFunc(all, func(a *account) bool { return a.addr.String() == seat.Runner })
	if i < 0 {
		return nil
	}
	return all[i]
}

// names lists addresses in ascending order.
func names(of ...*account) []string {
	list := []string{}
	for _, a := range of {
		list = append(list, a.addr.String())
	}
	slices.Sort(list)
	return list
}

// who could be drawn, as names.
func namesOf(r *rpc.CandidatesReply) []string {
	list := []string{}
	for _, c := range r.Candidates {
		list = append(list, c.Runner)
	}
	return list
}

// finds is the result of a runner that found data, for an attempt.
func (s *scene) finds(data string, attempt uint8) []byte {
	r := chain.RunnerResult{
		Version: chain.RunnerResultVersion, Attempt: attempt, Data: []byte(data), Usage: chain.RunnerUsage{WallMillis: 1, Requests: 1},
		Source: &chain.ResultSource{URL: "https://" + s.domain + "/", Status: 200, ResponseHash: keccak.Sum256([]byte(data))},
	}
	return r.Encode()
}

// sign is a runner's signature of a result: recoverable, over keccak256("cowboy-result-v1" ‖
// chain id ‖ job ‖ result) (resolution 11.1).
func (s *scene) sign(by *account, job chain.Hash, result []byte) (sig [65]byte) {
	got := by.key.Sign(keccak.Sum256([]byte("cowboy-result-v1"), be8(s.net.chainID), job[:], result))
	copy(sig[:32], got.R[:])
	copy(sig[32:64], got.S[:])
	sig[64] = got.YParity
	return sig
}

// commit binds a runner to a result: keccak256(result ‖ signature).
func (s *scene) commit(by *account, job chain.Hash, result []byte) chain.Tx {
	sig := s.sign(by, job, result)
	return instruct(chain.AddrResultVerifier, &chain.ResultCommit{JobID: job, Commitment: keccak.Sum256(result, sig[:])})
}

// reveal shows a runner's result.
func (s *scene) reveal(by *account, job chain.Hash, result []byte) chain.Tx {
	return instruct(chain.AddrResultVerifier, &chain.ResultReveal{JobID: job, Result: result, RunnerSig: s.sign(by, job, result)})
}
