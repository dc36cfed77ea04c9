package decimal

import "math/big"

// Plus is +x: x rounded.
func (c Context) Plus(x Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x); is {
		return n, s
	}
	if x.IsZero() && c.Rounding != Floor {
		x.neg = false
	}
	return c.fix(x)
}

func (c Context) fix(x Decimal) (Decimal, Signal) {
	if x.kind != finite {
		return x, 0
	}
	return c.round(x)
}

// Minus is -x, rounded.
func (c Context) Minus(x Decimal) (Decimal, Signal) {
	if !x.IsNaN() {
		x.neg = !x.neg
	}
	return c.Plus(x)
}

// Abs is |x|, rounded.
func (c Context) Abs(x Decimal) (Decimal, Signal) {
	if !x.IsNaN() {
		x.neg = false
	}
	return c.Plus(x)
}

// Add is x + y.
func (c Context) Add(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	switch {
	case x.IsInf():
		if y.IsInf() && x.neg != y.neg {
			return invalid()
		}
		return x, 0
	case y.IsInf():
		return y, 0
	}
	return c.round(c.sum(x, y))
}

// sum is x + y for finite operands, before rounding. Of an operand so small that
// only its presence matters, its presence remains.
func (c Context) sum(x, y Decimal) Decimal {
	exp := min(x.exp, y.exp)
	zeroNeg := c.Rounding == Floor && x.neg != y.neg
	switch {
	case x.IsZero() && y.IsZero():
		return Decimal{neg: x.neg && y.neg || zeroNeg, coef: zero, exp: exp}
	case x.IsZero():
		return y.rescaled(max(exp, y.exp-int64(c.Prec)-1), c.Rounding)
	case y.IsZero():
		return x.rescaled(max(exp, x.exp-int64(c.Prec)-1), c.Rounding)
	}
	high, low := x, y
	if high.exp < low.exp {
		high, low = low, high
	}
	floor := high.exp + int64(min(-1, digits(high.coef)-c.Prec-2))
	if low.Adjusted() < floor {
		low.coef, low.exp = one, floor
	}
	high = high.rescaled(low.exp, c.Rounding)
	if high.neg == low.neg {
		return Decimal{neg: high.neg, coef: new(big.Int).Add(high.coef, low.coef), exp: low.exp}
	}
	d := new(big.Int).Sub(high.coef, low.coef)
	if d.Sign() == 0 {
		return Decimal{neg: zeroNeg, coef: d, exp: exp}
	}
	return Decimal{neg: high.neg == (d.Sign() > 0), coef: d.Abs(d), exp: low.exp}
}

// Sub is x - y.
func (c Context) Sub(x, y Decimal) (Decimal, Signal) {
	if !y.IsNaN() {
		y.neg = !y.neg
	}
	return c.Add(x, y)
}

// Mul is x · y.
func (c Context) Mul(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	if x.IsInf() || y.IsInf() {
		if x.IsZero() || y.IsZero() {
			return invalid()
		}
		return infinity(x.neg != y.neg), 0
	}
	return c.round(product(x, y))
}

func product(x, y Decimal) Decimal {
	return Decimal{neg: x.neg != y.neg, coef: new(big.Int).Mul(x.coef, y.coef), exp: x.exp + y.exp}
}

// FMA is x·y + z, rounded once.
func (c Context) FMA(x, y, z Decimal) (Decimal, Signal) {
	if x.kind == signaling || y.kind == signaling || x.IsNaN() || y.IsNaN() {
		if n, s, is := c.nan(x, y, z); is && (s != 0 || x.IsNaN() || y.IsNaN()) {
			return n, s
		}
	}
	if x.IsInf() || y.IsInf() {
		if x.IsZero() || y.IsZero() {
			return invalid()
		}
		return c.Add(infinity(x.neg != y.neg), z)
	}
	return c.Add(product(x, y), z)
}

// Quo is x / y.
func (c Context) Quo(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	neg := x.neg != y.neg
	switch {
	case x.IsInf() && y.IsInf() || x.IsZero() && y.IsZero():
		return invalid()
	case x.IsInf():
		return infinity(neg), 0
	case y.IsInf():
		return Decimal{neg: neg, coef: zero, exp: c.etiny()}, Clamped
	case y.IsZero():
		return infinity(neg), DivisionByZero
	case x.IsZero():
		return c.round(Decimal{neg: neg, coef: zero, exp: x.exp - y.exp})
	}
	shift := digits(y.coef) - digits(x.coef) + c.Prec + 1
	num, den := x.coef, y.coef
	if shift >= 0 {
		num = new(big.Int).Mul(num, pow10(shift))
	} else {
		den = new(big.Int).Mul(den, pow10(-shift))
	}
	quo, rem := new(big.Int).QuoRem(num, den, new(big.Int))
	d := Decimal{neg: neg, coef: quo, exp: x.exp - y.exp - int64(shift)}
	if rem.Sign() != 0 {
		// A last digit of 0 or 5 would look exact or half-way.
		if new(big.Int).Rem(quo, big.NewInt(5)).Sign() == 0 {
			quo.Add(quo, one)
		}
	} else {
		d = d.stripped(x.exp - y.exp)
	}
	return c.round(d)
}

// stripped drops zeros at the end while the exponent is below limit.
func (d Decimal) stripped(limit int64) Decimal {
	// Paid: by Context.Cost, which counts the digits of the operands and of the precision: a round drops one.
	for d.exp < limit {
		quo, rem := new(big.Int).QuoRem(d.coef, ten, new(big.Int))
		if rem.Sign() != 0 {
			break
		}
		d.coef = quo
		d.exp++
	}
	return d
}

// Sqrt is the square root, rounded to nearest even.
func (c Context) Sqrt(x Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x); is {
		return n, s
	}
	c.Rounding = HalfEven
	half := x.exp >> 1
	switch {
	case x.IsZero():
		return c.round(Decimal{neg: x.neg, coef: zero, exp: half})
	case x.neg:
		return invalid()
	case x.IsInf():
		return x, 0
	}
	prec := c.Prec + 1
	coef, n := x.coef, digits(x.coef)
	length := (n + 1) >> 1
	if x.exp&1 != 0 {
		coef = new(big.Int).Mul(coef, ten)
		length = n>>1 + 1
	}
	shift := prec - length
	exact := true
	if shift >= 0 {
		coef = new(big.Int).Mul(coef, pow10(2*shift))
	} else {
		quo, rem := new(big.Int).QuoRem(coef, pow10(-2*shift), new(big.Int))
		coef, exact = quo, rem.Sign() == 0
	}
	root := new(big.Int).Sqrt(coef)
	exact = exact && new(big.Int).Mul(root, root).Cmp(coef) == 0
	d := Decimal{coef: root, exp: half - int64(shift)}
	if exact {
		if shift >= 0 {
			d.coef, d.exp = root.Quo(root, pow10(shift)), half
		} else {
			d.coef, d.exp = root.Mul(root, pow10(-shift)), half
		}
	} else if new(big.Int).Rem(root, big.NewInt(5)).Sign() == 0 {
		root.Add(root, one)
	}
	return c.round(d)
}
