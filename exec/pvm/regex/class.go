package regex

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// span is a range of code points, both ends included.
type span struct{ lo, hi rune }

// class is a set of characters, made so that one test needs no table of cases:
// what ignoring case adds is in it.
type class struct {
	low    [8]uint32 // membership below 256, negation included
	spans  []span    // sorted and apart, for 256 and above
	pages  *pages    // of spans, where they are more than pagedSpans
	cats   category  // likewise
	ascii  bool      // the categories hold nothing of 256 and above
	negate bool
}

func (c *class) has(r rune) bool {
	if r < 256 {
		return c.low[r>>5]>>(r&31)&1 != 0
	}
	return c.high(r)
}

func (c *class) high(r rune) bool {
	var in bool
	if c.pages != nil {
		in = c.pages.has(r)
	} else {
		in = within(c.spans, r)
	}
	if !in && c.cats != 0 {
		in = c.cats.has(r, c.ascii)
	}
	return in != c.negate
}

// within reports whether one of the spans, which are sorted and apart, holds r.
func within(spans []span, r rune) bool {
	i, j := 0, len(spans)
	// Bounded: by the logarithm of pagedSpans: 5 rounds; a step of the match pays.
	for i < j {
		if h := (i + j) / 2; spans[h].hi < r {
			i = h + 1
		} else {
			j = h
		}
	}
	return i < len(spans) && spans[i].lo <= r
}

// wide reports whether the class may hold anything of 256 and above.
func (c *class) wide() bool {
	return c.negate || len(c.spans) > 0 || c.cats&^(catDigit|catSpace|catWord) != 0 || c.cats != 0 && !c.ascii
}

func (k category) has(r rune, ascii bool) bool {
	if k&(catDigit|catNotDigit) != 0 {
		if digit := isDigit(r) || !ascii && ucd.Has(r, ucd.Decimal); digit && k&catDigit != 0 || !digit && k&catNotDigit != 0 {
			return true
		}
	}
	if k&(catSpace|catNotSpace) != 0 {
		if space := isBlank(r) || !ascii && ucd.IsSpace(r); space && k&catSpace != 0 || !space && k&catNotSpace != 0 {
			return true
		}
	}
	if k&(catWord|catNotWord) != 0 {
		if word := isWord(r, ascii); word && k&catWord != 0 || !word && k&catNotWord != 0 {
			return true
		}
	}
	return false
}

func isWord(r rune, ascii bool) bool {
	if r < 0x80 || ascii {
		return isLetter(r) || isDigit(r) || r == '_'
	}
	return ucd.Has(r, ucd.Alphanumeric)
}

// newClass makes the set of the items under flags, and tells how many characters
// ignoring case has added.
func newClass(items []item, negate bool, flags Flag) (_ *class, folded int) {
	c := &class{negate: negate, ascii: flags&Unicode == 0}
	var spans []span
	// Paid: by the character of the pattern that each item was.
	for _, it := range items {
		if it.category != 0 {
			c.cats |= it.category
		} else {
			spans = append(spans, span{it.lo, it.hi})
		}
	}
	spans = merged(spans)
	if flags&IgnoreCase != 0 {
		more := caseless(spans, flags)
		folded = len(more)
		spans = merged(append(spans, more...))
	}
	// Bounded: by 256; a class counts for eight characters at least in Program.Cost.
	for r := rune(0); r < 256; r++ {
		if c.cats.has(r, c.ascii) != negate {
			c.low[r>>5] |= 1 << (r & 31)
		}
	}
	// Paid: by the characters of the pattern that made the spans, and by what EachLowered and its like added to Program.Cost.
	for _, s := range spans {
		// Bounded: by 256, and spans are apart.
		for r := s.lo; r <= min(s.hi, 255); r++ {
			bit := uint32(1) << (r & 31)
			c.low[r>>5] |= bit
			if negate {
				c.low[r>>5] ^= bit
			}
		}
		if s.hi >= 256 {
			c.spans = append(c.spans, span{max(s.lo, 256), s.hi})
		}
	}
	if len(c.spans) > pagedSpans {
		c.pages = newPages(c.spans)
	}
	return c, folded
}

// caseless returns what matches the spans besides them where case is ignored: a
// character matches if its lowercase is that of a member, or shares an
// uppercase with it.
func caseless(spans []span, flags Flag) []span {
	var out []span
	if flags&Unicode == 0 {
		// Paid: by the character of the pattern that each span was.
		for _, s := range spans {
			if lo, hi := max(s.lo, 'A'), min(s.hi, 'Z'); lo <= hi {
				out = append(out, span{lo | 0x20, hi | 0x20})
			}
			if lo, hi := max(s.lo, 'a'), min(s.hi, 'z'); lo <= hi {
				out = append(out, span{lo &^ 0x20, hi &^ 0x20})
			}
		}
		return out
	}
	// Paid: likewise; what is found for them is charged as folded.
	for _, s := range spans {
		ucd.EachLowered(s.lo, s.hi, func(_, to rune) { out = append(out, span{to, to}) })
	}
	// Paid: likewise, and by the charge for what was folded.
	lowers := merged(append(slices.Clone(spans), out...))
	// Paid: likewise.
	for _, s := range lowers {
		ucd.EachCaseMate(s.lo, s.hi, func(_, mate rune) { out = append(out, span{mate, mate}) })
	}
	// Paid: likewise.
	for _, s := range merged(append(lowers, out...)) {
		ucd.EachRaised(s.lo, s.hi, func(_, from rune) { out = append(out, span{from, from}) })
	}
	return out
}

// merged sorts spans and joins those that touch.
func merged(spans []span) []span {
	// Paid: by the characters that made the spans, and by the charge for what was folded.
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	out := spans[:0]
	// Paid: likewise.
	for _, s := range spans {
		if n := len(out); n > 0 && s.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, s.hi)
		} else {
			out = append(out, s)
		}
	}
	return out
}
