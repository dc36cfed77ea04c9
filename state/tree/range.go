package tree

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// ErrRange means that entries are not what the trie holds in the range that a
// proof is for: one is missing, surplus, changed or out of order.
var ErrRange = errors.New("tree: entries are not the trie's")

// Entry is a key of a trie with its value, as the leaf holds it.
type Entry struct {
	Key   chain.Hash
	Value []byte
}

// JoinProofs makes one proof of those of two keys of the same trie, the smaller
// one first: the nodes on the way to the first, then those on the way to the
// second that are not among them. It is what [VerifyRange] takes, and what
// go-ethereum's trie.VerifyRangeProof takes as a set.
func JoinProofs(first, second [][]byte) [][]byte {
	same := 0
	for same < len(first) && same < len(second) && bytes.Equal(first[same], second[same]) {
		same++
	}
	return append(first[:len(first):len(first)], second[same:]...)
}

// VerifyRange checks that entries are all that the trie with the given root
// holds from the key from up to the last entry, or, without entries, up to the
// end: that there are none. It reports whether the trie goes on behind them.
//
// proof is that of from, joined with that of the last entry ([JoinProofs]), of
// the same trie. An empty proof stands for the whole trie: then entries must be
// all of it. A proof with a node too many is refused like one with a node too
// few. The error is [ErrProof] or [ErrRange]; whoever sent the three together
// is wrong in either case.
//
// The work is that of hashing the entries and the branches above them, each
// once. What is right is decided from the root down: a subtree that lies wholly
// inside the range is built from the entries alone and held to the hash that its
// parent has for it.
//
// Soundness, if keccak-256 has no collisions: the walk visits the nodes whose path is the
// beginning of from or of the last key. By induction from the root each is the trie's own,
// as its encoding has the hash that its visited parent holds. Every child of a visited
// node is visited itself, lies before from or behind the last key and is passed over, or
// lies wholly between. One between is claimed for exactly the entries whose keys go
// through it, and its reference, which the trie's own parent holds, equals that of the
// subtree built from these entries; equal references mean equal sets. Entries that go
// where a visited node has no child are refused by none. So the keys of the trie from from
// to the last entry are those of the entries, with their values.
//
// Complete, since the proofs that [Prove] gives hold every visited node in the order of the
// walk. The depth of the recursion is bounded by keyNibbles, whatever the proof holds.
func VerifyRange(root, from chain.Hash, entries []Entry, proof [][]byte) (more bool, err error) {
	if err := checkEntries(from, entries); err != nil {
		return false, err
	}
	if root == EmptyRoot {
		if len(entries) != 0 || len(proof) != 0 {
			return false, fmt.Errorf("%w: the trie is empty", ErrRange)
		}
		return false, nil
	}
	c := rangeCheck{from: from, proof: proof, seedling: seedling{entries: entries}}
	if len(proof) == 0 {
		if len(entries) == 0 {
			return false, fmt.Errorf("%w: the trie is not empty", ErrRange)
		}
		c.claim(0, len(entries), 0, hashReference(root))
		return false, c.verifyReferences()
	}
	bounded := len(entries) > 0
	if bounded {
		c.last = entries[len(entries)-1].Key
	}
	at := place{n: &unread{ref: hashReference(root)}, end: len(entries), above: true, below: bounded}
	if err := c.visit(at); err != nil {
		return false, err
	}
	if c.used != len(proof) {
		return false, fmt.Errorf("%w: %d nodes of %d used", ErrProof, c.used, len(proof))
	}
	return c.more, c.verifyReferences()
}

func checkEntries(from chain.Hash, entries []Entry) error {
	least := from[:]
	for i := range entries {
		c := bytes.Compare(entries[i].Key[:], least)
		if c < 0 || c == 0 && i > 0 {
			return fmt.Errorf("%w: entry %d is out of order", ErrRange, i)
		}
		if len(entries[i].Value) == 0 {
			return fmt.Errorf("%w: entry %d has no value", ErrRange, i)
		}
		least = entries[i].Key[:]
	}
	return nil
}

// rangeCheck walks the two edges of a range.
type rangeCheck struct {
	from, last chain.Hash
	proof      [][]byte
	used       int
	more       bool // something lies behind the range
	seedling
}

// place is a subtree with the entries that would be in it. above tells that the
// path so far is the beginning of from, so that part of the subtree may lie
// before the range; below tells the same of last.
type place struct {
	n            node
	depth        int // nibbles of the path
	start, end   int // of the entries
	above, below bool
}

func (c *rangeCheck) visit(p place) error {
	if p.n == nil {
		return c.none(p)
	}
	if !p.above && !p.below {
		if p.start == p.end {
			return fmt.Errorf("%w: a subtree is missing", ErrRange)
		}
		c.claim(p.start, p.end, p.depth, *p.n.reference())
		return nil
	}
	switch n := p.n.(type) {
	case *unread:
		return c.read(n, p)
	case *leaf:
		return c.leaf(n, p)
	case *extension:
		return c.extension(n, p)
	case *branch:
		return c.branch(n, p)
	default:
		panic("tree: unknown kind of node")
	}
}

// none refuses entries where there is nothing.
func (c *rangeCheck) none(p place) error {
	if p.start != p.end {
		return fmt.Errorf("%w: %d entries too many", ErrRange, p.end-p.start)
	}
	return nil
}

// read goes on with the next node of the proof.
func (c *rangeCheck) read(u *unread, p place) (err error) {
	if c.used == len(c.proof) {
		return fmt.Errorf("%w: ends after %d nodes", ErrProof, c.used)
	}
	enc := c.proof[c.used]
	if chain.Hash(keccak.Sum256(enc)) != u.hash() {
		return fmt.Errorf("%w: node %d is not %s", ErrProof, c.used, u.hash())
	}
	if p.n, err = decode(enc); err != nil {
		return fmt.Errorf("%w: node %d: %w", ErrProof, c.used, err)
	}
	c.used++
	return c.visit(p)
}

// descend goes one nibble down. It reports on which side of the range the path
// lies then: -1 before it, 1 behind it, 0 neither.
func (c *rangeCheck) descend(p *place, x int) int {
	if p.above {
		edge := nibble(c.from[:], p.depth)
		if x < edge {
			return -1
		}
		p.above = x == edge
	}
	if p.below {
		edge := nibble(c.last[:], p.depth)
		if x > edge {
			c.more = true
			return 1
		}
		p.below = x == edge
	}
	p.depth++
	return 0
}

func (c *rangeCheck) leaf(n *leaf, p place) error {
	if p.depth+len(n.rest) != keyNibbles {
		return fmt.Errorf("%w: a key is not %d bytes long", ErrProof, keyBytes)
	}
	start := p.depth
	for _, x := range n.rest {
		if c.descend(&p, int(x)) != 0 {
			return c.none(p)
		}
	}
	if p.end-p.start != 1 {
		return fmt.Errorf("%w: %d entries in place of one", ErrRange, p.end-p.start)
	}
	e := &c.entries[p.start]
	for i, x := range n.rest {
		if nibble(e.Key[:], start+i) != int(x) {
			return fmt.Errorf("%w: key %s", ErrRange, e.Key)
		}
	}
	if !bytes.Equal(e.Value, n.value) {
		return fmt.Errorf("%w: value of %s", ErrRange, e.Key)
	}
	return nil
}

func (c *rangeCheck) extension(n *extension, p place) error {
	if p.depth+len(n.rest) >= keyNibbles {
		return fmt.Errorf("%w: a key is longer than %d bytes", ErrProof, keyBytes)
	}
	for _, x := range n.rest {
		at := p.depth
		if c.descend(&p, int(x)) != 0 {
			return c.none(p)
		}
		for _, i := range []int{p.start, p.end - 1} {
			if p.start < p.end && nibble(c.entries[i].Key[:], at) != int(x) {
				return fmt.Errorf("%w: key %s", ErrRange, c.entries[i].Key)
			}
		}
	}
	p.n = n.child
	return c.visit(p)
}

func (c *rangeCheck) branch(n *branch, p place) error {
	if p.depth >= keyNibbles || n.value != nil {
		return fmt.Errorf("%w: keys are not all %d bytes long", ErrProof, keyBytes)
	}
	start := p.start
	for x, kid := range n.kids {
		next := place{n: kid, depth: p.depth, start: start, above: p.above, below: p.below}
		for start < p.end && nibble(c.entries[start].Key[:], p.depth) == x {
			start++
		}
		next.end = start
		err := c.none(next)
		if kid != nil && c.descend(&next, x) == 0 {
			err = c.visit(next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
