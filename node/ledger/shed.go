package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

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
	var out leftOut
	for round := 0; ; round++ {
		began := time.Now()
		s, err := l.executor.Sift(parent.State, l.inputs(&h, parent.Force.Params), txs)
		if err != nil {
			return nil, err
		}
		l.Stats.ExecNanos.Add(uint64(time.Since(began)))
		if err := l.refuse(ctx, &out, txs, &s); err != nil {
			return nil, err
		}
		next := order.Arrange(vrfOut, s.Kept)
		if round == 0 {
			if next, err = l.pack(ctx, &h, parent, vrfOut, out); err != nil {
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

// leftOut is what a selection leaves out.
type leftOut struct {
	txs  []chain.Hash
	busy map[chain.Address]map[chain.Hash]struct{} // see [lanes.PackRequest]
}

// refuse notes what a round has refused, and drops of it what no block will take.
// What an actor had no cycles for has taken room and pays nothing; another message
// to it would do the same.
func (l *Ledger) refuse(ctx context.Context, out *leftOut, txs []*chain.VerifiedTx, s *exec.Sifted) error {
	if len(s.Refused) == 0 {
		return nil
	}
	var never []chain.Hash
	var busy []chain.Address
	for _, invalid := range s.Refused {
		tx := txs[invalid.Index]
		out.txs = append(out.txs, tx.Hash)
		if errors.Is(invalid.Err, exec.ErrActorBusy) {
			busy = append(busy, *tx.Tx.To)
		}
		if !exec.MayPass(invalid.Err) && !errors.As(invalid.Err, new(*fees.NonceError)) {
			never = append(never, tx.Hash)
		}
	}
	out.keep(busy, s.Kept)
	l.Stats.Shed.Add(uint64(len(s.Refused)))
	l.cfg.Log.Warn("transactions refused while building a block", "number", len(s.Refused), "never valid", len(never),
		"first", txs[s.Refused[0].Index].Hash, "err", s.Refused[0].Err)
	return l.cfg.Pool.Discard(ctx, never)
}

// keep leaves the busy actors the messages that they had cycles for, and no others.
func (o *leftOut) keep(busy []chain.Address, kept []*chain.VerifiedTx) {
	o.busy = map[chain.Address]map[chain.Hash]struct{}{}
	for _, actor := range busy {
		o.busy[actor] = map[chain.Hash]struct{}{}
	}
	for _, tx := range kept {
		if tx.Tx.To == nil {
			continue
		}
		if some, ok := o.busy[*tx.Tx.To]; ok {
			some[tx.Hash] = struct{}{}
		}
	}
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
