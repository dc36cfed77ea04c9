package decimal

import "math/big"

// Cmp orders two numbers; ordered is false with a NaN.
func Cmp(x, y Decimal) (order int, ordered bool) {
	if x.IsNaN() || y.IsNaN() {
		return 0, false
	}
	sx, sy := x.sign(), y.sign()
	switch {
	case sx != sy:
		return sign(sx - sy), true
	case sx == 0 || x.IsInf() && y.IsInf():
		return 0, true
	case x.IsInf():
		return sx, true
	case y.IsInf():
		return -sx, true
	}
	if d := x.Adjusted() - y.Adjusted(); d != 0 {
		return sign(d) * sx, true
	}
	a, b := x.coef, y.coef
	if x.exp > y.exp {
		a = new(big.Int).Mul(a, pow10(x.exp-y.exp))
	} else {
		b = new(big.Int).Mul(b, pow10(y.exp-x.exp))
	}
	return a.Cmp(b) * sx, true
}

func (d Decimal) sign() int {
	switch {
	case d.IsZero():
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func sign[N int | int64](i N) int {
	switch {
	case i < 0:
		return -1
	case i > 0:
		return 1
	}
	return 0
}

// ofInt is a small integer.
func ofInt[N int | int64](i N) Decimal { return FromBig(big.NewInt(int64(i))) }

// Compare is the order of x and y as a Decimal: -1, 0 or 1, or NaN.
func (c Context) Compare(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	order, _ := Cmp(x, y)
	return ofInt(order), 0
}

// CompareSignal is Compare, with Invalid for quiet NaNs too.
func (c Context) CompareSignal(x, y Decimal) (Decimal, Signal) {
	d, s := c.Compare(x, y)
	if x.IsNaN() || y.IsNaN() {
		s |= Invalid
	}
	return d, s
}

// CmpTotal orders representations: every Decimal has its place, NaNs beyond the
// infinities and 1.0 below 1.
func CmpTotal(x, y Decimal) int {
	if x.neg != y.neg {
		return btoi(y.neg) - btoi(x.neg)
	}
	order := cmpTotalMag(x, y)
	if x.neg {
		return -order
	}
	return order
}

// CmpTotalMag is CmpTotal without the signs.
func CmpTotalMag(x, y Decimal) int { return cmpTotalMag(x.CopyAbs(), y.CopyAbs()) }

func cmpTotalMag(x, y Decimal) int {
	x.neg, y.neg = false, false
	if x.IsNaN() || y.IsNaN() {
		if x.kind == y.kind {
			return x.coef.Cmp(y.coef)
		}
		return sign(totalRank(x.kind) - totalRank(y.kind))
	}
	if order, _ := Cmp(x, y); order != 0 {
		return order
	}
	return sign(x.exp - y.exp)
}

// totalRank puts signaling NaNs below quiet ones, both above numbers.
func totalRank(k kind) int { return [...]int{finite: 0, infinite: 0, signaling: 1, quiet: 2}[k] }

// Max is the larger of two numbers, rounded; a number wins against a quiet NaN.
func (c Context) Max(x, y Decimal) (Decimal, Signal) { return c.pick(x, y, 1, false) }

// Min is the smaller.
func (c Context) Min(x, y Decimal) (Decimal, Signal) { return c.pick(x, y, -1, false) }

// MaxMag is Max by magnitude.
func (c Context) MaxMag(x, y Decimal) (Decimal, Signal) { return c.pick(x, y, 1, true) }

// MinMag is Min by magnitude.
func (c Context) MinMag(x, y Decimal) (Decimal, Signal) { return c.pick(x, y, -1, true) }

func (c Context) pick(x, y Decimal, want int, magnitude bool) (Decimal, Signal) {
	switch {
	case x.kind == quiet && !y.IsNaN():
		return c.fix(y)
	case y.kind == quiet && !x.IsNaN():
		return c.fix(x)
	}
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	a, b := x, y
	if magnitude {
		a, b = x.CopyAbs(), y.CopyAbs()
	}
	order, _ := Cmp(a, b)
	if order == 0 {
		order = CmpTotal(x, y)
	}
	if order == -want || order == 0 && want < 0 {
		return c.fix(y)
	}
	return c.fix(x)
}
