package lanes

import (
	"context"
	"slices"

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
	// Busy are the actors that had no cycles left for a message in that execution.
	Busy map[chain.Address]struct{}
	// Doubt says that an execution used so much more than was expected that a part of
	// the selection found no room: what was learned counts for nothing beside Used.
	Doubt bool
	Anew  bool // it is that selection which is made again; later ones only fill up
}

// Packed is a selection for a block.
type Packed struct {
	Txs []*chain.VerifiedTx // in the order of execution

	// Spare says which of them are messages that the block may have no room for, or
	// their actors no cycles (see [sched.Picked]); the order is the same without. The
	// others leave the user lane Slack, when they use what they were counted with. nil:
	// none.
	Spare  []bool
	Slack  chain.Usage
	Counts []chain.Usage // what each was counted with; nil where no spares are

	// Counted is what all were counted with, and Cut says that something which could
	// run was left for want of room: what was counted and is not used may be filled by
	// packing again with Used.
	Counted chain.Usage
	Cut     bool
}

// Pack selects transactions for a block on top of the given parent. They stay in the pool until a finalized head
// includes them, so a proposal that comes to nothing costs nothing. The error
// is a *ReadError or ctx's.
//
// Transactions of an unfinalized parent are still in the pool; their nonces are
// below the parent's and they are passed over.
func (l *Lanes) Pack(ctx context.Context, req PackRequest) (Packed, error) {
	if err := l.open(ctx); err != nil {
		return Packed{}, err
	}
	picked, err := l.pool.Pick(&sched.PickRequest{
		Params: req.Params, BaseFees: req.BaseFees, Height: req.Height,
		MaxBytes: req.MaxBytes, Reserved: req.Reserved, Before: req.Before, Used: req.Used, Busy: req.Busy, Doubt: req.Doubt, Anew: req.Anew, Expect: l.uses.expect,
		Account: accountsAt(req.Parent, req.Height-1), Left: req.Left,
	})
	if err != nil {
		return Packed{}, err
	}
	return arrange(req.VRFOut, &picked), nil // while the pool moves on
}

// arrange puts a selection into the order of execution.
func arrange(vrfOut chain.Hash, picked *sched.Picked) Packed {
	p := Packed{Txs: order.Arrange(vrfOut, slices.Concat(picked.Txs, picked.Spares)), Slack: picked.Slack, Cut: picked.Cut}
	for _, c := range picked.Counts {
		p.Counted.Cycles += c.Cycles
		p.Counted.Cells += c.Cells
	}
	if len(picked.Spares) == 0 {
		return p
	}
	at := make(map[*chain.VerifiedTx]int, len(picked.Txs))
	for i, tx := range picked.Txs {
		at[tx] = i
	}
	p.Spare, p.Counts = make([]bool, len(p.Txs)), make([]chain.Usage, len(p.Txs))
	for i, tx := range p.Txs {
		n, sure := at[tx]
		if p.Spare[i] = !sure; sure {
			p.Counts[i] = picked.Counts[n]
		}
	}
	return p
}
