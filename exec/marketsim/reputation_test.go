package marketsim

import "math/big"

// points is one point of reputation in the unit in which it is kept: a billionth.
var (
	point  = big.NewInt(1_000_000_000)
	centre = big.NewInt(50_000_000_000) // resolution 11.4
	two64  = new(big.Int).Lsh(big.NewInt(1), 64)
)

// halves are floor(2^64 · 2^-(2^-k)) for k = 1 to 32, by square roots with 512 bits to spare.
var halves = func() (list [32]*big.Int) {
	root := new(big.Int).Lsh(big.NewInt(1), 511) // one half, times 2^512
	for k := range list {
		root = new(big.Int).Sqrt(new(big.Int).Lsh(root, 512))
		list[k] = new(big.Int).Rsh(root, 448)
	}
	return list
}()

// standing is a reputation as it was at a height.
type standing struct {
	value *big.Int
	at    uint64
}

// now is the reputation at a height: its distance to 50 points halves in every half-life
// (resolution 11.4), by 32 binary places of the exponent, each product floored.
func (s standing) now(h, halfLife uint64) *big.Int {
	if h <= s.at {
		return s.value
	}
	blocks := h - s.at
	halvings := blocks / halfLife
	if halvings >= 64 {
		return centre
	}
	places := over(new(big.Int).Lsh(wei(blocks%halfLife), 32), wei(halfLife)).Uint64()
	factor := new(big.Int).Set(two64)
	for k := range halves {
		if places>>(31-k)&1 == 1 {
			factor = new(big.Int).Rsh(times(factor, halves[k]), 64)
		}
	}
	factor.Rsh(factor, uint(halvings))
	distance := new(big.Int).Abs(minus(s.value, centre))
	distance = new(big.Int).Rsh(times(distance, factor), 64)
	if s.value.Cmp(centre) >= 0 {
		return plus(centre, distance)
	}
	return minus(centre, distance)
}

// rounded is a reputation in points, halves up.
func rounded(value *big.Int) uint64 {
	return over(plus(value, wei(uint64(500_000_000))), point).Uint64()
}
