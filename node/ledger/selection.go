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
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// build builds the block of a selection and skips what execution refuses of it.
// Packing knows what transactions may use at most, not what comes of them, and what it
// misjudges must not cost the proposer its slot, nor anybody else the turn. What no
// block takes leaves the pool for good, so that nobody fills blocks with transactions
// that never pay; so does what ends in a fault here, which would stop whoever verifies
// the block.
//
// A selection is executed once, except where one is refused behind which others of its
// sender have run: they move in the order, and all is executed anew without it. If
// again one is refused so, only those are left of whom nothing but payments or the first
// stands there, which no other's message moves; after that, or where time is over, the first of
// each sender, which nothing does. Where many are refused for want of room, the selection itself was wrong:
// it is made again, once, and stands in all then.
func (p *proposal) build(all *order.Selection) (exec.Built, error) {
	l, sel := p.l, *all
	for round := 0; ; round++ {
		began := time.Now()
		s, err := l.executor.Build(p.parent.State, l.inputs(&p.header, p.parent.Force.Params), &sel, p.watch.watchSelection(sel.Txs))
		l.Stats.noteExec(l.executor.Stats())
		if err != nil {
			return s, err
		}
		l.ahead.recordDuration(len(s.Kept), time.Since(began))
		l.Stats.ExecNanos.Add(uint64(time.Since(began)))
		p.noteBusy(&sel, s.Skipped)
		p.noteShort(&sel, s.Skipped)
		refused, err := l.refuse(p.ctx, &sel, s.Skipped)
		if err == nil {
			err = l.shun(p.ctx, p.watch)
		}
		if err == nil && p.watch.overtaken() {
			err = errOvertaken
		}
		if err != nil || refused == 0 && !s.Cut {
			return s, err
		}
		if s.Cut {
			l.Stats.Hurried.Add(1)
		}
		if anew, err := p.doubtful(all, &sel, &s); err != nil {
			return s, err
		} else if anew {
			sel, round = *all, -1
			continue
		}
		next := order.Arrange(p.vrfOut, s.Kept)
		if slices.Equal(next, s.Kept) {
			return s, nil
		}
		if round > 0 || s.Cut {
			next = order.Arrange(p.vrfOut, firsts(next, round == 1 && !s.Cut))
		}
		if s.Cut {
			p.watch.addTime()
		}
		sel = order.Selection{Txs: next}
	}
}

// refuse drops of what a round has refused what no block will take, and counts what is
// not overcommitted.
func (l *Ledger) refuse(ctx context.Context, sel *order.Selection, list []*exec.InvalidTx) (refused int, err error) {
	var never, busy []*chain.VerifiedTx
	var firsts map[chain.Address]int // made when it is asked for
	for _, invalid := range list {
		tx := sel.Txs[invalid.Index]
		if errors.Is(invalid.Err, exec.ErrTime) {
			break // and so is all behind it
		}
		if err := l.stumble("a transaction was left out of a block and dropped: executing it is a fault", tx.Hash, invalid.Err); err != nil {
			return 0, err
		}
		switch {
		case errors.As(invalid.Err, new(*fees.NonceError)):
		case !exec.MayPass(invalid.Err), errors.As(invalid.Err, new(*fees.FundsError)) && isFirst(&firsts, sel.Txs, invalid.Index):
			never = append(never, tx)
		}
		if sel.IsOvercommitted(invalid.Index) {
			continue
		}
		if errors.Is(invalid.Err, exec.ErrActorBusy) {
			busy = append(busy, tx)
		}
		if refused++; refused == 1 && !errors.Is(invalid.Err, exec.ErrLaneFull) { // larger limits than the place has room for: no news
			l.cfg.Log.Warn("transactions refused while building a block", "first", tx.Hash, "err", invalid.Err)
		}
	}
	l.Stats.Skipped.Add(uint64(refused))
	if err := l.cfg.Pool.Reconsider(ctx, busy); err != nil || len(never) == 0 {
		return refused, err
	}
	return refused, l.cfg.Pool.Discard(ctx, never)
}

// isFirst reports whether none of a sender's transactions stands before one in a selection.
// Where such a one lacks money that its sender had at the head, something else of its own
// takes that in each block, and it would be packed in vain for as long as it waits. firsts
// are the places of senders' first transactions, for the next call.
func isFirst(firsts *map[chain.Address]int, txs []*chain.VerifiedTx, index int) bool {
	if *firsts == nil {
		*firsts = make(map[chain.Address]int, len(txs))
		for i, tx := range txs {
			if _, known := (*firsts)[tx.Sender]; !known {
				(*firsts)[tx.Sender] = i
			}
		}
	}
	return (*firsts)[txs[index].Sender] == index
}

// noteBusy remembers the actors that had no cycles for a message which was counted on.
// What is packed again for the room that such leave is none to them.
func (p *proposal) noteBusy(sel *order.Selection, list []*exec.InvalidTx) {
	for _, invalid := range list {
		if !errors.Is(invalid.Err, exec.ErrActorBusy) || sel.IsOvercommitted(invalid.Index) {
			continue
		}
		if p.busy == nil {
			p.busy = map[chain.Address]struct{}{}
		}
		p.busy[*sel.Txs[invalid.Index].Tx.To] = struct{}{}
	}
}

// noteShort remembers the senders of whom something was refused unpaid that lacked what
// only its sender can have lost: money, a role, a valid form. What follows it cannot run
// either, and what is packed again for the room that such leave is not theirs (ADR 211).
func (p *proposal) noteShort(sel *order.Selection, list []*exec.InvalidTx) {
	for _, invalid := range list {
		if !leavesShort(invalid.Err) {
			continue
		}
		if p.short == nil {
			p.short = map[chain.Address]struct{}{}
		}
		p.short[sel.Txs[invalid.Index].Sender] = struct{}{}
	}
}

// leavesShort reports whether a refusal is of a transaction itself: not of one that stands
// behind another which was refused, nor for want of room or time.
func leavesShort(err error) bool {
	if errors.As(err, new(*fees.NonceError)) {
		return false
	}
	for _, place := range []error{exec.ErrLaneOrder, exec.ErrLaneFull, exec.ErrActorBusy, exec.ErrTime} {
		if errors.Is(err, place) {
			return false
		}
	}
	return true
}

// stumble logs and counts a fault of execution that this node can go on without: of a
// transaction in its own pool, or of a preview. It returns one that is not the
// transactions' doing but that of what this node reads. Other errors are no faults.
func (l *Ledger) stumble(what string, of chain.Hash, err error) error {
	if !errors.As(err, new(*exec.Fault)) {
		return nil
	}
	for _, own := range []error{store.ErrClosed, store.ErrCorrupt, store.ErrFailed, store.ErrStale, tree.ErrCorrupt} {
		if errors.Is(err, own) {
			return err
		}
	}
	l.Stats.Faults.Add(1)
	attrs := []any{"of", of, "err", err}
	if p := new(exec.Panic); errors.As(err, &p) {
		attrs = append(attrs, "stack", p.Stack)
	}
	l.cfg.Log.Error(what, attrs...)
	return nil
}

// firsts returns the first transaction of each sender, and all of those who do nothing but
// pay if payers may keep them. Whichever of the firsts are left out, the others keep their
// order: a transaction's place depends on others of its sender alone.
func firsts(txs []*chain.VerifiedTx, payers bool) []*chain.VerifiedTx {
	least, runs := map[chain.Address]uint64{}, map[chain.Address]bool{}
	for _, tx := range txs {
		if n, ok := least[tx.Sender]; !ok || tx.Tx.Nonce < n {
			least[tx.Sender] = tx.Tx.Nonce
		}
		if len(tx.Tx.Payload) > 0 || !payers {
			runs[tx.Sender] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(txs), func(tx *chain.VerifiedTx) bool {
		return runs[tx.Sender] && tx.Tx.Nonce != least[tx.Sender]
	})
}
