//spec:implements CIP-11 9.2
//spec:implements restored 9.3

package selection

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// tree is the Merkle tree of a snapshot's candidates, all nodes of it: level by level from
// the leaves up, each level behind the one before. The last node of an odd level is its own
// sibling. [chain.CandidatesRoot] is the plain form of its root.
type tree struct {
	nodes  [][keccak.Size]byte
	levels []span // none for a snapshot without candidates
}

// span is where a level lies among the nodes.
type span struct{ from, n int }

// batchNodes is how many nodes are hashed at a time, so that their preimages stay in the
// cache.
const batchNodes = 128

// grow hashes the tree of candidates in their order.
func grow(list []chain.Candidate) tree {
	if len(list) == 0 {
		return tree{}
	}
	t := tree{nodes: make([][keccak.Size]byte, countNodes(len(list)))}
	var b batch
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for i := range list {
		k := b.room(t.nodes)
		b.leaves[k].Set(uint32(i), &list[i])
		b.msgs[k] = b.leaves[k][:]
	}
	level := span{0, len(list)}
	// Bounded: by the number of levels, 17 for 65,536 candidates.
	for {
		b.flush(t.nodes)
		t.levels = append(t.levels, level)
		if level.n == 1 {
			return t
		}
		row := t.nodes[level.from : level.from+level.n]
		// Bounded: by the nodes of the level, fewer than the candidates.
		for left := 0; left < len(row); left += 2 {
			right := min(left+1, len(row)-1)
			k := b.room(t.nodes)
			b.inner[k].Set((*chain.Hash)(&row[left]), (*chain.Hash)(&row[right]))
			b.msgs[k] = b.inner[k][:]
		}
		level = span{level.from + level.n, (level.n + 1) / 2}
	}
}

// countNodes returns how many nodes the tree of n leaves has.
func countNodes(n int) int {
	total := n
	// Bounded: by the number of levels.
	for ; n > 1; n = (n + 1) / 2 {
		total += (n + 1) / 2
	}
	return total
}

// batch collects preimages and hashes them together into the next nodes.
type batch struct {
	leaves [batchNodes]chain.CandidateLeafPreimage
	inner  [batchNodes]chain.CandidatesInnerPreimage
	msgs   [batchNodes][]byte // each in one of these
	n      int                // msgs that are not hashed
	done   int                // nodes that are
}

// room returns where the next preimage goes, once a full batch is hashed.
func (b *batch) room(nodes [][keccak.Size]byte) int {
	if b.n == batchNodes {
		b.flush(nodes)
	}
	b.n++
	return b.n - 1
}

// flush hashes what is collected.
func (b *batch) flush(nodes [][keccak.Size]byte) {
	keccak.SumMany(b.msgs[:b.n], nodes[b.done:b.done+b.n])
	b.done += b.n
	b.n = 0
}

// root returns candidates_snapshot_root.
func (t *tree) root() chain.Hash {
	if len(t.levels) == 0 {
		return chain.NoCandidates()
	}
	return chain.Hash(t.nodes[len(t.nodes)-1])
}

// siblings returns the nodes beside the way from leaf i to the root.
func (t *tree) siblings(i int) []chain.Hash {
	out := make([]chain.Hash, 0, len(t.levels)-1)
	// Bounded: by the number of levels.
	for _, level := range t.levels[:len(t.levels)-1] {
		out = append(out, chain.Hash(t.nodes[level.from+min(i^1, level.n-1)]))
		i /= 2
	}
	return out
}

// maxSiblings is the longest proof: an index has 32 bits.
const maxSiblings = 32

// Proof says that a candidate stands at an index of the snapshot with a certain root,
// with the inputs of its weight (CIP-11 §9.2).
type Proof struct {
	Index     uint32
	Candidate chain.Candidate
	Siblings  []chain.Hash // from the leaf up
}

// Verify reports whether the proof leads to root. A leaf holds its index, so a node that
// stands twice at the end of an odd level proves nothing at its second place.
func (p *Proof) Verify(root chain.Hash) bool {
	if len(p.Siblings) > maxSiblings || uint64(p.Index)>>len(p.Siblings) != 0 {
		return false
	}
	node := chain.CandidateLeaf(p.Index, p.Candidate)
	// Bounded: by maxSiblings.
	for level := range p.Siblings {
		left, right := &node, &p.Siblings[level]
		if p.Index>>level&1 == 1 {
			left, right = right, left
		}
		node = chain.CandidatesInner(left, right)
	}
	return node == root
}
