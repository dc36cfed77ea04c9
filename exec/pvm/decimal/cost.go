package decimal

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

// Cost is an upper estimate of the work of an operation, in multiplications of
// 64-bit words: for a caller who charges before it computes. It looks at lengths
// alone, so it takes no time and is the same everywhere.
func (c Context) Cost(w Work, ds ...Decimal) uint64 {
	sum, product := uint64(0), uint64(1)
	// Bounded: by the three operands that callers give.
	for _, d := range ds {
		n := uint64(d.Digits())/limbDigits + 1
		sum += n
		product *= n
	}
	prec := uint64(c.Prec)/limbDigits + 1
	switch all := sum + prec + 1; w {
	case Linear:
		return ownWork + linearFactor*all + all*all/roundingShare
	case Product:
		// The product is rounded to the precision as a sum is, and has the digits of both.
		return ownWork + product + linearFactor*all + 2*sum*sum/roundingShare
	case Quotient:
		return 2*ownWork + quotientFactor*all*all
	default:
		// Series of terms as many as there are digits, a few times over until the
		// rounding is certain; logarithms near one double the digits.
		wide := 2 * all
		cost := seriesFactor * wide * wide * wide
		if len(ds) == 3 && ds[1].exp > 0 {
			cost += uint64(min(ds[1].exp, int64(maxPrec))) * modFactor * all * all // PowMod, a round per zero
		}
		return cost
	}
}

// Digits is the length of the coefficient, or one more.
func (d Decimal) Digits() int { return digitsFloor(d.coef.BitLen()) + 1 }
