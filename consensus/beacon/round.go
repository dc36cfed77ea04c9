package beacon

import (
	"errors"
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
)

// ErrUnmapped means that the round cannot be named yet, because the schedule
// of its epoch is not known. The caller waits; it must not choose a substitute
// (CIP-11 §9.2).
var ErrUnmapped = errors.New("round lies in an epoch without a schedule")

// Round is the absolute position of a consensus attempt, as validators sign it.
type Round = attest.Round

// AdvanceRound returns the round k views after r (CIP-11 §9.2). The validator
// set of genesis holds for the whole of epoch 0, which has no last view, so
// there the sum is the answer. Any other epoch has no schedule: ErrUnmapped.
func AdvanceRound(r Round, k chain.View) (Round, error) {
	if r.Epoch != 0 {
		return Round{}, fmt.Errorf("epoch %d: %w", r.Epoch, ErrUnmapped)
	}
	if k > math.MaxUint64-r.View {
		return Round{}, fmt.Errorf("view %d and %d more: %w", r.View, k, ErrUnmapped)
	}
	return Round{Epoch: r.Epoch, View: r.View + k}, nil
}
