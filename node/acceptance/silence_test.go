package acceptance_test

import (
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
)

// near compares reputations, which move by less than a hundredth of a point by themselves while
// a test runs.
func near(got, want float64) bool { return math.Abs(got-want) < 0.01 }

// r12: without enough commitments at the deadline for them, who was silent loses five points
// and is left out, and another committee is drawn from the seed of the retry.
func r12(p *probe) {
	s := p.scene("r12")
	all := s.runners(5)
	j := s.ask(s.pair())
	list := s.candidates(0, j.id).Candidates
	first, seats := s.drawn(j.id, 0)
	deadline := j.at + jobTimeout
	if by := first.AssignedAt + chain.Height(6*(deadline-first.AssignedAt)/10); first.Deadline != deadline || first.CommitBy != by {
		s.errorf("deadline %d and commitments until %d, want %d and %d", first.Deadline, first.CommitBy, deadline, by)
	}
	second, again := s.drawn(j.id, 1)
	if second.AssignedAt != first.CommitBy+1 {
		s.errorf("the second committee is drawn at %d, want %d", second.AssignedAt, first.CommitBy+1)
	}
	s.retried(first, list, seats, again, 1, 2)
	for i := range seats {
		a := who(all, &seats[i])
		if got := s.runner(a.addr); !near(got.Reputation, 45) || got.Silences != 1 {
			s.errorf("who was silent once has a reputation of %v and %d silences, want 45 and 1", got.Reputation, got.Silences)
		}
	}
	for i := range s.seats(j.id, 0) {
		if t := s.seats(j.id, 0)[i]; !t.Silent {
			s.errorf("the seat %+v is not called silent", t)
		}
	}
	for _, a := range all {
		if r := s.runner(a.addr); r.Silences == 0 && !near(r.Reputation, 50) {
			s.errorf("who was not silent has a reputation of %v", r.Reputation)
		}
	}
}

// r13: the third attempt that fails ends the job; who was silent pays for it, and at the third
// silence in a row with stake.
func r13(p *probe) {
	s := p.scene("r13")
	all := s.runners(7)
	before := p.balance(s.asker.addr)
	tx := ask(s.pair())
	o := s.must(s.asker, tx)
	id := jobIDOf(o.hash, chain.Height(o.receipt.BlockHeight))
	list := s.candidates(0, id).Candidates
	first, seats := s.drawn(id, 0)
	end := s.ended(id)
	if end.Status != "failed" || end.Outcome != "timeout" {
		s.errorf("after three attempts: %+v", end)
	}
	silent := seats
	for retry := uint32(1); retry < 3; retry++ {
		next := s.seats(id, uint8(retry))
		s.retried(first, list, silent, next, retry, 2)
		silent = append(silent, next...)
	}
	if fourth := s.seats(id, 3); len(silent) != 6 || len(fourth) != 0 {
		s.errorf("seats of three attempts: %v, and of a fourth: %v", runnersOf(silent), runnersOf(fourth))
	}
	for i := range silent {
		if got := s.runner(who(all, &silent[i]).addr); !near(got.Reputation, 42) || got.Slashed != 0 {
			s.errorf("silent in a job that failed: reputation %v, slashed %d, want 50 - 5 - 3 and 0", got.Reputation, got.Slashed)
		}
	}
	if after := p.balance(s.asker.addr); after != before-o.receipt.Fee {
		s.errorf("the asker had %d and has %d after a fee of %d: the escrow is not back", before, after, o.receipt.Fee)
	}
	s.slashedForSilence()
}

// slashedForSilence lets a runner be silent three times in a row.
func (s *scene) slashedForSilence() {
	other := &scene{probe: s.probe, domain: "again." + s.domain, asker: s.asker}
	r := other.runners(1)[0]
	stake := s.net.params.Runner.StakeFloor
	for n := 1; n <= 3; n++ {
		q := other.job()
		q.Spec.TimeoutBlocks = s.net.params.Job.MinWindowBlocks + 1
		other.ended(other.ask(q).id)
		want := chain.Wei(0)
		if n == 3 {
			want = stake / 20
		}
		got := other.runner(r.addr)
		if got.Slashed != want || got.Stake != stake-want || got.Reputation < 0 || got.Reputation > 200 {
			s.errorf("after %d silences in a row: %d slashed of %d, stake %d, reputation %v; want %d slashed", n, got.Slashed, stake, got.Stake, got.Reputation, want)
		}
		if n < 3 { // a day later, here a block, it may come back (resolution 12.5)
			other.returns(r)
		}
	}
}

// returns brings a runner's reputation back to what a candidate needs.
func (s *scene) returns(r *account) {
	s.reach(s.height() + chain.Height(s.net.params.Runner.ReturnBlocks) + 1)
	s.must(r, instruct(chain.AddrRunnerRegistry, &chain.RunnerReturn{}))
	if got := s.runner(r.addr); !near(got.Reputation, 50) {
		s.errorf("a runner that came back has a reputation of %v", got.Reputation)
	}
}
