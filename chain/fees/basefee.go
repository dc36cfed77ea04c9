package fees

import (
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// NextBase returns the base fee of one meter after a block that used so much of
// it (whitepaper §4.2 as resolution 2.6 reads it): the fee moves towards higher
// ones when used > target and towards lower ones when used < target, by
// base·|used-target|/target/alpha but never by more than base/alpha. A rise is
// at least 1, and the result is at least floor. It needs target and alpha above
// 0. A rise above 64 bits stops at the largest value.
func NextBase(base chain.Wei, used, target, alpha uint64, floor chain.Wei) chain.Wei {
	if used == target {
		return max(floor, base)
	}
	gap, up := used-target, true
	if used < target {
		gap, up = target-used, false
	}
	gap = min(gap, target)
	hi, lo := bits.Mul64(uint64(base), gap)
	q, _ := bits.Div64(hi, lo, target) // gap <= target, so the quotient is at most base
	step := q / alpha
	if !up {
		return max(floor, base-chain.Wei(step))
	}
	next, carry := bits.Add64(uint64(base), max(1, step), 0) // a fee below alpha must be able to rise
	if carry != 0 {
		next = math.MaxUint64
	}
	return max(floor, chain.Wei(next))
}

// LaneTarget returns a lane's share of the targets. It is what the lane is
// guaranteed in every block and where its base fees rest. What rounding leaves
// over is the user lane's.
func LaneTarget(p *chain.Params, lane chain.LaneID) chain.Usage {
	if lane != chain.LaneUser {
		return share(p, p.LaneShareBasisPoints[lane])
	}
	rest := chain.Usage{Cycles: p.CyclesTarget, Cells: p.CellsTarget}
	for other := range chain.LaneUser {
		s := share(p, p.LaneShareBasisPoints[other])
		rest.Cycles -= s.Cycles
		rest.Cells -= s.Cells
	}
	return rest
}

// share needs a target below 2^50, which [chain.Params.Check] ensures.
func share(p *chain.Params, basisPoints uint64) chain.Usage {
	return chain.Usage{
		Cycles: p.CyclesTarget * chain.Cycles(basisPoints) / chain.BasisPoints,
		Cells:  p.CellsTarget * chain.Cells(basisPoints) / chain.BasisPoints,
	}
}

// NextBaseFees returns the base fees of the child of h (resolution 11.26): each
// lane x meter moves on its own use of its own share of the target. In the
// one-fee form every lane moves on the use of all.
func NextBaseFees(p *chain.Params, h *chain.Header) [chain.NumLanes]chain.FeePair {
	var all chain.Usage
	for _, u := range h.Used {
		all.Cycles += u.Cycles
		all.Cells += u.Cells
	}
	var next [chain.NumLanes]chain.FeePair
	for lane := range chain.NumLanes {
		used, target := h.Used[lane], LaneTarget(p, lane)
		if !p.BaseFeePerLane {
			used, target = all, chain.Usage{Cycles: p.CyclesTarget, Cells: p.CellsTarget}
		}
		base := h.BaseFees[lane]
		next[lane] = chain.FeePair{
			PerCycle: NextBase(base.PerCycle, uint64(used.Cycles), uint64(target.Cycles), p.BaseFeeAlpha, p.MinBaseFee),
			PerCell:  NextBase(base.PerCell, uint64(used.Cells), uint64(target.Cells), p.BaseFeeAlpha, p.MinBaseFee),
		}
	}
	return next
}
