package jobs_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// world is a state with people, and the dispatcher on it.
type world struct {
	p    params.Params
	over *state.Overlay
	book *jobs.Book
}

var people = []chain.Address{{1}, {2}, {3}}

const wealth = 1_000_000

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{p: params.Default()}
	w.over = state.NewOverlay(statetest.NewMaps(state.NewOverlay(nil).Delta()))
	for _, a := range people {
		if err := funds.Issue(w.over, a, wealth); err != nil {
			t.Fatal(err)
		}
	}
	w.book = &jobs.Book{State: w.over, Params: &w.p, Height: 7}
	return w
}

func (w *world) balance(t testing.TB, a chain.Address) chain.Wei {
	t.Helper()
	n, err := funds.Balance(w.over, a)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func order(price, tip chain.Wei) (*chain.JobSpec, *chain.JobTerms) {
	return &chain.JobSpec{
		JobType: &chain.HTTPJob{URL: "https://a.com", Method: "GET"}, Bounds: chain.ResourceBounds{MaxWallTimeSeconds: 1, MaxMemoryMB: 1},
		Verification: chain.Verification{Runners: 1, Threshold: 1}, MaxPrice: price, Tip: tip, TimeoutBlocks: 20,
	}, &chain.JobTerms{
		Version: 1, JudgeSteps: chain.MinJudgeSteps,
		ResultSchema: chain.ResultSchema{MaxReturnBytes: 1, ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
	}
}

// submit puts a job in the book as a door does, with its escrow.
func (w *world) submit(t testing.TB, id chain.Hash, by chain.Address, price, tip chain.Wei) {
	t.Helper()
	if err := funds.Move(w.over, by, chain.AddrJobDispatcher, price+tip, w.book.Height); err != nil {
		t.Fatal(err)
	}
	spec, terms := order(price, tip)
	if err := w.book.Submit(id, by, spec, terms, jobs.Loads{}); err != nil {
		t.Fatal(err)
	}
}

// TestBooksBalance: whatever jobs come and end, the dispatcher has what they hold, and who
// has no job has what it began with.
func TestBooksBalance(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t)
		held := map[chain.Hash]chain.Wei{}
		var ids []chain.Hash
		for range 60 {
			w.book.Height += chain.Height(r.IntN(3))
			if len(held) == 0 || r.IntN(2) == 0 {
				id := chain.Hash{byte(len(ids)), 9}
				price, tip := chain.Wei(r.IntN(2_000)), chain.Wei(r.IntN(50))
				w.submit(t, id, people[r.IntN(len(people))], price, tip)
				ids, held[id] = append(ids, id), price+tip
				continue
			}
			id := ids[r.IntN(len(ids))]
			j, err := jobs.Read(w.over, id)
			if err != nil || j == nil {
				t.Fatal(err)
			}
			if j.Phase == jobs.Ended {
				continue
			}
			before := w.balance(t, j.Submitter)
			if err := w.book.End(id, j, []jobs.Outcome{jobs.Cancelled, jobs.NoCandidates, jobs.Timeout}[r.IntN(3)]); err != nil {
				t.Fatal(err)
			}
			if got := w.balance(t, j.Submitter) - before; got != held[id] {
				t.Fatalf("%d came back of %d", got, held[id])
			}
			delete(held, id)
		}
		var sum chain.Wei
		for _, n := range held {
			sum += n
		}
		if got := w.balance(t, chain.AddrJobDispatcher); got != sum {
			t.Fatalf("seed %d: the dispatcher has %d, its jobs hold %d", seed, got, sum)
		}
	}
}

// TestEndLeavesWhatPruningNeeds: an ended job is drawn for no more, and its rows go later.
func TestEndLeavesWhatPruningNeeds(t *testing.T) {
	w, id := newWorld(t), chain.Hash{4}
	w.submit(t, id, people[0], 10, 1)
	w.book.Height = 9
	j, err := jobs.Read(w.over, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.book.End(id, j, jobs.NoCandidates); err != nil {
		t.Fatal(err)
	}
	for _, k := range []state.StorageKey{jobs.AtKey(jobs.TableFresh, 7, id), jobs.AtKey(jobs.TableLive, 7, id)} {
		if row, err := w.over.Storage(chain.AddrJobDispatcher, k); err != nil || row != nil {
			t.Errorf("%q is there: %x, %v", k, row, err)
		}
	}
	if row, err := w.over.Storage(chain.AddrJobDispatcher, jobs.AtKey(jobs.TableDue, 9+86_400, id)); err != nil || !bytes.Equal(row, []byte{byte(jobs.AtPrune), 0}) {
		t.Errorf("due: %x, %v", row, err)
	}
	if j, err := jobs.Read(w.over, id); err != nil || j.Phase != jobs.Ended || j.Outcome != jobs.NoCandidates || j.VerdictAt != 9 || j.DueAt != 9+86_400 || j.Held != 0 {
		t.Errorf("%+v, %v", j, err)
	}
}

// TestSubmitRefusesAnEscrowBeyond64Bits, whatever door forgot to.
func TestSubmitRefusesAnEscrowBeyond64Bits(t *testing.T) {
	w := newWorld(t)
	spec, terms := order(1<<63, 1<<63)
	if err := w.book.Submit(chain.Hash{1}, people[0], spec, terms, jobs.Loads{}); !errors.Is(err, funds.ErrOverflow) {
		t.Errorf("%v", err)
	}
}

// payer is a run that pays for everything, and moves the money of the state.
type payer struct {
	service.Run
	over *state.Overlay
	took chain.Usage
	load chain.Cycles // of every actor's code
}

func (p *payer) Take(u chain.Usage) error {
	p.took.Cycles += u.Cycles
	p.took.Cells += u.Cells
	return nil
}

func (p *payer) TakeCells(n uint64) error { return p.Take(chain.Usage{Cells: chain.Cells(n)}) }

func (p *payer) TakeLater(n chain.Cycles) error                              { return p.Take(chain.Usage{Cycles: n}) }
func (p *payer) FirstUse(chain.Address, chain.Address) (chain.Cycles, error) { return p.load, nil }
func (p *payer) Events() int                                                 { return 0 }
func (p *payer) Emit(chain.Event)                                            {}
func (p *payer) Withheld(chain.Address, chain.Wei) (bool, error)             { return false, nil }
func (p *payer) PutAside(chain.Address, chain.Wei)                           {}
func (p *payer) Debit(from chain.Address, n chain.Wei) error                 { return funds.Debit(p.over, from, n, 7) }

func (p *payer) Credit(to chain.Address, n chain.Wei) error { return funds.Credit(p.over, to, n) }

// TestJudgeIsAsked: what cannot be judged is refused with the words of the judge.
func TestJudgeIsAsked(t *testing.T) {
	for _, tt := range []struct {
		mode chain.VerificationMode
		says string
	}{{chain.VerifyNone, ""}, {chain.VerifyDeterministic, "deterministic is not judged"}} {
		w := newWorld(t)
		call := &jobs.Call{
			Call:  &service.Call{By: people[0], State: w.over, Params: &w.p, Height: 7, Run: &payer{over: w.over}},
			Rules: new(jobs.Rules),
		}
		spec, terms := order(10, 1)
		spec.Verification.Mode = tt.mode
		err := call.SubmitFor(chain.Hash{1}, spec, terms)
		v, refused := verdict.Of(err)
		switch {
		case tt.says == "" && (err != nil || w.balance(t, people[0]) != wealth-11 || w.balance(t, chain.AddrJobDispatcher) != 11):
			t.Errorf("%v, balance %d", err, w.balance(t, people[0]))
		case tt.says != "" && (!refused || v.Reason != verdict.Argument || !strings.Contains(v.Text, tt.says)):
			t.Errorf("%d: %v", tt.mode, err)
		}
	}
}

// TestUnreadableBansAreAFault: who cannot tell whether a model is banned takes no job.
func TestUnreadableBansAreAFault(t *testing.T) {
	w, unreadable := newWorld(t), errors.New("disk")
	call := &jobs.Call{
		Call:  &service.Call{By: people[0], State: w.over, Params: &w.p, Height: 7, Run: &payer{over: w.over}},
		Rules: &jobs.Rules{Banned: func(state.View, chain.Hash) (bool, error) { return false, unreadable }},
	}
	spec, terms := order(10, 1)
	spec.JobType = &chain.LLMJob{ModelID: chain.Hash{1}, Prompt: "p"}
	spec.Bounds.MaxInputTokens, spec.Bounds.MaxOutputTokens = 1, 1
	if err := call.SubmitFor(chain.Hash{1}, spec, terms); !errors.Is(err, unreadable) {
		t.Errorf("%v", err)
	}
}

// TestRequirementsArePaid: who requires things of runners pays to compare each of them with
// each runner, whether or not a block remembers.
func TestRequirementsArePaid(t *testing.T) {
	took := func(required uint64) chain.Cycles {
		w := newWorld(t)
		pays := &payer{over: w.over}
		w.over.SetStorage(chain.AddrRunnerRegistry, state.NewStorageKey(state.VMNamespaceSystem, []byte("count")), cbor.AppendUint(nil, 3)) // registered
		call := &jobs.Call{
			Call:  &service.Call{By: people[0], State: w.over, Params: &w.p, Height: 7, Run: pays},
			Rules: new(jobs.Rules), Required: required,
		}
		spec, terms := order(10, 1)
		if err := call.SubmitFor(chain.Hash{1}, spec, terms); err != nil {
			t.Fatal(err)
		}
		return pays.took.Cycles
	}
	if few, many := took(0), took(256); many != few+3*256*20 {
		t.Errorf("%d cycles, and %d", few, many)
	}
}

// TestOffersBeyondTheMemoryArePaid: where the long offers of all runners are more than a node
// keeps, who submits a job pays for those that are read anew; nothing below that.
func TestOffersBeyondTheMemoryArePaid(t *testing.T) {
	took := func(long uint64) chain.Cycles {
		w := newWorld(t)
		pays := &payer{over: w.over}
		w.over.SetStorage(chain.AddrRunnerRegistry, state.NewStorageKey(state.VMNamespaceSystem, []byte("long")), cbor.AppendUint(nil, long))
		call := &jobs.Call{Call: &service.Call{By: people[0], State: w.over, Params: &w.p, Height: 7, Run: pays}, Rules: new(jobs.Rules)}
		spec, terms := order(10, 1)
		if err := call.SubmitFor(chain.Hash{1}, spec, terms); err != nil {
			t.Fatal(err)
		}
		return pays.took.Cycles
	}
	few := took(0)
	for long, want := range map[uint64]chain.Cycles{64 << 20: few, 64<<20 + 16<<10: few + 819, 96 << 20: few + 1_677_721} {
		if got := took(long); got != want {
			t.Errorf("%d bytes of long offers: %d cycles, want %d", long, got, want)
		}
	}
}

// TestVerifiersArePaid: a job pays for what its verifier may use in each attempt, with the
// first use of its code, and its row says what was paid for that once.
func TestVerifiersArePaid(t *testing.T) {
	took := func(cycles chain.Cycles) chain.Cycles {
		w := newWorld(t)
		pays := &payer{over: w.over, load: 1_000}
		w.over.SetAccount(chain.Address(bytes.Repeat([]byte{0x11}, 20)), state.Account{CodeHash: w.over.SetCode([]byte("code"))})
		call := &jobs.Call{Call: &service.Call{By: people[0], State: w.over, Params: &w.p, Height: 7, Run: pays}, Rules: new(jobs.Rules)}
		spec, terms := order(10, 1)
		spec.Verification.Mode = chain.VerifyEconomicBond
		if terms.VerifierCycles = cycles; cycles > 0 {
			spec.Verification.Checks = []chain.VerifierCheck{&chain.CustomCheck{Actor: "0x1111111111111111111111111111111111111111", Method: "verify"}}
		}
		read := len(spec.Encode()) + len(terms.Encode()) // at 16 cycles a byte
		if err := call.SubmitFor(chain.Hash{1}, spec, terms); err != nil {
			t.Fatal(err)
		}
		var load chain.Cycles
		if cycles > 0 {
			load = pays.load
		}
		if j, err := jobs.Read(w.over, chain.Hash{1}); err != nil || j.VerifierLoad != load || j.AnswerLoad != 0 {
			t.Errorf("the row says %+v, %v: want %d for the verifier's code", j, err, load)
		}
		return pays.took.Cycles - 16*chain.Cycles(read)
	}
	w := newWorld(t)
	want := 3 * (500 + 1_000 + chain.Cycles(chain.MinJudgeSteps))
	if got := took(500) - took(0); got != want || w.p.Job.MaxRetries != 3 {
		t.Errorf("%d cycles, want %d", got, want)
	}
}

// TestAnswerCells: the cells of an answer are the reserve of a message, in proportion more for
// more cycles, and never above a transaction's.
func TestAnswerCells(t *testing.T) { // ADR 226
	p := params.Default()
	for _, tt := range []struct {
		cycles chain.Cycles
		want   chain.Cells
	}{{0, 10_000}, {100_000, 10_000}, {100_009, 10_000}, {100_010, 10_001}, {900_000, 90_000}, {5_000_010, 500_000}, {1<<64 - 1, 500_000}} {
		if got := jobs.AnswerCells(&p, tt.cycles); got != tt.want {
			t.Errorf("%d cycles: %d cells, want %d", tt.cycles, got, tt.want)
		}
	}
	p.Actor.MessageReserveCycles = 0
	if got := jobs.AnswerCells(&p, 1); got != p.MaxTxCells {
		t.Errorf("without a reserve of cycles: %d", got)
	}
	p.Actor.MessageReserveCells = 600_000
	if got := jobs.AnswerCells(&p, 1); got != 600_000 {
		t.Errorf("less than the reserve: %d", got)
	}
}
