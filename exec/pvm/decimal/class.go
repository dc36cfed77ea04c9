package decimal

import "math/big"

// IsQNaN says whether d is a quiet NaN.
func (d Decimal) IsQNaN() bool { return d.kind == quiet }

// IsSNaN says whether d is a signaling NaN.
func (d Decimal) IsSNaN() bool { return d.kind == signaling }

// IsFinite says whether d is neither infinity nor NaN.
func (d Decimal) IsFinite() bool { return d.kind == finite }

// IsCanonical is always true: a Decimal has one encoding.
func (d Decimal) IsCanonical() bool { return true }

// Canonical is d itself.
func (d Decimal) Canonical() Decimal { return d }

// IsNormal says whether d is finite, not zero and not subnormal in c.
func (c Context) IsNormal(d Decimal) bool {
	return d.kind == finite && d.coef.Sign() != 0 && d.Adjusted() >= c.Emin
}

// IsSubnormal says whether d is finite, not zero and below the normal range.
func (c Context) IsSubnormal(d Decimal) bool {
	return d.kind == finite && d.coef.Sign() != 0 && d.Adjusted() < c.Emin
}

// IsInteger says whether d is finite and a whole number.
func (d Decimal) IsInteger() bool {
	if d.kind != finite {
		return false
	}
	if d.exp >= 0 || d.coef.Sign() == 0 {
		return true
	}
	if -d.exp >= int64(digits(d.coef)) {
		return false
	}
	return new(big.Int).Rem(d.coef, pow10(-d.exp)).Sign() == 0
}

// isEven says whether the integer d is even.
func (d Decimal) isEven() bool {
	switch {
	case d.exp > 0 || d.coef.Sign() == 0:
		return true
	case -d.exp >= int64(digits(d.coef)):
		return false
	}
	return new(big.Int).Quo(d.coef, pow10(-d.exp)).Bit(0) == 0
}

// Class is Python's number_class.
func (c Context) Class(d Decimal) string {
	name := ""
	switch {
	case d.kind == quiet:
		return "NaN"
	case d.kind == signaling:
		return "sNaN"
	case d.kind == infinite:
		name = "Infinity"
	case d.coef.Sign() == 0:
		name = "Zero"
	case c.IsSubnormal(d):
		name = "Subnormal"
	default:
		name = "Normal"
	}
	if d.neg {
		return "-" + name
	}
	return "+" + name
}

// CopyAbs is d with a plus sign; nothing is rounded.
func (d Decimal) CopyAbs() Decimal {
	d.neg = false
	return d
}

// CopyNegate is d with the other sign.
func (d Decimal) CopyNegate() Decimal {
	d.neg = !d.neg
	return d
}

// CopySign is d with the sign of s.
func (d Decimal) CopySign(s Decimal) Decimal {
	d.neg = s.neg
	return d
}

// SameQuantum says whether two numbers have the same exponent; infinities are
// the same among themselves, and so are NaNs.
func SameQuantum(x, y Decimal) bool {
	if x.kind != finite || y.kind != finite {
		return x.IsInf() && y.IsInf() || x.IsNaN() && y.IsNaN()
	}
	return x.exp == y.exp
}

// Radix is ten.
func Radix() Decimal { return ofInt(10) }
