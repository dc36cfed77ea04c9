package tree

import "slices"

// sorter is scratch memory for sorting one shard.
type sorter struct {
	spareEntries []entry
	path         [warmWindow]ref40
	touched      byte // keeps the reads of warm from being left out
}

// sortShard sorts entries that share their first nibble: by the next four with
// counting, which leaves hashes almost in order, then what is left in each
// group: a radix sort by two digits, the lower one first, since each pass is stable. Keys
// are hashes, so a group has about n/65,536 of n entries; whoever grinds keys into one
// group pays for that in hashes and gains n log n comparisons.
func (s *sorter) sortShard(es []entry) {
	if len(es) < 64 {
		sortEntries(es)
		return
	}
	s.spareEntries = slices.Grow(s.spareEntries[:0], len(es))[:len(es)]
	byDigit(s.spareEntries, es, 4)
	byDigit(es, s.spareEntries, 12)
	for from := 0; from < len(es); {
		to, d := from+1, digit(&es[from], 4)|digit(&es[from], 12)<<8
		for to < len(es) && digit(&es[to], 4)|digit(&es[to], 12)<<8 == d {
			to++
		}
		if to-from > 1 {
			sortEntries(es[from:to])
		}
		from = to
	}
}

// digit returns the eight bits that end shift bits before the end of the third
// byte.
func digit(e *entry, shift int) int {
	return int((uint32(e.key[0])<<16|uint32(e.key[1])<<8|uint32(e.key[2]))>>shift) & 0xff
}

// byDigit copies entries in order of one digit, those with the same digit in
// the order they had.
func byDigit(dst, src []entry, shift int) {
	var at [256]int32
	for i := range src {
		at[digit(&src[i], shift)]++
	}
	sum := int32(0)
	for d := range at {
		at[d], sum = sum, sum+at[d]
	}
	for i := range src {
		d := digit(&src[i], shift)
		dst[at[d]] = src[i]
		at[d]++
	}
}

// warmWindow is how many keys go down a trie side by side.
const warmWindow = 64

// warm goes down the trie root with many keys at a time and does nothing else:
// the processor fetches the records of neighbours while it waits for one, which
// update, going down to one leaf after the other, would not let it do.
func (w *worker) warm(root ref40, es []entry) {
	for len(es) > 0 && root != 0 {
		part := es[:min(len(es), warmWindow)]
		es = es[len(part):]
		path := w.path[:len(part)]
		for i := range path {
			path[i] = root
		}
		for moved := true; moved; {
			moved = false
			for i, r := range path {
				if r == 0 {
					continue
				}
				b := w.at(r)
				if b[0] == kindLeaf {
					w.touched |= b[min(atPayload, len(b)-1)] // an empty payload may end the chunk
					path[i] = 0
					continue
				}
				v := asBranch(b)
				path[i] = v.child(nibble(part[i].key[:], v.depth()))
				moved = true
			}
		}
	}
}
