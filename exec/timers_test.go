package exec_test

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/state"
)

const clockwork = `
from cowboy_sdk import actor, public, emit_event, set_timer, set_interval, cancel_timer, extend_timer, schedule_timer_ex, get_value, current_block

@actor
class Clockwork:
    @public
    def init(self, msg):
        self.storage["n"] = 0

    @public
    def at(self, msg):
        return set_timer(msg.payload, "tick", None)

    @public
    def prick(self, msg):
        return schedule_timer_ex(msg.payload[0], "tock", None, target=msg.payload[1])

    @public
    def tock(self, msg):
        pass

    @public
    def many(self, msg):
        for _ in range(msg.payload[1]):
            set_timer(msg.payload[0], "tick", None)

    @public
    def hard(self, msg):
        for _ in range(msg.payload[1]):
            set_timer(msg.payload[0], "toil", msg.payload[2])

    def toil(self, msg):
        for _ in range(msg.payload):
            pass

    @public
    def shove(self, msg):
        id = set_timer(msg.payload, "shoving", None)
        self.storage["shoved"] = self.storage.get("shoved", []) + [id]
        return id

    def shoving(self, msg):
        for id in self.storage["shoved"]:
            try:
                extend_timer(id, current_block() + 100)
            except Exception:
                pass
        for _ in range(150000):
            pass

    @public
    def every(self, msg):
        return set_interval(msg.payload, "tick", None)

    @public
    def stopping(self, msg):
        self.storage["id"] = set_interval(msg.payload, "stop", None)

    def stop(self, msg):
        cancel_timer(self.storage["id"])
        emit_event("stopped", 1)

    @public
    def cancel(self, msg):
        return cancel_timer(msg.payload)

    @public
    def extend(self, msg):
        extend_timer(msg.payload[0], msg.payload[1])

    @public
    def bidding(self, msg):
        return schedule_timer_ex(msg.payload[0], "tick", None, gba=msg.payload[1])

    @public
    def bidding_spin(self, msg):
        return schedule_timer_ex(msg.payload[0], "spin", None, gba=msg.payload[1])

    def spin(self, msg):
        while True:
            pass

    @public
    def bid_by(self, msg):
        self.storage["bid"] = msg.payload

    @public
    def burn(self, msg):
        for _ in range(msg.payload):
            pass

    @public
    def fails(self, msg):
        return set_timer(msg.payload, "broken", None)

    def broken(self, msg):
        self.storage["n"] = 1000
        raise ValueError("no")

    def tick(self, msg):
        self.storage["n"] = self.storage["n"] + 1
        emit_event("tick", self.storage["n"])

    @public
    def set_then_fail(self, msg):
        set_timer(msg.payload, "tick", None)
        raise ValueError("no")

    def getGasBid(self, msg):
        return self.storage.get("bid") or {"tip": 7, "max_fee": 1000}
`

// workshop is a chain with one actor that has timers and money.
type workshop struct {
	*testChain
	addr chain.Address
}

func newWorkshop(t testing.TB, change func(*params.Params), ids ...string) *workshop {
	t.Helper()
	g := testGenesis(t, []chain.Wei{50}, rich(alice), rich(bob))
	if change != nil {
		change(&g.Params)
		if err := g.Params.Check(); err != nil {
			t.Fatal(err)
		}
	}
	c := newTestChain(t, g)
	c.engine = testEngine(t)
	if ids == nil {
		ids = []string{"econ.hold_balance", "storage.kv", "timer.schedule"}
	}
	d := actor.Deployment{
		Source: []byte(clockwork), Salt: []byte{1}, Manifest: manifest.Manifest(ids...),
		Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
	tx := c.program(alice, nil, actor.AppendPayload(nil, &d)).Tx
	if len(ids) == 3 {
		tx.Value = 200 * chain.WeiPerCBY
	}
	tx.Signature = nil
	if r := c.block(verified(tx, alice)).Receipts[0]; r.Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r)
	}
	return &workshop{c, actor.AddressOf(alice, d.Salt, d.Source)}
}

// call sends a message in a block of its own.
func (w *workshop) call(handler string, arg []byte) chain.Receipt {
	w.t.Helper()
	return w.step(w.message(handler, arg)).Receipts[0]
}

func (w *workshop) message(handler string, arg []byte) *chain.VerifiedTx {
	tx := w.program(alice, &w.addr, actor.AppendMessage(nil, handler, arg)).Tx
	tx.CyclesLimit = 600_000 // beside what the actor's timers hold
	tx.Signature = nil
	return verified(tx, alice)
}

// step executes a block and holds the timers' money to what they hold.
func (w *workshop) step(txs ...*chain.VerifiedTx) exec.Result {
	w.t.Helper()
	r := w.block(txs...)
	w.audit()
	return r
}

// audit walks the timers of the actor and of who made it: their deposits and escrows are the balance.
func (w *workshop) audit() {
	w.t.Helper()
	var held chain.Wei
	o := state.NewOverlay(w.state)
	c := timers.Clock{Params: &w.g.Params, Height: w.height, Base: w.base}
	for _, who := range []chain.Address{w.addr, alice} {
		_, refund, err := timers.DropAll(o, c, who, 1<<20)
		if err != nil {
			w.t.Fatal(err)
		}
		held += refund
	}
	if got := w.state.Balance(chain.AddrTimers); got != held {
		w.t.Fatalf("block %d: the timers hold %d, their deposits and escrows are %d", w.height, got, held)
	}
}

func (w *workshop) head() timers.Head {
	w.t.Helper()
	h, err := timers.ReadHead(w.state, &w.g.Params)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

func uintArg(v uint64) []byte { return cbor.AppendUint(nil, v) }

func textOf(t testing.TB, output []byte) []byte {
	t.Helper()
	r := cbor.NewReader(output)
	s, err := r.Text(66)
	if err != nil {
		t.Fatalf("output %x: %v", output, err)
	}
	return cbor.AppendText(nil, s)
}

func TestTimerFires(t *testing.T) { // whitepaper §3.3; resolutions 7.5, 7.6, 11.24, 11.25
	w := newWorkshop(t, nil)
	before, fee := w.state.Balance(w.addr), w.head().BaseFee
	target := uint64(w.height) + 4
	r := w.step(w.message("at", uintArg(target)))
	if r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("at: %+v", r.Receipts[0])
	}
	fee = fee - fee/8 // the block moved it before the transaction
	p := &w.g.Params.Timer
	_, load, err := actor.LoadOf(state.NewOverlay(w.state), w.addr)
	if err != nil || load == 0 {
		t.Fatalf("the first use of the code costs %d, %v", load, err)
	}
	escrow := 2 * chain.Wei(p.DefaultCycles+load+chain.Cycles(p.DefaultCells))
	if got, want := before-w.state.Balance(w.addr), p.BaseDeposit+escrow+fee; got != want {
		t.Errorf("setting a timer took %d, want deposit %d + escrow %d + fee %d", got, p.BaseDeposit, escrow, fee)
	}
	for uint64(w.height)+1 < target {
		if r := w.step(); len(r.Receipts) != 0 || w.head().Depth != 1 {
			t.Fatalf("block %d: %d receipts, depth %d", w.height, len(r.Receipts), w.head().Depth)
		}
	}
	burned := w.state.Balance(w.addr)
	r = w.step()
	if len(r.Receipts) != 1 {
		t.Fatalf("%d receipts in the block of the timer", len(r.Receipts))
	}
	got := r.Receipts[0]
	if got.Lane != chain.LaneTimer || got.Code != chain.CodeOK || len(got.Events) != 1 || got.Events[0].Name != "tick" {
		t.Fatalf("firing: %+v", got)
	}
	if got.Fee != chain.Wei(got.CyclesUsed)+chain.Wei(got.CellsUsed) || got.Fee != r.Burned || r.Used[chain.LaneTimer].Cycles != got.CyclesUsed {
		t.Errorf("firing of %d cycles, %d cells paid %d, burned %d", got.CyclesUsed, got.CellsUsed, got.Fee, r.Burned)
	}
	if back := w.state.Balance(w.addr) - burned; back != p.BaseDeposit+escrow-got.Fee {
		t.Errorf("firing gave back %d, want deposit and escrow less %d", back, got.Fee)
	}
	if h := w.head(); h.Depth != 0 || h.Ready != 0 || w.state.Balance(chain.AddrTimers) != 0 {
		t.Errorf("after the firing: %+v", h)
	}
}

func TestTimerRefusals(t *testing.T) { // resolutions 7.6; musts E17, W6
	w := newWorkshop(t, nil)
	refused := func(handler string, arg []byte, want uint16) {
		t.Helper()
		if got := w.call(handler, arg); got.Code != want {
			t.Errorf("%s: code %s, want %s", handler, chain.CodeName(got.Code), chain.CodeName(want))
		}
	}
	refused("at", uintArg(uint64(w.height)+1), chain.CodeReverted) // its own block
	refused("at", uintArg(uint64(w.height)+2), chain.CodeOK)       // the next one
	refused("at", uintArg(uint64(w.height)+1+timers.MaxAhead), chain.CodeOK)
	refused("at", uintArg(uint64(w.height)+2+timers.MaxAhead), chain.CodeReverted)
	refused("at", uintArg(1<<63), chain.CodeReverted)
	refused("set_then_fail", uintArg(uint64(w.height)+5), chain.CodeReverted)
	if h := w.head(); h.Depth != 1 {
		t.Errorf("depth %d, want the one far away", h.Depth)
	}
	bare := newWorkshop(t, nil, "storage.kv")
	if got := bare.call("at", uintArg(100)); got.Code != chain.CodeNotEntitled {
		t.Errorf("without timer.schedule: %s", chain.CodeName(got.Code))
	}
}

func TestTimerCancelAndExtend(t *testing.T) { // resolutions 7.9, 11.24
	w := newWorkshop(t, nil)
	id := textOf(t, w.call("at", uintArg(uint64(w.height)+4)).Output)
	before := w.state.Balance(w.addr)
	locked := w.state.Balance(chain.AddrTimers)
	if r := w.call("cancel", id); !bytes.Equal(r.Output, cbor.AppendBool(nil, true)) {
		t.Fatalf("cancel: %+v", r)
	}
	if got := w.state.Balance(w.addr); got != before+locked || w.state.Balance(chain.AddrTimers) != 0 {
		t.Errorf("cancelling gave back %d of %d", got-before, locked)
	}
	if r := w.call("cancel", id); !bytes.Equal(r.Output, cbor.AppendBool(nil, false)) {
		t.Errorf("cancelling twice: %+v", r)
	}
	target := uint64(w.height) + 3
	id = textOf(t, w.call("at", uintArg(target)).Output)
	pair := func(h uint64) []byte { return cbor.AppendUint(append(cbor.AppendArray(nil, 2), id...), h) }
	if r := w.call("extend", pair(target)); r.Code != chain.CodeReverted {
		t.Errorf("extending to the same height: %+v", r)
	}
	// A transaction in the block of the timer comes before it.
	if r := w.step(w.message("extend", pair(target+2))); len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("extended in its own block it still fired: %+v", r.Receipts)
	}
	if r := w.step(); len(r.Receipts) != 0 {
		t.Error("fired too early")
	}
	if r := w.step(); len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK {
		t.Errorf("extended timer: %+v", r.Receipts)
	}
}

func TestInterval(t *testing.T) { // resolutions 11.24; whitepaper §3.3
	w := newWorkshop(t, nil)
	if r := w.call("every", uintArg(3)); r.Code != chain.CodeOK {
		t.Fatalf("every: %+v", r)
	}
	fired := 0
	start := w.height
	for range 12 {
		r := w.step()
		if n := len(r.Receipts); n != 0 {
			fired += n
			if (w.height-start)%3 != 0 {
				t.Errorf("fired in block %d, set in %d", w.height, start)
			}
		}
	}
	if fired != 4 || w.head().Depth != 1 {
		t.Errorf("fired %d times in 12 blocks, depth %d", fired, w.head().Depth)
	}
	if r := w.call("stopping", uintArg(2)); r.Code != chain.CodeOK {
		t.Fatalf("stopping: %+v", r)
	}
	for range 6 {
		w.step()
	}
	if w.head().Depth != 1 {
		t.Errorf("an interval that its handler cancelled is still there: depth %d", w.head().Depth)
	}
}

func TestFailingFiring(t *testing.T) { // whitepaper §3.3: atomic, charged
	w := newWorkshop(t, nil)
	w.call("fails", uintArg(uint64(w.height)+2))
	r := w.step()
	if len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeReverted || r.Receipts[0].Fee == 0 {
		t.Fatalf("firing: %+v", r.Receipts)
	}
	if got := w.call("at", uintArg(uint64(w.height)+2)); got.Code != chain.CodeOK {
		t.Fatal(got)
	}
	if r := w.step(); len(r.Receipts[0].Events) != 1 || string(r.Receipts[0].Events[0].Data) != "\x01" {
		t.Errorf("the failed handler left something behind: %+v", r.Receipts)
	}
}
