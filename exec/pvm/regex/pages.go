package regex

// pagedSpans is the most spans that a class is searched for. Each round of a search is a jump
// that no processor foresees: among 64 it takes as long as ten steps of other instructions,
// and among 65,000, which lie far apart in memory, as thirty to a hundred.
const pagedSpans = 16

// pages says which characters spans hold, a bit for each of 256 neighbours, so that one
// test looks at two places however many spans there are.
type pages struct {
	base rune        // number of the first page
	of   []uint16    // by the number of a page beyond that: its place in bits
	bits [][8]uint32 // the first holds nothing, the second all
}

// newPages makes the pages of spans that are sorted and apart, one or more.
func newPages(spans []span) *pages {
	base, end := spans[0].lo>>8, spans[len(spans)-1].hi>>8+1
	p := &pages{base: base, of: make([]uint16, end-base), bits: make([][8]uint32, 2, 2+min(2*len(spans), int(end-base)))}
	// Bounded: by the words of a page, 8.
	for i := range p.bits[1] {
		p.bits[1][i] = ^uint32(0)
	}
	// Paid: by the character of the pattern that each span was, and by what was folded.
	for _, s := range spans {
		// Bounded: by the pages, 4,352, of all spans together, and two for each: they are apart.
		for at := s.lo; at <= s.hi; {
			n := at>>8 - base
			last := min(s.hi, at|255)
			switch {
			case last-at == 255:
				p.of[n] = 1
			case p.of[n] == 0:
				p.of[n] = uint16(len(p.bits))
				p.bits = append(p.bits, [8]uint32{})
				fallthrough
			default:
				fill(&p.bits[p.of[n]], uint(at&255), uint(last&255))
			}
			at = last + 1
		}
	}
	return p
}

// fill sets the bits from lo to hi, both included.
func fill(page *[8]uint32, lo, hi uint) {
	// Bounded: by the words of a page, 8.
	for w := lo / 32; w <= hi/32; w++ {
		mask := ^uint32(0)
		if w == lo/32 {
			mask <<= lo % 32
		}
		if w == hi/32 {
			mask &= ^uint32(0) >> (31 - hi%32)
		}
		page[w] |= mask
	}
}

func (p *pages) has(r rune) bool {
	n := int(r>>8 - p.base)
	return n >= 0 && n < len(p.of) && p.bits[p.of[n]][r>>5&7]>>(r&31)&1 != 0
}

// pageBytes is the size of the pages in memory.
func (p *pages) pageBytes() int { return 2*len(p.of) + 32*len(p.bits) }
