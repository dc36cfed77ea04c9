package state

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestDeltaOverlay does the same to a plain overlay and, in pieces, to delta
// overlays that are taken over one after the other: what the pieces show and what
// is left are the same, unless a peak has no room.
func TestDeltaOverlay(t *testing.T) {
	refused := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 7))
		parent := newNaive()
		for i := range byte(3) {
			a := NewAccount()
			a.Balance = chain.Wei(rng.Uint64N(3)) * (math.MaxUint64 / 3)
			parent.set(chain.Address{i}, a)
		}
		plain, settled := NewOverlay(parent), NewOverlay(parent)
		piece := NewDeltaOverlay(settled)
		for range 6 {
			ops := rng.Uint64()
			piece.Reset()
			for _, o := range []*Overlay{plain, piece} {
				randomMoney(t, o, rand.New(rand.NewPCG(ops, 1)))
			}
			if !room(t, settled, piece) {
				refused++
				break
			}
			check(t, piece.Each(settled.Take))
			if got, want := text(settled), text(plain); got != want {
				t.Fatalf("seed %d: settled\n%s\nwant\n%s", seed, got, want)
			}
		}
		whole := NewOverlay(parent)
		check(t, whole.Absorb(settled))
		if got, want := text(whole), text(settled); got != want {
			t.Fatalf("seed %d: absorbed\n%s\nwant\n%s", seed, got, want)
		}
	}
	if refused == 0 {
		t.Error("no peak was refused")
	}
}

// text writes out the writes of an overlay.
func text(o *Overlay) (s string) {
	for _, c := range o.Delta().Accounts() {
		s += fmt.Sprintf("%s %v %v %q\n", c.Address, c.Cleared, c.Account, c.Storage)
	}
	return s
}

func room(t *testing.T, settled, piece *Overlay) bool {
	t.Helper()
	for _, p := range piece.Peaks() {
		a, _, err := settled.Account(p.Address)
		check(t, err)
		if _, fits := sum(a.Balance, p.Amount); !fits {
			return false
		}
	}
	return true
}

// randomMoney does a few things of a transaction to an overlay.
func randomMoney(t *testing.T, o *Overlay, rng *rand.Rand) {
	t.Helper()
	var marks []int
	for range 12 {
		addr := chain.Address{byte(rng.IntN(4))}
		switch rng.IntN(8) {
		case 0:
			marks = append(marks, o.Snapshot())
		case 1:
			if n := len(marks); n > 0 {
				o.Revert(marks[n-1])
				marks = marks[:n-1]
			}
		case 2:
			a, _, err := o.Account(addr)
			if err != nil {
				return // credits on trust that do not fit: room says so
			}
			a.Balance /= 2
			a.Nonce++
			o.SetAccount(addr, a)
		case 3:
			o.SetStorage(addr, NewStorageKey(VMNamespacePVM, []byte{byte(rng.IntN(3))}), []byte{byte(rng.IntN(9))})
		case 4:
			if err := o.ClearStorage(addr); err != nil {
				return
			}
		default:
			amount := chain.Wei(rng.Uint64N(4))
			if rng.IntN(12) == 0 {
				amount *= math.MaxUint64 / 4
			}
			if _, err := o.AddBalance(addr, amount); err != nil {
				return
			}
		}
	}
}

func TestTraits(t *testing.T) {
	parent := newNaive()
	a := NewAccount()
	a.CodeHash, a.Meta, a.Balance, a.Nonce = chain.Hash{1}, []byte{1, 2}, 5, 6
	parent.set(chain.Address{1}, a)
	o := NewOverlay(NewOverlay(parent))
	want := NewAccount()
	want.CodeHash, want.Meta = chain.Hash{1}, []byte{1, 2}
	got, err := o.CodeAndMeta(chain.Address{1})
	check(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("of the parent: %+v, want %+v", got, want)
	}
	a.CodeHash = chain.Hash{2}
	o.SetAccount(chain.Address{1}, a)
	if got, _ := o.CodeAndMeta(chain.Address{1}); got.CodeHash != a.CodeHash {
		t.Errorf("written code: %s", got.CodeHash)
	}
	o.DeleteAccount(chain.Address{1})
	if got, _ := o.CodeAndMeta(chain.Address{1}); got.HasCode() {
		t.Errorf("deleted: %+v", got)
	}
}
