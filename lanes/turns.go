package lanes

import (
	"cmp"
	"slices"
)

// turns are the entries of one fifo that a pick meets, in ascending seq. It is
// an array, because an entry may come to its turn late, with an early place: a
// search finds that place, where a list would have to be walked.
//
// Whatever else waits in the fifo stands behind another entry of its sender
// that a pick comes to later, or behind one that no pick can take now. A pick
// takes the first kind with the entry before it and never meets the second.
type turns struct {
	all  []arrival // all[gone:] are the turns, without entries where these have left in the operation at hand
	gone int
}

// arrival is an entry with its place, so that sorting reads no entries.
type arrival struct {
	seq uint64
	e   *entry
}

// turnsKept is the capacity that a list keeps however few turns it has.
const turnsKept = 64

func (q *turns) remaining() []arrival { return q.all[q.gone:] }

func (q *turns) indexOf(seq uint64) int {
	i, _ := slices.BinarySearchFunc(q.remaining(), seq, func(a arrival, seq uint64) int { return cmp.Compare(a.seq, seq) })
	return q.gone + i
}

func (q *turns) add(e *entry) {
	if len(q.all) == cap(q.all) && 2*q.gone > len(q.all) {
		q.move(q.all[:0])
	}
	a := arrival{e.seq, e}
	if n := len(q.all); n == q.gone || q.all[n-1].seq < e.seq {
		q.all = append(q.all, a) // the usual case: it has just arrived
		return
	}
	q.all = slices.Insert(q.all, q.indexOf(e.seq), a)
}

func (q *turns) remove(e *entry) {
	if i := q.indexOf(e.seq); i == q.gone { // the usual case: it was included
		q.all[i] = arrival{}
		q.gone++
	} else {
		q.all = slices.Delete(q.all, i, i+1)
	}
	q.shrink()
}

// vacate is remove that leaves a hole, for who takes many away: compact must follow. It does
// not move those behind.
func (q *turns) vacate(e *entry) {
	q.all[q.indexOf(e.seq)].e = nil // a later one of the same place stands before the hole
}

// compact takes all holes away.
func (q *turns) compact() {
	kept := q.all[:q.gone]
	for _, a := range q.remaining() {
		if a.e != nil {
			kept = append(kept, a)
		}
	}
	clear(q.all[len(kept):])
	q.all = kept
	q.shrink()
}

// shrink gives back memory that only a crowd needed.
func (q *turns) shrink() {
	if n := len(q.remaining()); cap(q.all) > turnsKept && n < cap(q.all)/8 {
		q.move(make([]arrival, 0, 2*n))
	}
}

// move puts the turns into the array of to, which may be the same.
func (q *turns) move(to []arrival) {
	to = append(to, q.remaining()...)
	if len(to) > 0 && len(q.all) > 0 && &to[0] == &q.all[0] {
		clear(q.all[len(to):])
	}
	q.all, q.gone = to, 0
}

// anchorOf returns the entry at whose turn e is taken: e itself if a pick that
// goes from lane to lane, from high tiers to low ones, and in a tier by arrival
// comes to it after all that it must wait for, else the one before it that is
// met last. It is nil if e cannot be in the next block at all: for its own
// level, or for that of one before it, or because it would have to follow one of
// a later lane (resolution 11.15). before is the anchor of the nonce before,
// and not looked at for the first of a chain.
func anchorOf(e, before *entry, first bool) *entry {
	switch {
	case e.level < levelBarred:
		return nil
	case first:
		return e
	case before == nil || e.lane < before.lane:
		return nil
	case e.lane > before.lane || e.level < before.level || e.level == before.level && e.seq > before.seq:
		return e
	}
	return before
}

// updateTurns tells every entry of a chain from place i on at whose turn it is taken and what
// it is worth, after the chain before it or its own place in the lanes changed. From place
// sure on, entries are where they were, so it ends there at the first for which
// nothing before it matters, then or now.
func (h *shard) updateTurns(s *sender, i, sure int) {
	var anchor, before *entry
	if i > 0 {
		before = s.waiting[i-1]
		anchor = before.anchor
	}
	mixed := s.mixed()
	if mixed {
		h.weighAll(s)
	}
	for ; i < len(s.waiting); i++ {
		e := s.waiting[i]
		moved := !mixed && h.lanes[e.lane].weigh(e, before)
		before = e
		was := e.anchor
		anchor = anchorOf(e, anchor, i == 0)
		switch {
		case was == anchor:
		case anchor == e:
			h.lanes[e.lane].meet(e)
		case was == e:
			h.lanes[e.lane].endTurn(e)
		}
		e.anchor = anchor
		if anchor != nil && anchor != e {
			anchor.anchors = true
		}
		if i >= sure && !moved && was == anchor && (anchor == nil || anchor == e) {
			return
		}
	}
}

// meet gives e a turn of its own.
func (q *laneQueue) meet(e *entry) {
	q.turns[e.level].add(e)
	q.met |= 1 << e.level
}

// endTurn takes the turn of e away.
func (q *laneQueue) endTurn(e *entry) {
	t := &q.turns[e.level]
	if q.manyLeave {
		t.vacate(e)
		q.holed |= 1 << e.level
		return
	}
	t.remove(e)
	q.unmeet(e.level)
}

// unmeet notes that a level may have no turns any more.
func (q *laneQueue) unmeet(l level) {
	if len(q.turns[l].remaining()) == 0 {
		q.met &^= 1 << l
	}
}

// leaveMany begins an operation in which many may leave.
func (q *laneQueue) leaveMany() { q.manyLeave = true }

// haveLeft ends it.
func (q *laneQueue) haveLeft() {
	for l, ok := lowestFrom(q.holed, levelQueued); ok; l, ok = lowestFrom(q.holed, l+1) {
		q.turns[l].compact()
		q.unmeet(l)
	}
	q.manyLeave, q.holed = false, 0
}
