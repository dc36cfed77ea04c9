package strictjson

import "unicode/utf8"

// appendEscaped appends the character that the escape sequence at the start of in stands
// for, where mark is what quotes the string, and returns how many bytes the sequence has: 0
// for one that does not exist or that is half of a surrogate pair.
func appendEscaped[T string | []byte](dst []byte, in T, mark byte) ([]byte, int) {
	if len(in) < 2 {
		return dst, 0
	}
	switch c := in[1]; c {
	case mark, '\\', '/':
		return append(dst, c), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		return appendUnit(dst, in)
	}
	return dst, 0
}

// appendUnit appends the character of the sequence \uXXXX at the start of in, or of two of
// them that make a surrogate pair.
func appendUnit[T string | []byte](dst []byte, in T) ([]byte, int) {
	const low, high, end = 0xdc00, 0xd800, 0xe000
	u := hex4(in)
	switch {
	case u < 0 || u >= low && u < end:
		return dst, 0
	case u < high || u >= end:
		return utf8.AppendRune(dst, u), 6
	}
	second := hex4(in[6:])
	if second < low || second >= end {
		return dst, 0
	}
	return utf8.AppendRune(dst, 0x10000+(u-high)<<10+(second-low)), 12
}

// hex4 returns the number of the sequence \uXXXX at the start of in, -1 if none stands
// there.
func hex4[T string | []byte](in T) rune {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return -1
	}
	var u rune
	for i := range 4 {
		c := in[2+i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		u = u<<4 | rune(c)
	}
	return u
}
