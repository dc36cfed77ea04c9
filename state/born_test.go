package state_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// kept counts a state from scratch, as [state.Overlay.Growth] counts writes.
func kept(m *statetest.Maps) (g state.Growth) {
	for _, a := range m.Accounts {
		if a.Own() {
			g.Accounts++
		}
	}
	for _, slots := range m.Storages {
		for key, value := range slots {
			g.Storage = g.Storage.Add(state.SizeOf(key, value))
		}
	}
	return g
}

// scribble makes n random writes and, where undo says so, takes some back.
func scribble(t *testing.T, rng *rand.Rand, o *state.Overlay, n int, undo bool) {
	t.Helper()
	for range n {
		addr := chain.Address{byte(rng.IntN(6)), 19: 9}
		key := state.StorageKey(fmt.Sprint("k", rng.IntN(5)))
		mark := o.Snapshot()
		var err error
		switch rng.IntN(9) {
		case 0:
			a := state.NewAccount()
			a.Nonce = uint64(rng.IntN(2))
			o.SetAccount(addr, a)
		case 1:
			_, err = o.AddBalance(addr, chain.Wei(rng.IntN(3)))
		case 2:
			o.SetStorage(addr, key, nil)
		case 3:
			_, err = o.Storage(addr, key)
		case 4:
			_, err = o.StorageSize(addr)
		case 5:
			if rng.IntN(4) == 0 {
				err = o.ClearStorage(addr)
			}
		default:
			o.SetStorage(addr, key, make([]byte, rng.IntN(40)))
		}
		if err != nil {
			t.Fatal(err)
		}
		if undo && rng.IntN(4) == 0 {
			o.Revert(mark)
		}
	}
}

// TestGrowth: what writes add to a state is the difference of two counts from
// scratch, whatever was read, written, undone or taken over from other overlays; and
// what grew since a mark is what grew between two such states.
func TestGrowth(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 14))
		base := statetest.NewMaps(nil)
		first := state.NewOverlay(base)
		scribble(t, rng, first, 20, true)
		base.Write(first.Delta())

		o := state.NewOverlay(base)
		scribble(t, rng, o, 15, true)
		if rng.IntN(2) == 0 { // as parallel execution does it
			over := state.NewOverlay
			if rng.IntN(2) == 0 {
				over = state.NewDeltaOverlay
			}
			above := over(o)
			scribble(t, rng, above, 10, true)
			if err := above.EachGrown(0, func(state.Grown) {}); err != nil { // as for its price
				t.Fatal(err)
			}
			if err := o.Absorb(above); err != nil {
				t.Fatal(err)
			}
		}
		middle := base.With(o.Delta())
		mark := o.Snapshot()
		scribble(t, rng, o, 10+rng.IntN(60), true)
		grown := map[string]uint64{}
		if err := o.EachGrown(mark, func(g state.Grown) {
			place := fmt.Sprintf("%x/%s", g.Address, g.Key)
			if _, twice := grown[place]; twice {
				t.Errorf("seed %d: %s is told twice", seed, place)
			}
			grown[place] = 1
			if g.Key != "" {
				grown[place] = state.SizeOf(g.Key, g.Value).Bytes - g.Before.Bytes
			}
		}); err != nil {
			t.Fatal(err)
		}
		after := base.With(o.Delta())
		checkGrown(t, seed, middle, after, grown)
		g, err := o.Growth()
		if err != nil {
			t.Fatal(err)
		}
		before, now := kept(base), kept(after)
		if g.Accounts != now.Accounts-before.Accounts || g.Storage != now.Storage.Sub(before.Storage) {
			t.Errorf("seed %d: grown by %+v, counted %+v before and %+v after", seed, g, before, now)
		}
	}
}

// checkGrown compares two states place by place. A storage that was cleared may be
// told as grown where it was filled again with as much.
func checkGrown(t *testing.T, seed uint64, before, after *statetest.Maps, grown map[string]uint64) {
	t.Helper()
	for addr, slots := range after.Storages {
		for key, value := range slots {
			size, was := state.SizeOf(key, value).Bytes, uint64(0)
			if old, ok := before.Storages[addr][key]; ok {
				was = state.SizeOf(key, old).Bytes
			}
			place := fmt.Sprintf("%x/%s", addr, key)
			if size > was && grown[place] < size-was {
				t.Errorf("seed %d: %s grew by %d, told %d", seed, place, size-was, grown[place])
			}
		}
	}
	for addr, a := range after.Accounts {
		was := before.Accounts[addr]
		if place := fmt.Sprintf("%x/", addr); a.Own() != was.Own() && a.Own() && grown[place] != 1 {
			t.Errorf("seed %d: account %s is new and not told", seed, place)
		}
	}
}

// TestOverwritten holds what is told of rewritten slots to two states and the list of slots
// that were written between them.
func TestOverwritten(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 15))
		base := statetest.NewMaps(nil)
		first := state.NewOverlay(base)
		scribble(t, rng, first, 20, true)
		base.Write(first.Delta())

		o := state.NewOverlay(base)
		scribble(t, rng, o, rng.IntN(15), true)
		middle := base.With(o.Delta())
		mark, addr := o.Snapshot(), chain.Address{byte(rng.IntN(6)), 19: 9}
		var written []state.StorageKey
		for range rng.IntN(12) {
			before, undone := o.Snapshot(), len(written)
			for range 1 + rng.IntN(3) {
				key := state.StorageKey(fmt.Sprint("k", rng.IntN(5)))
				if rng.IntN(3) == 0 {
					o.SetStorage(addr, key, nil)
				} else {
					o.SetStorage(addr, key, make([]byte, rng.IntN(40)))
				}
				o.SetStorage(chain.Address{7}, key, []byte("another's"))
				written = append(written, key)
			}
			if rng.IntN(4) == 0 {
				o.Revert(before)
				written = written[:undone]
			}
		}
		got, err := o.Overwritten(mark, addr)
		if err != nil {
			t.Fatal(err)
		}
		after, want := base.With(o.Delta()), uint64(0)
		slices.Sort(written)
		for _, key := range slices.Compact(written) {
			if old, ok := middle.Storages[addr][key]; ok {
				want += uint64(len(key) + min(len(old), len(after.Storages[addr][key])))
			}
		}
		if got != want {
			t.Errorf("seed %d: %d bytes written again, want %d", seed, got, want)
		}
	}
}
