package state

import "github.com/cowboy-foundation/cowboy/chain"

// Change is everything that an overlay holds of one address, shared with it:
// what one overlay gives to another. It is taken in this order: Cleared,
// Account, Credit, Storage. Either Account or Credit is there, or neither.
type Change struct {
	AccountChange
	Credit chain.Wei // recorded as a delta ([NewDeltaOverlay])

	from *writes
}

// Each calls fn for every changed address, in the order of their first writes,
// until it fails. The change is fn's during the call.
func (o *Overlay) Each(fn func(c *Change) error) error {
	var c Change
	for _, w := range o.delta.order {
		if w.dropped {
			continue
		}
		c = Change{AccountChange{Address: w.addr, Cleared: w.cleared, Account: w.account, Storage: w.slots}, w.credit, w}
		if err := fn(&c); err != nil {
			return err
		}
	}
	return nil
}

// Take writes a change of another overlay that saw o as it is now, or nothing that
// differs from it. They share the change from then on: the other is not written
// before its [Overlay.Reset]; a change that is none of Each is copied. It cannot be
// taken back: all marks become invalid.
func (o *Overlay) Take(c *Change) error {
	o.Keep()
	if c.from != nil && c.Credit == 0 && o.delta.accounts[c.Address] == nil {
		c.from.looked, c.from.slotsLooked = 0, c.from.slotsLooked[:0] // by another overlay
		o.delta.put(c.from)
		return nil
	}
	if c.Cleared {
		o.delta.DeleteAccount(c.Address)
	}
	if c.Account == nil && len(c.Storage) == 0 && c.Credit == 0 {
		return nil
	}
	if c.Account != nil {
		w := o.delta.at(c.Address)
		if w.account == nil && !w.cleared && w.before == unknown && c.from != nil {
			w.before, w.below = c.from.before, c.from.below
		}
		w.account = c.Account
	}
	for i := range c.Storage {
		o.takeSlot(c, i)
	}
	if c.Credit == 0 {
		return nil
	}
	a, _, err := o.Account(c.Address)
	if err != nil {
		return err
	}
	var fits bool
	if a.Balance, fits = sum(a.Balance, c.Credit); !fits {
		return ErrCreditOverflow
	}
	o.delta.SetAccount(c.Address, a)
	o.seen.setAccount(o.delta.accounts[c.Address])
	return nil
}

// takeSlot writes one slot of a change. Where this overlay has not written it, what
// the other has found before it is what is in the parent, and need not be looked up
// again.
func (o *Overlay) takeSlot(c *Change, i int) {
	w, slot := o.delta.at(c.Address), &c.Storage[i]
	fresh := len(w.slots)
	w.set(slot.Key, slot.Value)
	if c.from == nil || w.cleared || len(w.slots) == fresh || i >= len(c.from.were) || !c.from.were[i].known {
		return
	}
	w.setWas(fresh, c.from.were[i].size)
}

// TakeCode is SetCode for code of another overlay.
func (o *Overlay) TakeCode(c CodeChange) {
	o.Keep()
	o.delta.codes[c.Hash] = c.Code
}

// Absorb takes all writes of an overlay whose parent is o, and which is not used
// any more. All marks become invalid.
func (o *Overlay) Absorb(above *Overlay) error {
	o.Keep()
	for hash, code := range above.delta.codes { // into a map: the order does not matter
		o.delta.codes[hash] = code
	}
	return above.Each(o.Take)
}

// Reset forgets all writes and marks: the overlay is as new, over the same parent.
// Who has taken the writes keeps them.
func (o *Overlay) Reset() {
	o.Keep()
	o.delta.reset()
	o.seen, o.ahead = recent{}, ahead{} // the parent may show what others have written since
	if o.credits != nil {
		o.credits.peaks = o.credits.peaks[:0]
	}
}

// Touched reports whether the overlay holds a change of an address.
func (o *Overlay) Touched(addr chain.Address) bool { return o.delta.accounts[addr] != nil }
