package actor

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// limit is what a handler may use of the cycles reserved for it: no more than an
// actor may use in one block, or a transaction in the user lane, or it could never
// run (resolution 11.22).
func (b *Block) limit(reserved chain.Cycles) chain.Cycles {
	return min(reserved, b.Params.Actor.BlockCyclesBurst, b.Params.MaxTxCycles)
}

// hasLeft reports whether an actor may use so many reserved cycles in this block.
func (b *Block) hasLeft(l *Quota, reserved chain.Cycles) bool {
	return l.Left(&b.Params.Actor, b.Height) >= b.limit(reserved)
}

// Delivery is what it takes to deliver a message that waited, whatever its handler
// does or whether there is one: its turn and its receipt. It is part of what was
// reserved for the message.
func (b *Block) Delivery() chain.Usage {
	return chain.Usage{Cycles: b.Params.API.DeliveryCycles, Cells: b.Params.API.DeliveryCells}
}

// reserveLeast raises the limits of a message that will wait to what its delivery
// takes at the least.
func (b *Block) reserveLeast(it *mailbox.Item) {
	least := b.Delivery()
	it.Cycles, it.Cells = max(it.Cycles, least.Cycles), max(it.Cells, least.Cells)
}

// park puts a message into the receiver's mailbox and its value into escrow
// (resolution 11.21). What the delivery will use was reserved by the sender in
// cycles and is charged here in cells. The code says why the message does not
// wait; then it has changed nothing but a charge.
func (r *Run) park(e *Envelope) (uint16, error) {
	m := r.mark()
	p := &r.block.Params.Actor
	it := r.item(e)
	it.Cells = max(p.MessageReserveCells, r.block.Delivery().Cells)
	if it.Cycles < r.block.Delivery().Cycles {
		return chain.CodeCyclesExhausted, nil // of its reservation
	}
	if e.Load == 0 { // the block had used the code, that of its delivery may not have
		_, load, err := r.block.FirstUse(r.state, e.From, e.To)
		if err != nil {
			return 0, err
		}
		it.Load = min(load, r.cycles)
	}
	err := mailbox.Push(r.state, it, p.MailboxItems)
	if errors.Is(err, mailbox.ErrFull) {
		return chain.CodeMailboxFull, nil
	}
	if errors.Is(err, mailbox.ErrHandler) {
		return chain.CodeNoHandler, nil
	}
	if err != nil {
		return 0, err
	}
	var trap *Trap
	if errors.As(r.takeCells(uint64(it.Cells)), &trap) {
		r.undo(m)
		return trap.Code, nil
	}
	if err := r.credit(chain.AddrMailbox, e.Value); err != nil {
		return 0, err
	}
	r.cycles -= it.Load - e.Load
	return chain.CodeOK, count(r.state, e.To, 1)
}

// item is a message as it waits.
func (r *Run) item(e *Envelope) *mailbox.Item {
	return &mailbox.Item{
		From: e.From, To: e.To, Origin: r.start.Origin, Nonce: e.Nonce, Handler: e.Handler, Payload: e.Payload,
		Value: e.Value, Cycles: e.Cycles, Load: e.Load, Parked: r.block.Height,
	}
}

// count notes in a receiver's ledger that n more messages wait for it.
func count(o *state.Overlay, to chain.Address, n int64) error {
	l, err := ReadQuota(o, to)
	if err != nil {
		return err
	}
	l.Waiting = uint64(int64(l.Waiting) + n)
	WriteQuota(o, to, l)
	return nil
}

// ReadyAt returns the height from which a message may be delivered, if nobody uses its
// receiver until then; that of the block, or an earlier one: it may be now. It began to
// wait in an earlier block, and its receiver has the cycles left that are reserved for it
// (resolutions 11.21, 11.22).
func (b *Block) ReadyAt(v state.View, it *mailbox.Item) (chain.Height, error) {
	l, err := ReadQuota(v, it.To)
	if err != nil {
		return 0, err
	}
	p, at := &b.Params.Actor, b.Height
	left, need := l.Left(p, b.Height), b.limit(it.Cycles)
	if need > left {
		refill := max(p.BlockCycles, 1)
		at += chain.Height((need - left + refill - 1) / refill)
	}
	return max(at, it.Parked+1), nil
}

// waited returns a message that waited, as the first of a run, with its id.
func waited(it *mailbox.Item) Envelope {
	e := Envelope{
		From: it.From, To: it.To, Nonce: it.Nonce, Handler: it.Handler, Payload: it.Payload,
		Value: it.Value, Cycles: it.Cycles,
	}
	e.ID = MessageID(e.From, e.Nonce, e.hash())
	return e
}

// Limits are what a message that waited may use, the first use of its receiver's code
// included: what fits an empty block, whatever the parameters were when it was sent.
func (b *Block) Limits(it *mailbox.Item) chain.Usage {
	own := b.limit(it.Cycles)
	return chain.Usage{Cycles: own + min(it.Load, b.Params.MaxTxCycles-own), Cells: min(it.Cells, b.Params.MaxTxCells)}
}

// Plain are the limits of a message, or those of one that names none where they are less:
// what a block has left for it that has room for messages.
func (b *Block) Plain(it *mailbox.Item) chain.Usage {
	u, p := b.Limits(it), &b.Params.Actor
	return chain.Usage{Cycles: min(u.Cycles, p.MessageReserveCycles), Cells: min(u.Cells, p.MessageReserveCells)}
}

// DeliverWaiting takes the message out of its receiver's mailbox whose turn it is there,
// and delivers it, as a run of its own. A failure returns the value to the sender. The
// outcome has the message's id as that of the run. The error is a fault.
func (b *Block) DeliverWaiting(o *state.Overlay, e *pvm.Engine, warm *Warm, it *mailbox.Item) (chain.Hash, Outcome, error) {
	if err := mailbox.Pop(o, it.To); err != nil {
		return chain.Hash{}, Outcome{}, err
	}
	if err := count(o, it.To, -1); err != nil {
		return chain.Hash{}, Outcome{}, err
	}
	return b.deliverItem(o, e, warm, it, b.Limits(it))
}

// deliverItem delivers an item that is in no list any more.
func (b *Block) deliverItem(o *state.Overlay, e *pvm.Engine, warm *Warm, it *mailbox.Item, limits chain.Usage) (chain.Hash, Outcome, error) {
	if err := mailbox.Open(o, it); err != nil {
		return chain.Hash{}, Outcome{}, err
	}
	if err := funds.Debit(o, chain.AddrMailbox, it.Value, b.Height); err != nil {
		return chain.Hash{}, Outcome{}, fmt.Errorf("escrow of a waiting message: %w", err)
	}
	msg, own, handler := waited(it), b.Delivery(), min(b.limit(it.Cycles), limits.Cycles)
	own.Cycles, own.Cells = min(own.Cycles, handler), min(own.Cells, limits.Cells)
	out, err := NewRun(b, o, e, Start{
		Origin: it.Origin, ID: msg.ID, Cycles: limits.Cycles - own.Cycles, Cells: limits.Cells - own.Cells,
		Load: limits.Cycles - handler, Warm: warm,
	}).First(msg)
	out.Used.Cycles += own.Cycles
	out.Used.Cells += own.Cells
	if err == nil && out.Code != chain.CodeOK {
		err = funds.Credit(o, it.From, it.Value)
	}
	return msg.ID, out, err
}

// TakeUp takes up a deferred message whose height has come: it waits for its receiver
// from then on. One for an account without code does not wait and uses no more than one that names no limits, and one whose sender has
// as many waiting there as may be is no more: ended says so, with the outcome and its
// message's id. The error is a fault.
func (b *Block) TakeUp(o *state.Overlay, e *pvm.Engine, it *mailbox.Item) (ended bool, id chain.Hash, out Outcome, err error) {
	if err := mailbox.TakeDue(o, it.Origin); err != nil {
		return false, id, out, err
	}
	to, err := o.CodeAndMeta(it.To)
	if err != nil {
		return false, id, out, err
	}
	if !to.HasCode() {
		id, out, err = b.deliverItem(o, e, nil, it, b.Plain(it))
		return true, id, out, err
	}
	err = mailbox.Push(o, it, b.Params.Actor.MailboxItems)
	if errors.Is(err, mailbox.ErrFull) {
		if err := mailbox.Open(o, it); err != nil {
			return false, id, out, err
		}
		out.Code, out.Used = chain.CodeMailboxFull, b.Delivery()
		return true, waited(it).ID, out, funds.Move(o, chain.AddrMailbox, it.From, it.Value, b.Height)
	}
	if err != nil {
		return false, id, out, err
	}
	return false, id, out, count(o, it.To, 1)
}
