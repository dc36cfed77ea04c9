package exec_test

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

func TestAgentBids(t *testing.T) { // resolutions 11.23, 7.1; neighbours §1
	w := newWorkshop(t, nil)
	target := uint64(w.height) + 2
	arg := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), target), w.addr[:])
	if r := w.call("bidding", arg); r.Code != chain.CodeOK {
		t.Fatalf("bidding: %+v", r)
	}
	r := w.step()
	if len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("firing: %+v", r.Receipts)
	}
	got := r.Receipts[0]
	if got.Tip != 7*chain.Wei(got.CyclesUsed) {
		t.Errorf("tip %d for %d cycles, want seven each", got.Tip, got.CyclesUsed)
	}
	bid := r.Used[chain.LaneTimer].Cycles - got.CyclesUsed
	if bid == 0 || bid > w.g.Params.Timer.BidCycles {
		t.Errorf("the bid took %d cycles of the lane", bid)
	}
	if r.Burned != got.Fee-got.Tip+chain.Wei(bid)+chain.Wei(r.Used[chain.LaneTimer].Cells-got.CellsUsed) {
		t.Errorf("burned %d of a firing that paid %d with tip %d and a bid of %d cycles", r.Burned, got.Fee, got.Tip, bid)
	}
}

// bids sets a timer for the block after next whose agent is the actor itself.
func (w *workshop) bids(handler string) {
	w.t.Helper()
	arg := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), uint64(w.height)+2), w.addr[:])
	if r := w.call(handler, arg); r.Code != chain.CodeOK {
		w.t.Fatalf("%s: %+v", handler, r)
	}
}

// answer is a bid of these fields, in canonical order.
func answer(fields ...any) []byte {
	b := cbor.AppendMap(nil, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		b = cbor.AppendUint(cbor.AppendText(b, fields[i].(string)), uint64(fields[i+1].(int)))
	}
	return b
}

// TestBidFields: what an agent may say of the firing, here of a handler that uses all
// it may.
func TestBidFields(t *testing.T) { // neighbours §1; resolution 11.23
	const most = 200_000 // cycles of the timer
	for _, tt := range []struct {
		rule   string
		bid    []byte
		fires  bool
		cycles chain.Cycles
		tip    chain.FeePair
	}{
		{"prices and limits", answer("tip", 7, "max_fee", 50, "tip_cell", 3, "cells_limit", 900, "cycles_limit", 60_000, "max_fee_cell", 50), true, 60_000, chain.FeePair{PerCycle: 7, PerCell: 3}},
		{"limits above the timer's", answer("tip", 7, "cycles_limit", most+1), true, most, chain.FeePair{PerCycle: 7}},
		{"tips as far as the caps go", answer("tip", 7, "max_fee", 4, "tip_cell", 9, "max_fee_cell", 3), true, most, chain.FeePair{PerCycle: 3, PerCell: 2}},
		{"a cap at the base fee", answer("tip", 7, "max_fee", 1), true, most, chain.FeePair{}},
		{"a cap below it", answer("tip", 7, "max_fee", 0), false, 0, chain.FeePair{}},
		{"a cap on cells below it", answer("tip", 7, "max_fee_cell", 0), false, 0, chain.FeePair{}},
		{"another field", answer("tip", 7, "gas_limit", 60_000), true, most, chain.FeePair{}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w := newWorkshop(t, func(p *params.Params) { p.Timer.DefaultCycles = most })
			if r := w.call("bid_by", tt.bid); r.Code != chain.CodeOK {
				t.Fatalf("bid_by: %+v", r)
			}
			w.bids("bidding_spin")
			r := w.step()
			if fires := len(r.Receipts) == 1; fires != tt.fires {
				t.Fatalf("%d firings", len(r.Receipts))
			}
			if !tt.fires {
				return
			}
			got := r.Receipts[0]
			if want := tt.tip.PerCycle*chain.Wei(got.CyclesUsed) + tt.tip.PerCell*chain.Wei(got.CellsUsed); got.CyclesUsed != tt.cycles || got.Tip != want {
				t.Errorf("used %d cycles, %d cells, tip %d, want %d cycles, tip %d", got.CyclesUsed, got.CellsUsed, got.Tip, tt.cycles, want)
			}
		})
	}
	w := newWorkshop(t, nil)
	w.call("bid_by", answer("tip", 7, "cells_limit", 0))
	w.bids("bidding")
	if r := w.step(); len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeCellsExhausted || r.Receipts[0].CellsUsed != params.Default().API.FiringCells {
		t.Errorf("a bid for no cells: %+v", r.Receipts)
	}
}

// TestBidsAreBudgeted: so many a block, and as long as the next may use what it can
// within half of the lane. Who is not asked bids by the formula.
func TestBidsAreBudgeted(t *testing.T) { // resolution 11.23
	for _, tt := range []struct {
		rule   string
		change func(*params.Timer)
		asked  int
	}{
		{"all", func(*params.Timer) {}, 3},
		{"two a block", func(p *params.Timer) { p.BidsPerBlock = 2 }, 2},
		{"half of the lane's cycles", func(p *params.Timer) { p.BidCycles = 1_000_000 }, 1},
		{"more than half of its cycles", func(p *params.Timer) { p.BidCycles = 1_000_001 }, 0},
		{"half of its cells", func(p *params.Timer) { p.BidCells = 50_000 }, 1},
		{"more than half of its cells", func(p *params.Timer) { p.BidCells = 50_001 }, 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w := newWorkshop(t, func(p *params.Params) { tt.change(&p.Timer) })
			target := uint64(w.height) + 4
			for range 3 {
				arg := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), target), w.addr[:])
				if r := w.call("bidding", arg); r.Code != chain.CodeOK {
					t.Fatalf("bidding: %+v", r)
				}
			}
			r := w.step()
			asked := 0
			for i := range r.Receipts {
				if r.Receipts[i].Tip == 7*chain.Wei(r.Receipts[i].CyclesUsed) {
					asked++
				}
			}
			if len(r.Receipts) != 3 || asked != tt.asked {
				t.Errorf("%d of %d asked, want %d", asked, len(r.Receipts), tt.asked)
			}
		})
	}
}

func TestAgentWithoutAnswer(t *testing.T) { // neighbours §1: failure is a bid of no tip
	w := newWorkshop(t, nil)
	arg := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), uint64(w.height)+2), carol[:])
	if r := w.call("bidding", arg); r.Code != chain.CodeOK {
		t.Fatalf("bidding: %+v", r)
	}
	r := w.step()
	if len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK || r.Receipts[0].Tip != 0 {
		t.Errorf("firing: %+v", r.Receipts)
	}
}

// TestAgentsLeaveTheFirstItsRoom: agents that use all that questions may take of the lane,
// in every block, hold up nobody whose limits fit the lane without them.
func TestAgentsLeaveTheFirstItsRoom(t *testing.T) { // ADR 127
	const slow = `
from cowboy_sdk import actor, public, schedule_timer_ex, current_block

@actor
class Slow:
    @public
    def go(self, msg):
        for _ in range(msg.payload):
            schedule_timer_ex(current_block() + 1, "tick", None, gba=self.address, every=1)

    def tick(self, msg):
        pass

    def getGasBid(self, msg):
        while True:
            pass
`
	w := newWorkshop(t, func(p *params.Params) { p.Timer.DefaultCycles = 1_000_000 })
	target := w.height + 8
	if r := w.call("at", uintArg(uint64(target))); r.Code != chain.CodeOK {
		t.Fatalf("at: %+v", r)
	}
	w.g.Params.Timer.DefaultCycles = 60_000
	// The comment is as long as leaves nineteen questions and the first use all but 2,000 cycles.
	a, r := w.deploy(bob, slow+"#"+strings.Repeat("x", 4_480), manifest.Manifest("econ.hold_balance", "storage.kv", "timer.schedule"))
	if r.Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r)
	}
	w.give(a, 400*chain.WeiPerCBY)
	if r := w.ask(a, "go", uintArg(20)); r.Code != chain.CodeOK {
		t.Fatalf("go: %+v", r)
	}
	for w.height < target+3 { // those that are due in its own block may go first
		r := w.block()
		if w.height == target-1 && r.Used[chain.LaneTimer].Cycles < 1_050_000 {
			t.Errorf("questions and firings take %d cycles of the lane", r.Used[chain.LaneTimer].Cycles)
		}
		for i := range r.Receipts {
			if events := r.Receipts[i].Events; len(events) == 1 && events[0].Emitter == w.addr {
				return
			}
		}
	}
	t.Error("the timer does not fire")
}

// deployLong deploys a long program of bob's under a salt, with a balance for its timers.
func (w *workshop) deployLong(t *testing.T, source string, salt byte, balance chain.Wei) chain.Address {
	t.Helper()
	d := actor.Deployment{Source: []byte(source), Salt: []byte{salt}, Manifest: manifest.Manifest("econ.hold_balance", "timer.schedule")}
	tx := w.program(bob, nil, actor.AppendPayload(nil, &d)).Tx
	tx.CyclesLimit, tx.CellsLimit, tx.Signature = 2_000_000, 200_000, nil
	if r := w.block(verified(tx, bob)).Receipts[0]; r.Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r)
	}
	a := actor.AddressOf(bob, d.Salt, d.Source)
	w.give(a, balance)
	return a
}

// TestBidsForNoCycles: a firing whose agent bids no cycles for it has those that a firing
// takes, and none of what is put aside for the first use of its code.
func TestBidsForNoCycles(t *testing.T) {
	const greedy = `
from cowboy_sdk import actor, public, schedule_timer_ex

@actor
class Greedy:
    @public
    def go(self, msg):
        schedule_timer_ex(msg.payload[0], "spin", None, gba=msg.payload[1])

    def spin(self, msg):
        while True:
            pass
`
	const agent = `
from cowboy_sdk import public

@public
def getGasBid(msg):
    return {"cells_limit": 64, "cycles_limit": 0}
`
	const crowd = 12
	w := newWorkshop(t, nil)
	bidder, r := w.deploy(bob, agent, manifest.Manifest())
	if r.Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r)
	}
	source := greedy + "#" + strings.Repeat("x", 40_000)
	target := uint64(w.height) + 2*crowd + 2
	for n := range byte(crowd) { // of one code
		a := w.deployLong(t, source, n, 20*chain.WeiPerCBY)
		if r := w.ask(a, "go", cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), target), bidder[:])); r.Code != chain.CodeOK {
			t.Fatalf("go: %+v", r)
		}
	}
	for uint64(w.height) < target-1 {
		w.block()
	}
	block := w.block()
	if lane := fees.LaneTarget(&w.g.Params, chain.LaneTimer).Cycles; block.Used[chain.LaneTimer].Cycles > lane {
		t.Errorf("timers used %d cycles of the %d of their lane", block.Used[chain.LaneTimer].Cycles, lane)
	}
	least := 0
	for i := range block.Receipts {
		if block.Receipts[i].CyclesUsed == w.g.Params.API.FiringCycles {
			least++
		}
	}
	if len(block.Receipts) != crowd || least != crowd-1 {
		t.Errorf("%d firings, %d of them with the least; want %d, all but the first use of the code", len(block.Receipts), least, crowd)
	}
}

// TestFirstUseIsCountedWhole: a timer whose first use of a code is counted in its lane
// stands in for another of the same code as far as it goes. For another's code no more
// than actor_limits.load_cycles is put aside, for its own an actor has all of it.
func TestFirstUseIsCountedWhole(t *testing.T) {
	const self = `
from cowboy_sdk import actor, public, schedule_timer_ex

@actor
class Self:
    @public
    def go(self, msg):
        schedule_timer_ex(msg.payload, "tick", None, cycles_limit=20_000)

    @public
    def of(self, msg):
        for to in msg.payload[1]:
            schedule_timer_ex(msg.payload[0], "tick", None, target=to, cycles_limit=20_000)

    @public
    def tick(self, msg):
        pass
`
	const codes = 6
	w := newWorkshop(t, nil)
	target := uint64(w.height) + 3*codes + 4
	var list []byte
	var all []chain.Address
	for n := range byte(codes + 1) { // codes of a length of which others put less aside
		source := self + "#" + strings.Repeat("x", 60_000+int(n))
		a := w.deployLong(t, source, n, 80*chain.WeiPerCBY)
		all = append(all, a)
		if n > 0 {
			list = cbor.AppendBytes(list, a[:])
		}
	}
	// The first has a timer for each of the others, who have one each of their own.
	arg := append(cbor.AppendArray(cbor.AppendUint(cbor.AppendArray(nil, 2), target), codes), list...)
	if r := w.block(w.program(bob, &all[0], actor.AppendMessage(nil, "of", arg))).Receipts[0]; r.Code != chain.CodeOK {
		t.Fatalf("of: %+v", r)
	}
	for _, a := range all[1:] {
		if r := w.block(w.program(bob, &a, actor.AppendMessage(nil, "go", cbor.AppendUint(nil, target)))).Receipts[0]; r.Code != chain.CodeOK {
			t.Fatalf("go: %+v", r)
		}
	}
	for uint64(w.height) < target-1 {
		w.block()
	}
	lane, fired := fees.LaneTarget(&w.g.Params, chain.LaneTimer).Cycles, 0
	for range 4 { // each within its lane: withinCaps
		r := w.block()
		t.Logf("%d firings, %d cycles of %d", len(r.Receipts), r.Used[chain.LaneTimer].Cycles, lane)
		for i := range r.Receipts {
			if r.Receipts[i].Code == chain.CodeOK {
				fired++
			}
		}
	}
	if fired < codes {
		t.Errorf("%d of %d fired", fired, codes)
	}
}
