package market_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/market"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// world is a state on which the market's passes run block by block, without transactions:
// what these would do, a test does to the books between the passes.
type world struct {
	t      testing.TB
	p      params.Params
	maps   *statetest.Maps
	height chain.Height // of the last block
	memo   *jobs.Memo
	gone   map[chain.Address]bool // submitters that may not ask any more
	burned chain.Wei
	events []chain.Event // of the last block
	books  *books.Books  // followed block by block; nil: not
}

func newWorld(t testing.TB) *world {
	w := &world{t: t, p: params.Default(), maps: statetest.NewMaps(nil), memo: jobs.NewMemo(), gone: map[chain.Address]bool{}}
	w.p.Runner.HeartbeatTimeoutBlocks = 1 << 30
	return w
}

func (w *world) fund(a chain.Address, amount chain.Wei) {
	o := state.NewOverlay(w.maps)
	if err := funds.Issue(o, a, amount); err != nil {
		w.t.Fatal(err)
	}
	w.maps.Write(o.Delta())
}

// Requester implements jobs.Requesters.
func (w *world) Requester(a chain.Address) (jobs.Requester, error) {
	return jobs.Requester{Executable: !w.gone[a]}, nil
}

// JoinedPool implements jobs.Requesters: those of odd addresses are members.
func (w *world) JoinedPool(_ string, a chain.Address) (bool, error) { return a[0]%2 == 1, nil }

// dispatch is that of the next block on a state.
func (w *world) dispatch(o *state.Overlay, seed chain.Hash, memo *jobs.Memo) *jobs.Dispatch {
	h := w.height + 1
	d := &jobs.Dispatch{
		Book: jobs.Book{State: o, Params: &w.p, Height: h}, Runners: &runners.Book{State: o, Params: &w.p, Height: h},
		Requesters: w, Seed: seed, Memo: memo,
	}
	d.Results = &referee{d}
	return d
}

// run executes the next block on the state and returns what it writes.
func (w *world) run(seed chain.Hash, memo *jobs.Memo, txs func(d *jobs.Dispatch)) (*state.Overlay, []chain.Event, chain.Wei) {
	w.t.Helper()
	o := state.NewOverlay(w.maps)
	begin := w.dispatch(o, seed, memo)
	events, err := market.Begin(begin)
	if err != nil {
		w.t.Fatalf("block %d begins: %v", begin.Book.Height, err)
	}
	end := w.dispatch(o, seed, memo)
	if txs != nil {
		txs(end)
	}
	more, err := market.End(end, nil)
	if err != nil {
		w.t.Fatalf("block %d ends: %v", begin.Book.Height, err)
	}
	return o, append(events, more...), begin.Runners.Burned + end.Runners.Burned
}

// block executes the next block and keeps it.
func (w *world) block(seed chain.Hash, txs func(d *jobs.Dispatch)) {
	w.t.Helper()
	o, events, burned := w.run(seed, w.memo, txs)
	w.keep(o, events, burned)
}

// keep makes what a block wrote the state.
func (w *world) keep(o *state.Overlay, events []chain.Event, burned chain.Wei) {
	w.t.Helper()
	if w.books != nil {
		if err := w.books.Follow(w.maps, o.Delta()); err != nil {
			w.t.Fatal(err)
		}
	}
	w.maps.Write(o.Delta())
	w.height++
	w.burned += burned
	w.events = events
}

// referee is a verifier of results that knows of no agreement but what a test has written.
type referee struct{ d *jobs.Dispatch }

// AtDeadline implements jobs.Results.
func (r *referee) AtDeadline(id chain.Hash) (bool, error) {
	j, err := jobs.Read(r.d.Book.State, id)
	if err != nil {
		return false, err
	}
	if j.Phase == jobs.Closing {
		r.d.Book.Schedule(id, j, j.WindowEnd, jobs.AtWindowEnd)
		return false, nil
	}
	seats, err := jobs.ReadSeats(r.d.Book.State, id, j.Attempt)
	if err != nil {
		return false, err
	}
	for n, s := range seats {
		switch {
		case j.Runners == 1 && s.Commitment == nil:
			err = r.d.Silence(id, j.Attempt, uint8(n), s)
		case s.Commitment != nil && s.Reveal == nil:
			s.Frozen, err = r.d.Runners.Freeze(s.Runner, r.d.Book.Params.Runner.SlashNonDeliveryBasisPoints)
			r.d.Book.PutSeat(id, j.Attempt, uint8(n), s)
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// Settle implements jobs.Results.
func (r *referee) Settle(id chain.Hash) error {
	j, err := jobs.Read(r.d.Book.State, id)
	if err != nil {
		return err
	}
	for attempt := range j.Attempt + 1 {
		seats, err := jobs.ReadSeats(r.d.Book.State, id, attempt)
		if err != nil {
			return err
		}
		for n, s := range seats {
			if err := r.d.Runners.Burn(s.Frozen); err != nil {
				return err
			}
			s.Frozen = 0
			r.d.Book.PutSeat(id, attempt, uint8(n), s)
			if err := r.d.Release(id, attempt, uint8(n), s); err != nil {
				return err
			}
		}
	}
	return r.d.Book.End(id, j, j.Outcome)
}

// Failed implements jobs.Results.
func (*referee) Failed(chain.Hash, *jobs.Job) error { return nil }

// order is what a job of a test asks for.
type order struct {
	by               chain.Address
	runners, agree   uint8
	timeout          uint64
	price            chain.Wei
	pool             []byte
	bonded           bool
	window           uint64
	retries, seconds uint32
	bytes            uint32 // of a result; 0: one
}

// submit writes the rows of a job as its submission does, out of the submitter's balance.
func submit(t testing.TB, d *jobs.Dispatch, id chain.Hash, q order) {
	t.Helper()
	spec := &chain.JobSpec{
		JobID: id, JobType: &chain.HTTPJob{URL: "https://example.com/a"}, MaxPrice: q.price, TimeoutBlocks: q.timeout,
		Bounds: chain.ResourceBounds{MaxWallTimeSeconds: q.seconds, MaxRetries: q.retries}, Submitter: q.by, SubmittedAt: d.Book.Height,
		RequiredRunnerPool: q.pool,
	}
	spec.Verification = chain.Verification{Mode: chain.VerifyMajorityVote, Runners: q.runners, Threshold: q.agree, DisputeWindowBlocks: q.window}
	if q.bonded {
		spec.Verification.Mode = chain.VerifyEconomicBond
	}
	terms := &chain.JobTerms{
		Version: chain.JobTermsVersion, ResultSchema: chain.ResultSchema{MaxReturnBytes: max(q.bytes, 1), ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
		JudgeSteps: chain.MinJudgeSteps,
	}
	d.Book.Put(id, &jobs.Job{
		Submitter: q.by, SubmittedAt: d.Book.Height, Kind: chain.JobHTTP, Runners: q.runners, Threshold: q.agree, Mode: spec.Verification.Mode,
		MaxPrice: q.price, Held: q.price, TimeoutBlocks: q.timeout, SpecHash: spec.SpecHash(), TermsHash: terms.TermsHash(),
		Attempts:      uint8(d.Book.Params.Job.MaxRetries),
		TreasuryShare: uint16(d.Book.Params.Job.TreasuryBasisPoints), GatherShare: uint16(d.Book.Params.Job.AggregatorBonusBasisPoints),
	})
	set := func(k state.StorageKey, row []byte) { d.Book.State.SetStorage(chain.AddrJobDispatcher, k, row) }
	set(jobs.SpecKey(id), spec.Encode())
	set(jobs.TermsKey(id), terms.Encode())
	set(jobs.AtKey(jobs.TableFresh, d.Book.Height, id), []byte{})
	set(jobs.AtKey(jobs.TableLive, d.Book.Height, id), []byte{})
	if err := funds.Move(d.Book.State, q.by, chain.AddrJobDispatcher, q.price, d.Book.Height); err != nil {
		t.Fatal(err)
	}
}

// enlist registers a runner that takes jobs of the web.
func enlist(t testing.TB, d *jobs.Dispatch, a chain.Address, stake chain.Wei, card chain.RateCard, most uint16) {
	t.Helper()
	if err := funds.Issue(d.Book.State, chain.AddrRunnerRegistry, stake); err != nil {
		t.Fatal(err)
	}
	o := &runners.Offer{Card: card, Capabilities: chain.Capabilities{
		JobTypes: []chain.JobKind{chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: most,
	}}
	if _, err := d.Runners.Register(a, stake, 0, o, func(int, int) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// place of a number in a runner's row.
const (
	rowStake      = 5
	rowReputation = 10
	rowStanding   = 11
	rowNumbers    = 20
)

// rewrite changes numbers of a runner's row, whatever they mean for the others.
func rewrite(t testing.TB, o *state.Overlay, a chain.Address, change func(v *[rowNumbers]uint64)) {
	t.Helper()
	k := state.NewStorageKey(state.VMNamespaceSystem, append([]byte("runner/"), a[:]...))
	row, err := o.Storage(chain.AddrRunnerRegistry, k)
	if err != nil {
		t.Fatal(err)
	}
	r := cbor.NewReader(row)
	var v [rowNumbers]uint64
	if r.ArrayOf(rowNumbers+3) != nil || r.Uints(v[:]) != nil {
		t.Fatalf("row of %s: %x", a, row)
	}
	tail := bytes.Clone(row[r.Offset():])
	change(&v)
	out := cbor.AppendArray(nil, rowNumbers+3)
	for _, n := range v {
		out = cbor.AppendUint(out, n)
	}
	o.SetStorage(chain.AddrRunnerRegistry, k, append(out, tail...))
}

func (w *world) job(id chain.Hash) *jobs.Job {
	w.t.Helper()
	j, err := jobs.Read(w.maps, id)
	if err != nil || j == nil {
		w.t.Fatalf("job %s: %v, %v", id, j, err)
	}
	return j
}

func (w *world) seats(id chain.Hash, attempt uint8) []*jobs.Seat {
	w.t.Helper()
	all, err := jobs.ReadSeats(w.maps, id, attempt)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *world) runner(a chain.Address) *runners.Runner {
	w.t.Helper()
	r, err := runners.Read(w.maps, a)
	if err != nil || r == nil {
		w.t.Fatalf("runner %s: %v, %v", a, r, err)
	}
	return r
}

// rows counts those of a table of an address.
func (w *world) rows(addr chain.Address, table string) int {
	list, err := w.maps.Scan(addr, state.Span{Prefix: state.NewStorageKey(state.VMNamespaceSystem, []byte(table)), Entries: 1 << 20, Bytes: 1 << 30})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(list)
}

func seedOf(rng *rand.Rand) (h chain.Hash) {
	for i := range h {
		h[i] = byte(rng.Uint32())
	}
	return h
}
