package decimal

import "math/big"

// And is the digitwise and of two logical operands: numbers that are made of the
// digits 0 and 1 alone, of the last Prec of them.
func (c Context) And(x, y Decimal) (Decimal, Signal) {
	return c.logical(x, y, func(a, b byte) byte { return a & b })
}

// Or is the digitwise or.
func (c Context) Or(x, y Decimal) (Decimal, Signal) {
	return c.logical(x, y, func(a, b byte) byte { return a | b })
}

// Xor is the digitwise exclusive or.
func (c Context) Xor(x, y Decimal) (Decimal, Signal) {
	return c.logical(x, y, func(a, b byte) byte { return a&^b | b&^a })
}

// Invert is the digitwise not, of Prec digits.
func (c Context) Invert(x Decimal) (Decimal, Signal) {
	ones := make([]byte, c.Prec)
	// Bounded: by the precision, 28.
	for i := range ones {
		ones[i] = '1'
	}
	all, _ := new(big.Int).SetString(string(ones), 10)
	return c.Xor(x, Decimal{coef: all})
}

func (c Context) logical(x, y Decimal, f func(a, b byte) byte) (Decimal, Signal) {
	if !isLogical(x) || !isLogical(y) {
		return invalid()
	}
	a, b := x.coef.Append(nil, 10), y.coef.Append(nil, 10)
	out := make([]byte, min(max(len(a), len(b)), c.Prec))
	// Bounded: by the precision, 28.
	for i := range out {
		out[len(out)-1-i] = '0' + f(bit(a, i), bit(b, i))
	}
	coef, _ := new(big.Int).SetString(string(out), 10)
	return Decimal{coef: coef}, 0
}

// bit is the i-th digit from the right, zero beyond.
func bit(text []byte, i int) byte {
	if i >= len(text) {
		return 0
	}
	return text[len(text)-1-i] - '0'
}

func isLogical(d Decimal) bool {
	if d.kind != finite || d.neg || d.exp != 0 {
		return false
	}
	// Paid: by Cost as Quotient, twice the square of all words.
	for _, digit := range d.coef.Append(nil, 10) {
		if digit > '1' {
			return false
		}
	}
	return true
}

// places reads the count operand of Shift, Rotate and ScaleB: an integer with
// exponent zero within ±limit.
func places(y Decimal, limit int) (n int, ok bool) {
	if y.kind != finite || y.exp != 0 || y.coef.BitLen() > 31 {
		return 0, false
	}
	n = int(y.coef.Int64())
	if n > limit {
		return 0, false
	}
	if y.neg {
		n = -n
	}
	return n, true
}

// Shift moves the last Prec digits of x by y places, to the left when positive;
// zeros come in.
func (c Context) Shift(x, y Decimal) (Decimal, Signal) {
	return c.moved(x, y, func(coef *big.Int, n int) *big.Int {
		if n < 0 {
			return coef.Quo(coef, pow10(-n))
		}
		coef.Mul(coef, pow10(n))
		return coef.Rem(coef, pow10(c.Prec))
	})
}

// Rotate is Shift where the digits that leave on one side come in on the other.
func (c Context) Rotate(x, y Decimal) (Decimal, Signal) {
	return c.moved(x, y, func(coef *big.Int, n int) *big.Int {
		if n < 0 {
			n += c.Prec
		}
		high, low := coef.QuoRem(coef, pow10(c.Prec-n), new(big.Int))
		return high.Add(high, low.Mul(low, pow10(n)))
	})
}

func (c Context) moved(x, y Decimal, f func(coef *big.Int, n int) *big.Int) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	n, ok := places(y, c.Prec)
	if !ok {
		return invalid()
	}
	if x.IsInf() {
		return x, 0
	}
	x.coef = f(new(big.Int).Rem(x.coef, pow10(c.Prec)), n)
	return x, 0
}

// ScaleB is x·10^y.
func (c Context) ScaleB(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	n, ok := places(y, 2*(int(c.Emax)+c.Prec))
	if !ok {
		return invalid()
	}
	if x.IsInf() {
		return x, 0
	}
	x.exp += int64(n)
	return c.round(x)
}

// LogB is the exponent of the first digit of x.
func (c Context) LogB(x Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x); is {
		return n, s
	}
	switch {
	case x.IsInf():
		return infinity(false), 0
	case x.IsZero():
		return infinity(true), DivisionByZero
	}
	return c.round(ofInt(x.Adjusted()))
}

// largest is the largest finite number of the context.
func (c Context) largest(neg bool) Decimal {
	return Decimal{neg: neg, coef: new(big.Int).Sub(pow10(c.Prec), one), exp: c.etop()}
}

// NextPlus is the smallest number above x.
func (c Context) NextPlus(x Decimal) (Decimal, Signal) { return c.adjacent(x, false) }

// NextMinus is the largest number below x.
func (c Context) NextMinus(x Decimal) (Decimal, Signal) { return c.adjacent(x, true) }

func (c Context) adjacent(x Decimal, down bool) (Decimal, Signal) {
	if n, s, is := c.nan(x); is {
		return n, s
	}
	if x.IsInf() {
		if x.neg == down {
			return x, 0
		}
		return c.largest(x.neg), 0
	}
	c.Rounding = Ceiling
	if down {
		c.Rounding = Floor
	}
	if d, _ := c.round(x); !same(d, x) {
		return d, 0
	}
	d, _ := c.Add(x, Decimal{neg: down, coef: one, exp: c.etiny() - 1})
	return d, 0
}

func same(x, y Decimal) bool {
	order, ordered := Cmp(x, y)
	return ordered && order == 0
}

// NextToward is the number after x in the direction of y.
func (c Context) NextToward(x, y Decimal) (Decimal, Signal) {
	if n, s, is := c.nan(x, y); is {
		return n, s
	}
	order, _ := Cmp(x, y)
	if order == 0 {
		return x.CopySign(y), 0
	}
	d, _ := c.adjacent(x, order > 0)
	switch {
	case d.IsInf():
		return d, Overflow | Inexact | Rounded
	case d.IsZero():
		return d, Underflow | Subnormal | Inexact | Rounded | Clamped
	case d.Adjusted() < c.Emin:
		return d, Underflow | Subnormal | Inexact | Rounded
	}
	return d, 0
}
