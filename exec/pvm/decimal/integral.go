package decimal

import "math/big"

// QuoInt is the integer part of x/y, Python's x // y.
func (c Context) QuoInt(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	neg := x.neg != y.neg
	switch {
	case x.IsInf() && y.IsInf() || x.IsZero() && y.IsZero():
		return invalid()
	case x.IsInf():
		return infinity(neg), 0
	case y.IsZero():
		return infinity(neg), DivisionByZero
	}
	quo, _, ok := c.divide(x, y)
	if !ok {
		return invalid()
	}
	return Decimal{neg: neg, coef: quo}, 0
}

// Rem is x - y·(integer part of x/y), Python's x % y: the sign of x.
func (c Context) Rem(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	if x.IsInf() || y.IsZero() {
		return invalid()
	}
	_, rem, ok := c.divide(x, y)
	if !ok {
		return invalid()
	}
	return c.fix(rem)
}

// divide gives the integer part, which has Prec digits at most, and the rest.
func (c Context) divide(x, y Decimal) (quo *big.Int, rem Decimal, ok bool) {
	ideal := x.exp
	if !y.IsInf() {
		ideal = min(x.exp, y.exp)
	}
	if x.IsZero() || y.IsInf() || x.Adjusted()-y.Adjusted() <= -2 {
		rem = x
		if y.IsInf() {
			return zero, rem, true
		}
		if x.IsZero() {
			return zero, Decimal{neg: x.neg, coef: zero, exp: ideal}, true
		}
		return zero, x.rescaled(max(ideal, x.exp-int64(c.Prec)-1), c.Rounding), true
	}
	if x.Adjusted()-y.Adjusted() > int64(c.Prec) {
		return nil, rem, false
	}
	a, b := x.coef, y.coef
	if x.exp >= y.exp {
		a = new(big.Int).Mul(a, pow10(x.exp-y.exp))
	} else {
		b = new(big.Int).Mul(b, pow10(y.exp-x.exp))
	}
	quo, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if digits(quo) > c.Prec {
		return nil, rem, false
	}
	return quo, Decimal{neg: x.neg, coef: r, exp: ideal}, true
}

// Quantize is x with the exponent of y, when Prec digits hold that.
func (c Context) Quantize(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	if x.IsInf() || y.IsInf() {
		if x.IsInf() && y.IsInf() {
			return x, 0
		}
		return invalid()
	}
	if y.exp < c.etiny() || y.exp > c.Emax {
		return invalid()
	}
	if x.IsZero() {
		return c.round(Decimal{neg: x.neg, coef: zero, exp: y.exp})
	}
	if x.Adjusted() > c.Emax || x.Adjusted()-y.exp+1 > int64(c.Prec) {
		return invalid()
	}
	d, inexact := x.rescale(y.exp, c.Rounding)
	if d.Adjusted() > c.Emax || digits(d.coef) > c.Prec {
		return invalid()
	}
	r, s := c.round(d)
	if d.exp > x.exp {
		s |= Rounded
		if inexact {
			s |= Inexact
		}
	}
	return r, s
}

// Reduce is x rounded, without zeros at the end: Python's normalize.
func (c Context) Reduce(x Decimal) (Decimal, Signal) {
	d, s := c.Plus(x)
	switch {
	case d.kind != finite:
		return d, s
	case d.IsZero():
		return Decimal{neg: x.neg, coef: zero}, s
	}
	top := c.Emax
	if c.Clamp {
		top = c.etop()
	}
	return d.stripped(top), s
}

// ToIntegral is x rounded to an integer, not to the precision, without a word
// about it: Python's to_integral_value.
func (c Context) ToIntegral(x Decimal) (Decimal, Signal) {
	d, s := c.ToIntegralExact(x)
	return d, s &^ (Inexact | Rounded)
}

// ToIntegralExact is ToIntegral with Inexact and Rounded.
func (c Context) ToIntegralExact(x Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x); is {
		return n, s
	}
	switch {
	case x.kind != finite || x.exp >= 0:
		return x, 0
	case x.IsZero():
		return Decimal{neg: x.neg, coef: zero}, 0
	}
	d, inexact := x.rescale(0, c.Rounding)
	if inexact {
		return d, Inexact | Rounded
	}
	return d, Rounded
}

// RemNear is x - y·n for the integer n nearest x/y, the even one of two:
// Python's remainder_near.
func (c Context) RemNear(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	switch {
	case x.IsInf() || y.IsZero():
		return invalid()
	case y.IsInf():
		return c.round(x)
	case x.IsZero():
		return c.round(Decimal{neg: x.neg, coef: zero, exp: min(x.exp, y.exp)})
	}
	apart := x.Adjusted() - y.Adjusted()
	if apart > int64(c.Prec) {
		return invalid()
	}
	ideal := min(x.exp, y.exp)
	if apart <= -2 {
		return c.round(x.rescaled(max(ideal, x.exp-int64(c.Prec)-1), c.Rounding))
	}
	a, b := x.rescaled(ideal, Down).coef, y.rescaled(ideal, Down).coef
	quo, rem := new(big.Int).QuoRem(a, b, new(big.Int))
	neg := x.neg
	if twice := new(big.Int).Lsh(rem, 1).Cmp(b); twice > 0 || twice == 0 && quo.Bit(0) != 0 {
		rem.Sub(b, rem)
		quo.Add(quo, one)
		neg = !neg
	}
	if digits(quo) > c.Prec {
		return invalid()
	}
	return c.round(Decimal{neg: neg, coef: rem, exp: ideal})
}
