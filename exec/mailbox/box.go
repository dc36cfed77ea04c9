package mailbox

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// sendersOf is the circle of those who have something waiting for a receiver.
func sendersOf(to chain.Address) circle { return circle{"box/", "from/", to[:]} }

// flowKey holds the places of what one sender has waiting for a receiver.
func flowKey(to, from chain.Address) state.StorageKey { return key("flow/", to[:], from[:]) }
func seenKey(to, from chain.Address) state.StorageKey { return key("seen/", to[:], from[:]) }

func itemKey(to, from chain.Address, place uint64) state.StorageKey {
	return key("item/", to[:], from[:], be64(place))
}

// Push puts an item behind what its sender has waiting for its receiver. The verdict
// is [ErrFull] when so many of the sender's wait already, [ErrSeen] for a message
// that was taken before, and [ErrHandler].
func Push(o *state.Overlay, it *Item, most uint64) error {
	if err := it.check(); err != nil {
		return err
	}
	flow, flows, err := readSpan(o, flowKey(it.To, it.From))
	if err != nil {
		return err
	}
	if flow.len() >= most {
		return ErrFull
	}
	if !it.Late {
		if err := see(o, it); err != nil {
			return err
		}
	}
	if !flows {
		if err := sendersOf(it.To).enqueue(o, it.From); err != nil {
			return err
		}
	}
	put(o, itemKey(it.To, it.From, flow.next), it)
	flow.next++
	writeSpan(o, flowKey(it.To, it.From), flow)
	return owe(o, it.Origin, it.To)
}

// see raises the number up to which the sender's messages were taken.
func see(o *state.Overlay, it *Item) error {
	k := seenKey(it.To, it.From)
	seen, _, err := readCount(o, k)
	if err != nil {
		return err
	}
	if it.Nonce < seen {
		return ErrSeen
	}
	o.SetStorage(chain.AddrMailbox, k, cbor.AppendUint(nil, it.Nonce+1))
	return nil
}

// Waits reports whether a sender has something waiting for a receiver.
func Waits(v state.View, to, from chain.Address) (bool, error) {
	flow, _, err := readSpan(v, flowKey(to, from))
	return flow.len() > 0, err
}

// Peek returns the first item of the sender whose turn it is before a receiver, nil
// where nothing waits for it. A long payload is not in it ([Open]).
func Peek(v state.View, to chain.Address) (*Item, error) {
	from, ok, err := sendersOf(to).first(v)
	if err != nil || !ok {
		return nil, err
	}
	flow, _, err := readSpan(v, flowKey(to, from))
	if err != nil {
		return nil, err
	}
	it, err := readItemAt(v, itemKey(to, from, flow.first))
	if err == nil && (it.To != to || it.From != from) {
		err = fmt.Errorf("%w: an item of %s for %s waits as one of %s for %s", ErrRecord, it.From, it.To, from, to)
	}
	return it, err
}

// Pass ends the turn of the sender whose turn it is before a receiver, with nothing
// handed out, and returns how many senders take turns there.
func Pass(o *state.Overlay, to chain.Address) (uint64, error) {
	n, err := sendersOf(to).len(o)
	if err != nil || n < 2 {
		return n, err
	}
	return n, sendersOf(to).rotate(o, true)
}

// Pop removes the item that [Peek] returned, and ends its sender's turn.
func Pop(o *state.Overlay, to chain.Address) error {
	it, err := Peek(o, to)
	if err != nil {
		return err
	}
	if it == nil {
		return fmt.Errorf("%w: nothing waits for %s", ErrRecord, to)
	}
	k := flowKey(to, it.From)
	flow, _, err := readSpan(o, k)
	if err != nil {
		return err
	}
	erase(o, itemKey(to, it.From, flow.first))
	if flow.first++; flow.len() == 0 {
		erase(o, k)
	} else {
		writeSpan(o, k, flow)
	}
	if err := sendersOf(to).rotate(o, flow.len() > 0); err != nil {
		return err
	}
	return countHandedOut(o, it.Origin, to)
}
