package acceptance_test

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// r3: who is no candidate: each filter alone leaves a runner out.
func r3(p *probe) {
	s := p.scene("r3")
	const (
		plain = iota
		paused
		modelsOnly
		enclave
		dear
		busy
		member
		slow
		count
	)
	tee := "sgx"
	all := s.runners(count, func(i int, r *chain.RunnerRegister, _ *chain.Wei) {
		switch i {
		case modelsOnly:
			r.Capabilities.JobTypes = []chain.JobKind{chain.JobLLM}
		case enclave:
			r.Capabilities.TEESupport = &tee
		case dear:
			r.RateCard.HTTPRequestBase = price + 1
		case busy:
			r.Capabilities.HTTPDomains = []string{"busy." + s.domain, s.domain}
		case slow:
			r.Capabilities.HTTPDomains = []string{s.domain, "slow." + s.domain}
		}
	})
	s.must(all[paused], instruct(chain.AddrRunnerRegistry, &chain.RunnerPause{Paused: true}))
	s.sinkReputation(all[slow], "slow."+s.domain)
	occupied := s.job() // busy has one job, which is all that it takes
	occupied.Spec.JobType.(*chain.HTTPJob).URL, occupied.Spec.TimeoutBlocks = "https://busy."+s.domain+"/", 2_000
	at := s.ask(occupied)
	s.drawn(at.id, 0)
	s.must(s.asker, grant(all[member].addr, poolScope("r3"), joinAction("r3"), nil))

	long := func(q *chain.JobSubmit) *chain.JobSubmit { q.Spec.TimeoutBlocks = 2_000; return q }
	holds := func(what string, q *chain.JobSubmit, want ...*account) {
		j := s.ask(long(q))
		if len(want) == 0 {
			if end := s.ended(j.id); end.Outcome != "no_candidates" {
				s.errorf("%s: %+v, want no candidates", what, end)
			}
			return
		}
		if got := namesOf(s.candidates(0, j.id)); !slices.Equal(got, names(want...)) {
			s.errorf("%s: candidates %v, want %v", what, got, names(want...))
		}
	}
	inPool := s.job()
	inPool.Spec.RequiredRunnerPool = []byte("r3")
	holds("a job of a pool", inPool, all[member])
	inTEE := s.job() // nobody vouches for enclaves yet, so that what a runner says of itself is not enough
	inTEE.Spec.Verification.TEERequired, inTEE.Spec.Verification.RequiredTEEType = true, &tee
	holds("a job of an enclave", inTEE)
	// By now the member works, in the job above.
	holds("any job", s.job(), all[plain], all[enclave])
	for _, i := range []int{plain, enclave, member} {
		s.must(all[i], instruct(chain.AddrRunnerRegistry, &chain.RunnerPause{Paused: true}))
	}
	holds("a job at less than the price of the dear one", s.job())
	held := s.job()
	held.Spec.MaxPrice = price + 1
	holds("a job at the price of the dear one", held, all[dear])
}

// sinkReputation lets a runner be silent in a job, so that it has 45 points less what a failed
// job costs.
func (s *scene) sinkReputation(r *account, domain string) {
	q := s.job()
	q.Spec.JobType.(*chain.HTTPJob).URL, q.Spec.TimeoutBlocks = "https://"+domain+"/", s.net.params.Job.MinWindowBlocks+1
	s.ended(s.ask(q).id)
	if got := s.runner(r.addr).Reputation; got >= 50 {
		s.fatalf("a runner that was silent has a reputation of %v", got)
	}
}

// r4: candidates are in the order of their addresses, on every node, in whatever order they
// registered.
func r4(p *probe) {
	s := p.scene("r4")
	all := s.runners(7) // side by side: in any order
	j := s.ask(s.vote(3, 2))
	first := s.candidates(0, j.id)
	if got := namesOf(first); !slices.Equal(got, names(all...)) {
		s.errorf("candidates %v, want %v", got, names(all...))
	}
	_, seats := s.drawn(j.id, 0)
	for node := range p.net.nodes {
		if got := s.candidates(node, j.id); !slices.Equal(got.Candidates, first.Candidates) || got.CandidatesRoot != first.CandidatesRoot {
			s.errorf("node %d has other candidates: %+v, want %+v", node, got, first)
		}
		if got := s.seatsOf(node, j.id, 0); !sameSeats(got, seats) {
			s.errorf("node %d has another committee: %+v, want %+v", node, got, seats)
		}
	}
	indices := map[string]uint32{}
	for _, a := range all {
		indices[a.addr.String()] = s.runner(a.addr).Index
	}
	if slices.IsSortedFunc(first.Candidates, func(a, b rpc.CandidateReply) int { return int(indices[a.Runner]) - int(indices[b.Runner]) }) {
		s.Log("the runners registered in the order of their addresses: the order proves less this time")
	}
}

func sameSeats(a, b []rpc.SeatReply) bool {
	return slices.EqualFunc(a, b, func(x, y rpc.SeatReply) bool { return x.Runner == y.Runner && x.Seat == y.Seat })
}

// seatsOf asks one node, once it has drawn.
func (p *probe) seatsOf(node int, id chain.Hash, attempt uint8) (list []rpc.SeatReply) {
	for ; len(list) == 0; p.pause() {
		r, err := p.net.nodes[node].JobRunners(p.ctx, id)
		if client.IsNotFound(err) {
			continue
		}
		p.check(err)
		for _, s := range r.Runners {
			if s.Attempt == attempt {
				list = append(list, s)
			}
		}
	}
	return list
}

// r5: who joins or leaves behind the submission changes nothing for the job, its later draws
// included.
func r5(p *probe) {
	s := p.scene("r5")
	all := s.runners(6)
	j := s.ask(s.pair())
	before := s.candidates(0, j.id)
	first, seats := s.drawn(j.id, 0)
	late := newAccount("r5 late")
	s.fund(s.net.params.Runner.StakeFloor+runnerPurse, late)
	tx := instruct(chain.AddrRunnerRegistry, s.offer())
	tx.Value = s.net.params.Runner.StakeFloor
	s.must(late, tx)
	for _, a := range all { // one that has no seat leaves
		if !slices.ContainsFunc(seats, func(t rpc.SeatReply) bool { return t.Runner == a.addr.String() }) {
			s.must(a, instruct(chain.AddrRunnerRegistry, &chain.RunnerDeregister{}))
			break
		}
	}
	if after := s.candidates(0, j.id); !slices.Equal(after.Candidates, before.Candidates) || first.CandidatesRoot != before.CandidatesRoot {
		s.errorf("candidates went from %+v to %+v", before, after)
	}
	_, again := s.drawn(j.id, 1)
	s.retried(first, before.Candidates, seats, again, 1, 2)
}

// retried holds a later committee to the text: the seed of a retry, and the candidates of the
// submission without those that were silent, in their order.
func (s *scene) retried(first *rpc.JobReply, candidates []rpc.CandidateReply, silent, got []rpc.SeatReply, retry uint32, m int) {
	left := slices.DeleteFunc(slices.Clone(candidates), func(c rpc.CandidateReply) bool {
		return slices.ContainsFunc(silent, func(t rpc.SeatReply) bool { return t.Runner == c.Runner })
	})
	want := committeeOf(retrySeedOf(s.hash(first.Seed), retry), left, s.net.params.Runner.StakeFloor, m)
	if names := runnersOf(got); !slices.Equal(names, want) {
		s.errorf("retry %d drew %v, want %v", retry, names, want)
	}
}

func runnersOf(seats []rpc.SeatReply) (list []string) {
	for i := range seats {
		list = append(list, seats[i].Runner)
	}
	return list
}

func (p *probe) hash(text string) chain.Hash {
	h, err := client.ParseHash(text)
	p.check(err)
	return h
}

// drawnAsWritten holds the seed and the committee of a job's first draw to the text, from what
// the chain tells everybody.
func (s *scene) drawnAsWritten(j submitted, m int) []rpc.SeatReply {
	job, seats := s.drawn(j.id, 0)
	block, err := s.net.nodes[1].BlockByHeight(s.ctx, j.at)
	s.check(err)
	seed := seedOf(s.hash(block.Hash), j.id, j.at)
	if job.Seed != seed.String() {
		s.errorf("seed %s, want %s", job.Seed, seed)
	}
	list := s.candidates(2, j.id).Candidates
	if got, want := runnersOf(seats), committeeOf(seed, list, s.net.params.Runner.StakeFloor, m); !slices.Equal(got, want) {
		s.errorf("committee %v, want %v", got, want)
	}
	return seats
}

// r6: the committee follows from the hash of the submission's block.
func r6(p *probe) {
	s := p.scene("r6")
	s.runners(8)
	for _, m := range []uint8{1, 3} {
		q := s.job()
		if m > 1 {
			q = s.vote(m, 2)
		}
		if seats := s.drawnAsWritten(s.ask(q), int(m)); len(seats) != int(m) {
			s.errorf("%d seats of %d", len(seats), m)
		}
	}
}

// r7: the weight is the logarithm of the stake, exactly.
func r7(p *probe) {
	s := p.scene("r7")
	least := s.net.params.Runner.StakeFloor
	stakes := map[chain.Wei]uint64{
		least: 2, 3*least - 1: 2, 3 * least: 3, 7*least - 1: 3, 7 * least: 4, 1023*least - 1: 10, 1023 * least: 11, 1024 * least: 11,
	}
	order := []chain.Wei{least, 3*least - 1, 3 * least, 7*least - 1, 7 * least, 1023*least - 1, 1023 * least, 1024 * least}
	all := s.runners(len(order), func(i int, _ *chain.RunnerRegister, stake *chain.Wei) { *stake = order[i] })
	for i, stake := range order { // by hand, and the rule of the text
		if weightOf(stake, least) != stakes[stake] {
			s.errorf("the weight of %d·MIN_STAKE/%d is %d by the text, %d by hand", order[i], least, weightOf(stake, least), stakes[stake])
		}
	}
	j := s.ask(s.vote(3, 2))
	for _, c := range s.candidates(0, j.id).Candidates {
		i := slices.IndexFunc(all, func(a *account) bool { return a.addr.String() == c.Runner })
		if c.EffectiveStake != order[i] || c.BaseWeight != stakes[order[i]] {
			s.errorf("a stake of %d counts as %d with weight %d, want weight %d", order[i], c.EffectiveStake, c.BaseWeight, stakes[order[i]])
		}
	}
	s.drawnAsWritten(j, 3)
}

// r8: nobody is drawn twice; fewer candidates than seats leave seats empty, and none leaves a
// job without runners.
func r8(p *probe) {
	s := p.scene("r8")
	all := s.runners(2)
	j := s.ask(s.vote(3, 2))
	seats := s.drawnAsWritten(j, 3)
	if got := runnersOf(seats); len(got) != 2 || !slices.Equal(slices.Sorted(slices.Values(got)), names(all...)) {
		s.errorf("two candidates for three seats: %v, want %v", got, names(all...))
	}
	nobody := s.job()
	nobody.Spec.JobType.(*chain.HTTPJob).URL = "https://nobody." + s.domain + "/"
	none := s.ask(nobody)
	if got := s.ended(none.id); got.Outcome != "no_candidates" || got.Status != "failed" || len(s.seats(none.id, 0)) != 0 {
		s.errorf("a job without candidates: %+v", got)
	}
}

// r9: a result of who was not drawn is refused.
func r9(p *probe) {
	s := p.scene("r9")
	all := s.runners(2)
	q := s.job()
	q.Spec.TimeoutBlocks = 500
	j := s.ask(q)
	_, seats := s.drawn(j.id, 0)
	drawn := who(all, &seats[0])
	other := all[0]
	if other == drawn {
		other = all[1]
	}
	result := s.finds(`{"v":1}`, 0)
	s.refused("a commitment of who was not drawn", other, s.commit(other, j.id, result))
	s.refused("a result of who was not drawn", other, s.reveal(other, j.id, result))
	s.refused("a result of who is no runner", s.asker, s.reveal(s.asker, j.id, result))
	if got, err := s.net.nodes[0].JobResults(s.ctx, j.id); err != nil || got.TotalCount != 0 {
		s.errorf("results after those: %+v, %v", got, err)
	}
	s.must(drawn, s.reveal(drawn, j.id, result)) // the nearest valid one
}

// r10: the root of the candidates is on the chain with the job, and proofs against it hold.
func r10(p *probe) {
	s := p.scene("r10")
	all := s.runners(5) // odd levels
	outside := s.runnersOf("r10 outside", 1)[0]
	j := s.ask(s.vote(3, 2))
	list := s.candidates(0, j.id)
	job, _ := s.drawn(j.id, 0)
	if root := rootOf(list.Candidates).String(); job.CandidatesRoot != root || list.CandidatesRoot != root {
		s.errorf("roots %s and %s, want %s", job.CandidatesRoot, list.CandidatesRoot, root)
	}
	s.proven(j.id, job.CandidatesRoot, all)
	if proof, err := s.net.nodes[3].JobCandidate(s.ctx, j.id, outside.addr); !client.IsCode(err, rpc.CodeNoCandidate) {
		s.errorf("a proof for who is no candidate: %+v, %v", proof, err)
	}
	for end := s.ended(j.id); s.height() < end.Height+1; { // nobody has worked
		p.pause()
	}
	s.proven(j.id, job.CandidatesRoot, all) // out of the state of its submission
}

// proven asks for the proof of each candidate, which has to lead to the root of the job.
func (s *scene) proven(id chain.Hash, root string, all []*account) {
	for _, a := range all {
		proof, err := s.net.nodes[3].JobCandidate(s.ctx, id, a.addr)
		s.check(err)
		var siblings []chain.Hash
		for _, h := range proof.Siblings {
			siblings = append(siblings, s.hash(h))
		}
		leaf := leafOf(&proof.Candidate)
		if proof.Leaf != leaf.String() || climb(leaf, proof.Candidate.Index, siblings).String() != root {
			s.errorf("the proof of %s does not lead to %s: %+v", a.addr, root, proof)
		}
	}
}

// runnersOf registers runners of another domain.
func (s *scene) runnersOf(name string, n int) []*account {
	other := &scene{probe: s.probe, domain: name[:3] + "-other.example", asker: s.asker}
	return other.runners(n)
}
