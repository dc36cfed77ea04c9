package timers

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// reads counts the bytes that are read of a view's storage.
type reads struct {
	state.View
	bytes int
}

func (r *reads) Storage(addr chain.Address, k state.StorageKey) ([]byte, error) {
	b, err := r.View.Storage(addr, k)
	r.bytes += len(b)
	return b, err
}

// TestLongDataLieApart: on its way through the tiers, and while it is chosen, a timer costs
// the same whatever its data; they are read when it fires, and go with it.
func TestLongDataLieApart(t *testing.T) { // ADR 153
	const crowd = 40
	moved := map[int]int{}
	for _, size := range []int{1, InlineBytes, InlineBytes + 1, 60_000} {
		p := testParams(t, func(p *params.Timer) { p.RingBlocks, p.QueueEpochs = 8, 2 })
		at := func(h chain.Height) Clock {
			return Clock{Params: p, Height: h, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
		}
		base := state.NewOverlay(state.Empty{})
		data := bytes.Repeat([]byte{0x40}, size)
		for n := range byte(crowd) {
			s := spec(n, 90) // in the overflow tree
			s.Data = data
			if n == 0 {
				s.Every = 100
			}
			if _, bill, err := Set(base, at(10), s); err != nil || bill.Read != uint64(size) {
				t.Fatal(bill, err)
			}
		}
		var head Head
		for h := chain.Height(11); h <= 90; h++ {
			below := &reads{View: base}
			block := state.NewOverlay(below)
			var err error
			if head, err = Advance(block, at(h)); err != nil {
				t.Fatal(err)
			}
			moved[size] = max(moved[size], below.bytes+block.Delta().Bytes())
			if err := base.Absorb(block); err != nil {
				t.Fatal(err)
			}
		}
		ids, err := Ready(base, head, crowd)
		if err != nil || len(ids) != crowd {
			t.Fatalf("%d are due, %v", len(ids), err)
		}
		for i, id := range ids {
			if i%2 > 0 {
				if n, _, err := DropAll(base, at(90), mustLoad(t, base, id).Actor, 1); n != 1 || err != nil {
					t.Fatal(n, err)
				}
				continue
			}
			got, err := fireOff(base, at(90), id)
			if err != nil || !bytes.Equal(got.Data, data) {
				t.Fatalf("data of %d bytes come back as %d, %v", size, len(got.Data), err)
			}
			if got.Every > 0 {
				if _, _, err := rearm(base, at(90), id); err != nil {
					t.Fatal(err)
				}
				if bill, err := Cancel(base, at(90), Party{got.Actor, got.Actor}, id); err != nil || bill.Read != uint64(size) {
					t.Fatal(bill, err)
				}
			}
		}
		if change, _ := base.Delta().Change(chain.AddrTimersFar); rowsLeft(change) > 0 {
			t.Errorf("%d bytes: %d rows are left of timers that are gone", size, rowsLeft(change))
		}
	}
	t.Logf("a block reads and writes at the most %v bytes, by the bytes of the data", moved)
	if short, long := moved[1], moved[60_000]; long > short*11/10 {
		t.Error("long data move with their timers")
	}
	if moved[InlineBytes] < moved[1]+crowd*InlineBytes {
		t.Errorf("short data are not in their records: %v", moved)
	}
}

func mustLoad(t *testing.T, v state.View, id ID) *Timer {
	t.Helper()
	one, err := Load(v, id)
	if err != nil || one == nil {
		t.Fatal(id, err)
	}
	return one
}

// rowsLeft counts what an account has that began empty.
func rowsLeft(c state.AccountChange) (n int) {
	for i := range c.Storage {
		if c.Storage[i].Value != nil {
			n++
		}
	}
	return n
}
