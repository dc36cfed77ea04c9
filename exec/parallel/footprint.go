package parallel

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// mode is how a place is touched.
type mode uint8

const (
	reads mode = iota
	credits
	writes // reads and writes
)

// resource is a place as plans know it: an account with all that is its own, or
// one entry of a system actor's storage. The latter are those of many accounts.
type resource struct {
	addr chain.Address
	key  state.StorageKey
}

// resourceOf says whose an entry of the storage is. The records of actors and of
// their rent end in the address that they are about.
func resourceOf(addr chain.Address, key state.StorageKey) resource {
	switch n := len(key) - len(addr); {
	case !addr.IsSystem():
		return resource{addr: addr}
	case (addr == chain.AddrActors || addr == chain.AddrRent) && n > 0:
		return resource{addr: chain.Address([]byte(key[n:]))}
	}
	return resource{addr, key}
}

type touch struct {
	resource
	mode mode
}

// call names what a footprint is remembered under.
type call struct {
	code    chain.Hash
	handler string
}

// footprint is what of a transaction's touches is known before it runs.
type footprint struct {
	touches []touch
	said    int    // how many of them the transaction says itself; the others are habit
	handler string // of a message
	message bool
}

// foresee reads a footprint off a transaction. Access lists are hints: what they
// name is waited for as if it were written.
func foresee(tx *chain.VerifiedTx) footprint {
	f := footprint{touches: make([]touch, 1, 2+len(tx.Tx.AccessList))}
	f.touches[0] = touch{resource{addr: tx.Sender}, writes}
	if to := tx.Tx.To; to != nil && (!to.IsSystem() || *to == chain.AddrTreasury) {
		t := touch{resource{addr: *to}, credits}
		if len(tx.Tx.Payload) > 0 {
			f.handler, _, _ = chain.ParseMessage(tx.Tx.Payload)
			f.message, t.mode = true, writes
		}
		f.add(t)
	}
	for i := range tx.Tx.AccessList {
		if a := tx.Tx.AccessList[i].Address; !a.IsSystem() {
			f.add(touch{resource{addr: a}, writes})
		}
	}
	f.said = len(f.touches)
	return f
}

// add adds a touch; the stronger of two of one resource counts.
func (f *footprint) add(t touch) {
	for i := range f.touches {
		if f.touches[i].resource == t.resource {
			f.touches[i].mode = max(f.touches[i].mode, t.mode)
			return
		}
	}
	f.touches = append(f.touches, t)
}

func has(touches []touch, r resource) bool {
	for i := range touches {
		if touches[i].resource == r {
			return true
		}
	}
	return false
}

// mostTouches bounds what is remembered of one transaction.
const mostTouches = 24

// actual returns what an attempt has touched besides what its transaction says.
func (f *footprint) actual(dst []touch, v *view, o *state.Overlay) []touch {
	g := footprint{touches: dst[:0]}
	add := func(r resource, m mode) {
		if len(g.touches) < mostTouches && !has(f.touches[:f.said], r) {
			g.add(touch{r, m})
		}
	}
	for i := range v.reads {
		if r := &v.reads[i]; r.kind == ofAccount || r.kind == ofSlot || r.kind == ofSize || r.kind == ofRange {
			add(resourceOf(r.addr, r.key), reads)
		}
	}
	_ = o.Each(func(c *state.Change) error {
		if c.Account != nil || c.Cleared {
			add(resource{addr: c.Address}, writes)
		}
		if c.Credit != 0 {
			add(resource{addr: c.Address}, credits)
		}
		for i := range c.Storage {
			if len(g.touches) == mostTouches {
				break
			}
			add(resourceOf(c.Address, c.Storage[i].Key), writes)
		}
		return nil
	})
	return g.touches
}
