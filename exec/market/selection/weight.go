//spec:implements CIP-2 5
//spec:implements CIP-11 9.3
//spec:implements restored 10

package selection

import (
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Version is one of the two rules by which runners are weighed and drawn.
type Version uint8

const (
	V2 Version = 2 // CIP-2 §5: weights grow with the logarithm of the stake
	V3 Version = 3 // CIP-11 §9: weights are stake times the root of reputation
)

// Config is what weights and reputation depend on besides a runner itself: the
// configuration at the end of S, whatever the parameters are when a committee is drawn
// (CIP-11 §9.2 ReputationConfig_at, resolution 12.17).
type Config struct {
	Version            Version
	StakeFloor         chain.Wei // MIN_STAKE of CIP-2 §5, at least 1
	MinReputation      uint64    // points, what a candidate needs
	HalfLifeBlocks     uint64    // of the distance to 50 points, at least 1
	Normalizer         uint64    // REPUTATION_NORMALIZER, points, at least 1
	WeightFloorE6      uint64    // w_min_floor in millionths
	AverageBasisPoints uint64    // share of a new score in the average of V3, at most 10,000
}

// Normalizer is REPUTATION_NORMALIZER of CIP-11 §9.3, in points.
const Normalizer = 100

// Weight returns the base weight of a runner with an effective stake and a reputation in
// billionths of a point (CIP-11 §9.3).
func (c *Config) Weight(stake chain.Wei, reputationX1e9 uint64) uint64 {
	if c.Version == V2 {
		return logWeight(stake, c.StakeFloor)
	}
	return rootWeight(stake, reputationX1e9, c.Normalizer, c.WeightFloorE6)
}

// logWeight returns floor(log2(stake/floor + 1)) + 1, from 1 to 65. With q =
// floor(stake/floor): a power of two is at most stake/floor + 1 if and only if it is at
// most q + 1, so the result is the bit length of q + 1.
func logWeight(stake, floor chain.Wei) uint64 {
	q := uint64(stake) / uint64(floor)
	if q == math.MaxUint64 { // q + 1 has 65 bits
		return 65
	}
	return uint64(bits.Len64(q + 1))
}

// rootWeight returns floor(stake · max(isqrt(floor(reputation·1000/normalizer)), floor) /
// 10⁶), v3_runner_weight of CIP-11 §9.3.
//
// It saturates at 2^64-1. With a reputation of at most 200 points and the normalizer of
// 100 the factor is at most 1,414,213, so that takes a stake of 13·10^18, thirteen times
// the supply of the genesis.
func rootWeight(stake chain.Wei, reputationX1e9, normalizer, floorE6 uint64) uint64 {
	hi, lo := bits.Mul64(reputationX1e9, 1_000) // below 2^74
	ratioHi, rest := hi/normalizer, hi%normalizer
	ratioLo, _ := bits.Div64(rest, lo, normalizer) // rest < normalizer
	factorE6 := max(isqrt(ratioHi, ratioLo), floorE6)

	hi, lo = bits.Mul64(uint64(stake), factorE6)
	if hi >= 1_000_000 { // the quotient has more than 64 bits
		return math.MaxUint64
	}
	w, _ := bits.Div64(hi, lo, 1_000_000)
	return w
}

// isqrt returns the largest r with r·r ≤ n, n = hi·2^64 + lo. It fits: n < 2^128.
func isqrt(hi, lo uint64) uint64 {
	if hi == 0 {
		return isqrt64(lo)
	}
	var r uint64
	// Bounded: by 64 bits.
	for bit := uint64(1 << 63); bit > 0; bit >>= 1 {
		h, l := bits.Mul64(r|bit, r|bit)
		if h < hi || h == hi && l <= lo {
			r |= bit
		}
	}
	return r
}

// isqrt64 is Newton's iteration from above, which falls until it is at the root.
func isqrt64(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	half := bits.Len64(n) / 2
	x := (uint64(1)<<half+n>>half)/2 + 1 // one round from 2^half: not below the root, nor 7 % and 1 above it
	// Bounded: each round squares what is above: five rounds for 64 bits.
	for {
		y := (x + n/x) / 2 // at most 2^33 before it is halved
		if y >= x {
			return x
		}
		x = y
	}
}
