package selection

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// pool is a list of candidates to draw from, ascending by address, with the sum of the
// weights before each. Who is left out of one round stays in the list and is noted beside
// it, so that no list is made for a round; what the methods number are the others.
type pool struct {
	members  []uint32 // indices in the snapshot; nil means all of them
	sums     []wide   // sums[k] is that of the first k in the list; one more than there are
	gone     []uint32 // places in the list of those who are left out, ascending
	goneSums []wide   // goneSums[e] is the weight of the first e of them; one more
}

func (p *pool) len() int { return len(p.sums) - 1 - len(p.gone) }

// skipped returns how many are left out before member k.
func (p *pool) skipped(k uint32) uint32 {
	low, high := 0, len(p.gone)
	// Bounded: by the bits of the seats of the rounds before.
	for low < high {
		middle := (low + high) / 2
		if p.gone[middle]-uint32(middle) <= k {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return uint32(low)
}

// before returns the sum of the base weights of the first k members.
func (p *pool) before(k uint32) wide {
	if len(p.gone) == 0 {
		return p.sums[k]
	}
	e := p.skipped(k)
	return p.sums[k+e].minus(p.goneSums[e])
}

// weight returns the base weight of member k.
func (p *pool) weight(k uint32) wide {
	at := k + p.skipped(k)
	return p.sums[at+1].minus(p.sums[at])
}

// candidate returns the index in the snapshot of member k.
func (p *pool) candidate(k uint32) uint32 {
	at := k + p.skipped(k)
	if p.members == nil {
		return at
	}
	return p.members[at]
}

// listed returns where in the list the candidate stands that has an index in the snapshot.
func (p *pool) listed(index uint32) (uint32, bool) {
	if p.members == nil {
		return index, true
	}
	// Bounded: by the bits of the number of candidates.
	at, ok := slices.BinarySearch(p.members, index)
	return uint32(at), ok
}

// memberOf returns the member that is the candidate at an index of the snapshot.
func (p *pool) memberOf(index uint32) (uint32, bool) {
	at, ok := p.listed(index)
	// Bounded: by the bits of the seats of the rounds before.
	e, out := slices.BinarySearch(p.gone, at)
	return at - uint32(e), ok && !out
}

// without returns the pool without the candidates at some indices of the snapshot, which
// ascend; those that are not in the pool change nothing. Nobody is left out of p itself.
func (p *pool) without(indices []uint32) pool {
	out := pool{members: p.members, sums: p.sums}
	// Bounded: by the seats of the rounds before.
	for _, index := range indices {
		at, ok := p.listed(index)
		if !ok {
			continue
		}
		if out.gone == nil {
			out.goneSums = make([]wide, 1, len(indices)+1)
		}
		out.gone = append(out.gone, at)
		out.goneSums = append(out.goneSums, out.goneSums[len(out.goneSums)-1].plus(p.weight(at)))
	}
	return out
}

// split divides the snapshot in two: those who are present, and the rest. It is stable
// (CIP-11 §9.2 partition).
func (s *Snapshot) split(present func(runner chain.Address) bool) (here, rest pool) {
	here, rest = newPool(len(s.list)), newPool(len(s.list))
	// Bounded: by the candidates, once for a block; their requesters paid for them.
	for i := range s.list {
		if present(s.list[i].Runner) {
			here.push(s, uint32(i))
		} else {
			rest.push(s, uint32(i))
		}
	}
	return here, rest
}

func newPool(capacity int) pool {
	return pool{members: make([]uint32, 0, capacity), sums: make([]wide, 1, capacity+1)}
}

// push appends the candidate at an index of the snapshot, which is above the last one.
func (p *pool) push(s *Snapshot, index uint32) {
	p.members = append(p.members, index)
	p.sums = append(p.sums, p.sums[len(p.sums)-1].plus(wide{lo: s.list[index].BaseWeight}))
}
