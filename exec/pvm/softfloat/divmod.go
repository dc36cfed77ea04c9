package softfloat

import "math/bits"

// Rem is C's fmod: a - b·trunc(a/b), exact, with the sign of a. It is NaN for
// an infinite a or a zero b.
func Rem(a, b uint64) uint64 {
	magA, magB := a&magMask, b&magMask
	switch {
	case magA >= Inf || magB > Inf || magB == 0:
		return NaN
	case magA < magB || magB == Inf:
		return a
	}
	expA, sigA := normal(magA)
	expB, sigB := normal(magB)
	rem := sigA % sigB
	for gap := uint(expA - expB); gap > 0 && rem != 0; {
		step := min(gap, 64)
		gap -= step
		// rem < sigB < 2^53, so rem·2^step is below sigB·2^64.
		hi, lo := rem>>1>>(63-step&63), rem<<step
		if step == 64 {
			hi, lo = rem, 0
		}
		rem = bits.Rem64(hi, lo, sigB)
	}
	if rem == 0 {
		return a & signBit
	}
	shift := bits.LeadingZeros64(rem) - 1
	return roundPack(a&signBit, expB+9-shift, rem<<uint(shift))
}

// Gap is by how many bits a is larger than b, 0 when it is smaller: Rem, FloorMod
// and FloorDiv divide once for every 64 of them.
func Gap(a, b uint64) int {
	return max(0, int(a&magMask>>52)-int(b&magMask>>52))
}

// FloorMod is Python's a % b: the sign of b, computed as CPython does. b is not
// zero: that is the caller's ZeroDivisionError.
func FloorMod(a, b uint64) uint64 {
	_, mod := remToFloor(a, b)
	return mod
}

// remToFloor gives fmod and the same moved to the sign of b.
func remToFloor(a, b uint64) (rem, mod uint64) {
	rem = Rem(a, b)
	switch {
	case IsNaN(rem):
		return NaN, NaN
	case rem<<1 == 0:
		return rem, b & signBit
	case (rem^b)>>63 != 0:
		return rem, Add(rem, b)
	}
	return rem, rem
}

// DivMod is Python's divmod(a, b); b is not zero. The quotient is rounded from
// the exact difference, not from a/b.
func DivMod(a, b uint64) (quo, mod uint64) {
	rem, mod := remToFloor(a, b)
	quo = Div(Sub(a, rem), b)
	if rem<<1 != 0 && !IsNaN(rem) && (rem^b)>>63 != 0 {
		quo = Sub(quo, One)
	}
	switch {
	case IsNaN(quo):
		return NaN, mod
	case quo<<1 == 0:
		return (a ^ b) & signBit, mod
	}
	floor := Floor(quo)
	if Less(Half, Sub(quo, floor)) {
		floor = Add(floor, One)
	}
	return floor, mod
}

// FloorDiv is Python's a // b; b is not zero.
func FloorDiv(a, b uint64) uint64 {
	quo, _ := DivMod(a, b)
	return quo
}

// Remainder is IEEE 754's: a - b·n for the integer n nearest a/b, the even one
// of two, as math.remainder has it. NaN for an infinite a or a zero b.
func Remainder(a, b uint64) uint64 {
	magA, magB := a&magMask, b&magMask
	switch {
	case magA >= Inf || magB > Inf || magB == 0:
		return NaN
	case magB == Inf:
		return a
	}
	rem := Rem(magA, magB)
	// rem and magB-rem are compared exactly: the difference of two values with a
	// common unit below 2^53 of it.
	other := Sub(magB, rem)
	switch {
	case rem > other:
		rem = Neg(other)
	case rem == other:
		// A tie: the quotient is odd or even.
		odd := magA >= magB
		if twice := Add(magB, magB); twice < Inf {
			odd = Rem(magA, twice) != rem
		}
		if odd {
			rem = Neg(other)
		}
	}
	if a>>63 != 0 {
		return Neg(rem)
	}
	return rem
}
