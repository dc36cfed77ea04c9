package softfloat

import "math/bits"

// Trunc is a without its fraction.
func Trunc(a uint64) uint64 {
	exp := int(a>>52&expMax) - bias
	switch {
	case IsNaN(a):
		return NaN
	case exp < 0:
		return a & signBit
	case exp >= 52:
		return a
	}
	return a &^ (fracMask >> uint(exp))
}

// Floor is the largest integer that is at most a.
func Floor(a uint64) uint64 {
	t := Trunc(a)
	if t != a && a>>63 != 0 && !IsNaN(a) {
		return Sub(t, One)
	}
	return t
}

// Ceil is the least integer that is at least a.
func Ceil(a uint64) uint64 {
	t := Trunc(a)
	if t != a && a>>63 == 0 && !IsNaN(a) {
		return Add(t, One)
	}
	return t
}

// RoundEven is the integer nearest a, the even one of two.
func RoundEven(a uint64) uint64 {
	exp := int(a>>52&expMax) - bias
	switch {
	case IsNaN(a):
		return NaN
	case exp >= 52:
		return a
	case exp < -1:
		return a & signBit
	case exp == -1:
		if a&fracMask == 0 {
			return a & signBit // one half, to the even zero
		}
		return a&signBit | One
	}
	unit := uint64(1) << uint(52-exp)
	half := unit >> 1
	rounded := (a + half) &^ (unit - 1)
	if a&(unit-1) == half {
		rounded &^= unit
	}
	return rounded
}

// IsIntegral says whether a is a finite integer, as float.is_integer does.
func IsIntegral(a uint64) bool { return IsFinite(a) && Trunc(a) == a }

// Modf splits a into a fraction and an integer, both with the sign of a.
func Modf(a uint64) (frac, whole uint64) {
	switch {
	case IsNaN(a):
		return NaN, NaN
	case IsInf(a):
		return a & signBit, a
	}
	whole = Trunc(a)
	return Sub(a, whole)&magMask | a&signBit, whole
}

// Frexp gives m and e with a = m·2^e and m in [0.5, 1). A zero, an infinity or
// a NaN is itself with e = 0.
func Frexp(a uint64) (m uint64, e int) {
	mag := a & magMask
	switch {
	case mag > Inf:
		return NaN, 0
	case mag == 0 || mag == Inf:
		return a, 0
	}
	exp, sig := normal(mag)
	return a&signBit | Half | sig&fracMask, exp - bias + 1
}

// Ldexp is a·2^e, rounded once. A finite a that grows past the largest value
// becomes an infinity: Python's OverflowError is the caller's.
func Ldexp(a uint64, e int) uint64 {
	mag := a & magMask
	switch {
	case mag > Inf:
		return NaN
	case mag == 0 || mag == Inf:
		return a
	}
	exp, sig := normal(mag)
	e = max(min(e, 4096), -4096)
	return roundPack(a&signBit, exp+e-1, sig<<10)
}

// NextAfter is the neighbour of a in the direction of b, or b when they are
// equal.
func NextAfter(a, b uint64) uint64 {
	switch {
	case IsNaN(a) || IsNaN(b):
		return NaN
	case Equal(a, b):
		return b
	case a<<1 == 0:
		return b&signBit | 1
	case Less(a, b) == (a>>63 == 0):
		return a + 1
	}
	return a - 1
}

// Ulp is the value of the last bit of a, as math.ulp has it.
func Ulp(a uint64) uint64 {
	mag := a & magMask
	switch {
	case mag > Inf:
		return NaN
	case mag == Inf:
		return Inf
	case mag == Max:
		return Sub(Max, Max-1)
	}
	return Sub(mag+1, mag)
}

// Decompose gives a finite magnitude as sig·2^exp with an odd sig, or 0 and 0.
func Decompose(a uint64) (sig uint64, exp int) {
	mag := a & magMask
	if mag == 0 {
		return 0, 0
	}
	e, sig := normal(mag)
	zeros := bits.TrailingZeros64(sig)
	return sig >> uint(zeros), e - bias - 52 + zeros
}
