package softfloat

import (
	"cmp"
	"math/big"
	"math/bits"
)

// Equal is a == b: zeros are equal, a NaN equals nothing.
func Equal(a, b uint64) bool {
	if a == b {
		return !IsNaN(a)
	}
	return (a|b)<<1 == 0
}

// Less is a < b, false with a NaN.
func Less(a, b uint64) bool {
	if IsNaN(a) || IsNaN(b) {
		return false
	}
	return order(a) < order(b)
}

// LessEqual is a <= b, false with a NaN.
func LessEqual(a, b uint64) bool {
	if IsNaN(a) || IsNaN(b) {
		return false
	}
	return order(a) <= order(b)
}

// order maps what is not NaN to integers in the order of the values, both zeros
// to 0.
func order(a uint64) int64 {
	if a>>63 != 0 {
		return -int64(a & magMask)
	}
	return int64(a)
}

// Compare is -1, 0 or 1; ordered is false when a or b is NaN.
func Compare(a, b uint64) (c int, ordered bool) {
	if IsNaN(a) || IsNaN(b) {
		return 0, false
	}
	return cmp.Compare(order(a), order(b)), true
}

// CompareInt64 compares a with an integer exactly, with no rounding of i.
func CompareInt64(a uint64, i int64) (c int, ordered bool) {
	if IsNaN(a) {
		return 0, false
	}
	if -1<<53 <= i && i <= 1<<53 {
		return cmp.Compare(order(a), order(FromInt64(i))), true
	}
	whole, fits := ToInt64(a)
	if !fits {
		if a>>63 != 0 {
			return -1, true
		}
		return 1, true
	}
	if whole != i {
		return cmp.Compare(whole, i), true
	}
	// Beyond 2^53 every value is whole; |i| is, and whole equals it.
	return 0, true
}

// CompareBig compares a with an integer of any size exactly.
func CompareBig(a uint64, i *big.Int) (c int, ordered bool) {
	if IsNaN(a) {
		return 0, false
	}
	sign := i.Sign()
	signA := 1
	if a<<1 == 0 {
		signA = 0
	} else if a>>63 != 0 {
		signA = -1
	}
	if signA != sign || sign == 0 {
		return cmp.Compare(signA, sign), true
	}
	if IsInf(a) {
		return signA, true
	}
	exp, sig := normal(a & magMask)
	// |a| < 2^(exp-1022), |i| < 2^BitLen.
	if c := cmp.Compare(exp-bias+1, i.BitLen()); c != 0 {
		return c * signA, true
	}
	// Equal lengths: at least one bit, so a is 1 or more; the integer's bits
	// against the whole part first.
	whole, _ := ToBig(a)
	if c := whole.Cmp(i); c != 0 {
		return c, true
	}
	if exp-bias < 52 && bits.TrailingZeros64(sig) < 52-(exp-bias) {
		return signA, true // a fraction beyond the whole part
	}
	return 0, true
}
