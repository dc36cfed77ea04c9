package libm

import "math/big"

// Constants are computed once, in integers, to storedBits places: enough to
// reduce the largest argument of sin. More is computed anew where it is asked
// for.
const storedBits = 1600

var (
	one       = big.NewInt(1)
	piStored  = machin(storedBits)
	ln2Stored = computeLn2(storedBits)
	tenStored = computeLn10(storedBits)
)

func constant(stored *big.Int, w uint, compute func(uint) *big.Int) *big.Int {
	if w <= storedBits {
		return new(big.Int).Rsh(stored, storedBits-w)
	}
	return compute(w)
}

func pi(w uint) *big.Int   { return constant(piStored, w, machin) }
func ln2(w uint) *big.Int  { return constant(ln2Stored, w, computeLn2) }
func ln10(w uint) *big.Int { return constant(tenStored, w, computeLn10) }

// guard is the places that sums of long series carry and drop.
const guard = 32

// machin is π = 16·atan(1/5) - 4·atan(1/239), w places.
func machin(w uint) *big.Int {
	a := inverseSeries(5, w+guard, -1)
	a.Lsh(a, 4)
	b := inverseSeries(239, w+guard, -1)
	return a.Sub(a, b.Lsh(b, 2)).Rsh(a, guard)
}

// computeLn2 is ln 2 = 18·atanh(1/26) - 2·atanh(1/4801) + 8·atanh(1/8749).
func computeLn2(w uint) *big.Int {
	a := inverseSeries(26, w+guard, 1)
	a.Mul(a, big.NewInt(18))
	b := inverseSeries(4801, w+guard, 1)
	a.Sub(a, b.Lsh(b, 1))
	c := inverseSeries(8749, w+guard, 1)
	return a.Add(a, c.Lsh(c, 3)).Rsh(a, guard)
}

// computeLn10 is ln 10 = 3·ln 2 + 2·atanh(1/9).
func computeLn10(w uint) *big.Int {
	a := computeLn2(w + guard)
	a.Mul(a, big.NewInt(3))
	b := inverseSeries(9, w+guard, 1)
	return a.Add(a, b.Lsh(b, 1)).Rsh(a, guard)
}

// inverseSeries is 1/n + s/(3n³) + s²/(5n⁵) + …: atanh(1/n) for s = 1 and
// atan(1/n) for s = -1.
func inverseSeries(n int64, w uint, s int64) *big.Int {
	square := big.NewInt(n * n * s)
	power := new(big.Int).Lsh(one, w)
	power.Quo(power, big.NewInt(n))
	sum, term := new(big.Int).Set(power), new(big.Int)
	for k := int64(3); power.Sign() != 0; k += 2 {
		power.Quo(power, square)
		sum.Add(sum, term.Quo(power, big.NewInt(k)))
	}
	return sum
}
