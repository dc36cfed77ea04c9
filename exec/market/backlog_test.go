package market_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/market"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/state"
)

// till moves money on the overlay.
type till struct {
	funds.Purse
	o *state.Overlay
	h chain.Height
}

func (t till) Debit(from chain.Address, amount chain.Wei) error {
	return funds.Debit(t.o, from, amount, t.h)
}

func (t till) Credit(to chain.Address, amount chain.Wei) error   { return funds.Credit(t.o, to, amount) }
func (t till) GiveBack(to chain.Address, amount chain.Wei) error { return t.Credit(to, amount) }

// judged executes the next block with the verifier of results that blocks have, from the
// rows alone.
func (w *world) judged(txs func(d *jobs.Dispatch)) {
	w.t.Helper()
	o := state.NewOverlay(w.maps)
	half := func() (*jobs.Dispatch, *results.Book) {
		d := w.dispatch(o, chain.Hash{7}, jobs.NewMemo())
		v := &results.Book{
			Jobs: d.Book, Runners: d.Runners, Purse: till{o: o, h: d.Book.Height}, Post: func(*results.Callback) error { return nil },
		}
		d.Results = v
		return d, v
	}
	d, _ := half()
	if _, err := market.Begin(d); err != nil {
		w.t.Fatalf("block %d begins: %v", d.Book.Height, err)
	}
	burned := d.Runners.Burned
	d, v := half()
	if txs != nil {
		txs(d)
	}
	if _, err := market.End(d, v); err != nil {
		w.t.Fatalf("block %d ends: %v", d.Book.Height, err)
	}
	w.keep(o, nil, burned+d.Runners.Burned)
	w.oneRowEach()
}

// oneRowEach checks that what falls due is one row for each job that names it, and that who
// waits for a draw has nothing else to come.
func (w *world) oneRowEach() {
	w.t.Helper()
	scan := func(table string) []state.Entry {
		rows, err := w.maps.Scan(chain.AddrJobDispatcher, state.Span{Prefix: jobs.TablePrefix(table), Entries: 1 << 20, Bytes: 1 << 30})
		if err != nil {
			w.t.Fatal(err)
		}
		return rows
	}
	seen := map[chain.Hash]bool{}
	for _, row := range scan(jobs.TableDue) {
		at, id, _ := jobs.SplitAt(jobs.TableDue, row.Key)
		if j := w.job(id); j.DueAt != at || j.Attempt != row.Value[1] || seen[id] {
			w.t.Fatalf("height %d: job %x is due at %d, its row says %+v", w.height, id[:2], at, j)
		}
		seen[id] = true
	}
	for _, row := range scan(jobs.TableRetry) {
		_, id, _ := jobs.SplitAt(jobs.TableRetry, row.Key)
		if j := w.job(id); seen[id] || j.AssignedAt != 0 || j.Phase != jobs.Assigned {
			w.t.Fatalf("height %d: job %x waits for a draw and is %+v", w.height, id[:2], j)
		}
	}
}

// promise writes what a commitment of a seat does.
func promise(t testing.TB, d *jobs.Dispatch, id chain.Hash, attempt, n uint8) {
	t.Helper()
	s := seatOf(t, d, id, attempt, n)
	s.Commitment, s.CommittedAt = new(chain.Hash{1}), d.Book.Height
	d.Book.PutSeat(id, attempt, n, s)
}

// show writes what a result of a seat does.
func show(t testing.TB, d *jobs.Dispatch, id chain.Hash, attempt, n uint8) {
	t.Helper()
	r := &chain.RunnerResult{Version: chain.RunnerResultVersion, Attempt: attempt, Data: []byte("a"), Source: &chain.ResultSource{URL: "https://a.example/", Status: 200}}
	s := seatOf(t, d, id, attempt, n)
	s.Reveal = &jobs.Reveal{At: d.Book.Height, Result: keccak.Sum256(r.Encode())}
	d.Book.PutSeat(id, attempt, n, s)
	d.Book.State.SetStorage(chain.AddrJobDispatcher, jobs.BodyKey(id, attempt, n), r.Encode())
	d.Book.Touch(id)
	if err := d.Close(id, s); err != nil {
		t.Fatal(err)
	}
}

func seatOf(t testing.TB, d *jobs.Dispatch, id chain.Hash, attempt, n uint8) *jobs.Seat {
	t.Helper()
	s, err := jobs.ReadSeat(d.Book.State, id, attempt, n)
	if err != nil || s == nil {
		t.Fatalf("seat %d: %v, %v", n, s, err)
	}
	return s
}

// TestTwoBacklogsMeetInAJob: a result is withheld, and both what falls due and the judge are
// behind. The job is found at its deadline by the judge before the pass over what is due
// has come to it; it is still come to once, and its next attempt is a whole one.
func TestTwoBacklogsMeetInAJob(t *testing.T) {
	w := newWorld(t)
	w.p.Job.MaxRetries, w.p.Job.DuePerBlock, w.p.Job.JudgeStepsPerBlock, w.p.Job.KeepBlocks = 2, 2, 1, 3
	me, quick, slow := chain.Address{9, 9}, [2]chain.Hash{{1}, {2}}, [2]chain.Hash{{3}, {4}}
	decoy, id := slow[0], slow[1]
	w.judged(func(d *jobs.Dispatch) { // 1
		for n := range byte(30) {
			enlist(t, d, chain.Address{n, 1}, w.p.Runner.StakeFloor, chain.RateCard{}, 1_000)
		}
		for _, id := range quick {
			submit(t, d, id, order{by: me, runners: 1, agree: 1, timeout: 20})
		}
		for _, id := range slow {
			submit(t, d, id, order{by: me, runners: 2, agree: 2, timeout: 20, window: 4})
		}
	})
	for w.height < 4 {
		w.judged(nil)
	}
	w.judged(func(d *jobs.Dispatch) {
		for _, id := range slow {
			promise(t, d, id, 0, 0)
			promise(t, d, id, 0, 1)
		}
	})
	deadline := w.job(id).Deadline
	for w.height < deadline-1 {
		w.judged(nil)
	}
	w.judged(func(d *jobs.Dispatch) {
		show(t, d, decoy, 0, 0) // which the judge has room for
		show(t, d, decoy, 0, 1)
		show(t, d, id, 0, 0)
	})
	w.judged(nil) // the pass gets to the quick jobs; the judge then to the other
	if j := w.job(id); j.Attempt != 0 || j.Phase != jobs.Assigned || w.seats(id, 0)[0].Mark != jobs.Void {
		t.Fatalf("one block behind its deadline the job is %+v: nothing met in it", *j)
	}
	w.judged(nil)
	j := w.job(id)
	if j.Attempt != 1 || j.AssignedAt != w.height || j.Deadline != w.height+20 || j.DueAt != j.CommitBy {
		t.Fatalf("its second attempt: %+v", *j)
	}
	if s := w.seats(id, 0)[1]; s.Frozen == 0 || s.Silent {
		t.Errorf("who has withheld its result: %+v", *s)
	}
	w.judged(func(d *jobs.Dispatch) {
		promise(t, d, id, 1, 0)
		promise(t, d, id, 1, 1)
	})
	w.judged(func(d *jobs.Dispatch) {
		show(t, d, id, 1, 0)
		show(t, d, id, 1, 1)
	})
	if j := w.job(id); j.Phase != jobs.Closing || j.Outcome != jobs.OK {
		t.Errorf("its verdict: %+v", *j)
	}
	for range 60 {
		w.judged(nil)
	}
	if n := w.rows(chain.AddrJobDispatcher, "job/") + w.rows(chain.AddrJobDispatcher, "due/") + w.rows(chain.AddrJobDispatcher, "retry/"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestRowsOfOtherAttemptsAreDropped: what stands in the tables of the passes for a job that
// is gone, or for another attempt, is taken away and does nothing.
func TestRowsOfOtherAttemptsAreDropped(t *testing.T) {
	w := newWorld(t)
	id, gone := chain.Hash{5}, chain.Hash{4}
	w.judged(func(d *jobs.Dispatch) {
		for n := range byte(5) {
			enlist(t, d, chain.Address{n, 1}, w.p.Runner.StakeFloor, chain.RateCard{}, 1_000)
		}
		submit(t, d, id, order{by: chain.Address{9}, runners: 2, agree: 2, timeout: 30})
	})
	w.judged(nil)
	before := w.job(id).Encode()
	o := state.NewOverlay(w.maps)
	set := func(table string, h chain.Height, id chain.Hash, row ...byte) {
		o.SetStorage(chain.AddrJobDispatcher, jobs.AtKey(table, h, id), row)
	}
	set(jobs.TableFresh, 2, id)
	set(jobs.TableFresh, 2, gone)
	for _, e := range []jobs.Event{jobs.AtCommitDeadline, jobs.AtDeadline, jobs.AtWindowEnd, jobs.AtPrune} {
		set(jobs.TableDue, chain.Height(e)-1, id, byte(e), byte(e)&1)
		set(jobs.TableDue, chain.Height(e)-1, gone, byte(e), 0)
	}
	set(jobs.TableRetry, 1, id, 0)
	set(jobs.TableRetry, 2, id, 1)
	set(jobs.TableRetry, 2, gone, 0)
	w.maps.Write(o.Delta())
	for w.height < 5 {
		d := w.dispatch(state.NewOverlay(w.maps), chain.Hash{7}, jobs.NewMemo())
		if _, err := market.Begin(d); err != nil {
			t.Fatal(err)
		}
		w.keep(d.Book.State, nil, 0)
	}
	if got := w.job(id).Encode(); string(got) != string(before) {
		t.Errorf("the job is %+v", *w.job(id))
	}
	if due, waits := w.rows(chain.AddrJobDispatcher, "due/"), w.rows(chain.AddrJobDispatcher, "retry/"); due != 1 || waits != 0 {
		t.Errorf("%d rows are due, %d wait", due, waits)
	}
	w.oneRowEach()
}

// TestMarketsWithBacklogs lets random markets fall behind in every pass. No block faults,
// each job has one event to come, money is where the rows say, and in the end all is over.
func TestMarketsWithBacklogs(t *testing.T) {
	seeds, seen := uint64(12), map[jobs.Outcome]int{}
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		playBacklogs(t, rand.New(rand.NewPCG(seed, 23)), seen)
	}
	for _, o := range []jobs.Outcome{jobs.OK, jobs.Timeout} {
		if seen[o] == 0 {
			t.Errorf("no job ended with outcome %d: %v", o, seen)
		}
	}
}

func playBacklogs(t *testing.T, rng *rand.Rand, seen map[jobs.Outcome]int) {
	w := newWorld(t)
	p := &w.p.Job
	p.DuePerBlock, p.RetriesPerBlock, p.JudgeStepsPerBlock = 1+rng.Uint64N(3), 1+rng.Uint64N(2), 1+rng.Uint64N(500)
	p.KeepBlocks, p.MaxRetries = rng.Uint64N(9), 2+rng.Uint64N(2)
	me := chain.Address{9, 9}
	w.fund(me, 1_000_000)
	var all []chain.Hash
	worst := 0
	for step := range 400 {
		w.judged(func(d *jobs.Dispatch) {
			if step == 0 {
				for n := range byte(40) {
					enlist(t, d, chain.Address{n, 1}, w.p.Runner.StakeFloor, chain.RateCard{}, 1_000)
				}
			}
			if step < 150 && rng.IntN(2) == 0 {
				n := uint8(1 + rng.IntN(4))
				id := seedOf(rng)
				submit(t, d, id, order{by: me, runners: n, agree: n/2 + 1, timeout: 20, price: chain.Wei(rng.IntN(50)), window: 1 + rng.Uint64N(20)})
				all = append(all, id)
			}
			for _, id := range all {
				work(t, rng, d, id)
			}
		})
		var held chain.Wei
		var late int
		for _, id := range all {
			if j, err := jobs.Read(w.maps, id); err == nil && j != nil {
				held += j.Held
				if j.DueAt > 0 && j.DueAt < w.height {
					late++
				}
				if j.Phase == jobs.Ended {
					seen[j.Outcome]++
				}
			}
		}
		if got := w.maps.Balance(chain.AddrJobDispatcher); got != held {
			t.Fatalf("height %d: the dispatcher has %d, jobs hold %d", w.height, got, held)
		}
		due, judged, err := books.Waiting(w.maps, w.height, 1_000)
		ready := w.rows(chain.AddrJobDispatcher, jobs.TableReady) + w.rows(chain.AddrJobDispatcher, jobs.TableHeavy)
		if due != late || judged != ready || err != nil {
			t.Fatalf("height %d: %d events and %d verdicts wait, want %d and %d: %v", w.height, due, judged, late, ready, err)
		}
		worst = max(worst, due)
	}
	if worst == 0 {
		t.Error("nothing was put off")
	}
	for range 4_000 {
		if w.rows(chain.AddrJobDispatcher, "job/") == 0 {
			break
		}
		w.judged(nil)
	}
	if n := w.rows(chain.AddrJobDispatcher, "job/") + w.rows(chain.AddrJobDispatcher, "due/") + w.rows(chain.AddrJobDispatcher, "of/"); n != 0 {
		t.Errorf("%d rows are left of what is over", n)
	}
}

// work lets the runners of a job do what they may at its height, or not.
func work(t testing.TB, rng *rand.Rand, d *jobs.Dispatch, id chain.Hash) {
	j, err := jobs.Read(d.Book.State, id)
	if err != nil {
		t.Fatal(err)
	}
	if j == nil || j.Phase != jobs.Assigned || j.AssignedAt == 0 || d.Book.Height > j.Deadline {
		return
	}
	seats, err := jobs.ReadSeats(d.Book.State, id, j.Attempt)
	if err != nil {
		t.Fatal(err)
	}
	committed := 0
	for n, s := range seats {
		if s.Commitment == nil && j.Runners > 1 && d.Book.Height <= j.CommitBy && rng.IntN(6) == 0 {
			promise(t, d, id, j.Attempt, uint8(n))
			continue
		}
		if s.Commitment != nil {
			committed++
		}
	}
	if j.Runners > 1 && (committed < int(j.Threshold) || committed < len(seats) && d.Book.Height <= j.CommitBy) {
		return
	}
	for n, s := range seats {
		if s.Reveal == nil && (s.Commitment != nil || j.Runners == 1) && (rng.IntN(14) == 0 || d.Book.Height == j.Deadline && rng.IntN(4) == 0) {
			show(t, d, id, j.Attempt, uint8(n))
		}
	}
}
