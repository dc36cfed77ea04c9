//spec:implements CIP-2 4
//spec:implements CIP-11 9.2

package selection

import (
	"bytes"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Snapshot is the candidates of a job at the end of its submission block with what is
// needed to draw from them, and to prove who they were. Jobs that want the same of their
// runners share it. It does not change, and may be read by many at once.
type Snapshot struct {
	list []chain.Candidate // ascending by address
	tree tree
	all  pool
}

// Take makes the snapshot of candidates that ascend strictly by address (CIP-2 §4). It
// keeps the list.
func Take(list []chain.Candidate) *Snapshot {
	s := &Snapshot{list: list, tree: grow(list)}
	s.all = pool{sums: make([]wide, len(list)+1)}
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for i := range list {
		s.all.sums[i+1] = s.all.sums[i].plus(wide{lo: list[i].BaseWeight})
	}
	return s
}

// CandidatesRoot returns candidates_snapshot_root (CIP-11 §9.2).
func (s *Snapshot) CandidatesRoot() chain.Hash { return s.tree.root() }

// Candidates returns the candidates, ascending by address. They are only read.
func (s *Snapshot) Candidates() []chain.Candidate { return s.list }

// IndexOf returns the index of a runner among the candidates.
func (s *Snapshot) IndexOf(runner chain.Address) (int, bool) {
	// Bounded: by the bits of the number of candidates.
	return slices.BinarySearchFunc(s.list, runner, func(c chain.Candidate, r chain.Address) int {
		// Bounded: by 20 bytes.
		return bytes.Compare(c.Runner[:], r[:])
	})
}

// Prove returns the proof of the candidate at an index; false beyond the last.
func (s *Snapshot) Prove(index int) (Proof, bool) {
	if index < 0 || index >= len(s.list) {
		return Proof{}, false
	}
	return Proof{Index: uint32(index), Candidate: s.list[index], Siblings: s.tree.siblings(index)}, true
}

// pool is a list of candidates to draw from, ascending by address, with the sum of the
// weights before each.
type pool struct {
	members []uint32 // indices in the snapshot; nil means all of them
	sums    []wide   // sums[k] is that of the first k members; one more than there are members
}

func (p *pool) len() int { return len(p.sums) - 1 }

// weight returns the base weight of member k.
func (p *pool) weight(k uint32) wide { return p.sums[k+1].minus(p.sums[k]) }

// candidate returns the index in the snapshot of member k.
func (p *pool) candidate(k uint32) uint32 {
	if p.members == nil {
		return k
	}
	return p.members[k]
}

// memberOf returns the member that is the candidate at an index of the snapshot.
func (p *pool) memberOf(index uint32) (uint32, bool) {
	if p.members == nil {
		return index, true
	}
	// Bounded: by the bits of the number of candidates.
	k, ok := slices.BinarySearch(p.members, index)
	return uint32(k), ok
}

// without returns the pool of all candidates but those of some runners. Runners that are
// no candidates change nothing.
func (s *Snapshot) without(excluded []chain.Address) pool {
	var gone []uint32
	// Bounded: by the seats of the rounds before.
	for _, runner := range excluded {
		if i, ok := s.IndexOf(runner); ok {
			gone = append(gone, uint32(i))
		}
	}
	if len(gone) == 0 {
		return s.all
	}
	// Bounded: by the seats of the rounds before.
	slices.Sort(gone)
	// Bounded: by the seats of the rounds before.
	gone = slices.Compact(gone) // who is named twice goes once
	out := newPool(len(s.list))
	// Bounded: by the candidates; the requester paid for them, round for round.
	for i := range uint32(len(s.list)) {
		if len(gone) > 0 && gone[0] == i {
			gone = gone[1:]
			continue
		}
		out.push(s, i)
	}
	return out
}

// split divides a pool in two: those who are present, and the rest. It is stable (CIP-11
// §9.2 partition).
func (s *Snapshot) split(p *pool, present func(runner chain.Address) bool) (here, rest pool) {
	here, rest = newPool(p.len()), newPool(p.len())
	// Bounded: by the candidates; the requester paid for them.
	for k := range uint32(p.len()) {
		i := p.candidate(k)
		if present(s.list[i].Runner) {
			here.push(s, i)
		} else {
			rest.push(s, i)
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
