//spec:implements whitepaper 4.1-4.3

package fees

import (
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// Rule is how a fee follows its use.
type Rule struct {
	Alpha            uint64    // twice the target asks for a step of 1/Alpha; above 0
	DeltaBasisPoints uint64    // the largest step, 1 to all of the fee (resolution 14.3)
	Floor            chain.Wei // the least fee
}

// NextFee returns the base fee of one meter after a block that used so much of it
// (whitepaper §4.2 as resolutions 2.6 and 14.3 read it): the fee moves towards higher
// ones when used > target and towards lower ones when used < target, by
// base·|used-target|/target/alpha but never by more than delta. A rise is at least 1,
// and the result is at least the floor. It needs a target above 0. A rise above 64
// bits stops at the largest value.
func (r Rule) NextFee(base chain.Wei, used, target uint64) chain.Wei {
	floor := r.Floor
	if used == target {
		return max(floor, base)
	}
	gap, up := used-target, true
	if used < target {
		gap, up = target-used, false
	}
	hi, lo := bits.Mul64(uint64(base), r.DeltaBasisPoints)
	step, _ := bits.Div64(hi, lo, params.BasisPoints) // delta is no more than the whole: at most base
	hi, lo = bits.Mul64(uint64(base), gap)
	hi, lo = quotient(hi, lo, target)
	if hi, lo = quotient(hi, lo, r.Alpha); hi == 0 {
		step = min(step, lo)
	}
	if !up {
		return max(floor, base-chain.Wei(step))
	}
	next, carry := bits.Add64(uint64(base), max(1, step), 0) // a fee below alpha must be able to rise
	if carry != 0 {
		next = math.MaxUint64
	}
	return max(floor, chain.Wei(next))
}

// quotient divides 128 bits.
func quotient(hi, lo, by uint64) (qhi, qlo uint64) {
	qlo, _ = bits.Div64(hi%by, lo, by)
	return hi / by, qlo
}

// LaneTarget returns a lane's share of the targets. It is what the lane is
// guaranteed in every block and where its base fees rest. What rounding leaves
// over is the user lane's.
func LaneTarget(p *params.Params, lane chain.LaneID) chain.Usage {
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

// share needs a target below 2^50, which [params.Params.Check] ensures.
func share(p *params.Params, basisPoints uint64) chain.Usage {
	return chain.Usage{
		Cycles: p.CyclesTarget * chain.Cycles(basisPoints) / params.BasisPoints,
		Cells:  p.CellsTarget * chain.Cells(basisPoints) / params.BasisPoints,
	}
}

// TimerRestEighths is where the base fees of the timer lane rest, in eighths of its share of
// the target. Due timers are chosen within the share (resolution 11.14), so the lane never
// uses more. With a fee that rests at the whole of it, a lane that is kept full for ever would
// never get dearer; with one that rests above half, timers with limits of half of the lane keep
// others out with less (ADR 241).
const TimerRestEighths = 3

// TimerMost is the most that one firing may be counted with: what the rest leaves of the timer
// lane's share. So a lane that has no room for a firing is used above its rest.
func TimerMost(p *params.Params) chain.Usage {
	lane, rest := LaneTarget(p, chain.LaneTimer), timerRest(p)
	return chain.Usage{Cycles: lane.Cycles - min(rest.Cycles, lane.Cycles), Cells: lane.Cells - min(rest.Cells, lane.Cells)}
}

// timerRest returns what use of the timer lane leaves its base fees as they are.
func timerRest(p *params.Params) chain.Usage {
	rest := LaneTarget(p, chain.LaneTimer)
	return chain.Usage{Cycles: max(1, rest.Cycles*TimerRestEighths/8), Cells: max(1, rest.Cells*TimerRestEighths/8)}
}

// timerUse returns the use on which both base fees of the timer lane move: of each meter as
// much of its rest as of the fuller one. One full meter keeps every other timer out, and whoever
// fills them by turns would otherwise let both fees fall.
func timerUse(used, rest chain.Usage) chain.Usage {
	return chain.Usage{
		Cycles: max(used.Cycles, chain.Cycles(scale(uint64(used.Cells), uint64(rest.Cycles), uint64(rest.Cells)))),
		Cells:  max(used.Cells, chain.Cells(scale(uint64(used.Cycles), uint64(rest.Cells), uint64(rest.Cycles)))),
	}
}

// scale is n·by/of, the largest value where it does not fit.
func scale(n, by, of uint64) uint64 {
	hi, lo := bits.Mul64(n, by)
	hi, lo = quotient(hi, lo, of)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// NextBaseFees returns the base fees of the child of h (resolution 11.26): each
// lane x meter moves on its own use of its own share of the target; those of the timers on
// the fuller of their meters and [TimerRestEighths] of the share (ADR 241). In the one-fee form
// every lane moves on the use of all.
func NextBaseFees(p *params.Params, h *chain.Header) [chain.NumLanes]chain.FeePair {
	var all chain.Usage
	for _, u := range h.Used {
		all.Cycles += u.Cycles
		all.Cells += u.Cells
	}
	rule := Rule{p.BaseFeeAlpha, p.BaseFeeDeltaBasisPoints, p.MinBaseFee}
	var next [chain.NumLanes]chain.FeePair
	for lane := range chain.NumLanes {
		used, target := h.Used[lane], LaneTarget(p, lane)
		switch {
		case !p.BaseFeePerLane:
			used, target = all, chain.Usage{Cycles: p.CyclesTarget, Cells: p.CellsTarget}
		case lane == chain.LaneTimer:
			target = timerRest(p)
			used = timerUse(used, target)
		}
		base := h.BaseFees[lane]
		next[lane] = chain.FeePair{
			PerCycle: rule.NextFee(base.PerCycle, uint64(used.Cycles), uint64(target.Cycles)),
			PerCell:  rule.NextFee(base.PerCell, uint64(used.Cells), uint64(target.Cells)),
		}
	}
	return next
}
