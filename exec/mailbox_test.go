package exec_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/state"
)

// relay sends, burns and fails as it is told.
const relay = `
from cowboy_sdk import actor, public, emit_event, send

@actor
class Relay:
    @public
    def init(self, msg):
        self.storage["log"] = []

    @public
    def burn(self, msg):
        for _ in range(msg.payload):
            pass
        self.storage["log"] = self.storage["log"] + [msg.payload]
        emit_event("burned", msg.payload)

    @public
    def fail(self, msg):
        self.storage["log"] = ["undone"]
        raise ValueError("no")

    @public
    def nest(self, msg):
        left, reserve, step = msg.payload
        emit_event("nest", left)
        if left:
            send(self.address, [left - 1, reserve - step, step], "nest", cycles=reserve - step)

    @public
    def tell(self, msg):
        to, handler, payloads, cycles, value = msg.payload
        for p in payloads:
            send(to, p, handler, value=value, cycles=cycles)

    @public
    def log(self, msg):
        return self.storage["log"]
`

// deployed puts a program on the chain, with money of its own.
func (c *testChain) deployed(source string, salt byte, ids ...string) chain.Address {
	c.t.Helper()
	d := actor.Deployment{
		Source: []byte(source), Salt: []byte{salt}, Manifest: manifest.Manifest(slices.Sorted(slices.Values(ids))...),
		Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))); r.Receipts[0].Code != chain.CodeOK {
		c.t.Fatalf("deploy: %+v", r.Receipts[0])
	}
	return actor.AddressOf(alice, d.Salt, d.Source)
}

// give puts money into an account from nowhere; the supply record follows.
func (c *testChain) give(to chain.Address, amount chain.Wei) {
	from := c.state.Accounts[bob]
	from.Balance -= amount
	c.state.Accounts[bob] = from
	a, ok := c.state.Accounts[to]
	if !ok {
		a = state.NewAccount()
	}
	a.Balance += amount
	c.state.Accounts[to] = a
}

// post is a message transaction of a sender at a nonce.
func (c *testChain) post(from, to chain.Address, ahead uint64, handler string, arg []byte) *chain.VerifiedTx {
	tx := c.program(from, &to, actor.AppendMessage(nil, handler, arg)).Tx
	tx.Nonce += ahead
	tx.CyclesLimit = c.g.Params.Actor.BlockCyclesBurst - 35_000 // a few in a block
	return verified(tx, from)
}

// tell is the argument of the handler of that name.
func tell(to chain.Address, handler string, cycles, value uint64, payloads ...uint64) []byte {
	b := cbor.AppendBytes(cbor.AppendArray(nil, 5), to[:])
	b = cbor.AppendArray(cbor.AppendText(b, handler), len(payloads))
	for _, p := range payloads {
		b = cbor.AppendUint(b, p)
	}
	return cbor.AppendUint(cbor.AppendUint(b, cycles), value)
}

func messages(t testing.TB) *testChain {
	c := oneValidator(t)
	c.engine = testEngine(t)
	return c
}

func (c *testChain) waiting(to chain.Address) uint64 {
	c.t.Helper()
	l, err := actor.ReadQuota(c.state, to)
	if err != nil {
		c.t.Fatal(err)
	}
	it, err := mailbox.Peek(c.state, to)
	if err != nil || (it != nil) != (l.Waiting > 0) {
		c.t.Fatalf("%+v is first, the ledger says %d wait, %v", it, l.Waiting, err)
	}
	return l.Waiting
}

// trace names what became of the messages of a receipt.
func trace(r *chain.Receipt) string {
	out := ""
	for _, d := range r.Trace {
		out += fmt.Sprintf("%d:%s ", d.Status, chain.CodeName(d.Code))
	}
	return out
}

// slow lets an actor use four plain messages' reserve in a block, and one more a
// block.
func slow(t testing.TB) (c *testChain, a, b chain.Address) {
	c = messages(t)
	a, b = c.deployed(relay, 1, "storage.kv", "econ.hold_balance", "econ.transfer"), c.deployed(relay, 2, "storage.kv", "econ.hold_balance")
	c.g.Params.Actor.BlockCycles, c.g.Params.Actor.BlockCyclesBurst = 100_000, 420_000
	c.give(a, 1_000_000_000)
	return c, a, b
}

// TestMessagesWaitForCycles: a receiver that has used up its cycles of the block
// gets the rest later, one receipt each, in their order (resolution 11.22).
func TestMessagesWaitForCycles(t *testing.T) {
	c, a, b := slow(t)
	const n = 27_000
	r := c.block(
		c.post(alice, a, 0, "tell", tell(b, "burn", 100_000, 5, n, n+1, n+2)),
		c.post(alice, a, 1, "tell", tell(b, "burn", 100_000, 5, n+3, n+4, n+5)),
	)
	if got := trace(&r.Receipts[0]) + "/ " + trace(&r.Receipts[1]); got != "1:ok 1:ok 1:ok / 1:ok 2:ok 2:ok " {
		t.Fatalf("traces %q", got)
	}
	if len(r.Receipts) != 2 || c.waiting(b) != 2 || c.state.Balance(chain.AddrMailbox) != 10 || c.state.Balance(b) != 20 {
		t.Errorf("%d receipts, %d wait, %d in escrow, receiver has %d", len(r.Receipts), c.waiting(b), c.state.Balance(chain.AddrMailbox), c.state.Balance(b))
	}
	ids := []chain.Hash{r.Receipts[1].Trace[1].Message, r.Receipts[1].Trace[2].Message}
	paid := r.Receipts[1].CyclesUsed
	if paid < 200_000 {
		t.Errorf("the sender paid %d cycles with two messages waiting", paid)
	}
	for i, id := range ids {
		// What comes meanwhile waits behind those that wait.
		r := c.block(c.post(alice, a, 0, "tell", tell(b, "burn", 100_000, 0, uint64(n+6+i))))
		if len(r.Receipts) != 2 || trace(&r.Receipts[0]) != "2:ok " {
			t.Fatalf("block %d: %+v", i, r.Receipts)
		}
		got := r.Receipts[1]
		if got.TxHash != id || got.Status != chain.StatusSucceeded || got.Fee != 0 || len(got.Events) != 1 || got.CyclesUsed == 0 ||
			got.Lane != chain.LaneUser || string(got.Events[0].Data) != string(cbor.AppendUint(nil, uint64(n+4+i))) {
			t.Errorf("delivery %d: %+v", i, got)
		}
		if used := r.Used[chain.LaneUser]; used.Cycles != r.Receipts[0].CyclesUsed || used.Cells != r.Receipts[0].CellsUsed {
			t.Errorf("the block used %+v: what was delivered counted when it was paid", used)
		}
	}
	c.block()
	c.block()
	if c.waiting(b) != 0 || c.state.Balance(chain.AddrMailbox) != 0 || c.state.Balance(b) != 30 {
		t.Errorf("%d wait, %d in escrow, receiver has %d", c.waiting(b), c.state.Balance(chain.AddrMailbox), c.state.Balance(b))
	}
	c.block()
	c.block()
	log := c.block(c.post(alice, b, 0, "log", cbor.AppendNull(nil))).Receipts[0].Output
	want := cbor.AppendArray(nil, 8)
	for i := range uint64(8) {
		want = cbor.AppendUint(want, n+i)
	}
	if string(log) != string(want) {
		t.Errorf("the receiver saw %x, want %x", log, want)
	}
}

// TestLargeMessagesHoldUpTheirSenderAlone: a message that reserves a whole bucket is
// never ready before an actor that is used in every block. It is passed.
func TestLargeMessagesHoldUpTheirSenderAlone(t *testing.T) {
	c, a, b := slow(t)
	d := c.deployed(relay, 3, "storage.kv", "econ.hold_balance", "econ.transfer")
	c.give(d, 1_000_000_000)
	use := func() *chain.VerifiedTx {
		tx := c.post(alice, b, 0, "burn", cbor.AppendUint(nil, 27_000)).Tx
		tx.CyclesLimit = 180_000
		return verified(tx, alice)
	}
	r := c.block(c.post(alice, b, 0, "burn", cbor.AppendUint(nil, 60_000)), c.post(alice, a, 1, "tell", tell(b, "burn", 280_000, 0, 1_000)))
	if c.waiting(b) != 1 {
		t.Fatalf("%d messages wait, want the large one: %+v", c.waiting(b), r.Receipts)
	}
	sent := c.block(use(), c.post(alice, d, 1, "tell", tell(b, "burn", 150_000, 0, 1_000)))
	if got := trace(&sent.Receipts[1]); got != "2:ok " { // the refill is for those who wait
		t.Fatalf("the small message is %q: %+v", got, sent.Receipts[1])
	}
	id := sent.Receipts[1].Trace[0].Message
	for range 3 {
		use := func() *chain.VerifiedTx {
			tx := c.post(alice, b, 0, "burn", cbor.AppendUint(nil, 27_000)).Tx
			tx.CyclesLimit = 180_000
			return verified(tx, alice)
		}
		r := c.block(use())
		for i := range r.Receipts {
			if r.Receipts[i].TxHash == id {
				if r.Receipts[i].Status != chain.StatusSucceeded || c.waiting(b) != 1 {
					t.Errorf("delivery %+v, %d wait", r.Receipts[i], c.waiting(b))
				}
				return
			}
		}
	}
	t.Error("a message waits behind one that is never ready")
}

// TestMessagesNestedTooDeepWait is W6: the message at depth 33 waits for the next
// block, where it is the first of its run.
func TestMessagesNestedTooDeepWait(t *testing.T) {
	c := messages(t)
	a := c.deployed(relay, 1, "storage.kv")
	arg := cbor.AppendUint(cbor.AppendUint(cbor.AppendUint(cbor.AppendArray(nil, 3), 35), 1_900_000), 50_000)
	r := c.block(c.post(alice, a, 0, "nest", arg))
	got := r.Receipts[0].Trace
	if len(got) != 33 || got[31].Depth != 32 || got[31].Status != chain.DeliverySucceeded ||
		got[32].Depth != 33 || got[32].Status != chain.DeliveryWaits || got[32].Parent != 32 || len(r.Receipts) != 1 {
		t.Fatalf("trace %+v", got)
	}
	r = c.block()
	if len(r.Receipts) != 1 || r.Receipts[0].TxHash != got[32].Message || len(r.Receipts[0].Trace) != 2 || len(r.Receipts[0].Events) != 3 {
		t.Errorf("delivery %+v", r.Receipts)
	}
	if last := r.Receipts[0].Trace[1]; last.Depth != 2 || last.Parent != 1 || last.Status != chain.DeliverySucceeded {
		t.Errorf("last message %+v", last)
	}
	if r := c.block(); len(r.Receipts) != 0 || c.waiting(a) != 0 {
		t.Errorf("%d receipts, %d wait", len(r.Receipts), c.waiting(a))
	}
}

// TestFailedDeliveryReturnsTheValue: the handler's writes are undone, the charge
// stays with the sender (resolution 11.21).
func TestFailedDeliveryReturnsTheValue(t *testing.T) {
	c, a, b := slow(t)
	c.block(c.post(alice, a, 0, "tell", tell(b, "burn", 100_000, 0, 27_000, 27_000, 27_000)))
	before := c.state.Balance(a)
	r := c.block(c.post(alice, a, 0, "tell", tell(b, "burn", 200_000, 0, 42_000)), c.post(alice, a, 1, "tell", tell(b, "fail", 130_000, 9, 0)))
	if got := trace(&r.Receipts[0]) + trace(&r.Receipts[1]); got != "1:ok 2:ok " || c.state.Balance(a) != before-9 {
		t.Fatalf("traces %q, balance %d after %d", got, c.state.Balance(a), before)
	}
	r = c.block()
	if len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeReverted || len(r.Receipts[0].Events) != 0 || r.Receipts[0].CyclesUsed == 0 {
		t.Fatalf("delivery %+v", r.Receipts)
	}
	if c.state.Balance(a) != before || c.state.Balance(b) != 0 || c.state.Balance(chain.AddrMailbox) != 0 {
		t.Errorf("sender has %d, want %d; receiver %d", c.state.Balance(a), before, c.state.Balance(b))
	}
	c.block()
	c.block()
	c.block()
	if got := c.block(c.post(alice, b, 0, "log", cbor.AppendNull(nil))).Receipts[0]; len(got.Output) != 1+4*3 {
		t.Errorf("log %x", got.Output)
	}
}

// TestFullMailboxRefuses is W6 at the boundary, with a mailbox of one.
func TestFullMailboxRefuses(t *testing.T) {
	c, a, b := slow(t)
	c.g.Params.Actor.MailboxItems, c.g.Params.Actor.MailboxBlockItems = 1, 0
	c.block(c.post(alice, a, 0, "tell", tell(b, "burn", 100_000, 0, 27_000, 27_000, 27_000)))
	before := c.state.Balance(a)
	r := c.block(
		c.post(alice, a, 0, "tell", tell(b, "burn", 50_000, 5, 12_000, 12_000)), // used up
		c.post(alice, a, 1, "tell", tell(b, "burn", 168_000, 5, 1)),
	)
	second := c.block(c.post(bob, a, 0, "tell", tell(b, "burn", 168_000, 5, 1)))
	r.Receipts = append(r.Receipts, second.Receipts...)
	got := trace(&r.Receipts[0]) + trace(&r.Receipts[1]) + trace(&r.Receipts[2])
	if got != "1:ok 1:ok 2:ok 0:mailbox_full " || c.waiting(b) != 1 {
		t.Errorf("traces %q, %d wait", got, c.waiting(b))
	}
	if c.state.Balance(a) != before-15 || c.state.Balance(chain.AddrMailbox) != 5 {
		t.Errorf("sender has %d after %d, %d in escrow", c.state.Balance(a), before, c.state.Balance(chain.AddrMailbox))
	}
	// The message that was refused gave its cycles back, the one that waits did not.
	if full, kept := r.Receipts[2].CyclesUsed, r.Receipts[1].CyclesUsed; kept-full < 100_000 {
		t.Errorf("%d cycles with the message refused, %d with it waiting", full, kept)
	}
}

// TestWaitingIsPaidInCells: what the delivery may use is charged when the message
// begins to wait, and what the waiting message keeps at the end of the run; a run that
// cannot pay that is undone.
func TestWaitingIsPaidInCells(t *testing.T) {
	c, a, b := slow(t)
	c.block(c.post(alice, a, 0, "tell", tell(b, "burn", 100_000, 0, 27_000, 27_000, 27_000)))
	arg := tell(b, "burn", 300_000, 5, 1)
	probe, err := c.try(c.post(alice, a, 0, "tell", arg))
	if err != nil || trace(&probe.Receipts[0]) != "2:ok " {
		t.Fatalf("%+v, %v", probe.Receipts, err)
	}
	used := probe.Receipts[0].CellsUsed
	if used < c.g.Params.Actor.MessageReserveCells {
		t.Errorf("waiting used %d cells", used)
	}
	for _, limit := range []chain.Cells{used - 1, used} {
		tx := c.post(alice, a, 0, "tell", arg).Tx
		tx.CellsLimit = limit
		r, err := c.try(verified(tx, alice))
		if err != nil {
			t.Fatal(err)
		}
		want, code := "2:ok ", chain.CodeOK
		if limit < used {
			want, code = "0:cells_exhausted ", chain.CodeCellsExhausted
		}
		if got := r.Receipts[0]; trace(&got) != want || got.CellsUsed != limit || got.Code != code {
			t.Errorf("limit %d: %q, %+v", limit, trace(&got), got)
		}
	}
}

// TestDeliveriesAreBounded: so many a block, in turns, within what is left of the
// block's space.
func TestDeliveriesAreBounded(t *testing.T) {
	fill := func(t *testing.T) (*testChain, []chain.Address) {
		c := messages(t)
		a := c.deployed(relay, 1, "storage.kv", "econ.hold_balance")
		to := []chain.Address{}
		for i := range byte(3) {
			to = append(to, c.deployed(relay, 2+i, "storage.kv"))
		}
		c.g.Params.Actor.CallDepth = 1 // depth 2 waits
		for i, addr := range to {
			for range []int{20, 3, 1}[i] {
				inner := tell(addr, "burn", 60_000, 0, 1)
				arg := append(cbor.AppendText(cbor.AppendBytes(cbor.AppendArray(nil, 5), a[:]), "tell"), cbor.AppendArray(nil, 1)...)
				arg = cbor.AppendUint(cbor.AppendUint(append(arg, inner...), 200_000), 0)
				if r := c.block(c.post(alice, a, 0, "tell", arg)); trace(&r.Receipts[0]) != "1:ok 2:ok " {
					t.Fatalf("%+v", r.Receipts[0])
				}
				c.g.Params.Actor.MailboxBlockItems = 0
			}
		}
		if n := c.waiting(to[0]); n != 20 {
			t.Fatalf("%d wait", n)
		}
		return c, to
	}
	t.Run("items", func(t *testing.T) {
		c, to := fill(t)
		c.g.Params.Actor.MailboxBlockItems = 18
		if r := c.block(); len(r.Receipts) != 18 || c.waiting(to[0]) != 6 || c.waiting(to[1]) != 0 || c.waiting(to[2]) != 0 {
			t.Errorf("%d deliveries, %d %d %d wait", len(r.Receipts), c.waiting(to[0]), c.waiting(to[1]), c.waiting(to[2]))
		}
	})
	t.Run("turns", func(t *testing.T) {
		c, to := fill(t)
		c.g.Params.Actor.MailboxBlockItems, c.g.Params.Actor.MailboxBlockReceivers = 1_000, 2
		if r := c.block(); len(r.Receipts) != 7 || c.waiting(to[0]) != 16 || c.waiting(to[1]) != 0 {
			t.Errorf("%d deliveries", len(r.Receipts))
		}
		if r := c.block(); len(r.Receipts) != 5 || c.waiting(to[0]) != 12 || c.waiting(to[2]) != 0 {
			t.Errorf("%d deliveries in the second block", len(r.Receipts))
		}
	})
	t.Run("space", func(t *testing.T) {
		c, to := fill(t)
		c.g.Params.Actor.MailboxBlockItems = 1_000
		c.g.Params.CellsCap, c.g.Params.CellsTarget = 10_000, 10_000 // one reserves as many, and uses some
		for n, want := range []int{0, 1, 2, 0, 1, 0, 1, 0, 0} {      // who gets one
			before := c.waiting(to[want])
			if r := c.block(); len(r.Receipts) != 1 || c.waiting(to[want]) != before-1 {
				t.Fatalf("block %d: %d deliveries, %d wait for receiver %d", n+1, len(r.Receipts), c.waiting(to[want]), want)
			}
		}
		c.g.Params.CellsCap, c.g.Params.CellsTarget = 9_999, 9_999
		if r := c.block(); len(r.Receipts) != 0 {
			t.Errorf("%d deliveries where none fits", len(r.Receipts))
		}
	})
}

// TestFanOut is W6: 1,024 messages of one transaction, and the next one reverts.
func TestFanOut(t *testing.T) {
	c := messages(t)
	a := c.deployed(relay, 1, "storage.kv")
	for n, want := range map[int]uint16{1_024: chain.CodeOK, 1_025: chain.CodeReverted} {
		r, err := c.try(c.post(alice, a, 0, "tell", tell(a, "burn", 1, 0, make([]uint64, n)...)))
		if err != nil || r.Receipts[0].Code != want {
			t.Fatalf("%d messages: %v, %v", n, chain.CodeName(r.Receipts[0].Code), err)
		}
		if want == chain.CodeOK && (len(r.Receipts[0].Trace) != n || r.Receipts[0].Trace[n-1].Code != chain.CodeCyclesExhausted) {
			t.Errorf("%d messages in the trace", len(r.Receipts[0].Trace))
		}
	}
}

// TestCrowdOfDeferredMessages: those to accounts without code are paid as they are taken
// up and never wait; another origin's message comes in the block of its height, or in the
// one after, whatever else is due (ADR 75).
func TestCrowdOfDeferredMessages(t *testing.T) {
	crowd := 100_000
	if testing.Short() {
		crowd = 5_000
	}
	c := messages(t)
	b := c.deployed(relay, 1, "storage.kv")
	at := c.height + 2
	o := state.NewOverlay(c.state)
	put := func(it *mailbox.Item) {
		t.Helper()
		if err := mailbox.Defer(o, c.height, at, it, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	for n := range crowd {
		to := chain.Address{0: 0xcc, 1: byte(n >> 16), 2: byte(n >> 8), 3: byte(n)}
		put(&mailbox.Item{From: bob, To: to, Origin: bob, Nonce: uint64(n), Payload: cbor.AppendNull(nil), Cycles: 1, Cells: 1})
	}
	put(&mailbox.Item{
		From: alice, To: b, Origin: alice, Nonce: 1 << 40, Handler: "burn", Payload: cbor.AppendUint(nil, 3),
		Cycles: 200_000, Cells: c.g.Params.Actor.MessageReserveCells,
	})
	c.state = c.state.With(o.Delta())
	c.block()
	r := c.block()
	if n := len(r.Receipts); n < 1_000 || n > int(c.g.Params.Actor.MailboxBlockItems) {
		t.Errorf("%d messages came", n)
	}
	came := 0
	for i := range r.Receipts {
		if got := &r.Receipts[i]; got.Code != chain.CodeOK {
			t.Fatalf("receipt %d: %s", i, chain.CodeName(got.Code))
		} else if len(got.Events) == 1 {
			came++
		}
	}
	if n, err := mailbox.Origins(c.state); came != 1 || c.height != at || n != 1 || err != nil {
		t.Errorf("mine came %d times in block %d, %d origins wait, %v", came, c.height, n, err)
	}
	if l, err := actor.ReadQuota(c.state, chain.Address{0: 0xcc}); err != nil || l != (actor.Quota{}) {
		t.Errorf("an account without code has the ledger %+v, %v", l, err)
	}
}

// TestWhoWaitsInVainNaps: messages that wait for receivers which are busy in every block
// take turns ever more rarely, however many accounts have paid for them, so that what
// others wait for comes in time; and they come when their receiver has the cycles.
func TestWhoWaitsInVainNaps(t *testing.T) { // ADR 93
	const crowd, turns = 300, 4
	c, _, b := slow(t)
	d := c.deployed(relay, 3, "storage.kv")
	c.g.Params.Actor.MailboxBlockReceivers = turns
	none := cbor.AppendNull(nil)
	o := state.NewOverlay(c.state)
	for n := range crowd {
		a := chain.Address{0: 0xcc, 18: byte(n >> 8), 19: byte(n)}
		it := &mailbox.Item{From: a, To: b, Origin: a, Nonce: 1, Handler: "log", Payload: none, Cycles: 420_000, Cells: 10_000, Parked: c.height}
		if err := mailbox.Push(o, it, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	actor.WriteQuota(o, b, actor.Quota{Waiting: crowd})
	// Nobody has counted what is put here besides the blocks.
	meter := bytes.Repeat([]byte{0, 0, 0, 0, 0, 16, 0, 0}, 4)
	o.SetStorage(chain.AddrTreasury, state.NewStorageKey(state.VMNamespaceSystem, []byte("state")), meter)
	c.state = c.state.With(o.Delta())
	keepBusy := func() *chain.VerifiedTx {
		tx := c.post(alice, b, 0, "log", cbor.AppendNull(nil)).Tx
		tx.CyclesLimit = 180_000
		return verified(tx, alice)
	}
	var late chain.Height
	for begun := c.height; c.height < begun+6*crowd/turns; {
		o := state.NewOverlay(c.state)
		due := c.height + 2
		it := &mailbox.Item{From: bob, To: d, Origin: bob, Nonce: uint64(due), Handler: "log", Payload: none, Cycles: 60_000, Cells: 10_000}
		if err := mailbox.Defer(o, c.height, due, it, 1<<20); err != nil {
			t.Fatal(err)
		}
		c.state = c.state.With(o.Delta())
		for came := false; !came; {
			if c.height > due+2*crowd {
				t.Fatal("an honest message never came")
			}
			r := c.block(keepBusy())
			if r.Receipts[0].Code != chain.CodeOK {
				t.Fatalf("%+v", r.Receipts[0])
			}
			came = len(r.Receipts) > 1
		}
		if wait := c.height - due; c.height > begun+2*crowd/turns { // all had their first turns
			late = max(late, wait)
		}
	}
	if late > 2 {
		t.Errorf("an honest message came %d blocks late", late)
	}
	if n := c.waiting(b); n != crowd {
		t.Fatalf("%d wait, want %d", n, crowd)
	}
	for range 2_000 {
		if c.block(); c.waiting(b) == 0 {
			return
		}
	}
	t.Errorf("%d still wait for an actor that nobody uses", c.waiting(b))
}
