package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// free is for who reads the past and pays nothing.
func free(int) error { return nil }

// pastView is the state at one height, out of the history.
type pastView struct {
	s *Store
	h chain.Height
}

func (p pastView) Account(addr chain.Address) (state.Account, bool, error) {
	return p.s.AccountAt(context.Background(), p.h, addr, free)
}

func (p pastView) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	return p.s.StorageAt(context.Background(), p.h, addr, key, free)
}

func (p pastView) Scan(chain.Address, state.Span) ([]state.Entry, error) {
	return nil, errors.New("the history is asked for single places")
}

func (p pastView) Code(hash chain.Hash) ([]byte, error) { return p.s.Head().Code(hash) }

// TestHistory reads every place of a workload at heights that the history covers,
// the first one included, and just below it. The history is switched on at the
// genesis, later, off and on again, and once, to be remembered.
func TestHistory(t *testing.T) {
	ends := true
	f := func(name string, on func(height int) bool, first int) {
		t.Run(name, func(t *testing.T) {
			fs, rng := vfs.NewMem(), rand.New(rand.NewPCG(11, 11))
			open := func(height int) *Store {
				o := testOptions(fs)
				o.UndoBlocks = 0
				if o.History = on(height); !o.History {
					o.EndHistory = ends
				}
				s, err := Open("data", o)
				check(t, err)
				check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
				return s
			}
			s := open(0)
			var c chainOf
			c.start(t, s)
			for i := range 60 {
				if i%10 == 9 {
					check(t, s.Close())
					s = open(i + 1)
				}
				v, rec, err := c.prepare(rng, s.Head())
				check(t, err)
				check(t, s.Commit(v, rec))
			}
			for h, want := range c.flats {
				if h%4 != 0 && h != first && h != first-1 {
					continue
				}
				got, err := readFlat(pastView{s, chain.Height(h)})
				if h < first {
					if !errors.Is(err, ErrNoHistory) {
						t.Fatalf("height %d below the history: %v", h, err)
					}
					continue
				}
				check(t, err)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("height %d reads differently", h)
				}
			}
			if _, _, err := s.AccountAt(t.Context(), 61, testAddr(0), free); !errors.Is(err, ErrNoHistory) {
				t.Errorf("above the head: %v", err)
			}
			check(t, s.Close())
		})
	}
	f("from the genesis", func(int) bool { return true }, 0)
	f("from block 21", func(h int) bool { return h >= 20 }, 19)
	f("with a gap", func(h int) bool { return h < 20 || h >= 40 }, 39)
	ends = false
	f("remembered", func(h int) bool { return h == 20 }, 19)
	f("never", func(int) bool { return false }, 60)
}
