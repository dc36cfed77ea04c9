package lanes

import "github.com/cowboy-foundation/cowboy/chain"

// basis is a head with what follows from it: that by which a shard judges what waits in
// it. A basis does not change; a shard moves from one to the next (see pool.advance).
type basis struct {
	head
	count  uint64 // of heads that have come in, this one included
	prices [chain.NumLanes]pricing
}

// after is the basis of the next head. Measures that it does not have stay. The version of
// a lane's prices stays where the prices do.
func (b *basis) after(next head) *basis {
	if next.measures == nil {
		next.measures = b.measures
	}
	out := &basis{head: next, count: b.count + 1, prices: b.prices}
	weight := max(next.measures.cellWeight, 1)
	for lane := range out.prices {
		p := &out.prices[lane]
		if p.base != next.BaseFees[lane] || p.cellWeight != weight {
			*p = pricing{base: next.BaseFees[lane], cellWeight: weight, version: p.version + 1}
		}
	}
	return out
}
