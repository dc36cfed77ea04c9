package decimal

import "math/big"

// Exp is e^x, correctly rounded to nearest even whatever the context's rounding.
func (c Context) Exp(x Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x); is {
		return n, s
	}
	c.Rounding = HalfEven
	switch {
	case x.IsInf() && x.neg:
		return Decimal{coef: zero}, 0
	case x.IsInf():
		return x, 0
	case x.IsZero():
		return Decimal{coef: one}, 0
	case x.Adjusted() < int64(-c.Prec-1):
		return c.besideOne(false, x.neg)
	case x.Adjusted() >= c.spanDigits():
		return c.beyond(false, x.neg)
	}
	return c.nearest(false, func(d int) (*big.Int, int) {
		p := bitsFor(d) + 64
		coef, exp := x.coef, x.exp
		if spare := -exp - int64(d) - 20; spare > 0 { // what a unit of p bits does not see
			coef, exp = new(big.Int).Quo(coef, pow10(min(spare, int64(digits(coef))))), exp+spare
		}
		m := fixed(coef, exp, p)
		if x.neg {
			m.Neg(m)
		}
		return powerOfE(m, p, d)
	})
}

// spanDigits is a number of digits: e^x is out of range when the adjusted
// exponent of x reaches it.
func (c Context) spanDigits() int64 {
	return int64(digits(big.NewInt(3 * (max(c.Emax, -c.etiny()) + 2))))
}

// besideOne is a number so close to one, or minus one, that only its side is
// left.
func (c Context) besideOne(neg, below bool) (Decimal, Signal) {
	d := Decimal{neg: neg, coef: new(big.Int).Add(pow10(c.Prec+1), one), exp: -int64(c.Prec) - 1}
	if below {
		d.coef.Sub(d.coef, big.NewInt(2))
	}
	return c.round(d)
}

// beyond is a number out of range, on the large or the tiny side.
func (c Context) beyond(neg, tiny bool) (Decimal, Signal) {
	d := Decimal{neg: neg, coef: one, exp: c.Emax + 1}
	if tiny {
		d.exp = c.etiny() - 1
	}
	return c.round(d)
}

// powerOfE is e^(m/2^p) to d digits, where p has 64 bits to spare for the
// whole powers of ten.
func powerOfE(m *big.Int, p, d int) (coef *big.Int, exp int) {
	k, r := new(big.Int).DivMod(m, logsAt(p).ten, new(big.Int))
	e := expFixed(r, p)
	e.Mul(e, pow10(d))
	if k.BitLen() > 30 {
		k.SetInt64(int64(k.Sign()) * farExponent)
	}
	return e.Rsh(e, uint(p)), int(k.Int64()) - d
}

// Ln is the natural logarithm, correctly rounded to nearest even.
func (c Context) Ln(x Decimal) (Decimal, Signal) {
	if d, s, is := c.logSpecial(x); is {
		return d, s
	}
	c.Rounding = HalfEven
	if same(x, Decimal{coef: one}) {
		return Decimal{coef: zero}, 0
	}
	return c.nearest(isBelowOne(x), func(d int) (*big.Int, int) {
		m, p, small := logarithm(x, d)
		return decimalOf(m, p, d+small), -d - small
	})
}

// decimalOf is |m|·10^places/2^p.
func decimalOf(m *big.Int, p, places int) *big.Int {
	coef := new(big.Int).Abs(m)
	coef.Mul(coef, pow10(places))
	return coef.Rsh(coef, uint(p))
}

func isBelowOne(x Decimal) bool { return x.Adjusted() < 0 }

// logSpecial is the logarithm of what has none, and of infinity and zero.
func (c Context) logSpecial(x Decimal) (d Decimal, s Signal, is bool) {
	if n, s, is := c.nan(x); is {
		return n, s, true
	}
	switch {
	case x.IsZero():
		return infinity(true), 0, true
	case x.neg:
		d, s = invalid()
		return d, s, true
	case x.IsInf():
		return x, 0, true
	}
	return d, 0, false
}

// Log10 is the logarithm to base ten, exact for powers of ten and correctly
// rounded to nearest even otherwise.
func (c Context) Log10(x Decimal) (Decimal, Signal) {
	if d, s, is := c.logSpecial(x); is {
		return d, s
	}
	c.Rounding = HalfEven
	if x.coef.Cmp(pow10(digits(x.coef)-1)) == 0 {
		return c.round(ofInt(x.Adjusted()))
	}
	return c.nearest(isBelowOne(x), func(d int) (*big.Int, int) {
		m, p, small := logarithm(x, d+1)
		m.Lsh(m, uint(p)).Quo(m, logsAt(p).ten)
		return decimalOf(m, p, d+1+small), -d - 1 - small
	})
}
