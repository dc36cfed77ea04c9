package tree

import "slices"

// slab is what a pool knows of memory from which several records are cut: of a chunk, or of
// half a MiB of large records. Units are those of the records in it: unitBytes in a chunk,
// grainBytes for large records. A record beyond sharedUnits has a chunk number of its own;
// there, only where and ground count.
//
// A slab whose last record is released goes back to the yard whole, for records of any
// size and any pool. Its places on free lists become stale, since turn differs from then on.
type slab struct {
	turn    uint32 // as in the spots of its places that are valid
	where   uint32 // in the yard; of a chunk that is a large record, its place in large
	live    uint16 // units in records
	listed  uint16 // valid places on free lists
	ground  ground
	leaving bool // is being emptied: nothing new comes in
}

// Large records lie at multiples of grainBytes, which the sizes of their classes are.
const (
	grainUnits = 64
	grainBytes = grainUnits * unitBytes
	grainBits  = 9
	noSlab     = 1<<32 - 1 // where, of a record with memory of its own
)

func (s *slab) set(where uint32, g ground) {
	s.where, s.live, s.listed, s.ground, s.leaving = where, 0, 0, g, false
}

// spot is a free place: slab and first unit as in a ref40, without pool, and above that the
// turn of the slab.
type spot uint64

const (
	turnShift = chunkBits + unitBits
	turnMax   = 1<<(64-turnShift) - 1
)

func (s spot) slab() int { return int(s >> unitBits & (chunkMax - 1)) }

func (s spot) unit() int { return int(s & (chunkUnits - 1)) }

func (s spot) turnOf() uint32 { return uint32(s >> turnShift) }

// plot is the room in the slabs of one ground.
type plot struct {
	open int // slab that is being filled; -1 if none
	next int // first unit not yet given out in it
	free [classes][]spot

	listed int // places on all lists
	stale  int // of them, in slabs that were given back or are being emptied
	list   int // where purge goes on
	index  int
}

// reuseStep is how many stale places one record may meet that looks for memory.
const reuseStep = 64

// reuse takes a place of a class from its free list, if there is one within reuseStep of the
// end. So no record pays for a slab of small ones that was given back: what it does not
// look at is for the next, or for purge, and it gets memory that was never used.
func (p *plot) reuse(slabs []slab, list, units int) (number, unit int, ok bool) {
	free := p.free[list]
	for looked := 0; len(free) > 0 && looked < reuseStep; looked++ {
		e := free[len(free)-1]
		free = free[:len(free)-1]
		p.listed--
		s := &slabs[e.slab()]
		if s.turn != e.turnOf() {
			p.stale--
			continue
		}
		s.live += uint16(units)
		s.listed--
		p.free[list] = free
		return e.slab(), e.unit(), true
	}
	p.free[list] = free
	return 0, 0, false
}

// giveBack puts a place on its free list. It returns true if the slab has no record
// any more: the caller gives it back.
func (p *plot) giveBack(slabs []slab, at spot, list, units int) (empty bool) {
	number := at.slab()
	s := &slabs[number]
	s.live -= uint16(units)
	if p.stale > p.listed/staleShare+staleMin {
		p.purge(slabs)
	}
	if s.live == 0 && number != p.open {
		return true
	}
	if !s.leaving {
		s.listed++
		p.listed++
		p.free[list] = append(p.free[list], at|spot(s.turn)<<turnShift)
	}
	return false
}

// markLeaving makes a slab one that is being emptied.
func (p *plot) markLeaving(s *slab) {
	s.leaving = true
	p.stale += int(s.listed)
	s.listed = 0
	s.turn++
}

// forget makes the places of a slab stale that is given back. It returns whether its
// number can be used again: not after 2^28 turns (turnMax), when spots could be taken for
// those of the first.
func (p *plot) forget(s *slab) bool {
	p.markLeaving(s)
	return s.turn < turnMax-1
}

// Stale places are purged when they are more than a share of all, in steps with each
// release, which adds one place at most: so the lists are never much longer than what is
// valid on them, and no call pays for a pass over all.
const (
	staleShare = 4
	staleMin   = 1024
	purgeStep  = 8
)

// purge looks at the next few places and removes the stale ones. A list that has become
// short gives its memory back at the end.
func (p *plot) purge(slabs []slab) {
	for range purgeStep {
		free := p.free[p.list]
		if p.index >= len(free) {
			if cap(free) > 4*len(free)+staleMin {
				p.free[p.list] = slices.Clone(free)
			}
			p.list, p.index = (p.list+1)%classes, 0
			continue
		}
		if e := free[p.index]; slabs[e.slab()].turn == e.turnOf() {
			p.index++
			continue
		}
		free[p.index] = free[len(free)-1]
		p.free[p.list] = free[:len(free)-1]
		p.listed--
		p.stale--
	}
}
