package softfloat

import "strconv"

// Style says how AppendText writes a value: Python's format specification
// without sign, width, fill and grouping, which wrap the result.
type Style struct {
	// Verb is one of e E f F g G, or r for repr: the shortest text that reads
	// back equal. Prec has no meaning with r.
	Verb byte
	// Prec is digits after the point (e, f) or significant digits (g, where 0 is
	// 1). The result may be Prec+310 bytes long: charge for it before.
	Prec int
	// Alt keeps the point, and with g trailing zeros: "#".
	Alt bool
	// Dot0 appends ".0" to what would look like an integer, and with g turns to
	// an exponent one digit earlier: Python's omitted type with a precision.
	Dot0 bool
	// NoNegZero drops the sign of what rounds to zero: "z".
	NoNegZero bool
}

// Repr is Python's repr(x).
func Repr(x uint64) string {
	var buf [32]byte
	return string(AppendRepr(buf[:0], x))
}

// AppendRepr appends Python's repr(x), at most 24 bytes.
func AppendRepr(dst []byte, x uint64) []byte {
	return AppendText(dst, x, Style{Verb: 'r', Dot0: true})
}

// AppendText appends x in the style: "-", digits, "inf" or "nan". A Verb that is
// not in the list is treated as r.
func AppendText(dst []byte, x uint64, s Style) []byte {
	upper := s.Verb >= 'A' && s.Verb <= 'Z'
	verb := s.Verb | 0x20
	mag := x & magMask
	if mag >= Inf {
		return appendSpecial(dst, x, upper)
	}
	var buf [40]byte
	digits, exp10, point := buf[:0], 0, false // 0.digits·10^(exp10+1), where point: exponent form
	switch verb {
	case 'e':
		digits, exp10 = significant(digits, mag, s.Prec+1)
		point = true
	case 'f':
		digits = appendScaled(digits, mag, s.Prec)
		if len(digits) == 1 && digits[0] == '0' {
			digits = digits[:0]
		}
		exp10 = len(digits) - 1 - s.Prec
	case 'g':
		prec := max(s.Prec, 1)
		digits, exp10 = significant(digits, mag, prec)
		limit := prec
		if s.Dot0 {
			limit--
		}
		point = exp10 < -4 || exp10 >= limit
		if !s.Alt {
			digits = trimTrailing(digits)
		}
	default:
		digits, exp10 = shortestDigits(digits, mag)
		point = exp10 < -4 || exp10 >= 16
	}
	if x>>63 != 0 && !(s.NoNegZero && allZero(digits)) {
		dst = append(dst, '-')
	}
	if point {
		return appendExponent(dst, digits, exp10, s.Alt, upper)
	}
	places := 0
	if verb == 'f' {
		places = s.Prec
	} else {
		places = max(len(digits)-1-exp10, 0)
	}
	return appendFixed(dst, digits, exp10, places, s)
}

func appendSpecial(dst []byte, x uint64, upper bool) []byte {
	text := "inf"
	if IsNaN(x) {
		text = "nan"
	} else if x>>63 != 0 {
		dst = append(dst, '-')
	}
	for i := range len(text) {
		c := text[i]
		if upper {
			c -= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

func significant(dst []byte, mag uint64, count int) ([]byte, int) {
	if mag != 0 {
		return appendDigits(dst, mag, count)
	}
	for range count {
		dst = append(dst, '0')
	}
	return dst, 0
}

func shortestDigits(dst []byte, mag uint64) ([]byte, int) {
	if mag == 0 {
		return append(dst, '0'), 0
	}
	d, k := shortest(mag)
	dst = strconv.AppendUint(dst, d, 10)
	return dst, k + len(dst) - 1
}

func trimTrailing(digits []byte) []byte {
	n := len(digits)
	for n > 1 && digits[n-1] == '0' {
		n--
	}
	return digits[:n]
}

func allZero(digits []byte) bool {
	for _, c := range digits {
		if c != '0' {
			return false
		}
	}
	return true
}

// appendExponent writes d.ddde±xx.
func appendExponent(dst, digits []byte, exp10 int, alt, upper bool) []byte {
	dst = append(dst, digits[0])
	if len(digits) > 1 || alt {
		dst = append(dst, '.')
		dst = append(dst, digits[1:]...)
	}
	mark := byte('e')
	if upper {
		mark = 'E'
	}
	sign := byte('+')
	if exp10 < 0 {
		sign, exp10 = '-', -exp10
	}
	dst = append(dst, mark, sign)
	if exp10 < 10 {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, int64(exp10), 10)
}

// appendFixed writes digits, the first of which is worth 10^exp10, with the
// given number of places.
func appendFixed(dst, digits []byte, exp10, places int, s Style) []byte {
	at := func(power int) byte {
		if i := exp10 - power; i >= 0 && i < len(digits) {
			return digits[i]
		}
		return '0'
	}
	for power := max(exp10, 0); power >= 0; power-- {
		dst = append(dst, at(power))
	}
	switch {
	case places > 0:
		dst = append(dst, '.')
		for power := -1; power >= -places; power-- {
			dst = append(dst, at(power))
		}
	case s.Dot0:
		dst = append(dst, ".0"...)
	case s.Alt:
		dst = append(dst, '.')
	}
	return dst
}

// roundTrip is how many digits after the first say of any value which one it is, the
// nearest with so many having been taken: 17 in all are enough.
const roundTrip = 17

// leadingPlace is a lower bound on the place of the first digit of a value: 0 is that of
// ones, -1 that of tenths.
func leadingPlace(mag uint64) int {
	e := int(mag>>52) - 1023
	if mag>>52 == 0 {
		e = -1074
	}
	if e < 0 {
		return -((-e*30_103 + 99_999) / 100_000)
	}
	return e * 30_102 / 100_000
}

// RoundTo is Python's round(x, n): the value nearest the decimal with n places
// that is nearest x, half to even. ok is false when that is infinite, where
// Python raises OverflowError.
func RoundTo(x uint64, n int) (y uint64, ok bool) {
	mag := x & magMask
	switch {
	case mag > Inf:
		return NaN, true
	case mag == 0 || mag == Inf || n > 323: // as in Python: no value has a digit worth cutting there
		return x, true
	case n+leadingPlace(mag) >= roundTrip: // so many digits say which value it is
		return x, true
	case n < -308:
		return x & signBit, true
	}
	var buf [40]byte
	digits := appendScaled(buf[:0], mag, n)
	y = fromDigits(digits, -n)
	return x&signBit | y, y < Inf
}
