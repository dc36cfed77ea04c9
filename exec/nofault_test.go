package exec_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// No transaction ends in a fault: random programs and transactions over actors that
// are dormant, restored by liars, spawned and evicted again. What they do is in
// nofault_acts_test.go. Every block is held to five rules: no fault, no unit made or
// lost, every receipt has a code that there is, parallel execution gives the same bytes,
// and whoever makes nodes keep bytes has paid for them (kept_test.go).

var (
	wildSeeds  = flag.Uint64("wild-seeds", 5, "random chains of TestNoFault")
	wildFirst  = flag.Uint64("wild-first", 0, "the first of their seeds")
	wildBlocks = flag.Int("wild-blocks", 70, "blocks of each")
)

// wild is a chain of random blocks.
type wild struct {
	*testChain
	t      *testing.T
	seed   uint64
	pick   chooser
	ground *statetest.Rooted
	beside *parallel.Executor
	people []chain.Address
	herd   []chain.Address // actors, some of them dormant
	forged [][]byte        // multihashes of blobs that somebody has put otherwise
	names  [][]byte        // multihashes of blobs, ids of tokens and timers
	tokens []chain.Hash
	whole  map[chain.Address][]state.StorageChange // storages as they were before they were evicted
	did    map[string]int

	builders  []chain.Address // of the herd
	roles     []chain.Hash
	strangers int     // addresses that were used up
	thickest  float64 // the most bytes kept for a cell
}

// chooser makes choices from a script, which a fuzzer moves, and behind its end from
// a seed.
type chooser struct {
	script []byte
	rng    *rand.Rand
}

func (c *chooser) n(most int) int {
	if len(c.script) == 0 || most > 256 {
		return c.rng.IntN(most)
	}
	v := int(c.script[0])
	c.script = c.script[1:]
	return v % most
}

func (c *chooser) one(in int) bool { return c.n(in) == 0 }

func anyOf[T any](c *chooser, list []T) (v T) {
	if len(list) > 0 {
		v = list[c.n(len(list))]
	}
	return v
}

// wildEngines are one to go ahead and two beside each other, with one runtime.
func wildEngines(tb testing.TB) []*pvm.Engine {
	tb.Helper()
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		tb.Fatal(err)
	}
	list := make([]*pvm.Engine, 3)
	for i := range list {
		list[i] = pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits())
	}
	return list
}

func newWild(t *testing.T, engines []*pvm.Engine, script []byte, seed uint64) *wild {
	t.Helper()
	w := &wild{
		t: t, seed: seed, pick: chooser{script, rand.New(rand.NewPCG(seed, 9))}, ground: statetest.NewRooted(),
		people: []chain.Address{alice, bob, carol}, whole: map[chain.Address][]state.StorageChange{}, did: map[string]int{},
	}
	var people []genesis.Allocation
	for i, p := range w.people {
		a := rich(p)
		a.Name, a.Amount = string(rune('a'+i)), 10_000_000*chain.WeiPerCBY
		people = append(people, a)
	}
	g := testGenesis(t, []chain.Wei{50}, people...)
	p := &g.Params
	p.Rent.ChargeBlocks, p.EpochBlocks, p.Rent.GraceEpochs, p.Rent.WarningEpochs = 3, 2, 1, 1
	p.Rent.PricePerByteYear, p.Rent.ExemptBytes = 1_000_000_000_000, 200
	p.Timer.MinCycles = 20_000
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	w.testChain = &testChain{t: t, g: g, base: chain.FeePair{PerCycle: 1, PerCell: 1}, nonces: map[chain.Address]uint64{}, engine: engines[0]}
	var err error
	if w.beside, err = parallel.New(parallel.Config{Mode: parallel.Planned, Workers: 2}, engines[1:]); err != nil {
		t.Fatal(err)
	}
	d, err := exec.GenesisDelta(g)
	if err == nil {
		err = w.ground.Write(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		w.block(w.birth())
	}
	return w
}

// block executes transactions and keeps what may stand.
func (w *wild) block(txs ...*chain.VerifiedTx) {
	w.t.Helper()
	txs = w.numbered(txs)
	before := w.ground.Money()
	res, err := apply(w.ground, w.inputs(), txs)
	for ; err != nil; res, err = apply(w.ground, w.inputs(), txs) {
		var invalid *exec.InvalidTx
		if !errors.As(err, &invalid) {
			w.t.Fatalf("seed %d, block %d: %v", w.seed, w.height+1, err)
		}
		w.did["invalid"]++
		txs = w.numbered(append(txs[:invalid.Index:invalid.Index], txs[invalid.Index+1:]...))
	}
	w.same(txs, &res)
	if err := leavesNothing(w.ground, w.inputs(), txs); err != nil {
		w.t.Fatalf("seed %d, block %d: %v", w.seed, w.height+1, err)
	}
	if err := withinCaps(w.inputs().Params, &res); err != nil {
		w.t.Fatalf("seed %d, block %d: %v", w.seed, w.height+1, err)
	}
	if w.height > 0 { // the first block makes what the protocol keeps for itself
		at := fmt.Sprintf("seed %d, block %d", w.seed, w.height+1)
		w.thickest = max(w.thickest, weighed(w.t, at, w.ground, w.inputs(), txs, res.Receipts))
	}
	if err := w.ground.Write(res.Delta); err != nil {
		w.t.Fatal(err)
	}
	w.height++
	if after := w.ground.Money(); after != before+res.Issued-res.Burned {
		w.t.Fatalf("block %d: balances add up to %d, want %d + %d issued - %d burned", w.height, after, before, res.Issued, res.Burned)
	}
	for _, tx := range txs {
		w.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
	for i := range res.Receipts {
		w.receipt(&res.Receipts[i])
	}
	w.look()
}

// numbered gives transactions the nonces of their senders' next.
func (w *wild) numbered(txs []*chain.VerifiedTx) []*chain.VerifiedTx {
	next := maps.Clone(w.nonces)
	out := make([]*chain.VerifiedTx, len(txs))
	for i, tx := range txs {
		tx.Tx.Nonce = next[tx.Sender]
		next[tx.Sender]++
		out[i] = verified(tx.Tx, tx.Sender)
	}
	return out
}

// same holds parallel execution to the result.
func (w *wild) same(txs []*chain.VerifiedTx, want *exec.Result) {
	w.t.Helper()
	got, err := w.beside.Apply(w.ground, w.inputs(), txs)
	if err != nil {
		w.t.Fatalf("block %d beside each other: %v", w.height+1, err)
	}
	a, b := lines(&got), lines(want)
	for i := range max(len(a), len(b)) {
		if i == len(a) || i == len(b) || a[i] != b[i] {
			w.t.Fatalf("block %d beside each other: line %d of %d and %d is\n%.600s\nwant\n%.600s", w.height+1, i, len(a), len(b), a[min(i, len(a)-1)], b[min(i, len(b)-1)])
		}
	}
}

// lines are all of a result.
func lines(r *exec.Result) (out []string) {
	for i := range r.Receipts {
		out = append(out, fmt.Sprintf("receipt %x", r.Receipts[i].Encode()))
	}
	out = append(out, fmt.Sprint(r.Burned, r.Issued, r.Tips, r.Used))
	for _, c := range r.Delta.Accounts() {
		out = append(out, fmt.Sprint(c.Address, c.Cleared, c.Account))
		for _, w := range c.Storage {
			out = append(out, fmt.Sprintf("%x %v %x", string(w.Key), w.Value == nil, w.Value))
		}
	}
	for _, c := range r.Delta.Codes() {
		out = append(out, fmt.Sprint(c.Hash, len(c.Code)))
	}
	return out
}

func (w *wild) receipt(r *chain.Receipt) {
	w.t.Helper()
	w.did[chain.CodeName(r.Code)]++
	if _, err := chain.DecodeReceipt(r.Encode()); err != nil {
		w.t.Errorf("block %d: a receipt that nobody can read: %v", w.height, err)
	}
	if chain.CodeMeaning(r.Code) == "" {
		w.t.Errorf("block %d: a receipt has the code %d, which nobody knows", w.height, r.Code)
	}
	for _, d := range r.Trace {
		if chain.CodeMeaning(d.Code) == "" {
			w.t.Errorf("block %d: a delivery has the code %d, which nobody knows", w.height, d.Code)
		}
	}
	for _, e := range r.Events {
		if e.Emitter.IsSystem() {
			w.did[e.Name]++
		}
		switch e.Name {
		case "name": // of a blob, a token or a timer that a program made
			r := cbor.NewReader(e.Data)
			if b, err := r.Bytes(len(e.Data)); err == nil {
				w.names = append(w.names, b)
			}
		case "child":
			r := cbor.NewReader(e.Data)
			var a chain.Address
			if r.BytesInto(a[:]) == nil {
				w.herd = append(w.herd, a)
			}
		case entitlements.EventRoleCreated:
			out, id := cbor.NewReader(r.Output), chain.Hash{}
			if out.BytesInto(id[:]) == nil {
				w.roles = append(w.roles, id)
			}
		case token.EventCreate:
			r := cbor.NewReader(e.Data)
			var id chain.Hash
			if _, err := r.Array(100); err == nil && r.BytesInto(id[:]) == nil {
				w.tokens = append(w.tokens, id)
			}
		}
	}
}

// look remembers the storages of those who are awake, and counts the others.
func (w *wild) look() {
	for _, a := range w.herd {
		account := w.ground.Accounts[a]
		if !stored.Dormant(&account) {
			w.whole[a] = w.whole[a][:0]
			for key, value := range w.ground.Storages[a] {
				w.whole[a] = append(w.whole[a], state.StorageChange{Key: key, Value: value})
			}
			continue
		}
		w.did["asleep"]++
		if len(w.ground.Storages[a]) > 0 {
			w.did["restoring"]++
		}
	}
}

// rush makes blocks of a few transactions each, and tries others without keeping them.
func (w *wild) rush(blocks int) {
	for range blocks {
		txs := make([]*chain.VerifiedTx, 1+w.pick.n(6))
		for i := range txs {
			txs[i] = w.act()
		}
		w.block(txs...)
		tx := w.act()
		if _, err := exec.Estimate(w.ground, w.inputs(), tx.Sender, *tx.Tx); errors.As(err, new(*exec.Fault)) {
			w.t.Fatalf("after block %d: an estimate is a fault: %v", w.height, err)
		}
	}
}

// TestNoFault is FuzzNoFault over some seeds, and sees that they reach what they are
// for.
func TestNoFault(t *testing.T) {
	engines := wildEngines(t)
	did := map[string]int{}
	for seed := *wildFirst; seed < *wildFirst+*wildSeeds; seed++ {
		w := newWild(t, engines, nil, seed)
		w.rush(*wildBlocks)
		for what, n := range w.did {
			did[what] += n
		}
	}
	t.Logf("%v", did)
	for _, what := range []string{"ok", "asleep", "restoring", rent.EventEvicted, rent.EventRestored, "forged", "hostile row", "dormant target", "reverted", "token_hook"} {
		if did[what] == 0 {
			t.Errorf("nothing was %s", what)
		}
	}
}

func FuzzNoFault(f *testing.F) {
	engines := wildEngines(f)
	f.Add([]byte{}, uint64(1))
	f.Add([]byte("restore, forge, call"), uint64(2))
	f.Fuzz(func(t *testing.T, script []byte, seed uint64) {
		newWild(t, engines, script[:min(len(script), 4096)], seed).rush(25)
	})
}
