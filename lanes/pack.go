package lanes

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/lanes/sched"
	"github.com/cowboy-foundation/cowboy/state"
)

// PackRequest describes the block to be packed.
type PackRequest struct {
	Parent   state.View // state of the parent, which need not be finalized
	Params   *chain.Params
	BaseFees [chain.NumLanes]chain.FeePair // of the new block
	Height   chain.Height                  // of the new block
	VRFOut   chain.Hash                    // proposer's VRF output (resolution 11.41)
	MaxBytes int                           // for all bodies with their frames
	Exclude  []chain.Hash                  // transactions to leave out
	// Busy are actors that have no cycles for more than some messages, which are
	// named: all others to them are left out.
	Busy map[chain.Address]map[chain.Hash]struct{}
	// Reserved is what due timers may take of the timer lane's share, before any
	// transaction.
	Reserved chain.Usage
	// Before are the transactions of the blocks before the new one, the parent's
	// first, at least down to the last head given to Finalized: their senders'
	// nonces are not where the pool has them. What is missing here only costs
	// other transactions of its sender their turn.
	Before [][]*chain.VerifiedTx
}

// Pack selects transactions for a block on top of the given parent and returns
// them in the order of execution. They stay in the pool until a finalized head
// includes them, so a proposal that comes to nothing costs nothing. The error
// is a *ReadError or ctx's.
//
// Transactions of an unfinalized parent are still in the pool; their nonces are
// below the parent's and they are passed over.
func (l *Lanes) Pack(ctx context.Context, req PackRequest) ([]*chain.VerifiedTx, error) {
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	picked, err := l.pool.Pick(&sched.PickRequest{
		Params: req.Params, BaseFees: req.BaseFees, Height: req.Height,
		MaxBytes: req.MaxBytes, Exclude: req.Exclude, Busy: req.Busy, Reserved: req.Reserved, Before: req.Before,
		Account: accountsAt(req.Parent, req.Height-1),
	})
	if err != nil {
		return nil, err
	}
	return order.Arrange(req.VRFOut, picked), nil // while the pool moves on
}
