package lanes

import (
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
)

// pricing turns fees into levels.
type pricing struct {
	base       chain.FeePair
	cellWeight uint64 // cycles that one cell counts for: cycles target / cells target
	version    uint64 // of the two
}

// level is levelOfEntry, which is found once while prices stay: what is barred is looked
// at for its level at each head, and waits for long.
func (p *pricing) level(e *entry) level {
	if e.priced != p.version {
		e.found, e.priced = p.levelOfEntry(e), p.version
	}
	return e.found
}

// levelOf returns where an executable transaction stands under the base fee, if it uses
// what is expected.
func (p *pricing) levelOf(tx *chain.Tx, expected chain.Usage) level {
	if !tx.FeeCaps().Covers(p.base) {
		return levelUnderpriced
	}
	return levelTier0 + level(p.tierOf(tx, expected))
}

// tierOf buckets the tip that the proposer would earn per cycle of weight, if
// so much is used as is expected: a tip on limits that nobody uses is worth nothing
// (docs/adr/0070). A cell weighs as many cycles as there are cycles
// per cell in a full block, so one number compares both meters:
//
//	density = (tip_c·cycles + tip_b·cells) / (cycles + cellWeight·cells)
//
// with tip_x the effective tip, min(tip_per_x, max_fee_per_x − base_x)
// (whitepaper §2.3). Tiers are the powers of two of 16·density.
func (p *pricing) tierOf(tx *chain.Tx, expected chain.Usage) int {
	tip := fees.EffectiveTip(tx, p.base)
	cHi, cLo := bits.Mul64(uint64(tip.PerCycle), uint64(expected.Cycles))
	bHi, bLo := bits.Mul64(uint64(tip.PerCell), uint64(expected.Cells))
	lo, carry := bits.Add64(cLo, bLo, 0)
	hi, over := bits.Add64(cHi, bHi, carry)

	wHi, w := bits.Mul64(uint64(expected.Cells), p.cellWeight)
	w, carry = bits.Add64(w, uint64(expected.Cycles), 0)
	if wHi|carry != 0 {
		return 0 // more than any block: never packed, so of no value
	}
	w = max(w, 1)
	if over != 0 || hi>>60 != 0 {
		return Tiers - 1
	}
	hi, lo = hi<<4|lo>>60, lo<<4
	if hi >= w { // the quotient has more than 64 bits
		return Tiers - 1
	}
	density, _ := bits.Div64(hi, lo, w)
	return min(bits.Len64(density), Tiers-1)
}

// bounds are base fees under which a transaction's level stays what it is, both
// ends included. They may be narrower than the truth, never wider.
type bounds struct{ low, high chain.FeePair }

// anyFee holds every base fee.
var anyFee = bounds{high: chain.FeePair{PerCycle: math.MaxUint64, PerCell: math.MaxUint64}}

// noFee holds none.
var noFee = bounds{low: anyFee.high}

// boundsOf returns the bounds of an entry that is not queued, at its level.
//
// A tip that the fee cap does not cut is the same under every base fee up to
// cap − tip; a cut one changes with the base fee itself. An underpriced
// transaction stays so while the fee that prices it out is above its cap.
func (p *pricing) boundsOf(e *entry) bounds {
	tx := e.tx.Tx
	b := anyFee
	switch {
	case e.level == levelUnderpriced && tx.MaxFeePerCycle < p.base.PerCycle:
		b.low.PerCycle = tx.MaxFeePerCycle + 1
	case e.level == levelUnderpriced:
		b.low.PerCell = tx.MaxFeePerCell + 1
	default:
		b.low.PerCycle, b.high.PerCycle = steady(tx.MaxFeePerCycle, tx.TipPerCycle, p.base.PerCycle)
		b.low.PerCell, b.high.PerCell = steady(tx.MaxFeePerCell, tx.TipPerCell, p.base.PerCell)
	}
	return b
}

// steady returns the base fees under which the effective tip is what it is
// under base.
func steady(feeCap, tip, base chain.Wei) (low, high chain.Wei) {
	if tip <= feeCap && base <= feeCap-tip {
		return 0, feeCap - tip
	}
	return base, base
}

// narrow makes b hold only what o holds too.
func (b *bounds) narrow(o bounds) {
	b.low.PerCycle, b.low.PerCell = max(b.low.PerCycle, o.low.PerCycle), max(b.low.PerCell, o.low.PerCell)
	b.high.PerCycle, b.high.PerCell = min(b.high.PerCycle, o.high.PerCycle), min(b.high.PerCell, o.high.PerCell)
}

func (b *bounds) hold(base chain.FeePair) bool {
	return b.low.PerCycle <= base.PerCycle && base.PerCycle <= b.high.PerCycle &&
		b.low.PerCell <= base.PerCell && base.PerCell <= b.high.PerCell
}
