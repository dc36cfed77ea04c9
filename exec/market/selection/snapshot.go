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
	s.all.sums = make([]wide, len(list)+1)
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
