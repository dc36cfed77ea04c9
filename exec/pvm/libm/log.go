package libm

import (
	"math/big"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// logBase is a kind of logarithm: the exact results and the divisor.
type logBase struct {
	exact func(sig uint64, exp int) (int, bool) // of odd sig·2^exp
	ln    func(w uint) *big.Int                 // of the base, nil for e
}

var (
	natural = logBase{exact: func(sig uint64, exp int) (int, bool) { return 0, sig == 1 && exp == 0 }}
	binary  = logBase{exact: func(sig uint64, exp int) (int, bool) { return exp, sig == 1 }, ln: ln2}
	common  = logBase{exact: exactLog10, ln: ln10}
)

// exactLog10 knows 10^k = 5^k·2^k.
func exactLog10(sig uint64, exp int) (int, bool) {
	power := uint64(1)
	for range exp {
		hi, lo := bits.Mul64(power, 5)
		if hi != 0 || lo > sig {
			return 0, false
		}
		power = lo
	}
	return exp, exp >= 0 && power == sig
}

// Log is the natural logarithm.
func Log(x uint64) (uint64, Verdict) { return natural.of(x) }

// Log2 is the logarithm to base 2.
func Log2(x uint64) (uint64, Verdict) { return binary.of(x) }

// Log10 is the logarithm to base 10.
func Log10(x uint64) (uint64, Verdict) { return common.of(x) }

func (b logBase) of(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || x == inf:
		return same(x), OK
	case softfloat.IsZero(x):
		return negInf, Domain
	case x&sign != 0:
		return nan, Domain
	}
	sig, exp := softfloat.Decompose(x)
	if n, ok := b.exact(sig, exp); ok {
		return softfloat.FromInt64(int64(n)), OK
	}
	return rounded(func(w uint) approx { return b.eval(new(big.Int).SetUint64(sig), exp, w) }), OK
}

func (b logBase) eval(m *big.Int, exp int, w uint) approx {
	l := logKernel(m, exp, w)
	if b.ln != nil {
		l = div(l, b.ln(w), w)
	}
	return fixed(l, w)
}

// LogInt, Log2Int and Log10Int are the logarithms of an integer of any size,
// which Python's take without rounding it to a float first.
func LogInt(n *big.Int) (uint64, Verdict) { return natural.ofInt(n) }

// Log2Int is the logarithm to base 2 of an integer.
func Log2Int(n *big.Int) (uint64, Verdict) { return binary.ofInt(n) }

// Log10Int is the logarithm to base 10 of an integer.
func Log10Int(n *big.Int) (uint64, Verdict) { return common.ofInt(n) }

func (b logBase) ofInt(n *big.Int) (uint64, Verdict) {
	if n.Sign() <= 0 {
		return nan, Domain
	}
	zeros := n.TrailingZeroBits()
	odd := new(big.Int).Rsh(n, zeros)
	if odd.BitLen() <= 64 {
		if k, ok := b.exact(odd.Uint64(), int(zeros)); ok {
			return softfloat.FromInt64(int64(k)), OK
		}
	}
	// Of a power of ten beyond 64 bits the result is an integer, which all approximations
	// near it round to: whether it is exact need not be known.
	return rounded(func(w uint) approx {
		w += 40 // the exponent may have 33 bits
		return b.eval(odd, int(zeros), w)
	}), OK
}

// Log1p is log(1+x).
func Log1p(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || x == inf || below(x, -54):
		return same(x), OK
	case x == oneF|sign:
		return negInf, Domain
	case softfloat.Less(x, oneF|sign):
		return nan, Domain
	}
	sig, exp := softfloat.Decompose(x)
	m := new(big.Int).SetUint64(sig)
	if x&sign != 0 {
		m.Neg(m)
	}
	if exp > 0 {
		m.Lsh(m, uint(exp))
		exp = 0
	}
	m.Add(m, new(big.Int).Lsh(one, uint(-exp)))
	return rounded(func(w uint) approx { return fixed(logKernel(m, exp, w), w) }), OK
}

// Asinh is the inverse hyperbolic sine: log(|x| + √(x²+1)).
func Asinh(x uint64) (uint64, Verdict) {
	if softfloat.IsNaN(x) || softfloat.IsInf(x) || below(x, -27) {
		return same(x), OK
	}
	return inverseHyperbolic(x&^sign, 1) | x&sign, OK
}

// Acosh is the inverse hyperbolic cosine: log(x + √(x²-1)).
func Acosh(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || x == inf:
		return same(x), OK
	case softfloat.Less(x, oneF):
		return nan, Domain
	case x == oneF:
		return 0, OK
	}
	return inverseHyperbolic(x, -1), OK
}

// inverseHyperbolic is log(x + √(x²+s)) for x > 0. For x of 2^400 and more the
// root is x but for 2^-800 of it.
func inverseHyperbolic(x uint64, s int64) uint64 {
	return rounded(func(w uint) approx {
		if !below(x, 400) {
			sig, exp := softfloat.Decompose(x)
			return fixed(logKernel(new(big.Int).SetUint64(sig), exp+1, w), w)
		}
		m := place(x, w)
		square := new(big.Int).Mul(m, m)
		square.Add(square, new(big.Int).Lsh(big.NewInt(s), 2*w))
		return fixed(logKernel(m.Add(m, square.Sqrt(square)), -int(w), w), w)
	})
}

// Atanh is the inverse hyperbolic tangent: log((1+x)/(1-x))/2.
func Atanh(x uint64) (uint64, Verdict) {
	switch {
	case softfloat.IsNaN(x) || below(x, -27):
		return same(x), OK
	case x&^sign == oneF:
		return inf | x&sign, Domain
	case !below(x, 0):
		return nan, Domain
	}
	return rounded(func(w uint) approx {
		unit := new(big.Int).Lsh(one, w)
		m := place(x, w)
		q := div(new(big.Int).Add(unit, m), unit.Sub(unit, m), w)
		return approx{logKernel(q, -int(w), w), -int(w) - 1, slack}
	}), OK
}
