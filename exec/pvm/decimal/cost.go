package decimal

import "math/bits"

// Work groups operations by how it grows.
type Work uint8

// The kinds of work.
const (
	Linear         Work = iota // sums, comparison, rounding, text of few digits
	Product                    // Mul, FMA
	Quotient                   // Quo, QuoInt, Rem, RemNear, Sqrt, Quantize, text, Parse, logical operations
	Transcendental             // Exp, Ln, Log10, Pow, and PowMod
)

// limbDigits is how many digits a 64-bit word holds.
const limbDigits = 19

// Factors of [Context.Cost].
const (
	ownWork        = 16 // of its own
	linearFactor   = 2  // per word of operands and result
	roundingShare  = 8  // of the products of two words, where sums and products are rounded
	quotientFactor = 2  // per product of two such words
	seriesFactor   = 2  // per product of three
	modFactor      = 4  // per product of two, for a round of PowMod
)

// Factor is a named factor of [Context.Cost].
type Factor struct {
	Name  string
	Value uint64
}

// Factors returns what the table of costs says of [Context.Cost], in its fixed
// order.
func Factors() []Factor {
	return []Factor{
		{"operation", ownWork},
		{"linear", linearFactor},
		{"rounding-share", roundingShare},
		{"quotient", quotientFactor},
		{"series", seriesFactor},
		{"power-mod", modFactor},
		{"word-digits", limbDigits},
	}
}

// MostCost is what [Context.Cost] says at most: more than any machine has cycles.
const MostCost = 1 << 62

// Cost is an upper estimate of the work of an operation, in multiplications of
// 64-bit words: for a caller who charges before it computes. It looks at lengths
// alone, so it takes no time and is the same everywhere. Operands of a million words
// have products of three lengths beyond 64 bits: what is above [MostCost] is MostCost.
func (c Context) Cost(w Work, ds ...Decimal) uint64 {
	sum, product := uint64(0), uint64(1)
	// Bounded: by the three operands that callers give.
	for _, d := range ds {
		n := uint64(d.Digits())/limbDigits + 1
		sum += n
		product = times(product, n)
	}
	prec := uint64(c.Prec)/limbDigits + 1
	switch all := sum + prec + 1; w {
	case Linear:
		return plus(ownWork+linearFactor*all, times(all, all)/roundingShare)
	case Product:
		// The product is rounded to the precision as a sum is, and has the digits of both.
		return plus(plus(ownWork+linearFactor*all, product), times(2, sum, sum)/roundingShare)
	case Quotient:
		return plus(2*ownWork, times(quotientFactor, all, all))
	default:
		// Series of terms as many as there are digits, a few times over until the
		// rounding is certain; logarithms near one double the digits.
		wide := 2 * all
		cost := times(seriesFactor, wide, wide, wide)
		if len(ds) == 3 && ds[1].exp > 0 {
			cost = plus(cost, times(uint64(min(ds[1].exp, int64(maxPrec))), modFactor, all, all)) // PowMod, a round per zero
		}
		return cost
	}
}

// times is the product of factors, or MostCost for more.
func times(factors ...uint64) uint64 {
	p := uint64(1)
	// Bounded: by the four factors that callers give.
	for _, f := range factors {
		hi, lo := bits.Mul64(p, f)
		if hi != 0 || lo > MostCost {
			return MostCost
		}
		p = lo
	}
	return p
}

// plus is the sum of two costs, or MostCost for more.
func plus(a, b uint64) uint64 { return min(a+b, MostCost) } // both are at most 2^62

// Digits is the length of the coefficient, or one more.
func (d Decimal) Digits() int { return digitsFloor(d.coef.BitLen()) + 1 }
