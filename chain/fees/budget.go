//spec:implements whitepaper 6.3, 6.4, 6.5

package fees

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// Space is what a transaction needs of a block to start, or has used of it.
type Space struct {
	chain.Usage
	Bytes uint64 // of the encoded block; see TxBytes
}

// TxBytes is what a transaction takes of a block's bytes, whatever becomes of it.
func TxBytes(tx *chain.VerifiedTx) uint64 { return uint64(len(tx.Body)) + chain.BodyFrameBytes }

// Budget hands out the space of one block (resolutions 2.1-2.4, 11.14).
//
// Each lane has its share of the target for itself. What a lane leaves unused
// flows to the next one, System → Timer → Runner → User, never back, and the
// space between target and cap is the user lane's alone. So no crowd in one
// lane can take what another is guaranteed, and the shares never add up to more
// than the cap.
//
// Bytes have no target, since no base fee moves with them: the shares are those of
// all that the largest header leaves of a block (docs/adr/0069).
//
// Lanes are served in that order: once a lane has taken something, nothing fits
// an earlier one any more. The zero value has no space; use [NewBudget]. It is
// not safe for concurrent use.
type Budget struct {
	left [chain.NumLanes]Space // reserved shares not used so far
	lane chain.LaneID          // latest lane that took something
}

// NewBudget returns the space of an empty block.
func NewBudget(p *params.Params) *Budget {
	var b Budget
	for lane := range chain.NumLanes {
		b.left[lane] = Space{LaneTarget(p, lane), LaneBytes(p, lane)}
	}
	b.left[chain.LaneUser].Cycles += p.CyclesCap - p.CyclesTarget
	b.left[chain.LaneUser].Cells += p.CellsCap - p.CellsTarget
	return &b
}

// LaneBytes returns a lane's share of a block's bytes. What rounding leaves over is
// the user lane's.
func LaneBytes(p *params.Params, lane chain.LaneID) uint64 {
	room := p.MaxBlockBytes - chain.MaxHeaderBytes // [params.Params.Check] ensures that it is more
	if lane != chain.LaneUser {
		return room * p.LaneShareBasisPoints[lane] / params.BasisPoints
	}
	rest := room
	for other := range chain.LaneUser {
		rest -= LaneBytes(p, other)
	}
	return rest
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
func (b *Budget) Left(lane chain.LaneID) Space {
	if lane < b.lane || lane >= chain.NumLanes {
		return Space{}
	}
	var sum Space
	for _, s := range b.left[:lane+1] {
		sum.Cycles += s.Cycles
		sum.Cells += s.Cells
		sum.Bytes += s.Bytes
	}
	return sum
}

// Fits reports whether a transaction with these limits and bytes may start in the
// lane.
func (b *Budget) Fits(lane chain.LaneID, limits Space) bool {
	left := b.Left(lane)
	return lane >= b.lane && lane < chain.NumLanes &&
		limits.Cycles <= left.Cycles && limits.Cells <= left.Cells && limits.Bytes <= left.Bytes
}

// Take subtracts what a transaction of the lane has used. It needs an amount
// that [Budget.Fits]; what does not fit empties the lane.
func (b *Budget) Take(lane chain.LaneID, used Space) {
	if lane < b.lane || lane >= chain.NumLanes {
		return
	}
	b.lane = lane
	// What flowed down goes first; which part goes first makes no difference,
	// because no earlier lane can take any more.
	for i := range b.left[:lane+1] {
		s := &b.left[i]
		cycles, cells, bytes := min(s.Cycles, used.Cycles), min(s.Cells, used.Cells), min(s.Bytes, used.Bytes)
		s.Cycles, used.Cycles = s.Cycles-cycles, used.Cycles-cycles
		s.Cells, used.Cells = s.Cells-cells, used.Cells-cells
		s.Bytes, used.Bytes = s.Bytes-bytes, used.Bytes-bytes
	}
}
