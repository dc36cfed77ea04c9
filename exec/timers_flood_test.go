package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitle"
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
			other, r := w.deploy(bob, clockwork, entitle.Manifest("econ.hold_balance", "storage.kv", "timer.schedule"))
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
	held, err := exec.TimerHolds(w.state, &w.g.Params, w.height+1)
	if err != nil {
		w.t.Fatal(err)
	}
	l, err := actor.ReadLedger(w.state, w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	left := l.Left(&w.g.Params.Actor, w.height+1)
	promised := left - min(left, held[w.addr])
	sel := &exec.Selection{}
	for i := range 12 {
		tx := w.message("burn", uintArg(1<<30)).Tx
		tx.Nonce += uint64(i)
		tx.CyclesLimit = 21_000 + 60_000
		sel.Txs = append(sel.Txs, verified(tx, alice))
	}
	s := w.sift(sel)
	if want := int(promised / 62_000); len(s.Kept) < min(want, len(sel.Txs)) {
		w.t.Errorf("block %d: %d messages stand, the packer counts on %d", w.height+1, len(s.Kept), want)
	}
	r := w.block(s.Kept...)
	return len(s.Kept), len(r.Receipts) - len(s.Kept)
}
