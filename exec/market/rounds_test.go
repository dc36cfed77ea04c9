package market_test

import (
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// names are those of the events of the last block, in order.
func (w *world) names() (out []string) {
	for _, e := range w.events {
		out = append(out, e.Name)
	}
	return out
}

// TestThreeRoundsInSilence walks a job of three through its attempts with nobody answering:
// at which heights what happens, what it costs, and where the money goes.
func TestThreeRoundsInSilence(t *testing.T) { // R8, R12, R13; resolutions 12.18, 12.25, 12.35, 12.80
	w := newWorld(t)
	me, id := chain.Address{9, 9}, chain.Hash{5}
	w.fund(me, 1_000)
	w.height = 99
	w.block(chain.Hash{}, func(d *jobs.Dispatch) { // 100
		for n := range byte(11) {
			enlist(t, d, chain.Address{n, 1}, w.p.Runner.StakeFloor, chain.RateCard{}, 4)
		}
		submit(t, d, id, order{by: me, runners: 3, agree: 2, timeout: 20, price: 1_000})
	})
	seed := chain.SelectionSeedV2(chain.Hash{1}, id, 100)
	var silent []chain.Address
	for attempt, want := range []struct{ assigned, commitBy, gather, deadline chain.Height }{
		{101, 112, 117, 120}, // 20 blocks from the submission
		{113, 125, 129, 133}, // 20 blocks from the draw
		{126, 138, 142, 146},
	} {
		for w.height < want.assigned-1 {
			w.block(chain.Hash{byte(w.height)}, nil)
		}
		w.block(chain.Hash{1}, nil)
		j := w.job(id)
		if j.Phase != jobs.Assigned || int(j.Attempt) != attempt || j.AssignedAt != want.assigned || j.CommitBy != want.commitBy ||
			j.GatherUntil != want.gather || j.Deadline != want.deadline || j.Seed != seed {
			t.Fatalf("attempt %d: %+v", attempt, j)
		}
		events := []string{jobs.EventRetried, jobs.EventAssigned}
		if attempt == 0 {
			events = events[1:]
		}
		if got := w.names(); !slices.Equal(got, events) {
			t.Errorf("attempt %d announces %v", attempt, got)
		}
		seats := w.seats(id, uint8(attempt))
		if len(seats) != 3 {
			t.Fatalf("attempt %d has %d seats", attempt, len(seats))
		}
		for _, s := range seats {
			if slices.Contains(silent, s.Runner) {
				t.Errorf("attempt %d draws %s again", attempt, s.Runner)
			}
			silent = append(silent, s.Runner)
			if r := w.runner(s.Runner); r.Active != 1 {
				t.Errorf("%s has %d seats", s.Runner, r.Active)
			}
		}
	}
	for w.height < 138 {
		w.block(chain.Hash{}, nil)
	}
	if j := w.job(id); j.Phase != jobs.Assigned || w.maps.Balance(me) != 0 {
		t.Fatalf("before the end: %+v", j)
	}
	w.block(chain.Hash{}, nil) // 139
	if j := w.job(id); j.Phase != jobs.Ended || j.Outcome != jobs.Timeout || j.Held != 0 || w.maps.Balance(me) != 1_000 {
		t.Errorf("at the end: %+v, %d came back", j, w.maps.Balance(me))
	}
	if got := w.names(); !slices.Equal(got, []string{jobs.EventFailed}) {
		t.Errorf("the end announces %v", got)
	}
	for _, a := range silent {
		r := w.runner(a)
		if points := selection.Rounded(r.Standing.ReputationX1e9); points != 42 || r.Active != 0 || r.Silences != 1 || r.Stake != w.p.Runner.StakeFloor {
			t.Errorf("%s: %d points, %+v", a, points, *r)
		}
	}
	if left := w.rows(chain.AddrJobDispatcher, "of/") + w.rows(chain.AddrJobDispatcher, "live/") + w.rows(chain.AddrRunnerRegistry, "was/"); left != 0 {
		t.Errorf("%d rows are left of what is over", left)
	}
	w.p.Job.KeepBlocks = 0 // of jobs that end from now on
	for w.height < 139+86_400 {
		w.height += 86_400 - 1
		w.block(chain.Hash{}, nil)
		w.block(chain.Hash{}, nil)
	}
	w.block(chain.Hash{}, nil)
	if n := w.rows(chain.AddrJobDispatcher, ""); n != 0 {
		t.Errorf("%d rows are left of the job", n)
	}
}

// TestAttemptsAreThoseOfTheSubmission: a vote on job.max_retries gives a job that is open no
// attempt more, and takes none.
func TestAttemptsAreThoseOfTheSubmission(t *testing.T) {
	for _, later := range []uint64{1, 9} {
		w := newWorld(t)
		w.p.Job.MaxRetries = 2
		id := chain.Hash{5}
		w.block(chain.Hash{}, func(d *jobs.Dispatch) {
			for n := range byte(30) {
				enlist(t, d, chain.Address{n, 1}, w.p.Runner.StakeFloor, chain.RateCard{}, 4)
			}
			submit(t, d, id, order{by: chain.Address{9, 9}, runners: 3, agree: 2, timeout: 20})
		})
		w.p.Job.MaxRetries = later
		for w.height < 200 {
			w.block(chain.Hash{1}, nil)
		}
		if j := w.job(id); j.Phase != jobs.Ended || j.Outcome != jobs.Timeout || j.Attempt != 1 {
			t.Errorf("with %d voted later: %+v", later, *j)
		}
	}
}

// TestBacklogKeepsItsOrder: many jobs that fall due together are come to in their order, as
// many as a block takes, and none of them loses time by it: the next attempt has its whole
// span from the block that draws it.
func TestBacklogKeepsItsOrder(t *testing.T) {
	w := newWorld(t)
	w.p.Job.DuePerBlock, w.p.Job.RetriesPerBlock = 3, 2
	me := chain.Address{9, 9}
	w.block(chain.Hash{}, func(d *jobs.Dispatch) {
		for n := range byte(20) {
			enlist(t, d, chain.Address{n, 1}, w.p.Runner.StakeFloor, chain.RateCard{}, 1_000)
		}
		for n := range byte(8) {
			submit(t, d, chain.Hash{n}, order{by: me, runners: 2, agree: 2, timeout: 20})
		}
	})
	first := w.height
	for range 12 {
		w.block(chain.Hash{1}, nil)
	}
	due := w.job(chain.Hash{}).CommitBy
	if due != first+12 {
		t.Fatalf("due behind %d", due)
	}
	var drawn []byte
	for range 4 {
		w.block(chain.Hash{2}, nil)
		for n := range byte(8) {
			if j := w.job(chain.Hash{n}); j.Attempt == 1 && j.AssignedAt == w.height {
				drawn = append(drawn, n)
				if j.Deadline != w.height+20 {
					t.Errorf("job %d is drawn for at %d until %d", n, w.height, j.Deadline)
				}
			}
		}
		if want := int(2 * (w.height - due)); len(drawn) != want {
			t.Errorf("block %d: %d are drawn for, want %d", w.height, len(drawn), want)
		}
	}
	if !slices.Equal(drawn, []byte{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("in the order %v", drawn)
	}
}

// TestShortWindowCostsNothing: where a vote makes the window of an attempt too short, nobody
// is penalised in it, for silence or for what is withheld. A block more, and both are.
func TestShortWindowCostsNothing(t *testing.T) { // resolution 12.27
	for _, least := range []uint64{19, 20} {
		w := newWorld(t)
		w.p.Job.MaxRetries = 1
		me, alone, two := chain.Address{9, 9}, chain.Hash{1}, chain.Hash{2}
		w.judged(func(d *jobs.Dispatch) {
			for n := range byte(3) {
				enlist(t, d, chain.Address{n, 1}, w.p.Runner.StakeFloor, chain.RateCard{}, 4)
			}
			submit(t, d, alone, order{by: me, runners: 1, agree: 1, timeout: 20})
			submit(t, d, two, order{by: me, runners: 2, agree: 2, timeout: 20})
		})
		w.p.Job.MinWindowBlocks = least
		w.judged(func(d *jobs.Dispatch) {
			promise(t, d, two, 0, 0)
			promise(t, d, two, 0, 1)
		})
		for w.height <= w.job(alone).Deadline {
			w.judged(nil)
		}
		penalised := least == 19
		s := w.seats(alone, 0)[0]
		if r := w.runner(s.Runner); !s.Silent || r.Silences > 0 != penalised || (selection.Rounded(r.Standing.ReputationX1e9) < 50) != penalised {
			t.Errorf("at least %d blocks, silence: %+v, %+v", least, *s, *r)
		}
		for _, s := range w.seats(two, 0) {
			if s.Frozen > 0 != penalised || s.Mark != jobs.Void {
				t.Errorf("at least %d blocks, withheld: %+v", least, *s)
			}
		}
	}
}
