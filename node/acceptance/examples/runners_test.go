package examples_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// numRunners is more than any job wants: who was wrong or silent is not drawn again.
const numRunners = 16

// hire registers runners for pages and models that attest both (entitlements §5.1).
func (s *stage) hire() {
	s.Helper()
	s.runners = map[string]*account{}
	var all []*account
	for n := range numRunners {
		r := newAccount(s.T, fmt.Sprint("runner ", n))
		s.runners[r.addr.String()] = r
		all = append(all, r)
	}
	stake := s.params.Runner.StakeFloor
	s.fund(stake+50*chain.WeiPerCBY, all...)
	each(all, func(r *account) {
		a := &chain.RunnerAttestation{
			Runner: r.addr, ValidUntil: 1_000_000,
			Capabilities: encode(s.T, []any{
				map[string]any{"id": "http.fetch", "params": map[string]any{"allowlist_domains": []string{"*"}}}, map[string]any{"id": "oracle.llm"},
			}),
		}
		a.Signature = sign(r, a.Digest())
		s.must(r, chain.Tx{To: &chain.AddrRunnerRegistry, Value: stake, Payload: chain.EncodeRequest(&chain.RunnerRegister{
			RateCard: chain.RateCard{HTTPRequestBase: 10_000, LLMOutputToken: 100}, Attestation: a,
			Capabilities: chain.Capabilities{JobTypes: []chain.JobKind{chain.JobLLM, chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: 8},
		})})
	})
}

// fund gives accounts money of the bank's.
func (s *stage) fund(amount chain.Wei, to ...*account) {
	s.Helper()
	each(to, func(a *account) { s.must(s.bank, chain.Tx{To: &a.addr, Value: amount}) })
}

func sign(by *account, digest chain.Hash) (sig [65]byte) {
	got := by.key.Sign(digest)
	copy(sig[:32], got.R[:])
	copy(sig[32:64], got.S[:])
	sig[64] = got.YParity
	return sig
}

// silent stands for what a runner says that gives no sign.
const silent = "\x00"

// settle lets the runners of a job do it, in the order of their seats, and waits for the
// outcome. Those that commit are shown by their aggregator.
func (s *stage) settle(id chain.Hash, want string, say ...string) *rpc.JobReply {
	s.Helper()
	job := s.await(id, func(j *rpc.JobReply) bool { return j.AssignedAt > 0 || j.Phase == "ended" })
	s.reach(job.Height)
	reply, err := s.nodes[0].JobRunners(s.ctx, id)
	if err != nil || len(reply.Runners) != len(say) {
		s.Fatalf("runners of %s for %d results: %+v, %v", id, len(say), reply, err)
	}
	var reveals []chain.Reveal
	var commitments []chain.Tx
	var working []*account
	best := -1
	for i := range reply.Runners {
		if say[i] == silent {
			continue
		}
		seat := &reply.Runners[i]
		r := s.runners[seat.Runner]
		if r == nil {
			s.Fatalf("a stranger is drawn: %+v", seat)
		}
		result := found(job.JobType, say[i])
		shown := chain.Reveal{Runner: r.addr, Result: result, RunnerSig: sign(r, chain.ResultDigest(s.chainID, id, result))}
		bound := &chain.ResultCommit{JobID: id, Commitment: chain.ResultCommitment(result, shown.RunnerSig)}
		reveals, working = append(reveals, shown), append(working, r)
		commitments = append(commitments, chain.Tx{To: &chain.AddrResultVerifier, Payload: chain.EncodeRequest(bound)})
		if best < 0 || cmp.Or(-cmp.Compare(seat.Reputation, reply.Runners[best].Reputation), cmp.Compare(seat.Runner, reply.Runners[best].Runner)) < 0 {
			best = i // resolution 12.29
		}
	}
	if len(say) > 1 {
		each(working, func(r *account) { s.must(r, commitments[slices.Index(working, r)]) })
		if len(working) < len(say) {
			s.reach(job.CommitBy) // results may be shown when all have committed, or behind that
		}
	}
	if best >= 0 {
		show := chain.EncodeRequest(&chain.ResultSubmit{JobID: id, Reveals: reveals})
		if len(say) == 1 {
			show = chain.EncodeRequest(&chain.ResultReveal{JobID: id, Result: reveals[0].Result, RunnerSig: reveals[0].RunnerSig})
		}
		s.must(s.runners[reply.Runners[best].Runner], chain.Tx{To: &chain.AddrResultVerifier, Payload: show})
	}
	end := s.await(id, func(j *rpc.JobReply) bool { return j.Outcome != "open" })
	if end.Outcome != want {
		s.Errorf("job %s ends %q, want %q", id, end.Outcome, want)
	}
	return end
}

// found is a runner's result.
func found(kind, data string) []byte {
	r := chain.RunnerResult{Version: chain.RunnerResultVersion, Data: []byte(data)}
	if kind == "llm" || kind == "Llm" {
		r.Usage = chain.RunnerUsage{WallMillis: 1, InputTokens: 1, OutputTokens: 1}
		return r.Encode()
	}
	r.Usage = chain.RunnerUsage{WallMillis: 1, Requests: 1}
	r.Source = &chain.ResultSource{URL: "https://example.org/", Status: 200}
	return r.Encode()
}

// await asks for a job until it is as the test wants it.
func (s *stage) await(id chain.Hash, is func(*rpc.JobReply) bool) *rpc.JobReply {
	s.Helper()
	for {
		j, err := s.nodes[0].Job(s.ctx, id)
		if err == nil && is(j) {
			return j
		}
		s.pause(fmt.Sprintf("job %s (%+v, %v)", id, j, err))
	}
}

// next finds the job that the actor has asked for when it was told of another.
func (s *stage) next(told *rpc.JobReply, number uint64) chain.Hash {
	s.Helper()
	for {
		for h := told.VerdictAt + 1; h < told.VerdictAt+20; h++ {
			id := chain.ActorJobID(s.actor, number, h)
			if _, err := s.nodes[0].Job(s.ctx, id); err == nil {
				return id
			}
		}
		s.pause(fmt.Sprintf("job number %d", number))
	}
}
