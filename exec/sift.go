package exec

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/state"
)

// Sifted is a block of those transactions of a list that may stand in it.
type Sifted struct {
	Result
	Kept    []*chain.VerifiedTx // in their order
	Refused []*InvalidTx        // the others; Index is the place in the list
}

// Sift is [Apply] for a proposer whose selection a block does not take: what may
// not stand behind those kept before it is left out. Left out are thereby the
// later transactions of its sender, too. The error is a [*Fault].
func Sift(view state.View, in Inputs, txs []*chain.VerifiedTx) (Sifted, error) {
	out := Sifted{Kept: make([]*chain.VerifiedTx, 0, len(txs))}
	s, err := Begin(view, in, len(txs))
	if err != nil {
		return Sifted{}, err
	}
	for i, tx := range txs {
		var invalid *InvalidTx
		switch err := s.Transact(i, tx); {
		case err == nil:
			out.Kept = append(out.Kept, tx)
		case errors.As(err, &invalid): // was judged before it wrote anything
			out.Refused = append(out.Refused, invalid)
		default:
			return Sifted{}, err
		}
	}
	out.Result, err = s.Finish()
	return out, err
}

// MayPass reports whether the reason of an [*InvalidTx] can pass while the
// transaction waits. Else no block takes it any more.
func MayPass(err error) bool {
	for _, place := range []error{ErrLaneOrder, ErrLaneFull, ErrActorBusy} {
		if errors.Is(err, place) {
			return true
		}
	}
	return fees.MayBecomeValid(err)
}
