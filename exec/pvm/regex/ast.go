package regex

// kind is what a node of a pattern's tree is.
type nodeKind uint8

const (
	nLiteral nodeKind = iota // c
	nAny                     // the dot
	nClass                   // items, negate
	nAt                      // at
	nBranch                  // subs
	nGroup                   // subs[0]; group, add, del
	nAtomic                  // subs[0]
	nLook                    // subs[0]; ahead or behind, negate
	nBackref                 // group
	nCond                    // group; subs[0] if it matched, else subs[1], when there
	nRepeat                  // subs[0]; min, max, mode
)

// unbounded is the maximum of a repeat without one.
const unbounded = -1

// mode is how a repeat gives back what it took.
type mode uint8

const (
	greedy mode = iota
	lazy
	possessive
)

// node is one element of a sequence.
type node struct {
	kind     nodeKind
	mode     mode
	at       at
	negate   bool
	behind   bool
	add, del Flag
	c        rune
	group    int // 0 for none
	min, max int
	items    []item
	subs     []*sequence
}

// sequence is what is matched one after the other.
type sequence struct {
	nodes []*node
	width width
}

// width is the least and the most that something can match, saturated.
type width struct{ lo, hi int64 }

// maxWidth stands for every larger width.
const maxWidth = 1 << 40

func (w width) plus(v width) width {
	return width{min(w.lo+v.lo, maxWidth), min(w.hi+v.hi, maxWidth)}
}

func (w width) times(n *node) width {
	v := width{maxWidth, maxWidth}
	if w.lo == 0 || int64(n.min) <= maxWidth/w.lo {
		v.lo = w.lo * int64(n.min)
	}
	switch {
	case w.hi == 0:
		v.hi = 0
	case n.max != unbounded && int64(n.max) <= maxWidth/w.hi:
		v.hi = w.hi * int64(n.max)
	}
	return v
}

// at is a place in the subject.
type at uint8

const (
	atStart    at = iota // \A
	atEnd                // \Z
	atLine               // ^
	atLineEnd            // $
	atBoundary           // \b
	atInside             // \B
)

// item is a member of a character class: a category, or a range.
type item struct {
	category category
	lo, hi   rune // when category is 0
}

// category is a set of the classes of characters that have a letter.
type category uint8

const (
	catDigit category = 1 << iota
	catNotDigit
	catSpace
	catNotSpace
	catWord
	catNotWord
)

// measure sets the width of a sequence whose parts have theirs.
func (s *sequence) measure(groups []*width) {
	s.width = width{}
	// Paid: by patternOf in lib, which charges 22 cycles a character before it compiles: each node of a sequence was one.
	for _, n := range s.nodes {
		s.width = s.width.plus(n.measure(groups))
	}
}

func (n *node) measure(groups []*width) width {
	switch n.kind {
	case nLiteral, nAny, nClass:
		return width{1, 1}
	case nGroup, nAtomic:
		return n.subs[0].width
	case nRepeat:
		return n.subs[0].width.times(n)
	case nBackref:
		if n.group < len(groups) && groups[n.group] != nil {
			return *groups[n.group]
		}
		return width{}
	case nBranch, nCond:
		w := n.subs[0].width
		// Paid: likewise; each alternative has a character of its own, its bar.
		for _, sub := range n.subs[1:] {
			w = width{min(w.lo, sub.width.lo), max(w.hi, sub.width.hi)}
		}
		if n.kind == nCond && len(n.subs) == 1 {
			w.lo = 0
		}
		return w
	}
	return width{} // places and assertions
}
