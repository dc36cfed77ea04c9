package lanes

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// PackRequest describes the block to be packed.
type PackRequest struct {
	Parent   state.View // state of the parent, which need not be finalized
	Params   *params.Params
	BaseFees [chain.NumLanes]chain.FeePair // of the new block
	Height   chain.Height                  // of the new block
	VRFOut   chain.Hash                    // proposer's VRF output (resolution 11.41)
	MaxBytes int                           // for all bodies with their frames
	// Reserved is what due timers may take of the timer lane's share, before any
	// transaction.
	Reserved chain.Usage
	// Before are the transactions of the blocks before the new one, the parent's
	// first, at least down to the last head given to Finalized: their senders'
	// nonces are not where the pool has them. What is missing here only costs
	// other transactions of its sender their turn.
	Before [][]*chain.VerifiedTx
	// Left reads how many cycles an actor has for messages in the new block. nil: of
	// no actor more is used than all get for a block.
	Left func(chain.Address) (chain.Cycles, error)
	// Used is what transactions used when they were executed on the parent just now.
	Used map[chain.Hash]chain.Usage
	// Ran are the transactions that Used knows.
	Ran []*chain.VerifiedTx
	// Busy are the actors that had no cycles left for a message in that execution.
	Busy map[chain.Address]struct{}
	// Short are the senders of whom that execution refused something unpaid for which the
	// sender lacked money or a right. What else of theirs did not run is left out.
	Short map[chain.Address]struct{}
	// Doubt says that an execution used so much more than was expected that a part of
	// the selection found no room: what was learned counts for nothing beside Used.
	Doubt bool
	Anew  bool // it is that selection which is made again; later ones only fill up

	// Pack sets these. The first reads what an account may use in the new block, as the
	// parent has it; the second says what is used by what a key names (see offer), if
	// anything is known of it. nil: everything counts with its limits. The third reads
	// whether the parent's state has the seat that a transaction needs.
	account func(chain.Address) (account, error)
	expect  func(key uint64) (chain.Usage, bool)
	seat    func(*chain.VerifiedTx) (bool, error)
}

// Pack selects transactions for a block on top of the given parent, in the order of
// execution. They stay in the pool until a finalized head
// includes them, so a proposal that comes to nothing costs nothing. The error
// is a *ReadError or ctx's.
//
// Transactions of an unfinalized parent are still in the pool; their nonces are
// below the parent's and they are passed over.
func (l *Lanes) Pack(ctx context.Context, req PackRequest) (order.Selection, error) {
	if err := l.open(ctx); err != nil {
		return order.Selection{}, err
	}
	req.account, req.expect = accountsAt(req.Parent, req.Height-1), l.uses.expect
	req.seat = seatsAt(req.Parent)
	sel, err := l.pool.pick(&req)
	if err != nil {
		return order.Selection{}, err
	}
	arranger, ok := l.arrangers.Get().(*order.Arranger)
	if !ok {
		arranger = new(order.Arranger)
	}
	sel.Arrange(arranger, req.VRFOut) // while the pool moves on
	l.arrangers.Put(arranger)
	return sel, nil
}
