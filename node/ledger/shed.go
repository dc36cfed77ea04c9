package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/exec"
)

// shedRounds bounds how often a proposal is executed to find what execution
// refuses of it, before one transaction of each sender is all that is tried.
const shedRounds = 3

// shed builds the block of a selection that execution has refused: without what it
// refuses, and with others in the room of that. Packing knows what transactions may
// use at most, not what comes of them, and what it misjudges must not cost the
// proposer its slot, nor anybody else the turn. What no block takes leaves the pool
// for good, so that nobody fills blocks with transactions that never pay.
func (l *Ledger) shed(ctx context.Context, h chain.Header, parent *Executed, vrfOut chain.Hash, txs []*chain.VerifiedTx) (*Executed, error) {
	var refused []chain.Hash
	for round := 0; ; round++ {
		s, err := l.executor.Sift(parent.State, l.inputs(&h, parent.Force.Params), txs)
		if err != nil {
			return nil, err
		}
		if refused, err = l.refuse(ctx, refused, txs, s.Refused); err != nil {
			return nil, err
		}
		next := order.Arrange(vrfOut, s.Kept)
		if round == 0 {
			if next, err = l.pack(ctx, &h, parent, vrfOut, refused); err != nil {
				return nil, err
			}
		}
		if slices.Equal(next, s.Kept) {
			return l.seal(h, parent, s.Kept, &s.Result)
		}
		if round >= shedRounds {
			next = order.Arrange(vrfOut, firsts(next))
		}
		txs = next
	}
}

// refuse adds to a list what a round has refused, and drops of it what no block
// will take.
func (l *Ledger) refuse(ctx context.Context, list []chain.Hash, txs []*chain.VerifiedTx, bad []*exec.InvalidTx) ([]chain.Hash, error) {
	var never []chain.Hash
	for _, invalid := range bad {
		tx := txs[invalid.Index]
		list = append(list, tx.Hash)
		if !exec.MayPass(invalid.Err) && !errors.As(invalid.Err, new(*fees.NonceError)) {
			never = append(never, tx.Hash)
		}
	}
	if len(bad) == 0 {
		return list, nil
	}
	l.Stats.Shed.Add(uint64(len(bad)))
	l.cfg.Log.Warn("transactions refused while building a block", "number", len(bad), "never valid", len(never),
		"first", txs[bad[0].Index].Hash, "err", bad[0].Err)
	return list, l.cfg.Pool.Discard(ctx, never)
}

// firsts returns the first transaction of each sender. Whichever of them are left
// out, the others keep their order: a transaction's place depends on others of its
// sender alone.
func firsts(txs []*chain.VerifiedTx) []*chain.VerifiedTx {
	least := map[chain.Address]uint64{}
	for _, tx := range txs {
		if n, ok := least[tx.Sender]; !ok || tx.Tx.Nonce < n {
			least[tx.Sender] = tx.Tx.Nonce
		}
	}
	return slices.DeleteFunc(slices.Clone(txs), func(tx *chain.VerifiedTx) bool { return tx.Tx.Nonce != least[tx.Sender] })
}
