package softfloat

import "math/bits"

// FMA is a·b + c, rounded once.
func FMA(a, b, c uint64) uint64 {
	magA, magB, magC := a&magMask, b&magMask, c&magMask
	sign := (a ^ b) & signBit
	switch {
	case magA > Inf || magB > Inf || magC > Inf:
		return NaN
	case magA == Inf || magB == Inf:
		if magA == 0 || magB == 0 || magC == Inf && c&signBit != sign {
			return NaN
		}
		return sign | Inf
	case magC == Inf:
		return c
	case magA == 0 || magB == 0:
		if magC == 0 && c&signBit != sign {
			return 0
		}
		if magC == 0 {
			return sign
		}
		return c
	}
	expA, sigA := normal(magA)
	expB, sigB := normal(magB)
	hi, lo := bits.Mul64(sigA<<10, sigB<<11)
	exp := expA + expB - bias + 1 // of a leading one in bit 126
	if hi < 1<<62 {
		hi, lo = hi<<1|lo>>63, lo<<1
		exp--
	}
	p := wide{sign, exp, hi, lo}
	if magC == 0 {
		return p.round()
	}
	expC, sigC := normal(magC)
	return p.add(wide{c & signBit, expC, sigC << 10, 0})
}

// wide is a value with 127 bits of significand: (hi·2^64+lo)·2^(exp-1149), its
// leading one in bit 126.
type wide struct {
	sign   uint64
	exp    int
	hi, lo uint64
}

func (w wide) round() uint64 {
	if w.lo != 0 {
		w.hi |= 1
	}
	return roundPack(w.sign, w.exp-1, w.hi)
}

// add sums and rounds. A product has 106 bits and an addend 53, so when bits of
// the smaller fall off, the operands are at least two binades apart, the
// difference loses one leading bit at most, and the jammed bit decides only
// between exact and not.
func (w wide) add(v wide) uint64 {
	if w.exp < v.exp || w.exp == v.exp && (w.hi < v.hi || w.hi == v.hi && w.lo < v.lo) {
		w, v = v, w
	}
	v.hi, v.lo = shiftJam128(v.hi, v.lo, uint(w.exp-v.exp))
	if w.sign == v.sign {
		var carry uint64
		w.lo, carry = bits.Add64(w.lo, v.lo, 0)
		w.hi, _ = bits.Add64(w.hi, v.hi, carry)
		if w.hi>>63 != 0 {
			w.lo = w.lo&1 | w.lo>>1 | w.hi<<63
			w.hi >>= 1
			w.exp++
		}
		return w.round()
	}
	var borrow uint64
	w.lo, borrow = bits.Sub64(w.lo, v.lo, 0)
	w.hi, _ = bits.Sub64(w.hi, v.hi, borrow)
	if w.hi|w.lo == 0 {
		return 0
	}
	if w.hi == 0 {
		w.hi, w.lo = w.lo, 0
		w.exp -= 64
		if w.hi>>63 != 0 {
			w.hi, w.lo = w.hi>>1, w.hi<<63
			w.exp++
		}
	}
	shift := uint(bits.LeadingZeros64(w.hi)) - 1
	w.hi, w.lo = w.hi<<shift|w.lo>>1>>(63-shift), w.lo<<shift
	w.exp -= int(shift)
	return w.round()
}

func shiftJam128(hi, lo uint64, n uint) (uint64, uint64) {
	switch {
	case n == 0:
		return hi, lo
	case n < 64:
		out := lo << (64 - n)
		lo = lo>>n | hi<<(64-n)
		if out != 0 {
			lo |= 1
		}
		return hi >> n, lo
	case n < 128:
		out := lo | hi<<1<<(127-n)
		lo = hi >> (n - 64)
		if out != 0 {
			lo |= 1
		}
		return 0, lo
	}
	return 0, 1
}
