package boundary

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/state"
)

var samples = flag.Int("samples", 2, "how often the recipes are executed: the least time counts")

// ground is one that ends with the test.
func ground(t *testing.T, cfg Config) *Ground {
	t.Helper()
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// figures prints what a block paid and took.
func (g *Ground) figures(t *testing.T, name string, txs ...*chain.VerifiedTx) (Spent, exec.Result) {
	t.Helper()
	idle, err := g.idle(*samples)
	if err != nil {
		t.Fatal(err)
	}
	s := Spent{Name: name, Time: math.MaxInt64}
	var r exec.Result
	for range *samples {
		began := bars.ProcessCPU()
		if r, err = g.Try(txs...); err != nil {
			t.Logf("%-42s %v", name, err)
			return s, r
		}
		s.Time = min(s.Time, bars.ProcessCPU()-began-idle)
	}
	s.Used, s.Code = spentOf(&r)
	if s.Kept, err = keptBy(g.State, &r, txs); err != nil {
		t.Fatal(err)
	}
	t.Logf("%-42s %-16s cycles %9d cells %7d time %8.2f ms %8.1f ns/cycle; written %7d grown %7d codes %6d bodies %6d receipts %6d: %6.2f bytes/cell",
		name, chain.CodeName(s.Code), s.Used.Cycles, s.Used.Cells, float64(s.Time)/1e6, s.PerCycle(),
		s.Kept.Written, s.Kept.Grown, s.Kept.Codes, s.Kept.Bodies, s.Kept.Receipts, s.PerCell())
	return s, r
}

func (g *Ground) must(t *testing.T) func(a chain.Address, err error) chain.Address {
	return func(a chain.Address, err error) chain.Address {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// TestRecipeB1 puts bytes that are no blob into the storage of an actor that is being
// restored, and reads the blob.
func TestRecipeB1(t *testing.T) {
	g := ground(t, Config{ProgramBytes: 1 << 20, Change: func(p *params.Params) {
		p.Rent.ChargeBlocks, p.EpochBlocks, p.Rent.GraceEpochs, p.Rent.WarningEpochs = 10, 5, 2, 1
		p.Rent.PricePerByteYear = 1_000_000_000_000_000
	}})
	must := g.must(t)
	keeper := must(g.Deploy("from cowboy_sdk import *\n@public\ndef init(msg):\n    return blob_commit(b'x' * 60000)\n@public\ndef get(msg):\n    return blob_get(msg.payload)\n",
		"keeper", EncodeManifest(All()), nil, 0))
	r, err := g.One(g.Message(keeper, "init", null()))
	if err != nil {
		t.Fatal(err)
	}
	hash := r.Output[2:] // a byte string of 34
	thief := must(g.Deploy(`from cowboy_sdk import *
@public
def go(msg):
    a, h, junk = msg.payload
    storage.restore(a, {"__blob:" + h.hex(): junk})
    return blob_get(h)
@public
def get(msg):
    return blob_get(msg.payload)
`, "thief", EncodeManifest(All()), nil, 9_000_000*chain.WeiPerCBY))
	for range 80 {
		var s rent.Status
		s, err = (&rent.Block{State: state.NewOverlay(g.State), Params: g.Params(), Height: g.Height}).Status(keeper)
		if err != nil || s.State == rent.Dormant {
			break
		}
		if err := g.Empty(1); err != nil {
			t.Fatal(err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("B1 height %d, hash %x", g.Height, hash)
	g.figures(t, "B1 restore and blob_get in one", g.Message(thief, "go", array(raw(keeper[:]), raw(hash), text("text"))))
	g.figures(t, "B1 restore and blob_get, bytes", g.Message(thief, "go", array(raw(keeper[:]), raw(hash), raw([]byte("forged")))))
}

// TestRecipeB2 calls programs that are not compiled yet.
func TestRecipeB2(t *testing.T) {
	g := ground(t, Config{ProgramBytes: 1 << 20})
	must := g.must(t)
	const programs = 12
	var all, same [][]byte
	size := 0
	for i := range programs {
		a, n, err := g.deployLargest(func(size int) *actor.Deployment {
			return &actor.Deployment{Source: Large(0, size, i), Salt: []byte{byte(i)}, Manifest: EncodeManifest(All())}
		}, 120_000, 60_000, 24_000)
		if err != nil {
			t.Fatal(err)
		}
		size, all = n, append(all, raw(a[:]))
	}
	for range all {
		same = append(same, all[0])
	}
	caller := must(g.Deploy("from cowboy_sdk import *\n@public\ndef go(msg):\n    for _ in range(5):\n        for a in msg.payload:\n            call(a, 'ping', None)\n", "c", EncodeManifest(All()), nil, 0))
	t.Logf("B2 sources of %d bytes", size)
	g.figures(t, "B2 60 calls of one program", g.Message(caller, "go", array(same...)))
	g.figures(t, "B2 60 calls of 12 programs, cache 1 MiB", g.Message(caller, "go", array(all...)))
	for shape := range Shapes {
		block, err := g.largestDeployment(shape)
		if err != nil {
			t.Log("W1 shape ", shape, ": ", err)
			continue
		}
		g.engine = coldEngine(t)
		g.figures(t, fmt.Sprint("W1 deployment of the largest, shape ", shape), block()...)
	}
}

// coldEngine keeps nothing compiled.
func coldEngine(t *testing.T) *pvm.Engine {
	t.Helper()
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	return pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())
}

// TestRecipeB3 asks of actors with large manifests.
func TestRecipeB3(t *testing.T) {
	for _, small := range []bool{true, false} {
		g := ground(t, Config{ProgramBytes: 1 << 20})
		must := g.must(t)
		sizes := []int{60_000, 8_000}
		if small {
			sizes = []int{400}
		}
		a, size, err := g.deployLargest(func(bytes int) *actor.Deployment {
			return &actor.Deployment{Source: []byte(fat), Salt: []byte{1}, Manifest: FatManifest(bytes)}
		}, sizes...)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []string{"get_actor(msg.payload)", "transfer(msg.payload, 1)", "call(msg.payload, 'ping', None)"} {
			caller := must(g.Deploy("from cowboy_sdk import *\n@public\ndef go(msg):\n    for _ in range(150):\n        "+body+"\n", body, EncodeManifest(All()), nil, 1_000*chain.WeiPerCBY))
			g.figures(t, fmt.Sprintf("B3 manifest %d: 150x %s", size, strings.SplitN(body, "(", 2)[0]), g.Message(caller, "go", raw(a[:])))
		}
	}
}

// TestRecipeB4 spawns children who inherit all of a manifest.
func TestRecipeB4(t *testing.T) {
	g := ground(t, Config{ProgramBytes: 1 << 20})
	source := "from cowboy_sdk import *\n@public\ndef go(msg):\n    for i in range(msg.payload):\n        spawn(i.to_bytes(4, 'big'))\n"
	a, size, err := g.deployLargest(func(bytes int) *actor.Deployment {
		return &actor.Deployment{Source: []byte(source), Salt: []byte{1}, Manifest: FatManifest(bytes)}
	}, 60_000, 8_000, 2_000)
	if err != nil {
		t.Fatal(err)
	}
	g.figures(t, fmt.Sprintf("B4 15 children, manifest %d", size), g.Message(a, "go", number(15)))
	long := "from cowboy_sdk import *\n@public\ndef go(msg):\n    s = 'from cowboy_sdk import public\\n#' + 'x' * msg.payload\n    for i in range(3):\n        spawn(i.to_bytes(4, 'big'), s + str(i))\n"
	b, err := g.Deploy(long, "long", EncodeManifest(All()), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	g.figures(t, "B13 3 children of 40 KB of source", g.Message(b, "go", number(40_000)))
}

// TestRecipeB7 sends a transfer with the longest access list.
func TestRecipeB7(t *testing.T) {
	g := ground(t, Config{ProgramBytes: 1 << 20})
	var list []chain.AccessEntry
	for i := range 256 {
		e := chain.AccessEntry{Address: chain.Address{0: 9, 18: byte(i >> 8), 19: byte(i)}}
		for k := range 4 {
			e.Keys = append(e.Keys, chain.Hash{0: byte(i), 1: byte(k)})
		}
		list = append(list, e)
	}
	tx := g.Tx(Alice, &Bob, 1, nil, g.Most())
	tx.Tx.AccessList = list
	g.figures(t, "B7 transfer with 256 entries of 4 keys", g.Verified(Alice, *tx.Tx))
	tx.Tx.CellsLimit, tx.Tx.CyclesLimit = 0, 21_000
	g.figures(t, "B7 likewise, with no cells", g.Verified(Alice, *tx.Tx))
}

// TestRecipeB8 defers messages to addresses without code and looks at the rings.
func TestRecipeB8(t *testing.T) {
	g := ground(t, Config{ProgramBytes: 1 << 20})
	at, err := g.Deploy(`from cowboy_sdk import *
@public
def go(msg):
    n, h, cycles, cells = msg.payload
    for i in range(n):
        create_deferred_tx("0x77%038x" % i, "x", None, height=h, cycles_limit=cycles, cells_limit=cells)
`, "d", EncodeManifest(All()), nil, 10_000*chain.WeiPerCBY)
	if err != nil {
		t.Fatal(err)
	}
	due := uint64(g.Height) + 4
	s, _ := g.figures(t, "B8 900 deferred with limits of 1", g.Message(at, "go", array(number(900), number(due), number(1), number(1))))
	n := uint64(900)
	if s.Code != chain.CodeOK {
		for n = 64; n > 0; n /= 2 {
			if s, _ = g.figures(t, fmt.Sprintf("B8 %d deferred with least limits", n), g.Message(at, "go", array(number(n), number(due), number(30_000), number(400)))); s.Code == chain.CodeOK {
				break
			}
		}
		if _, err := g.Block(g.Message(at, "go", array(number(n), number(due), number(30_000), number(400)))); err != nil {
			t.Fatal(err)
		}
	} else if _, err := g.Block(g.Message(at, "go", array(number(n), number(due), number(1), number(1)))); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		parent := g.State
		r, err := g.Block()
		if err != nil {
			t.Fatal(err)
		}
		k, err := keptBy(parent, &r, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("B8 block %d: %d receipts of %d bytes, cycles %d", g.Height, len(r.Receipts), k.Receipts, r.Used[chain.LaneUser].Cycles+r.Used[chain.LaneTimer].Cycles)
	}
}

// TestRecipeB14 fires timers at addresses without code.
func TestRecipeB14(t *testing.T) {
	g := ground(t, Config{ProgramBytes: 1 << 20})
	var made []chain.Address
	for i := range 4 {
		a, err := g.Deploy(`from cowboy_sdk import *
@public
def go(msg):
    for i in range(16):
        schedule_timer_ex(msg.payload, "x", None, 1, None, "0x77%038x" % i, 5000, 10)
`, fmt.Sprint("t", i), EncodeManifest(All()), nil, 100_000*chain.WeiPerCBY)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, a)
	}
	due := uint64(g.Height) + 10
	before := g.balance(t, made[0])
	for _, a := range made {
		r, err := g.Block(g.Message(a, "go", number(due)))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("B14 set: %s cycles %d cells %d", chain.CodeName(r.Receipts[0].Code), r.Receipts[0].CyclesUsed, r.Receipts[0].CellsUsed)
	}
	set := g.balance(t, made[0])
	if err := g.Empty(int(due - uint64(g.Height) - 1)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s, r := g.figures(t, "B14 64 firings at nobody")
		t.Logf("B14 %d receipts, %d bytes, paid %d cycles", len(r.Receipts), s.Kept.Receipts, s.Used.Cycles)
		if _, err := g.Block(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("B14 one actor: %d base units locked, %d more spent in 3 blocks of 16 firings", before-set, set-g.balance(t, made[0]))
}

func (g *Ground) balance(t *testing.T, a chain.Address) chain.Wei {
	t.Helper()
	account, _, err := g.State.Account(a)
	if err != nil {
		t.Fatal(err)
	}
	return account.Balance
}

// TestRecipeB11 begins a restoration that another has begun.
func TestRecipeB11(t *testing.T) {
	g := ground(t, Config{ProgramBytes: 1 << 20, Change: func(p *params.Params) {
		p.Rent.ChargeBlocks, p.EpochBlocks, p.Rent.GraceEpochs, p.Rent.WarningEpochs = 10, 5, 2, 1
		p.Rent.PricePerByteYear = 1_000_000_000_000_000
	}})
	at, err := g.Deploy("from cowboy_sdk import *\n@public\ndef init(msg):\n    for i in range(20):\n        storage.set('p%d' % i, 'x' * 1000)\n", "k", EncodeManifest(All()), &actor.Init{Handler: "init", Payload: null()}, 0)
	if err == nil {
		err = g.Empty(70)
	}
	if err != nil {
		t.Fatal(err)
	}
	begin := func(from chain.Address) *chain.VerifiedTx {
		return g.Instruction(from, chain.AddrRent, chain.OpRestoreBegin, raw(at[:]), number(uint64(g.Height)+7_000))
	}
	had := g.balance(t, Mallory)
	r, err := g.Block(begin(Mallory))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("B11 the rival begins: %s, paid %d and spent %d", chain.CodeName(r.Receipts[0].Code), r.Receipts[0].Fee, had-g.balance(t, Mallory))
	g.figures(t, "B11 another begins beside", begin(Bob))
}

// TestRecipePut brings back a storage of the smallest entries: the work is by entries.
func TestRecipePut(t *testing.T) {
	const entries, each = 4090, 230
	g := ground(t, Config{ProgramBytes: 1 << 20, Change: func(p *params.Params) {
		p.Rent.ChargeBlocks, p.EpochBlocks, p.Rent.GraceEpochs, p.Rent.WarningEpochs = 10, 5, 30, 1
		p.Rent.PricePerByteYear = 1_000_000_000_000_000
	}})
	keeper := g.must(t)(g.Deploy(`from cowboy_sdk import *
@public
def fill(msg):
    for i in range(msg.payload, msg.payload + 230):
        storage.set('%03x' % i, b'x' * 60)
`, "keeper", EncodeManifest(All()), nil, 0))
	for at := uint64(0); at < entries; at += each {
		if err := g.Empty(2); err != nil {
			t.Fatal(err)
		}
		if _, err := g.One(g.Message(keeper, "fill", number(at))); err != nil {
			t.Fatal(err)
		}
	}
	for asleep := false; !asleep; {
		if err := g.Empty(1); err != nil {
			t.Fatal(err)
		}
		s, err := (&rent.Block{State: state.NewOverlay(g.State), Params: g.Params(), Height: g.Height}).Status(keeper)
		if err != nil || g.Height > 500 {
			t.Fatal(g.Height, err)
		}
		asleep = s.State == rent.Dormant
	}
	if _, err := g.One(g.Instruction(Alice, chain.AddrRent, chain.OpRestoreBegin, raw(keeper[:]), number(uint64(g.Height)+7000))); err != nil {
		t.Fatal(err)
	}
	list := make([]state.StorageChange, entries)
	for i := range list {
		list[i] = state.StorageChange{Key: state.NewStorageKey(state.VMNamespacePVM, fmt.Appendf(nil, "%03x", i)), Value: []byte{}}
	}
	list = rent.Arrange(list)
	for _, n := range []int{256, 2048, entries} {
		var items [][]byte
		for _, e := range list[:n] {
			items = append(items, array(raw([]byte(e.Key)), raw(e.Value)))
		}
		s, _ := g.figures(t, fmt.Sprint("restore_put of ", n), g.Instruction(Alice, chain.AddrRent, chain.OpRestorePut, raw(keeper[:]), array(items...)))
		if least := g.Params().API.HashCycles * chain.Cycles(n); s.Used.Cycles < least {
			t.Errorf("%d entries cost %d cycles, no %d", n, s.Used.Cycles, least)
		}
	}
}
