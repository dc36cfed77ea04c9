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

// footprint is what of a transaction's touches is known before it runs: an estimate of its
// access set. Too much in it makes a transaction wait for nothing, too little makes it run
// again; neither changes a result. It is made before the workers start, completed when the
// transaction is planned, under run.mu, and only read from then on.
type footprint struct {
	touches  []touch
	declared int    // how many of them the transaction says itself; the others are learned
	handler  string // of a message
	hints    hints  // of a message
	reliedOn [hintPlaces]bool
	message  bool
}

// mostReserved bounds for how many addresses of its access list a deployment or an
// instruction makes others wait: a list may be false, and whom it names did not ask.
const mostReserved = 16

// foresee reads a footprint off a transaction. What it names besides its target are
// hints: what is made of those of a message, its handler's pattern says; what the lists
// of deployments and instructions name is waited for as if it were written, within
// mostReserved. A transfer touches nobody but its sender and its target, whatever its
// list says.
func foresee(tx *chain.VerifiedTx) footprint {
	f := footprint{touches: make([]touch, 1, 2+min(len(tx.Tx.AccessList), mostReserved))}
	f.touches[0] = touch{resource{addr: tx.Sender}, writes}
	if to := tx.Tx.To; to != nil && (!to.IsSystem() || *to == chain.AddrTreasury) {
		t := touch{resource{addr: *to}, credits}
		if len(tx.Tx.Payload) > 0 {
			var arg []byte
			f.handler, arg, _ = chain.ParseMessage(tx.Tx.Payload)
			f.hints[inArgument] = named(arg)
			f.message, t.mode = true, writes
		}
		f.add(t)
	}
	f.foreseeList(tx.Tx)
	f.declared = len(f.touches)
	return f
}

// foreseeList reads the access list, whose addresses are distinct and in order
// ([chain.DecodeTx] refuses others): each is compared with the sender and the target
// alone.
func (f *footprint) foreseeList(tx *chain.Tx) {
	if len(tx.Payload) == 0 {
		return
	}
	named := f.touches
	for i := range tx.AccessList {
		switch a := tx.AccessList[i].Address; {
		case a.IsSystem():
		case f.message:
			if len(f.hints[inList]) == mostNamed {
				return
			}
			f.hints[inList] = append(f.hints[inList], a)
		case len(f.touches)-len(named) == mostReserved:
			return
		case has(named, resource{addr: a}):
			f.add(touch{resource{addr: a}, writes})
		default:
			f.touches = append(f.touches, touch{resource{addr: a}, writes})
		}
	}
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

// observed is the access set of an execution besides what its transaction says for sure.
type observed struct {
	touches []touch // of what it does not name at all
	hinted  [hintPlaces]struct {
		found bool // any that it names was touched
		how   mode // at the most
	}
}

// add adds a touch of what the footprint does not say.
func (s *observed) add(f *footprint, r resource, m mode) {
	if has(f.touches[:f.declared], r) {
		return
	}
	named := false
	for place := range hintPlaces {
		if r.key == "" && f.hints.names(place, &r.addr) {
			h := &s.hinted[place]
			named, h.found, h.how = true, true, max(h.how, m)
		}
	}
	if !named && len(s.touches) < mostTouches {
		g := footprint{touches: s.touches}
		g.add(touch{r, m})
		s.touches = g.touches
	}
}

// observe puts into s what an execution has touched besides what its transaction says.
func (f *footprint) observe(s *observed, v *view, o *state.Overlay) {
	*s = observed{touches: s.touches[:0]}
	for i := range v.reads {
		if r := &v.reads[i]; r.kind == ofAccount || r.kind == ofSlot || r.kind == ofSize || r.kind == ofRange {
			s.add(f, resourceOf(r.addr, r.key), reads)
		}
	}
	_ = o.Each(func(c *state.Change) error {
		if c.Account != nil || c.Cleared {
			s.add(f, resource{addr: c.Address}, writes)
		}
		if c.Credit != 0 {
			s.add(f, resource{addr: c.Address}, credits)
		}
		for i := range c.Storage {
			s.add(f, resourceOf(c.Address, c.Storage[i].Key), writes)
		}
		return nil
	})
}

// mispredicted reports whether a touch that was observed was not foreseen.
func (f *footprint) mispredicted(s *observed) bool {
	for place := range s.hinted {
		if s.hinted[place].found && !f.reliedOn[place] {
			return true
		}
	}
	for i := range s.touches {
		if !has(f.touches, s.touches[i].resource) {
			return true
		}
	}
	return false
}
