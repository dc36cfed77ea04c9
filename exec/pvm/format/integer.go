package format

import (
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// Int is an integer: Big, or Small when that is nil.
type Int struct {
	Small int64
	Big   *big.Int
}

// MaxDigits is how many decimal digits an integer may have as text, in either
// direction: CPython's default, because the conversion is quadratic.
const MaxDigits = 4300

// maxDecimalBits is one more than the bits of the largest of MaxDigits digits.
const maxDecimalBits = 14285

const tooManyDigits = "Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit"

func (n Int) negative() bool {
	if n.Big != nil {
		return n.Big.Sign() < 0
	}
	return n.Small < 0
}

func (n Int) bitLen() int {
	if n.Big != nil {
		return n.Big.BitLen()
	}
	return bits.Len64(magnitude(n.Small))
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// int64 returns n when it fits.
func (n Int) int64() (int64, bool) {
	if n.Big == nil {
		return n.Small, true
	}
	return n.Big.Int64(), n.Big.IsInt64()
}

// float is the nearest binary64.
func (n Int) float() (uint64, error) {
	if n.Big == nil {
		return softfloat.FromInt64(n.Small), nil
	}
	x, ok := softfloat.FromBig(n.Big)
	if !ok {
		return 0, &Error{OverflowError, "int too large to convert to float"}
	}
	return x, nil
}

// appendDigits appends the digits of the magnitude.
func (n Int) appendDigits(dst []byte, base int) ([]byte, error) {
	if n.Big == nil {
		return strconv.AppendUint(dst, magnitude(n.Small), base), nil
	}
	if base == 10 && n.Big.BitLen() > maxDecimalBits {
		return dst, &Error{ValueError, tooManyDigits}
	}
	start := len(dst)
	dst = n.Big.Append(dst, base)
	if dst[start] == '-' {
		dst = append(dst[:start], dst[start+1:]...)
	}
	if base == 10 && len(dst)-start > MaxDigits {
		return dst[:start], &Error{ValueError, tooManyDigits}
	}
	return dst, nil
}

// digitBound bounds the digits of a magnitude of so many bits. A decimal digit
// holds more than three.
func digitBound(bitLen, base int) int64 {
	per := bits.Len(uint(base)) - 1
	return int64(bitLen/per) + 1
}

// AppendDecimal appends str(n).
func AppendDecimal(dst []byte, n Int) ([]byte, error) {
	start := len(dst)
	if n.negative() {
		dst = append(dst, '-')
	}
	dst, err := n.appendDigits(dst, 10)
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

func baseOf(verb rune) (base int, prefix string) {
	switch verb {
	case 'b':
		return 2, "0b"
	case 'o':
		return 8, "0o"
	case 'x':
		return 16, "0x"
	case 'X':
		return 16, "0X"
	}
	return 10, ""
}

// IntBound bounds what AppendInt appends, in bytes.
func (s *Spec) IntBound(n Int) int64 {
	if s.floating() {
		return s.RealBound()
	}
	base, _ := baseOf(s.Type)
	digits := digitBound(n.bitLen(), base)
	if s.Group != 0 {
		digits += digits / 3
	}
	return s.bound(addSizes(digits, 8))
}

// AppendInt appends an integer in a specification for one. A surrogate for "c"
// is refused: there is none in the machine's texts.
func (s *Spec) AppendInt(dst []byte, n Int) ([]byte, error) {
	if err := checkSize(s.IntBound(n)); err != nil {
		return dst, err
	}
	if s.floating() {
		x, err := n.float()
		if err != nil {
			return dst, err
		}
		return s.AppendReal(dst, x)
	}
	if s.Type == 'c' {
		v, ok := n.int64()
		if !ok {
			return dst, &Error{OverflowError, "Python int too large to convert to C long"}
		}
		if v < 0 || v > utf8.MaxRune || v >= 0xD800 && v < 0xE000 {
			return dst, &Error{OverflowError, "%c arg not in range(0x110000)"}
		}
		return s.appendNumber(dst, number{rest: utf8.AppendRune(nil, rune(v))}), nil
	}
	base, prefix := baseOf(s.Type)
	if !s.Alt {
		prefix = ""
	}
	var buf [80]byte
	digits, err := n.appendDigits(buf[:0], base)
	if err != nil {
		return dst, err
	}
	if s.Type == 'X' {
		upper(digits)
	}
	return s.appendNumber(dst, number{negative: n.negative(), prefix: prefix, digits: digits}), nil
}

func upper(digits []byte) {
	// Paid: by IntBound or Values.Reserve before.
	for i, c := range digits {
		if c >= 'a' && c <= 'z' {
			digits[i] = c - 0x20
		}
	}
}

// hexDigits is n in hexadecimal with at least so many digits.
func hexDigits(n uint64, least int) string {
	text := strconv.FormatUint(n, 16)
	if len(text) < least {
		// Bounded: by eight digits.
		return strings.Repeat("0", least-len(text)) + text
	}
	return text
}
