package softfloat

import "math/bits"

// hashModulus is 2^61-1: numbers that are equal hash equal in Python, because
// each hashes as its value modulo this prime.
const hashModulus = 1<<61 - 1

// Hash is Python's hash(x): the value modulo 2^61-1 with the sign of x, 314159
// for infinity, and never -1. A NaN, which CPython hashes by its address, is 0.
func Hash(x uint64) int64 {
	mag := x & magMask
	if mag > Inf {
		return 0
	}
	h := int64(314159)
	if mag < Inf {
		sig, exp := Decompose(mag)
		shift := exp % 61
		if shift < 0 {
			shift += 61
		}
		hi, lo := bits.Mul64(sig, 1<<uint(shift))
		h = int64(bits.Rem64(hi, lo, hashModulus))
	}
	if x>>63 != 0 {
		h = -h
	}
	if h == -1 {
		return -2
	}
	return h
}
