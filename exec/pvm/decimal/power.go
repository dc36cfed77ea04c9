package decimal

import "math/big"

// Pow is x^y: exact where the result has no more than Prec digits, correctly
// rounded otherwise (CPython promises one unit in the last place).
func (c Context) Pow(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	if y.IsZero() {
		if x.IsZero() {
			return invalid()
		}
		return Decimal{coef: one}, 0
	}
	neg := false
	if x.neg {
		switch {
		case y.IsInteger():
			neg = !y.isEven()
		case !x.IsZero():
			return invalid()
		}
		x.neg = false
	}
	switch {
	case x.IsZero() || x.IsInf():
		if x.IsZero() == y.neg {
			return infinity(neg), 0
		}
		return Decimal{neg: neg, coef: zero}, 0
	case same(x, Decimal{coef: one}):
		return c.powOfOne(neg, x, y)
	case y.IsInf():
		if isBelowOne(x) != y.neg {
			return Decimal{neg: neg, coef: zero}, 0
		}
		return infinity(neg), 0
	}
	return c.powFinite(neg, x, y)
}

// powOfOne gives one as many zeros as it would have by multiplying, or all there
// is room for when the exponent is a fraction.
func (c Context) powOfOne(neg bool, x, y Decimal) (Decimal, Signal) {
	if !y.IsInteger() {
		return Decimal{neg: neg, coef: pow10(c.Prec - 1), exp: 1 - int64(c.Prec)}, Inexact | Rounded
	}
	times := 0
	if !y.neg {
		times = c.Prec
		if limit := ofInt(c.Prec); y.Adjusted() <= limit.Adjusted() {
			times = min(times, int(y.rescaled(0, Down).coef.Int64()))
		}
	}
	var s Signal
	exp, prec := int64(0), int64(c.Prec)
	if times > 0 && x.exp < 0 {
		if exp = 1 - prec; x.exp >= -prec {
			exp = x.exp * int64(times)
		}
		if exp < 1-prec {
			exp, s = 1-prec, Rounded
		}
		if x.exp < -prec {
			s = Rounded
		}
	}
	return Decimal{neg: neg, coef: pow10(-exp), exp: exp}, s
}

// powFinite is for x > 0 other than one and finite y other than zero.
func (c Context) powFinite(neg bool, x, y Decimal) (Decimal, Signal) {
	size, tiny := c.powSize(x, y)
	switch {
	case size > c.spanDigits():
		return c.beyond(neg, tiny)
	case size < int64(-c.Prec-3):
		return c.besideOne(neg, tiny)
	}
	if d, ok := c.powExact(x, y); ok {
		d.neg = neg
		if y.IsInteger() {
			return c.round(d)
		}
		return c.fractionalPower(d)
	}
	return c.nearest(neg, func(d int) (*big.Int, int) {
		m, p, _ := logarithm(x, d+int(max(size, 0))+4)
		p += 64
		m.Lsh(m, 64)
		if y.neg {
			m.Neg(m)
		}
		yc, ye := y.coef, y.exp
		if spare := -ye - int64(p); spare > 0 { // far below a unit
			yc, ye = new(big.Int).Quo(yc, pow10(min(spare, int64(digits(yc))))), int64(-p)
		}
		return powerOfE(fixed(m.Mul(m, yc), ye, 0), p, d)
	})
}

// powSize is the adjusted exponent of y·ln x, or one more, and whether it is
// negative.
func (c Context) powSize(x, y Decimal) (size int64, negative bool) {
	m, p, small := logarithm(x, 4)
	log := Decimal{coef: decimalOf(m, p, small+4), exp: int64(-small - 4)}
	return y.Adjusted() + log.Adjusted() + 1, isBelowOne(x) != y.neg
}

// fractionalPower rounds an exact power with an exponent that is no integer: the
// specification calls it inexact all the same, with all digits there are.
func (c Context) fractionalPower(d Decimal) (Decimal, Signal) {
	if n := digits(d.coef); n <= c.Prec {
		d = d.rescaled(d.exp-int64(c.Prec+1-n), c.Rounding)
	}
	d, s := c.round(d)
	s |= Inexact | Rounded
	if s&Subnormal != 0 {
		s |= Underflow
	}
	return d, s
}

// ratio is |y| as m/n in lowest terms, of an exponent small enough to be worth
// it.
type ratio struct{ m, n *big.Int }

// powExact is x^y where that has Prec+1 digits at most. |y| is so small and x so
// far from one that x^y is in the range of c.
func (c Context) powExact(x, y Decimal) (d Decimal, ok bool) {
	p := c.Prec + 1
	base, power := x.stripped(x.exp+int64(digits(x.coef))), y.stripped(y.exp+int64(digits(y.coef)))
	// x is at least 2^n for an integral n-th root, and its exponent divides by n.
	if power.exp < 0 {
		bound := max(int64(base.coef.BitLen()), magnitude(base.exp))
		if int64(digits(new(big.Int).Mul(power.coef, big.NewInt(bound)))) <= -power.exp {
			return d, false
		}
	}
	if power.exp > 40 {
		return d, false // beyond what an exponent reaches
	}
	r := ratio{m: power.coef, n: one}
	if power.exp >= 0 {
		r.m = new(big.Int).Mul(power.coef, pow10(power.exp))
	} else {
		r.n = pow10(-power.exp)
		g := new(big.Int).GCD(nil, nil, r.m, r.n)
		r.m, r.n = new(big.Int).Quo(r.m, g), new(big.Int).Quo(r.n, g)
	}
	root, ok := rootOf(base, r.n)
	if !ok || !r.m.IsInt64() {
		return d, false
	}
	exp := new(big.Int).Mul(big.NewInt(root.exp), r.m)
	if exp.BitLen() > 30 { // out of range by far when the rest of it is a one
		exp.SetInt64(int64(exp.Sign()) * farExponent)
	}
	d = Decimal{exp: exp.Int64()}
	if y.neg {
		d, ok = inversePower(root.coef, r.m.Int64(), d.exp, p)
		return d, ok
	}
	if d.coef, ok = boundedPower(root.coef, r.m.Int64(), p); !ok {
		return d, false
	}
	if r.n.Cmp(one) == 0 {
		// The exponent that multiplication would give, as far as there is room.
		ideal := new(big.Int).Mul(big.NewInt(x.exp), r.m)
		gap := p - digits(d.coef)
		if ideal.IsInt64() {
			gap = int(min(int64(gap), d.exp-ideal.Int64()))
		}
		d = d.rescaled(d.exp-int64(gap), c.Rounding)
	}
	return d, true
}

// magnitude is |exp|, at least one.
func magnitude(exp int64) int64 { return max(exp, -exp, 1) }

// rootOf is the n-th root of base when it is exact.
func rootOf(base Decimal, n *big.Int) (Decimal, bool) {
	if n.Cmp(one) == 0 {
		return base, true
	}
	if !n.IsInt64() {
		return base, base.exp == 0 && base.coef.Cmp(one) == 0
	}
	k := n.Int64()
	if base.exp%k != 0 {
		return base, false
	}
	base.exp /= k
	if base.coef.Cmp(one) == 0 {
		return base, true
	}
	if int64(base.coef.BitLen()) <= k {
		return base, false
	}
	// Newton from above.
	less := big.NewInt(k - 1)
	a := new(big.Int).Lsh(one, uint((int64(base.coef.BitLen())+k-1)/k))
	// Paid: by Cost as Transcendental, the cube of the digits: Newton's rounds are fewer than the bits' logarithm.
	for {
		pow := new(big.Int).Exp(a, less, nil)
		q, rem := new(big.Int).QuoRem(base.coef, pow, new(big.Int))
		if a.Cmp(q) <= 0 {
			exact := a.Cmp(q) == 0 && rem.Sign() == 0
			base.coef = a
			return base, exact
		}
		a = q.Add(q, new(big.Int).Mul(a, less))
		a.Quo(a, n)
	}
}

// boundedPower is a^m where that has p digits at most.
func boundedPower(a *big.Int, m int64, p int) (*big.Int, bool) {
	if a.Cmp(one) == 0 {
		return a, true
	}
	// a >= 2^(bits-1), so a^m has more bits than that.
	limit := int64(bitsFor(p))
	if m > limit || m*int64(a.BitLen()-1) > limit {
		return nil, false
	}
	pow := new(big.Int).Exp(a, big.NewInt(m), nil)
	return pow, digits(pow) <= p
}

// inversePower is a^-m·10^-exp: a decimal fraction of p digits only for powers
// of two and of five.
func inversePower(a *big.Int, m, exp int64, p int) (d Decimal, ok bool) {
	e := 0
	other := int64(5)
	switch {
	case a.Cmp(one) == 0:
		return Decimal{coef: one, exp: -exp}, true
	case a.Bit(0) == 0:
		if e = int(a.TrailingZeroBits()); a.BitLen() != e+1 {
			return d, false
		}
	default:
		other = 2
		rest, rem := new(big.Int).Set(a), new(big.Int)
		five := big.NewInt(5)
		// Paid: by Cost as Transcendental, the cube of the digits: a round for each factor of five.
		for {
			q, _ := new(big.Int).QuoRem(rest, five, rem)
			if rem.Sign() != 0 {
				break
			}
			rest, e = q, e+1
		}
		if rest.Cmp(one) != 0 {
			return d, false
		}
	}
	if limit := int64(bitsFor(p)); m > limit || int64(e)*m > limit {
		return d, false
	}
	coef, ok := boundedPower(big.NewInt(other), int64(e)*m, p)
	return Decimal{coef: coef, exp: -exp - int64(e)*m}, ok
}

// PowMod is x^y mod m for integers: Python's pow(x, y, m), always exact.
// Exponents with more than a million zeros at their end are refused.
func (c Context) PowMod(x, y, m Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y, m); is {
		return n, s
	}
	if !x.IsInteger() || !y.IsInteger() || !m.IsInteger() || y.neg && !y.IsZero() || m.IsZero() ||
		m.Adjusted() >= int64(c.Prec) || x.IsZero() && y.IsZero() || y.exp > maxPrec {
		return invalid()
	}
	neg := x.neg && !y.isEven()
	mod := m.rescaled(0, Down).coef
	// x = coef·10^exp, y = coef·10^exp: neither is written out.
	base := new(big.Int).Exp(ten, big.NewInt(max(x.exp, 0)), mod)
	if x.exp < 0 {
		x = x.rescaled(0, Down)
	}
	base.Mul(base, x.coef).Mod(base, mod)
	if y.exp < 0 {
		y = y.rescaled(0, Down)
	}
	if y.coef.Sign() == 0 {
		y.exp = 0
	}
	// Paid: by Cost, modFactor times the square for each zero of the exponent, of which there are maxPrec at most.
	for range y.exp {
		base.Exp(base, ten, mod)
	}
	return Decimal{neg: neg, coef: base.Exp(base, y.coef, mod)}, 0
}
