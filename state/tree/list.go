package tree

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// EmptyRoot is the root of a trie without entries.
var EmptyRoot = state.EmptyRoot

// ListRoot commits to a list and its order: the root of the trie that holds
// item i under RLP(i), as Ethereum roots the transactions and receipts of a
// block. Different lists have different roots, also if items are empty, because
// no encoded index is the beginning of another.
//
// The keys of a list are known from its length, so the shape of the trie is, and
// no trie is built: its nodes are listed generation by generation from the root,
// and hashed from the last generation to the first, eight at a time. The plain
// reference is the trie itself ([ProveList]).
func ListRoot(items [][]byte) chain.Hash { return ListRootBy(1, items) }

// ListRootBy is [ListRoot] by so many goroutines at most, which have ended when
// it returns.
func ListRootBy(workers int, items [][]byte) chain.Hash { return new(ListRoots).RootBy(workers, items) }

// ListRoots computes roots of lists one after the other, or several at once, in memory
// that later ones have: some 60 bytes an item, which the collector takes when there are none
// for a while. The zero value is ready. It may be used by any goroutine.
type ListRoots struct{ rooms sync.Pool } // of *listShape

// RootBy is [ListRootBy].
func (r *ListRoots) RootBy(workers int, items [][]byte) chain.Hash {
	if len(items) == 0 {
		return EmptyRoot
	}
	l, ok := r.rooms.Get().(*listShape)
	if !ok {
		l = &listShape{}
	}
	l.fill(items)
	for g := len(l.generations) - 2; g >= 0; g-- {
		l.hashLists(workers, l.generations[g], l.generations[g+1])
	}
	root := chain.Hash(l.digests[0])
	l.items = nil
	r.rooms.Put(l)
	return root
}

// listShape is the trie of a list of items before and while it is hashed.
type listShape struct {
	items [][]byte
	// nodes has the root first, and the children of a node next to each other in
	// the generation after its own.
	nodes []listNode
	// digests has for each node what its parent says of it: its digest, or the
	// first bytes are its encoding.
	digests     [][keccak.Size]byte
	generations []int // where each begins in nodes, and where the last ends
	scratches   []*listScratch
}

// listNode stands above the items whose keys have ranks lo to hi-1 and share
// their first depth nibbles. Above one item it is a leaf; above more it is a
// branch, or an extension where they share the next nibbles, too.
type listNode struct {
	lo, hi int32
	first  int32  // of its children, into nodes
	kids   uint16 // bit i says that a branch has a child at i; of others 0
	depth  uint8
	size   uint8 // bytes of the encoding in place of a digest, 0 if it is hashed
}

// listKey is the RLP of an index, from the highest byte on. Two keys differ before
// the end of the shorter one, so the zeros behind a key take part in no comparison.
type listKey uint64

// keyOf returns the key of index i, below 1<<56, and its length in nibbles.
func keyOf(i uint64) (listKey, int) {
	switch {
	case i == 0:
		return 0x80 << 56, 2
	case i < 0x80:
		return listKey(i << 56), 2
	}
	n := (bits.Len64(i) + 7) / 8
	return listKey(uint64(0x80+n)<<56 | i<<(56-8*n)), 2 + 2*n
}

func (k listKey) nibble(at int) int { return int(k>>(60-4*at)) & 15 }

// index returns the index of the item whose key has a rank: those of one byte that
// is the index come first, then 0, whose key is 0x80, then those behind a length.
func (l *listShape) index(rank int32) int {
	ones := int32(min(len(l.items)-1, 0x7f))
	switch {
	case rank < ones:
		return int(rank) + 1
	case rank == ones:
		return 0
	}
	return int(rank)
}

func (l *listShape) keyAt(rank int32) listKey {
	k, _ := keyOf(uint64(l.index(rank)))
	return k
}

// fill lists the nodes of the trie of other items.
func (l *listShape) fill(items [][]byte) {
	n := len(items)
	l.items, l.generations = items, l.generations[:0]
	l.nodes = append(slices.Grow(l.nodes[:0], n+n/8+32), listNode{hi: int32(n)})
	for begin := 0; begin < len(l.nodes); {
		end := len(l.nodes)
		l.generations = append(l.generations, begin)
		for at := begin; at < end; at++ {
			l.addChildren(at)
		}
		begin = end
	}
	l.generations = append(l.generations, len(l.nodes))
	// Each node's digest is written before its parent reads it.
	l.digests = slices.Grow(l.digests[:0], len(l.nodes))[:len(l.nodes)]
}

// addChildren lists what stands below a node.
func (l *listShape) addChildren(at int) {
	n := l.nodes[at]
	if n.hi-n.lo == 1 {
		return
	}
	n.first = int32(len(l.nodes))
	depth := int(n.depth)
	if same := sameNibbles(l.keyAt(n.lo), l.keyAt(n.hi-1)); same > depth {
		l.nodes = append(l.nodes, listNode{lo: n.lo, hi: n.hi, depth: uint8(same)})
		l.nodes[at] = n
		return
	}
	for lo := n.lo; lo < n.hi; {
		nibble, hi := l.keyAt(lo).nibble(depth), lo+1
		for hi < n.hi && l.keyAt(hi).nibble(depth) == nibble {
			hi++
		}
		l.nodes = append(l.nodes, listNode{lo: lo, hi: hi, depth: n.depth + 1})
		n.kids |= 1 << nibble
		lo = hi
	}
	l.nodes[at] = n
}

func sameNibbles(a, b listKey) int { return bits.LeadingZeros64(uint64(a^b)) / 4 }

// listBatch is how many nodes are encoded and hashed together: lanes stay full, and
// the encodings in the cache.
const listBatch = 64

// hashLists fills in the digests of the nodes from begin to end, whose children have theirs.
// Each goroutine writes digests and sizes of a range of its own, and reads those of the next
// generation, which goroutines wrote that have ended.
func (l *listShape) hashLists(workers, begin, end int) {
	if workers = min(workers, (end-begin)/(4*listBatch)); workers < 2 {
		l.scratch(0).hashRange(l, begin, end)
		return
	}
	share := ((end-begin)/workers + listBatch) &^ (listBatch - 1)
	var running sync.WaitGroup
	for i, from := 0, begin; from < end; i, from = i+1, from+share {
		s := l.scratch(i)
		running.Go(func() { s.hashRange(l, from, min(from+share, end)) })
	}
	running.Wait()
}

// scratch returns that of one of the goroutines of a generation.
func (l *listShape) scratch(i int) *listScratch {
	for len(l.scratches) <= i {
		l.scratches = append(l.scratches, &listScratch{})
	}
	return l.scratches[i]
}

// listScratch is what one goroutine hashes with. Its size follows listBatch and the longest
// items, not the list.
type listScratch struct {
	encoded []byte
	ends    [listBatch]int
	msgs    [listBatch][]byte
}

func (s *listScratch) hashRange(l *listShape, begin, end int) {
	for ; begin < end; begin += listBatch {
		s.hashBatch(l, begin, min(end-begin, listBatch))
	}
}

func (s *listScratch) hashBatch(l *listShape, begin, n int) {
	s.encoded = s.encoded[:0]
	for i := range n {
		s.encoded = l.appendNode(s.encoded, &l.nodes[begin+i])
		s.ends[i] = len(s.encoded)
	}
	from := 0
	for i := range n {
		s.msgs[i] = s.encoded[from:s.ends[i]]
		from = s.ends[i]
	}
	keccak.SumMany(s.msgs[:n], l.digests[begin:begin+n])
	for i := range n {
		if len(s.msgs[i]) < hashedMin && begin+i > 0 { // the root is always hashed
			l.nodes[begin+i].size = uint8(len(s.msgs[i]))
			copy(l.digests[begin+i][:], s.msgs[i])
		}
	}
}

// appendNode appends the RLP of a node.
func (l *listShape) appendNode(dst []byte, n *listNode) []byte {
	switch {
	case n.hi-n.lo == 1:
		return l.appendLeaf(dst, n)
	case n.kids == 0:
		return l.appendExtension(dst, n)
	}
	payload := 1 // the empty value
	kid := int(n.first)
	for i := range 16 {
		if n.kids>>i&1 == 0 {
			payload++
			continue
		}
		payload += l.referenceLen(kid)
		kid++
	}
	dst = rlp.AppendListHeader(dst, payload)
	kid = int(n.first)
	for i := range 16 {
		if n.kids>>i&1 == 0 {
			dst = append(dst, 0x80)
			continue
		}
		dst = l.appendReference(dst, kid)
		kid++
	}
	return append(dst, 0x80)
}

func (l *listShape) appendLeaf(dst []byte, n *listNode) []byte {
	i := l.index(n.lo)
	key, nibbles := keyOf(uint64(i))
	var room [10]byte
	path, item := appendKeyPath(room[:0], key, int(n.depth), nibbles, true), l.items[i]
	dst = rlp.AppendListHeader(dst, rlp.StringLen(path)+rlp.StringLen(item))
	return rlp.AppendString(rlp.AppendString(dst, path), item)
}

func (l *listShape) appendExtension(dst []byte, n *listNode) []byte {
	kid := int(n.first)
	var room [10]byte
	path := appendKeyPath(room[:0], l.keyAt(n.lo), int(n.depth), int(l.nodes[kid].depth), false)
	dst = rlp.AppendListHeader(dst, rlp.StringLen(path)+l.referenceLen(kid))
	return l.appendReference(rlp.AppendString(dst, path), kid)
}

// appendKeyPath appends the nibbles from begin to end of a key as [appendCompact] does.
func appendKeyPath(dst []byte, k listKey, begin, end int, isLeaf bool) []byte {
	var room [16]byte
	nibbles := room[:0]
	for at := begin; at < end; at++ {
		nibbles = append(nibbles, byte(k.nibble(at)))
	}
	return appendCompact(dst, nibbles, isLeaf)
}

func (l *listShape) referenceLen(kid int) int {
	if size := l.nodes[kid].size; size > 0 {
		return int(size)
	}
	return 1 + keccak.Size
}

func (l *listShape) appendReference(dst []byte, kid int) []byte {
	if size := l.nodes[kid].size; size > 0 {
		return append(dst, l.digests[kid][:size]...)
	}
	return append(append(dst, 0x80+keccak.Size), l.digests[kid][:]...)
}

// listTrie is the trie of a list, node by node.
func listTrie(items [][]byte) *Trie {
	t := NewTrie(nil, chain.Hash{}, EmptyRoot)
	for i, item := range items {
		if err := t.put(ListKey(i), item); err != nil {
			panic("tree: a trie without stored nodes failed to read one")
		}
	}
	return t
}
