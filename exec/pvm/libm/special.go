package libm

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// sqrtPi is √π.
func sqrtPi(w uint) *big.Int {
	p := pi(w)
	return p.Sqrt(p.Lsh(p, w))
}

// erfSlope is erf(x)/x for |x| below 8:
// 2/√π · e^(-x²) · Σ (2x²)^n / (1·3·5·…·(2n+1)), all terms positive.
func erfSlope(x uint64, w uint) *big.Int {
	m := place(x&^sign, w)
	square := mul(m, m, w)
	f, k := expKernel(new(big.Int).Neg(square), w)
	square.Lsh(square, 1)
	term := new(big.Int).Lsh(one, w)
	sum, divisor := new(big.Int).Set(term), new(big.Int)
	for n := int64(3); term.Sign() != 0; n += 2 {
		term.Mul(term, square)
		term.Rsh(term, w)
		term.Quo(term, divisor.SetInt64(n))
		sum.Add(sum, term)
	}
	sum.Mul(sum, f)
	return div(shifted(sum, k+1-int(w)), sqrtPi(w), w)
}

// Erf is the error function.
func Erf(x uint64) uint64 {
	switch {
	case softfloat.IsNaN(x) || softfloat.IsZero(x):
		return same(x)
	case softfloat.LessEqual(softfloat.FromInt64(6), x&^sign): // 1 - 2.2e-17
		return oneF | x&sign
	}
	sig, exp := softfloat.Decompose(x)
	return rounded(func(w uint) approx {
		// Relative to x, which may be as small as there is. The sum may be as
		// large as e^36.
		w += 60
		m := erfSlope(x, w)
		return approx{m.Mul(m, new(big.Int).SetUint64(sig)), exp - int(w), slack + 53 + 56}
	}) | x&sign
}

// Erfc is 1 - erf(x).
func Erfc(x uint64) uint64 {
	mag := x &^ sign
	switch {
	case softfloat.IsNaN(x):
		return same(x)
	case below(x, -55):
		return oneF
	case x&sign != 0 && softfloat.LessEqual(softfloat.FromInt64(6), mag):
		return softfloat.FromInt64(2)
	case softfloat.LessEqual(softfloat.FromInt64(28), x):
		return 0
	case x&sign == 0 && softfloat.LessEqual(softfloat.FromInt64(4), x):
		return rounded(func(w uint) approx { return erfcTail(x, w) })
	}
	return rounded(func(w uint) approx {
		w += 96
		y := mul(erfSlope(x, w), place(x, w), w)
		return approx{y.Sub(new(big.Int).Lsh(one, w), y), -int(w), slack + 56}
	})
}

// erfcTail is erfc(x) = e^(-x²)/√π · 1/(x + ½/(x + 1/(x + 1½/(x + …)))) for x of 4
// and more. All parts are positive, so the value lies between two successive
// convergents, whose difference is the error.
func erfcTail(x uint64, w uint) approx {
	m := place(x, w)
	whole := new(big.Int).Rsh(m, w).Int64()
	n := int64(w)*int64(w)/(12*whole*whole) + 20
	a, b := convergent(m, n, w), convergent(m, n+1, w)
	gap := new(big.Int).Sub(a, b)
	f, k := expKernel(new(big.Int).Neg(mul(m, m, w)), w)
	y := div(mul(a, f, w), sqrtPi(w), w)
	return approx{y, k - int(w), max(slack, uint(gap.BitLen())+2)}
}

func convergent(x *big.Int, n int64, w uint) *big.Int {
	t := new(big.Int).Set(x)
	q := new(big.Int)
	for i := n; i > 0; i-- {
		q.Lsh(q.SetInt64(i), 2*w-1)
		q.Quo(q, t)
		t.Add(x, q)
	}
	return div(new(big.Int).Lsh(one, w), t, w)
}
