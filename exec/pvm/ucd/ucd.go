// Package ucd holds what the PVM knows of Unicode: which code points make
// identifiers, the normal forms, and the properties and case mappings behind the
// methods of str.
//
// Text is compared and hashed under NFC (whitepaper, determinism of strings;
// resolution 11.48), so the tables are consensus. They are generated once from
// Unicode 14.0.0, that of Python 3.11, and committed: the tables of Go and of
// golang.org/x/text change with the toolchain, and would fork the chain.
//
// Text in and out is UTF-8 in which a surrogate stands as the three bytes that
// UTF-8 would give it; other invalid bytes pass through as they are.
package ucd

import "sort"

//go:generate bash -c "python3.11 tables.py > tables.go"

// span is a range of code points, both ends included.
type span struct{ lo, hi rune }

// classSpan is a range of code points of one canonical combining class.
type classSpan struct {
	lo, hi rune
	class  uint8
}

// mapping is one step of a decomposition.
type mapping struct {
	from rune
	to   string
}

// pair is a primary composite and its parts.
type pair struct{ first, second, whole rune }

// IsIdentStart reports whether r may begin an identifier: XID_Start and the
// underscore.
func IsIdentStart(r rune) bool {
	if r < 0x80 {
		return r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return within(idStart[:], r)
}

// IsIdentContinue reports whether r may follow in an identifier: XID_Continue.
func IsIdentContinue(r rune) bool {
	if r < 0x80 {
		return IsIdentStart(r) || '0' <= r && r <= '9'
	}
	return within(idContinue[:], r)
}

func within(spans []span, r rune) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].hi >= r })
	return i < len(spans) && spans[i].lo <= r
}

// class returns the canonical combining class of r.
func class(r rune) uint8 {
	i := sort.Search(len(classes), func(i int) bool { return classes[i].hi >= r })
	if i < len(classes) && classes[i].lo <= r {
		return classes[i].class
	}
	return 0
}

func lookup(table []mapping, r rune) (string, bool) {
	i := sort.Search(len(table), func(i int) bool { return table[i].from >= r })
	if i < len(table) && table[i].from == r {
		return table[i].to, true
	}
	return "", false
}

func compose(a, b rune) (rune, bool) {
	if c, ok := composeHangul(a, b); ok {
		return c, true
	}
	i := sort.Search(len(pairs), func(i int) bool {
		p := &pairs[i]
		return p.first > a || p.first == a && p.second >= b
	})
	if i < len(pairs) && pairs[i].first == a && pairs[i].second == b {
		return pairs[i].whole, true
	}
	return 0, false
}
