package parallel_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/state"
)

var (
	seeds = flag.Uint64("seeds", 4, "chains of TestSameAsSequential")
	first = flag.Uint64("first", 1, "seed of the first chain")
)

// ways are all ways to execute a block in parallel, each with what it remembers.
type way struct {
	name string
	*parallel.Executor
}

func ways(t testing.TB, pool []*pvm.Engine, seed uint64) (list []way) {
	t.Helper()
	for _, mode := range []parallel.Mode{parallel.Planned, parallel.Optimistic, parallel.Auto} {
		for _, n := range []int{1, 2, 4, 8} {
			if mode == parallel.Auto && n != 2 {
				continue // either of the others
			}
			x, err := parallel.New(parallel.Config{Mode: mode, Workers: n}, pool[:n])
			if err != nil {
				t.Fatal(err)
			}
			x.Shake(shaker(seed))
			list = append(list, way{fmt.Sprintf("%v with %d", mode, n), x})
		}
	}
	return list
}

// shaker yields now and then, by its seed and how often it was called.
func shaker(seed uint64) func() {
	var calls atomic.Uint64
	return func() {
		n := calls.Add(1)*0x9e3779b97f4a7c15 + seed
		n ^= n >> 29
		for range n * 0xbf58476d1ce4e5b9 >> 60 % 4 {
			runtime.Gosched()
		}
	}
}

// world makes blocks that conflict.
type world struct {
	rng    *rand.Rand
	nonces map[chain.Address]uint64
	actors []chain.Address
	tokens []token.ID
	makers []chain.Address // of the tokens
	salt   byte

	lawyers   bool // much is done with rights
	proposals []chain.Hash
}

func (w *world) anyone() chain.Address {
	n := w.rng.IntN(users + len(w.actors))
	switch {
	case w.rng.IntN(12) == 0:
		return stranger(w.rng.IntN(strangers))
	case w.rng.IntN(12) == 0:
		return whale
	case n >= users:
		return w.actors[n-users]
	}
	return user(n)
}

// tx is something that user from does.
func (w *world) tx(from chain.Address) *chain.VerifiedTx {
	if w.rng.IntN(20) == 0 {
		return w.deploy(from)
	}
	if w.lawyers && w.rng.IntN(3) == 0 {
		return w.rights()
	}
	switch w.rng.IntN(12) {
	case 0:
		return w.instruct(from)
	case 1:
		return w.support(from)
	}
	tx := &chain.Tx{Nonce: w.nonces[from], CyclesLimit: 21_000 + chain.Cycles(w.rng.IntN(2)), CellsLimit: 1000}
	w.nonces[from]++
	to := w.anyone()
	switch n := w.rng.IntN(20); {
	case n < 12 && len(w.actors) > 0 || n < 16 && w.isActor(to):
		for !w.isActor(to) {
			to = w.anyone()
		}
		arg := argument(w.anyone(), w.rng.Uint64N(100), 3)
		tx.Payload = actor.AppendMessage(nil, handlers[w.rng.IntN(len(handlers))], arg)
		tx.CyclesLimit = chain.Cycles(40_000 + w.rng.IntN(400_000)) // often too little
		tx.CellsLimit = chain.Cells(200 + w.rng.IntN(12_000))
		tx.Value = chain.Wei(w.rng.IntN(3))
	default:
		to = w.payee(from, to)
		tx.Value = chain.Wei(w.rng.IntN(1000))
		tx.CellsLimit = chain.Cells(w.rng.IntN(2)) * 1000 // an account that is made may cost them
		if w.rng.IntN(30) == 0 {
			tx.Value = rich - chain.Wei(w.rng.IntN(3))*21_000*4 // all that there is, or more
		}
	}
	tx.To = &to
	if w.rng.IntN(5) == 0 {
		tx.AccessList = []chain.AccessEntry{{Address: w.anyone()}}
	}
	return verified(tx, from)
}

// payee is whom a payment goes to: a user or the sender, mostly; an actor; a place where
// nobody is yet, or somebody is about to deploy; an account that hardly more fits into.
func (w *world) payee(from, anyone chain.Address) chain.Address {
	switch w.rng.IntN(10) {
	case 0:
		return from
	case 1:
		return stranger(w.rng.IntN(strangers))
	case 2:
		d := deployment(w.salt+1, w.entitlements()...)
		return actor.AddressOf(user(w.rng.IntN(users)), d.Salt, d.Source)
	case 3:
		return whale
	}
	return anyone
}

// strangers are accounts that are not there at first.
const strangers = 3

func stranger(i int) chain.Address { return chain.Address{0: byte(0x50 + i), 19: 7} }

// whale has as much as it can, but for what a few credits bring.
var whale = chain.Address{0: 0x60, 19: 7}

// support gives an account money, or pays its rent.
func (w *world) support(from chain.Address) *chain.VerifiedTx {
	whom, system := w.anyone(), chain.AddrActors
	tx := &chain.Tx{Nonce: w.nonces[from], CyclesLimit: 100_000, CellsLimit: 1000}
	w.nonces[from]++
	if w.rng.IntN(3) > 0 {
		tx.Value = chain.Wei(w.rng.Uint64N(300)) * chain.WeiPerCBY
		tx.Payload = cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpActorFund), whom[:])
	} else {
		system = chain.AddrRent
		tx.Payload = cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpRentPrepay), whom[:])
		tx.Payload = cbor.AppendUint(tx.Payload, 1)
	}
	tx.To = &system
	return verified(tx, from)
}

// deploy makes an actor, now and then where one is.
func (w *world) deploy(from chain.Address) *chain.VerifiedTx {
	if w.rng.IntN(4) > 0 {
		w.salt++
	}
	ids := w.entitlements()
	d := deployment(w.salt, ids...)
	tx := &chain.Tx{Nonce: w.nonces[from], Payload: actor.AppendPayload(nil, d), CyclesLimit: 1_000_000, CellsLimit: 100_000}
	if ids[0] == "econ.hold_balance" {
		tx.Value = 500_000 // for timers
	}
	w.nonces[from]++
	if a := actor.AddressOf(from, d.Salt, d.Source); !w.isActor(a) {
		w.actors = append(w.actors, a)
	}
	return verified(tx, from)
}

func (w *world) entitlements() []string {
	list := []string{"econ.hold_balance", "econ.transfer", "exec.spawn", "storage.kv", "timer.schedule"}
	return list[w.rng.IntN(2):]
}

func (w *world) isActor(a chain.Address) bool {
	for _, b := range w.actors {
		if a == b {
			return true
		}
	}
	return false
}

// limits are parameters under which lanes and actors run out now and then.
func (w *world) limits() *params.Params {
	p := params.Default()
	p.Timer.BaseDeposit, p.Timer.InitialBaseFee = 1, 1 // what the actors can pay
	p.Actor.MessageReserveCycles = 60_000
	if w.rng.IntN(2) == 0 {
		p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 60_000, 250_000
	}
	if w.rng.IntN(2) == 0 {
		p.Actor.CallDepth = 1 // what is nested waits for the next block
	}
	p.Actor.MessageReserveCells = 200
	if w.rng.IntN(2) == 0 {
		p.Actor.EnforceHoldBalance = false
	}
	for i := range users {
		p.Governance.Members = append(p.Governance.Members, user(i))
	}
	p.Governance.Seats, p.Governance.Threshold = users, 1
	p.Governance.TimelockBlocks, p.Governance.EmergencyTimelockBlocks = 1, 0
	if w.rng.IntN(2) == 0 {
		p.CyclesTarget, p.CyclesCap = 1_200_000, 1_600_000
	}
	return &p
}

// TestSameAsSequential runs chains of blocks full of conflicts in every way, each
// step of the schedule shaken, and wants what exec.Apply says: of blocks that are
// invalid the same reason at the same transaction, of others the same bytes.
func TestSameAsSequential(t *testing.T) {
	pool, met := engines(t, 9), meetings{}
	for seed := *first; seed < *first+*seeds; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { sameChain(t, seed, pool, met) })
	}
	t.Log(met)
	if *seeds < 8 {
		return // too few to meet everything
	}
	for _, what := range []string{
		chain.CodeName(chain.CodeOK), chain.CodeName(chain.CodeReverted), chain.CodeName(chain.CodeCyclesExhausted), chain.CodeName(chain.CodeNoHandler),
		chain.CodeName(chain.CodeBalanceOverflow), chain.CodeName(chain.CodeBalanceHeld), chain.CodeName(chain.CodeCellsExhausted),
		exec.ErrLaneFull.Error(), exec.ErrActorBusy.Error(), "waited", "fired",
		"left out: " + exec.ErrLaneFull.Error(), "left out: " + exec.ErrActorBusy.Error(),
		"ended in time", "event " + entitlements.EventGranted, "event " + governance.EventExecuted, "event token_create", "event token_transfer",
	} {
		if met[what] == 0 {
			t.Errorf("no chain met %q", what)
		}
	}
}

// meetings count what became of transactions, so that the test is known to test.
type meetings map[string]int

func (m meetings) add(r exec.Result, err error) {
	for _, bad := range []error{exec.ErrLaneFull, exec.ErrActorBusy} {
		if errors.Is(err, bad) {
			m[bad.Error()]++
		}
	}
	for i := range r.Receipts {
		for _, e := range r.Receipts[i].Events {
			m["event "+e.Name]++
		}
		if r.Receipts[i].Fee == 0 {
			m["waited"]++
		}
		m[chain.CodeName(r.Receipts[i].Code)]++
		if r.Receipts[i].Lane == chain.LaneTimer {
			m["fired"]++
		}
		for j := range r.Receipts[i].Trace {
			m["delivery "+chain.CodeName(r.Receipts[i].Trace[j].Code)]++
		}
	}
}

func sameChain(t *testing.T, seed uint64, pool []*pvm.Engine, met meetings) {
	w := &world{rng: rand.New(rand.NewPCG(seed, 11)), nonces: map[chain.Address]uint64{}, lawyers: seed%4 > 1}
	p, m, list := w.limits(), newState(), ways(t, pool[1:], seed)
	a := state.NewAccount()
	a.Balance = math.MaxUint64 - 500
	m.Accounts[whale] = a
	for h := chain.Height(1); h <= 5; h++ {
		var txs []*chain.VerifiedTx
		if w.lawyers {
			for range 3 + w.rng.IntN(8) {
				txs = append(txs, w.decision())
			}
		}
		if h == 1 {
			for i := range users {
				txs = append(txs, w.deploy(user(i)))
			}
		}
		for range 4 + w.rng.IntN(30) {
			txs = append(txs, w.tx(user(w.rng.IntN(users))))
		}
		w.sameBuild(t, p, h, m, list, txs, pool[0], met)
		for {
			in := inputs(p, h)
			in.Engine = pool[0]
			r, err := exec.Apply(m, in, txs)
			want := text(r, err)
			met.add(r, err)
			for _, x := range list {
				if got := text(x.Apply(m, inputs(p, h), txs)); got != want {
					t.Fatalf("seed %d, block %d of %d transactions, %s:\n%s", seed, h, len(txs), x.name, difference(got, want))
				}
			}
			if err == nil {
				m.Write(r.Delta)
				break
			}
			var bad *exec.InvalidTx
			if !errors.As(err, &bad) {
				t.Fatal(err)
			}
			txs = without(txs, bad.Index)
		}
		for i := range users {
			w.nonces[user(i)] = m.Accounts[user(i)].Nonce
		}
		w.reread(t, m)
	}
	for _, x := range list {
		s := x.Stats()
		t.Logf("%s: %d of %d blocks in parallel, %d given up, %d transactions, %d executions, %d again, %d not foreseen",
			x.name, s.Parallel, s.Blocks, s.Abandoned, s.Txs, s.Executions, s.Reexecuted, s.Mispredicted)
	}
}

// sameBuild holds the ways to exec.Build, with some of the transactions overcommitted, and
// that to exec.Apply of what it keeps.
func (w *world) sameBuild(t *testing.T, p *params.Params, h chain.Height, m state.View, list []way, txs []*chain.VerifiedTx, e *pvm.Engine, met meetings) {
	t.Helper()
	sel := &order.Selection{Txs: txs, Overcommitted: make([]bool, len(txs)), Unreserved: chain.Usage{Cycles: chain.Cycles(w.rng.IntN(2_000_000)), Cells: 200_000}}
	for i := range txs {
		sel.Overcommitted[i] = w.rng.IntN(3) == 0
	}
	in := inputs(p, h)
	in.Engine = e
	all, err := exec.Build(m, in, sel, exec.Watch{})
	want := built(all, err)
	if err == nil {
		if got, alone := text(all.Result, nil), text(exec.Apply(m, in, all.Kept)); got != alone {
			t.Fatalf("block %d of %d transactions built is not what the kept ones make:\n%s", h, len(txs), difference(got, alone))
		}
	}
	for _, reason := range []error{exec.ErrLaneFull, exec.ErrActorBusy} {
		met["left out: "+reason.Error()] += strings.Count(want, reason.Error())
	}
	for _, x := range list {
		if got := built(x.Build(m, inputs(p, h), sel, exec.Watch{})); got != want {
			t.Fatalf("block %d of %d transactions built, %s:\n%s", h, len(txs), x.name, difference(got, want))
		}
	}
	if err == nil {
		w.endsInTime(t, p, h, m, list, *sel, e, all.Kept, met)
	}
}

// endsInTime cuts a block short by a clock that nobody knows beforehand: what is kept
// is the beginning of what is kept with all time, and makes the same block by itself.
func (w *world) endsInTime(t *testing.T, p *params.Params, h chain.Height, m state.View, list []way, sel order.Selection, e *pvm.Engine, all []*chain.VerifiedTx, met meetings) {
	t.Helper()
	for _, x := range list {
		var asked atomic.Int64
		most := int64(w.rng.IntN(2*len(sel.Txs) + 2))
		ran := map[int]bool{}
		watch := exec.Watch{
			Start: func(int) func() uint64 { return func() uint64 { return uint64(asked.Load()) } },
			Over:  func() bool { return asked.Add(1) > most },
			Ran:   func(i int, _ chain.Usage, _ uint64) { ran[i] = true },
		}
		s, err := x.Build(m, inputs(p, h), &sel, watch)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Kept) > len(all) || !slices.Equal(s.Kept, all[:len(s.Kept)]) || !s.Cut && len(s.Kept) < len(all) {
			t.Fatalf("block %d, %s: %d transactions kept in time are not the first of %d", h, x.name, len(s.Kept), len(all))
		}
		if len(s.Kept)+len(s.Skipped) != len(sel.Txs) {
			t.Fatalf("block %d, %s: %d kept and %d left out of %d", h, x.name, len(s.Kept), len(s.Skipped), len(sel.Txs))
		}
		for i, tx := range sel.Txs {
			if slices.Contains(s.Kept, tx) && !ran[i] {
				t.Fatalf("block %d, %s: nobody was told what transaction %d took", h, x.name, i)
			}
		}
		in := inputs(p, h)
		in.Engine = e
		if got, alone := text(s.Result, nil), text(exec.Apply(m, in, s.Kept)); got != alone {
			t.Fatalf("block %d ended in time, %s, is not what the kept ones make:\n%s", h, x.name, difference(got, alone))
		}
		if s.Cut {
			met["ended in time"]++
		}
	}
}

// built is all of a block and of what it leaves out.
func built(s exec.Built, err error) string {
	out := text(s.Result, err)
	for _, tx := range s.Kept {
		out += fmt.Sprintf("kept %s\n", tx.Hash)
	}
	for _, bad := range s.Skipped {
		out += fmt.Sprintf("refused %d: %v\n", bad.Index, bad.Err)
	}
	return out
}

// without leaves out a transaction and what its sender does after it.
func without(txs []*chain.VerifiedTx, bad int) (kept []*chain.VerifiedTx) {
	for i, tx := range txs {
		if i < bad || tx.Sender != txs[bad].Sender {
			kept = append(kept, tx)
		}
	}
	return kept
}

// difference shows the first line that differs.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is\n%s\nwant\n%s", i, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
