package state

import "github.com/cowboy-foundation/cowboy/chain"

// Held is an account that is looked up once and changed in place, for who moves nonces
// and balances and nothing else. What it says is what [Overlay.Account] says until
// [Overlay.SetHeld]; a copy of it is the same account. The zero value is not usable.
//
// Owner: that of the overlay. It is good until the overlay is written in another way.
type Held struct {
	w     *writes
	fresh bool // not among the writes of the overlay yet
}

// Hold looks up an account to be changed by [Overlay.SetHeld]. ok is false where only the
// other way will do: for an account of which nothing but slots or credits is written, or
// that was dropped, and for a parent that cannot be read, which says why when it is asked
// again.
func (o *Overlay) Hold(addr chain.Address) (h Held, ok bool) {
	w := o.delta.accounts[addr]
	if w != nil {
		if w.account == nil || w.cleared || !w.below.known {
			return Held{}, false
		}
		w.own()
		return Held{w, false}, true
	}
	w = o.delta.next()
	if !w.read(o.parent, addr) {
		o.delta.giveBack(w)
		return Held{}, false
	}
	return Held{w, true}, true
}

// own moves the account into the room of its writes, if it was taken from another overlay.
func (w *writes) own() {
	if w.account != &w.room {
		w.setAccount(w.account)
	}
}

// read fills the room with the account of a parent. Nothing is written by that.
func (w *writes) read(parent View, addr chain.Address) bool {
	old, _, err := parent.Account(addr)
	if err != nil {
		return false
	}
	w.addr, w.room, w.below = addr, normal(old), rootedOf(&old)
	w.before.recordFound(old.Own())
	return true
}

// giveBack takes back the room that was taken last, which nobody has.
func (d *Delta) giveBack(w *writes) {
	*w = writes{}
	if last := len(d.slab) - 1; last >= 0 && &d.slab[last] == w {
		d.slab = d.slab[:last]
	}
}

// Account returns the account as it is, which is not the caller's to write. Its metadata
// is shared.
func (h *Held) Account() *Account { return &h.w.room }

// Address returns whose the account is, which is not the caller's to write.
func (h *Held) Address() *chain.Address { return &h.w.addr }

// Same reports whether both are one account.
func (h *Held) Same(other *Held) bool { return h.w.addr == other.w.addr }

// SetHeld sets the nonce and the balance of an account that is held. It cannot be taken back:
// all marks become invalid, as by [Overlay.Keep].
func (o *Overlay) SetHeld(h *Held, nonce uint64, balance chain.Wei) {
	o.Keep()
	h.w.room.Nonce, h.w.room.Balance = nonce, balance
	if h.fresh {
		h.fresh = false
		h.w.account = &h.w.room
		o.delta.put(h.w)
	}
}

// Drop gives back accounts that were held and not set, the latest first: they take no room.
func (o *Overlay) Drop(h *Held) {
	if h.fresh {
		o.delta.giveBack(h.w)
	}
}
