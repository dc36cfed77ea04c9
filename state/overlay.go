package state

import (
	"bytes"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Overlay is a [View] of a parent view with writes on top, and the means to
// take back writes: execution runs a transaction between [Overlay.Snapshot] and
// [Overlay.Revert].
//
// Reads see the writes, with two limits that follow from computing roots only
// once per block: the StorageRoot of an account is the parent's, and an account
// that would exist for its storage alone reads as absent until then. Both are
// the same on every node, because both follow from the writes alone.
//
// An Overlay is not safe for concurrent use.
type Overlay struct {
	parent View
	delta  *Delta
	undo   []undo // one entry per write, oldest first
}

// undo takes back one write: it either puts back all writes of an address, or
// one field of them.
type undo struct {
	place   place
	addr    chain.Address
	key     StorageKey
	hash    chain.Hash
	writes  *writes  // placeAddress: what was there, nil if nothing
	account *Account // placeAccount: what was set, nil if nothing
	value   []byte   // placeStorage: what was set, if had
	had     bool
}

type place uint8

const (
	placeAddress place = iota
	placeAccount
	placeStorage
	placeCode
)

// NewOverlay returns an overlay without writes over parent.
func NewOverlay(parent View) *Overlay {
	return &Overlay{parent: parent, delta: NewDelta()}
}

// Account implements [View].
func (o *Overlay) Account(addr chain.Address) (Account, bool, error) {
	w := o.delta.accounts[addr]
	if w != nil && w.cleared && w.account == nil {
		return NewAccount(), false, nil
	}
	if w != nil && w.cleared {
		a := normal(*w.account)
		a.StorageRoot = EmptyRoot
		return a, !a.Empty(), nil
	}
	old, existed, err := o.parent.Account(addr)
	if err != nil || w == nil || w.account == nil {
		return old, existed, err
	}
	a := normal(*w.account)
	a.StorageRoot = old.StorageRoot
	return a, !a.Empty(), nil
}

// Storage implements [View].
func (o *Overlay) Storage(addr chain.Address, key StorageKey) ([]byte, error) {
	if w := o.delta.accounts[addr]; w != nil {
		if value, ok := w.slot(key); ok {
			return bytes.Clone(value), nil
		}
		if w.cleared {
			return nil, nil
		}
	}
	return o.parent.Storage(addr, key)
}

// Code implements [View].
func (o *Overlay) Code(hash chain.Hash) ([]byte, error) {
	if code, ok := o.delta.codes[hash]; ok {
		return code, nil
	}
	return o.parent.Code(hash)
}

// SetAccount is [Delta.SetAccount].
func (o *Overlay) SetAccount(addr chain.Address, a Account) {
	if w := o.delta.accounts[addr]; w == nil {
		o.undo = append(o.undo, undo{place: placeAddress, addr: addr})
	} else {
		o.undo = append(o.undo, undo{place: placeAccount, addr: addr, account: w.account})
	}
	o.delta.SetAccount(addr, a)
}

// DeleteAccount is [Delta.DeleteAccount].
func (o *Overlay) DeleteAccount(addr chain.Address) {
	o.undo = append(o.undo, undo{place: placeAddress, addr: addr, writes: o.delta.accounts[addr]})
	o.delta.DeleteAccount(addr)
}

// SetStorage is [Delta.SetStorage].
func (o *Overlay) SetStorage(addr chain.Address, key StorageKey, value []byte) {
	if w := o.delta.accounts[addr]; w == nil {
		o.undo = append(o.undo, undo{place: placeAddress, addr: addr})
	} else {
		old, had := w.slot(key)
		o.undo = append(o.undo, undo{place: placeStorage, addr: addr, key: key, value: old, had: had})
	}
	o.delta.SetStorage(addr, key, value)
}

// SetCode is [Delta.SetCode].
func (o *Overlay) SetCode(code []byte) chain.Hash {
	before := len(o.delta.codes)
	hash := o.delta.SetCode(code)
	if len(o.delta.codes) != before {
		o.undo = append(o.undo, undo{place: placeCode, hash: hash})
	}
	return hash
}

// Snapshot returns a mark for [Overlay.Revert]. Marks may be nested to any
// depth and cost nothing.
func (o *Overlay) Snapshot() int { return len(o.undo) }

// Revert takes back every write since the mark was returned, and makes marks
// taken since then invalid. It panics on an invalid mark.
func (o *Overlay) Revert(mark int) {
	if mark < 0 || mark > len(o.undo) {
		panic(fmt.Sprintf("state: revert to mark %d of %d writes", mark, len(o.undo)))
	}
	for i := len(o.undo) - 1; i >= mark; i-- {
		o.takeBack(&o.undo[i])
	}
	clear(o.undo[mark:]) // let go of the old values
	o.undo = o.undo[:mark]
}

func (o *Overlay) takeBack(u *undo) {
	switch u.place {
	case placeAddress:
		o.delta.accounts[u.addr].dropped = true
		if u.writes == nil {
			delete(o.delta.accounts, u.addr)
		} else {
			u.writes.dropped = false
			o.delta.accounts[u.addr] = u.writes
		}
	case placeAccount:
		o.delta.accounts[u.addr].account = u.account
	case placeStorage:
		w := o.delta.accounts[u.addr]
		if u.had {
			w.set(u.key, u.value)
		} else {
			w.unset(u.key)
		}
	case placeCode:
		delete(o.delta.codes, u.hash)
	default:
		panic("state: unknown undo entry")
	}
}

// Delta returns the writes so far. It stays connected to the overlay: take it
// when execution is done.
func (o *Overlay) Delta() *Delta { return o.delta }
