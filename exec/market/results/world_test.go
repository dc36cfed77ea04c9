package results_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

const chainID = 7

// registry plays the Runner Registry: stakes by name, what was said of each, and the balance
// of the real address.
type registry struct {
	lost   chain.Wei // for silence
	o      *state.Overlay
	height chain.Height
	stake  map[chain.Address]chain.Wei
	active map[chain.Address]int
	bonded map[chain.Address]chain.Wei
	said   map[chain.Address]map[string]int
	barred map[chain.Address]bool // from shares of what is rejected
	burned chain.Wei
}

// clone is the registry as it is, which operations that fail come back to.
func (r *registry) clone() registry {
	c := *r
	c.stake, c.active, c.bonded = maps.Clone(r.stake), maps.Clone(r.active), maps.Clone(r.bonded)
	c.said = map[chain.Address]map[string]int{}
	for a, said := range r.said {
		c.said[a] = maps.Clone(said)
	}
	return c
}

func (r *registry) say(a chain.Address, what string) {
	if r.said[a] == nil {
		r.said[a] = map[string]int{}
	}
	r.said[a][what]++
}

func (r *registry) Unseated(a chain.Address) error {
	if r.active[a]--; r.active[a] < 0 {
		return fmt.Errorf("%s left more seats than it had", a)
	}
	return nil
}

func (r *registry) Revealed(a chain.Address) error { r.say(a, "revealed"); return nil }

func (r *registry) Release(a chain.Address, bond chain.Wei) error {
	if r.bonded[a] < bond {
		return fmt.Errorf("%s gets more back than it bonded", a)
	}
	r.bonded[a] -= bond
	return nil
}

func (r *registry) Silent(a chain.Address) (chain.Wei, error) {
	r.say(a, "silent")
	return r.lost, nil
}

func (r *registry) Disagreed(a chain.Address) error { r.say(a, "disagreed"); return nil }

func (r *registry) Succeeded(a chain.Address, gathered bool) error {
	r.say(a, "succeeded")
	if gathered {
		r.say(a, "gathered")
	}
	return nil
}

func (r *registry) Confirmed(a chain.Address) error { r.say(a, "confirmed"); return nil }

func (r *registry) Rejected(a, _ chain.Address) (bool, error) {
	r.say(a, "rejected")
	return !r.barred[a], nil
}

func (r *registry) Freeze(a chain.Address, basisPoints uint64) (chain.Wei, error) {
	r.say(a, "frozen")
	part := r.stake[a] / 10_000 * chain.Wei(basisPoints) // stakes of tests are whole ten thousands
	r.stake[a] -= part
	return part, nil
}

func (r *registry) Burn(amount chain.Wei) error {
	r.burned += amount
	return funds.Debit(r.o, chain.AddrRunnerRegistry, amount, r.height)
}

// purse moves money on the overlay.
type purse struct {
	funds.Purse
	o *state.Overlay
	h chain.Height
}

func (p purse) Debit(from chain.Address, amount chain.Wei) error {
	return funds.Debit(p.o, from, amount, p.h)
}

func (p purse) Credit(to chain.Address, amount chain.Wei) error {
	return funds.Credit(p.o, to, amount)
}
func (p purse) GiveBack(to chain.Address, amount chain.Wei) error { return p.Credit(to, amount) }

// run is what an instruction needs of the run that it is part of: it pays for everything.
type run struct {
	service.Run
	taken   chain.Cycles
	handled uint64
}

func (r *run) Take(u chain.Usage) error { r.taken += u.Cycles; return nil }
func (r *run) Handled(bytes uint64)     { r.handled += bytes }

// runner is a key with its address.
type runner struct {
	key  *secp256k1.PrivateKey
	addr chain.Address
}

func newRunner(t testing.TB, n int) *runner {
	t.Helper()
	var secret [32]byte
	secret[30], secret[31] = byte(n>>8), byte(n)+1
	key, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		t.Fatal(err)
	}
	return &runner{key, key.PublicKey().Address()}
}

func (r *runner) sign(job chain.Hash, result []byte) (sig [65]byte) {
	s := r.key.Sign(chain.ResultDigest(chainID, job, result))
	copy(sig[:32], s.R[:])
	copy(sig[32:64], s.S[:])
	sig[64] = s.YParity
	return sig
}

// world is a state with jobs, the dispatcher's part of which is played: it draws whom the
// test says.
type world struct {
	testing.TB
	o         *state.Overlay
	params    *params.Params
	height    chain.Height
	registry  *registry
	callbacks []*results.Callback
	events    []chain.Event
	ask       func(*results.Inquiry) ([]byte, error)
	room      func(*results.Inquiry) (bool, error)
	table     service.Table
	next      func(id chain.Hash, j *jobs.Job) []*jobs.Seat // the committee of a retry; nil ends the job
}

const submitter, treasury = 0x51, 0x08

func newWorld(t testing.TB) *world {
	p := params.Default()
	w := &world{TB: t, o: state.NewOverlay(state.Empty{}), params: &p, height: 1}
	w.registry = &registry{
		o: w.o, stake: map[chain.Address]chain.Wei{}, active: map[chain.Address]int{}, bonded: map[chain.Address]chain.Wei{},
		said: map[chain.Address]map[string]int{},
	}
	w.room = func(*results.Inquiry) (bool, error) { return true, nil }
	w.table = results.Instructions(func(*service.Call) results.Registry { return w.registry })
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) balance(a chain.Address) chain.Wei {
	w.Helper()
	b, err := funds.Balance(w.o, a)
	w.must(err)
	return b
}

func (w *world) endow(a chain.Address, amount chain.Wei) { w.must(funds.Credit(w.o, a, amount)) }

// stakes registers a runner with a stake.
func (w *world) stakes(r *runner, amount chain.Wei) {
	w.registry.stake[r.addr] = amount
	w.endow(chain.AddrRunnerRegistry, amount)
}

func (w *world) jobs() *jobs.Book {
	return &jobs.Book{State: w.o, Params: w.params, Height: w.height}
}

func (w *world) verifier() *results.Book {
	w.registry.height = w.height
	return &results.Book{
		Jobs: *w.jobs(), Runners: w.registry, Purse: purse{o: w.o, h: w.height}, Ask: w.ask, Room: w.room,
		Post: func(c *results.Callback) error { w.callbacks = append(w.callbacks, c); return nil },
	}
}

// asks are a specification and terms of majority_vote over texts.
func asks(runners, threshold uint8, price, tip chain.Wei) (*chain.JobSpec, *chain.JobTerms) {
	spec := &chain.JobSpec{
		JobType:      &chain.HTTPJob{URL: "https://a.example/", Method: "GET"},
		Bounds:       chain.ResourceBounds{MaxWallTimeSeconds: 10, MaxMemoryMB: 512, MaxRetries: 2},
		Verification: chain.Verification{Mode: chain.VerifyMajorityVote, Runners: runners, Threshold: threshold, DisputeWindowBlocks: 20},
		MaxPrice:     price, Tip: tip, TimeoutBlocks: 40,
		Callback: chain.Callback{Actor: chain.Address{0xac}, Handler: "answered", CorrelationID: "c-1"},
	}
	if runners == 1 {
		spec.Verification.Mode = chain.VerifyNone
	}
	terms := &chain.JobTerms{
		Version: chain.JobTermsVersion, ResultSchema: chain.ResultSchema{MaxReturnBytes: 64, ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
		JudgeSteps: 1_000, CallbackCycles: 90_000,
	}
	return spec, terms
}

// seatsOf gives seats to runners: rates of one for a request and for a second, and
// reputations that fall by the seat.
func (w *world) seatsOf(all ...*runner) (seats []*jobs.Seat) {
	for n, r := range all {
		seats = append(seats, &jobs.Seat{
			Runner: r.addr, Rates: jobs.Rates{RequestBase: 1_000, ComputeSecond: 300}, ExpectedPrice: 5_000, ReputationX1e9: uint64(90-n) * 1e9,
		})
		w.registry.active[r.addr]++
	}
	return seats
}

// assign writes the rows of a job as the dispatcher does, from its submission to the draw in
// this block. The escrow comes out of nothing.
func (w *world) assign(id chain.Hash, spec *chain.JobSpec, terms *chain.JobTerms, seats []*jobs.Seat) {
	w.Helper()
	spec.JobID, spec.Submitter, spec.SubmittedAt = id, chain.Address{submitter}, w.height-1
	v := &spec.Verification
	j := &jobs.Job{
		Submitter: spec.Submitter, SubmittedAt: w.height - 1, Kind: spec.JobType.Kind(), Runners: v.Runners, Threshold: v.Threshold, Mode: v.Mode,
		MaxPrice: spec.MaxPrice, Tip: spec.Tip, Held: spec.MaxPrice + spec.Tip, TimeoutBlocks: spec.TimeoutBlocks,
		TreasuryShare: uint16(w.params.Job.TreasuryBasisPoints), GatherShare: uint16(w.params.Job.AggregatorBonusBasisPoints),
	}
	_, _, j.Verifier = judge.Custom(spec)
	w.endow(chain.AddrJobDispatcher, j.Held)
	w.o.SetStorage(chain.AddrJobDispatcher, jobs.SpecKey(id), spec.Encode())
	w.o.SetStorage(chain.AddrJobDispatcher, jobs.TermsKey(id), terms.Encode())
	w.seat(id, j, seats)
}

// seat begins an attempt.
func (w *world) seat(id chain.Hash, j *jobs.Job, seats []*jobs.Seat) {
	b := w.jobs()
	j.Phase, j.AssignedAt, j.Deadline = jobs.Assigned, w.height, w.height+chain.Height(j.TimeoutBlocks)
	if j.Attempt == 0 {
		j.Deadline--
	}
	span := j.Deadline - j.AssignedAt
	j.CommitBy, j.GatherUntil = j.Deadline, 0
	if j.Runners > 1 {
		j.CommitBy, j.GatherUntil = j.AssignedAt+span*6/10, j.Deadline-span*2/10
		b.Schedule(id, j, j.CommitBy, jobs.AtCommitDeadline)
	} else {
		b.Schedule(id, j, j.Deadline, jobs.AtDeadline)
	}
	b.Put(id, j)
	for n, s := range seats {
		b.PutSeat(id, j.Attempt, uint8(n), s)
		w.o.SetStorage(chain.AddrJobDispatcher, jobs.WhoKey(id, s.Runner), []byte{j.Attempt, byte(n)})
		w.o.SetStorage(chain.AddrJobDispatcher, jobs.OpenKey(s.Runner, id), []byte{})
	}
}

// do carries out an instruction, in the order of the machine: read, priced, run; what is
// refused has changed nothing.
func (w *world) do(by *runner, q chain.Request, signers ...chain.Address) error {
	w.Helper()
	r := cbor.NewReader(chain.EncodeRequest(q))
	if _, err := r.Array(10); err != nil {
		w.Fatal(err)
	}
	opcode, err := r.Uint()
	w.must(err)
	i := slices.IndexFunc(w.table.Instructions, func(ins service.Instruction) bool { return ins.Opcode == opcode })
	ins := &w.table.Instructions[i]
	args, err := ins.Read(&r)
	if err != nil {
		return verdict.New(verdict.Argument, err.Error())
	}
	if u := ins.Price(w.params, args); u.Cycles == 0 {
		w.Error("an instruction for nothing")
	}
	mark, before := w.o.Snapshot(), w.registry.clone()
	_, err = ins.Run(&service.Call{
		By: by.addr, State: w.o, Params: w.params, Height: w.height, ChainID: chainID, Millis: uint64(w.height) * 1_000,
		ID: chain.Hash{byte(w.height)}, Signers: signers, Run: new(run),
	}, args)
	if err != nil {
		w.o.Revert(mark)
		*w.registry = before
		if _, refused := verdict.Of(err); !refused {
			w.Fatalf("%T at %d: %v", q, w.height, err)
		}
	}
	return err
}

// begin does what is due before the transactions of a block, as the dispatcher does.
func (w *world) begin() {
	w.Helper()
	for {
		rows, err := w.o.Scan(chain.AddrJobDispatcher, state.Span{Prefix: jobs.TablePrefix(jobs.TableDue), Entries: 1, Bytes: 1})
		w.must(err)
		if len(rows) == 0 {
			return
		}
		behind, id, ok := jobs.SplitAt(jobs.TableDue, rows[0].Key)
		if !ok || behind >= w.height {
			return
		}
		w.jobs().Unschedule(id, w.job(id))
		w.happen(id, jobs.Event(rows[0].Value[0]))
	}
}

func (w *world) happen(id chain.Hash, e jobs.Event) {
	w.Helper()
	b := w.verifier()
	j, err := jobs.Read(w.o, id)
	w.must(err)
	switch e {
	case jobs.AtCommitDeadline:
		if j.Phase == jobs.Assigned {
			w.commitDeadline(id, j)
		}
	case jobs.AtDeadline:
		retry, err := b.AtDeadline(id)
		w.must(err)
		if retry {
			j, err := jobs.Read(w.o, id)
			w.must(err)
			w.lapse(id, j)
		}
	case jobs.AtWindowEnd:
		w.must(b.Settle(id))
	case jobs.AtPrune:
	}
	w.events = append(w.events, b.Events...)
}

// commitDeadline is the dispatcher's part of a committee that has had its time.
func (w *world) commitDeadline(id chain.Hash, j *jobs.Job) {
	seats, err := jobs.ReadSeats(w.o, id, j.Attempt)
	w.must(err)
	committed := 0
	for n, s := range seats {
		if s.Commitment != nil {
			committed++
			continue
		}
		s.Silent = true
		w.jobs().PutSeat(id, j.Attempt, uint8(n), s)
		w.leave(id, s)
		_, err := w.registry.Silent(s.Runner)
		w.must(err)
	}
	if committed < int(j.Threshold) {
		w.lapse(id, j)
		return
	}
	w.jobs().Schedule(id, j, j.Deadline, jobs.AtDeadline)
}

func (w *world) leave(id chain.Hash, s *jobs.Seat) {
	row, err := w.o.Storage(chain.AddrJobDispatcher, jobs.OpenKey(s.Runner, id))
	w.must(err)
	if row != nil {
		w.o.SetStorage(chain.AddrJobDispatcher, jobs.OpenKey(s.Runner, id), nil)
		w.must(w.registry.Unseated(s.Runner))
	}
}

// lapse ends an attempt and draws the next, or ends the job.
func (w *world) lapse(id chain.Hash, j *jobs.Job) {
	seats, err := jobs.ReadSeats(w.o, id, j.Attempt)
	w.must(err)
	for n, s := range seats {
		w.leave(id, s)
		if s.Bonded > 0 {
			w.must(w.registry.Release(s.Runner, s.Bonded))
			s.Bonded = 0
			w.jobs().PutSeat(id, j.Attempt, uint8(n), s)
		}
	}
	if uint64(j.Attempt)+1 < w.params.Job.MaxRetries && w.next != nil {
		j.Attempt++
		if seats := w.next(id, j); len(seats) >= int(j.Threshold) {
			w.seat(id, j, seats)
			return
		}
		j.Attempt--
	}
	w.conclude(id, j)
}

// conclude ends a job for timeouts.
func (w *world) conclude(id chain.Hash, j *jobs.Job) {
	frozen := chain.Wei(0)
	for attempt := range j.Attempt + 1 {
		seats, err := jobs.ReadSeats(w.o, id, attempt)
		w.must(err)
		for _, s := range seats {
			frozen += s.Frozen
		}
	}
	j.Outcome, j.VerdictAt = jobs.Timeout, w.height
	if frozen > 0 {
		j.Phase, j.WindowEnd = jobs.Closing, w.height+20
		w.jobs().Schedule(id, j, j.WindowEnd, jobs.AtWindowEnd)
	} else {
		w.must(funds.Move(w.o, chain.AddrJobDispatcher, j.Submitter, j.Held, w.height))
		j.Phase, j.Held = jobs.Ended, 0
	}
	w.jobs().Put(id, j)
	b := w.verifier()
	w.must(b.Failed(id, j))
}

// end does what comes behind the transactions of a block.
func (w *world) end() {
	w.Helper()
	b := w.verifier()
	w.must(b.JudgeTouched())
	w.events = append(w.events, b.Events...)
}

// block is a block of transactions, at the next height.
func (w *world) block(txs func()) {
	w.Helper()
	w.height++
	w.begin()
	txs()
	w.end()
}

func (w *world) until(h chain.Height) {
	w.Helper()
	for w.height < h {
		w.block(func() {})
	}
}

func (w *world) job(id chain.Hash) *jobs.Job {
	w.Helper()
	j, err := jobs.Read(w.o, id)
	w.must(err)
	return j
}

func (w *world) seats(id chain.Hash) []*jobs.Seat {
	w.Helper()
	seats, err := jobs.ReadSeats(w.o, id, w.job(id).Attempt)
	w.must(err)
	return seats
}

// books checks that the balances are what the rows say (market design §2), for these jobs.
func (w *world) books(ids ...chain.Hash) {
	w.Helper()
	held, staked := new(big.Int), new(big.Int)
	add := func(n *big.Int, v chain.Wei) { n.Add(n, new(big.Int).SetUint64(uint64(v))) }
	for _, s := range w.registry.stake {
		add(staked, s)
	}
	for _, id := range ids {
		j := w.job(id)
		if add(held, j.Held); j.Phase == jobs.Ended && j.Held != 0 {
			w.Errorf("height %d: a job that has ended holds %d", w.height, j.Held)
		}
		for attempt := range j.Attempt + 1 {
			seats, err := jobs.ReadSeats(w.o, id, attempt)
			w.must(err)
			for _, s := range seats {
				add(staked, s.Frozen)
			}
		}
	}
	if got := w.balance(chain.AddrJobDispatcher); held.Cmp(new(big.Int).SetUint64(uint64(got))) != 0 {
		w.Errorf("height %d: the dispatcher has %d, jobs hold %s", w.height, got, held)
	}
	if got := w.balance(chain.AddrRunnerRegistry); staked.Cmp(new(big.Int).SetUint64(uint64(got))) != 0 {
		w.Errorf("height %d: the registry has %d, stakes and frozen are %s", w.height, got, staked)
	}
	if got := w.balance(chain.AddrResultVerifier); got != 0 {
		w.Errorf("height %d: the verifier has %d", w.height, got)
	}
}

// resultOf encodes a result of an attempt: one request of a second, by default.
func resultOf(attempt uint8, data string, change ...func(*chain.RunnerResult)) []byte {
	r := &chain.RunnerResult{
		Version: chain.RunnerResultVersion, Attempt: attempt, Data: []byte(data),
		Usage:  chain.RunnerUsage{WallMillis: 1_000, Requests: 1},
		Source: &chain.ResultSource{URL: "https://a.example/", Status: 200},
	}
	for _, f := range change {
		f(r)
	}
	return r.Encode()
}

// fails makes a result a report of a failure.
func fails(o chain.Outcome, done, total uint32) func(*chain.RunnerResult) {
	return func(r *chain.RunnerResult) {
		r.Outcome, r.Detail, r.Data = o, &chain.ResultDetail{Done: done, Total: total, Text: "why"}, nil
	}
}

func (w *world) commit(id chain.Hash, r *runner, result []byte) error {
	w.Helper()
	return w.do(r, &chain.ResultCommit{JobID: id, Commitment: chain.ResultCommitment(result, r.sign(id, result))})
}

func (w *world) reveal(id chain.Hash, r *runner, result []byte) error {
	w.Helper()
	return w.do(r, &chain.ResultReveal{JobID: id, Result: result, RunnerSig: r.sign(id, result)})
}

// shown is a result with its runner, for a submission.
func shown(id chain.Hash, r *runner, result []byte) chain.Reveal {
	return chain.Reveal{Runner: r.addr, Result: result, RunnerSig: r.sign(id, result)}
}
