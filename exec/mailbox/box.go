package mailbox

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

func boxKey(to chain.Address) state.StorageKey { return key("box/", to[:]) }
func seenKey(to, from chain.Address) state.StorageKey {
	return key("seen/", to[:], from[:])
}

func itemKey(to chain.Address, place uint64) state.StorageKey {
	return key("item/", to[:], be64(place))
}

// Push puts an item behind what waits for its receiver. The verdict is [ErrFull]
// when so many wait already, and [ErrSeen] for a message that was taken before.
func Push(o *state.Overlay, it *Item, most uint64) error {
	box, ok, err := readSpan(o, boxKey(it.To))
	if err != nil {
		return err
	}
	if box.len() >= most {
		return ErrFull
	}
	if !it.Late {
		if err := see(o, it); err != nil {
			return err
		}
	}
	if !ok {
		if err := enter(o, it.To); err != nil {
			return err
		}
	}
	o.SetStorage(chain.AddrMailbox, itemKey(it.To, box.next), it.Append(nil))
	box.next++
	writeSpan(o, boxKey(it.To), box)
	return nil
}

// see raises the number up to which the sender's messages were taken.
func see(o *state.Overlay, it *Item) error {
	k := seenKey(it.To, it.From)
	b, err := o.Storage(chain.AddrMailbox, k)
	if err != nil {
		return err
	}
	if b != nil {
		seen, err := cbor.DecodeUint(b)
		if err != nil {
			return fmt.Errorf("%w: number of %s: %w", ErrRecord, it.From, err)
		}
		if it.Nonce < seen {
			return ErrSeen
		}
	}
	o.SetStorage(chain.AddrMailbox, k, cbor.AppendUint(nil, it.Nonce+1))
	return nil
}

// Waiting returns how many items wait for a receiver.
func Waiting(v state.View, to chain.Address) (uint64, error) {
	box, _, err := readSpan(v, boxKey(to))
	return box.len(), err
}

// Peek returns the first item that waits for a receiver, nil where none does.
func Peek(v state.View, to chain.Address) (*Item, error) {
	box, _, err := readSpan(v, boxKey(to))
	if err != nil || box.len() == 0 {
		return nil, err
	}
	it, err := readItemAt(v, itemKey(to, box.first))
	if err == nil && it.To != to {
		err = fmt.Errorf("%w: an item for %s waits for %s", ErrRecord, it.To, to)
	}
	return it, err
}

// Pop removes the item that [Peek] returned. The receiver keeps its place in the
// ring until [Rotate].
func Pop(o *state.Overlay, to chain.Address) error {
	box, _, err := readSpan(o, boxKey(to))
	if err != nil {
		return err
	}
	if box.len() == 0 {
		return fmt.Errorf("%w: nothing waits for %s", ErrRecord, to)
	}
	erase(o, itemKey(to, box.first))
	box.first++
	writeSpan(o, boxKey(to), box)
	return nil
}

// ringKey holds the places of the ring, turnKey the receiver at one.
func ringKey() state.StorageKey             { return key("ring") }
func turnKey(place uint64) state.StorageKey { return key("ring/", be64(place)) }
func readRing(v state.View) (span, error)   { s, _, err := readSpan(v, ringKey()); return s, err }
func writeRing(o *state.Overlay, ring span) { writeSpan(o, ringKey(), ring) }

// enter puts a receiver at the end of the ring.
func enter(o *state.Overlay, to chain.Address) error {
	ring, err := readRing(o)
	if err != nil {
		return err
	}
	o.SetStorage(chain.AddrMailbox, turnKey(ring.next), to[:])
	ring.next++
	writeRing(o, ring)
	return nil
}

// Receivers returns how many stand in the ring.
func Receivers(v state.View) (uint64, error) {
	ring, err := readRing(v)
	return ring.len(), err
}

// Turn returns the receiver whose turn it is; false when the ring is empty.
func Turn(v state.View) (to chain.Address, ok bool, err error) {
	ring, err := readRing(v)
	if err != nil || ring.len() == 0 {
		return to, false, err
	}
	b, err := v.Storage(chain.AddrMailbox, turnKey(ring.first))
	if err != nil {
		return to, false, err
	}
	if len(b) != len(to) {
		return to, false, fmt.Errorf("%w: turn %d", ErrRecord, ring.first)
	}
	return chain.Address(b), true, nil
}

// Rotate ends the turn of the receiver that [Turn] returned: it goes to the end
// of the ring, or leaves it when nothing waits any more.
func Rotate(o *state.Overlay) error {
	to, ok, err := Turn(o)
	if err != nil || !ok {
		return err
	}
	ring, err := readRing(o)
	if err != nil {
		return err
	}
	box, _, err := readSpan(o, boxKey(to))
	if err != nil {
		return err
	}
	erase(o, turnKey(ring.first))
	ring.first++
	if box.len() == 0 {
		erase(o, boxKey(to))
	} else {
		o.SetStorage(chain.AddrMailbox, turnKey(ring.next), to[:])
		ring.next++
	}
	writeRing(o, ring)
	return nil
}
