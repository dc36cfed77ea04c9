package lanes

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
)

// overcommittedBlocks bounds the overcommitted messages of a block: by their limits, they fill no more than
// so many user lanes. What does not run of them costs next to nothing, but
// everything has a limit.
const overcommittedBlocks = 4

// called is what the messages of a block may take from actors.
type called struct {
	of            map[chain.Address]callsOf
	left          map[chain.Address]chain.Cycles // what was read of an actor's cycles
	tight         map[chain.Address]struct{}     // large unused limits kept others from these, or would
	overcommitted []*entry
	room          chain.Cycles // for the limits of more of them
	err           error        // of reading
}

// callsOf is what the messages taken may use of an actor, and the largest part of the
// limits of one that it does not: the same promise as in a lane.
type callsOf struct{ uses, unused, guessed chain.Cycles }

// tightPart: in a second pass, unused limits above a part in so many of what all actors get
// for a block keep nobody from one, and guesses have a half before the rest.
const (
	tightPart    = 2
	actorGuesses = 2
)

// takes is what a message is reckoned to take of its actor, and the rest of its limits.
func (e *entry) takes(c *count) (uses, unused chain.Cycles) {
	uses = min(e.calls.Most, c.uses.Cycles-min(c.uses.Cycles, e.least.Cycles))
	return uses, e.calls.Most - uses
}

// with is the calls of an actor with one more message.
func (of callsOf) with(e *entry, c *count) callsOf {
	uses, unused := e.takes(c)
	of.uses += uses
	of.unused = max(of.unused, unused)
	if c.guess {
		of.guessed += uses
	}
	return of
}

// need is what the actor must have, so that each finds its limits wherever it stands.
func (of *callsOf) need() chain.Cycles { return of.uses + of.unused }

// mayCall reports whether the actor of a message has the cycles for it, if the messages
// taken use what is reckoned. If that is not sure, the message may be overcommitted; so it is
// if its unused limits have kept others from the actor in a first pass.
func (k *picker) mayCall(s *sender, e *entry, c *count) bool {
	of := k.called.of[*e.calls.Actor].with(e, c)
	left := k.req.Params.Actor.BlockCycles // at least, since each block gives as much
	if of.need() > left {
		left = k.cyclesOf(*e.calls.Actor)
	}
	_, unused := e.takes(c)
	_, tight := k.tight[*e.calls.Actor]
	most := k.req.Params.Actor.BlockCycles / tightPart
	if tight = tight && unused > most; tight || of.need() > left {
		if !tight && !c.guess && of.unused > most && unused <= most {
			k.called.countCall(*e.calls.Actor)
		}
		k.overcommit(s, e, left)
		return false
	}
	if k.called.of == nil {
		k.called.of = map[chain.Address]callsOf{}
	}
	k.called.of[*e.calls.Actor] = of
	return true
}

func (c *called) countCall(actor chain.Address) {
	if c.tight == nil {
		c.tight = map[chain.Address]struct{}{}
	}
	c.tight[actor] = struct{}{}
}

// guessesMuch reports whether a message of which nothing is known asks for so much of its
// actor that it waits for the rest of the lane.
func (k *picker) guessesMuch(e *entry, c *count) bool {
	if k.last || !c.guess || e.calls.Actor == nil {
		return false
	}
	of := k.called.of[*e.calls.Actor].with(e, c)
	return of.guessed > k.req.Params.Actor.BlockCycles/actorGuesses && of.guessed > k.cyclesOf(*e.calls.Actor)/actorGuesses
}

// barred reports whether the actor of a message is known to have no cycles for it, and
// the overcommitted no room: a crowd before a busy actor is passed over without a look at the
// accounts of its senders.
func (k *picker) barred(e *entry, c *count) bool {
	if e.calls.Actor == nil {
		return false
	}
	left, known := k.called.left[*e.calls.Actor]
	if !known || e.calls.Most <= left && e.uses.Cycles <= k.called.room {
		return false
	}
	of := k.called.of[*e.calls.Actor].with(e, c)
	return of.need() > left
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

// overcommit makes a message overcommitted that its actor has the cycles for if others
// leave them, unless its sender has another transaction in the block: what a sender's
// transactions are decides on the order of all of them.
func (k *picker) overcommit(s *sender, e *entry, left chain.Cycles) {
	c := &k.called
	if s.pick.met || e.calls.Most > left || e.uses.Cycles > c.room {
		return
	}
	s.pick.met = true
	c.room -= e.uses.Cycles
	c.overcommitted = append(c.overcommitted, e)
}

// result is what was picked, when the user lane is full, the overcommitted behind the
// others. They have the bytes that are left.
func (k *picker) result() order.Selection {
	s := order.Selection{Txs: k.picked, Counts: k.counts, Cut: k.cut}
	for i, c := range k.counts {
		of := &s.Counted[k.picked[i].Lane]
		*of = sum(*of, c)
	}
	s.Unreserved.Cycles = k.left.Cycles - k.unused.Cycles
	s.Unreserved.Cells = k.left.Cells - k.unused.Cells
	for _, e := range k.called.overcommitted {
		if e.space() <= k.left.Bytes {
			k.left.Bytes -= e.space()
			s.Txs, s.Counts = append(s.Txs, e.tx), append(s.Counts, chain.Usage{})
		}
	}
	if len(s.Txs) > len(k.picked) {
		s.Overcommitted = make([]bool, len(s.Txs))
		for i := len(k.picked); i < len(s.Txs); i++ {
			s.Overcommitted[i] = true
		}
	}
	return s
}
