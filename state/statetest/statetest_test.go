package statetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

var _ = []state.View{&Maps{}, &Rooted{}, Broken{}, Unread{}, state.Empty{}}

// TestTwinsAgree: random blocks leave the same accounts, storages and walks in the
// maps as in the forest, but for the roots, and what With returns is what Write does.
func TestTwinsAgree(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		maps, rooted := NewMaps(nil), NewRooted()
		for range 30 {
			d := randomDelta(rng, maps)
			next := maps.With(d)
			maps.Write(d)
			if err := rooted.Write(d); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(next, maps) {
				t.Fatalf("seed %d: With and Write differ", seed)
			}
			compare(t, seed, maps, rooted)
		}
		again := NewRooted()
		if err := again.Write(rooted.Delta()); err != nil || again.Image.Root != rooted.Image.Root {
			t.Fatalf("seed %d: written anew: root %s, %v, want %s", seed, again.Image.Root, err, rooted.Image.Root)
		}
	}
}

func randomDelta(rng *rand.Rand, over state.View) *state.Delta {
	o := state.NewOverlay(over)
	for range 8 {
		addr := chain.Address{byte(rng.IntN(4))}
		switch rng.IntN(6) {
		case 0:
			o.DeleteAccount(addr)
		case 1, 2:
			a := state.NewAccount()
			a.Balance = chain.Wei(rng.IntN(3))
			o.SetAccount(addr, a)
		case 3:
			o.SetStorage(addr, keyOf(rng.IntN(4)), nil)
		default:
			o.SetStorage(addr, keyOf(rng.IntN(4)), make([]byte, rng.IntN(3)))
		}
	}
	return o.Delta()
}

func keyOf(n int) state.StorageKey { return state.NewStorageKey(state.VMNamespacePVM, []byte{byte(n)}) }

func compare(t *testing.T, seed uint64, maps *Maps, rooted *Rooted) {
	t.Helper()
	var money chain.Wei
	for n := range 4 {
		addr := chain.Address{byte(n)}
		got, ok, _ := maps.Account(addr)
		want, there, _ := rooted.Account(addr)
		if (got.StorageRoot == state.EmptyRoot) != (want.StorageRoot == state.EmptyRoot) {
			t.Errorf("seed %d: root %s, want %s", seed, got.StorageRoot, want.StorageRoot)
		}
		got.StorageRoot = want.StorageRoot
		if ok != there || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("seed %d: account %+v, %v, want %+v, %v", seed, got, ok, want, there)
		}
		money += want.Balance
		for k := range 4 {
			got, _ := maps.Storage(addr, keyOf(k))
			want, _ := rooted.Storage(addr, keyOf(k))
			if string(got) != string(want) || (got == nil) != (want == nil) {
				t.Errorf("seed %d: slot %d has %x, want %x", seed, k, got, want)
			}
		}
		span := state.Span{From: keyOf(1), Entries: 2, Bytes: 100}
		list, _ := maps.Scan(addr, span)
		if twin, _ := rooted.Scan(addr, span); !reflect.DeepEqual(list, twin) || len(list) > 2 {
			t.Errorf("seed %d: scan %v, %v", seed, list, twin)
		}
	}
	if maps.Money() != money || rooted.Money() != money {
		t.Errorf("seed %d: balances add up to %d and %d, want %d", seed, maps.Money(), rooted.Money(), money)
	}
}

func TestFaults(t *testing.T) {
	b := Broken{View: state.Empty{}, At: chain.Address{1}}
	if _, _, err := b.Account(chain.Address{1}); !errors.Is(err, ErrDisk) {
		t.Errorf("the broken account: %v", err)
	}
	if _, _, err := b.Account(chain.Address{2}); err != nil {
		t.Errorf("another account: %v", err)
	}
	if _, err := NewMaps(nil).Code(chain.Hash{1}); err == nil {
		t.Error("code that nobody wrote is there")
	}
}
