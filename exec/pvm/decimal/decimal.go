// Package decimal is the arithmetic behind Python's Decimal: the General Decimal
// Arithmetic specification over integers of any size, as CPython's decimal
// module computes it. Programs have one context (DefaultContext: precision 28,
// ties to even); every operation takes its context as a value all the same, so
// that the specification's own cases, written for many contexts, run against it.
//
// In flow Decimals and a Context, out flow a Decimal and a Signal: every
// condition that the operation met. Nothing is kept between operations: the
// caller gathers signals into its flags, and Context.Raised tells which of them
// Python raises for. A Decimal is immutable.
//
// Work is bounded by the digits of operands and the precision, never by an
// exponent: Cost tells it beforehand, for a caller who charges before it
// computes, and what an exponent alone would blow up (Int, Ratio, Format) takes a
// limit. Operands have the exponents of CPython on machines of 64 bits (MaxEmax),
// so that a sum of three is within 64 bits here on every machine.
// Results do not depend on the machine: no host floats, no state.
package decimal

import (
	"fmt"
	"math/big"
	"math/bits"
)

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
	exp  int64
}

// Signal is a set of conditions.
type Signal uint16

// Conditions of the specification, under Python's names. Invalid stands for all
// kinds of InvalidOperation, as in Python.
const (
	Invalid        Signal = 1 << iota // InvalidOperation
	DivisionByZero                    // DivisionByZero
	Overflow                          // Overflow
	Underflow                         // Underflow: subnormal and inexact
	Inexact                           // Inexact: digits other than zero were dropped
	Rounded                           // Rounded: digits were dropped
	Subnormal                         // Subnormal: the exponent is below Emin
	Clamped                           // Clamped: an exponent was altered to fit
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
	Emax, Emin int64
	Clamp      bool // exponents leave room for Prec digits
	Rounding   Rounding
	Traps      Signal // conditions that raise; no result depends on it
}

// DefaultContext is the context of programs (the fixed one of the PVM's library
// rules, which is Python's default).
func DefaultContext() Context {
	return Context{Prec: 28, Emax: 999999, Emin: -999999, Traps: Invalid | DivisionByZero | Overflow}
}

// Raised is the condition that Python raises for: the first of Traps in s, zero
// when there is none.
func (c Context) Raised(s Signal) Signal {
	s &= c.Traps
	return s & -s
}

// Check refuses contexts outside of what the operations are built for.
func (c Context) Check() error {
	switch {
	case c.Prec < 1 || c.Prec > maxPrec:
		return fmt.Errorf("decimal precision %d: not in 1 to %d", c.Prec, maxPrec)
	case c.Emax < 0 || c.Emax > maxContextExp || c.Emin > 0 || c.Emin < -maxContextExp:
		return fmt.Errorf("decimal exponents %d to %d: beyond %d", c.Emin, c.Emax, maxContextExp)
	case c.Rounding > ZeroFiveUp:
		return fmt.Errorf("decimal rounding %d: unknown", c.Rounding)
	}
	return nil
}

// Bounds of a context, so that sums of a few exponents fit in 32 bits.
const (
	maxPrec       = 1_000_000
	maxContextExp = 999_999_999

	// farExponent is out of range in every context, with any coefficient.
	farExponent = 1_040_000_000
)

var (
	zero = new(big.Int)
	one  = big.NewInt(1)
	ten  = big.NewInt(10)
)

// FromBig is an integer, exactly.
func FromBig(i *big.Int) Decimal {
	return Decimal{neg: i.Sign() < 0, coef: new(big.Int).Abs(i)}
}

// CreateDecimal is x fitted into the context, Python's create_decimal: a NaN whose
// payload has no room is Invalid.
func (c Context) CreateDecimal(x Decimal) (Decimal, Signal) {
	if x.IsNaN() && x.coef.Sign() != 0 && digits(x.coef) > c.Prec-btoi(c.Clamp) {
		return invalid()
	}
	return c.fix(x)
}

func (c Context) etiny() int64 { return c.Emin - int64(c.Prec) + 1 }
func (c Context) etop() int64  { return c.Emax - int64(c.Prec) + 1 }

// IsNaN says whether d is a NaN of either kind.
func (d Decimal) IsNaN() bool { return d.kind >= quiet }

// IsInf says whether d is an infinity.
func (d Decimal) IsInf() bool { return d.kind == infinite }

// IsZero says whether d is a zero.
func (d Decimal) IsZero() bool { return d.kind == finite && d.coef.Sign() == 0 }

// Signbit says whether d has a minus sign, that of a zero or NaN too.
func (d Decimal) Signbit() bool { return d.neg }

// Adjusted is the exponent of the first digit.
func (d Decimal) Adjusted() int64 { return d.exp + int64(digits(d.coef)) - 1 }

// smallPowers are the powers of ten that operations need whose price does not tell
// their digits: of up to 512 it is not much above that of one.
var smallPowers = func() (table [512]*big.Int) {
	p := big.NewInt(1)
	// Bounded: by the table; once, when the program starts.
	for i := range table {
		table[i] = p
		p = new(big.Int).Mul(p, ten)
	}
	return table
}()

// pow10 is 10^n, not to be altered. No caller has an n beyond the digits of its
// operands, its precision or its limit: an exponent alone never becomes one.
func pow10[N int | int64](n N) *big.Int {
	if n < N(len(smallPowers)) {
		return smallPowers[n]
	}
	return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil)
}

// digits is the number of decimal digits of i, one for zero.
func digits(i *big.Int) int {
	n := digitsFloor(i.BitLen())
	if n == 0 {
		n = 1
	}
	// Bounded: by two rounds: digitsFloor is one short at most.
	for i.CmpAbs(pow10(n)) >= 0 {
		n++
	}
	return n
}

// digitsFloor is a lower bound on the digits of an integer of so many bits, one
// short at most for any that fits in memory: bits·log10(2) in 64-bit fractions.
func digitsFloor(bitLen int) int {
	hi, _ := bits.Mul64(uint64(max(bitLen-1, 0)), 0x4d104d427de7fbcc)
	return int(hi)
}

func invalid() (Decimal, Signal) { return Decimal{kind: quiet, coef: zero}, Invalid }

func infinity(neg bool) Decimal { return Decimal{kind: infinite, neg: neg, coef: zero} }

// nan is the result of an operation with a NaN among its operands.
func (c Context) nan(ds ...Decimal) (d Decimal, s Signal, is bool) {
	// Bounded: by two kinds.
	for _, want := range []kind{signaling, quiet} {
		// Bounded: by three operands.
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
		exp := max(min(d.exp, top), etiny)
		if exp == d.exp {
			return d, 0
		}
		d.exp = exp
		return d, Clamped
	}
	low := int64(digits(d.coef)) + d.exp - int64(c.Prec)
	if low > etop {
		return c.overflow(d.neg), Overflow | Inexact | Rounded
	}
	var s Signal
	if low < etiny {
		low, s = etiny, Subnormal
	}
	if d.exp < low {
		return c.roundOff(d, low, s)
	}
	if c.Clamp && d.exp > etop {
		return d.rescaled(etop, c.Rounding), s | Clamped
	}
	return d, s
}

// roundOff rounds off the digits below low.
func (c Context) roundOff(d Decimal, low int64, s Signal) (Decimal, Signal) {
	d, inexact := d.rescale(low, c.Rounding)
	if digits(d.coef) > c.Prec {
		d.coef = new(big.Int).Quo(d.coef, ten)
		d.exp++
	}
	if inexact {
		s |= Inexact
		if s&Subnormal != 0 {
			s |= Underflow
		}
	}
	s |= Rounded
	if d.exp > c.etop() {
		return c.overflow(d.neg), s | Overflow
	}
	if d.coef.Sign() == 0 {
		s |= Clamped
	}
	return d, s
}

// overflow is an infinity, or the largest number where the rounding keeps on
// this side of it.
func (c Context) overflow(neg bool) Decimal {
	switch {
	case c.Rounding == Down || c.Rounding == ZeroFiveUp || c.Rounding == Ceiling && neg || c.Rounding == Floor && !neg:
		return c.largest(neg)
	}
	return infinity(neg)
}

// rescaled is d with another exponent: zeros are appended, or digits dropped as
// the rounding says.
func (d Decimal) rescaled(exp int64, r Rounding) Decimal {
	d, _ = d.rescale(exp, r)
	return d
}

// rescale is rescaled, and says whether that altered the value.
func (d Decimal) rescale(exp int64, r Rounding) (_ Decimal, inexact bool) {
	gap := d.exp - exp
	d.exp = exp
	switch {
	case d.coef.Sign() == 0 || gap == 0:
		return d, false
	case gap > 0:
		d.coef = new(big.Int).Mul(d.coef, pow10(gap))
		return d, false
	}
	if n := digits(d.coef); -gap > int64(n)+1 {
		// Less than a hundredth of a unit, whatever it is.
		d.coef, gap = one, -2
	}
	unit := pow10(-gap)
	quo, rem := new(big.Int).QuoRem(d.coef, unit, new(big.Int))
	if roundsUp(r, d.neg, quo, rem, unit) {
		quo.Add(quo, one)
	}
	d.coef = quo
	return d, rem.Sign() != 0
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
