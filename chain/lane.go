package chain

// LaneID names one of the four reserved shares of block space (whitepaper §6.3).
type LaneID uint8

// Lanes in descending priority. The order is consensus-critical: unused
// capacity cascades from a lane to the one declared after it, and lane
// segments stand in a block in this order (resolutions 2.2, 2.3, 7.5).
const (
	LaneSystem LaneID = iota
	LaneTimer
	LaneRunner
	LaneUser
	NumLanes
)

// String returns the lane's name as RPC and metrics spell it.
func (l LaneID) String() string {
	switch l {
	case LaneSystem:
		return "system"
	case LaneTimer:
		return "timer"
	case LaneRunner:
		return "runner"
	case LaneUser:
		return "user"
	default:
		return "unknown"
	}
}

// FeePair is a price, or a pair of prices, per cycle and per cell.
type FeePair struct {
	PerCycle Wei `json:"per_cycle"`
	PerCell  Wei `json:"per_cell"`
}

// Plus is the pair with another added, which fits.
func (p FeePair) Plus(q FeePair) FeePair {
	return FeePair{PerCycle: p.PerCycle + q.PerCycle, PerCell: p.PerCell + q.PerCell}
}

// Covers reports whether p is at least q on both meters: fee caps that cover the base
// fees may stand in a block (resolution 2.13).
func (p FeePair) Covers(q FeePair) bool {
	return p.PerCycle >= q.PerCycle && p.PerCell >= q.PerCell
}

// Usage is an amount of both meters.
type Usage struct {
	Cycles Cycles
	Cells  Cells
}
