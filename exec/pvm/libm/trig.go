package libm

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// reduce gives r and the quadrant q with x = q·π/2 + r and |r| ≤ π/4, w places:
// π is taken with as many more bits as x has before the point.
func reduce(x uint64, w uint) (r *big.Int, q uint) {
	more := uint(max(exponent(x)+1, 0))
	full := w + more
	r = place(x, full)
	half := pi(full)
	half.Rsh(half, 1)
	k := new(big.Int).Lsh(r, 1)
	k.Add(k, half)
	k.Div(k, new(big.Int).Lsh(half, 1))
	r.Sub(r, half.Mul(half, k))
	k.And(k, big.NewInt(3))
	return r.Rsh(r, more), uint(k.Uint64())
}

// sinQuadrant is sin(r + q·π/2).
func sinQuadrant(r *big.Int, q, w uint) *big.Int {
	var y *big.Int
	if q&1 == 0 {
		y = sinSeries(r, w)
	} else {
		y = cosSeries(r, w)
	}
	if q&2 != 0 {
		y.Neg(y)
	}
	return y
}

// Sin is the sine.
func Sin(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || below27(x):
		return same(x), OK
	case softfloat.IsInf(x):
		return nan, Domain
	}
	return rounded(func(w uint) approx {
		r, q := reduce(x, w)
		return fixed(sinQuadrant(r, q, w), w)
	}), OK
}

// Cos is the cosine.
func Cos(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x):
		return same(x), OK
	case softfloat.IsInf(x):
		return nan, Domain
	case below27(x):
		return oneF, OK
	}
	return rounded(func(w uint) approx {
		r, q := reduce(x, w)
		return fixed(sinQuadrant(r, q+1, w), w)
	}), OK
}

// Tan is the tangent.
func Tan(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || below27(x):
		return same(x), OK
	case softfloat.IsInf(x):
		return nan, Domain
	}
	return rounded(func(w uint) approx {
		r, q := reduce(x, w)
		cos := sinQuadrant(r, q+1, w)
		if cos.Sign() == 0 {
			return approx{cos, 0, 2000} // decides nothing: once more, longer
		}
		small := uint(max(int(w)-cos.BitLen(), 0))
		return approx{div(sinQuadrant(r, q, w), cos, w), -int(w), slack + 2*small}
	}), OK
}

// below27 says that x³/6 is under half of x's last bit.
func below27(x uint64) bool { return below(x, -27) }

// Asin is the inverse sine.
func Asin(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || below27(x):
		return same(x), OK
	case x&^sign > oneF:
		return nan, Domain
	}
	y := rounded(func(w uint) approx {
		m := place(x&^sign, w)
		return fixed(atanKernel(m, coordinate(m, w), w), w)
	})
	return y | x&sign, OK
}

// Acos is the inverse cosine.
func Acos(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x):
		return same(x), OK
	case x&^sign > oneF:
		return nan, Domain
	case x == oneF:
		return 0, OK
	}
	return rounded(func(w uint) approx {
		w += 32 // near 1 the result is the square root of what is left
		m := place(x&^sign, w)
		a := atanKernel(coordinate(m, w), m, w)
		if x&sign != 0 {
			a.Sub(pi(w), a)
		}
		return fixed(a, w)
	}), OK
}

// coordinate is √(1-m²).
func coordinate(m *big.Int, w uint) *big.Int {
	c := new(big.Int).Lsh(one, 2*w)
	c.Sub(c, new(big.Int).Mul(m, m))
	return c.Sqrt(c)
}

// Atan is the inverse tangent.
func Atan(x uint64) uint64 {
	if softfloat.IsNaN(x) || below27(x) {
		return same(x)
	}
	return Atan2(x, oneF)
}

// Atan2 is the angle of the point (x, y).
func Atan2(y, x uint64) uint64 {
	if softfloat.IsNaN(x) || softfloat.IsNaN(y) {
		return nan
	}
	back := x&sign != 0
	magY, magX := y&^sign, x&^sign
	switch {
	case magY == inf && magX == inf:
		magY, magX = oneF, oneF
	case magY == 0 || magX == inf:
		if !back {
			return y & sign
		}
		magY, magX = 0, oneF
	case magX == 0 || magY == inf:
		magY, magX = oneF, 0
	}
	// As integers with one unit; the larger may have 2,100 bits.
	sigY, expY := softfloat.Decompose(magY)
	sigX, expX := softfloat.Decompose(magX)
	low := min(expY, expX)
	if sigY == 0 || sigX == 0 {
		low, expX, expY = 0, 0, 0
	}
	iy := shifted(new(big.Int).SetUint64(sigY), expY-low)
	ix := shifted(new(big.Int).SetUint64(sigX), expX-low)
	small := max(ix.BitLen()-iy.BitLen(), 0)
	if !back && small > 64 {
		return belowQuotient(iy, ix) | y&sign
	}
	return rounded(func(w uint) approx {
		full := w
		if !back {
			full += uint(small)
		}
		a := atanKernel(iy, ix, full)
		if back {
			a.Sub(pi(full), a)
		}
		return approx{a, -int(full), slack}
	}) | y&sign
}

// belowQuotient rounds a result that is less than y/x by 2^-120 of it or less: a
// quotient of 53-bit integers is not so near a value or midpoint unless it is
// one, so only then does it matter on which side the result lies.
func belowQuotient(y, x *big.Int) uint64 {
	shift := 130 + x.BitLen() - y.BitLen()
	quo, rem := new(big.Int).QuoRem(shifted(y, shift), x, new(big.Int))
	if rem.Sign() == 0 {
		quo.Sub(quo, one)
	}
	return softfloat.FromScaled(quo, -shift, true)
}
