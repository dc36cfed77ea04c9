package mailbox

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// originsAt is the circle of those who have something deferred to a height.
func originsAt(h chain.Height) circle { return circle{"day/", "day-at/", be64(uint64(h))} }

// lateKey holds the places of what an origin has deferred to a height.
func lateKey(h chain.Height, origin chain.Address) state.StorageKey {
	return key("late-of/", be64(uint64(h)), origin[:])
}

func lateAtKey(h chain.Height, origin chain.Address, place uint64) state.StorageKey {
	return key("late/", be64(uint64(h)), origin[:], be64(place))
}

// dueKey holds the places of an origin's heights that have come and still have items, in
// the order in which they were released.
func dueKey(origin chain.Address) state.StorageKey { return key("due/", origin[:]) }

func dueAtKey(origin chain.Address, place uint64) state.StorageKey {
	return key("due-at/", origin[:], be64(place))
}

func clockKey() state.StorageKey { return key("clock") }

// MostRecent is how many of the last heights [ReleaseLatest] looks at.
const MostRecent = 64

// MaxAhead is how many blocks ahead a message may be deferred.
const MaxAhead = 2_592_000

// Defer keeps an item for the block at height h, above the present one. The
// verdict is [ErrFull] when its origin has so many kept for that height already, and [ErrHandler].
func Defer(o *state.Overlay, now, h chain.Height, it *Item, most uint64) error {
	if h <= now {
		return fmt.Errorf("defer from %d to height %d", now, h) // the caller has judged it
	}
	if err := it.check(); err != nil {
		return err
	}
	list, known, err := readSpan(o, lateKey(h, it.Origin))
	if err != nil {
		return err
	}
	if list.len() >= most {
		return ErrFull
	}
	if !known {
		if err := await(o, now, h, it.Origin); err != nil {
			return err
		}
	}
	late := *it
	late.Late = true
	put(o, lateAtKey(h, it.Origin, list.next), &late)
	list.next++
	writeSpan(o, lateKey(h, it.Origin), list)
	return nil
}

// await enters an origin at a height.
func await(o *state.Overlay, now, h chain.Height, origin chain.Address) error {
	if err := expect(o, clockKey(), now); err != nil {
		return err
	}
	return originsAt(h).enqueue(o, origin)
}

// Release puts the origins into the ring that have something deferred to height h or
// one before it, in the order of the heights and of their coming. It takes at most so
// many steps, but at least the two that catch up with the heights when nothing is
// due; what is left over comes first in the next block. The items stay where they are:
// their origin's turns take them up ([Due]).
func Release(o *state.Overlay, h chain.Height, steps uint64) error {
	return passHeights(o, clockKey(), h, steps, originsAt, func(origin chain.Address, at chain.Height) error {
		return fallDue(o, origin, at)
	})
}

// ReleaseLatest is [Release] for those who deferred last: of heights from latest down to
// the last [MostRecent] of height h, at most so many steps. It returns the height at which
// it has stopped: above it nothing is left.
func ReleaseLatest(o *state.Overlay, h, latest chain.Height, steps uint64) (chain.Height, error) {
	c, ok, err := readClock(o, clockKey())
	if err != nil || !ok {
		return latest, err
	}
	// Bounded: by steps, of which a block has mailbox_block_receivers, and MostRecent heights.
	for c.entries > 0 && steps > 0 && latest >= c.at && latest+MostRecent > h {
		origin, ok, err := originsAt(latest).takeLast(o)
		if err != nil {
			return latest, err
		}
		if !ok {
			latest--
			continue
		}
		steps--
		c.entries--
		if err := fallDue(o, origin, latest); err != nil {
			return latest, err
		}
	}
	c.write(o, clockKey())
	return latest, nil
}

// AnyDue reports whether [Release] may find anybody at height h.
func AnyDue(v state.View, h chain.Height) (bool, error) {
	c, ok, err := readClock(v, clockKey())
	return ok && c.entries > 0 && c.at <= h, err
}

// passHeights takes the entries at heights up to h out of their circles and hands them
// to fn.
func passHeights(
	o *state.Overlay, key state.StorageKey, h chain.Height, steps uint64,
	circleAt func(chain.Height) circle, fn func(origin chain.Address, at chain.Height) error,
) error {
	c, ok, err := readClock(o, key)
	if err != nil || !ok {
		return err
	}
	// Bounded: by steps, of which a block has mailbox_block_receivers, and MostRecent heights.
	for range max(steps, 2) {
		if c.at > h || c.entries == 0 {
			break
		}
		origin, ok, err := circleAt(c.at).first(o)
		if err != nil {
			return err
		}
		if !ok {
			c.at++
			continue
		}
		c.entries--
		if err := circleAt(c.at).rotate(o, false); err != nil {
			return err
		}
		if err := fn(origin, c.at); err != nil {
			return err
		}
	}
	c.write(o, key)
	return nil
}

// fallDue adds a height that has come to those of an origin.
func fallDue(o *state.Overlay, origin chain.Address, h chain.Height) error {
	due, _, err := readSpan(o, dueKey(origin))
	if err != nil {
		return err
	}
	o.SetStorage(chain.AddrMailbox, dueAtKey(origin, due.next), cbor.AppendUint(nil, uint64(h)))
	due.next++
	writeSpan(o, dueKey(origin), due)
	return join(o, origin)
}

// Due returns the first item of an origin whose height has come, nil where there is
// none. A long payload is not in it ([Open]).
func Due(v state.View, origin chain.Address) (*Item, error) {
	h, ok, err := firstDue(v, origin)
	if err != nil || !ok {
		return nil, err
	}
	list, _, err := readSpan(v, lateKey(h, origin))
	if err != nil {
		return nil, err
	}
	it, err := readItemAt(v, lateAtKey(h, origin, list.first))
	if err == nil && (!it.Late || it.Origin != origin) {
		err = fmt.Errorf("%w: item of %s, deferred: %v, among those of %s", ErrRecord, it.Origin, it.Late, origin)
	}
	return it, err
}

// firstDue returns the first height of an origin that has come.
func firstDue(v state.View, origin chain.Address) (h chain.Height, ok bool, err error) {
	due, _, err := readSpan(v, dueKey(origin))
	if err != nil || due.len() == 0 {
		return 0, false, err
	}
	n, ok, err := readCount(v, dueAtKey(origin, due.first))
	if err == nil && !ok {
		err = fmt.Errorf("%w: height %d of %s is missing", ErrRecord, due.first, origin)
	}
	return chain.Height(n), ok, err
}

// TakeDue removes the item that [Due] returned.
func TakeDue(o *state.Overlay, origin chain.Address) error {
	h, ok, err := firstDue(o, origin)
	if err == nil && !ok {
		err = fmt.Errorf("%w: nothing of %s is due", ErrRecord, origin)
	}
	if err != nil {
		return err
	}
	list, _, err := readSpan(o, lateKey(h, origin))
	if err != nil {
		return err
	}
	erase(o, lateAtKey(h, origin, list.first))
	if list.first++; list.len() > 0 {
		writeSpan(o, lateKey(h, origin), list)
		return nil
	}
	erase(o, lateKey(h, origin))
	due, _, err := readSpan(o, dueKey(origin))
	if err != nil {
		return err
	}
	erase(o, dueAtKey(origin, due.first))
	if due.first++; due.len() > 0 {
		writeSpan(o, dueKey(origin), due)
	} else {
		erase(o, dueKey(origin))
	}
	return nil
}

// clock is the lowest height that may hold entries of origins, and how many of them
// there are at heights at all; it is kept only as long as there are any.
type clock struct {
	at      chain.Height
	entries uint64
}

func readClock(v state.View, k state.StorageKey) (clock, bool, error) {
	n, ok, err := readPair(v, k)
	return clock{chain.Height(n[0]), n[1]}, ok, err
}

func (c clock) write(o *state.Overlay, k state.StorageKey) {
	if c.entries == 0 {
		erase(o, k)
		return
	}
	writePair(o, k, uint64(c.at), c.entries)
}

// expect counts one more entry at a height above the present one.
func expect(o *state.Overlay, k state.StorageKey, now chain.Height) error {
	c, ok, err := readClock(o, k)
	if err != nil {
		return err
	}
	if !ok {
		c.at = now + 1
	}
	c.entries++
	c.write(o, k)
	return nil
}
