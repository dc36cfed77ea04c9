package mailbox

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

func dayKey(h chain.Height) state.StorageKey { return key("day/", be64(uint64(h))) }

func lateKey(h chain.Height, place uint64) state.StorageKey {
	return key("late/", be64(uint64(h)), be64(place))
}

func clockKey() state.StorageKey { return key("clock") }

// MaxAhead is how many blocks ahead a message may be deferred.
const MaxAhead = 2_592_000

// Defer keeps an item for the block at height h, above the present one. The
// verdict is [ErrFull] when so many are kept for that height already.
func Defer(o *state.Overlay, now, h chain.Height, it *Item, most uint64) error {
	if h <= now {
		return fmt.Errorf("defer from %d to height %d", now, h) // the caller has judged it
	}
	day, _, err := readSpan(o, dayKey(h))
	if err != nil {
		return err
	}
	if day.len() >= most {
		return ErrFull
	}
	c, ok, err := readClock(o)
	if err != nil {
		return err
	}
	if !ok {
		c.at = now + 1
	}
	c.items++
	c.write(o)
	late := *it
	late.Late = true
	o.SetStorage(chain.AddrMailbox, lateKey(h, day.next), late.Append(nil))
	day.next++
	writeSpan(o, dayKey(h), day)
	return nil
}

// Release moves items that are due at height h into the boxes of their receivers,
// in the order of their heights and of their coming, and tells moved of each, with
// [ErrFull] of one that found the box full and is no more. It takes at most so
// many steps, but at least the two that catch up with the heights when nothing is
// due; what is left over comes first in the next block.
func Release(o *state.Overlay, h chain.Height, steps, most uint64, moved func(it *Item, err error) error) error {
	c, ok, err := readClock(o)
	if err != nil || !ok {
		return err
	}
	for range max(steps, 2) {
		if c.at > h || c.items == 0 {
			break
		}
		day, ok, err := readSpan(o, dayKey(c.at))
		if err != nil {
			return err
		}
		if day.len() == 0 {
			if ok {
				erase(o, dayKey(c.at))
			}
			c.at++
			continue
		}
		c.items--
		if err := release(o, c.at, day, most, moved); err != nil {
			return err
		}
	}
	c.write(o)
	return nil
}

// release moves the first item of a day.
func release(o *state.Overlay, h chain.Height, day span, most uint64, moved func(it *Item, err error) error) error {
	k := lateKey(h, day.first)
	it, err := readItemAt(o, k)
	if err != nil {
		return err
	}
	if !it.Late {
		return fmt.Errorf("%w: item %x was not deferred", ErrRecord, string(k))
	}
	erase(o, k)
	if day.first++; day.len() == 0 {
		erase(o, dayKey(h))
	} else {
		writeSpan(o, dayKey(h), day)
	}
	if err = Push(o, it, most); err != nil && !errors.Is(err, ErrFull) {
		return err
	}
	return moved(it, err)
}

// clock is the lowest height that may hold deferred items, and how many there
// are at all; it is kept only as long as there are any.
type clock struct {
	at    chain.Height
	items uint64
}

func readClock(v state.View) (clock, bool, error) {
	n, ok, err := readPair(v, clockKey())
	return clock{chain.Height(n[0]), n[1]}, ok, err
}

func (c clock) write(o *state.Overlay) {
	if c.items == 0 {
		erase(o, clockKey())
		return
	}
	writePair(o, clockKey(), uint64(c.at), c.items)
}
