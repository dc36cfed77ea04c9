package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
)

// turnItems is how many messages a receiver gets in one turn, so that those with
// little before them wait for their turns and not for one receiver's crowd.
const turnItems = 16

// deliver hands out messages that waited, within what the transactions left of the
// block's space: receivers in turn, each in the order of its messages (resolution
// 11.21). What is delivered was paid for by the run that sent it.
func (b *block) deliver() error {
	p := &b.in.Params.Actor
	left := p.MailboxBlockItems
	refused, err := b.actors.Release(b.state, left)
	if err != nil {
		return &Fault{"release deferred messages", err}
	}
	for _, id := range refused {
		if err := b.book(id, &actor.Outcome{Code: chain.CodeMailboxFull}); err != nil {
			return err
		}
	}
	left -= min(left, uint64(len(refused)))
	idle := uint64(0) // turns in a row in which nothing was ready
	for range p.MailboxBlockReceivers {
		ring, err := mailbox.Receivers(b.state)
		if err != nil {
			return &Fault{"read the ring of receivers", err}
		}
		if idle >= ring || left == 0 {
			break
		}
		n, full, err := b.turn(min(left, turnItems))
		if err != nil || full {
			return err
		}
		left -= n
		if idle++; n > 0 {
			idle = 0
		}
	}
	return nil
}

// turn delivers at most so many messages to the receiver whose turn it is, and
// ends its turn. When the block is full the turn is not over.
func (b *block) turn(most uint64) (n uint64, full bool, err error) {
	to, ok, err := mailbox.Turn(b.state)
	if err != nil || !ok {
		return 0, true, fault("read the turn", err)
	}
	for n < most {
		it, err := mailbox.Peek(b.state, to)
		if err != nil {
			return n, false, fault("read a mailbox", err)
		}
		if it == nil {
			break
		}
		ready, err := b.actors.Ready(b.state, it)
		if err != nil {
			return n, false, fault("read ledger of "+to.String(), err)
		}
		if !ready {
			break
		}
		if !b.budget.Fits(chain.LaneUser, fees.Space{Usage: b.actors.Limits(it)}) {
			return n, true, nil
		}
		if b.in.Engine == nil {
			return n, false, &Fault{"deliver a message", ErrNoEngine}
		}
		id, out, err := b.actors.DeliverWaiting(b.state, b.in.Engine, it)
		if err != nil {
			return n, false, fault("deliver a message", err)
		}
		if err := b.book(id, &out); err != nil {
			return n, false, err
		}
		n++
	}
	return n, false, fault("end a turn", mailbox.Rotate(b.state))
}

// book writes the receipt of a delivery and takes its space. It costs no fee.
func (b *block) book(id chain.Hash, out *actor.Outcome) error {
	b.budget.Take(chain.LaneUser, fees.Space{Usage: out.Used})
	return b.write(id, chain.LaneUser, out, 0, 0)
}
