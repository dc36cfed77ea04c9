package statetest

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Rooted is a state with real roots. Accounts and storages are read from the forest;
// the maps hold the same, for scans and for tests to walk.
type Rooted struct {
	*Maps
	Forest *tree.Forest
	Image  *tree.Image
}

// NewRooted returns an empty state.
func NewRooted() *Rooted {
	f := tree.NewForest(2, nil)
	return &Rooted{Maps: NewMaps(nil), Forest: f, Image: f.EmptyImage()}
}

// Account implements state.View.
func (r *Rooted) Account(addr chain.Address) (state.Account, bool, error) {
	a, ok := r.Forest.Account(r.Image, tree.AccountKey(addr))
	return a, ok, nil
}

// Storage implements state.View.
func (r *Rooted) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	value, _ := r.Forest.Storage(r.Image, tree.AccountKey(addr), tree.SlotKey(key))
	return value, nil
}

// Write makes the writes of d part of r.
func (r *Rooted) Write(d *state.Delta) error {
	next, err := r.Forest.Apply(r.Image, d)
	if err != nil {
		return fmt.Errorf("apply to the forest: %w", err)
	}
	r.Forest.Retire(r.Image)
	r.Image = next
	r.Maps.Write(d)
	for _, c := range d.Accounts() {
		if a, ok, _ := r.Account(c.Address); ok {
			r.Accounts[c.Address] = a
		} else {
			delete(r.Accounts, c.Address)
		}
	}
	return nil
}
