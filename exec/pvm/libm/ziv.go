package libm

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// Verdict is how a function ended.
type Verdict uint8

// What Python does with the result.
const (
	OK     Verdict = iota
	Domain         // ValueError: "math domain error"; poles too
	Range          // OverflowError: "math range error"
)

const (
	precisionMin = 144
	precisionMax = 1200

	// slack is the error of an evaluation in bits of its last unit: a few
	// hundred roundings, each worth at most a few thousand units after scaling.
	slack = 20
)

// approx is an interval: the result lies within 2^err units of m, a unit being
// 2^exp.
type approx struct {
	m   *big.Int
	exp int
	err uint
}

// fixed is the usual approx: a fixed-point number with w places.
func fixed(m *big.Int, w uint) approx { return approx{m, -int(w), slack} }

// rounded evaluates until the interval rounds to one value.
func rounded(eval func(w uint) approx) uint64 {
	for w := uint(precisionMin); ; w *= 2 {
		a := eval(w)
		radius := new(big.Int).Lsh(one, a.err)
		low := softfloat.FromScaled(new(big.Int).Sub(a.m, radius), a.exp, false)
		high := softfloat.FromScaled(radius.Add(radius, a.m), a.exp, false)
		if low == high {
			return low
		}
		if w >= precisionMax {
			return softfloat.FromScaled(a.m, a.exp, false)
		}
	}
}

// finite is rounded with overflow told.
func finite(eval func(w uint) approx) (uint64, Verdict) {
	x := rounded(eval)
	if softfloat.IsInf(x) {
		return x, Range
	}
	return x, OK
}

// same is x, a NaN the canonical one.
func same(x uint64) uint64 {
	if softfloat.IsNaN(x) {
		return nan
	}
	return x
}

// place gives a finite x with w places, cut.
func place(x uint64, w uint) *big.Int {
	sig, exp := softfloat.Decompose(x)
	m := new(big.Int).SetUint64(sig)
	if shift := exp + int(w); shift >= 0 {
		m.Lsh(m, uint(shift))
	} else {
		m.Rsh(m, uint(-shift))
	}
	if softfloat.Signbit(x) {
		m.Neg(m)
	}
	return m
}

// exponent is floor(log2(|x|)) of a finite nonzero x.
func exponent(x uint64) int {
	_, e := softfloat.Frexp(x)
	return e - 1
}

// below says that x is finite and |x| < 2^e.
func below(x uint64, e int) bool {
	return softfloat.IsZero(x) || softfloat.IsFinite(x) && exponent(x) < e
}

func shifted(m *big.Int, by int) *big.Int {
	if by >= 0 {
		return new(big.Int).Lsh(m, uint(by))
	}
	return new(big.Int).Rsh(m, uint(-by))
}
