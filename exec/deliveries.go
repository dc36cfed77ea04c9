package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
)

// turnItems is how many messages come of one turn: with
// actor_limits.mailbox_block_receivers turns no more than
// actor_limits.mailbox_block_items by default, so that a block deals all of its turns.
const turnItems = 4

// turnLooks is how many messages a turn looks at: as many that go as there may be, and
// as many that are passed.
const turnLooks = 2 * turnItems

// deliver hands out messages that waited, within what the transactions left of the
// block's space: their origins in turn, of each one receiver (resolution 11.21; package
// mailbox). What is delivered was paid for by the run that sent it.
func (b *block) deliver() error {
	p := &b.in.Params.Actor
	if err := mailbox.Release(b.state, b.in.Height, p.MailboxBlockItems); err != nil {
		return &Fault{"release deferred messages", err}
	}
	left := p.MailboxBlockItems
	idle := uint64(0) // turns in a row of which nothing came
	for range p.MailboxBlockReceivers {
		ring, err := mailbox.Origins(b.state)
		if err != nil {
			return &Fault{"read the ring of origins", err}
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

// turn deals the turn of the origin whose it is: at most so many messages end in it.
// Where the block is full before anything came of it the turn is not over.
func (b *block) turn(most uint64) (n uint64, full bool, err error) {
	origin, ok, err := mailbox.Turn(b.state)
	if err != nil || !ok {
		return 0, true, fault("read the turn", err)
	}
	if n, full, err = b.takeUp(origin, most); err != nil || full && n == 0 {
		return n, full, err
	}
	to, ok, err := mailbox.Receiver(b.state, origin, turnItems)
	if err != nil {
		return n, false, fault("read the turn of "+origin.String(), err)
	}
	var served *chain.Address
	if ok {
		served = &to
		var ended uint64
		if ended, full, err = b.serve(to, most-n); err != nil {
			return n, false, err
		}
		n += ended
	}
	if full && n == 0 {
		return n, true, nil
	}
	return n, full, fault("end a turn", mailbox.EndTurn(b.state, origin, served))
}

// takeUp takes up messages that an origin has deferred and whose height has come, and
// returns how many ended thereby.
func (b *block) takeUp(origin chain.Address, most uint64) (n uint64, full bool, err error) {
	for range turnItems {
		it, err := mailbox.Due(b.state, origin)
		if err != nil || it == nil || n == most {
			return n, false, fault("read deferred messages of "+origin.String(), err)
		}
		if !b.budget.Fits(chain.LaneUser, fees.Space{Usage: b.actors.Limits(it)}) {
			return n, true, nil
		}
		if b.in.Engine == nil {
			return n, false, &Fault{"deliver a message", ErrNoEngine}
		}
		ended, id, out, err := b.actors.TakeUp(b.state, b.in.Engine, it)
		if err != nil {
			return n, false, fault("take up a deferred message", err)
		}
		if ended {
			if err := b.book(id, &out); err != nil {
				return n, false, err
			}
			n++
		}
	}
	return n, false, nil
}

// serve hands out what waits for a receiver, its senders in turn, until so many messages
// have gone, all senders were passed in a row, or it has looked often enough.
func (b *block) serve(to chain.Address, most uint64) (n uint64, full bool, err error) {
	passed := uint64(0) // in a row
	for looks := 0; looks < turnLooks && n < most; looks++ {
		went, senders, full, err := b.next(to)
		if err != nil || full {
			return n, full, err
		}
		if went {
			n, passed = n+1, 0
		} else if passed++; passed >= senders {
			break
		}
	}
	return n, false, nil
}

// next delivers the message whose turn it is before a receiver, if its receiver is
// ready for it. If not, its sender's turn passes: a message that reserves more than its
// receiver has left holds up nobody else's. senders is how many take turns there then.
func (b *block) next(to chain.Address) (went bool, senders uint64, full bool, err error) {
	it, err := mailbox.Peek(b.state, to)
	if err != nil || it == nil {
		return false, 0, false, fault("read a mailbox", err)
	}
	ready, err := b.actors.Ready(b.state, it)
	if err != nil {
		return false, 0, false, fault("read ledger of "+to.String(), err)
	}
	if !ready {
		senders, err = mailbox.Pass(b.state, to)
		return false, senders, false, fault("pass a turn", err)
	}
	if !b.budget.Fits(chain.LaneUser, fees.Space{Usage: b.actors.Limits(it)}) {
		return false, 0, true, nil
	}
	if b.in.Engine == nil {
		return false, 0, false, &Fault{"deliver a message", ErrNoEngine}
	}
	id, out, err := b.actors.DeliverWaiting(b.state, b.in.Engine, b.warm, it)
	if err != nil {
		return false, 0, false, fault("deliver a message", err)
	}
	return true, 0, false, b.book(id, &out)
}

// book writes the receipt of a delivery and takes its space. It costs no fee.
func (b *block) book(id chain.Hash, out *actor.Outcome) error {
	b.budget.Take(chain.LaneUser, fees.Space{Usage: out.Used})
	return b.write(id, chain.LaneUser, out, 0, 0)
}
