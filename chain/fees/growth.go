package fees

import (
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// GrowthOne is the factor at which new bytes of the state cost what they cost on a
// young chain.
const GrowthOne = params.BasisPoints

// GrowthFactor returns by how much the cells of new bytes of the state are
// multiplied, in basis points, where so many bytes are kept: once in the first of
// state.price_doublings parts of the limit, twice at the end of the second, and so on
// with every further part, in a straight line within each. It goes on beyond the
// limit, up to 2^40 times.
func GrowthFactor(p *params.State, kept uint64) uint64 {
	part := max(p.LimitBytes/p.PriceDoublings, 1)
	if kept <= part {
		return GrowthOne
	}
	over := kept - part
	if over/part >= 40 {
		return GrowthOne << 40
	}
	factor := uint64(GrowthOne) << (over / part)
	hi, lo := bits.Mul64(factor, over%part)
	more, _ := bits.Div64(hi, lo, part) // over%part < part, so it fits
	return factor + more
}

// Growth is what a transaction adds to the state.
type Growth struct {
	Accounts uint64 // that were not there
	Entries  uint64 // of storages that were not there
	Bytes    uint64 // of new entries and of those that are longer than before, keys included

	// Unpaid of the bytes no other price has covered: those of the protocol's own
	// records, and of code. The others were paid for once, by what was written or sent.
	Unpaid uint64
}

// Cells is what growth costs at a factor, besides what its bytes have cost already.
// What exceeds 64 bits is as much as no limit covers.
func (g *Growth) Cells(p *params.Params, factor uint64) chain.Cells {
	entries := addSat(mulSat(g.Accounts, uint64(p.API.NewAccountCells)), mulSat(g.Entries, uint64(p.API.NewEntryCells)))
	young := addSat(entries, mulSat(g.Unpaid, uint64(p.API.StorageWriteByteCells)))
	all := addSat(entries, mulSat(g.Bytes, uint64(p.API.StorageWriteByteCells)))
	return chain.Cells(addSat(young, Dearer(all, factor)))
}

// Dearer is what cells cost more at a factor than at [GrowthOne], rounded up.
func Dearer(cells, factor uint64) uint64 {
	hi, lo := bits.Mul64(cells, factor-min(factor, GrowthOne))
	if hi >= GrowthOne {
		return math.MaxUint64
	}
	q, rest := bits.Div64(hi, lo, GrowthOne)
	if rest > 0 {
		q = addSat(q, 1)
	}
	return q
}

func mulSat(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

func addSat(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}
