package libm

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

const (
	nan    = softfloat.NaN
	inf    = softfloat.Inf
	negInf = softfloat.NegInf
	oneF   = softfloat.One
	sign   = uint64(1) << 63
)

// Exp is e^x.
func Exp(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || x == inf:
		return same(x), OK
	case x == negInf:
		return 0, OK
	case below(x, -54):
		return oneF, OK
	case !below(x, 10): // |x| of 1024 and more
		if x&sign != 0 {
			return 0, OK
		}
		return inf, Range
	}
	return finite(func(w uint) approx {
		f, k := expKernel(place(x, w), w)
		return approx{f, k - int(w), slack}
	})
}

// Exp2 is 2^x.
func Exp2(x uint64) (uint64, Verdict) {
	return Pow(softfloat.FromInt64(2), x)
}

// Expm1 is e^x - 1.
func Expm1(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || x == inf || below(x, -54):
		return same(x), OK
	case x&sign != 0 && (softfloat.IsInf(x) || !below(x, 6)): // -64 and less
		return oneF | sign, OK
	case !below(x, 10):
		return inf, Range
	}
	return finite(func(w uint) approx {
		f, k := expKernel(place(x, w), w)
		m := shifted(f, k)
		return approx{m.Sub(m, new(big.Int).Lsh(one, w)), -int(w), slack + uint(max(k, 0))}
	})
}

// Sinh is the hyperbolic sine.
func Sinh(x uint64) (uint64, Verdict) {
	if softfloat.IsNaN(x) || softfloat.IsInf(x) || below(x, -27) {
		return same(x), OK
	}
	return hyperbolic(x, func(e, inverse *big.Int) *big.Int { return e.Sub(e, inverse) })
}

// Cosh is the hyperbolic cosine.
func Cosh(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || softfloat.IsInf(x):
		return softfloat.Abs(x), OK
	case below(x, -27):
		return oneF, OK
	}
	return hyperbolic(softfloat.Abs(x), func(e, inverse *big.Int) *big.Int { return e.Add(e, inverse) })
}

// hyperbolic is half of what combine makes of e^|x| and e^-|x|, with x's sign.
func hyperbolic(x uint64, combine func(e, inverse *big.Int) *big.Int) (uint64, Verdict) {
	if !below(x, 10) {
		return inf | x&sign, Range
	}
	y, v := finite(func(w uint) approx {
		f, k := expKernel(place(x&^sign, w), w)
		inverse := new(big.Int).Lsh(one, 2*w)
		inverse.Quo(inverse, f)
		m := combine(shifted(f, k), shifted(inverse, -k))
		return approx{m, -int(w) - 1, slack + uint(max(k, 0))}
	})
	return y | x&sign, v
}

// Tanh is the hyperbolic tangent.
func Tanh(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || below(x, -27):
		return same(x), OK
	case softfloat.IsInf(x) || !below(x, 5): // 32: 1 - 2e^-64
		return oneF | x&sign, OK
	}
	y := rounded(func(w uint) approx {
		w += 64 // for e^2x of 2^93 at most beside 1
		m := place(x&^sign, w)
		f, k := expKernel(m.Lsh(m, 1), w)
		e := shifted(f, k)
		unit := new(big.Int).Lsh(one, w)
		return fixed(div(new(big.Int).Sub(e, unit), e.Add(e, unit), w), w)
	})
	return y | x&sign, OK
}
