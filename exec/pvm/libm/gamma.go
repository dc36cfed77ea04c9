package libm

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// stirlingTerms is how many terms of Stirling's series there are; at stirlingMin
// the first left out is below 2^-330.
const (
	stirlingTerms = 48
	stirlingMin   = 64
)

// bernoulli are the coefficients B(2k)/(2k(2k-1)) of Stirling's series, from the
// tangent numbers T(k): B(2k) = ±2k·T(k)/(4^k(4^k-1)).
var bernoulli = stirlingCoefficients(stirlingTerms)

func stirlingCoefficients(count int) []*big.Rat {
	tangent := make([]*big.Int, count+1)
	tangent[1] = big.NewInt(1)
	for k := 2; k <= count; k++ {
		tangent[k] = new(big.Int).Mul(tangent[k-1], big.NewInt(int64(k-1)))
	}
	for k := 2; k <= count; k++ {
		for j := k; j <= count; j++ {
			a := new(big.Int).Mul(tangent[j-1], big.NewInt(int64(j-k)))
			b := tangent[j].Mul(tangent[j], big.NewInt(int64(j-k+2)))
			b.Add(b, a)
		}
	}
	list := make([]*big.Rat, count)
	for k := 1; k <= count; k++ {
		power := new(big.Int).Lsh(one, uint(2*k))
		den := new(big.Int).Sub(power, one)
		den.Mul(den, power).Mul(den, big.NewInt(int64(2*k-1)))
		if k%2 == 0 {
			den.Neg(den)
		}
		list[k-1] = new(big.Rat).SetFrac(tangent[k], den)
	}
	return list
}

// stirling is log Γ(z) for z of stirlingMin and more, and the bits of its error.
func stirling(z *big.Int, w uint) (l *big.Int, err uint) {
	half := new(big.Int).Lsh(one, w-1)
	l = mul(new(big.Int).Sub(z, half), logKernel(z, -int(w), w), w)
	l.Sub(l, z)
	twoPi := pi(w)
	twoPi.Lsh(twoPi, 1)
	l.Add(l, shifted(logKernel(twoPi, -int(w), w), -1))
	inverse := div(new(big.Int).Lsh(one, w), z, w)
	square := mul(inverse, inverse, w)
	term := new(big.Int)
	for _, c := range bernoulli {
		term.Mul(inverse, c.Num())
		term.Quo(term, c.Denom())
		if term.Sign() == 0 {
			return l, slack
		}
		l.Add(l, term)
		inverse = mul(inverse, square, w)
	}
	return l, max(slack, uint(term.BitLen()))
}

// shiftedGamma gives log Γ(x+n) and x(x+1)…(x+n-1), so that their parts make
// Γ(x), for a positive x with w places.
func shiftedGamma(x *big.Int, w uint) (l, product *big.Int, err uint) {
	z := new(big.Int).Set(x)
	unit := new(big.Int).Lsh(one, w)
	limit := new(big.Int).Lsh(big.NewInt(stirlingMin), w)
	product = new(big.Int).Set(unit)
	for z.Cmp(limit) < 0 {
		product = mul(product, z, w)
		z.Add(z, unit)
	}
	l, err = stirling(z, w)
	return l, product, err
}

// gammaParts is Γ(x) for x positive with w places. Its parts are exact relative
// to themselves, and so is the result, however large or small.
func gammaParts(x *big.Int, w uint) approx {
	l, product, err := shiftedGamma(x, w)
	f, k := expKernel(l, w)
	shift := uint(product.BitLen())
	q := new(big.Int).Lsh(f, shift)
	return approx{q.Quo(q, product), k - int(shift), err + 2}
}

// Gamma is Euler's gamma function.
func Gamma(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || x == inf:
		return same(x), OK
	case softfloat.IsZero(x):
		return inf | x&sign, Domain
	case x&sign != 0 && softfloat.Trunc(x) == x:
		return nan, Domain
	case x&sign == 0 && !below(x, 8): // 256
		return inf, Range
	case x&sign != 0 && softfloat.Less(x, softfloat.FromInt64(-200)):
		return gammaSign(x), OK
	}
	if n, ok := softfloat.ToInt64(x); ok && softfloat.Trunc(x) == x {
		y, fits := softfloat.FromBig(new(big.Int).MulRange(1, n-1))
		if !fits {
			return inf, Range
		}
		return y, OK
	}
	if below(x, -1) {
		return gammaNearZero(x)
	}
	return finite(func(w uint) approx {
		w += 40
		m := place(x, w)
		if x&sign == 0 {
			return gammaParts(m, w)
		}
		return gammaReflected(m, w)
	})
}

// gammaReflected is Γ(x) = π/(sin(πx)·Γ(1-x)) for negative x with w places.
func gammaReflected(x *big.Int, w uint) approx {
	a := gammaParts(new(big.Int).Sub(new(big.Int).Lsh(one, w), x), w)
	s := sinPi(x, w)
	if s.Sign() == 0 {
		return approx{new(big.Int), 0, 2000} // decides nothing: once more, longer
	}
	den := new(big.Int).Mul(a.m, s)
	shift := uint(den.BitLen())
	q := new(big.Int).Lsh(pi(w), shift)
	q.Quo(q, den)
	// The relative error is that of the gamma function and that of the sine.
	worst := max(int(a.err)-a.m.BitLen(), slack-s.BitLen()) + 3
	return approx{q, -int(shift) - a.exp, uint(max(q.BitLen()+worst, slack))}
}

// gammaSign is zero with the sign of Γ(x) for negative x that is not whole.
func gammaSign(x uint64) uint64 {
	if isOdd(softfloat.Floor(x)) {
		return sign
	}
	return 0
}

// gammaNearZero is Γ(1+x)/x for |x| below one half.
func gammaNearZero(x uint64) (uint64, Verdict) {
	sig, exp := softfloat.Decompose(x)
	y, v := finite(func(w uint) approx {
		w += 40
		m := place(x&^sign, w)
		unit := new(big.Int).Lsh(one, w)
		if x&sign != 0 {
			m.Sub(unit, m)
		} else {
			m.Add(unit, m)
		}
		a := gammaParts(m, w)
		q := new(big.Int).Lsh(a.m, 64)
		q.Quo(q, new(big.Int).SetUint64(sig))
		return approx{q, a.exp - 64 - exp, a.err + 64}
	})
	if x&sign != 0 {
		y |= sign
	}
	return y, v
}

// sinPi is sin(πx) for x with w places.
func sinPi(x *big.Int, w uint) *big.Int {
	half := new(big.Int).Lsh(one, w-1)
	n := new(big.Int).Add(x, half)
	n.Rsh(n, w) // round(x)
	r := new(big.Int).Sub(x, new(big.Int).Lsh(n, w))
	s := sinSeries(mul(r, pi(w), w), w)
	if n.Bit(0) != 0 {
		s.Neg(s)
	}
	return s
}

// Lgamma is the logarithm of |Γ(x)|.
func Lgamma(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x):
		return same(x), OK
	case softfloat.IsInf(x):
		return inf, OK
	case softfloat.IsZero(x) || x&sign != 0 && softfloat.Trunc(x) == x:
		return inf, Domain
	case x == oneF || x == softfloat.FromInt64(2):
		return 0, OK
	}
	return finite(func(w uint) approx {
		if !below(x, 200) {
			return lgammaHuge(x, w)
		}
		w += 96 + uint(max(exponent(x)+1, 0))
		unit := new(big.Int).Lsh(one, w)
		m := place(x, w)
		near := below(x, -1)
		switch {
		case near: // log Γ(1+x) - log|x|
			sig, exp := softfloat.Decompose(x)
			l, err := lgammaPositive(m.Add(m, unit), w)
			return approx{l.Sub(l, logKernel(new(big.Int).SetUint64(sig), exp, w)), -int(w), err + 1}
		case x&sign == 0:
			l, err := lgammaPositive(m, w)
			return approx{l, -int(w), err}
		}
		l, err := lgammaPositive(unit.Sub(unit, m), w)
		s := sinPi(m, w)
		l.Add(l, logKernel(s.Abs(s), -int(w), w))
		l.Sub(logKernel(pi(w), -int(w), w), l)
		// The logarithm of a sine near zero is as exact as the sine is.
		return approx{l, -int(w), max(err, slack+60)}
	})
}

// lgammaHuge is x·(log x - 1), which is log Γ(x) but for 2^-190 of it, for x of
// 2^200 and more.
func lgammaHuge(x uint64, w uint) approx {
	sig, exp := softfloat.Decompose(x)
	m := new(big.Int).SetUint64(sig)
	l := logKernel(m, exp, w)
	m.Mul(m, l.Sub(l, new(big.Int).Lsh(one, w)))
	return approx{m, exp - int(w), uint(max(slack+53, m.BitLen()-190))}
}

func lgammaPositive(x *big.Int, w uint) (l *big.Int, err uint) {
	l, product, err := shiftedGamma(x, w)
	if product.BitLen() != int(w)+1 || product.TrailingZeroBits() != w {
		l.Sub(l, logKernel(product, -int(w), w))
	}
	return l, err + 1 + uint(max(x.BitLen()-int(w), 0))
}
