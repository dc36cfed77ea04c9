package store

import (
	"fmt"
	"runtime"
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
	made   *generation // whose forest image is in
	height chain.Height
	image  *tree.Image
	root   chain.Hash
	place  atomic.Pointer[place] // replaced once, when the version is committed
}

// place says what a version hangs on: a parent (pending), or nothing any more
// (committed). Exactly one of parent and kept is set.
type place struct {
	parent  *Version
	codes   map[chain.Hash][]byte // code that became known, while it is pending
	written *written              // likewise
	kept    *kept
}

func newVersion(s *Store, g *generation, h chain.Height, image *tree.Image, p *place) *Version {
	v := &Version{store: s, made: g, height: h, image: image, root: image.Root}
	v.place.Store(p)
	return v
}

// Height is the height of the block after which this is the state.
func (v *Version) Height() chain.Height { return v.height }

// Root is the state root.
func (v *Version) Root() chain.Hash { return v.root }

// base returns the committed version that v hangs on.
func (v *Version) base() *kept {
	for {
		p := v.place.Load()
		if p.kept != nil {
			return p.kept
		}
		v = p.parent
	}
}

// hold keeps the records of v in place until the result is let go.
func (v *Version) hold() (*kept, error) {
	for {
		k := v.base()
		err := k.hold()
		if err == nil {
			return k, nil
		}
		if v.base() == k { // else the parent has been committed meanwhile
			return nil, err
		}
	}
}

// Keep keeps v readable until release is called, once, however many blocks are
// committed meanwhile: no later version's memory is taken back, so that should be
// soon. The error is [ErrStale] if v is given up already.
func (v *Version) Keep() (release func(), err error) {
	for {
		k := v.base()
		if k.pin() {
			return k.unpin, nil
		}
		if v.base() == k { // else the parent has been committed meanwhile
			return nil, fmt.Errorf("keep the state after block %d: %w", v.height, ErrStale)
		}
	}
}

// Account implements [state.View].
func (v *Version) Account(addr chain.Address) (state.Account, bool, error) {
	key := tree.AccountKey(addr)
	k, err := v.hold()
	if err != nil {
		return state.Account{}, false, fmt.Errorf("read account %s: %w", addr, err)
	}
	defer k.letGo()
	a, ok := v.made.forest.Account(v.image, key)
	return a, ok, nil
}

// Storage implements [state.View].
func (v *Version) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	account, slot := tree.AccountKey(addr), tree.SlotKey(key)
	k, err := v.hold()
	if err != nil {
		return nil, fmt.Errorf("read storage of %s: %w", addr, err)
	}
	defer k.letGo()
	value, _ := v.made.forest.Storage(v.image, account, slot)
	return value, nil
}

// Code implements [state.View].
func (v *Version) Code(hash chain.Hash) ([]byte, error) {
	if hash == state.EmptyCodeHash || hash == (chain.Hash{}) {
		return nil, nil
	}
	for at := v; ; {
		p := at.place.Load()
		if p.kept != nil {
			break
		}
		if code, ok := p.codes[hash]; ok {
			return code, nil
		}
		at = p.parent
	}
	code, err := v.store.row(codeKey(hash))
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

// Apply returns the version after a block with the given writes, which may be
// nil and are not changed any more. It computes the root and touches nothing on
// disk.
func (v *Version) Apply(delta *state.Delta) (*Version, error) {
	if delta == nil {
		delta = state.NewDelta()
	}
	k, err := v.hold()
	if err != nil {
		return nil, fmt.Errorf("state after block %d: %w", v.height, err)
	}
	defer k.letGo()
	s := v.store
	v.made.reap()
	image, err := v.made.forest.Apply(v.image, delta)
	if err != nil {
		return nil, fmt.Errorf("state after block %d: %w", v.height, err)
	}
	p := &place{parent: v, written: &written{parent: v, delta: delta}}
	if codes := delta.Codes(); len(codes) > 0 {
		p.codes = make(map[chain.Hash][]byte, len(codes))
		for _, c := range codes {
			p.codes[c.Hash] = c.Code
		}
	}
	next := newVersion(s, v.made, v.height+1, image, p)
	v.made.pending.add(image, v)
	runtime.AddCleanup(next, v.made.pending.orphan, image)
	return next, nil
}
