package exec

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
)

// turnItems is how many messages come of one turn at most.
const turnItems = 4

// turnsPerWake bounds who comes back from a nap in a block: one for so many turns, so
// that those who wait in vain, however many, leave the other turns to the others.
const turnsPerWake = 2

// intake is how many origins whose deferred messages are due enter the ring whenever all
// who stand there have had a turn; at the beginning of a block, as many as the ring lacks
// of so many, and two at least. So a crowd that is due stands nobody in the way who waits, and half of the
// places are for those who deferred last, behind whom no crowd was saved up (ADR 100).
const intake = 128

// turnsPerEntry bounds how long a full ring keeps the due out: one of them enters for so
// many turns, however few of these a block has room for.
const turnsPerEntry = 8

// turnLooks is how many messages a turn looks at: as many that go as there may be, and
// as many that are passed.
const turnLooks = 2 * turnItems

// deliverWaiting hands out messages that waited, within what the transactions left of the
// block's space: their origins in turn, of each one receiver (resolution 11.21; package
// mailbox). What is delivered was paid for by the run that sent it.
//
// It ends: each pass is a turn or the end, and there are at most mailbox_block_receivers of
// them, at most mailbox_block_items messages, and no more turns in a row without a message
// than the ring has origins. It is fair by who paid: a turn is of one origin and ends after
// turnItems messages, so somebody with a million of them waiting delays another by four
// messages a round. What a turn looks at is bounded as well (turnLooks), whether or not any
// of it can be delivered.
func (b *block) deliverWaiting() error {
	p := &b.in.Params.Actor
	if err := mailbox.Wake(b.state, b.in.Height, p.MailboxBlockReceivers/turnsPerWake); err != nil {
		return &Fault{"wake those who wait in vain", err}
	}
	r := round{steps: p.MailboxBlockReceivers, latest: b.in.Height}
	left := p.MailboxBlockItems
	// Bounded: by mailbox_block_receivers, 2^20 at most.
	for range p.MailboxBlockReceivers {
		over, err := b.nextInRing(&r)
		if err != nil {
			return &Fault{"let origins into their ring", err}
		}
		if over || left == 0 {
			break
		}
		n, full, err := b.dealTurn(min(left, turnItems))
		if err != nil || full {
			return err
		}
		left -= n
		if r.idle++; n > 0 {
			r.idle = 0
		}
	}
	return nil
}

// round is where a block stands with the ring of origins.
type round struct {
	idle    uint64       // turns in a row of which nothing came, of those who stay
	turns   uint64       // of the block
	dealt   uint64       // turns since all who stood there had one
	entered uint64       // turns of the block when one was last let in for so many
	ring    uint64       // who stood there at the last turn
	begun   bool         // the first have been let in
	steps   uint64       // that may still be taken to let in others
	latest  chain.Height // down to which nobody is left who has just fallen due
}

// nextInRing lets in whom the ring has room for before the next turn, and reports
// whether there is none: all who stand there had one of which nothing came.
func (b *block) nextInRing(r *round) (over bool, err error) {
	ring, err := mailbox.Origins(b.state)
	if err != nil {
		return false, err
	}
	if ring < r.ring && r.idle > 0 { // who left the ring need not be waited for
		r.idle--
	}
	// Bounded: by mailbox_block_receivers steps a block, 2^20 at most.
	for n := r.entries(ring); n > 0; n = r.entries(ring) {
		if err := b.letIn(r, n); err != nil {
			return false, err
		}
		if ring, err = mailbox.Origins(b.state); err != nil {
			return false, err
		}
	}
	r.dealt++
	r.turns++
	r.ring = ring
	return r.idle >= ring, nil
}

// entries returns how many may enter a ring of so many before the next turn.
func (r *round) entries(ring uint64) (n uint64) {
	switch {
	case r.turns == 0 && !r.begun:
		n = max(2, intake-min(ring, intake))
	case r.dealt >= ring:
		n = intake
	case r.turns%(2*turnsPerEntry) == 0 && r.turns > r.entered:
		n, r.entered = 2, r.turns // one who deferred first, one who did so last
	}
	if r.begun = true; n >= intake || r.turns == 0 {
		r.dealt, r.idle = 0, 0
	}
	return min(n, r.steps)
}

// letIn lets origins into the ring that have deferred something which is due, in part
// those who did so last.
func (b *block) letIn(r *round, n uint64) (err error) {
	h := b.in.Height
	if r.latest, err = mailbox.ReleaseLatest(b.state, h, r.latest, n/2); err != nil {
		return err
	}
	if err = mailbox.Release(b.state, h, n-n/2); err != nil {
		return err
	}
	r.steps -= n
	if more, err := mailbox.AnyDue(b.state, h); err != nil || !more {
		r.steps = 0
		return err
	}
	return nil
}

// dealTurn deals the turn of the origin whose it is: at most so many messages end in it.
// Where the block is full before anything came of it the turn is not over.
func (b *block) dealTurn(most uint64) (n uint64, full bool, err error) {
	origin, ok, err := mailbox.Turn(b.state)
	if err != nil || !ok {
		return 0, true, fault("read the turn", err)
	}
	n, took, full, err := b.takeUp(origin, most)
	if err != nil || full && n == 0 {
		return n, full, err
	}
	to, ok, err := mailbox.Receiver(b.state, origin, turnItems)
	if err != nil {
		return n, false, fault("read the turn of "+origin.String(), err)
	}
	var served *chain.Address
	var ready chain.Height
	if ok {
		served = &to
		var ended uint64
		if ended, ready, full, err = b.serve(to, most-n); err != nil {
			return n, false, err
		}
		n += ended
	}
	if full && n == 0 {
		return n, true, nil
	}
	if took || n > 0 {
		ready = 0
	}
	return n, full, fault("end a turn", mailbox.EndTurn(b.state, b.in.Height, origin, served, ready))
}

// takeUp takes up messages that an origin has deferred and whose height has come, and
// returns how many ended thereby, and whether there were any.
func (b *block) takeUp(origin chain.Address, most uint64) (n uint64, took, full bool, err error) {
	// Bounded: by turnItems, four.
	for range turnItems {
		it, err := mailbox.Due(b.state, origin)
		if err != nil || it == nil || n == most {
			return n, took, false, fault("read deferred messages of "+origin.String(), err)
		}
		if !b.budget.Fits(chain.LaneUser, fees.Space{Usage: b.actors.Plain(it)}) {
			return n, took, true, nil
		}
		ended, id, out, err := b.actors.TakeUp(b.state, b.in.Engine, it)
		if err != nil {
			return n, took, false, fault("take up a deferred message", err)
		}
		took = true
		if ended {
			if err := errors.Join(b.book(id, &out), b.countAnswer(it, &out)); err != nil {
				return n, took, false, err
			}
			n++
			continue
		}
		// It is written into another list, which takes the time of a delivery (ADR 129).
		b.budget.Take(chain.LaneUser, fees.Space{Usage: chain.Usage{Cycles: b.in.Params.API.DeliveryCycles}})
	}
	return n, took, false, nil
}

// serve hands out what waits for a receiver, its senders in turn, until so many messages
// have gone, all senders were passed in a row, or it has looked often enough. ready is the
// least height at which one that was passed can go; 0 where none was.
func (b *block) serve(to chain.Address, most uint64) (n uint64, ready chain.Height, full bool, err error) {
	passed := uint64(0) // in a row
	// Bounded: by turnLooks, eight.
	for looks := 0; looks < turnLooks && n < most; looks++ {
		at, senders, full, err := b.deliverNext(to)
		if err != nil || full {
			return n, ready, full, err
		}
		if at == 0 {
			n, passed = n+1, 0
			continue
		}
		if ready == 0 || at < ready {
			ready = at
		}
		if passed++; passed >= senders {
			break
		}
	}
	return n, ready, false, nil
}

// deliverNext delivers the message whose turn it is before a receiver, if its receiver is
// ready for it. If not, its sender's turn passes: a message that reserves more than its
// receiver has left holds up nobody else's. at is then the height at which it can go, and
// senders is how many take turns there.
func (b *block) deliverNext(to chain.Address) (at chain.Height, senders uint64, full bool, err error) {
	it, err := mailbox.Peek(b.state, to)
	if err != nil || it == nil {
		return b.in.Height + 1, 0, false, fault("read a mailbox", err)
	}
	if at, err = b.actors.ReadyAt(b.state, it); err != nil {
		return 0, 0, false, fault("read the quota of "+to.String(), err)
	}
	if at > b.in.Height {
		senders, err = mailbox.Pass(b.state, to)
		return at, senders, false, fault("pass a turn", err)
	}
	if !b.budget.Fits(chain.LaneUser, fees.Space{Usage: b.actors.Limits(it)}) {
		// More than is left is passed where others have room.
		if !b.budget.Fits(chain.LaneUser, fees.Space{Usage: b.actors.Plain(it)}) {
			return 0, 0, true, nil
		}
		senders, err = mailbox.Pass(b.state, to)
		return b.in.Height + 1, senders, false, fault("pass a turn", err)
	}
	id, out, err := b.actors.DeliverWaiting(b.state, b.in.Engine, b.warm, it)
	if err != nil {
		return 0, 0, false, fault("deliver a message", err)
	}
	return 0, 0, false, errors.Join(b.book(id, &out), b.countAnswer(it, &out))
}

// book writes the receipt of a delivery and takes its space. It costs no fee and moves
// none: it counted towards the base fees when the run that sent it paid for it, and
// whoever has saved up deliveries shall not price out others with them (ADR 126).
func (b *block) book(id chain.Hash, out *actor.Outcome) error {
	b.budget.Take(chain.LaneUser, fees.Space{Usage: out.Used})
	return b.write(id, chain.LaneUser, out, 0, 0)
}
