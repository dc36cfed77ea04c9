package softfloat

import (
	"math/big"
	"math/bits"
	"strconv"
)

// appendScaled appends the digits of the integer nearest mag·10^p, half to
// even, without leading zeros: "0" for zero. mag is finite.
func appendScaled(dst []byte, mag uint64, p int) []byte {
	if n, ok := scaledFast(mag, p); ok {
		return strconv.AppendUint(dst, n, 10)
	}
	sig, exp := Decompose(mag)
	num, den := new(big.Int).SetUint64(sig), big.NewInt(1)
	if p >= 0 {
		num.Mul(num, pow10(p))
	} else {
		den = pow10(-p)
	}
	if exp >= 0 {
		num.Lsh(num, uint(exp))
	} else {
		den.Lsh(den, uint(-exp))
	}
	rem := new(big.Int)
	num.QuoRem(num, den, rem)
	if c := rem.Lsh(rem, 1).Cmp(den); c > 0 || c == 0 && num.Bit(0) != 0 {
		num.Add(num, big.NewInt(1))
	}
	return num.Append(dst, 10)
}

// scaledFast is appendScaled's number where 128 bits suffice: values that are
// not huge, with few places.
func scaledFast(mag uint64, p int) (n uint64, ok bool) {
	sig, exp := Decompose(mag)
	if sig == 0 {
		return 0, true
	}
	if p < 0 || p >= len(smallPowers) || exp > 11 {
		return 0, false
	}
	hi, lo := bits.Mul64(sig, smallPowers[p])
	if exp >= 0 {
		if hi != 0 || lo>>uint(64-exp) != 0 {
			return 0, false
		}
		return lo << uint(exp), true
	}
	shift := uint(-exp)
	if shift >= 128 {
		return 0, true // below 2^117/2^128
	}
	// hi:lo = n·2^shift + rem, rem against half of 2^shift.
	var half, rest uint64 // the first bit of rem, and whether others are set
	if shift > 64 {
		s := shift - 64
		n = hi >> s
		half, rest = hi>>(s-1)&1, hi&(1<<(s-1)-1)|lo
	} else {
		if hi>>(shift-1)>>1 != 0 {
			return 0, false
		}
		n = lo>>(shift-1)>>1 | hi<<(64-shift)
		half, rest = lo>>(shift-1)&1, lo&(1<<(shift-1)-1)
	}
	if n == 1<<64-1 {
		return 0, false // no room to round up
	}
	if half != 0 && (rest != 0 || n&1 != 0) {
		n++
	}
	return n, true
}

// smallPowers are the powers of ten below 2^64.
var smallPowers = [...]uint64{
	1,
	10,
	100,
	1_000,
	10_000,
	100_000,
	1_000_000,
	10_000_000,
	100_000_000,
	1_000_000_000,
	10_000_000_000,
	100_000_000_000,
	1_000_000_000_000,
	10_000_000_000_000,
	100_000_000_000_000,
	1_000_000_000_000_000,
	10_000_000_000_000_000,
	100_000_000_000_000_000,
	1_000_000_000_000_000_000,
	10_000_000_000_000_000_000,
}

func pow10(n int) *big.Int {
	if n < len(smallPowers) {
		return new(big.Int).SetUint64(smallPowers[n])
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// appendDigits appends the count digits of a positive finite mag rounded to that
// many significant ones, and gives the decimal exponent of the first.
func appendDigits(dst []byte, mag uint64, count int) (digits []byte, exp10 int) {
	e, _ := normal(mag)
	// floor(log10(2^e)) is the exponent or one less.
	exp10 = ((e - bias) * 1262611) >> 22
	start := len(dst)
	dst = appendScaled(dst, mag, count-1-exp10)
	if len(dst)-start > count {
		exp10++
		dst = appendScaled(dst[:start], mag, count-1-exp10)
	}
	return dst, exp10
}
