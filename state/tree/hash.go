package tree

import (
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// link is what a parent says of a node: its hash (n = 32), or its encoding of n
// bytes.
type link struct {
	n uint8
	b [linkBytes]byte
}

// hashBatch is how many nodes are encoded before they are hashed: enough for
// full lanes at every block count (keccak.SumMany sorts messages by their number of
// blocks, and has four or eight lanes), and little enough for the first cache.
const hashBatch = 128

// encoder collects encodings to be hashed together.
type encoder struct {
	buf   []byte
	ends  []int // of the encodings in buf
	which []int // job of each
	msgs  [][]byte
	sums  [][linkBytes]byte
	value []byte // value of a leaf
	links [hashBatch]link
}

// hashAll gives every node that was pushed its link: all leaves first, then
// branches from the deepest up, so that one batch holds nodes of many tries and
// none waits for another.
//
// The order is right since a branch's encoding needs the links of its children alone, and
// a child is a leaf or a branch that divides at a later nibble: depth strictly rises
// downwards, in every trie. A child that was not pushed has its link from an older version
// or an earlier call.
func (w *worker) hashAll() {
	w.hashJobs(w.leaves)
	w.leaves = w.leaves[:0]
	for depth := keyNibbles - 1; depth >= 0; depth-- {
		w.hashJobs(w.forks[depth])
		w.forks[depth] = w.forks[depth][:0]
	}
}

func (w *worker) hashJobs(jobs []job) {
	w.work.Nodes += uint64(len(jobs))
	for len(jobs) > 0 {
		n := min(len(jobs), hashBatch)
		w.hashSome(jobs[:n])
		jobs = jobs[n:]
	}
}

// hashSome gives up to hashBatch nodes their links. A branch with a path before it takes two
// rounds, as its extension holds the link of the branch: the first makes that, in links,
// and the second replaces it.
func (w *worker) hashSome(jobs []job) {
	prefixed := false
	for i := range jobs {
		j := &jobs[i]
		b := w.at(j.child)
		if b[0] == kindLeaf {
			w.buf, w.value = appendLeaf(w.buf, w.value, b, int(j.depth))
			w.endEncoding(i, j.depth == 0)
			continue
		}
		v := asBranch(b)
		w.buf = appendBranch(w.buf, v)
		plain := v.depth() == int(j.depth)
		prefixed = prefixed || !plain
		w.endEncoding(i, j.depth == 0 && plain)
	}
	w.sum()
	if prefixed {
		w.addExtensions(jobs)
	}
	for i := range jobs {
		w.setLink(&jobs[i], &w.links[i])
	}
}

// addExtensions puts extensions before the branches that have a path of their own.
func (w *worker) addExtensions(jobs []job) {
	for i := range jobs {
		j := &jobs[i]
		b := w.at(j.child)
		if b[0] == kindLeaf || int(b[atDepth]) == int(j.depth) {
			continue
		}
		w.buf = appendExtension(w.buf, asBranch(b), int(j.depth), &w.links[i])
		w.endEncoding(i, j.depth == 0)
	}
	w.sum()
}

// endEncoding ends the encoding of job i. A short one is its own link, but a root is
// hashed always.
func (w *worker) endEncoding(i int, root bool) {
	start := 0
	if n := len(w.ends); n > 0 {
		start = w.ends[n-1]
	}
	if enc := w.buf[start:]; len(enc) < hashedMin && !root {
		w.links[i].n = uint8(copy(w.links[i].b[:], enc))
		w.buf = w.buf[:start]
		return
	}
	w.ends, w.which = append(w.ends, len(w.buf)), append(w.which, i)
}

// sum hashes the encodings.
func (w *worker) sum() {
	w.msgs = w.msgs[:0]
	start := 0
	for _, end := range w.ends {
		w.msgs = append(w.msgs, w.buf[start:end])
		start = end
	}
	if cap(w.sums) < len(w.msgs) {
		w.sums = make([][linkBytes]byte, hashBatch)
	}
	sums := w.sums[:len(w.msgs)]
	keccak.SumMany(w.msgs, sums)
	w.work.Hashes += uint64(len(w.msgs))
	for k, i := range w.which {
		w.links[i].n, w.links[i].b = linkBytes, sums[k]
	}
	w.buf, w.ends, w.which = w.buf[:0], w.ends[:0], w.which[:0]
}

// setLink writes a link where it belongs.
func (w *worker) setLink(j *job, l *link) {
	if j.parent == 0 {
		w.results[j.slot] = *l
		return
	}
	v := asBranch(w.at(j.parent))
	v.setLink(int(j.slot), l)
}

// setLink writes the link of the child at nibble x.
func (v branchAt) setLink(x int, l *link) {
	copy(v.link(v.rank(x)), l.b[:])
	mask := v.embedded() &^ (1 << x)
	if l.n != linkBytes {
		mask |= 1 << x
	}
	v.setEmbedded(mask)
}

// getLink reads the link of the child at nibble x.
func (v branchAt) getLink(x int) (l link) {
	copy(l.b[:], v.link(v.rank(x)))
	if l.n = linkBytes; v.embedded()>>x&1 == 1 {
		l.n = 1 + l.b[0] - 0xc0
	}
	return l
}

// appendTo appends the link as it stands in a parent.
func (l *link) appendTo(dst []byte) []byte {
	if l.n == linkBytes {
		dst = append(dst, 0x80+linkBytes)
	}
	return append(dst, l.b[:l.n]...)
}

// appendBranch appends the encoding of a branch whose links are all there.
func appendBranch(dst []byte, v branchAt) []byte {
	embedded := v.embedded()
	payload := v.n*(1+linkBytes) + 17 - v.n
	for left := embedded; left != 0; left &= left - 1 {
		x := bits.TrailingZeros16(left)
		payload += int(v.link(v.rank(x))[0]-0xc0) - linkBytes
	}
	dst = rlp.AppendListHeader(dst, payload)
	start := len(dst)
	dst = slices.Grow(dst, payload)[:start+payload]
	out, links, mask := dst[start:], v.b[branchHeader+refBytes*v.n:], v.mask()
	for x := range 16 {
		if mask>>x&1 == 0 {
			out[0] = 0x80
			out = out[1:]
			continue
		}
		l := (*[linkBytes]byte)(links)
		links = links[linkBytes:]
		if embedded>>x&1 == 1 {
			out = out[copy(out, l[:1+l[0]-0xc0]):]
			continue
		}
		out[0] = 0x80 + linkBytes
		*(*[linkBytes]byte)(out[1:]) = *l
		out = out[1+linkBytes:]
	}
	out[0] = 0x80
	return dst
}

// appendPath appends the compact form of the nibbles of key from one to
// another, as an RLP string.
func appendPath(dst []byte, key []byte, from, to int, flags byte) []byte {
	n := to - from
	if size := 1 + n/2; size > 1 {
		dst = append(dst, 0x80+byte(size))
	}
	if n%2 == 1 {
		dst = append(dst, (flags|compactOdd)<<4|byte(nibble(key, from)))
		from++
	} else {
		dst = append(dst, flags<<4)
	}
	if from%2 == 0 && to%2 == 0 {
		return append(dst, key[from/2:to/2]...)
	}
	for ; from < to; from += 2 {
		dst = append(dst, byte(nibble(key, from)<<4|nibble(key, from+1)))
	}
	return dst
}

func pathLen(n int) int {
	if n < 2 {
		return 1
	}
	return 2 + n/2
}

// appendExtension appends the extension that stands before a branch at depth.
func appendExtension(dst []byte, v branchAt, depth int, l *link) []byte {
	size := int(l.n)
	if size == linkBytes {
		size++
	}
	dst = rlp.AppendListHeader(dst, pathLen(v.depth()-depth)+size)
	dst = appendPath(dst, v.key(), depth, v.depth(), 0)
	return l.appendTo(dst)
}

// appendLeaf appends the encoding of a leaf at depth. It returns dst, and the
// scratch space it was given.
func appendLeaf(dst, scratch, b []byte, depth int) (encoding, value []byte) {
	payload := leafPayload(b)
	if scratch = scratch[:0]; leafIsAccount(b) {
		a := readResident(payload)
		scratch = a.appendRLP(scratch)
	} else {
		scratch = rlp.AppendString(scratch, payload)
	}
	dst = rlp.AppendListHeader(dst, pathLen(keyNibbles-depth)+rlp.StringLen(scratch))
	dst = appendPath(dst, leafKey(b)[:], depth, keyNibbles, compactLeaf)
	return rlp.AppendString(dst, scratch), scratch
}

// hash returns the link of a root.
func (l *link) hash() chain.Hash { return chain.Hash(l.b) }
