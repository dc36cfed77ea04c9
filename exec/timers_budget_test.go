package exec_test

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// TestTimersOfALargerLane has governance make the lane, or what an actor may use, so
// small that the limits of a timer which is set fit it no more: it fires with less.
func TestTimersOfALargerLane(t *testing.T) { // resolution 7.4: never dropped
	for name, shrink := range map[string]func(*params.Params){
		"lane":  func(p *params.Params) { p.CyclesTarget = 900_000 },
		"cells": func(p *params.Params) { p.CellsTarget = 20_000 },
		"actor": func(p *params.Params) { p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 100_000, 100_000 },
	} {
		w := newWorkshop(t, nil)
		w.call("at", uintArg(uint64(w.height)+2))
		shrink(&w.g.Params)
		most := timers.MostLimits(&w.g.Params)
		if set := w.g.Params.Timer; set.DefaultCycles <= most.Cycles && set.DefaultCells <= most.Cells {
			t.Fatalf("%s: limits of up to %+v fit", name, most)
		}
		if r := w.step(); len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK {
			t.Errorf("%s: %+v", name, r.Receipts)
		}
	}
}

func TestTimerBudget(t *testing.T) { // resolution 11.14, whitepaper "Per-Block Execution Budget"
	w := newWorkshop(t, func(p *params.Params) { p.Timer.DefaultCycles, p.Timer.DefaultCells = 490_000, 5_000 })
	target := uint64(w.height) + 3
	for range 2 {
		arg := cbor.AppendUint(cbor.AppendUint(cbor.AppendArray(nil, 2), target), 3)
		if r := w.call("many", arg); r.Code != chain.CodeOK {
			t.Fatalf("many: %+v", r)
		}
	}
	// Six limits of 490,000 for a lane of 2,000,000, and the first use of their code
	// once: four of them fit, and what these do not use is the others'.
	r := w.step()
	if len(r.Receipts) != 6 {
		t.Errorf("%d timers fired in the first block, want 6", len(r.Receipts))
	}
	if used := r.Used[chain.LaneTimer].Cycles; used > 2_000_000 {
		t.Errorf("timers used %d cycles of their lane", used)
	}
}

// TestTimersShareTheLane: each starts only where its limits of both meters fit, one that
// does not stays for the next block, and what is not used is for those behind.
func TestTimersShareTheLane(t *testing.T) { // resolution 11.14; ADR 86
	for _, tt := range []struct {
		rule   string
		limits chain.Usage // the lane has 2,000,000 cycles and 100,000 cells
		loops  uint64      // that each goes through, at three cycles or so
		fired  []int       // of five
	}{
		{"cycles that fill it, besides the first use of their code", chain.Usage{Cycles: 970_000, Cells: 1_000}, 280_000, []int{2, 2, 1}},
		{"a third of the cycles", chain.Usage{Cycles: 650_000, Cells: 1_000}, 190_000, []int{3, 2}},
		{"limits of half of it, of which nothing is used", chain.Usage{Cycles: 970_000, Cells: 1_000}, 0, []int{5}},
		{"cells of half of it, of which nothing is used", chain.Usage{Cycles: 100_000, Cells: 50_000}, 0, []int{5}},
		{"limits of which two do not fit with their code: the rest is held for those that wait", chain.Usage{Cycles: 1_300_000, Cells: 1_000}, 120_000, []int{3, 2}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w := newWorkshop(t, func(p *params.Params) {
				p.Timer.DefaultCycles, p.Timer.DefaultCells = tt.limits.Cycles, tt.limits.Cells
				p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 4_000_000, 4_000_000
			})
			w.call("hard", uints(uint64(w.height)+2, 5, tt.loops))
			for i, want := range tt.fired {
				r := w.step()
				if len(r.Receipts) != want {
					t.Errorf("%d fired in block %d, want %d; used %+v", len(r.Receipts), i+1, want, r.Used[chain.LaneTimer])
				}
				for _, rec := range r.Receipts {
					if rec.Code != chain.CodeOK {
						t.Errorf("fired: %+v", rec)
					}
				}
			}
		})
	}
}

// TestTimerOfABusyActor: whose receiver has used up its cycles in the block before waits
// for the next that has them; in its own block its limits are its own.
func TestTimerOfABusyActor(t *testing.T) { // resolutions 7.4, 11.22; ADR 74
	for _, before := range []bool{true, false} {
		w := newWorkshop(t, func(p *params.Params) { p.Timer.DefaultCycles = 300_000 })
		target := w.height + 4
		w.call("at", uintArg(uint64(target)))
		w.g.Params.Actor.BlockCycles, w.g.Params.Actor.BlockCyclesBurst = 100_000, 420_000
		for w.height < target-2 {
			w.step()
		}
		burn := w.message("burn", uintArg(90_000)).Tx
		burn.CyclesLimit = 400_000
		if !before {
			w.step()
			s := w.build(&order.Selection{Txs: []*chain.VerifiedTx{verified(burn, alice)}})
			if len(s.Kept) != 0 || !errors.Is(s.Skipped[0], exec.ErrActorBusy) || len(s.Receipts) != 1 || s.Receipts[0].Code != chain.CodeOK {
				t.Errorf("the message stands %v, receipts %+v", s.Kept, s.Receipts)
			}
			continue
		}
		if got := w.step(verified(burn, alice)).Receipts[0]; got.Code != chain.CodeOK || got.CyclesUsed < 260_000 {
			t.Fatalf("burn: %+v", got)
		}
		if r := w.step(); len(r.Receipts) != 0 || w.height != target {
			t.Errorf("fired in block %d with its actor's cycles used up", w.height)
		}
		if r := w.step(); len(r.Receipts) != 1 || r.Receipts[0].Code != chain.CodeOK {
			t.Errorf("%+v in block %d", r.Receipts, w.height)
		}
	}
}

func TestTimerReserve(t *testing.T) { // resolution 11.14
	w := newWorkshop(t, nil)
	w.call("at", uintArg(uint64(w.height)+2))
	reserved := func() chain.Cycles {
		opening, err := exec.Begin(w.state, w.inputs(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return opening.Reserved().Cycles
	}
	if got, least := reserved(), w.g.Params.Timer.DefaultCycles; got < least || got > least+w.g.Params.Actor.LoadCycles {
		t.Errorf("reserve before the timer's block: %d cycles, want %d and those of loading its code", got, least)
	}
	w.step()
	if got := reserved(); got != 0 {
		t.Errorf("reserve without timers: %d cycles", got)
	}
}

// TestCandidatesAreLookedAtTwice: a block goes through as many due timers as it has
// candidates when it begins, and through as many again for what these have left of the
// lane. [params.Params.FinalBytesMax] counts on no more.
func TestCandidatesAreLookedAtTwice(t *testing.T) { // ADR 86
	const candidates = 3
	w := newWorkshop(t, func(p *params.Params) { p.Timer.CandidatesPerBlock = candidates })
	before := w.g.Params
	before.Timer.CandidatesPerBlock = 0
	w.call("many", uints(uint64(w.height)+2, 3*candidates))
	if fired := uint64(len(w.step().Receipts)); fired != 2*candidates {
		t.Errorf("%d timers fired in a block with %d candidates", fired, candidates)
	}
	const receipt = 100 // bytes, at the least
	if more := w.g.Params.FinalBytesMax() - before.FinalBytesMax(); more < 2*candidates*(receipt+params.AnnouncedEventBytes) {
		t.Errorf("the bound of a stored block counts %d bytes for %d candidates", more, candidates)
	}
}

// TestAFullTimerLaneGetsDearer: whoever keeps timers of others out pays more for it in each
// block, whatever limits and use fill the lane, though it uses no more than its share.
func TestAFullTimerLaneGetsDearer(t *testing.T) { // ADR 241
	const due = 9
	for _, tt := range []struct {
		rule   string
		limits chain.Cycles
		loops  uint64 // at three cycles or so
	}{
		{"limits of a third, all of which is used", 650_000, 206_000},
		{"limits of half, half of which is used", 990_000, 168_000},
		{"limits above a third, half of which is used", 700_000, 117_000},
		{"limits above a third, a quarter of which is used", 700_000, 59_000},
		{"the largest limits, a quarter of which is used", 1_000_000, 84_000},
		{"the largest limits, nothing of which is used", 1_000_000, 0},
	} {
		w := newWorkshop(t, func(p *params.Params) {
			p.Timer.DefaultCycles, p.Timer.DefaultCells = tt.limits, 1_000
			p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 4_000_000, 4_000_000
		})
		w.call("hard", uints(uint64(w.height)+2, due, tt.loops))
		h := &chain.Header{}
		h.BaseFees[chain.LaneTimer] = chain.FeePair{PerCycle: 1000, PerCell: 1000}
		for left := due; left > 0; {
			r := w.step()
			used := r.Used[chain.LaneTimer]
			if share := fees.LaneTarget(&w.g.Params, chain.LaneTimer); used.Cycles > share.Cycles || len(r.Receipts) == 0 {
				t.Fatalf("%s: %d timers used %+v of %+v", tt.rule, len(r.Receipts), used, share)
			}
			if left -= len(r.Receipts); left == 0 {
				break
			}
			h.Used = r.Used
			next := fees.NextBaseFees(&w.g.Params, h)
			before, after := h.BaseFees[chain.LaneTimer], next[chain.LaneTimer]
			if after.PerCycle < before.PerCycle*104/100 || after.PerCell < before.PerCell*104/100 {
				t.Errorf("%s: %d timers wait, and the fees go from %+v to %+v with %+v used", tt.rule, left, before, after, used)
			}
			h.BaseFees = next
		}
	}
}

// TestNoRoomMeansAboveTheRest: no firing may be counted with more than what is left where the
// lane is used to its rest, in either meter, so a lane that refuses one gets dearer.
func TestNoRoomMeansAboveTheRest(t *testing.T) { // ADR 241
	for _, target := range []chain.Cycles{10_000_000, 900_007, 50_000_000} {
		p := params.Default()
		p.CyclesTarget = target
		p.Actor.BlockCyclesBurst = target
		lane, most, limits := fees.LaneTarget(&p, chain.LaneTimer), fees.TimerMost(&p), timers.MostLimits(&p)
		if limits.Cycles >= most.Cycles || limits.Cells >= most.Cells {
			t.Fatalf("limits of %+v and a most of %+v leave no room for code", limits, most)
		}
		h := &chain.Header{}
		h.BaseFees[chain.LaneTimer] = chain.FeePair{PerCycle: 1 << 20, PerCell: 1 << 20}
		for _, used := range []chain.Usage{{Cycles: lane.Cycles - most.Cycles + 1}, {Cells: lane.Cells - most.Cells + 1}} {
			h.Used[chain.LaneTimer] = used
			if got := fees.NextBaseFees(&p, h)[chain.LaneTimer]; got.PerCycle < 1<<20 || got.PerCell < 1<<20 || got == h.BaseFees[chain.LaneTimer] {
				t.Errorf("%+v of %+v used: %+v", used, lane, got)
			}
		}
	}
}

// TestWhoCannotPayHoldsNobodyUp: of timers that found no room at first, one that turns out not to
// be paid for when there is room is put off like any other, and does not keep its place among the
// candidates.
func TestWhoCannotPayHoldsNobodyUp(t *testing.T) { // ADR 86, 241
	w := newWorkshop(t, func(p *params.Params) {
		p.Timer.DefaultCycles, p.Timer.DefaultCells = 900_000, 1_000
		p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 8_000_000, 8_000_000
	})
	rich, r := w.deploy(bob, clockwork, manifest.Manifest("econ.hold_balance", "storage.kv", "timer.schedule"))
	if r.Code != chain.CodeOK {
		t.Fatalf("deploy: %+v", r)
	}
	w.give(rich, 200*chain.WeiPerCBY)
	poor := w.addr
	due := uint64(w.height) + 16
	for _, who := range []chain.Address{poor, rich, poor, poor, poor, poor, rich, poor, poor, poor, poor, poor} {
		w.addr = who
		if r := w.block(w.message("at", uintArg(due))).Receipts[0]; r.Code != chain.CodeOK {
			t.Fatalf("at: %+v", r)
		}
	}
	w.addr = poor
	for uint64(w.height) < due-1 {
		w.block()
	}
	w.drain(0)
	w.base = chain.FeePair{PerCycle: 100, PerCell: 100} // beyond twice what the escrows were for
	fired := len(w.block().Receipts)
	if fired != 2 || w.head().Ready != 0 {
		t.Errorf("%d fired, %d keep their places", fired, w.head().Ready)
	}
}

// TestAMovedTimerIsNotPutOff: a timer that another one moves in the second look of a block comes
// due where it was moved to, also where its receiver has no cycles left by then.
func TestAMovedTimerIsNotPutOff(t *testing.T) { // ADR 241
	for later := range uint64(6) { // another order of the timers in each
		movedInItsBlock(t, 20+later)
	}
}

func movedInItsBlock(t *testing.T, later uint64) {
	t.Helper()
	w := newWorkshop(t, func(p *params.Params) {
		p.Timer.DefaultCycles, p.Timer.DefaultCells = 900_000, 1_000
		p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 1_200_000, 1_200_000
	})
	var others [2]chain.Address // who fill the first look, with little use
	for i, by := range []chain.Address{alice, bob} {
		var r chain.Receipt
		if others[i], r = w.deploy(by, clockwork+"# another\n", manifest.Manifest("econ.hold_balance", "storage.kv", "timer.schedule")); r.Code != chain.CodeOK {
			t.Fatalf("deploy: %+v", r)
		}
		w.give(others[i], 200*chain.WeiPerCBY)
	}
	mine, due := w.addr, uint64(w.height)+later
	call := func(who chain.Address, handler string) []byte {
		t.Helper()
		w.addr = who
		r := w.block(w.message(handler, uintArg(due))).Receipts[0]
		if r.Code != chain.CodeOK {
			t.Fatalf("%s: %+v", handler, r)
		}
		return textOf(t, r.Output)
	}
	ids := [2][]byte{call(mine, "shove"), call(mine, "shove")}
	for range 4 {
		call(others[0], "at")
		call(others[1], "at")
	}
	w.addr = mine
	for uint64(w.height) < due {
		w.block()
	}
	moved := 0
	for range 20 {
		moved = 0
		for _, id := range ids {
			if timer := w.only(id); timer != nil {
				moved++
				if timer.Due() || timer.Height != chain.Height(due)+100 {
					t.Fatalf("block %d: moved to %d, it is due %v, at %d", w.height, due+100, timer.Due(), timer.Height)
				}
			}
		}
		w.block()
	}
	if moved != 1 {
		t.Fatalf("%d timers are there still, want the one that was moved", moved)
	}
}
