package timers

import (
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// MostLimits returns the largest limits of a firing: half of the timer lane's
// share. Bids may take the other half ([chain.TimerParams]), so the first in the
// order always fits, which the bound on starvation rests on.
func MostLimits(p *params.Params) chain.Usage {
	lane := fees.LaneTarget(p, chain.LaneTimer)
	return chain.Usage{Cycles: min(lane.Cycles/2, p.Actor.BlockCyclesBurst), Cells: lane.Cells / 2}
}

// Limits returns the limits of a firing where 0 stands for the default, or for
// the most where a small lane has no room for that.
func Limits(p *params.Params, limits chain.Usage) chain.Usage {
	most := MostLimits(p)
	if limits.Cycles == 0 {
		limits.Cycles = min(p.Timer.DefaultCycles, most.Cycles)
	}
	if limits.Cells == 0 {
		limits.Cells = min(p.Timer.DefaultCells, most.Cells)
	}
	limits.Cells = max(limits.Cells, p.API.FiringCells) // its receipt
	return limits
}

// DefaultBid is the network's: whatever the base fees are, and a part of them as
// the tip.
func DefaultBid(c *Clock, limits chain.Usage) Bid {
	tip := func(base chain.Wei) chain.Wei {
		hi, lo := bits.Mul64(uint64(base), c.limits().DefaultTipBasisPoints)
		q, _ := bits.Div64(min(hi, params.BasisPoints-1), lo, params.BasisPoints)
		return chain.Wei(q)
	}
	return Bid{
		MaxFee: chain.FeePair{PerCycle: math.MaxUint64, PerCell: math.MaxUint64},
		Tip:    chain.FeePair{PerCycle: tip(c.Base.PerCycle), PerCell: tip(c.Base.PerCell)},
		Limits: limits, At: c.Height,
	}
}

// NoBid is that of an agent which failed: no tip (CIP-1).
func NoBid(c *Clock, limits chain.Usage) Bid {
	b := DefaultBid(c, limits)
	b.Tip = chain.FeePair{}
	return b
}

// Offer returns what a timer bids: by its agent, else the network's formula. Limits
// are at most those that a timer could be set with now, or one from before the lane
// became smaller would wait for ever. Tips are at most as much as they count for in the
// order ([Rank]): the timer's actor pays what its agent says, whoever that belongs to.
func Offer(c *Clock, t *Timer) Bid {
	b := DefaultBid(c, t.Limits)
	if t.Bid != nil {
		b = *t.Bid
	}
	b.Tip = c.capped(b.Tip)
	most := MostLimits(c.Params)
	b.Limits.Cycles, b.Limits.Cells = min(b.Limits.Cycles, most.Cycles), min(b.Limits.Cells, most.Cells)
	return b
}

// capped returns tips of at most timer.starvation_multiple times the base fees.
func (c *Clock) capped(tip chain.FeePair) chain.FeePair {
	times := c.limits().StarvationMultiple
	return chain.FeePair{
		PerCycle: min(tip.PerCycle, saturate(uint64(max(c.Base.PerCycle, 1)), times)),
		PerCell:  min(tip.PerCell, saturate(uint64(max(c.Base.PerCell, 1)), times)),
	}
}

func (q *queue) offer(t *Timer) Bid { return Offer(&q.Clock, t).within(q.Base) }

// floor is S of the ranks, in base units per cycle.
func (q *queue) floor() chain.Wei {
	return saturate(uint64(max(q.Base.PerCycle, 1)), q.limits().StarvationMultiple)
}

// within returns the bid with the tips that its caps leave room for.
func (b Bid) within(base chain.FeePair) Bid {
	b.Tip = fees.Bid{Most: b.MaxFee, Tip: b.Tip}.EffectiveTip(base)
	return b
}

// Price returns what the proposer and the burn get per unit of a firing, and
// whether the bid's caps allow it.
func (b Bid) Price(base chain.FeePair) (tip chain.FeePair, ok bool) {
	return b.within(base).Tip, b.MaxFee.Covers(base)
}

// tipPerCycle spreads both tips of a firing over its cycles, for whatever use within its limits
// that comes to the least: all cycles of the limits and no more cells than each firing is paid
// for, where its limits are above those. Tips are paid by use, so that neither cells nor cycles
// which a bid asks for and its firing leaves buy precedence.
func (b Bid) tipPerCycle(least chain.Usage) chain.Wei {
	spread := func(u chain.Usage) chain.Wei {
		total, _ := Cost(u, b.Tip)
		return total / chain.Wei(max(u.Cycles, 1))
	}
	thin := chain.Usage{Cycles: b.Limits.Cycles, Cells: min(b.Limits.Cells, least.Cells)}
	return min(spread(b.Limits), spread(least), spread(thin))
}

// leastUse is what each firing is paid for at the least.
func (c *Clock) leastUse() chain.Usage {
	return chain.Usage{Cycles: c.Params.API.FiringCycles, Cells: c.Params.API.FiringCells}
}

// NeedsBid reports whether the timer's agent is to be asked: never asked since
// it is due, or timer.rebid_deferrals blocks ago (resolution 11.23).
func NeedsBid(c *Clock, t *Timer) bool {
	return t.Bidder != nil && (t.Bid == nil || uint64(c.Height-t.Bid.At) >= c.limits().RebidDeferrals)
}

// Cost returns usage at a price; false where it does not fit 64 bits, with the
// largest value.
func Cost(u chain.Usage, price chain.FeePair) (chain.Wei, bool) {
	cycles, cells := saturate(uint64(u.Cycles), uint64(price.PerCycle)), saturate(uint64(u.Cells), uint64(price.PerCell))
	sum, carry := bits.Add64(uint64(cycles), uint64(cells), 0)
	if carry != 0 || cycles == math.MaxUint64 || cells == math.MaxUint64 {
		return math.MaxUint64, false
	}
	return chain.Wei(sum), true
}

func saturate(a, b uint64) chain.Wei {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return chain.Wei(lo)
}

// escrow is what setting a timer puts aside for its firing: limits, the first use of the
// receiver's code, and the limits of a bid if it has an agent, at timer.escrow_multiple
// times the base fees of the timer lane (resolution 11.25). Whatever a firing needs beyond
// it comes from the actor's balance, and the rest goes back.
func (q *queue) escrow(s *Spec) chain.Wei {
	u := s.Limits
	u.Cycles += s.Load
	if s.Bidder != nil {
		u.Cycles += q.limits().BidCycles
		u.Cells += q.limits().BidCells
	}
	once, _ := Cost(u, q.Base)
	return saturate(uint64(once), q.limits().EscrowMultiple)
}
