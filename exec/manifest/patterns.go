package manifest

import (
	"slices"
	"strings"
)

// Patterns are the domains of a list in the order of their ends, so that one look finds
// what covers a host. [CoversAny] is the plain rule. The zero value covers nothing.
type Patterns struct {
	exact []string // all of them, ascending
	below []string // what stands behind an asterisk, backwards, ascending; none begins with another
}

// PatternsOf makes a list ready, which nobody changes any more.
func PatternsOf(list []string) *Patterns {
	p := &Patterns{exact: list}
	// Bounded: by MaxListItems, 256, and the set of the genesis, or by MaxOfferDomains, 256.
	if !slices.IsSorted(list) {
		p.exact = slices.Sorted(slices.Values(list)) // Bounded: as above.
	}
	// Bounded: as above.
	for _, d := range p.exact {
		// Bounded: by one byte.
		if end, ok := strings.CutPrefix(d, "*"); ok {
			p.below = append(p.below, backwards(end))
		}
	}
	slices.Sort(p.below) // Bounded: as above.
	kept := p.below[:0]
	// Bounded: as above. What ends in another pattern stands right behind it.
	for _, end := range p.below {
		// Bounded: by MaxValueBytes, 256.
		if len(kept) == 0 || !strings.HasPrefix(end, kept[len(kept)-1]) {
			kept = append(kept, end)
		}
	}
	p.below = kept
	return p
}

// Cover reports whether one of them covers a host, or another pattern.
func (p *Patterns) Cover(host string) bool {
	// Bounded: by eight steps, of MaxValueBytes, 256, each.
	if _, ok := slices.BinarySearch(p.exact, host); ok {
		return true
	}
	if len(p.below) == 0 {
		return false
	}
	// Bounded: by one byte.
	host = backwards(strings.TrimPrefix(host, "*"))
	// Bounded: as above.
	at, ok := slices.BinarySearch(p.below, host)
	// Bounded: by MaxValueBytes, 256.
	return ok || at > 0 && strings.HasPrefix(host, p.below[at-1])
}

// backwards is a text from its last byte to its first.
func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b) // Bounded: by MaxValueBytes, 256.
	return string(b)
}
