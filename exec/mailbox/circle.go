package mailbox

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// circle is addresses that take turns: a queue whose first goes to its end. The
// record under head has its places; it is there as long as anybody stands in it. Who
// enters makes sure that they do not stand in it already.
type circle struct {
	head, place string // tables
	of          []byte // whose
}

func (c circle) headKey() state.StorageKey          { return key(c.head, c.of) }
func (c circle) placeKey(n uint64) state.StorageKey { return key(c.place, c.of, be64(n)) }

// len returns how many stand in it.
func (c circle) len(v state.View) (uint64, error) {
	s, _, err := readSpan(v, c.headKey())
	return s.len(), err
}

// enqueue puts an address at the end.
func (c circle) enqueue(o *state.Overlay, a chain.Address) error {
	s, _, err := readSpan(o, c.headKey())
	if err != nil {
		return err
	}
	o.SetStorage(chain.AddrMailbox, c.placeKey(s.next), a[:])
	s.next++
	writeSpan(o, c.headKey(), s)
	return nil
}

// first returns whose turn it is; false where nobody stands in it.
func (c circle) first(v state.View) (a chain.Address, ok bool, err error) {
	s, _, err := readSpan(v, c.headKey())
	if err != nil || s.len() == 0 {
		return a, false, err
	}
	b, err := v.Storage(chain.AddrMailbox, c.placeKey(s.first))
	if err != nil {
		return a, false, err
	}
	if len(b) != len(a) {
		return a, false, fmt.Errorf("%w: place %d of %s%x", ErrRecord, s.first, c.head, c.of)
	}
	return chain.Address(b), true, nil
}

// takeLast takes out who entered last; false where nobody stands in it.
func (c circle) takeLast(o *state.Overlay) (a chain.Address, ok bool, err error) {
	s, _, err := readSpan(o, c.headKey())
	if err != nil || s.len() == 0 {
		return a, false, err
	}
	s.next--
	b, err := o.Storage(chain.AddrMailbox, c.placeKey(s.next))
	if err != nil {
		return a, false, err
	}
	if len(b) != len(a) {
		return a, false, fmt.Errorf("%w: place %d of %s%x", ErrRecord, s.next, c.head, c.of)
	}
	erase(o, c.placeKey(s.next))
	if s.len() == 0 {
		erase(o, c.headKey())
	} else {
		writeSpan(o, c.headKey(), s)
	}
	return chain.Address(b), true, nil
}

// rotate ends the turn of the first: they go to the end, or leave.
func (c circle) rotate(o *state.Overlay, stays bool) error {
	a, ok, err := c.first(o)
	if err != nil || !ok {
		return err
	}
	s, _, err := readSpan(o, c.headKey())
	if err != nil {
		return err
	}
	erase(o, c.placeKey(s.first))
	s.first++
	if stays {
		o.SetStorage(chain.AddrMailbox, c.placeKey(s.next), a[:])
		s.next++
	}
	if s.len() == 0 {
		erase(o, c.headKey())
	} else {
		writeSpan(o, c.headKey(), s)
	}
	return nil
}
