package ucd

import "unicode/utf8"

// Constants of the arithmetic composition of Hangul (Unicode §3.12).
const (
	hangulS, hangulL, hangulV, hangulT = 0xAC00, 0x1100, 0x1161, 0x11A7

	hangulLs, hangulVs, hangulTs = 19, 21, 28
	hangulSs                     = hangulLs * hangulVs * hangulTs
)

// NFC returns s in Normalization Form C. It returns s itself, without
// allocating, when no code point of s reaches U+0300, below which everything is
// normal.
func NFC(s string) string {
	if settled(s, 0xCC) {
		return s
	}
	return string(appendRunes(nil, recompose(decompose(s, false))))
}

// NFKC returns s in Normalization Form KC, that of Python's identifiers. Text
// in ASCII is returned as it is.
func NFKC(s string) string {
	if settled(s, 0x80) {
		return s
	}
	return string(appendRunes(nil, recompose(decompose(s, true))))
}

// NFKD returns s in Normalization Form KD, that of passphrases of key files. Text
// in ASCII is returned as it is.
func NFKD(s string) string {
	if settled(s, 0x80) {
		return s
	}
	return string(appendRunes(nil, decompose(s, true)))
}

// settled reports whether every byte of s lies below first.
func settled(s string, first byte) bool {
	for i := range len(s) {
		if s[i] >= first {
			return false
		}
	}
	return true
}

// decompose returns the full decomposition of s in canonical order.
func decompose(s string, compat bool) []rune {
	out := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		r, n := decodeRune(s[i:])
		out = appendDecomposed(out, r, compat)
		i += n
	}
	reorder(out)
	return out
}

// appendDecomposed appends the full decomposition of r. It recurses into the
// steps of the table, at most four deep.
func appendDecomposed(dst []rune, r rune, compat bool) []rune {
	if r < 0x80 {
		return append(dst, r)
	}
	if s := r - hangulS; 0 <= s && s < hangulSs {
		dst = append(dst, hangulL+s/(hangulVs*hangulTs), hangulV+s%(hangulVs*hangulTs)/hangulTs)
		if t := s % hangulTs; t != 0 {
			dst = append(dst, hangulT+t)
		}
		return dst
	}
	to, ok := lookup(canonical[:], r)
	if !ok && compat {
		to, ok = lookup(compatSteps[:], r)
	}
	if !ok {
		return append(dst, r)
	}
	for _, part := range to {
		dst = appendDecomposed(dst, part, compat)
	}
	return dst
}

// reorder sorts each run of combining marks by class, stably. A run is as long
// as an attacker likes, so it counts instead of inserting.
func reorder(rs []rune) {
	for i := 0; i < len(rs); {
		if rs[i] < 0x300 || class(rs[i]) == 0 {
			i++
			continue
		}
		end := i + 1
		for end < len(rs) && class(rs[end]) != 0 {
			end++
		}
		if end-i > 1 {
			sortByClass(rs[i:end])
		}
		i = end
	}
}

// shortRun is how many marks are sorted one by one: most have two or three.
const shortRun = 16

func sortByClass(run []rune) {
	if len(run) <= shortRun {
		for i := 1; i < len(run); i++ {
			r := run[i]
			k, j := class(r), i
			for ; j > 0 && class(run[j-1]) > k; j-- {
				run[j] = run[j-1]
			}
			run[j] = r
		}
		return
	}
	var next [257]int // index of the next mark of each class
	for _, r := range run {
		next[int(class(r))+1]++
	}
	for k := 1; k < len(next); k++ {
		next[k] += next[k-1]
	}
	sorted := make([]rune, len(run))
	for _, r := range run {
		k := class(r)
		sorted[next[k]] = r
		next[k]++
	}
	copy(run, sorted)
}

// recompose composes canonically ordered text in place.
func recompose(rs []rune) []rune {
	starter := -1   // index in rs of the last starter written
	lastClass := -1 // class of the last mark written after it, -1 for none
	w := 0
	for _, r := range rs {
		k := int(class(r))
		if starter >= 0 && lastClass < k {
			if c, ok := compose(rs[starter], r); ok {
				rs[starter] = c
				continue
			}
		}
		if k == 0 {
			starter, lastClass = w, -1
		} else {
			lastClass = k
		}
		rs[w] = r
		w++
	}
	return rs[:w]
}

func composeHangul(a, b rune) (rune, bool) {
	if l, v := a-hangulL, b-hangulV; 0 <= l && l < hangulLs && 0 <= v && v < hangulVs {
		return hangulS + (l*hangulVs+v)*hangulTs, true
	}
	if s, t := a-hangulS, b-hangulT; 0 <= s && s < hangulSs && s%hangulTs == 0 && 0 < t && t < hangulTs {
		return a + t, true
	}
	return 0, false
}

// invalidBase marks a byte that is no UTF-8, so that it passes through: the
// byte b becomes the code point invalidBase+b, beyond Unicode.
const invalidBase = 0x200000

// decodeRune reads one code point, taking surrogates as UTF-8 would write them.
func decodeRune(s string) (rune, int) {
	r, n := utf8.DecodeRuneInString(s)
	if r != utf8.RuneError || n != 1 {
		return r, n
	}
	if len(s) >= 3 && s[0] == 0xED && s[1]&0xE0 == 0xA0 && s[2]&0xC0 == 0x80 {
		return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return invalidBase + rune(s[0]), 1
}

func appendRunes(dst []byte, rs []rune) []byte {
	for _, r := range rs {
		switch {
		case r >= invalidBase:
			dst = append(dst, byte(r-invalidBase))
		case 0xD800 <= r && r < 0xE000:
			dst = append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
