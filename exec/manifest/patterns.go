package manifest

import (
	"slices"
	"strings"
)

// patterns are the domains of a list in the order of their ends, so that one look finds
// what covers a host. [CoversAny] is the plain rule.
type patterns struct {
	exact []string // all of them, ascending
	below []string // what stands behind an asterisk, ascending from its end; none ends in another
}

// patternsOf makes a list ready.
func patternsOf(list []string) *patterns {
	// Bounded: by MaxListItems, 256, and the set of the genesis.
	p := &patterns{exact: slices.Sorted(slices.Values(list))}
	// Bounded: as above.
	for _, d := range p.exact {
		// Bounded: by one byte.
		if end, ok := strings.CutPrefix(d, "*"); ok {
			p.below = append(p.below, end)
		}
	}
	slices.SortFunc(p.below, fromEnd) // Bounded: as above.
	kept := p.below[:0]
	// Bounded: as above. What ends in another pattern stands right behind it.
	for _, end := range p.below {
		// Bounded: by MaxValueBytes, 256.
		if len(kept) == 0 || !strings.HasSuffix(end, kept[len(kept)-1]) {
			kept = append(kept, end)
		}
	}
	p.below = kept
	return p
}

// cover reports whether one of them covers a host, or another pattern.
func (p *patterns) cover(host string) bool {
	// Bounded: by eight steps, of MaxValueBytes, 256, each.
	if _, ok := slices.BinarySearch(p.exact, host); ok {
		return true
	}
	// Bounded: by one byte.
	host = strings.TrimPrefix(host, "*")
	// Bounded: as above.
	at, ok := slices.BinarySearchFunc(p.below, host, fromEnd)
	// Bounded: by MaxValueBytes, 256.
	return ok || at > 0 && strings.HasSuffix(host, p.below[at-1])
}

// fromEnd compares texts from their last byte on.
func fromEnd(a, b string) int {
	// Bounded: by MaxValueBytes, 256.
	for i := 1; i <= min(len(a), len(b)); i++ {
		if x, y := a[len(a)-i], b[len(b)-i]; x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}
