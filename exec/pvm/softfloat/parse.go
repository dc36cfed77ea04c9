package softfloat

import (
	"math/big"
	"math/bits"
)

// Number is a scanned text: its value, or its digits where long division decides.
type Number struct {
	sign, mag uint64
	hard      bool
	digits    decimal
}

// Hard says that Value divides numbers of up to 2,900 bits, for a caller who charges
// before it computes: two multiplications do not tell which of two values is nearer.
func (n Number) Hard() bool { return n.hard }

// Value is the value nearest the text.
func (n Number) Value() uint64 {
	if n.hard {
		return n.sign | n.digits.divided()
	}
	return n.sign | n.mag
}

// Parse is the value of a text that [Scan] accepts.
func Parse(text string) (x uint64, ok bool) {
	n, ok := Scan(text)
	if !ok {
		return 0, false
	}
	return n.Value(), true
}

// Scan reads what Python's float(text) accepts: blanks around, a sign,
// decimal digits with single underscores between them, a point, an exponent, or
// inf, infinity or nan in any case. Text is ASCII: other digits and blanks are
// the caller's to map. ok is false for anything else. Out of range is infinity
// or zero, as in Python.
func Scan(text string) (n Number, ok bool) {
	text = trimBlanks(text)
	if text != "" && (text[0] == '+' || text[0] == '-') {
		if text[0] == '-' {
			n.sign = signBit
		}
		text = text[1:]
	}
	if text == "" {
		return n, false
	}
	if c := text[0] | 0x20; c == 'i' || c == 'n' {
		switch {
		case equalFold(text, "inf") || equalFold(text, "infinity"):
			n.mag = Inf
			return n, true
		case equalFold(text, "nan"):
			return Number{mag: NaN}, true
		}
		return n, false
	}
	d, ok := scanDecimal(text)
	if !ok {
		return n, false
	}
	mag, sure := d.multiplied()
	if !sure {
		n.hard, n.digits = true, d
	}
	n.mag = mag
	return n, true
}

func trimBlanks(text string) string {
	blank := func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	for text != "" && blank(text[0]) {
		text = text[1:]
	}
	for text != "" && blank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

func equalFold(text, lower string) bool {
	if len(text) != len(lower) {
		return false
	}
	for i := range len(text) {
		if text[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// digitsKept is how many significant digits decide: a point half-way between
// two values has at most 767, and whether anything follows is one digit more.
const digitsKept = 800

// decimal is a scanned number: the first nineteen significant digits as an
// integer, and where they and the rest stand.
type decimal struct {
	head  uint64 // the first digits, at most nineteen
	exp   int    // the value is head·10^exp, and more when rest
	rest  bool   // nonzero digits follow those in head
	long  []byte // with rest: the first digits, digitsKept at most, and a 1 if nonzero ones follow
	longE int    // exponent of the last of long
}

// scanDecimal reads digits, point and exponent.
func scanDecimal(text string) (d decimal, ok bool) {
	var (
		digits    []byte
		seen      int // digits after leading zeros
		any       bool
		point     = -1
		zeros     int // places before the first significant digit, after the point
		sticky    bool
		i         int
		lastDigit bool
	)
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= '0' && c <= '9':
			any, lastDigit = true, true
			if c == '0' && seen == 0 {
				if point >= 0 {
					zeros++
				}
				continue
			}
			if seen < 19 {
				d.head = d.head*10 + uint64(c-'0')
			} else if c != '0' {
				d.rest = true
			}
			if seen < digitsKept {
				if seen == 19 {
					digits = append(make([]byte, 0, 64), uint64Digits(d.head)...)
				}
				if seen >= 19 {
					digits = append(digits, c)
				}
			} else if c != '0' {
				sticky = true
			}
			seen++
			continue
		case c == '_':
			if !lastDigit || i+1 == len(text) || text[i+1] < '0' || text[i+1] > '9' {
				return d, false
			}
			lastDigit = false
			continue
		case c == '.' && point < 0:
			point = seen
			lastDigit = false
			continue
		}
		break
	}
	if !any {
		return d, false
	}
	exp := 0
	if i < len(text) {
		if exp, ok = scanExponent(text[i:]); !ok {
			return d, false
		}
	}
	// The digits seen are followed by exp-places, where places are those after
	// the point.
	if point < 0 {
		point = seen
	}
	places := seen - point + zeros
	d.exp = exp - places + max(seen-19, 0)
	if d.rest {
		d.long = digits
		d.longE = exp - places + seen - len(digits)
		if sticky {
			d.long = append(d.long, '1')
			d.longE--
		}
	}
	return d, true
}

func uint64Digits(n uint64) []byte {
	var buf [20]byte
	i := len(buf)
	for n > 0 {
		i--
		buf[i] = '0' + byte(n%10)
		n /= 10
	}
	return buf[i:]
}

// exponentLimit holds what no text in memory can make up for with digits.
const exponentLimit = 1 << 40

// scanExponent reads e±digits to the end of text.
func scanExponent(text string) (exp int, ok bool) {
	if text[0]|0x20 != 'e' {
		return 0, false
	}
	text = text[1:]
	neg := false
	if text != "" && (text[0] == '+' || text[0] == '-') {
		neg = text[0] == '-'
		text = text[1:]
	}
	last := false
	var e int64
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= '0' && c <= '9':
			last = true
			e = min(e*10+int64(c-'0'), exponentLimit)
		case c == '_' && last && i+1 < len(text):
			last = false
		default:
			return 0, false
		}
	}
	if neg {
		e = -e
	}
	return clampExponent(e), last
}

// clampExponent keeps exponents in an int of 32 bits, with room for the number
// of digits that a text can have.
func clampExponent(e int64) int {
	return int(max(min(e, 1<<30), -1<<30))
}

// multiplied is the value nearest d where that is out of range or multiplications with
// a power of ten tell.
func (d decimal) multiplied() (mag uint64, sure bool) {
	if d.head == 0 {
		return 0, true
	}
	// 10^(exp) ≤ value < 10^(exp+20)
	if d.exp > 309 {
		return Inf, true
	}
	if d.exp < -345 {
		return 0, true
	}
	x, ok := eiselLemire(d.head, d.exp)
	if !d.rest || !ok {
		return x, ok
	}
	y, ok := eiselLemire(d.head+1, d.exp)
	return x, ok && y == x
}

// divided is the value nearest d by long division.
func (d decimal) divided() uint64 {
	if !d.rest {
		return fromDigits(uint64Digits(d.head), d.exp)
	}
	return fromDigits(d.long, d.longE)
}

// fromDigits is the value nearest digits·10^exp by long division.
func fromDigits(digits []byte, exp int) uint64 {
	if len(digits)+exp > 310 {
		if allZero(digits) {
			return 0
		}
		return Inf
	}
	if len(digits)+exp < -330 {
		return 0
	}
	if len(digits) <= 19 {
		var head uint64
		for _, c := range digits {
			head = head*10 + uint64(c-'0')
		}
		if head == 0 {
			return 0
		}
		if x, ok := eiselLemire(head, exp); ok {
			return x
		}
	}
	num, _ := new(big.Int).SetString(string(digits), 10)
	if exp >= 0 {
		return FromScaled(num.Mul(num, pow10(exp)), 0, false)
	}
	x, _ := FromRatio(num, pow10(-exp))
	return x
}

// eiselLemire is the value nearest head·10^exp by one or two multiplications
// with a power of ten cut to 128 bits; ok is false where the bits cut off could
// decide, or the result is not normal (Lemire, "Number parsing at a gigabyte
// per second", 2021). head is not zero.
func eiselLemire(head uint64, exp int) (x uint64, ok bool) {
	if exp < powersMin || exp >= powersMin+len(powers) {
		return 0, false
	}
	pow := powers[exp-powersMin]
	shift := bits.LeadingZeros64(head)
	head <<= uint(shift)
	e := floorLog2Pow10(exp) + 64 + bias - shift
	hi, lo := bits.Mul64(head, pow[0])
	if hi&0x1ff == 0x1ff && lo+head < head {
		yHi, yLo := bits.Mul64(head, pow[1])
		var carry uint64
		lo, carry = bits.Add64(lo, yHi, 0)
		hi += carry
		if hi&0x1ff == 0x1ff && lo+1 == 0 && yLo+head < head {
			return 0, false
		}
	}
	top := hi >> 63
	sig := hi >> (top + 9)
	e -= int(1 ^ top)
	if lo == 0 && hi&0x1ff == 0 && sig&3 == 1 {
		return 0, false // perhaps half-way
	}
	sig = (sig + sig&1) >> 1
	if sig>>53 != 0 {
		sig >>= 1
		e++
	}
	if e < 1 || e >= expMax {
		return 0, false
	}
	return uint64(e)<<52 | sig&fracMask, true
}
