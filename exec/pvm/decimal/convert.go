package decimal

import (
	"errors"
	"math/big"
	"math/bits"
)

// Conversions fail with these; Python's exceptions stand in the texts of the
// machine, not here.
var (
	// ErrInf: an infinity is no integer and no ratio (OverflowError).
	ErrInf = errors.New("infinity has no integer value")
	// ErrNaN: neither is a NaN (ValueError).
	ErrNaN = errors.New("NaN has no integer value")
	// ErrSize: the result has more digits than the caller allows.
	ErrSize = errors.New("too many digits")
)

// IntDigits is the number of digits of the integer part of d, to be charged
// before Int; zero for what is no number.
func (d Decimal) IntDigits() int64 {
	if d.kind != finite || d.coef.Sign() == 0 {
		return 0
	}
	return max(0, d.Adjusted()+1)
}

// Int is the integer part of d, Python's int(d), of limit digits at most.
func (d Decimal) Int(limit int) (*big.Int, error) {
	switch {
	case d.IsInf():
		return nil, ErrInf
	case d.IsNaN():
		return nil, ErrNaN
	case d.IntDigits() > int64(limit):
		return nil, ErrSize
	}
	i := new(big.Int).Set(d.rescaled(0, Down).coef)
	if d.neg {
		i.Neg(i)
	}
	return i, nil
}

// Ratio is d as a fraction in lowest terms with a denominator above zero,
// Python's as_integer_ratio; neither has more than limit digits.
func (d Decimal) Ratio(limit int) (num, den *big.Int, err error) {
	if d.kind != finite || d.exp >= 0 {
		num, err = d.Int(limit)
		return num, one, err
	}
	if -d.exp > int64(limit) || digits(d.coef) > limit {
		if d.coef.Sign() == 0 {
			return zero, one, nil
		}
		return nil, nil, ErrSize
	}
	num, den = new(big.Int).Set(d.coef), pow10(-d.exp)
	g := new(big.Int).GCD(nil, nil, num, den)
	num, den = num.Quo(num, g), new(big.Int).Quo(den, g)
	if d.neg {
		num.Neg(num)
	}
	return num, den, nil
}

// Tuple is Python's as_tuple: the sign, the digits and the exponent, which for
// what is no number is "F", "n" or "N" in special, and zero.
func (d Decimal) Tuple() (neg bool, ds []byte, exp int64, special string) {
	text := d.coef.Append(nil, 10)
	// Paid: by asTuple in lib, textWork and an element for each digit.
	for i := range text {
		text[i] -= '0'
	}
	switch {
	case d.kind == infinite:
		return d.neg, []byte{0}, 0, "F"
	case d.kind == finite:
		return d.neg, text, d.exp, ""
	case d.coef.Sign() == 0:
		text = nil
	}
	if d.kind == signaling {
		return d.neg, text, 0, "N"
	}
	return d.neg, text, 0, "n"
}

const (
	floatExpMask  = 0x7ff
	floatFracMask = 1<<52 - 1
)

// fives are the powers of five that a binary64 can need.
var fives = func() (table [1075]*big.Int) {
	p, five := big.NewInt(1), big.NewInt(5)
	// Bounded: by the table; once, when the program starts.
	for i := range table {
		table[i] = p
		p = new(big.Int).Mul(p, five)
	}
	return table
}()

// FromFloat is the value of a binary64, exactly, from its bits.
func FromFloat(bits uint64) Decimal {
	neg, exp, frac := bits>>63 != 0, int(bits>>52&floatExpMask), bits&floatFracMask
	switch {
	case exp == floatExpMask && frac != 0:
		return Decimal{kind: quiet, coef: zero}
	case exp == floatExpMask:
		return infinity(neg)
	case exp == 0 && frac == 0:
		return Decimal{neg: neg, coef: zero}
	case exp == 0:
		exp = 1
	default:
		frac |= 1 << 52
	}
	// Bounded: by the 53 bits of a significand.
	for exp -= 1075; exp < 0 && frac&1 == 0; exp++ {
		frac >>= 1
	}
	coef := new(big.Int).SetUint64(frac)
	if exp >= 0 {
		return Decimal{neg: neg, coef: coef.Lsh(coef, uint(exp))}
	}
	// m/2^n = m·5^n/10^n
	return Decimal{neg: neg, coef: coef.Mul(coef, fives[-exp]), exp: int64(exp)}
}

// Binary64 is the binary64 nearest d, half to even, as its bits: Python's float(d).
// A signaling NaN is the caller's to refuse.
func (d Decimal) Binary64() uint64 {
	sign := uint64(btoi(d.neg)) << 63
	const inf = floatExpMask << 52
	switch {
	case d.IsNaN():
		return sign | inf | 1<<51
	case d.IsInf():
		return sign | inf
	case d.coef.Sign() == 0 || d.Adjusted() < -330:
		return sign
	case d.Adjusted() > 310:
		return sign | inf
	}
	num, den := d.coef, one
	if d.exp >= 0 {
		num = new(big.Int).Mul(num, pow10(d.exp))
	} else {
		den = pow10(-d.exp)
	}
	// A quotient of 53 or 54 bits, less where the number is subnormal.
	e := max(num.BitLen()-den.BitLen()-53, -1074)
	// Bounded: by three rounds: a quotient has 53 to 55 bits.
	for {
		a, b := num, den
		if e > 0 {
			b = new(big.Int).Lsh(b, uint(e))
		} else {
			a = new(big.Int).Lsh(a, uint(-e))
		}
		quo, rem := new(big.Int).QuoRem(a, b, new(big.Int))
		if quo.BitLen() > 53 {
			e++
			continue
		}
		if roundsUp(HalfEven, false, quo, rem, b) {
			quo.Add(quo, one)
		}
		m := quo.Uint64()
		// A carry into the next power of two falls into place by adding.
		if m < 1<<52 {
			return sign | m
		}
		if exp := e + 1075; exp < floatExpMask {
			return sign | min(uint64(exp-1)<<52+m, inf)
		}
		return sign | inf
	}
}

// hashModulus is the prime modulo which Python hashes every number, so that equal numbers
// of any type hash equal; hashTenth is the inverse of ten.
const (
	hashBits    = 61
	hashModulus = 1<<hashBits - 1
	hashTenth   = 2075258708292324556
)

// bigHashModulus is hashModulus for coefficients of any length.
var bigHashModulus = new(big.Int).SetUint64(hashModulus)

// hashTimes is a product modulo hashModulus of two that are below it: the bits above the
// 61st count as often as those below, as 2^61 is 1.
func hashTimes(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	sum := lo&hashModulus + (hi<<(64-hashBits) | lo>>hashBits)
	if sum >= hashModulus {
		sum -= hashModulus
	}
	return sum
}

// hashPower is a power modulo hashModulus.
func hashPower(base, exp uint64) uint64 {
	p := uint64(1)
	// Bounded: by the 64 bits of the exponent.
	for ; exp > 0; exp >>= 1 {
		if exp&1 == 1 {
			p = hashTimes(p, base)
		}
		base = hashTimes(base, base)
	}
	return p
}

// Hash is Python's hash(d); of a quiet NaN, which CPython hashes by its address,
// it is zero. ok is false for a signaling NaN (TypeError).
func (d Decimal) Hash() (h int64, ok bool) {
	switch d.kind {
	case signaling:
		return 0, false
	case quiet:
		return 0, true
	case infinite:
		h = 314159
	default:
		base := uint64(10)
		if d.exp < 0 {
			base = hashTenth
		}
		m := new(big.Int).Mod(d.coef, bigHashModulus)
		h = int64(hashTimes(m.Uint64(), hashPower(base, uint64(max(d.exp, -d.exp)))))
	}
	if d.neg {
		h = -h
	}
	if h == -1 {
		h = -2
	}
	return h, true
}
