// Package decimal is the arithmetic behind Python's Decimal: the General Decimal
// Arithmetic specification over integers of any size, as CPython's decimal
// module computes it, in the one context that programs have (DefaultContext:
// precision 28, ties to even).
//
// Here are the operators, rounding, comparison, the square root and text; the
// transcendental functions and the logical operators are not part of it.
//
// In flow Decimals and a Context, out flow Decimals and a Signal: the conditions
// that Python's default context raises for. Conditions that it only records
// (inexact, rounded, subnormal) are not reported. A Decimal is immutable.
// Exponents are bounded by the context, and so is what an operation may
// allocate: a caller that parses text bounds its length.
package decimal

import "math/big"

// kind tells numbers from what is none.
type kind uint8

const (
	finite kind = iota
	infinite
	quiet
	signaling
)

// Decimal is ±coef·10^exp, an infinity or a NaN, whose coef is its payload. The
// zero value is no Decimal.
type Decimal struct {
	kind kind
	neg  bool
	coef *big.Int // never negative, never altered
	exp  int
}

// Signal is a set of conditions.
type Signal uint8

// Conditions that Python's default context traps.
const (
	Invalid        Signal = 1 << iota // InvalidOperation
	DivisionByZero                    // DivisionByZero
	Overflow                          // Overflow
)

// Rounding is how digits are dropped; quantize and others may name one.
type Rounding uint8

// The roundings of the specification.
const (
	HalfEven Rounding = iota
	HalfUp
	HalfDown
	Up
	Down
	Ceiling
	Floor
	ZeroFiveUp
)

// Context is precision, range of adjusted exponents and rounding.
type Context struct {
	Prec       int // digits
	Emax, Emin int
	Clamp      bool // exponents leave room for Prec digits
	Rounding   Rounding
}

// DefaultContext is the context of programs (the fixed one of the PVM's library
// rules, which is Python's default).
func DefaultContext() Context {
	return Context{Prec: 28, Emax: 999999, Emin: -999999}
}

var (
	zero = new(big.Int)
	one  = big.NewInt(1)
	ten  = big.NewInt(10)
)

// FromBig is an integer, exactly.
func FromBig(i *big.Int) Decimal {
	return Decimal{neg: i.Sign() < 0, coef: new(big.Int).Abs(i)}
}

func (c Context) etiny() int { return c.Emin - c.Prec + 1 }
func (c Context) etop() int  { return c.Emax - c.Prec + 1 }

// IsNaN says whether d is a NaN of either kind.
func (d Decimal) IsNaN() bool { return d.kind >= quiet }

// IsInf says whether d is an infinity.
func (d Decimal) IsInf() bool { return d.kind == infinite }

// IsZero says whether d is a zero.
func (d Decimal) IsZero() bool { return d.kind == finite && d.coef.Sign() == 0 }

// Signbit says whether d has a minus sign, that of a zero or NaN too.
func (d Decimal) Signbit() bool { return d.neg }

// Adjusted is the exponent of the first digit.
func (d Decimal) Adjusted() int { return d.exp + digits(d.coef) - 1 }

func pow10(n int) *big.Int {
	return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil)
}

// digits is the number of decimal digits of i, one for zero.
func digits(i *big.Int) int {
	n := int(int64(i.BitLen()) * 30103 / 100000)
	if n == 0 {
		n = 1
	}
	for i.CmpAbs(pow10(n)) >= 0 {
		n++
	}
	return n
}

func invalid() (Decimal, Signal) { return Decimal{kind: quiet, coef: zero}, Invalid }

func infinity(neg bool) Decimal { return Decimal{kind: infinite, neg: neg, coef: zero} }

// nan is the result of an operation with a NaN among its operands.
func (c Context) nan(ds ...Decimal) (d Decimal, s Signal, is bool) {
	for _, want := range []kind{signaling, quiet} {
		for _, d := range ds {
			if d.kind != want {
				continue
			}
			if want == signaling {
				s = Invalid
			}
			d.kind = quiet
			if room := c.Prec - btoi(c.Clamp); digits(d.coef) > room {
				d.coef = new(big.Int).Rem(d.coef, pow10(room))
			}
			return d, s, true
		}
	}
	return Decimal{}, 0, false
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// round fits a finite number into the context.
func (c Context) round(d Decimal) (Decimal, Signal) {
	etiny, etop := c.etiny(), c.etop()
	if d.coef.Sign() == 0 {
		top := c.Emax
		if c.Clamp {
			top = etop
		}
		d.exp = max(min(d.exp, top), etiny)
		return d, 0
	}
	low := digits(d.coef) + d.exp - c.Prec
	if low > etop {
		return c.overflow(d.neg), Overflow
	}
	low = max(low, etiny)
	if d.exp < low {
		d = d.rescaled(low, c.Rounding)
		if digits(d.coef) > c.Prec {
			d.coef = new(big.Int).Quo(d.coef, ten)
			d.exp++
		}
		if d.exp > etop {
			return c.overflow(d.neg), Overflow
		}
		return d, 0
	}
	if c.Clamp && d.exp > etop {
		d = d.rescaled(etop, c.Rounding)
	}
	return d, 0
}

// overflow is an infinity, or the largest number where the rounding keeps on
// this side of it.
func (c Context) overflow(neg bool) Decimal {
	switch {
	case c.Rounding == Down || c.Rounding == ZeroFiveUp || c.Rounding == Ceiling && neg || c.Rounding == Floor && !neg:
		return Decimal{neg: neg, coef: new(big.Int).Sub(pow10(c.Prec), one), exp: c.etop()}
	}
	return infinity(neg)
}

// rescaled is d with another exponent: zeros are appended, or digits dropped as
// the rounding says.
func (d Decimal) rescaled(exp int, r Rounding) Decimal {
	gap := d.exp - exp
	d.exp = exp
	switch {
	case d.coef.Sign() == 0 || gap == 0:
		return d
	case gap > 0:
		d.coef = new(big.Int).Mul(d.coef, pow10(gap))
		return d
	}
	if n := digits(d.coef); -gap > n+1 {
		// Less than a hundredth of a unit, whatever it is.
		d.coef, gap = one, -2
	}
	unit := pow10(-gap)
	quo, rem := new(big.Int).QuoRem(d.coef, unit, new(big.Int))
	if roundsUp(r, d.neg, quo, rem, unit) {
		quo.Add(quo, one)
	}
	d.coef = quo
	return d
}

func roundsUp(r Rounding, neg bool, quo, rem, unit *big.Int) bool {
	if rem.Sign() == 0 {
		return false
	}
	half := new(big.Int).Lsh(rem, 1).Cmp(unit)
	switch r {
	case HalfEven:
		return half > 0 || half == 0 && quo.Bit(0) != 0
	case HalfUp:
		return half >= 0
	case HalfDown:
		return half > 0
	case Up:
		return true
	case Ceiling:
		return !neg
	case Floor:
		return neg
	case ZeroFiveUp:
		last := new(big.Int).Rem(quo, big.NewInt(5))
		return last.Sign() == 0
	}
	return false
}
