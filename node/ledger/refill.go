package ledger

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/lanes"
)

const (
	// refillsMost bounds how often a block is packed again: each time knows what the
	// transactions of the one before used, so a second mostly finds nothing.
	refillsMost = 4
	// refillPart: room for a part in so many of the block's target is worth it.
	refillPart = 8
)

// refill packs again into the room that limits reserved and nobody used, while there is
// time: what was executed counts with what it used, and what stood out for want of room
// comes in. All is arranged and executed anew, as the order of a block follows from all
// of its transactions (resolution 11.41). The fullest of the blocks is kept.
func (p *proposal) refill(packed *lanes.Packed, s exec.Sifted) (exec.Sifted, error) {
	used := map[chain.Hash]chain.Usage{}
	for range refillsMost {
		if !packed.Cut || s.Cut || !p.watch.again() || !p.spacious(packed, &s, used) {
			break
		}
		next, err := p.pack(used)
		if err != nil {
			return s, err
		}
		more, err := p.shed(selectionOf(&next))
		if err != nil {
			return s, err
		}
		if !fuller(&more, &s) {
			break
		}
		p.l.Stats.Refilled.Add(1)
		packed, s = &next, more
	}
	return s, nil
}

// spacious notes what the transactions used, and reports whether that leaves much of
// what they were counted with.
func (p *proposal) spacious(packed *lanes.Packed, s *exec.Sifted, used map[chain.Hash]chain.Usage) bool {
	var all chain.Usage
	for i, tx := range s.Kept {
		u := chain.Usage{Cycles: s.Receipts[i].CyclesUsed, Cells: s.Receipts[i].CellsUsed}
		used[tx.Hash] = u
		all.Cycles += u.Cycles
		all.Cells += u.Cells
	}
	params := p.parent.Force.Params
	return packed.Counted.Cycles > all.Cycles+params.CyclesTarget/refillPart || packed.Counted.Cells > all.Cells+params.CellsTarget/refillPart
}

// fuller reports whether a block pays its proposer more, or has more transactions for
// the same.
func fuller(a, b *exec.Sifted) bool {
	if a.Tips != b.Tips {
		return a.Tips > b.Tips
	}
	return len(a.Kept) > len(b.Kept)
}
