package softfloat

import "math/bits"

// Encodings with a name.
const (
	NaN    uint64 = 0x7ff8000000000000 // the only NaN that any operation returns
	Inf    uint64 = 0x7ff0000000000000
	NegInf uint64 = 0xfff0000000000000
	One    uint64 = 0x3ff0000000000000
	Half   uint64 = 0x3fe0000000000000
	Max    uint64 = 0x7fefffffffffffff // the largest finite value

	NegZero uint64 = 1 << 63
)

const (
	signBit  uint64 = 1 << 63
	hidden   uint64 = 1 << 52
	fracMask        = hidden - 1
	magMask         = signBit - 1
	expMax          = 0x7ff
	bias            = 1023
)

// IsNaN says whether a is any NaN.
func IsNaN(a uint64) bool { return a&magMask > Inf }

// IsInf says whether a is one of the infinities.
func IsInf(a uint64) bool { return a&magMask == Inf }

// IsFinite says whether a is neither infinite nor NaN.
func IsFinite(a uint64) bool { return a&magMask < Inf }

// IsZero says whether a is a zero of either sign.
func IsZero(a uint64) bool { return a<<1 == 0 }

// Signbit says whether the sign bit of a is set, that of a zero or NaN too.
func Signbit(a uint64) bool { return a>>63 != 0 }

// Neg turns the sign of a.
func Neg(a uint64) uint64 {
	if IsNaN(a) {
		return NaN
	}
	return a ^ signBit
}

// Abs is |a|.
func Abs(a uint64) uint64 {
	if IsNaN(a) {
		return NaN
	}
	return a & magMask
}

// CopySign is a with the sign bit of s.
func CopySign(a, s uint64) uint64 {
	if IsNaN(a) {
		return NaN
	}
	return a&magMask | s&signBit
}

// roundPack encodes sig·2^(exp-1084) with the sign bit given. sig has its
// leading one in bit 62, so exp is the biased exponent less one: adding the
// rounded significand carries its leading one into the exponent, which is also
// what makes rounding up to the next binade come out right.
func roundPack(sign uint64, exp int, sig uint64) uint64 {
	if uint(exp) >= expMax-2 {
		switch {
		case exp < 0:
			sig = shiftJam(sig, uint(-exp))
			exp = 0
		case exp > expMax-2 || sig+0x200 >= 1<<63:
			return sign | Inf
		}
	}
	tie := sig & 0x3ff
	sig = (sig + 0x200) >> 10
	if tie == 0x200 {
		sig &^= 1
	}
	return sign + uint64(exp)<<52 + sig
}

// shiftJam shifts right by n and keeps in the last bit that something was lost.
// sig is below 2^63.
func shiftJam(sig uint64, n uint) uint64 {
	n = min(n, 63)
	s := sig >> (n & 63)
	if s<<(n&63) != sig {
		s |= 1
	}
	return s
}

// normal gives a finite nonzero magnitude as a significand with its leading one
// in bit 52 and the biased exponent that belongs to it, which is below one for
// subnormal values.
func normal(mag uint64) (exp int, sig uint64) {
	exp, sig = int(mag>>52), mag&fracMask
	if exp != 0 {
		return exp, sig | hidden
	}
	shift := bits.LeadingZeros64(sig) - 11
	return 1 - shift, sig << uint(shift)
}

// Add is a + b.
func Add(a, b uint64) uint64 {
	if (a^b)>>63 == 0 {
		return addMagnitudes(a, b)
	}
	return subMagnitudes(a, b)
}

// Sub is a - b.
func Sub(a, b uint64) uint64 {
	b ^= signBit
	if (a^b)>>63 == 0 {
		return addMagnitudes(a, b)
	}
	return subMagnitudes(a, b)
}

// addMagnitudes adds operands of equal sign. Here nothing can underflow: a sum
// of values with a common unit has that unit.
func addMagnitudes(a, b uint64) uint64 {
	if a < b { // the signs are equal: by magnitude
		a, b = b, a
	}
	expA, expB := a>>52&expMax, b>>52&expMax
	if expA == expMax {
		if IsNaN(a) {
			return NaN
		}
		return a
	}
	sigB := (b&fracMask | hidden) << 9
	gap := expA - expB
	if expB == 0 {
		if expA == 0 {
			return a + b&fracMask // two subnormals: the carry is the exponent
		}
		sigB = b & fracMask << 9
		gap--
	}
	sum := (a&fracMask|hidden)<<9 + shiftJam(sigB, uint(gap))
	exp := expA
	if sum < 1<<62 {
		sum <<= 1
		exp--
	} else if exp == expMax-1 {
		return a&signBit | Inf
	}
	tie := sum & 0x3ff
	sum = (sum + 0x200) >> 10
	if tie == 0x200 {
		sum &^= 1
	}
	return a&signBit + exp<<52 + sum // a carry out of the largest exponent is infinity
}

// subMagnitudes adds operands of unlike sign.
func subMagnitudes(a, b uint64) uint64 {
	if a&magMask < b&magMask {
		a, b = b, a
	}
	expA, expB := int(a>>52&expMax), int(b>>52&expMax)
	if expA == expMax {
		if IsNaN(a) || IsInf(b) {
			return NaN
		}
		return a
	}
	sigA, sigB := (a&fracMask|hidden)<<10, (b&fracMask|hidden)<<10
	gap := uint(expA - expB)
	if expB == 0 {
		sigB = b & fracMask << 10
		if expA == 0 {
			sigA, expA = a&fracMask<<10, 1
		} else {
			gap--
		}
	}
	diff := sigA - shiftJam(sigB, gap)
	if diff == 0 {
		return 0 // x - x is +0, to nearest
	}
	shift := bits.LeadingZeros64(diff) - 1
	return roundPack(a&signBit, expA-1-shift, diff<<(uint(shift)&63))
}

// Mul is a · b.
func Mul(a, b uint64) uint64 {
	expA, expB := int(a>>52&expMax), int(b>>52&expMax)
	sign := (a ^ b) & signBit
	sigA, sigB := a&fracMask|hidden, b&fracMask|hidden
	if uint(expA-1) >= expMax-1 || uint(expB-1) >= expMax-1 {
		a, b = a&magMask, b&magMask
		switch {
		case a > Inf || b > Inf || a == Inf && b == 0 || a == 0 && b == Inf:
			return NaN
		case a == Inf || b == Inf:
			return sign | Inf
		case a == 0 || b == 0:
			return sign
		}
		expA, sigA = normal(a)
		expB, sigB = normal(b)
	}
	exp := expA + expB - bias
	hi, lo := bits.Mul64(sigA<<10, sigB<<11)
	if lo != 0 {
		hi |= 1
	}
	if hi < 1<<62 {
		exp--
		hi <<= 1
	}
	return roundPack(sign, exp, hi)
}

// Div is a / b; x/0 is an infinity and 0/0 is NaN, as IEEE 754 has it.
func Div(a, b uint64) uint64 {
	expA, expB := int(a>>52&expMax), int(b>>52&expMax)
	sign := (a ^ b) & signBit
	sigA, sigB := a&fracMask|hidden, b&fracMask|hidden
	if uint(expA-1) >= expMax-1 || uint(expB-1) >= expMax-1 {
		a, b = a&magMask, b&magMask
		switch {
		case a > Inf || b > Inf || a == b && (a == 0 || a == Inf):
			return NaN
		case a == Inf || b == 0:
			return sign | Inf
		case b == Inf || a == 0:
			return sign
		}
		expA, sigA = normal(a)
		expB, sigB = normal(b)
	}
	exp := expA - expB + bias - 1
	shift := uint(9)
	if sigA < sigB {
		exp--
		shift = 10
	}
	quo, rem := bits.Div64(sigA<<shift, 0, sigB<<11)
	if rem != 0 {
		quo |= 1
	}
	return roundPack(sign, exp, quo)
}

// Sqrt is the square root of a, NaN for what is below zero.
func Sqrt(a uint64) uint64 {
	switch {
	case IsNaN(a):
		return NaN
	case a<<1 == 0 || a == Inf:
		return a
	case a>>63 != 0:
		return NaN
	}
	exp, sig := normal(a)
	// a = sig·2^(exp-1075); with an even exponent over it, hi·2^64 has its
	// leading one in bit 126 or 127, and the root of that in bit 63.
	hi := sig << 10
	if exp&1 == 0 {
		hi = sig << 11
	}
	root, exact := sqrt128(hi)
	root >>= 1
	if !exact {
		root |= 1
	}
	return roundPack(0, (exp+bias)>>1-1, root)
}

// sqrt128 is floor(√(hi·2^64)) for hi of at least 2^62, and whether its square
// is exact; an exact root is even, as its square has 64 trailing zeros, so
// halving it loses nothing.
func sqrt128(hi uint64) (root uint64, exact bool) {
	// Each line doubles the bits of the estimate; after the fourth it is within
	// one of √hi.
	u := 1 + hi>>62
	u = u<<1 + hi>>59/u
	u = u<<3 + hi>>53/u
	u = u<<7 + hi>>41/u
	u = u<<15 + hi>>17/u
	if u > 1<<32-1 {
		u = 1<<32 - 1
	}
	q, _ := bits.Div64(hi>>33, hi<<31, u)
	root, carry := bits.Add64(u<<31, q, 0)
	if carry != 0 {
		root = 1<<64 - 1
	}
	for {
		h, l := bits.Mul64(root, root)
		if h > hi || h == hi && l > 0 {
			root--
			continue
		}
		// root² ≤ n: is the next one too large?
		rl, borrow := bits.Sub64(0, l, 0)
		rh, _ := bits.Sub64(hi, h, borrow)
		if rh > root>>63 || rh == root>>63 && rl > root<<1 {
			root++
			continue
		}
		return root, rl|rh == 0
	}
}
