package exec_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// countedPrograms is a cache that counts what was compiled.
type countedPrograms struct {
	*pvm.LRU
	compiled int
}

func (c *countedPrograms) Put(p *pvm.Program) {
	c.compiled++
	c.LRU.Put(p)
}

// engineWith is an engine that keeps so many bytes of programs from block to block.
func engineWith(t testing.TB, bytes int) (*pvm.Engine, *countedPrograms) {
	t.Helper()
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	programs := &countedPrograms{LRU: pvm.NewLRU(bytes)}
	return pvm.NewEngine(rt, programs, pvm.DefaultLimits()), programs
}

// heavy is a program whose only burden is to compile it.
func heavy(n, bytes int) string {
	head := fmt.Sprintf("# %d\nfrom cowboy_sdk import public\n@public\ndef ping(msg):\n return 1\ndef never(a):\n return [", n)
	return head + strings.Repeat("a,", (bytes-len(head)-1)/2) + "]"
}

const caller = `
from cowboy_sdk import public, call, send

@public
def tour(msg):
    for i in range(5):
        for a in msg.payload:
            call(a, "ping", None)

@public
def fail(msg):
    call(msg.payload, "ping", None)
    raise ValueError("no")

@public
def post(msg):
    send(msg.payload, None, "ping")
`

func texts(list ...chain.Address) []byte {
	b := cbor.AppendArray(nil, len(list))
	for _, a := range list {
		b = append(b, text(a.String())...)
	}
	return b
}

// loads is a chain with programs that are large, and one that calls them. No program
// outlives its block.
func loads(t *testing.T, n int) (c *testChain, programs *countedPrograms, from chain.Address, to []chain.Address) {
	t.Helper()
	c = oneValidator(t)
	c.engine, programs = engineWith(t, 0)
	c.unhurried()
	c.g.Params.MaxTxCycles, c.g.Params.MaxTxCells, c.g.Params.Actor.LoadCycles = 1<<30, 1<<20, 1<<30
	deploy := func(source string) chain.Address {
		d := actor.Deployment{Source: []byte(source), Manifest: manifestOf()}
		tx := c.program(alice, nil, actor.AppendPayload(nil, &d)).Tx
		tx.CyclesLimit, tx.CellsLimit = 1<<27, 1<<18
		if r := c.block(verified(tx, alice)).Receipts[0]; r.Code != chain.CodeOK {
			t.Fatal(chain.CodeName(r.Code))
		}
		return actor.AddressOf(alice, nil, d.Source)
	}
	from = deploy(caller)
	for i := range n {
		to = append(to, deploy(heavy(i, int(c.g.Params.Actor.SourceBytes))))
	}
	return c, programs, from, to
}

// message is one with room for whatever must be compiled.
func (c *testChain) message(from, to chain.Address, handler string, arg []byte) *chain.VerifiedTx {
	tx := c.program(from, &to, actor.AppendMessage(nil, handler, arg)).Tx
	tx.CyclesLimit = 1 << 28
	return verified(tx, from)
}

func loadOf(t *testing.T, c *testChain, a chain.Address) chain.Cycles {
	t.Helper()
	_, n, err := actor.LoadOf(state.NewOverlay(c.state), a)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFirstUseCostsTheCompilation is B2 of soundness.md: sixty calls of twelve
// programs that no cache keeps cost eleven compilations more than sixty calls of one,
// and each was compiled once.
func TestFirstUseCostsTheCompilation(t *testing.T) {
	c, programs, from, to := loads(t, 12)
	var one []chain.Address
	for range 12 {
		one = append(one, to[0])
	}
	warm := c.block(c.message(alice, from, "tour", texts(one...))).Receipts[0]
	programs.compiled = 0
	cold := c.block(c.message(alice, from, "tour", texts(to...))).Receipts[0]
	if warm.Code != chain.CodeOK || cold.Code != chain.CodeOK {
		t.Fatalf("%s, %s", chain.CodeName(warm.Code), chain.CodeName(cold.Code))
	}
	load := loadOf(t, c, to[1])
	if load < 10*chain.Cycles(c.g.Params.Actor.SourceBytes-16) {
		t.Errorf("a first use costs %d cycles", load)
	}
	var more chain.Cycles
	for _, a := range to[1:] {
		more += loadOf(t, c, a)
	}
	if cold.CyclesUsed != warm.CyclesUsed+more {
		t.Errorf("%d cycles for twelve programs, %d for one, want %d more", cold.CyclesUsed, warm.CyclesUsed, more)
	}
	if programs.compiled != 13 {
		t.Errorf("compiled %d times", programs.compiled)
	}
	again := c.block(c.message(alice, from, "tour", texts(to...)), func() *chain.VerifiedTx {
		tx := c.message(bob, from, "tour", texts(to...))
		return tx
	}()).Receipts
	if again[0].CyclesUsed != cold.CyclesUsed || again[1].CyclesUsed >= warm.CyclesUsed-load+1000 {
		t.Errorf("first in a block %d cycles, second %d", again[0].CyclesUsed, again[1].CyclesUsed)
	}
}

func TestWhoCannotPayDoesNotCompile(t *testing.T) {
	c, programs, from, to := loads(t, 2)
	load := loadOf(t, c, to[0])
	programs.compiled = 0
	poor := func(from, to chain.Address, limit chain.Cycles) *chain.VerifiedTx {
		tx := c.message(from, to, "ping", null).Tx
		tx.CyclesLimit = limit
		return verified(tx, from)
	}
	r := c.block(poor(alice, to[0], 21_000+load-1), poor(bob, to[0], 21_000+load+1_100)).Receipts
	if r[0].Code != chain.CodeCyclesExhausted || r[0].CyclesUsed != 21_000 || r[1].Code != chain.CodeOK || programs.compiled != 1 {
		t.Errorf("%s after %d cycles, then %s; compiled %d times", chain.CodeName(r[0].Code), r[0].CyclesUsed, chain.CodeName(r[1].Code), programs.compiled)
	}
	// What a handler that failed has paid stays paid.
	r = c.block(c.message(alice, from, "fail", text(to[0].String())), poor(bob, to[0], 21_000+1_100)).Receipts
	if r[0].Code != chain.CodeReverted || r[0].CyclesUsed < load || r[1].Code != chain.CodeOK {
		t.Errorf("%s after %d cycles, then %s", chain.CodeName(r[0].Code), r[0].CyclesUsed, chain.CodeName(r[1].Code))
	}
	// A message reserves it besides what it may use, and gives back what was not needed.
	r = c.block(c.message(alice, from, "post", text(to[0].String())), c.message(bob, from, "post", text(to[0].String()))).Receipts
	if used := r[0].CyclesUsed; r[0].Trace[0].Code != chain.CodeOK || used < load || r[1].CyclesUsed > used-load {
		t.Errorf("%d and %d cycles: %+v", used, r[1].CyclesUsed, r[0].Trace)
	}
	if r[0].Trace[0].Cycles > 1_100 {
		t.Errorf("the handler itself is said to have used %d cycles", r[0].Trace[0].Cycles)
	}
}

// TestNoCacheChangesACharge: a block means the same to an engine that keeps all and
// to one that keeps nothing.
func TestNoCacheChangesACharge(t *testing.T) {
	c, _, from, to := loads(t, 3)
	last := c.message(alice, to[1], "ping", null).Tx
	last.Nonce++
	txs := []*chain.VerifiedTx{
		c.message(alice, to[1], "ping", null), c.message(bob, from, "tour", texts(to...)), verified(last, alice),
	}
	first, err := c.try(txs...)
	if err != nil {
		t.Fatal(err)
	}
	c.engine, _ = engineWith(t, 1<<30)
	for range 2 {
		again, err := c.try(txs...)
		if err != nil || !reflect.DeepEqual(again.Receipts, first.Receipts) {
			t.Fatalf("%+v, %v; want %+v", again.Receipts, err, first.Receipts)
		}
	}
}

// TestFirstUseOfOthersIsBounded: what a stranger makes of its program costs who calls
// it, sends to it or moves tokens that it watches no more than they have agreed to. A
// first use beyond that is refused, compiles nothing and costs nothing (ADR 89).
func TestFirstUseOfOthersIsBounded(t *testing.T) {
	c, programs, _, to := loads(t, 1)
	load := loadOf(t, c, to[0])
	c.g.Params.Actor.LoadCycles = load / 2
	careful, r := c.deploy(alice, `
from cowboy_sdk import public, call, send, CowboyError

@public
def ask(msg):
    a, cycles = msg.payload
    try:
        call(a, "ping", None, cycles)
    except CowboyError as e:
        return e.code

@public
def post(msg):
    a, cycles = msg.payload
    send(a, None, "ping", 0, cycles)
`, manifestOf())
	if r.Code != chain.CodeOK {
		t.Fatal(chain.CodeName(r.Code))
	}
	with := func(cycles []byte) []byte {
		return append(append(cbor.AppendArray(nil, 2), text(to[0].String())...), cycles...)
	}
	number := func(n chain.Cycles) []byte { return cbor.AppendUint(nil, uint64(n)) }
	const little, spare = 60_000, 20_000 // cycles of a message without the first use, and of a handler
	for _, row := range []struct {
		rule, handler string
		cycles        []byte
		output        []byte
		delivery      uint16
		compiles      int
	}{
		{"a call that names none", "ask", null, text("E1301"), 0, 0},
		{"a call that names too few", "ask", number(load - 1), text("E1301"), 0, 0},
		{"a call that names enough", "ask", number(load + spare), null, 0, 1},
		{"a message with little", "post", number(spare), null, chain.CodeCyclesExhausted, 0},
		{"a message whose own cycles pay the rest", "post", number(load - load/2 + spare), null, chain.CodeOK, 1},
	} {
		programs.compiled = 0
		res, err := c.try(c.message(bob, careful, row.handler, with(row.cycles)))
		if err != nil {
			t.Fatal(err)
		}
		r := res.Receipts[0]
		most := chain.Cycles(little + row.compiles*int(load))
		if r.Code != chain.CodeOK || string(r.Output) != string(row.output) || programs.compiled != 1+row.compiles || r.CyclesUsed > most {
			t.Errorf("%s: %s, %x, compiled %d, used %d", row.rule, chain.CodeName(r.Code), r.Output, programs.compiled, r.CyclesUsed)
		}
		if row.handler == "post" && r.Trace[0].Code != row.delivery {
			t.Errorf("%s: %s", row.rule, chain.CodeName(r.Trace[0].Code))
		}
	}
}

// TestHooksAreBounded likewise: a token whose hooks became too large to load is refused.
func TestHooksAreBounded(t *testing.T) {
	c := newTokenChain(t)
	hooks := c.deploy(hooked("        return True", "        pass"))
	id := c.make(&hooks)
	_, load, err := actor.LoadOf(state.NewOverlay(c.state), hooks)
	if err != nil {
		t.Fatal(err)
	}
	c.g.Params.Actor.LoadCycles = load
	if r := c.do(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(1)); r.Code != chain.CodeOK || r.CyclesUsed < 22_000+load {
		t.Errorf("as much as its hooks may cost: %s, used %d", chain.CodeName(r.Code), r.CyclesUsed)
	}
	c.g.Params.Actor.LoadCycles, c.g.Params.Token.HookMaxCycles = load/2, load/2-1
	if r := c.do(alice, chain.OpTokenTransfer, tokenID(id), address(bob), amount(1)); r.Code != chain.CodeLimitReached || r.CyclesUsed > 22_000 {
		t.Errorf("more than its hooks may cost: %s, used %d", chain.CodeName(r.Code), r.CyclesUsed)
	}
}
