package libm

import (
	"math/big"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// Pow is x^y as math.pow has it: 1^y and x^0 are 1 even for NaN, a zero to a
// negative power and a negative number to a broken one are outside the domain.
func Pow(x, y uint64) (uint64, Verdict) {
	if x == oneF || softfloat.IsZero(y) {
		return oneF, OK
	}
	if softfloat.IsNaN(x) || softfloat.IsNaN(y) {
		return nan, OK
	}
	var neg uint64
	whole := softfloat.IsIntegral(y)
	if x&sign != 0 && whole && isOdd(y) {
		neg = sign
	}
	mag := x &^ sign
	switch {
	case softfloat.IsInf(y):
		switch {
		case mag == oneF:
			return oneF, OK
		case (mag > oneF) == (y == inf):
			return inf, OK
		}
		return 0, OK
	case mag == inf && y&sign == 0:
		return inf | neg, OK
	case mag == inf:
		return neg, OK
	case mag == 0 && y&sign == 0:
		return neg, OK
	case mag == 0:
		return inf | neg, Domain
	case x&sign != 0 && !whole:
		return nan, Domain
	case mag == oneF:
		return oneF | neg, OK
	}
	z, v := powPositive(mag, y)
	return z | neg, v
}

func isOdd(y uint64) bool {
	sig, exp := softfloat.Decompose(y)
	return exp == 0 && sig&1 != 0
}

// powPositive is x^y for finite x > 0 other than 1 and finite nonzero y.
func powPositive(x, y uint64) (uint64, Verdict) {
	if z, ok := powExact(x, y); ok {
		if z == inf {
			return z, Range
		}
		return z, OK
	}
	sig, exp := softfloat.Decompose(x)
	m := new(big.Int).SetUint64(sig)
	ySig, yExp := softfloat.Decompose(y)
	factor := new(big.Int).SetUint64(ySig)
	if y&sign != 0 {
		factor.Neg(factor)
	}
	// The size of y·log(x) decides whether anything is left to compute.
	rough := logKernel(m, exp, 128)
	size := rough.BitLen() - 128 + factor.BitLen() + yExp // |y·log x| in [2^(size-2), 2^size)
	grows := (rough.Sign() > 0) == (factor.Sign() > 0)
	switch {
	case size > 13 && grows:
		return inf, Range
	case size > 13:
		return 0, OK
	case size < -56:
		return oneF, OK
	}
	return finite(func(w uint) approx {
		extra := uint(max(factor.BitLen()+yExp, 0))
		l := logKernel(m, exp, w+extra)
		l = shifted(l.Mul(l, factor), yExp-int(extra))
		f, k := expKernel(l, w)
		return approx{f, k - int(w), slack + 4}
	})
}

// powExact finds the powers that are dyadic fractions, which are the only ones
// that can be a value or half-way between two: those of whole exponents, after
// square roots of x have made y whole, that are not negative unless x is a power
// of two. Of these, only small results are near either.
func powExact(x, y uint64) (z uint64, ok bool) {
	sig, exp := softfloat.Decompose(x)
	ySig, yExp := softfloat.Decompose(y)
	for ; yExp < 0; yExp++ {
		root, exact := squareRoot(sig)
		if !exact || exp&1 != 0 {
			return 0, false
		}
		sig, exp = root, exp/2
	}
	if yExp >= 12 || ySig >= 1<<12 {
		if sig != 1 {
			return 0, false
		}
		// 2^(exp·y), beyond the range either way, as exp is not zero.
		if (exp > 0) == (y&sign == 0) {
			return inf, true
		}
		return 0, true
	}
	n := int64(ySig) << uint(yExp)
	if y&sign != 0 {
		if sig != 1 {
			return 0, false
		}
		n = -n
	}
	if sig == 1 {
		return softfloat.FromScaled(one, int(max(min(int64(exp)*n, 1<<20), -1<<20)), false), true
	}
	if n*int64(bits.Len64(sig)) > 256 {
		return 0, false
	}
	m := new(big.Int).SetUint64(sig)
	return softfloat.FromScaled(m.Exp(m, big.NewInt(n), nil), exp*int(n), false), true
}

func squareRoot(n uint64) (root uint64, exact bool) {
	root = new(big.Int).Sqrt(new(big.Int).SetUint64(n)).Uint64()
	return root, root*root == n
}

// Sqrt is the square root.
func Sqrt(x uint64) (uint64, Verdict) {
	y := softfloat.Sqrt(x)
	if softfloat.IsNaN(y) && !softfloat.IsNaN(x) {
		return y, Domain
	}
	return y, OK
}

// Cbrt is the cube root.
func Cbrt(x uint64) uint64 {
	if !softfloat.IsFinite(x) || softfloat.IsZero(x) {
		return same(x)
	}
	sig, exp := softfloat.Decompose(x)
	shift := 210
	for (exp-shift)%3 != 0 {
		shift++
	}
	n := new(big.Int).Lsh(new(big.Int).SetUint64(sig), uint(shift))
	root := new(big.Int).Lsh(one, uint(n.BitLen()+2)/3) // above
	three := big.NewInt(3)
	for {
		next := new(big.Int).Mul(root, root)
		next.Quo(n, next)
		next.Add(next, root).Add(next, root)
		next.Quo(next, three)
		if next.Cmp(root) >= 0 {
			break
		}
		root = next
	}
	cube := new(big.Int).Exp(root, three, nil)
	return softfloat.FromScaled(root, (exp-shift)/3, cube.Cmp(n) != 0) | x&sign
}

// Span is how many bits the exponents of xs are apart, zeros and what is not finite left
// out: so many more, and twice as many, the sum of [Hypot] has.
func Span(xs ...uint64) int {
	low, high := 1<<20, -1<<20
	for _, x := range xs {
		if softfloat.IsFinite(x) && !softfloat.IsZero(x) {
			low, high = min(low, exponent(x)), max(high, exponent(x))
		}
	}
	return max(high-low, 0)
}

// Hypot is the square root of the sum of squares, of any number of coordinates.
// It overflows to infinity without a verdict, as math.hypot does.
func Hypot(xs ...uint64) uint64 {
	isNaN, low := false, 1<<20
	for _, x := range xs {
		if softfloat.IsInf(x) {
			return inf
		}
		isNaN = isNaN || softfloat.IsNaN(x)
		if _, exp := softfloat.Decompose(x); softfloat.IsFinite(x) && !softfloat.IsZero(x) {
			low = min(low, exp)
		}
	}
	if isNaN {
		return nan
	}
	sum := new(big.Int)
	for _, x := range xs {
		sig, exp := softfloat.Decompose(x)
		if sig != 0 {
			m := shifted(new(big.Int).SetUint64(sig), exp-low)
			sum.Add(sum, m.Mul(m, m))
		}
	}
	// 64 bits of root at least, beyond which one bit tells of a rest.
	up := uint(max(66-sum.BitLen()/2, 0))
	sum.Lsh(sum, 2*up)
	root := new(big.Int).Sqrt(sum)
	rest := new(big.Int).Mul(root, root)
	return softfloat.FromScaled(root, low-int(up), rest.Cmp(sum) != 0)
}

// Fsum is the sum of xs rounded once, as math.fsum gives it: an infinity beside
// finite terms is the sum, infinities of both signs are outside the domain.
func Fsum(xs ...uint64) (uint64, Verdict) {
	const unit = 1074
	sum := new(big.Int)
	var special uint64
	for _, x := range xs {
		switch {
		case softfloat.IsFinite(x):
			sum.Add(sum, place(x, unit))
		case special == 0:
			special = x
		case softfloat.IsNaN(x) || softfloat.IsNaN(special):
			special = nan
		case special != x:
			return nan, Domain
		}
	}
	if special != 0 {
		return same(special), OK
	}
	y := softfloat.FromScaled(sum, -unit, false)
	if softfloat.IsInf(y) {
		return y, Range
	}
	return y, OK
}
