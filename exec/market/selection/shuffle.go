package selection

import (
	"cmp"
	"slices"
)

// shuffle is a pool in the course of a draw: the order of its members changes with every
// step, and those that are drawn leave it. It does not copy the pool. What has moved is
// noted beside it, one note a step at most; every other place holds the member of its own
// number, so that the sum of the weights over a stretch of places is a difference of two
// sums of the pool, and the place of a ticket is found by bisection.
type shuffle struct {
	pool     *pool
	from, to uint32  // the places that are still in the draw
	total    wide    // of their base weights
	moved    []moved // ascending by place, all within from and to
	bias     bias
}

// moved says which member is at a place that was another's.
type moved struct {
	place  uint32
	member uint32
}

// bias multiplies the weight of one member while it is on.
type bias struct {
	on     bool
	place  uint32
	factor uint32 // at least 1
}

func newShuffle(p *pool) shuffle {
	n := uint32(p.len())
	return shuffle{pool: p, to: n, total: p.before(n)}
}

func (s *shuffle) empty() bool { return s.from == s.to }

// weighed returns the sum of what the members at the places in the draw weigh now.
func (s *shuffle) weighed() wide {
	if !s.bias.on {
		return s.total
	}
	w := s.pool.weight(s.bias.place)
	return s.total.minus(w).plus(times(w.lo, uint64(s.bias.factor)))
}

// weight returns what the member at a place weighs now.
func (s *shuffle) weight(place, member uint32) wide {
	w := s.pool.weight(member)
	if s.bias.on && s.bias.place == place {
		return times(w.lo, uint64(s.bias.factor))
	}
	return w
}

// pick returns the place that a ticket falls on: the first at which the weights up to and
// with it are over the ticket. The ticket is below [shuffle.weighed].
func (s *shuffle) pick(ticket uint64) uint32 {
	at := s.from
	left := ticket
	// Bounded: by the steps of the draw, and one for the biased place.
	for _, special := range s.special() {
		stretch := s.stretch(at, special.place)
		if stretch.over(left) {
			return s.bisect(at, special.place, left)
		}
		left -= stretch.lo // not over, so it has no upper word
		w := s.weight(special.place, special.member)
		if w.over(left) {
			return special.place
		}
		left -= w.lo
		at = special.place + 1
	}
	return s.bisect(at, s.to, left)
}

// special returns the places whose weight is not the one that the pool has there.
func (s *shuffle) special() []moved {
	if s.bias.on { // before anything has moved
		return []moved{{s.bias.place, s.bias.place}}
	}
	return s.moved
}

// stretch returns the sum of the pool's weights at places from a to b, without b.
func (s *shuffle) stretch(a, b uint32) wide {
	return s.pool.before(b).minus(s.pool.before(a))
}

// bisect returns the place between a and b, without b, on which left falls, where nothing
// has moved.
func (s *shuffle) bisect(a, b uint32, left uint64) uint32 {
	goal := s.pool.before(a).plus(wide{lo: left})
	low, high := a, b-1
	// Bounded: by the bits of the number of candidates.
	for low < high {
		middle := low + (high-low)/2
		if goal.less(s.pool.before(middle + 1)) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// member returns who is at a place.
func (s *shuffle) member(place uint32) uint32 {
	if k, ok := s.note(place); ok {
		return s.moved[k].member
	}
	return place
}

func (s *shuffle) note(place uint32) (int, bool) {
	// Bounded: by the bits of the number of steps.
	return slices.BinarySearchFunc(s.moved, place, func(m moved, p uint32) int { return cmp.Compare(m.place, p) })
}

// set puts a member at a place.
func (s *shuffle) set(place, member uint32) {
	k, ok := s.note(place)
	if ok {
		s.moved[k].member = member
		return
	}
	// Bounded: by the steps of the draw.
	s.moved = slices.Insert(s.moved, k, moved{place, member})
}

// forget drops the note of a place that leaves the draw.
func (s *shuffle) forget(place uint32) {
	if k, ok := s.note(place); ok {
		// Bounded: by the steps of the draw.
		s.moved = slices.Delete(s.moved, k, k+1)
	}
}

// swapFront takes the member at a place out of the draw as CIP-2 §5 does: it changes places
// with the first, and the draw goes on behind it.
func (s *shuffle) swapFront(place uint32) {
	member, first := s.member(place), s.member(s.from)
	s.forget(s.from)
	if place != s.from {
		s.set(place, first)
	}
	s.from++
	s.total = s.total.minus(s.pool.weight(member))
}

// swapRemove takes the member at a place out of the draw as CIP-11 §9.2 does: the last one
// takes its place.
func (s *shuffle) swapRemove(place uint32) {
	member, last := s.member(place), s.member(s.to-1)
	s.forget(s.to - 1)
	s.to--
	if place != s.to {
		s.set(place, last)
	}
	s.total = s.total.minus(s.pool.weight(member))
}
