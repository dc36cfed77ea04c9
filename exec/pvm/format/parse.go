package format

import (
	"errors"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// plain maps decimal digits and blanks of other scripts to ASCII; anything else
// that is not ASCII becomes a question mark, which no number has.
func plain(text string) string {
	ascii := true
	// Paid: by the callers in vm (float(), int()), a character each before.
	for i := range len(text) {
		ascii = ascii && text[i] < utf8.RuneSelf
	}
	if ascii {
		return text
	}
	out := make([]byte, 0, len(text))
	// Paid: likewise.
	for _, r := range text {
		switch d := ucd.DecimalValue(r); {
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case ucd.IsSpace(r):
			out = append(out, ' ')
		case d >= 0:
			out = append(out, '0'+byte(d))
		default:
			out = append(out, '?')
		}
	}
	return string(out)
}

// blanks is what C takes for white space.
const blanks = " \t\n\v\f\r"

// ScanFloat reads the text of float(text).
func ScanFloat(text string) (softfloat.Number, error) {
	n, ok := softfloat.Scan(plain(text))
	if !ok {
		return n, &Error{ValueError, "could not convert string to float: " + string(AppendRepr(nil, text))}
	}
	return n, nil
}

// ScanFloatBytes reads the bytes of float(bytes).
func ScanFloatBytes(text string) (softfloat.Number, error) {
	n, ok := softfloat.Scan(text)
	if !ok {
		return n, &Error{ValueError, "could not convert string to float: " + string(AppendBytesRepr(nil, text))}
	}
	return n, nil
}

// ParseInt is int(text, base). More digits than MaxDigits are refused, but for
// bases that are powers of two.
func ParseInt(text string, base int64) (Int, error) {
	n, err := parseInt(plain(text), base)
	if err == errLiteral {
		repr := cut(string(AppendRepr(nil, cut(text, quotedMax))), quotedMax)
		err = &Error{ValueError, "invalid literal for int() with base " + strconv.FormatInt(base, 10) + ": " + repr}
	}
	return n, err
}

// ParseIntBytes is int(bytes, base).
func ParseIntBytes(text string, base int64) (Int, error) {
	n, err := parseInt(text, base)
	if err == errLiteral {
		repr := appendBytesQuoted(nil, text[:min(len(text), quotedMax)], quoteFor(text))
		repr = repr[:min(len(repr), quotedMax)]
		err = &Error{ValueError, "invalid literal for int() with base " + strconv.FormatInt(base, 10) + ": " + string(repr)}
	}
	return n, err
}

// quotedMax is the code points of a literal that an error quotes.
const quotedMax = 200

// errLiteral stands for the error that quotes the literal.
var errLiteral = errors.New("invalid literal")

func parseInt(text string, base int64) (Int, error) {
	if base != 0 && (base < 2 || base > 36) {
		return Int{}, &Error{ValueError, "int() base must be >= 2 and <= 36, or 0"}
	}
	// Paid: likewise.
	text = strings.Trim(text, blanks)
	// Bounded: by one character.
	negative := strings.HasPrefix(text, "-")
	// Bounded: by one character.
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	text, base, zeroOnly := stripPrefix(text, base)
	digits, ok := scanDigits(text, int(base))
	if !ok {
		return Int{}, errLiteral
	}
	n, err := fromDigits(digits, int(base))
	if err != nil {
		return Int{}, err
	}
	if zeroOnly && (n.Big != nil || n.Small != 0) {
		return Int{}, errLiteral
	}
	if negative {
		n = n.negate()
	}
	return n, nil
}

// stripPrefix takes 0x, 0o or 0b away and settles base 0, in which a decimal
// literal with a leading zero is only good for zero.
func stripPrefix(text string, base int64) (rest string, of int64, zeroOnly bool) {
	of = base
	if base == 0 {
		of = 10
		// Bounded: by one character.
		zeroOnly = strings.HasPrefix(text, "0")
	}
	if len(text) < 2 || text[0] != '0' {
		return text, of, zeroOnly
	}
	named := int64(0)
	switch text[1] | 0x20 {
	case 'x':
		named = 16
	case 'o':
		named = 8
	case 'b':
		named = 2
	}
	if named == 0 || base != 0 && base != named {
		return text, of, zeroOnly
	}
	// Bounded: by one character.
	return strings.TrimPrefix(text[2:], "_"), named, false
}

// scanDigits returns the values of the digits; single underscores may stand
// between them.
func scanDigits(text string, base int) ([]byte, bool) {
	digits := make([]byte, 0, len(text))
	digit := false
	// Paid: by int() in vm, a character each before.
	for i := range len(text) {
		c := text[i]
		v := 99
		switch {
		case c >= '0' && c <= '9':
			v = int(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			v = int(c|0x20-'a') + 10
		case c == '_' && digit:
			digit = false
			continue
		}
		if v >= base {
			return nil, false
		}
		digits = append(digits, byte(v))
		digit = true
	}
	return digits, digit
}

func fromDigits(digits []byte, base int) (Int, error) {
	binary := base&(base-1) == 0
	if !binary && len(digits) > MaxDigits {
		return Int{}, &Error{ValueError, "Exceeds the limit (4300 digits) for integer string conversion: value has " +
			strconv.Itoa(len(digits)) + " digits; use sys.set_int_max_str_digits() to increase the limit"}
	}
	// Paid: likewise.
	for len(digits) > 0 && digits[0] == 0 {
		digits = digits[1:]
	}
	if len(digits) <= 12 { // 36^12 < 2^63
		var n int64
		// Bounded: by twelve digits.
		for _, d := range digits {
			n = n*int64(base) + int64(d)
		}
		return Int{Small: n}, nil
	}
	var n *big.Int
	if binary {
		n = fromBits(digits, bits.Len(uint(base))-1)
	} else {
		// Bounded: by MaxDigits, 4,300; int() paid for the limbs' square.
		for i, d := range digits {
			digits[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[d]
		}
		n, _ = new(big.Int).SetString(string(digits), base)
	}
	if n.IsInt64() {
		return Int{Small: n.Int64()}, nil
	}
	return Int{Big: n}, nil
}

// fromBits joins digits of so many bits each, in linear time.
func fromBits(digits []byte, each int) *big.Int {
	out := make([]byte, (len(digits)*each+7)/8)
	var have uint
	var acc uint
	at := len(out)
	// Paid: by int() in vm, a character each before.
	for i := len(digits) - 1; i >= 0; i-- {
		acc |= uint(digits[i]) << have
		have += uint(each)
		if have >= 8 {
			at--
			out[at] = byte(acc)
			acc >>= 8
			have -= 8
		}
	}
	if have > 0 && at > 0 {
		out[at-1] = byte(acc)
	}
	return new(big.Int).SetBytes(out)
}

func (n Int) negate() Int {
	if n.Big == nil {
		return Int{Small: -n.Small}
	}
	b := new(big.Int).Neg(n.Big)
	if b.IsInt64() {
		return Int{Small: b.Int64()}
	}
	return Int{Big: b}
}
