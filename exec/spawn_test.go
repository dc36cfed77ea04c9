package exec_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// parent defers, spawns, sends and calls as it is told.
const parent = `
from cowboy_sdk import (actor, public, emit_event, send, call, spawn, create_deferred_tx,
                        entitlement, get_balance, get_value, CowboyError)

CHILD = """
from cowboy_sdk import actor, public, send, emit_event, get_sender

@actor
class Child:
    @public
    def init(self, msg):
        if msg.payload == "fail":
            raise ValueError("no")
        emit_event("born", msg.payload)
        send(get_sender(), "child", "hear", cycles=120000)

    @public
    def ping(self, msg):
        return msg.payload
"""

@actor
class Parent:
    @public
    def init(self, msg):
        self.storage["heard"] = 0

    @public
    def hear(self, msg):
        self.storage["heard"] = self.storage["heard"] + 1
        emit_event("heard", [msg.payload, get_value()])

    @public
    def later(self, msg):
        height, value, cycles = msg.payload
        return create_deferred_tx(self.address, "hear", "later", height=height, value=value, cycles_limit=cycles)

    @public
    def crowd(self, msg):
        deferred, sent = msg.payload
        for _ in range(sent):
            send(self.address, 1, "hear", cycles=60000)
        for _ in range(deferred):
            create_deferred_tx(self.address, "hear", "later", value=7, cycles_limit=60000)

    @public
    def bear(self, msg):
        salt, payload, asked, value = msg.payload
        try:
            child = spawn(salt, CHILD, init=payload, entitlements=asked, value=value)
        except CowboyError as e:
            return [type(e).__name__, self.storage["heard"]]
        return call(child, "ping", child)

    @public
    def nothing(self, msg):
        try:
            return spawn(b"n", "")
        except CowboyError as e:
            return str(e)

    @public
    def twin(self, msg):
        return spawn(msg.payload)

    @public
    def all(self, msg):
        send(self.address, "first", "hear", cycles=150000)
        create_deferred_tx(self.address, "hear", "later", cycles_limit=100000)
        child = spawn(b"s", CHILD, init="hello")
        try:
            call(child, "nothing", 1)
        except CowboyError:
            pass
        self.storage["child"] = call(child, "ping", child, cycles_limit=200000)
        emit_event("done", child)
`

// grown is a chain with the parent, which has money.
func grown(t testing.TB, list []byte) (*testChain, chain.Address) {
	c := messages(t)
	d := actor.Deployment{
		Source: []byte(parent), Salt: []byte{1},
		Manifest: append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements"), list...),
		Init:     &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))); r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r.Receipts[0])
	}
	addr := actor.AddressOf(alice, d.Salt, d.Source)
	c.give(addr, 1_000_000)
	return c, addr
}

// entitled is a list of grants in order, one of them bounded.
func entitled(most uint64, ids ...string) []byte {
	g := make(manifest.Grants, len(ids))
	for i, id := range ids {
		if g[i].ID = id; id == "exec.spawn" && most > 0 {
			g[i].Params = []manifest.Param{{Name: "max_children", Uint: most}}
		}
	}
	return g.Append(nil)
}

var able = entitled(2, "econ.hold_balance", "econ.transfer", "exec.spawn", "storage.kv")

func numbers(n ...uint64) []byte {
	b := cbor.AppendArray(nil, len(n))
	for _, v := range n {
		b = cbor.AppendUint(b, v)
	}
	return b
}

// TestMessagesOfALargerBlock has governance make blocks so small that the limits of
// a message which waits fit none any more: it is delivered with less, and those
// behind it are not held up.
func TestMessagesOfALargerBlock(t *testing.T) { // resolution 11.21: a queued message is funded
	c, a := grown(t, able)
	if r := c.block(c.post(alice, a, 0, "later", numbers(0, 7, 900_000))); r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("%+v", r.Receipts)
	}
	p := &c.g.Params
	p.CyclesTarget, p.CyclesCap, p.MaxTxCycles = 1_000_000, 1_300_000, 800_000
	p.CellsTarget, p.CellsCap, p.MaxTxCells = 5_000, 9_000, 6_000
	if r := c.block(); len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK || c.state.Balance(chain.AddrMailbox) != 0 {
		t.Errorf("%+v", r.Receipts)
	}
}

func TestDeferredMessages(t *testing.T) { // resolution 6.14; neighbours §14
	c, a := grown(t, able)
	now := uint64(c.height) + 1
	r := c.block(c.post(alice, a, 0, "later", numbers(0, 7, 150_000)), c.post(alice, a, 1, "later", numbers(now+3, 0, 150_000)))
	if r.Receipts[0].Code != chain.CodeOK || r.Receipts[1].Code != chain.CodeOK || c.state.Balance(chain.AddrMailbox) != 7 {
		t.Fatalf("%+v", r.Receipts)
	}
	if used := r.Receipts[0].CyclesUsed; used < 150_000 || r.Receipts[0].CellsUsed < c.g.Params.Actor.MessageReserveCells {
		t.Errorf("scheduling used %d cycles, %d cells", used, r.Receipts[0].CellsUsed)
	}
	for h := now + 1; h <= now+5; h++ {
		r := c.block()
		want := h == now+1 || h == now+3
		if got := len(r.Receipts) == 1; got != want || got && (r.Receipts[0].Code != chain.CodeOK || r.Receipts[0].Events[0].Name != "heard") {
			t.Errorf("height %d: %+v", h, r.Receipts)
		}
	}
	if c.state.Balance(chain.AddrMailbox) != 0 || c.state.Balance(a) != 1_000_000 {
		t.Errorf("escrow %d, actor %d", c.state.Balance(chain.AddrMailbox), c.state.Balance(a))
	}
	for name, arg := range map[string][]byte{
		"past": numbers(uint64(c.height)+1, 0, 1), "too far": numbers(uint64(c.height)+1+2_592_001, 0, 1), "beyond the balance": numbers(0, 2_000_000, 1),
	} {
		if r, err := c.try(c.post(alice, a, 0, "later", arg)); err != nil || r.Receipts[0].Code != chain.CodeReverted {
			t.Errorf("%s: %+v, %v", name, r.Receipts, err)
		}
	}
	if r, err := c.try(c.post(alice, a, 0, "later", numbers(uint64(c.height)+1+2_592_000, 0, 1))); err != nil || r.Receipts[0].Code != chain.CodeOK {
		t.Errorf("as far as may be: %+v, %v", r.Receipts, err)
	}
	if r, err := c.try(c.post(alice, a, 0, "later", numbers(0, 0, 1_950_000))); err != nil || r.Receipts[0].Code != chain.CodeCyclesExhausted {
		t.Errorf("unfunded: %+v, %v", r.Receipts, err)
	}
}

// TestCrowdsOfMessages: those that are deferred count among what a transaction sends,
// and a height takes so many.
func TestCrowdsOfMessages(t *testing.T) { // W6
	c, a := grown(t, able)
	c.g.Params.Actor.FanoutPerTx, c.g.Params.Actor.MailboxItems = 4, 3
	for _, tt := range []struct {
		rule           string
		deferred, sent uint64
		want           uint16
	}{
		{"all are sent", 0, 4, chain.CodeOK},
		{"one too many sent", 0, 5, chain.CodeReverted},
		{"together as many as may be", 3, 1, chain.CodeOK},
		{"one too many together", 3, 2, chain.CodeReverted},
		{"one too many deferred behind them", 2, 3, chain.CodeReverted},
		{"one too many for the height", 4, 0, chain.CodeReverted},
	} {
		r, err := c.try(c.post(alice, a, 0, "crowd", numbers(tt.deferred, tt.sent)))
		if err != nil || r.Receipts[0].Code != tt.want {
			t.Errorf("%s: %+v, %v", tt.rule, r.Receipts, err)
		}
	}
}

// TestDeferredIntoAFullMailbox: who finds no room at its height is refused there, the
// value back with the sender, and counts among what the block hands out.
func TestDeferredIntoAFullMailbox(t *testing.T) { // resolution 11.21; W6
	for _, tt := range []struct {
		items, block uint64
		codes        []uint16
		waiting      uint64
	}{
		{3, 100, []uint16{chain.CodeOK, chain.CodeOK, chain.CodeOK}, 0},
		{2, 100, []uint16{chain.CodeMailboxFull, chain.CodeOK, chain.CodeOK}, 0},
		{1, 100, []uint16{chain.CodeMailboxFull, chain.CodeMailboxFull, chain.CodeOK}, 0},
		{2, 3, []uint16{chain.CodeMailboxFull, chain.CodeOK, chain.CodeOK}, 0},
		{1, 3, []uint16{chain.CodeMailboxFull, chain.CodeMailboxFull, chain.CodeOK}, 0},
	} {
		c, a := grown(t, able)
		if r := c.block(c.post(alice, a, 0, "crowd", numbers(3, 0))); r.Receipts[0].Code != chain.CodeOK || c.state.Balance(chain.AddrMailbox) != 21 {
			t.Fatalf("%+v", r.Receipts[0])
		}
		c.g.Params.Actor.MailboxItems, c.g.Params.Actor.MailboxBlockItems = tt.items, tt.block
		var codes []uint16
		for _, r := range c.block().Receipts {
			codes = append(codes, r.Code)
		}
		if !slices.Equal(codes, tt.codes) || c.waiting(a) != tt.waiting {
			t.Errorf("%d items, %d a block: %v, %d wait", tt.items, tt.block, codes, c.waiting(a))
		}
		if c.state.Balance(a) != 1_000_000 || c.state.Balance(chain.AddrMailbox) != 7*chain.Wei(tt.waiting) {
			t.Errorf("%d items: the actor has %d, in escrow %d", tt.items, c.state.Balance(a), c.state.Balance(chain.AddrMailbox))
		}
	}
}

func bear(salt byte, payload string, asked []byte, value uint64) []byte {
	b := cbor.AppendBytes(cbor.AppendArray(nil, 4), []byte{salt})
	b = append(cbor.AppendText(b, payload), asked...)
	return cbor.AppendUint(b, value)
}

func TestSpawn(t *testing.T) { // entitlements §7, §9.1; W1
	null := cbor.AppendNull(nil)
	c, a := grown(t, able)
	source := parent[strings.Index(parent, `"""`)+3 : strings.LastIndex(parent, `"""`)]
	child := actor.AddressOf(a, []byte{9}, []byte(source))
	r := c.block(c.post(alice, a, 0, "bear", bear(9, "hello", null, 0)))
	got := r.Receipts[0]
	if got.Code != chain.CodeOK || !strings.Contains(string(got.Output), child.String()) || trace(&got) != "1:ok " || got.Trace[0].Depth != 2 || len(got.Events) != 2 {
		t.Fatalf("%+v, want child %s", got, child)
	}
	rec, err := actor.ReadRecord(c.state, child)
	if err != nil || rec == nil || rec.Creator != a || rec.Parent != a || rec.Deployed != c.height {
		t.Fatalf("record %+v, %v", rec, err)
	}
	refusals := []struct {
		name string
		arg  []byte
		want string
	}{
		{"the same address", bear(9, "hello", null, 0), "InvalidArgument"},
		{"a failing first message", bear(8, "fail", null, 0), "CallFailed"},
		{"more than the balance", bear(8, "hello", null, 2_000_000), "InsufficientFunds"},
		{"what the parent lacks", bear(8, "hello", entitled(0, "timer.schedule"), 0), "Entitlement"},
		{"no list", bear(8, "hello", []byte{1}, 0), "InvalidArgument"},
		{"an unknown id", bear(8, "hello", entitled(0, "no.such"), 0), "InvalidArgument"},
	}
	for _, test := range refusals {
		before := c.state.Balance(a)
		r := c.block(c.post(alice, a, 0, "bear", test.arg))
		if got := r.Receipts[0]; got.Code != chain.CodeOK || !strings.Contains(string(got.Output), test.want) || len(got.Events) != 0 || c.state.Balance(a) != before {
			t.Errorf("%s: %q, %+v", test.name, got.Output, got)
		}
	}
	c.g.Params.Actor.CallDepth = 0
	if got := c.block(c.post(alice, a, 0, "bear", bear(8, "hello", null, 0))).Receipts[0]; got.Code != chain.CodeOK || !strings.Contains(string(got.Output), "Reentrancy") {
		t.Errorf("a child below the depth of calls: %q, %s", got.Output, chain.CodeName(got.Code))
	}
	c.g.Params.Actor.CallDepth = 32
	if l, err := actor.ReadQuota(c.state, a); err != nil || l.Spawned != 1 {
		t.Errorf("%d children, %v", l.Spawned, err)
	}
	if r := c.block(c.post(alice, a, 0, "twin", cbor.AppendBytes(nil, []byte{1}))); r.Receipts[0].Code != chain.CodeOK {
		t.Errorf("a twin: %+v", r.Receipts[0])
	}
	if _, err := actor.ReadRecord(c.state, actor.AddressOf(a, []byte{1}, []byte(parent))); err != nil {
		t.Error(err)
	}
	c.block()
	if r := c.block(c.post(alice, a, 0, "twin", cbor.AppendBytes(nil, []byte{2}))); r.Receipts[0].Code != chain.CodeEntitlementQuota {
		t.Errorf("child 3 of 2: %+v", r.Receipts[0])
	}
	c, a = grown(t, entitled(0, "econ.hold_balance", "storage.kv"))
	if r := c.block(c.post(alice, a, 0, "twin", cbor.AppendBytes(nil, []byte{2}))); r.Receipts[0].Code != chain.CodeNotEntitled {
		t.Errorf("without exec.spawn: %+v", r.Receipts[0])
	}
}

// TestChildrenAreRenewed: who owns a spawned actor is its parent, which gives it another
// manifest by spawning it again once it is non-executable.
func TestChildrenAreRenewed(t *testing.T) { // E25; entitlements §9.11
	lasting := entitled(2, "econ.hold_balance", "econ.transfer", "exec.spawn", "storage.kv")
	c, a := grown(t, entitled(2, "econ.hold_balance", "econ.transfer", "exec.spawn", "storage.kv", "timer.schedule"))
	source := parent[strings.Index(parent, `"""`)+3 : strings.LastIndex(parent, `"""`)]
	child := actor.AddressOf(a, []byte{1}, []byte(source))
	spawned := func(arg []byte, want string) chain.Receipt {
		t.Helper()
		r := c.block(c.post(alice, a, 0, "bear", arg)).Receipts[0]
		if r.Code != chain.CodeOK || !strings.Contains(string(r.Output), want) {
			t.Errorf("%s, %q, want %s", chain.CodeName(r.Code), r.Output, want)
		}
		return r
	}
	null := cbor.AppendNull(nil)
	if r := spawned(bear(1, "hello", null, 5), child.String()); r.Code != chain.CodeOK {
		return
	}
	last := c.height + 2
	c.g.Params.Entitlements.Deprecated = []params.Deprecation{{ID: manifest.Schedule, From: c.height + 1, Last: last}}
	r := spawned(bear(2, "hello", null, 0), "0x")
	if data, ok := event(&r, actor.EventDeprecated); !ok || !bytes.Contains(data, []byte(manifest.Schedule)) {
		t.Errorf("a child in the window: %+v", r.Events)
	}
	spawned(bear(1, "hello", null, 0), "InvalidArgument") // the last block of the window
	if c.height != last {
		t.Fatalf("block %d, want %d", c.height, last)
	}
	if r := c.ask(a, "bear", bear(1, "hello", null, 0)); r.Code != chain.CodeNonExecutable {
		t.Errorf("a parent that is non-executable itself: %s", chain.CodeName(r.Code))
	}
	again := actor.Deployment{
		Source: []byte(parent), Salt: []byte{1},
		Manifest: append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements"), lasting...),
	}
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &again))).Receipts[0]; r.Code != chain.CodeOK {
		t.Fatalf("the parent, redeployed: %s", chain.CodeName(r.Code))
	}
	if r := c.ask(child, "ping", null); r.Code != chain.CodeNonExecutable {
		t.Errorf("a child that is non-executable: %s", chain.CodeName(r.Code))
	}
	spawned(bear(1, "fail", null, 3), "CallFailed")
	if r := c.ask(child, "ping", null); r.Code != chain.CodeNonExecutable || c.state.Balance(child) != 5 {
		t.Errorf("a child whose renewal failed: %s, balance %d", chain.CodeName(r.Code), c.state.Balance(child))
	}
	if r := spawned(bear(1, "hello", null, 3), child.String()); c.state.Balance(child) != 8 {
		t.Errorf("a renewed child: balance %d, %+v", c.state.Balance(child), r)
	}
	rec, err := actor.ReadRecord(c.state, child)
	if err != nil || rec.Creator != a || rec.Parent != a || rec.Deployed != c.height || !bytes.Equal(recordedOf(t, c, rec), entitled(2, "econ.hold_balance", "exec.spawn", "storage.kv")) {
		t.Errorf("record %+v, %v", rec, err)
	}
	if l, err := actor.ReadQuota(c.state, a); err != nil || l.Spawned != 2 {
		t.Errorf("%d children after a renewal, %v", l.Spawned, err)
	}
	if r := c.ask(child, "ping", null); r.Code != chain.CodeOK {
		t.Errorf("a renewed child: %s", chain.CodeName(r.Code))
	}
	spawned(bear(1, "hello", null, 0), "InvalidArgument") // E21: it runs
	if r := c.ask(a, "bear", bear(3, "hello", null, 0)); r.Code != chain.CodeEntitlementQuota {
		t.Errorf("E20 a third child: %s", chain.CodeName(r.Code))
	}
}

// TestEveryLimitOfCycles runs one transaction with sends, calls, a deferral and a
// child at limits all over its range: each limit gives one outcome on every
// machine, what is used never exceeds it, and from the first limit that is enough
// all are.
func TestEveryLimitOfCycles(t *testing.T) {
	c, a := grown(t, able)
	full := c.post(alice, a, 0, "all", cbor.AppendNull(nil))
	r, err := c.try(full)
	if err != nil || r.Receipts[0].Code != chain.CodeOK || trace(&r.Receipts[0]) != "1:ok 1:ok " {
		t.Fatalf("%+v, %v", r.Receipts, err)
	}
	need, low := full.Tx.CyclesLimit, chain.Cycles(21_000)
	for low+1 < need { // reserved cycles come back, so that more is needed than used
		mid := (low + need) / 2
		if out := outcome(t, c, c.inputs(), full, mid); strings.HasPrefix(out, "ok ") {
			need = mid
		} else {
			low = mid
		}
	}
	limits := []chain.Cycles{21_000, 21_001, low, need, need + 1}
	for n := chain.Cycles(1); n < 40; n++ {
		limits = append(limits, 21_000+(need-21_000)*n/40)
	}
	want := make([]string, len(limits))
	for i, limit := range limits {
		want[i] = outcome(t, c, c.inputs(), full, limit)
		if ok := strings.HasPrefix(want[i], "ok "); ok != (limit >= need) {
			t.Errorf("limit %d of %d: %s", limit, need, want[i])
		}
	}
	var wg sync.WaitGroup
	for w := range 4 {
		in := c.inputs()
		in.Engine = testEngine(t)
		wg.Go(func() {
			for i, limit := range limits {
				i = (i + w*7) % len(limits)
				limit = limits[i]
				if got := outcome(t, c, in, full, limit); got != want[i] {
					t.Errorf("worker %d, limit %d: %s, want %s", w, limit, got, want[i])
				}
			}
		})
	}
	wg.Wait()
}

// outcome is everything of a block of one transaction with a limit that has to be
// alike on all machines.
func outcome(t *testing.T, c *testChain, in exec.Inputs, tx *chain.VerifiedTx, limit chain.Cycles) string {
	copied := *tx.Tx
	copied.CyclesLimit = limit
	v := verified(&copied, tx.Sender)
	r, err := apply(c.state, in, []*chain.VerifiedTx{v})
	var fault *exec.Fault
	if errors.As(err, &fault) || err != nil {
		t.Errorf("limit %d: %v", limit, err)
		return "fault"
	}
	got := &r.Receipts[0]
	if got.CyclesUsed > limit {
		t.Errorf("limit %d, used %d", limit, got.CyclesUsed)
	}
	if after := c.state.With(r.Delta).Money(); after != c.state.Money()+r.Issued-r.Burned {
		t.Errorf("limit %d: balances add up to %d", limit, after)
	}
	return fmt.Sprintf("%s %d cycles, %d cells, %d events, %s", chain.CodeName(got.Code), got.CyclesUsed, got.CellsUsed, len(got.Events), trace(got))
}

// TestEmptySources: an account with the hash of nothing has no code, so it is made
// neither by a deployment, whose value it would keep, nor by a program.
func TestEmptySources(t *testing.T) { // resolution 2.9; entitlements §9.1
	c, a := grown(t, able)
	d := actor.Deployment{Salt: bytes.Repeat([]byte{5}, 32), Manifest: manifestOf(limited("econ.hold_balance"))}
	tx := c.program(alice, nil, actor.AppendPayload(nil, &d))
	tx.Tx.Value = 7
	r := c.block(verified(tx.Tx, alice)).Receipts[0]
	if addr := actor.AddressOf(alice, d.Salt, nil); r.Code != chain.CodeCodeInvalid || c.state.Balance(addr) != 0 {
		t.Errorf("deployment: %s, holds %d", chain.CodeName(r.Code), c.state.Balance(addr))
	}
	if r := c.block(c.post(alice, a, 0, "nothing", cbor.AppendNull(nil))).Receipts[0]; r.Code != chain.CodeOK || !strings.Contains(string(r.Output), "the source is empty") {
		t.Errorf("spawn: %s, %q", chain.CodeName(r.Code), r.Output)
	}
}

// TestInitTellsItself has a new actor send itself what needs most of its bucket: what
// is reserved for the message is not used yet, so it does not wait.
func TestInitTellsItself(t *testing.T) { // resolutions 11.21, 11.22
	const eager = `
from cowboy_sdk import actor, public, send, emit_event

@actor
class Eager:
    @public
    def init(self, msg):
        send(self.address, None, "hear", cycles=1500000)

    @public
    def hear(self, msg):
        emit_event("heard", 1)
`
	c := messages(t)
	d := actor.Deployment{
		Source: []byte(eager), Salt: []byte{9}, Manifest: manifestOf(),
		Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
	r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))).Receipts[0]
	if r.Code != chain.CodeOK || len(r.Trace) != 1 || r.Trace[0].Status != chain.DeliverySucceeded {
		t.Errorf("%s, %+v", chain.CodeName(r.Code), r.Trace)
	}
}

func recordedOf(t *testing.T, c *testChain, rec *actor.Record) []byte {
	t.Helper()
	list, err := actor.ReadManifest(c.state, rec)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
