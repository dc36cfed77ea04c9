package state

import "github.com/cowboy-foundation/cowboy/chain"

// existence is what is known of whether an account was there.
type existence uint8

const (
	unknown existence = iota
	absent
	present
)

// recordFound notes what was found. What was known before stays: it is the same parent.
func (e *existence) recordFound(found bool) {
	if *e != unknown {
		return
	}
	if *e = absent; found {
		*e = present
	}
}

// rooted is what an account says of its storage.
type rooted struct {
	root  chain.Hash
	size  StorageSize
	known bool
}

func rootedOf(a *Account) rooted { return rooted{a.StorageRoot, a.StorageSize, true} }

// recent are the latest reads of a parent. Who writes a place has mostly just read
// it, so that to know what was there before takes no second look.
type recent struct {
	slots    [8]slotSeen
	accounts [2]accountSeen
	nextSlot uint8
	nextAcct uint8
}

type slotSeen struct {
	addr chain.Address
	key  StorageKey // empty: none
	size StorageSize
}

type accountSeen struct {
	addr   chain.Address
	exists existence
	below  rooted
}

func (r *recent) slot(addr chain.Address, key StorageKey, value []byte) {
	r.slots[r.nextSlot] = slotSeen{addr, key, sizeOf(key, value)}
	r.nextSlot = (r.nextSlot + 1) % uint8(len(r.slots))
}

func (r *recent) rememberAccount(addr chain.Address, a *Account) {
	s := accountSeen{addr: addr, below: rootedOf(a)}
	s.exists.recordFound(a.Own())
	r.accounts[r.nextAcct] = s
	r.nextAcct = (r.nextAcct + 1) % uint8(len(r.accounts))
}

// setSlot tells the newest slot of an address what it was, if that was just read.
func (r *recent) setSlot(w *writes) {
	last := len(w.slots) - 1
	slot := &w.slots[last]
	was, known := StorageSize{}, w.cleared
	for i := range r.slots {
		if s := &r.slots[i]; !known && s.key == slot.Key && s.addr == w.addr {
			was, known = s.size, true
		}
	}
	if known {
		w.setWas(last, was)
	}
}

// setAccount tells an address whether its account was there, if that was just read.
func (r *recent) setAccount(w *writes) {
	for i := range r.accounts {
		if s := &r.accounts[i]; w.before == unknown && s.addr == w.addr {
			w.before, w.below = s.exists, s.below
		}
	}
}

// Exists reports whether an account has fields of its own: a nonce, a balance, code
// or metadata. A credit recorded as a delta makes it exist, and credits never end that.
func (o *Overlay) Exists(addr chain.Address) (bool, error) {
	return o.existsWith(addr, o.delta.accounts[addr])
}

// existsWith is Exists with such writes of the address.
func (o *Overlay) existsWith(addr chain.Address, w *writes) (bool, error) {
	switch {
	case w != nil && w.account != nil:
		return w.account.Own(), nil
	case w != nil && w.credit > 0:
		return true, nil
	case w != nil && w.cleared:
		return false, nil
	}
	return o.existed(addr, w)
}

// existed reports whether the parent has an account with fields of its own.
func (o *Overlay) existed(addr chain.Address, w *writes) (exists bool, err error) {
	if w != nil && w.before != unknown {
		return w.before == present, nil
	}
	if below, ok := o.parent.(Unrooted); ok {
		exists, err = below.Exists(addr)
	} else {
		a, _, readErr := o.parent.Account(addr)
		exists, err = a.Own(), readErr
	}
	if err == nil && w != nil && !o.shared {
		w.before.recordFound(exists)
	}
	return exists, err
}

// Own reports whether an account is there for more than its storage.
func (a *Account) Own() bool {
	return a.Nonce != 0 || a.Balance != 0 || a.HasCode() || len(a.Meta) != 0
}

// Grown is a place that takes more than it took before: an account that was not
// there, or a slot.
type Grown struct {
	Address chain.Address
	Key     StorageKey // empty: the account itself
	Value   []byte     // of the slot, shared with the overlay
	Before  StorageSize
}

// Born reports whether the place was empty.
func (g *Grown) Born() bool { return g.Before.Entries == 0 }

// EachGrown calls fn for every place that takes more than before the mark, in the
// order of their first writes since. It takes time for the writes since the mark, and
// looks up in the parent what was not read of it.
func (o *Overlay) EachGrown(mark int, fn func(g Grown)) error {
	o.look++
	for i := mark; i < len(o.undo); i++ {
		u := &o.undo[i]
		w := o.delta.accounts[u.addr]
		if u.place == placeCode || w == nil || !w.firstLook(u.key, o.look) {
			continue
		}
		g, grown, err := o.grownBy(w, u)
		if err != nil {
			return err
		}
		if grown {
			fn(g)
		}
	}
	return nil
}

// firstLook reports whether a place is looked at for the first time in a look over
// the writes since a mark: its first write says what was there before. What is not
// written any more has not grown.
func (w *writes) firstLook(key StorageKey, look uint64) bool {
	if key == "" {
		first := w.looked != look
		w.looked = look
		return first
	}
	at, ok := w.places[key]
	if !ok {
		return false
	}
	if at >= len(w.slotsLooked) {
		w.slotsLooked = append(w.slotsLooked, make([]uint64, len(w.slots)-len(w.slotsLooked))...)
	}
	first := w.slotsLooked[at] != look
	w.slotsLooked[at] = look
	return first
}

// grownBy compares what was there before one write with what is there now.
func (o *Overlay) grownBy(w *writes, u *undo) (g Grown, grown bool, err error) {
	g = Grown{Address: u.addr, Key: u.key}
	if u.key == "" {
		grown, err = o.accountBorn(w, u)
		return g, grown, err
	}
	at, ok := w.places[u.key]
	if !ok || w.slots[at].Value == nil {
		return g, false, nil
	}
	g.Value = w.slots[at].Value
	g.Before, err = o.sizedBefore(w, u, at)
	return g, sizeOf(u.key, g.Value).Bytes > g.Before.Bytes, err
}

// sizedBefore is what stood in a slot, the one at that place, before a write of it.
func (o *Overlay) sizedBefore(w *writes, u *undo, at int) (StorageSize, error) {
	switch {
	case u.had:
		return sizeOf(u.key, u.value), nil
	case w.cleared:
		return StorageSize{}, nil
	case at < len(w.were) && w.were[at].known:
		return w.were[at].size, nil
	}
	if err := o.weigh(w); err != nil {
		return StorageSize{}, err
	}
	return w.were[at].size, nil
}

// Overwritten returns the bytes of the slots of an address that were there before the mark
// and were written since: those of the key and of the value, as many as there were before and
// are now. It is what a rewritten slot costs who keeps old states and [Overlay.EachGrown]
// does not tell; of a slot that was taken out it is the key. It takes the time of EachGrown.
func (o *Overlay) Overwritten(mark int, addr chain.Address) (bytes uint64, err error) {
	o.look++
	for i := mark; i < len(o.undo); i++ {
		u := &o.undo[i]
		if u.addr != addr || u.key == "" || u.place == placeCode {
			continue
		}
		w := o.delta.accounts[addr]
		if w == nil || !w.firstLook(u.key, o.look) {
			continue
		}
		at := w.places[u.key]
		before, err := o.sizedBefore(w, u, at)
		if err != nil {
			return 0, err
		}
		if before.Entries == 0 {
			continue
		}
		bytes += max(uint64(len(u.key)), min(before.Bytes, sizeOf(u.key, w.slots[at].Value).Bytes))
	}
	return bytes, nil
}

func (o *Overlay) accountBorn(w *writes, u *undo) (bool, error) {
	now, err := o.Exists(u.addr)
	switch {
	case err != nil || !now || u.credit > 0:
		return false, err
	case u.set:
		return !u.account.Own(), nil
	case u.cleared:
		return true, nil
	case u.writes != nil:
		before, err := o.existsWith(u.addr, u.writes)
		return !before, err
	}
	before, err := o.existed(u.addr, w)
	return !before, err
}

// Growth is by how much writes change what is kept; a decrease is the two's
// complement.
type Growth struct {
	Accounts uint64
	Storage  StorageSize
}

// Growth returns by how much all writes so far change what the parent keeps, code
// aside. It looks up what execution has not read.
func (o *Overlay) Growth() (g Growth, err error) {
	for _, w := range o.delta.order {
		if w.dropped {
			continue
		}
		if err := o.recordGrowth(&g, w); err != nil {
			return g, err
		}
	}
	return g, nil
}

func (o *Overlay) recordGrowth(g *Growth, w *writes) error {
	if err := o.weigh(w); err != nil {
		return err
	}
	g.Storage = g.Storage.Add(w.grown)
	if w.cleared {
		gone, err := sizeBefore(o.parent, w.addr)
		if err != nil {
			return err
		}
		g.Storage = g.Storage.Sub(gone)
	}
	if w.account == nil && w.credit == 0 && !w.cleared {
		return nil
	}
	before, err := o.existed(w.addr, w)
	if err != nil {
		return err
	}
	now, err := o.Exists(w.addr)
	if err != nil {
		return err
	}
	if before {
		g.Accounts--
	}
	if now {
		g.Accounts++
	}
	return nil
}
