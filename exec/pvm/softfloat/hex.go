package softfloat

import "strconv"

// Hex is Python's float.hex(x).
func Hex(x uint64) string {
	if !IsFinite(x) {
		return Repr(x)
	}
	var dst []byte
	if x>>63 != 0 {
		dst = append(dst, '-')
	}
	exp, frac := int(x>>52&expMax), x&fracMask
	switch {
	case exp == 0 && frac == 0:
		return string(append(dst, "0x0.0p+0"...))
	case exp == 0:
		dst = append(dst, "0x0."...)
		exp = 1
	default:
		dst = append(dst, "0x1."...)
	}
	for shift := 48; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[frac>>uint(shift)&15])
	}
	dst = append(dst, 'p')
	if exp >= bias {
		dst = append(dst, '+')
	}
	return string(strconv.AppendInt(dst, int64(exp-bias), 10))
}

// HexError says why ParseHex refused.
type HexError int

// What float.fromhex raises for.
const (
	HexOK       HexError = iota
	HexInvalid           // ValueError
	HexOverflow          // OverflowError
)

// ParseHex is Python's float.fromhex(text), correctly rounded.
func ParseHex(text string) (x uint64, err HexError) {
	text = trimBlanks(text)
	var sign uint64
	if text != "" && (text[0] == '+' || text[0] == '-') {
		if text[0] == '-' {
			sign = signBit
		}
		text = text[1:]
	}
	switch {
	case equalFold(text, "inf") || equalFold(text, "infinity"):
		return sign | Inf, HexOK
	case equalFold(text, "nan"):
		return NaN, HexOK
	}
	if len(text) >= 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		text = text[2:]
	}
	var (
		sig           uint64
		exp           int
		any, point    bool
		sticky, start bool
		i             int
	)
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' && !point {
			point = true
			continue
		}
		v, isHex := hexDigit(c)
		if !isHex {
			break
		}
		any = true
		start = start || v != 0
		if point {
			exp -= 4
		}
		if !start {
			continue
		}
		if sig < 1<<58 {
			sig = sig<<4 | v
		} else {
			exp += 4
			sticky = sticky || v != 0
		}
	}
	if !any {
		return 0, HexInvalid
	}
	if i < len(text) {
		if text[i]|0x20 != 'p' {
			return 0, HexInvalid
		}
		e, ok := scanBinaryExponent(text[i+1:])
		if !ok {
			return 0, HexInvalid
		}
		exp += e
	}
	if sig == 0 {
		return sign, HexOK
	}
	x = fromUint64Scaled(sig, exp, sticky)
	if x == Inf {
		return 0, HexOverflow
	}
	return sign | x, HexOK
}

func scanBinaryExponent(text string) (int, bool) {
	for i := range len(text) {
		if text[i] == '_' {
			return 0, false
		}
	}
	return scanExponent("e" + text)
}

func hexDigit(c byte) (v uint64, ok bool) {
	switch {
	case c >= '0' && c <= '9':
		return uint64(c - '0'), true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return uint64(c|0x20-'a') + 10, true
	}
	return 0, false
}
