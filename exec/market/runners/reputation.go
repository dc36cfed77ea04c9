package runners

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// Return brings a runner whose reputation fell below the minimum back to the initial one
// and to probation, once for each fall (resolution 12.5).
func (b *Book) Return(a chain.Address) error {
	r, err := b.open(a)
	if err != nil {
		return err
	}
	p := &b.Params.Runner
	points := selection.Rounded(r.Standing.At(b.Height, p.ReputationHalfLifeBlocks))
	if r.FellAt == 0 || points >= p.MinReputation || b.since(r.FellAt) < p.ReturnBlocks {
		return ErrNotFallen
	}
	r.Standing = selection.Standing{ReputationX1e9: p.InitialReputation * selection.Point, Height: b.Height}
	r.FellAt, r.Successes = 0, 0
	b.put(a, r)
	return nil
}
