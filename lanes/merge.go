package lanes

import (
	"cmp"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// A stretch of arrivals is sorted by counting while it spans few operations; a
// level that holds few of the operations' transactions is walked in longer
// stretches, until each is worth its fixed cost.
const (
	stretchBitsMin = 9   // the first: small blocks are filled from it
	stretchBitsMax = 13  // sorted by counting
	stretchEnough  = 512 // entries that need no longer stretch
	stretchKept    = 1 << 14
)

// arrivals merges the turns of one level of all shards by arrival. It draws,
// from every shard, what arrived within one stretch of operations, and sorts
// that.
//
// A heap of the shards' first turns would give the same order, but each of its
// steps would wait for the one before. Here nothing waits: neither for the
// order, nor for an entry, whose place stands beside it.
type arrivals struct {
	rest   [numShards][]arrival // of each shard that has more: what was not drawn
	shards int
	span   int // bits of the operations of the next stretch
	drawn  []arrival
	sorted []arrival
	counts [1<<stretchBitsMax + 1]int32
}

// gather starts at the first arrival of a level. All shards are held.
func (a *arrivals) gather(s *pool, lane chain.LaneID, l level) {
	a.shards, a.span = 0, stretchBitsMin
	for i := range s.shards {
		if list := s.shards[i].lanes[lane].turns[l].remaining(); len(list) > 0 {
			a.rest[a.shards] = list
			a.shards++
		}
	}
}

// stretch returns the next arrivals in order, at least one, or none at the end.
// The slice is good until the next call.
func (a *arrivals) stretch() []arrival {
	if a.shards == 0 {
		return nil
	}
	first := a.rest[0][0].seq >> stepBits
	for _, list := range a.rest[1:a.shards] {
		first = min(first, list[0].seq>>stepBits)
	}
	a.draw((first+1<<a.span)<<stepBits - 1)
	out := a.sort(first)
	switch {
	case len(out) < stretchEnough && a.span < 64-stepBits-1:
		a.span++
	case len(out) >= 4*stretchEnough:
		a.span = max(a.span-1, stretchBitsMin)
	}
	return out
}

// draw takes from each shard what stands up to last. What one shard gives stays
// in order.
func (a *arrivals) draw(last uint64) {
	a.drawn = a.drawn[:0]
	for i := 0; i < a.shards; {
		list := a.rest[i]
		n := 0
		for n < len(list) && list[n].seq <= last {
			n++
		}
		a.drawn = append(a.drawn, list[:n]...)
		if a.rest[i] = list[n:]; n == len(list) { // at its end
			a.shards--
			a.rest[i] = a.rest[a.shards]
			continue
		}
		i++
	}
}

// sort puts what was drawn into order. The steps of one operation are all of
// one shard, so a stable sort by operations is enough.
func (a *arrivals) sort(first uint64) []arrival {
	if a.span > stretchBitsMax || len(a.drawn) <= 64 {
		slices.SortFunc(a.drawn, func(x, y arrival) int { return cmp.Compare(x.seq, y.seq) })
		return a.drawn
	}
	counts := a.counts[:1<<a.span+1]
	clear(counts)
	for i := range a.drawn {
		counts[a.drawn[i].seq>>stepBits-first+1]++
	}
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	a.sorted = slices.Grow(a.sorted[:0], len(a.drawn))[:len(a.drawn)]
	for _, x := range a.drawn {
		at := &counts[x.seq>>stepBits-first]
		a.sorted[*at] = x
		*at++
	}
	return a.sorted
}

// clearEntries lets go of the entries, which may leave the pool, and of memory that
// only an unusual pool needs.
func (a *arrivals) clearEntries() {
	clear(a.rest[:])
	for _, kept := range []*[]arrival{&a.drawn, &a.sorted} {
		if cap(*kept) > stretchKept {
			*kept = nil
		}
		clear((*kept)[:cap(*kept)])
	}
}
