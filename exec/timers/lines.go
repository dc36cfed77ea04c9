package timers

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// line is where a timer of a block stands when the block comes: the lists of a slot are
// emptied in this order, so that neither many timers of few actors nor timers that were
// put off stand before the first one of an actor (ADR 207).
type line uint8

const (
	firsts  line = iota // each actor's first for the block
	seconds             // its second
	fourths             // its third and fourth
	others              // the rest of an actor's
	putOff              // could not fire when they were due
	lines
)

// lineOf is the line of an actor's k-th timer for one block, k from 1.
func lineOf(k uint64) line { return min(line(bits.Len64(k-1)), others) }

// leastSteps are what a line has at the least of a block: one passes the present height,
// the other makes up for one that was missed.
const leastSteps = 2

// fall moves the timers whose block has come out of the ring. An eighth of the moves is
// kept for each line, and what a line does not need goes to the others, in their order.
func (q *queue) fall() error {
	left := q.limits().MovesPerBlock
	least := max(left/8, leastSteps)
	var done [lines]bool
	// Bounded: by two rounds, of the least and of what is left.
	for _, rest := range [...]bool{false, true} {
		// Bounded: by the lines, five.
		for l := range lines {
			most := least
			if rest {
				most = left
			}
			if done[l] || most == 0 {
				continue
			}
			steps, err := q.fallLine(l, most)
			if err != nil {
				return err
			}
			done[l] = q.behind[l] == 0
			left -= min(steps, left)
		}
	}
	return nil
}

// fallLine moves timers of one line, in the order of their heights, and passes heights
// that have none: most steps of either kind. It returns how many it took.
func (q *queue) fallLine(l line, most uint64) (steps uint64, err error) {
	at := q.Height
	if q.behind[l] != 0 {
		at = q.behind[l]
	}
	// Bounded: by most, timer.moves_per_block or a part of it, 512.
	for ; steps < most && at <= q.Height; steps++ {
		id, err := q.firstOf(l, at)
		if err != nil {
			return steps, err
		}
		if id == (ID{}) {
			at++
			continue
		}
		if err := q.move(id); err != nil {
			return steps, err
		}
	}
	if q.behind[l] = at; at > q.Height {
		q.behind[l] = 0
	}
	return steps, nil
}

// firstOf returns the first timer of a line that waits for a height; zero where none does.
func (q *queue) firstOf(l line, at chain.Height) (ID, error) {
	e, err := q.loadEnds(inRing, q.slot(at, l))
	if err != nil || e.first == (ID{}) {
		return ID{}, err
	}
	first, err := loadLink(q.o, inRing.home(), e.first)
	if err != nil || first.due > at { // of a later lap
		return ID{}, err
	}
	return e.first, nil
}

// anyDue reports whether a line is behind, or its list of the present height holds some.
func (q *queue) anyDue() (bool, error) {
	// Bounded: by the lines, five.
	for l := range lines {
		if q.behind[l] != 0 {
			return true, nil
		}
		e, err := q.loadEnds(inRing, q.slot(q.Height, l))
		if err != nil || e.first != (ID{}) {
			return err == nil, err
		}
	}
	return false, nil
}
