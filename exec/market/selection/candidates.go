//spec:implements CIP-2 4
//spec:implements CIP-11 9.2

package selection

import (
	"bytes"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Bitmap says which places of a registry belong to candidates: place p is bit p mod 8 of
// byte p/8 (resolution 12.16). Runners that come later have no bit.
type Bitmap []byte

// Has reports whether a place is noted.
func (b Bitmap) Has(place uint32) bool {
	return int(place/8) < len(b) && b[place/8]>>(place%8)&1 == 1
}

// ByAddress returns the places of runners ascending by address.
func ByAddress(runners []Runner) []uint32 {
	order := make([]uint32, len(runners))
	// Bounded: by the registry, 65,536; an order is kept until the registry grows.
	for i := range order {
		order[i] = uint32(i)
	}
	// Bounded: by the registry.
	slices.SortFunc(order, func(a, b uint32) int {
		// Bounded: by 20 bytes.
		return bytes.Compare(runners[a].Address[:], runners[b].Address[:])
	})
	return order
}

// Weigh returns the candidates that a bitmap notes, ascending by address, each with its
// weight: computed after the sorting, and paired with its runner from then on (CIP-11 §9.2).
// order is what [ByAddress] returns for the runners, who may have become more since.
func (c *Config) Weigh(runners []Runner, order []uint32, eligible Bitmap) []chain.Candidate {
	out := make([]chain.Candidate, 0, len(order))
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for _, at := range order {
		if !eligible.Has(at) {
			continue
		}
		r := &runners[at]
		out = append(out, chain.Candidate{
			Runner: r.Address, EffectiveStake: r.Stake, ReputationX1e9: r.ReputationX1e9,
			BaseWeight: c.Weight(r.Stake, r.ReputationX1e9),
		})
	}
	return out
}
