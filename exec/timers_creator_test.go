package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// estate is an actor whose owner need not be who made it.
const estate = `
from cowboy_sdk import *

@actor
class Estate:
    @public
    def begin(self, msg):
        assume_ownership_if_unowned()

    @callable_by(OWNER)
    def hand_over(self, msg):
        transfer_ownership(msg.payload)

    @callable_by(OWNER)
    def sell(self, msg):
        emit_event("sold", 1)

    @callable_by(SELF)
    def own(self, msg):
        emit_event("own", 1)

    def private(self, msg):
        emit_event("private", 1)

    @public
    def anybody(self, msg):
        emit_event("from", get_sender())

    @public
    def later(self, msg):
        return set_timer(msg.payload, "own", None)
`

// scheduled is an instruction of alice's that sets a timer for the workshop's actor.
func (w *workshop) scheduled(h uint64, handler string) *chain.VerifiedTx {
	null := cbor.AppendNull(nil)
	return w.order(alice, chain.OpTimerSchedule, uintArg(h), null, cbor.AppendText(nil, handler), cbor.AppendBytes(nil, null))
}

// TestTimersOfACreator: a timer that who made an actor sets by an instruction asks as a
// message of that account does, whatever handler it names and whoever owns the actor by then.
func TestTimersOfACreator(t *testing.T) { // ADR 206
	c := oneValidator(t)
	c.engine = testEngine(t)
	addr, r := c.deploy(alice, estate, manifest.Manifest("econ.hold_balance", "storage.kv", "timer.schedule"))
	if r.Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r)
	}
	c.give(addr, 100*chain.WeiPerCBY)
	w := &workshop{c, addr}
	fires := func(handler string) chain.Receipt {
		t.Helper()
		if r := w.step(w.scheduled(uint64(w.height)+2, handler)).Receipts[0]; r.Code != chain.CodeOK {
			t.Fatalf("schedule %s: %+v", handler, r)
		}
		r := w.step()
		if len(r.Receipts) != 1 {
			t.Fatalf("%s: %d receipts", handler, len(r.Receipts))
		}
		return r.Receipts[0]
	}
	check := func(rule, handler string, want uint16) {
		t.Helper()
		before := w.state.Balance(addr)
		got := fires(handler)
		if got.Code != want {
			t.Errorf("%s: %s, want %s", rule, chain.CodeName(got.Code), chain.CodeName(want))
		}
		if w.state.Balance(addr) != before {
			t.Errorf("%s: the actor's balance went from %d to %d", rule, before, w.state.Balance(addr))
		}
	}
	if r := w.call("begin", cbor.AppendNull(nil)); r.Code != chain.CodeOK {
		t.Fatalf("begin: %+v", r)
	}
	check("the owner", "sell", chain.CodeOK)
	if r := w.call("hand_over", cbor.AppendText(nil, bob.String())); r.Code != chain.CodeOK {
		t.Fatalf("hand over: %+v", r)
	}
	if r := w.call("sell", cbor.AppendNull(nil)); r.Code == chain.CodeOK {
		t.Fatal("who was the owner still sells by a message")
	}
	check("no owner any more", "sell", w.call("sell", cbor.AppendNull(nil)).Code)
	check("for the actor alone", "own", w.call("own", cbor.AppendNull(nil)).Code)
	check("without a decorator", "private", w.call("private", cbor.AppendNull(nil)).Code)
	check("for anybody", "anybody", chain.CodeOK)
	if r := w.call("later", uintArg(uint64(w.height)+2)); r.Code != chain.CodeOK {
		t.Fatalf("later: %+v", r)
	}
	if r := w.step(); len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK {
		t.Errorf("the actor's own timer: %+v", r.Receipts)
	}
}

// TestCreatorsPay: what instructions about timers cost, and what the firings of timers cost
// that they set, is paid by who sends them, however much that is.
func TestCreatorsPay(t *testing.T) { // ADR 206
	w := newWorkshop(t, nil)
	id := textOf(t, w.call("at", uintArg(200)).Output)
	own := w.only(id)
	name := cbor.AppendBytes(nil, own.ID[:])
	set := func(setting string, value []byte) []byte {
		return append(cbor.AppendText(cbor.AppendMap(nil, 1), setting), value...)
	}
	before := w.state.Balance(w.addr)
	for _, tt := range []struct {
		rule   string
		opcode uint64
		arg    []byte
		want   uint16
	}{
		{"moves the actor's timer", chain.OpTimerExtend, uintArg(300), chain.CodeOK},
		{"gives it more cycles", chain.OpTimerConfig, set("cycles_limit", uintArg(300_000)), chain.CodeOK},
		{"gives it a bidder", chain.OpTimerConfig, set("bidder", cbor.AppendBytes(nil, w.addr[:])), chain.CodeForbidden},
		{"takes its bidder", chain.OpTimerConfig, set("bidder", cbor.AppendNull(nil)), chain.CodeForbidden},
	} {
		if r := w.step(w.order(alice, tt.opcode, name, tt.arg)).Receipts[0]; r.Code != tt.want {
			t.Errorf("%s: %s, want %s", tt.rule, chain.CodeName(r.Code), chain.CodeName(tt.want))
		}
	}
	target := uint64(w.height) + 60
	var dearest chain.Wei
	for range 24 { // the last is 256 times as dear
		r := w.step(w.scheduled(target, "at"))
		if r.Receipts[0].Code != chain.CodeOK {
			t.Fatalf("schedule: %+v", r.Receipts[0])
		}
		dearest = r.Burned - (r.Receipts[0].Fee - r.Receipts[0].Tip)
	}
	if dearest < 200*w.head().BaseFee {
		t.Errorf("the 24th timer burned %d, the base fee is %d", dearest, w.head().BaseFee)
	}
	if got := w.state.Balance(w.addr); got != before {
		t.Errorf("the actor had %d and has %d", before, got)
	}
	if r := w.step(w.order(alice, chain.OpTimerCancel, name)).Receipts[0]; r.Code != chain.CodeOK {
		t.Fatalf("cancel: %+v", r)
	}
	held := own.Deposit + own.Escrow + 2*100_000 // what alice has put aside for more cycles is the actor's
	if got := w.state.Balance(w.addr); got != before+held {
		t.Errorf("a cancelled timer gave back %d, want %d", got-before, held)
	}
	tx := w.scheduled(target+20, "at").Tx
	tx.Value = 1
	if r := w.step(verified(tx, alice)).Receipts[0]; r.Code != chain.CodeBadArgument {
		t.Errorf("with value: %s", chain.CodeName(r.Code))
	}
}

// TestTipsOfBidsAreCapped: an agent gives the proposer as much of its client's balance as
// counts in the order, and no more.
func TestTipsOfBidsAreCapped(t *testing.T) { // ADR 206
	w := newWorkshop(t, nil)
	if r := w.call("bid_by", answer("tip", 1<<40, "tip_cell", 1<<40)); r.Code != chain.CodeOK {
		t.Fatalf("bid_by: %+v", r)
	}
	w.bids("bidding")
	r := w.step()
	if len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("%+v", r.Receipts)
	}
	got := r.Receipts[0]
	most := chain.Wei(w.g.Params.Timer.StarvationMultiple) * (chain.Wei(got.CyclesUsed)*w.base.PerCycle + chain.Wei(got.CellsUsed)*w.base.PerCell)
	if got.Tip != most {
		t.Errorf("a firing of %d cycles and %d cells gave a tip of %d, want %d", got.CyclesUsed, got.CellsUsed, got.Tip, most)
	}
}

// TestIntervalOfACreator goes on as long as its creator pays, also when the actor has
// nothing, and ends when the creator cancels it.
func TestIntervalOfACreator(t *testing.T) { // ADR 206; resolution 11.24
	w := newWorkshop(t, func(p *params.Params) { p.Timer.BaseDeposit = chain.WeiPerCBY })
	w.drain(0)
	tx := w.order(alice, chain.OpTimerSchedule, uintArg(uint64(w.height)+2), uintArg(1), cbor.AppendText(nil, "burn"), cbor.AppendBytes(nil, uintArg(5)))
	r := w.step(tx).Receipts[0]
	if r.Code != chain.CodeOK {
		t.Fatalf("schedule: %+v", r)
	}
	for range 5 {
		if r := w.step(); len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK {
			t.Fatalf("block %d: %+v", w.height, r.Receipts)
		}
	}
	roster, err := timers.ReadRoster(w.state, alice)
	if err != nil || roster.Active != 1 {
		t.Errorf("alice has %d timers, %v", roster.Active, err)
	}
	if got := w.step(w.order(bob, chain.OpTimerCancel, r.Output)).Receipts[0].Code; got != chain.CodeForbidden {
		t.Errorf("cancelled by another: %s", chain.CodeName(got))
	}
	if got := w.step(w.order(alice, chain.OpTimerCancel, r.Output)).Receipts[0].Code; got != chain.CodeOK {
		t.Errorf("cancelled: %s", chain.CodeName(got))
	}
	if r := w.step(); len(r.Receipts) != 0 || w.state.Balance(w.addr) != 0 {
		t.Errorf("%+v, the actor has %d", r.Receipts, w.state.Balance(w.addr))
	}
}
