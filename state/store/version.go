package store

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Version is the state after one block. What it says never changes; it is safe
// for concurrent use.
type Version struct {
	store  *Store
	height chain.Height
	root   chain.Hash
	place  atomic.Pointer[place] // replaced once, when the version is committed
}

// place says where the values of a version are: in memory on top of a parent
// (pending), or in the database (committed). Exactly one of diff and kept is
// set.
type place struct {
	diff   *diff
	parent *Version
	kept   *kept
}

// diff is what a block changes, as database rows. It is not changed once made.
type diff struct {
	// cleared holds accounts, by key, whose storage and storage nodes before the
	// block are gone.
	cleared map[chain.Hash]bool
	rows    map[string][]byte // nil: the row is removed
}

func newVersion(s *Store, h chain.Height, root chain.Hash, p *place) *Version {
	v := &Version{store: s, height: h, root: root}
	v.place.Store(p)
	return v
}

// Height is the height of the block after which this is the state.
func (v *Version) Height() chain.Height { return v.height }

// Root is the state root.
func (v *Version) Root() chain.Hash { return v.root }

// read returns the row under key, or nil. For rows that go when the storage of
// an account is cleared, owner is that account's key, else zero.
func (v *Version) read(key []byte, owner chain.Hash) ([]byte, error) {
	for {
		p := v.place.Load()
		if p.kept != nil {
			return p.kept.get(key)
		}
		if value, ok := p.diff.rows[string(key)]; ok {
			return bytes.Clone(value), nil
		}
		if len(p.diff.cleared) != 0 && owner != (chain.Hash{}) && p.diff.cleared[owner] {
			return nil, nil
		}
		v = p.parent
	}
}

// Account implements [state.View].
func (v *Version) Account(addr chain.Address) (state.Account, bool, error) {
	row, err := v.read(accountKey(tree.AccountKey(addr)), chain.Hash{})
	if err != nil {
		return state.Account{}, false, fmt.Errorf("read account %s: %w", addr, err)
	}
	if row == nil {
		return state.NewAccount(), false, nil
	}
	a, err := state.DecodeAccount(row)
	if err != nil {
		return state.Account{}, false, damaged("account %s: %v", addr, err)
	}
	return a, true, nil
}

// Storage implements [state.View].
func (v *Version) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	owner := tree.AccountKey(addr)
	row, err := v.read(storageKey(owner, key), owner)
	if err != nil {
		return nil, fmt.Errorf("read storage of %s: %w", addr, err)
	}
	return row, nil
}

// Code implements [state.View].
func (v *Version) Code(hash chain.Hash) ([]byte, error) {
	if hash == state.EmptyCodeHash || hash == (chain.Hash{}) {
		return nil, nil
	}
	code, err := v.read(codeKey(hash), chain.Hash{})
	switch {
	case err != nil:
		return nil, fmt.Errorf("read code %s: %w", hash, err)
	case code == nil:
		return nil, damaged("code %s is missing", hash)
	case chain.Hash(keccak.Sum256(code)) != hash:
		return nil, damaged("code %s has another hash", hash)
	}
	return code, nil
}

// Node implements [tree.Nodes].
func (v *Version) Node(owner chain.Hash, path []byte) ([]byte, error) {
	return v.read(nodeKey(owner, path), owner)
}

// Apply returns the version after a block with the given writes, which may be
// nil. It computes the root and touches nothing on disk.
func (v *Version) Apply(delta *state.Delta) (*Version, error) {
	if delta == nil {
		delta = state.NewDelta()
	}
	update, err := tree.Apply(v, v.root, delta)
	if err != nil {
		return nil, fmt.Errorf("state after block %d: %w", v.height, damage(err))
	}
	return newVersion(v.store, v.height+1, update.Root, &place{diff: newDiff(update, delta), parent: v}), nil
}

// newDiff turns an update into rows.
func newDiff(update *tree.Update, delta *state.Delta) *diff {
	d := &diff{cleared: map[chain.Hash]bool{}, rows: make(map[string][]byte, 2*len(update.Accounts)+len(update.Nodes))}
	for i := range update.Accounts {
		a := &update.Accounts[i]
		if a.Cleared {
			d.cleared[a.Key] = true
		}
		var row []byte
		if a.Exists {
			row = a.Account.Encode()
		}
		d.rows[string(accountKey(a.Key))] = row
		for _, s := range a.Storage {
			d.rows[string(storageKey(a.Key, s.Key))] = s.Value
		}
	}
	for _, n := range update.Nodes {
		d.rows[string(nodeKey(n.Owner, n.Path))] = n.Node
	}
	for _, c := range delta.Codes() {
		d.rows[string(codeKey(c.Hash))] = c.Code
	}
	return d
}
