package market_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// crew are as many runners as the largest job may have, all honest, and not on probation.
const crew = 40

func (w *world) crewed() {
	w.p.Runner.ProbationSuccesses = 0
	w.judged(func(d *jobs.Dispatch) {
		for n := range byte(crew) {
			enlist(w.t, d, chain.Address{n, 1}, w.p.Runner.StakeFloor, chain.RateCard{}, 1_000)
		}
	})
}

// asked are the specification and the terms of a job that the chain has.
func (w *world) asked(id chain.Hash) (*chain.JobSpec, *chain.JobTerms) {
	w.t.Helper()
	spec, err := jobs.ReadSpec(w.maps, id)
	if err != nil {
		w.t.Fatal(err)
	}
	terms, err := jobs.ReadTerms(w.maps, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return spec, terms
}

// showWhatFits shows results until the lane of a block is full: of each job those that its
// runners may show without the one that gathers, which never does. It leaves the withheld
// seats out.
func (w *world) showWhatFits(d *jobs.Dispatch, ids []chain.Hash, withheld int) {
	left := jobs.Room(&w.p)
	for _, id := range ids {
		j := w.job(id)
		if j.Phase != jobs.Assigned && j.Phase != jobs.Closing || d.Book.Height > j.Deadline || d.Book.Height <= j.GatherUntil {
			continue
		}
		one := jobs.Shown(&w.p, first(w.asked(id)), second(w.asked(id)))
		for n, s := range w.seats(id, j.Attempt) {
			if s.Reveal != nil || s.Commitment == nil || n < withheld {
				continue
			}
			if one.Cells > left.Cells || one.Cycles > left.Cycles || one.Bytes > left.Bytes {
				break
			}
			left.Cells, left.Cycles, left.Bytes = left.Cells-one.Cells, left.Cycles-one.Cycles, left.Bytes-one.Bytes
			d.Used.Cells, d.Used.Cycles, d.Used.Bytes = d.Used.Cells+one.Cells, d.Used.Cycles+one.Cycles, d.Used.Bytes+one.Bytes
			show(w.t, d, id, j.Attempt, uint8(n))
		}
	}
}

func first(s *chain.JobSpec, _ *chain.JobTerms) *chain.JobSpec   { return s }
func second(_ *chain.JobSpec, t *chain.JobTerms) *chain.JobTerms { return t }

// laneGame submits equal jobs in one block and plays their first attempt to its end: all
// runners commit at once and show their results as soon as they find room.
func laneGame(t *testing.T, count int, q order, withheld int) (*world, []chain.Hash) {
	w := newWorld(t)
	w.p.Job.MaxRetries = 1
	w.crewed()
	var ids []chain.Hash
	for n := range count {
		ids = append(ids, chain.Hash{byte(n + 1)})
	}
	w.judged(func(d *jobs.Dispatch) {
		for _, id := range ids {
			submit(t, d, id, q)
		}
	})
	w.judged(func(d *jobs.Dispatch) {
		for _, id := range ids {
			for n := range w.drawn(d, id) {
				promise(t, d, id, 0, uint8(n))
			}
		}
	})
	for last := w.job(ids[0]).Deadline; w.height <= last+2; {
		w.judged(func(d *jobs.Dispatch) { w.showWhatFits(d, ids, withheld) })
	}
	return w, ids
}

func (w *world) drawn(d *jobs.Dispatch, id chain.Hash) []*jobs.Seat {
	w.t.Helper()
	seats, err := jobs.ReadSeats(d.Book.State, id, 0)
	if err != nil || len(seats) == 0 {
		w.t.Fatalf("%d seats, %v", len(seats), err)
	}
	return seats
}

// losers counts the seats that were not shown, and those that cost their runner stake.
func (w *world) losers(ids []chain.Hash) (unshown, slashed int) {
	for _, id := range ids {
		for _, s := range w.seats(id, 0) {
			if s.Reveal == nil {
				unshown++
			}
			if s.Frozen > 0 {
				slashed++
			}
		}
	}
	for n := range byte(crew) {
		if r := w.runner(chain.Address{n, 1}); r.Slashed > 0 && slashed == 0 {
			w.t.Errorf("%s has lost %d", chain.Address{n, 1}, r.Slashed)
		}
	}
	return unshown, slashed
}

// TestAJobGivesTimeForItsResults: with the least timeout that a submission may have all
// runners of a job find room for their results, whatever their size, and who withholds one is
// slashed; what was taken in before lets the honest lose.
func TestAJobGivesTimeForItsResults(t *testing.T) {
	for _, c := range []struct {
		runners uint8
		bytes   uint32
	}{{16, 64 << 10}, {16, 58_000}, {16, 38_000}, {5, 16 << 10}, {3, 64 << 10}, {16, 1}} {
		q := order{by: chain.Address{9, 9}, runners: c.runners, agree: c.runners/2 + 1, timeout: 1_000, bytes: c.bytes}
		w := newWorld(t)
		w.block(chain.Hash{}, func(d *jobs.Dispatch) { submit(t, d, chain.Hash{1}, q) })
		spec, terms := w.asked(chain.Hash{1})
		least, ok := jobs.LeastTimeout(&w.p, spec, terms)
		if !ok {
			t.Fatalf("%+v: no timeout would do", c)
		}
		q.timeout = max(least, w.p.Job.MinCommitteeTimeoutBlocks)
		w, ids := laneGame(t, 1, q, 0)
		if unshown, slashed := w.losers(ids); unshown != 0 || slashed != 0 || w.job(ids[0]).Spared {
			t.Errorf("%+v in %d blocks: %d results are not shown, %d runners slashed", c, q.timeout, unshown, slashed)
		}
		w, ids = laneGame(t, 1, q, 1)
		if unshown, slashed := w.losers(ids); unshown != 1 || slashed != 1 {
			t.Errorf("%+v, one withheld: %d results are not shown, %d runners slashed", c, unshown, slashed)
		}
		t.Logf("%d results of %d bytes: timeout %d", c.runners, c.bytes, least)
		if least < 40 { // half of the lane is asked for, and here they have all of it
			continue
		}
		q.timeout = 20
		w, ids = laneGame(t, 1, q, 0)
		if unshown, _ := w.losers(ids); unshown == 0 {
			t.Errorf("%+v: all is shown in 20 blocks, and %d are asked for", c, least)
		}
	}
}

// TestACrowdedLaneCostsNobody: jobs that are each taken in ask together for more than the
// lane has. Some results are not shown, and nobody loses stake or reputation by it; once they
// are over, who withholds is slashed again.
func TestACrowdedLaneCostsNobody(t *testing.T) {
	for _, q := range []order{
		{runners: 16, agree: 9, timeout: 101, bytes: 64 << 10},
		{runners: 5, agree: 3, timeout: 40, bytes: 40_000},
		{runners: 1, agree: 1, timeout: 11, bytes: 64 << 10},
	} {
		q.by = chain.Address{9, 9}
		w, ids := laneGame(t, 12, q, 0)
		unshown, slashed := w.losers(ids)
		if unshown == 0 || slashed != 0 {
			t.Errorf("%+v: %d results are not shown, %d runners slashed", q, unshown, slashed)
		}
		for n := range byte(crew) {
			if r := w.runner(chain.Address{n, 1}); r.Silences > 0 || r.Standing.ReputationX1e9 < 49_999_000_000 {
				t.Errorf("%+v: %+v", q, *r)
			}
		}
		if n := w.rows(chain.AddrJobDispatcher, "lane/"); n != 0 {
			t.Errorf("%d rows are left of what is over", n)
		}
	}
}

// TestAnEmptyLaneExcusesNobody: jobs with large results may promise more than results may take of
// a lane that nobody uses. Who withholds one of them is slashed all the same.
func TestAnEmptyLaneExcusesNobody(t *testing.T) {
	q := order{by: chain.Address{9, 9}, runners: 3, agree: 3, timeout: 31, bytes: 64 << 10}
	for count := 2; count <= 3; count++ {
		w, ids := laneGame(t, count, q, 3) // nobody shows anything
		if unshown, slashed := w.losers(ids); unshown != 3*count || slashed != 3*count {
			t.Errorf("%d jobs in an empty lane: %d results are not shown, %d runners slashed", count, unshown, slashed)
		}
	}
	w, ids := laneGame(t, 2, q, 1) // the others show theirs, in four of six blocks
	if unshown, slashed := w.losers(ids); unshown != 2 || slashed != 2 {
		t.Errorf("one withheld of each: %d results are not shown, %d runners slashed", unshown, slashed)
	}
}

// TestWhatIsShownPromisesNothing: jobs whose results are all in take nothing of the lane any
// more, however late their deadlines are, so whoever withholds a result behind them is slashed.
func TestWhatIsShownPromisesNothing(t *testing.T) {
	w := newWorld(t)
	w.p.Job.MaxRetries = 1
	w.crewed()
	asker := chain.Address{9, 9}
	many := []chain.Hash{{1}, {2}, {3}, {4}, {5}, {6}}
	w.judged(func(d *jobs.Dispatch) {
		for _, id := range many { // six of 64 KiB promise 56 % of the lane for ten blocks
			submit(t, d, id, order{by: asker, runners: 1, agree: 1, timeout: 11, bytes: 64 << 10})
		}
	})
	small := chain.Hash{7}
	w.judged(func(d *jobs.Dispatch) {
		submit(t, d, small, order{by: asker, runners: 1, agree: 1, timeout: 11, bytes: 10})
		for _, id := range many {
			show(t, d, id, 0, 0)
		}
	})
	w.judged(func(d *jobs.Dispatch) { promise(t, d, small, 0, 0) })
	for w.height <= w.job(small).Deadline+2 {
		w.judged(func(d *jobs.Dispatch) { d.Used.Cells = jobs.Room(&w.p).Cells * 3 / 4 })
	}
	if s := w.seats(small, 0)[0]; s.Frozen == 0 || w.job(small).Spared {
		t.Errorf("a result is withheld behind what others have shown: %+v", *s)
	}
}

// TestAnEmptyLaneSparesNobody: what is promised and not used keeps no small result out.
func TestAnEmptyLaneSparesNobody(t *testing.T) {
	for _, c := range []struct {
		bytes   uint32
		used    uint64 // millionths of the lane
		spared  bool
		withins chain.Height // of so many blocks
	}{
		{10, 0, false, 100},
		{10, 490_000, false, 100},
		{10, 510_000, true, 100},
		{10, 510_000, true, 8},
		{10, 510_000, false, 3},
		{64 << 10, 0, false, 100}, // of this size one alone fits a block, and nothing beside it
		{64 << 10, 120_000, false, 100},
		{64 << 10, 130_000, true, 100},
		{64 << 10, 130_000, true, 8},
		{64 << 10, 130_000, false, 6},
	} {
		w := newWorld(t)
		w.p.Job.MaxRetries = 1
		w.crewed()
		asker, small := chain.Address{9, 9}, chain.Hash{7}
		w.judged(func(d *jobs.Dispatch) {
			for n := range byte(6) {
				submit(t, d, chain.Hash{n + 20}, order{by: asker, runners: 1, agree: 1, timeout: 11, bytes: 64 << 10})
			}
			submit(t, d, small, order{by: asker, runners: 1, agree: 1, timeout: 11, bytes: c.bytes})
		})
		w.judged(func(d *jobs.Dispatch) { promise(t, d, small, 0, 0) })
		room, begun := jobs.Room(&w.p), w.height
		for w.height <= w.job(small).Deadline+1 {
			w.judged(func(d *jobs.Dispatch) {
				if d.Book.Height <= begun+c.withins {
					d.Used.Cells = room.Cells * chain.Cells(c.used) / 1_000_000
				}
			})
		}
		if s := w.seats(small, 0)[0]; (s.Frozen == 0) != c.spared || w.job(small).Spared != c.spared {
			t.Errorf("%+v: %+v", c, *s)
		}
	}
}

// TestAFullLaneCostsNobody: where runners have filled the lane with what nobody promised, who has
// found no room loses nothing.
func TestAFullLaneCostsNobody(t *testing.T) {
	for used, spared := range map[uint64]bool{860_000: false, 880_000: true} {
		w := newWorld(t)
		w.p.Job.MaxRetries = 1
		w.crewed()
		id := chain.Hash{7}
		w.judged(func(d *jobs.Dispatch) {
			submit(t, d, id, order{by: chain.Address{9, 9}, runners: 1, agree: 1, timeout: 11, bytes: 10})
		})
		w.judged(func(d *jobs.Dispatch) { promise(t, d, id, 0, 0) })
		for w.height <= w.job(id).Deadline+1 {
			w.judged(func(d *jobs.Dispatch) { d.Used.Cells = jobs.Room(&w.p).Cells * chain.Cells(used) / 1_000_000 })
		}
		if s := w.seats(id, 0)[0]; (s.Frozen == 0) != spared || w.job(id).Spared != spared {
			t.Errorf("%d millionths of the lane are used: %+v", used, *s)
		}
	}
}

// TestAVoteThatNarrowsTheLaneCostsNobody: results that fitted the runner lane in a job's time
// when it was submitted, and do not since a vote, cost nobody stake or reputation, whenever it
// was heard: before the draw, while runners commit, or while they show their results.
func TestAVoteThatNarrowsTheLaneCostsNobody(t *testing.T) {
	for name, when := range map[string]chain.Height{"before the draw": 1, "while they commit": 3, "while they show": 30, "never": 1_000} {
		w := newWorld(t)
		w.p.Job.MaxRetries = 1
		w.crewed()
		id := chain.Hash{1}
		begun := w.height
		step := func(txs func(*jobs.Dispatch)) {
			if w.height >= begun+when { // less than one result takes
				w.p.LaneShareBasisPoints[chain.LaneUser] += w.p.LaneShareBasisPoints[chain.LaneRunner] - 1
				w.p.LaneShareBasisPoints[chain.LaneRunner], when = 1, 10_000
			}
			w.judged(txs)
		}
		step(func(d *jobs.Dispatch) {
			submit(t, d, id, order{by: chain.Address{9, 9}, runners: 5, agree: 3, timeout: 40, bytes: 30_000})
		})
		step(func(d *jobs.Dispatch) {
			for n := range uint8(3) {
				promise(t, d, id, 0, n)
			}
		})
		for w.height <= w.job(id).Deadline+1 {
			step(func(*jobs.Dispatch) {})
		}
		silent, withheld := 0, 0
		for _, s := range w.seats(id, 0) {
			if s.Frozen > 0 {
				withheld++
			}
			if r := w.runner(s.Runner); r.Silences > 0 {
				silent++
			}
		}
		want := map[string][2]int{"never": {2, 3}, "while they show": {2, 0}}[name]
		if got := [2]int{silent, withheld}; got != want {
			t.Errorf("%s: %d are silent and %d have withheld, want %v", name, silent, withheld, want)
		}
	}
}
