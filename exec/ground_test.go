package exec_test

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// ground is a state with real roots, for a chain of blocks.
type ground struct {
	forest *tree.Forest
	image  *tree.Image
	codes  map[chain.Hash][]byte
	known  map[chain.Address]bool
	slots  slots // the same storages in the order of their keys; nil where nothing scans
}

func (g *ground) Account(addr chain.Address) (state.Account, bool, error) {
	a, ok := g.forest.Account(g.image, tree.AccountKey(addr))
	return a, ok, nil
}

func (g *ground) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	value, _ := g.forest.Storage(g.image, tree.AccountKey(addr), tree.SlotKey(key))
	return value, nil
}

func (g *ground) Scan(addr chain.Address, span state.Span) ([]state.Entry, error) {
	if g.slots == nil {
		return nil, errors.New("a forest knows no order of keys")
	}
	return g.slots.scan(addr, span), nil
}

func (g *ground) Code(hash chain.Hash) ([]byte, error) {
	if c, ok := g.codes[hash]; ok || hash == state.EmptyCodeHash {
		return c, nil
	}
	return nil, errors.New("no such code")
}

// take writes a block's delta.
func (g *ground) take(t *testing.T, d *state.Delta) {
	t.Helper()
	for _, c := range d.Codes() {
		g.codes[c.Hash] = c.Code
	}
	for _, c := range d.Accounts() {
		g.known[c.Address] = true
	}
	next, err := g.forest.Apply(g.image, d)
	if err != nil {
		t.Fatal(err)
	}
	if g.image != nil {
		g.forest.Retire(g.image)
	}
	g.image = next
}

// money is the sum of all balances.
func (g *ground) money() (sum chain.Wei) {
	for addr := range g.known {
		a, _, _ := g.Account(addr)
		sum += a.Balance
	}
	return sum
}
