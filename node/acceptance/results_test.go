package acceptance_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// committee is a job of several runners that were drawn, in the order of their seats.
type committee struct {
	submitted
	*rpc.JobReply
	seats   []rpc.SeatReply
	members []*account
}

// committee asks for work and waits for its runners, which are all of the scene's.
func (s *scene) committee(all []*account, q *chain.JobSubmit) *committee {
	j := s.ask(q)
	job, seats := s.drawn(j.id, 0)
	c := &committee{submitted: j, JobReply: job, seats: seats}
	for i := range seats {
		c.members = append(c.members, who(all, &seats[i]))
	}
	if len(c.members) != int(q.Spec.Verification.Runners) || slices.Contains(c.members, nil) {
		s.fatalf("job %s has the seats %+v", j.id, seats)
	}
	return c
}

// aggregator is the member of the best reputation, of the lowest address among equals (CIP-2
// §8; resolution 12.29: of those that committed).
func (c *committee) aggregator(committed ...*account) *account {
	best := -1
	for i := range c.seats {
		if !slices.Contains(committed, c.members[i]) {
			continue
		}
		if best < 0 || c.seats[i].Reputation > c.seats[best].Reputation ||
			c.seats[i].Reputation == c.seats[best].Reputation && c.seats[i].Runner < c.seats[best].Runner {
			best = i
		}
	}
	return c.members[best]
}

// others are the members without some of them.
func (c *committee) others(without ...*account) (list []*account) {
	for _, m := range c.members {
		if !slices.Contains(without, m) {
			list = append(list, m)
		}
	}
	return list
}

const answer = `{"v":1}`

// mark is how the chain judges what a runner has shown.
func (s *scene) mark(id chain.Hash, a *account) string {
	for _, t := range s.seats(id, 0) {
		if t.Runner == a.addr.String() {
			return t.Mark
		}
	}
	return "no seat"
}

// r21: a second commitment is refused, and so is one behind the deadline for them.
func r21(p *probe) {
	s := p.scene("r21")
	all := s.runners(3)
	q := s.vote(3, 2)
	q.Spec.TimeoutBlocks = 250
	c := s.committee(all, q)
	result := s.finds(answer, 0)
	for _, m := range c.members[:2] {
		s.must(m, s.commit(m, c.id, result))
	}
	s.refused("a second commitment", c.members[0], s.commit(c.members[0], c.id, result))
	s.refused("another commitment", c.members[0], s.commit(c.members[0], c.id, s.finds(`{"v":2}`, 0)))
	s.reach(c.CommitBy)
	s.refused("a commitment behind the deadline", c.members[2], s.commit(c.members[2], c.id, result))
	want := keccakOf(result, s.sign(c.members[0], c.id, result))
	for _, t := range s.seats(c.id, 0) {
		switch {
		case t.Runner == c.members[0].addr.String() && (t.Commitment == nil || *t.Commitment != want):
			s.errorf("the first commitment is %v, want %s", t.Commitment, want)
		case t.Runner == c.members[2].addr.String() && t.Commitment != nil:
			s.errorf("a late commitment stands: %+v", t)
		}
	}
}

func keccakOf(result []byte, sig [65]byte) string {
	h := chain.Hash(keccak.Sum256(result, sig[:]))
	return h.String()
}

// r22: what was committed to is what counts: another result, another runner's, another job's
// and a copy of commitment and result are refused.
func r22(p *probe) {
	s := p.scene("r22")
	all := s.runners(3, roomy)
	q := s.vote(3, 2)
	q.Spec.TimeoutBlocks = 600
	c, foreign := s.committee(all, q), s.committee(all, q)
	result, changed := s.finds(answer, 0), s.finds(`{"v":2}`, 0)
	honest, second, copier := c.members[0], c.members[1], c.members[2]
	s.must(honest, s.commit(honest, c.id, result))
	s.must(second, s.commit(second, c.id, result))
	sig := s.sign(honest, c.id, result)
	s.must(copier, instruct(chain.AddrResultVerifier, &chain.ResultCommit{JobID: c.id, Commitment: keccak.Sum256(result, sig[:])}))
	by := c.aggregator(c.members...)
	show := func(reveals ...chain.Reveal) chain.Tx {
		return instruct(chain.AddrResultVerifier, &chain.ResultSubmit{JobID: c.id, Reveals: reveals})
	}
	of := func(m *account, job chain.Hash, result []byte) chain.Reveal {
		return chain.Reveal{Runner: m.addr, Result: result, RunnerSig: s.sign(m, job, result)}
	}
	s.refused("a changed result", by, show(of(honest, c.id, changed)))
	s.refused("a result with a signature for another job", by, show(of(honest, foreign.id, result)))
	s.refused("another runner's signature", by, show(chain.Reveal{Runner: honest.addr, Result: result, RunnerSig: s.sign(second, c.id, result)}))
	s.refused("no signature", by, show(chain.Reveal{Runner: honest.addr, Result: result}))
	s.refused("a copied commitment with a copied result", by, show(chain.Reveal{Runner: copier.addr, Result: result, RunnerSig: sig}))
	s.refused("a copied commitment with a result of its own", by, show(of(copier, c.id, result)))
	s.refused("a runner without a seat", by, show(chain.Reveal{Runner: s.asker.addr, Result: result, RunnerSig: s.sign(s.asker, c.id, result)}))
	s.refused("a good one beside a bad one", by, show(of(honest, c.id, result), of(second, c.id, changed)))
	if got, err := s.net.nodes[0].JobResults(s.ctx, c.id); err != nil || got.TotalCount != 0 {
		s.errorf("results that were refused stand: %+v, %v", got, err)
	}
	s.must(by, show(inSeats(c, of(honest, c.id, result), of(second, c.id, result))...))
	if end := s.judged(c.id); end.Outcome != "ok" || s.mark(c.id, honest) != "agrees" || s.mark(c.id, second) != "agrees" || s.mark(c.id, copier) == "agrees" {
		s.errorf("the job is %q, the marks are %s, %s and of the copy %s", end.Outcome, s.mark(c.id, honest), s.mark(c.id, second), s.mark(c.id, copier))
	}
}

// inSeats puts reveals in the order of the seats.
func inSeats(c *committee, list ...chain.Reveal) []chain.Reveal {
	slices.SortFunc(list, func(a, b chain.Reveal) int { return c.place(a.Runner) - c.place(b.Runner) })
	return list
}

func (c *committee) place(a chain.Address) int {
	return slices.IndexFunc(c.members, func(m *account) bool { return m.addr == a })
}

// r23: until the end of its window the best runner reveals alone, and behind it everybody may.
func r23(p *probe) {
	s := p.scene("r23")
	all := s.runners(3)
	best := s.succeeds(all) // one of them has a result more than the others
	q := s.vote(3, 2)
	q.Spec.TimeoutBlocks = 300
	c := s.committee(all, q)
	result := s.finds(answer, 0)
	s.each(len(c.members), func(i int) { s.must(c.members[i], s.commit(c.members[i], c.id, result)) })
	by := c.aggregator(c.members...)
	if best != nil && by != best {
		s.errorf("the aggregator by the seats is %s, and %s has the best reputation", by.addr, best.addr)
	}
	others := c.others(by)
	if want := c.Deadline - (c.Deadline-c.AssignedAt)/5; c.GatherUntil != want {
		s.errorf("the aggregator's window ends at %d, want %d", c.GatherUntil, want)
	}
	s.refused("a reveal of another in the aggregator's window", others[0], s.reveal(others[0], c.id, result))
	s.reach(c.GatherUntil) // and the aggregator says nothing
	for _, m := range others {
		s.must(m, s.reveal(m, c.id, result))
	}
	if end := s.judged(c.id); end.Outcome != "ok" {
		s.errorf("two of three that agree, without their aggregator: %+v", end)
	}
	s.tieGoesToTheLowest()
}

// succeeds lets one runner finish a job alone, and returns it.
func (s *scene) succeeds(all []*account) *account {
	j := s.ask(s.job())
	_, seats := s.drawn(j.id, 0)
	r := who(all, &seats[0])
	s.must(r, s.reveal(r, j.id, s.finds(answer, 0)))
	s.ended(j.id)
	if got := s.runner(r.addr); got.Reputation <= 50 || got.Successes != 1 {
		s.errorf("behind a verified result: %+v", got)
	}
	return r
}

// tieGoesToTheLowest has runners of one reputation.
func (s *scene) tieGoesToTheLowest() {
	other := &scene{probe: s.probe, domain: "tie." + s.domain, asker: s.asker}
	all := other.runners(3)
	q := other.vote(3, 2)
	q.Spec.TimeoutBlocks = 600
	c := other.committee(all, q)
	result := other.finds(answer, 0)
	other.each(3, func(i int) { other.must(all[i], other.commit(all[i], c.id, result)) })
	lowest := slices.MinFunc(all, func(a, b *account) int { return strings.Compare(a.addr.String(), b.addr.String()) })
	for _, m := range c.others(lowest) {
		other.refused("a reveal of one of equal reputation and a higher address", m, other.reveal(m, c.id, result))
	}
	other.must(lowest, other.reveal(lowest, c.id, result))
}

// r26: a result above the limit of its job is refused, and none is above 64 KiB.
func r26(p *probe) {
	s := p.scene("r26")
	all := s.runners(1, roomy)
	ask := func(most uint32, bounds func(*chain.JobSubmit)) submitted {
		q := s.longJob()
		q.Terms.ResultSchema.MaxReturnBytes = most
		bounds(q)
		j := s.ask(q)
		s.drawn(j.id, 0)
		return j
	}
	none := func(*chain.JobSubmit) {}
	text := func(n int) string { return fmt.Sprintf(`"%s"`, strings.Repeat("x", n-2)) }
	j := ask(64, none)
	s.refused("a result one byte too long", all[0], s.reveal(all[0], j.id, s.finds(text(65), 0)))
	if got, err := s.net.nodes[0].JobResults(s.ctx, j.id); err != nil || got.TotalCount != 0 {
		s.errorf("a result that was refused stands: %+v, %v", got, err)
	}
	s.must(all[0], s.reveal(all[0], j.id, s.finds(text(64), 0)))
	s.ended(j.id) // it is paid, and its balance stands still
	q := s.longJob()
	q.Terms.ResultSchema.MaxReturnBytes = 64 << 10
	tx := s.altered(q, func(_, terms map[any]any) { terms[keySchema].(map[any]any)[keyReturn] = uint64(64<<10 + 1) })
	s.refusedJob("a job for more than 64 KiB", tx)
	large := ask(64<<10, none)
	s.refused("a result above 64 KiB", all[0], s.reveal(all[0], large.id, s.finds(text(64<<10+1), 0)))
}
