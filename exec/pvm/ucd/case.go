package ucd

import (
	"sort"
	"unicode/utf8"
)

// CaseGrowth bounds what the functions of this file give: at most this many
// bytes for each of the text, and at most as many code points for each.
const CaseGrowth = 3

const (
	sigma      = 0x3A3
	finalSigma = 0x3C2
)

// mapKind picks one of the mappings.
type mapKind uint8

const (
	toLower mapKind = iota
	toUpper
	toTitle
	toFold
)

// appendMapped appends the full mapping of r.
func appendMapped(dst []byte, r rune, kind mapKind) []byte {
	if r >= invalidBase {
		return append(dst, byte(r-invalidBase))
	}
	rec := of(r)
	if rec.flags&hasSpecial != 0 {
		i := sort.Search(len(specials), func(i int) bool { return specials[i].r >= r })
		sp := &specials[i]
		return append(dst, [...]string{sp.lower, sp.upper, sp.title, sp.fold}[kind]...)
	}
	if 0xD800 <= r && r < 0xE000 {
		return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r+[...]rune{rec.lower, rec.upper, rec.title, rec.fold}[kind])
}

// ToLower is str.lower: a sigma at the end of a word becomes a final one. It
// returns s itself when nothing changes.
func ToLower(s string) string {
	if t, ok := mapASCII(s, toLower); ok {
		return t
	}
	dst := make([]byte, 0, len(s)+8)
	var before finality
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		dst = appendLower(dst, r, s[i+n:], &before)
		i += n
	}
	return string(dst)
}

// ToUpper is str.upper.
func ToUpper(s string) string { return mapAll(s, toUpper) }

// Casefold is str.casefold.
func Casefold(s string) string { return mapAll(s, toFold) }

func mapAll(s string, kind mapKind) string {
	if t, ok := mapASCII(s, kind); ok {
		return t
	}
	dst := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		dst = appendMapped(dst, r, kind)
		i += n
	}
	return string(dst)
}

// mapASCII maps s when it is ASCII.
func mapASCII(s string, kind mapKind) (string, bool) {
	first, last := byte('A'), byte('Z')
	if kind == toUpper {
		first, last = 'a', 'z'
	}
	change := false
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return "", false
		}
		change = change || first <= s[i] && s[i] <= last
	}
	if !change {
		return s, true
	}
	dst := make([]byte, len(s))
	for i := range len(s) {
		c := s[i]
		if first <= c && c <= last {
			c ^= 0x20
		}
		dst[i] = c
	}
	return string(dst), true
}

// ToTitle is str.title: a cased code point after one that is not begins a word.
func ToTitle(s string) string {
	dst := make([]byte, 0, len(s)+8)
	var before finality
	inWord := false
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		if inWord {
			dst = appendLower(dst, r, s[i+n:], &before)
		} else {
			dst = appendMapped(dst, r, toTitle)
			before.pass(r)
		}
		inWord = Has(r, Cased)
		i += n
	}
	return string(dst)
}

// Capitalize is str.capitalize.
func Capitalize(s string) string {
	if s == "" {
		return s
	}
	r, n := decodeRune(s)
	dst := appendMapped(make([]byte, 0, len(s)+8), r, toTitle)
	var before finality
	before.pass(r)
	for i := n; i < len(s); i += n {
		r, n = decodeRune(s[i:])
		dst = appendLower(dst, r, s[i+n:], &before)
	}
	return string(dst)
}

// SwapCase is str.swapcase.
func SwapCase(s string) string {
	dst := make([]byte, 0, len(s)+8)
	var before finality
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		switch {
		case Has(r, Upper):
			dst = appendLower(dst, r, s[i+n:], &before)
		case Has(r, Lower):
			dst = appendMapped(dst, r, toUpper)
			before.pass(r)
		default:
			dst = append(dst, s[i:i+n]...)
			before.pass(r)
		}
		i += n
	}
	return string(dst)
}

// appendLower appends the lower case of r, which rest follows.
func appendLower(dst []byte, r rune, rest string, before *finality) []byte {
	if r == sigma && before.cased && !startsCased(rest) {
		dst = utf8.AppendRune(dst, finalSigma)
	} else {
		dst = appendMapped(dst, r, toLower)
	}
	before.pass(r)
	return dst
}

// finality is whether the last code point passed, but for those that case
// ignores, was cased: what makes a sigma final when nothing cased follows.
type finality struct{ cased bool }

func (f *finality) pass(r rune) {
	if flags := of(r).flags; flags&CaseIgnorable == 0 {
		f.cased = flags&Cased != 0
	}
}

// startsCased reports whether the first code point of s that case does not
// ignore is cased. Sigmas are not ignored, so that a text is passed over once
// for all of them.
func startsCased(s string) bool {
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		if flags := of(r).flags; flags&CaseIgnorable == 0 {
			return flags&Cased != 0
		}
		i += n
	}
	return false
}

// IsLower is str.islower: something is in lower case and nothing in upper.
func IsLower(s string) bool { return hasOnly(s, Lower, Upper|Title) }

// IsUpper is str.isupper.
func IsUpper(s string) bool { return hasOnly(s, Upper, Lower|Title) }

func hasOnly(s string, want, without Property) bool {
	found := false
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		flags := of(r).flags
		if flags&without != 0 {
			return false
		}
		found = found || flags&want != 0
		i += n
	}
	return found
}

// IsTitle is str.istitle: each run of cased code points starts in upper or title
// case and goes on in lower, and there is one.
func IsTitle(s string) bool {
	found, inWord := false, false
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		switch flags := of(r).flags; {
		case flags&(Upper|Title) != 0:
			if inWord {
				return false
			}
			found, inWord = true, true
		case flags&Lower != 0:
			if !inWord {
				return false
			}
		default:
			inWord = false
		}
		i += n
	}
	return found
}
