package tree

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// seedling builds subtrees from consecutive entries, for their references
// alone. All of them are hashed together, level by level from the deepest, so
// that the lanes of the hash are full also where each subtree is small.
//
// It is of one call and one goroutine. Its memory follows the entries: keys are distinct,
// so there are fewer forks than entries.
type seedling struct {
	entries []Entry
	claims  []claim
	forks   []fork
	depths  []int32 // of each entry's leaf: nibbles of the key above it
	leaves  []link  // of the entries, once hashed
}

// claim says that entries make up a subtree with a certain reference.
type claim struct {
	top  int32 // as in fork.kids
	want ref
}

// fork is a branch with the extension before it.
type fork struct {
	first int32     // an entry below it
	depth int32     // nibbles above the extension
	at    int32     // nibble at which keys divide
	kids  [16]int32 // 0: none; n > 0: fork n-1; n < 0: entry -n-1
	link  link
}

// claim notes that entries start to end, which agree in the first depth
// nibbles, are the subtree there.
func (s *seedling) claim(start, end, depth int, want ref) {
	if s.depths == nil {
		s.depths = make([]int32, len(s.entries))
		s.leaves = make([]link, len(s.entries))
	}
	s.claims = append(s.claims, claim{s.plant(start, end, depth), want})
}

// plant makes the forks of a subtree and returns its top. Keys are distinct, so
// that the recursion ends within their length.
func (s *seedling) plant(start, end, depth int) int32 {
	if end-start == 1 {
		s.depths[start] = int32(depth)
		return -int32(start) - 1
	}
	first, last := s.entries[start].Key[:], s.entries[end-1].Key[:]
	at := sharedNibbles(first, last, keyNibbles)
	number := len(s.forks)
	s.forks = append(s.forks, fork{first: int32(start), depth: int32(depth), at: int32(at)})
	for start < end {
		x := nibble(s.entries[start].Key[:], at)
		from := start
		for start < end && nibble(s.entries[start].Key[:], at) == x {
			start++
		}
		kid := s.plant(from, start, at+1)
		s.forks[number].kids[x] = kid
	}
	return int32(number) + 1
}

// verifyReferences computes the references and compares them with what is claimed.
func (s *seedling) verifyReferences() error {
	if len(s.claims) == 0 {
		return nil
	}
	s.hashLeaves()
	s.hashForks()
	for _, c := range s.claims {
		if got := s.linkOf(c.top).appendTo(nil); !bytes.Equal(got, c.want) {
			return fmt.Errorf("%w: below %s", ErrRange, s.keyBelow(c.top))
		}
	}
	return nil
}

func (s *seedling) keyBelow(top int32) fmt.Stringer {
	if top > 0 {
		return s.entries[s.forks[top-1].first].Key
	}
	return s.entries[-top-1].Key
}

func (s *seedling) linkOf(top int32) *link {
	if top > 0 {
		return &s.forks[top-1].link
	}
	return &s.leaves[-top-1]
}

// hashLeaves hashes the entries that belong to a claim: others have depth 0 and
// a link that nobody reads.
func (s *seedling) hashLeaves() {
	var h linkBatch
	for i := range s.entries {
		e, depth := &s.entries[i], int(s.depths[i])
		h.buf = rlp.AppendListHeader(h.buf, pathLen(keyNibbles-depth)+rlp.StringLen(e.Value))
		h.buf = appendPath(h.buf, e.Key[:], depth, keyNibbles, compactLeaf)
		h.buf = rlp.AppendString(h.buf, e.Value)
		h.endEncoding(&s.leaves[i], depth == 0)
	}
	h.flush()
}

func (s *seedling) hashForks() {
	order := make([]int32, len(s.forks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(s.forks[b].at - s.forks[a].at) })
	var h linkBatch
	for len(order) > 0 {
		n := 1
		for n < len(order) && s.forks[order[n]].at == s.forks[order[0]].at {
			n++
		}
		for _, i := range order[:n] {
			f := &s.forks[i]
			h.buf = s.appendFork(h.buf, f)
			h.endEncoding(&f.link, f.depth == 0 && f.at == 0)
		}
		h.flush()
		for _, i := range order[:n] {
			if f := &s.forks[i]; f.depth < f.at {
				l := f.link
				h.buf = rlp.AppendListHeader(h.buf, pathLen(int(f.at-f.depth))+l.size())
				h.buf = appendPath(h.buf, s.entries[f.first].Key[:], int(f.depth), int(f.at), 0)
				h.buf = l.appendTo(h.buf)
				h.endEncoding(&f.link, f.depth == 0)
			}
		}
		h.flush()
		order = order[n:]
	}
}

// size is the number of bytes that appendTo appends.
func (l *link) size() int {
	if l.n == linkBytes {
		return 1 + linkBytes
	}
	return int(l.n)
}

func (s *seedling) appendFork(dst []byte, f *fork) []byte {
	payload := 17
	for _, kid := range f.kids {
		if kid != 0 {
			payload += s.linkOf(kid).size() - 1
		}
	}
	dst = rlp.AppendListHeader(dst, payload)
	for _, kid := range f.kids {
		if kid == 0 {
			dst = append(dst, 0x80)
		} else {
			dst = s.linkOf(kid).appendTo(dst)
		}
	}
	return append(dst, 0x80)
}

// linkBatch gathers encodings and turns them into links. A link must not be
// read before flush.
type linkBatch struct {
	buf   []byte
	ends  []int
	links []*link
	msgs  [][]byte
	sums  [hashBatch][linkBytes]byte
}

// endEncoding closes the encoding that was appended to buf last. A short one is its own
// link, but a root is hashed always.
func (h *linkBatch) endEncoding(to *link, root bool) {
	start := 0
	if n := len(h.ends); n > 0 {
		start = h.ends[n-1]
	}
	if enc := h.buf[start:]; len(enc) < hashedMin && !root {
		to.n = uint8(copy(to.b[:], enc))
		h.buf = h.buf[:start]
		return
	}
	h.ends, h.links = append(h.ends, len(h.buf)), append(h.links, to)
	if len(h.ends) == hashBatch {
		h.flush()
	}
}

func (h *linkBatch) flush() {
	h.msgs = h.msgs[:0]
	start := 0
	for _, end := range h.ends {
		h.msgs = append(h.msgs, h.buf[start:end])
		start = end
	}
	keccak.SumMany(h.msgs, h.sums[:len(h.msgs)])
	for i, to := range h.links {
		to.n, to.b = linkBytes, h.sums[i]
	}
	h.buf, h.ends, h.links = h.buf[:0], h.ends[:0], h.links[:0]
}
