package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// ApplyByRule is [Apply] without the short way of payments.
func ApplyByRule(view state.View, in Inputs, txs []*chain.VerifiedTx) (Result, error) {
	s, err := Begin(view, in, len(txs))
	if err != nil {
		return Result{}, err
	}
	for i, tx := range txs {
		if err := s.b.transactByRule(i, tx); err != nil {
			return Result{}, err
		}
	}
	return s.Finish()
}
