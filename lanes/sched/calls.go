package sched

import "github.com/cowboy-foundation/cowboy/chain"

// spareBlocks bounds the spares of a block: by their limits, they fill no more than
// so many user lanes. What does not run of them costs next to nothing, but
// everything has a limit.
const spareBlocks = 4

// called is what the messages of a block may take from actors.
type called struct {
	most   map[chain.Address]chain.Cycles // what those taken use at most
	left   map[chain.Address]chain.Cycles // what was read of an actor's cycles
	spares []*entry
	room   chain.Cycles // for the limits of more spares
	err    error        // of reading
}

// mayCall reports whether the actor of a message has the cycles for it, whatever the
// messages taken before use of theirs. If that is not sure, the message may be a
// spare.
func (k *picker) mayCall(s *sender, e *entry) bool {
	c := &k.called
	most := c.most[*e.calls.Actor] + e.calls.Most
	left := k.req.Params.Actor.BlockCycles // at least, since each block gives as much
	if most > left {
		left = k.cyclesOf(*e.calls.Actor)
	}
	if most > left {
		k.makeSpare(s, e, left)
		return false
	}
	if c.most == nil {
		c.most = map[chain.Address]chain.Cycles{}
	}
	c.most[*e.calls.Actor] = most
	return true
}

// barred reports whether the actor of a message is known to have no cycles for it, and
// spares no room: a crowd before a busy actor is passed over without a look at the
// accounts of its senders.
func (k *picker) barred(e *entry) bool {
	if e.calls.Actor == nil {
		return false
	}
	c := &k.called
	left, known := c.left[*e.calls.Actor]
	return known && c.most[*e.calls.Actor]+e.calls.Most > left && (e.calls.Most > left || e.uses.Cycles > c.room)
}

// cyclesOf reads what an actor has for the block, once.
func (k *picker) cyclesOf(actor chain.Address) chain.Cycles {
	c := &k.called
	left, known := c.left[actor]
	if known {
		return left
	}
	if k.req.Left == nil {
		left = k.req.Params.Actor.BlockCycles
	} else if v, err := k.req.Left(actor); err == nil {
		left = v
	} else if c.err == nil {
		c.err = err
	}
	if c.left == nil {
		c.left = map[chain.Address]chain.Cycles{}
	}
	c.left[actor] = left
	return left
}

// makeSpare makes a spare of a message that its actor has the cycles for if others
// leave them, unless its sender has another transaction in the block: what a sender's
// transactions are decides on the order of all of them.
func (k *picker) makeSpare(s *sender, e *entry, left chain.Cycles) {
	c := &k.called
	if s.pick.met || e.calls.Most > left || e.uses.Cycles > c.room {
		return
	}
	s.pick.met = true
	c.room -= e.uses.Cycles
	c.spares = append(c.spares, e)
}

// result is what was picked, when the user lane is full. Spares have the bytes that
// are left.
func (k *picker) result() Picked {
	p := Picked{Txs: k.picked, Counts: k.counts, Cut: k.cut}
	p.Slack.Cycles = k.left.Cycles - k.spare.Cycles
	p.Slack.Cells = k.left.Cells - k.spare.Cells
	for _, e := range k.called.spares {
		if e.space() <= k.left.Bytes {
			k.left.Bytes -= e.space()
			p.Spares = append(p.Spares, e.tx)
		}
	}
	return p
}
