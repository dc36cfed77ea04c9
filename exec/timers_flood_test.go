package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// TestTimersOfAFloodedActor: a public actor whose bucket others drain in every block
// fires its own timers in their blocks, or as soon as its refill covers them; those that
// others set for it wait as their messages would, and hold up nobody.
func TestTimersOfAFloodedActor(t *testing.T) { // resolutions 7.4, 11.22; ADR 74
	const refill, burst = 400_000, 1_000_000
	for _, tt := range []struct {
		rule  string
		limit chain.Cycles
		by    string // handler that sets it, of the flooded actor or of a stranger
		waits uint64 // blocks after its own in which it fires; all: never
	}{
		{"within a block's refill", 300_000, "own", 0},
		{"all of a block's refill", refill, "own", 0},
		{"more than a refill", refill + 50_000, "own", 1},
		{"all that a bucket holds", burst, "own", 2},
		{"a stranger's", 300_000, "strange", all},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w := newWorkshop(t, nil)
			other, r := w.deploy(bob, clockwork, manifest.Manifest("econ.hold_balance", "storage.kv", "timer.schedule"))
			if r.Code != chain.CodeOK {
				t.Fatalf("deploy: %+v", r)
			}
			w.fund(other, 100*chain.WeiPerCBY)
			w.g.Params.Timer.DefaultCycles, w.g.Params.Timer.DefaultCells = tt.limit, 1_000
			setter, target := w.addr, w.height+5
			if tt.by == "strange" {
				setter = other
			}
			arg := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), uint64(target)), w.addr[:])
			if r := w.ask(setter, "prick", arg); r.Code != chain.CodeOK {
				t.Fatalf("set: %+v", r)
			}
			w.g.Params.Actor.BlockCycles, w.g.Params.Actor.BlockCyclesBurst = refill, burst
			for range uint64(target-w.height) + 12 {
				kept, fired := w.flooded()
				switch late := uint64(w.height - target); {
				case w.height < target:
					continue
				case fired == 0 && tt.waits != all && late >= tt.waits:
					t.Fatalf("not fired %d blocks late", late)
				case fired > 0 && late != tt.waits:
					t.Errorf("fired %d blocks late, want %d", late, tt.waits)
				case fired > 0:
					return
				case tt.waits == all && kept == 0:
					t.Fatal("a stranger's timer held up messages")
				}
			}
			if tt.waits != all {
				t.Error("never fired")
			}
		})
	}
}

const all = ^uint64(0)

// flooded makes a block full of messages that burn what their actor has left, and
// returns how many stand in it and how many timers fired. No message that the packer's
// figure has room for is refused.
func (w *workshop) flooded() (kept, fired int) {
	w.t.Helper()
	opening, err := exec.Begin(w.state, w.inputs(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	promised, err := opening.LeftOf(w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	sel := &order.Selection{}
	for i := range 12 {
		tx := w.message("burn", uintArg(1<<30)).Tx
		tx.Nonce += uint64(i)
		tx.CyclesLimit = 21_000 + 60_000
		sel.Txs = append(sel.Txs, verified(tx, alice))
	}
	s := w.build(sel)
	if want := int(promised / 62_000); len(s.Kept) < min(want, len(sel.Txs)) || promised < 60_000 && len(s.Kept) > 0 {
		w.t.Errorf("block %d: %d messages stand, the packer counts on %d", w.height+1, len(s.Kept), want)
	}
	r := w.block(s.Kept...)
	return len(s.Kept), len(r.Receipts) - len(s.Kept)
}

// TestBacklogHoldsNoBucket: of an actor whose due timers stand in line for their lane, only
// those that a block has room for hold cycles back, as whoever packs the block reads it.
func TestBacklogHoldsNoBucket(t *testing.T) { // ADR 74, 167
	const due, limit, room = 12, 150_000, 2
	w := newWorkshop(t, func(p *params.Params) { p.Timer.DefaultCycles = limit })
	target := uint64(w.height) + 3
	if r := w.call("hard", uints(target, due, 40_000)); r.Code != chain.CodeOK { // each uses most of it
		t.Fatalf("set: %+v", r)
	}
	w.g.Params.CyclesTarget = 5 * (room*limit + 100_000) // the lane has a fifth
	w.step()
	left := due
	for left > 0 {
		opening, err := exec.Begin(w.state, w.inputs(), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := opening.LeftOf(w.addr)
		if err != nil {
			t.Fatal(err)
		}
		most := w.g.Params.Actor.BlockCyclesBurst
		if held := most - got; held < limit || held > room*limit {
			t.Errorf("block %d, %d wait: %d of %d cycles are held", w.height+1, left, held, most)
		}
		message := w.message("burn", uintArg(1)).Tx
		message.CyclesLimit = 21_000 + got
		fired := len(w.step(verified(message, alice)).Receipts) - 1 // or the block is invalid
		if left -= fired; fired == 0 {
			t.Fatalf("block %d: none fired, %d wait", w.height, left)
		}
	}
}
