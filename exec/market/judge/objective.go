package judge

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// faultOf holds data to the objective checks of the terms (resolution 12.44) and returns the
// gravest fault.
func (r *rules) faultOf(data []byte, steps *strictjson.Steps) (fault FaultKind, err error) {
	// Paid: by spend, or one comparison each for MaxObjectiveChecks.
	for _, check := range r.terms.ObjectiveChecks {
		switch c := check.(type) {
		case *chain.MinLengthObjective:
			if uint64(len(data)) < c.Bytes {
				fault = max(fault, TooShort)
			}
		case *chain.EntropyObjective:
			if err := steps.Spend(entropySteps(uint64(len(data)))); err != nil {
				return fault, err
			}
			if !varied(data, c.MinMillibits) {
				fault = max(fault, TooUniform)
			}
		}
	}
	return fault, nil
}

// entropySteps is what it takes to count so many bytes of data and to take 257 logarithms.
func entropySteps(bytes uint64) uint64 { return 512 + bytes/8 }

// varied reports whether data has an entropy of order 0 of at least so many thousandths of a
// bit in each byte: with E = n·L(n) − Σ c·L(c) over the counts c of its n bytes, whether
// 1000·E ≥ millibits·n·65,536.
func varied(data []byte, millibits uint64) bool {
	var counts [256]uint64
	// Paid: by entropySteps.
	for _, b := range data {
		counts[b]++
	}
	n := uint64(len(data))
	e := n * log2(n)
	// Bounded: 256.
	for _, c := range counts {
		e -= c * log2(c)
	}
	high, want := bits.Mul64(millibits, n<<16)
	return high == 0 && 1_000*e >= want
}

// log2 returns floor(65,536·log2 x) by sixteen squarings of the mantissa, each of which gives
// a bit behind the point; 0 for x = 0.
func log2(x uint64) uint64 {
	if x == 0 {
		return 0
	}
	const one = 62 // bits of the mantissa behind its point; it is 1 or more and below 2
	result := uint64(bits.Len64(x) - 1)
	m := x << (one - result)
	for range 16 {
		high, low := bits.Mul64(m, m)
		m = high<<(64-one) | low>>one
		result <<= 1
		if m>>(one+1) == 1 {
			m >>= 1
			result |= 1
		}
	}
	return result
}
