package ledger

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
)

const (
	// refillsMost bounds how often a block is packed again: each time knows what the
	// transactions of the one before used, so a second mostly finds nothing.
	refillsMost = 4
	// refillPart: room for a part in so many of a lane's target is worth it.
	refillPart = 8
)

// refill packs again into the room that limits reserved and nobody used, while there is
// time: what was executed counts with what it used, and what stood out for want of room
// comes in. All is arranged and executed anew, as the order of a block follows from all
// of its transactions (resolution 11.41). The fullest of the blocks is kept.
func (p *proposal) refill(sel *order.Selection, s exec.Built) (exec.Built, error) {
	for range refillsMost {
		if s.Cut || !p.watch.again() || !p.spacious(sel, &s) {
			break
		}
		next, err := p.pack()
		if err != nil {
			return s, err
		}
		more, err := p.build(&next)
		if err != nil {
			return s, err
		}
		if !fuller(&more, &s) {
			break
		}
		p.l.Stats.Refilled.Add(1)
		sel, s = &next, more
	}
	return s, nil
}

// recordUsage remembers what the transactions used, and returns the sum of each lane.
func (p *proposal) recordUsage(s *exec.Built) (all [chain.NumLanes]chain.Usage) {
	if p.used == nil {
		p.used = make(map[chain.Hash]chain.Usage, len(s.Kept))
	}
	for i, tx := range s.Kept {
		u := chain.Usage{Cycles: s.Receipts[i].CyclesUsed, Cells: s.Receipts[i].CellsUsed}
		if _, known := p.used[tx.Hash]; !known {
			p.ran = append(p.ran, tx)
		}
		p.used[tx.Hash] = u
		all[tx.Lane].Cycles += u.Cycles
		all[tx.Lane].Cells += u.Cells
	}
	return all
}

// spacious notes what the transactions used, and reports whether that leaves much of what
// they were counted with to a lane of which something stood out for want of room.
func (p *proposal) spacious(sel *order.Selection, s *exec.Built) bool {
	return leavesRoom(sel, p.recordUsage(s), p.parent.Force.Params)
}

// leavesRoom reports whether a lane that was cut has much room which nobody used: its own,
// and what flows to it from the lanes before it (resolution 2.2). What is much follows from
// the lane's own target: a part of the whole block's is more than half of the runner lane,
// which who fills it with what does not run could then take from all other runners.
func leavesRoom(sel *order.Selection, used [chain.NumLanes]chain.Usage, params *params.Params) bool {
	var counted, all chain.Usage
	for lane := range chain.NumLanes {
		counted.Cycles, counted.Cells = counted.Cycles+sel.Counted[lane].Cycles, counted.Cells+sel.Counted[lane].Cells
		all.Cycles, all.Cells = all.Cycles+used[lane].Cycles, all.Cells+used[lane].Cells
		target := fees.LaneTarget(params, lane)
		if lane == chain.LaneUser { // all that others leave is its
			target = chain.Usage{Cycles: params.CyclesTarget, Cells: params.CellsTarget}
		}
		if sel.Cut[lane] && (counted.Cycles > all.Cycles+target.Cycles/refillPart || counted.Cells > all.Cells+target.Cells/refillPart) {
			return true
		}
	}
	return false
}

// overusedPart: transactions whose limits are no larger than a part in so many of the
// block's target find room wherever a block is not fuller than was expected.
const overusedPart = 8

// overused reports whether a selection used so much more than was expected that a part of
// it found no room.
func (p *proposal) overused(sel *order.Selection, s *exec.Built) bool {
	params, out := p.parent.Force.Params, chain.Usage{}
	for _, invalid := range s.Skipped {
		limits := chain.Usage{Cycles: sel.Txs[invalid.Index].Tx.CyclesLimit, Cells: sel.Txs[invalid.Index].Tx.CellsLimit}
		large := limits.Cycles > params.CyclesTarget/overusedPart || limits.Cells > params.CellsTarget/overusedPart
		if !large && !sel.IsOvercommitted(invalid.Index) && errors.Is(invalid.Err, exec.ErrLaneFull) {
			out.Cycles += limits.Cycles
			out.Cells += limits.Cells
		}
	}
	return out.Cycles > params.CyclesTarget/overusedPart || out.Cells > params.CellsTarget/overusedPart
}

// doubtful packs again without what was learned of handlers, if the execution of a
// selection shows that this is far from the truth: they were made to look as if they
// used little, and who pays more stands out for them. It reports whether it did; all is
// the new selection then.
func (p *proposal) doubtful(all, sel *order.Selection, s *exec.Built) (bool, error) {
	if p.doubt || s.Cut || !p.watch.again() || !p.overused(sel, s) {
		return false, nil
	}
	p.recordUsage(s)
	p.doubt, p.anew = true, true
	p.l.Stats.PackedAnew.Add(1)
	next, err := p.pack()
	p.anew = false
	if err == nil {
		*all = next
	}
	return true, err
}

// fuller reports whether a block pays its proposer more, or has more transactions for
// the same.
func fuller(a, b *exec.Built) bool {
	if a.Tips != b.Tips {
		return a.Tips > b.Tips
	}
	return len(a.Kept) > len(b.Kept)
}
