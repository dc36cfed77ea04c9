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
// once per block: StorageRoot and StorageSize of an account are the parent's, and
// an account that would exist for its storage alone reads as absent until then. Both are
// the same on every node, because both follow from the writes alone.
//
// An Overlay is not safe for concurrent use.
type Overlay struct {
	parent  View
	delta   *Delta
	undo    []undo        // one entry per write, oldest first
	credits *deltaCredits // nil: credits read the balance that they add to
	seen    recent        // reads of the parent
	ahead   ahead         // what scans have read of it
	look    uint64        // how often EachGrown and Overwritten have looked
	shared  bool          // several goroutines read: nothing is noted
}

// undo takes back one write: it either puts back all writes of an address, or
// one field of them.
type undo struct {
	place   place
	addr    chain.Address
	key     StorageKey // placeStorage; placeAddress: the slot that was the first to be written, if one was
	hash    chain.Hash
	writes  *writes   // placeAddress: what was there, nil if nothing
	account Account   // placeAccount: what was set, if set
	set     bool      // placeAccount
	credit  chain.Wei // placeAccount: what was to be added
	cleared bool      // placeAccount: whether account and storage had been dropped
	value   []byte    // placeStorage: what was set, if had
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

// Share says whether several goroutines read the overlay, which nobody writes meanwhile.
// Then reads leave it as it is; without it they note what they find, for the writes to
// come. What [Overlay.StorageSize] and [Overlay.Scan] keep of an address that was
// written is the readers' to guard.
func (o *Overlay) Share(yes bool) { o.shared = yes }

// Account implements [View].
func (o *Overlay) Account(addr chain.Address) (Account, bool, error) {
	w := o.delta.accounts[addr]
	switch {
	case w == nil:
	case w.cleared && w.account == nil:
		return NewAccount(), false, nil
	case w.cleared:
		return w.rooted(rooted{root: EmptyRoot})
	case w.account != nil && w.below.known:
		return w.rooted(w.below)
	}
	old, existed, err := o.parent.Account(addr)
	if err != nil {
		return old, existed, err
	}
	if w == nil {
		if !o.shared {
			o.seen.rememberAccount(addr, &old)
		}
		return old, existed, nil
	}
	below := rootedOf(&old)
	if !o.shared {
		w.before.recordFound(old.Own())
		w.below = below
	}
	if w.account == nil {
		return credited(old, existed, w.credit)
	}
	return w.rooted(below)
}

// rooted returns the account as last set, with what the parent says of its storage.
func (w *writes) rooted(below rooted) (Account, bool, error) {
	a := normal(*w.account) // what the caller gets is his
	a.StorageRoot, a.StorageSize = below.root, below.size
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
	value, err := o.parent.Storage(addr, key)
	if err == nil && !o.shared {
		o.seen.slot(addr, key, value)
	}
	return value, err
}

// StorageSize returns how much addr keeps in its storage, with all writes so
// far. Each slot is looked up in the parent once, the first time after it was
// written, so that asking after every write costs no more than asking once.
func (o *Overlay) StorageSize(addr chain.Address) (StorageSize, error) {
	w := o.delta.accounts[addr]
	var size StorageSize
	if w == nil || !w.cleared {
		var err error
		if size, err = sizeBefore(o.parent, addr); err != nil || w == nil {
			return size, err
		}
	}
	if err := o.weigh(w); err != nil {
		return StorageSize{}, err
	}
	return size.Add(w.grown), nil
}

// weigh looks up what the slots of an address were in the parent that it has not
// looked up yet.
func (o *Overlay) weigh(w *writes) error {
	for ; w.weighed < len(w.slots); w.weighed++ {
		i := w.weighed
		if i < len(w.were) && w.were[i].known {
			continue
		}
		slot, was := &w.slots[i], StorageSize{}
		if !w.cleared {
			old, err := o.parent.Storage(w.addr, slot.Key)
			if err != nil {
				return err
			}
			was = sizeOf(slot.Key, old)
		}
		w.setWas(i, was)
	}
	return nil
}

func sizeBefore(parent View, addr chain.Address) (StorageSize, error) {
	if o, ok := parent.(Unrooted); ok {
		return o.StorageSize(addr)
	}
	a, _, err := parent.Account(addr)
	return a.StorageSize, err
}

// StorageRooted reports whether the StorageRoot that Account returns is that
// of all writes so far: no storage of addr was written, in this overlay or those
// below it, since it was cleared or since the last root was computed.
func (o *Overlay) StorageRooted(addr chain.Address) bool {
	if w := o.delta.accounts[addr]; w != nil && (len(w.slots) > 0 || w.cleared) {
		return len(w.slots) == 0
	}
	below, ok := o.parent.(Unrooted)
	return !ok || below.StorageRooted(addr)
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
	w := o.delta.accounts[addr]
	if w == nil {
		o.undo = append(o.undo, undo{place: placeAddress, addr: addr})
		w = o.delta.at(addr)
	} else {
		u := undo{place: placeAccount, addr: addr, credit: w.credit, cleared: w.cleared}
		if w.account != nil {
			u.account, u.set = *w.account, true
		}
		o.undo = append(o.undo, u)
		w.credit = 0 // a holds it
	}
	a = normal(a)
	w.setAccount(&a)
	o.seen.setAccount(w)
}

// ClearStorage removes the storage of an account that stays, in one step
// however large it is.
func (o *Overlay) ClearStorage(addr chain.Address) error {
	a, existed, err := o.Account(addr)
	if err != nil {
		return err
	}
	o.DeleteAccount(addr)
	if existed {
		o.SetAccount(addr, a)
	}
	return nil
}

// DeleteAccount is [Delta.DeleteAccount].
func (o *Overlay) DeleteAccount(addr chain.Address) {
	o.undo = append(o.undo, undo{place: placeAddress, addr: addr, writes: o.delta.accounts[addr]})
	o.delta.DeleteAccount(addr)
}

// SetStorage is [Delta.SetStorage].
func (o *Overlay) SetStorage(addr chain.Address, key StorageKey, value []byte) {
	had := false
	if w := o.delta.accounts[addr]; w == nil {
		o.undo = append(o.undo, undo{place: placeAddress, addr: addr, key: key})
	} else {
		var old []byte
		old, had = w.slot(key)
		o.undo = append(o.undo, undo{place: placeStorage, addr: addr, key: key, value: old, had: had})
	}
	o.delta.SetStorage(addr, key, value)
	if !had {
		o.seen.setSlot(o.delta.accounts[addr])
	}
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

// Keep makes all writes so far final: marks taken before become invalid, and what was
// there before is forgotten.
func (o *Overlay) Keep() {
	clear(o.undo)
	o.undo = o.undo[:0]
}

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
		w := o.delta.accounts[u.addr]
		if w.account, w.credit = nil, u.credit; u.set {
			w.setAccount(&u.account)
		}
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
