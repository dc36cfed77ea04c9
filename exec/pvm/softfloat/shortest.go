package softfloat

import "math/bits"

// shortest gives the decimal d·10^k with the fewest digits that rounds to the
// finite nonzero magnitude, of those the nearest: Giulietti's Schubfach ("The
// Schubfach way to render doubles", 2020). The interval of decimals that round
// to the value is scaled by a power of ten so that it holds at most a few
// integers; whether a multiple of ten is among them decides.
func shortest(mag uint64) (d uint64, k int) {
	c, q := mag&fracMask, int(mag>>52)
	closer := uint64(0) // one when the neighbour below is at half the distance
	if q != 0 {
		if c == 0 && q > 1 {
			closer = 1
		}
		c |= hidden
	} else {
		q = 1
	}
	q -= bias + 52
	// 1262611/2^22 is log10(2) and 524031/2^22 is log10(4/3), close enough for
	// every exponent there is.
	k = (q*1262611 - int(closer)*524031) >> 22
	h := uint(q + floorLog2Pow10(-k) + 1)
	pow := powers[-k-powersMin]
	pow[1]++ // the table rounds down, the proof wants one more
	if pow[1] == 0 {
		pow[0]++
	}
	low := roundToOdd(pow, (4*c-2+closer)<<h) + c&1
	mid := roundToOdd(pow, 4*c<<h)
	high := roundToOdd(pow, (4*c+2)<<h) - c&1
	s := mid / 4
	if s >= 10 {
		t := s / 10
		below, above := low <= 40*t, 40*t+40 <= high
		if below != above {
			if above {
				t++
			}
			return trimZeros(t, k+1)
		}
	}
	below, above := low <= 4*s, 4*s+4 <= high
	up := above
	if below == above {
		up = mid > 4*s+2 || mid == 4*s+2 && s&1 != 0
	}
	if up {
		s++
	}
	return trimZeros(s, k)
}

// floorLog2Pow10 is floor(log2(10^k)) for |k| up to 1650.
func floorLog2Pow10(k int) int { return k * 1741647 >> 19 }

// roundToOdd is pow·c/2^128 with the last bit set when anything is lost.
func roundToOdd(pow [2]uint64, c uint64) uint64 {
	x, _ := bits.Mul64(pow[1], c)
	hi, lo := bits.Mul64(pow[0], c)
	lo, carry := bits.Add64(lo, x, 0)
	hi += carry
	if lo > 1 {
		hi |= 1
	}
	return hi
}

func trimZeros(d uint64, k int) (uint64, int) {
	if d%100000000 == 0 {
		d /= 100000000
		k += 8
	}
	for d%10 == 0 {
		d /= 10
		k++
	}
	return d, k
}
