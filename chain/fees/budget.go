package fees

import (
	"github.com/cowboy-foundation/cowboy/chain"
)

// Budget hands out the space of one block (resolutions 2.1-2.4, 11.14).
//
// Each lane has its share of the target for itself. What a lane leaves unused
// flows to the next one, System → Timer → Runner → User, never back, and the
// space between target and cap is the user lane's alone. So no crowd in one
// lane can take what another is guaranteed, and the shares never add up to more
// than the cap.
//
// Lanes are served in that order: once a lane has taken something, nothing fits
// an earlier one any more. The zero value has no space; use [NewBudget]. It is
// not safe for concurrent use.
type Budget struct {
	left [chain.NumLanes]chain.Usage // reserved shares not used so far
	lane chain.LaneID                // latest lane that took something
}

// NewBudget returns the space of an empty block.
func NewBudget(p *chain.Params) *Budget {
	var b Budget
	for lane := range chain.NumLanes {
		b.left[lane] = LaneTarget(p, lane)
	}
	b.left[chain.LaneUser].Cycles += p.CyclesCap - p.CyclesTarget
	b.left[chain.LaneUser].Cells += p.CellsCap - p.CellsTarget
	return &b
}

// Reserve takes out of a lane's own share what is promised to work that runs
// after the transactions, whether it will use it or not: due timers (resolution
// 11.14). It needs an amount within what is left of the share, before the first
// [Budget.Take]; what exceeds it is not reserved.
func (b *Budget) Reserve(lane chain.LaneID, promised chain.Usage) {
	u := &b.left[lane]
	u.Cycles -= min(u.Cycles, promised.Cycles)
	u.Cells -= min(u.Cells, promised.Cells)
}

// Left returns what a transaction of the lane may still use: what is left of
// the lane's own share and of every earlier one.
func (b *Budget) Left(lane chain.LaneID) chain.Usage {
	if lane < b.lane || lane >= chain.NumLanes {
		return chain.Usage{}
	}
	var sum chain.Usage
	for _, u := range b.left[:lane+1] {
		sum.Cycles += u.Cycles
		sum.Cells += u.Cells
	}
	return sum
}

// Fits reports whether a transaction with these limits may start in the lane.
func (b *Budget) Fits(lane chain.LaneID, limits chain.Usage) bool {
	left := b.Left(lane)
	return lane >= b.lane && lane < chain.NumLanes && limits.Cycles <= left.Cycles && limits.Cells <= left.Cells
}

// Take subtracts what a transaction of the lane has used. It needs an amount
// that [Budget.Fits]; what does not fit empties the lane.
func (b *Budget) Take(lane chain.LaneID, used chain.Usage) {
	if lane < b.lane || lane >= chain.NumLanes {
		return
	}
	b.lane = lane
	// What flowed down goes first; which part goes first makes no difference,
	// because no earlier lane can take any more.
	for i := range b.left[:lane+1] {
		u := &b.left[i]
		cycles, cells := min(u.Cycles, used.Cycles), min(u.Cells, used.Cells)
		u.Cycles, used.Cycles = u.Cycles-cycles, used.Cycles-cycles
		u.Cells, used.Cells = u.Cells-cells, used.Cells-cells
	}
}
