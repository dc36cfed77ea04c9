package mailbox

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// ring is the circle of origins; receiversOf that of the receivers for which something
// waits that an origin has paid.
func ring() circle                            { return circle{"ring", "ring/", nil} }
func receiversOf(origin chain.Address) circle { return circle{"to/", "to-at/", origin[:]} }

// memberKey is there as long as an origin stands in the ring, owedKey as long as a
// receiver stands in an origin's circle: how many items of the origin's wait for it.
func memberKey(origin chain.Address) state.StorageKey { return key("member/", origin[:]) }

func owedKey(origin, to chain.Address) state.StorageKey {
	return key("owed/", origin[:], to[:])
}

// join puts an origin into the ring unless it stands there.
func join(o *state.Overlay, origin chain.Address) error {
	_, stands, err := readCount(o, memberKey(origin))
	if err != nil || stands {
		return err
	}
	o.SetStorage(chain.AddrMailbox, memberKey(origin), cbor.AppendUint(nil, 1))
	return ring().enqueue(o, origin)
}

// owe notes one more item that an origin has paid and that waits for a receiver.
func owe(o *state.Overlay, origin, to chain.Address) error {
	n, stands, err := readCount(o, owedKey(origin, to))
	if err != nil {
		return err
	}
	o.SetStorage(chain.AddrMailbox, owedKey(origin, to), cbor.AppendUint(nil, n+1))
	if stands {
		return nil
	}
	if err := receiversOf(origin).enqueue(o, to); err != nil {
		return err
	}
	return join(o, origin)
}

// countHandedOut notes that one of them was handed out. The receiver stays in the origin's
// circle until its turn.
func countHandedOut(o *state.Overlay, origin, to chain.Address) error {
	n, _, err := readCount(o, owedKey(origin, to))
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: nothing of %s waits for %s", ErrRecord, origin, to)
	}
	if err != nil {
		return err
	}
	o.SetStorage(chain.AddrMailbox, owedKey(origin, to), cbor.AppendUint(nil, n-1))
	return nil
}

// Origins returns how many stand in the ring.
func Origins(v state.View) (uint64, error) { return ring().len(v) }

// Turn returns the origin whose turn it is; false when the ring is empty.
func Turn(v state.View) (origin chain.Address, ok bool, err error) { return ring().first(v) }

// Receiver returns the receiver whose turn it is among those of an origin; false where
// there is none. One for which nothing of the origin's waits any more, as turns of
// others handed it out, leaves the circle; at most so many are looked at.
func Receiver(o *state.Overlay, origin chain.Address, looks uint64) (to chain.Address, ok bool, err error) {
	// Bounded: by turnItems, four.
	for range looks {
		if to, ok, err = receiversOf(origin).first(o); err != nil || !ok {
			return to, false, err
		}
		n, _, err := readCount(o, owedKey(origin, to))
		if err != nil || n > 0 {
			return to, err == nil, err
		}
		if err := rotateReceiver(o, origin, to); err != nil {
			return to, false, err
		}
	}
	return to, false, nil
}

// rotateReceiver ends the turn of the first of an origin's receivers.
func rotateReceiver(o *state.Overlay, origin, to chain.Address) error {
	n, _, err := readCount(o, owedKey(origin, to))
	if err != nil {
		return err
	}
	if n == 0 {
		erase(o, owedKey(origin, to))
	}
	return receiversOf(origin).rotate(o, n > 0)
}

// EndTurn ends the turn of the origin whose it is, in the block at height h, and that of
// the receiver which [Receiver] returned for it, if any. ready is 0 where something came of
// the turn, else the height at which a message that was passed in it can go. Where nothing
// came of the last turn of any of its receivers, the origin leaves the ring until it wakes
// ([Wake]).
func EndTurn(o *state.Overlay, h chain.Height, origin chain.Address, to *chain.Address, ready chain.Height) error {
	if to != nil {
		if err := rotateReceiver(o, origin, *to); err != nil {
			return err
		}
	}
	receivers, err := receiversOf(origin).len(o)
	if err != nil {
		return err
	}
	due, _, err := readSpan(o, dueKey(origin))
	if err != nil {
		return err
	}
	if receivers == 0 || due.len() > 0 {
		ready = 0
	}
	wake, err := countVain(o, h, origin, receivers, ready)
	if err != nil {
		return err
	}
	if wake > 0 {
		if err := wakeAt(o, h, wake, origin); err != nil {
			return err
		}
	}
	stays := wake == 0 && (receivers > 0 || due.len() > 0)
	if !stays {
		erase(o, memberKey(origin))
	}
	return ring().rotate(o, stays)
}
