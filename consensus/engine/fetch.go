package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Limits of asking.
const (
	wantsMax       = 16  // views asked for at a time
	answerTimeouts = 10  // fetch timeouts that a whole answer may take
	backlogMax     = 128 // blocks of others not yet executed or durable, above which we ask for no more
)

// want is a view whose certificates or block we lack. One peer at a time is
// asked for it; when the answer does not come in time, or does not help, the
// next one is.
type want struct {
	view      chain.View
	below     chain.View // as in [simplex.Fetch]
	peer      beacon.Participant
	asked     time.Time // put off while the answer is coming in
	since     time.Time // when it was really asked
	tries     int
	got       int        // certificates that were news
	next      chain.View // to be asked for when the answer is complete, with its below
	nextBelow chain.View
}

// fetches is what is being asked for.
type fetches struct {
	wants []want // few
	turn  int    // of the rotation over peers
	timer *time.Timer
	// parked waits for the application to make durable what it has: blocks that
	// come faster than that would fill the memory.
	parked []simplex.Fetch
}

// fetchFor carries out what the machine asked for, unless it has come in the
// same turn.
func (e *Engine) fetchFor(x simplex.Fetch) {
	if e.backlog() >= backlogMax {
		e.park(x)
	} else {
		e.fetchNow(x)
	}
}

func (e *Engine) fetchNow(x simplex.Fetch) {
	switch {
	case x.Below == 0:
		e.fetch(x.View, 0)
	case !e.has(x.View, x.Below):
		e.fetch(e.machine.MissingFrom(x.Below), x.Below)
	}
}

// backlog counts the blocks that came faster than the application took them. In
// bytes a backlog is full at half of what blocks may take.
func (e *Engine) backlog() int {
	n, bytes := e.blocks.unjudged()
	full := backlogMax * (bytes + e.fitting) / (e.cfg.PendingBytesMax / 2)
	return max(len(e.undelivered)+n, full)
}

// park puts off what was asked for until the backlog is gone.
func (e *Engine) park(x simplex.Fetch) {
	f := &e.fetches
	if slices.Contains(f.parked, x) || len(f.parked) == wantsMax {
		return // the machine repeats what still matters
	}
	f.parked = append(f.parked, x)
	if len(f.wants) == 0 {
		f.timer.Reset(e.cfg.FetchTimeout)
	}
}

// unpark asks for the oldest of what was put off, when half of the backlog is gone
// and nobody is asked for anything: the answer may go on to the rest. When time
// ran out, it asks behind blocks that were not executed too: they may be waiting
// for the very one.
func (e *Engine) unpark(late bool) {
	f := &e.fetches
	for len(f.parked) > 0 && len(f.wants) == 0 {
		if e.backlog() > backlogMax/2 && (!late || len(e.undelivered) >= backlogMax) {
			return
		}
		x := slices.MinFunc(f.parked, func(a, b simplex.Fetch) int { return cmp.Compare(a.View, b.View) })
		f.parked = slices.DeleteFunc(f.parked, func(y simplex.Fetch) bool { return y == x })
		if !e.has(x.View, x.Below) {
			e.fetchNow(x)
		}
	}
}

// fetch asks a peer for view v and later ones, unless one is asked already, or
// one is just answering for the views before: the answer may go on to v.
func (e *Engine) fetch(v, below chain.View) {
	for i := range e.fetches.wants {
		w := &e.fetches.wants[i]
		if w.view == v {
			return
		}
		if w.got > 0 && w.view < v {
			w.next, w.nextBelow = v, below
			return
		}
	}
	if len(e.fetches.wants) == wantsMax {
		e.fetches.wants = e.fetches.wants[1:] // the machine repeats what still matters
	}
	w := want{view: v, below: below}
	if e.ask(&w) {
		e.fetches.wants = append(e.fetches.wants, w)
		if len(e.fetches.wants) == 1 {
			e.fetches.timer.Reset(e.cfg.FetchTimeout)
		}
	}
}

// nobody is the peer of a want that was not asked of anybody yet.
const nobody = ^beacon.Participant(0)

// fetchLater fetches view v if it is still lacking a fetch timeout from now.
func (e *Engine) fetchLater(v chain.View) {
	f := &e.fetches
	if slices.ContainsFunc(f.wants, func(w want) bool { return w.view == v }) || len(f.wants) == wantsMax {
		return
	}
	now := time.Now()
	f.wants = append(f.wants, want{view: v, peer: nobody, asked: now, since: now})
	if len(f.wants) == 1 {
		f.timer.Reset(e.cfg.FetchTimeout)
	}
}

// ask sends the request to the peer that answered last, or, when it did not
// help with w, to the next one that is not banned. It reports whether there is
// one.
func (e *Engine) ask(w *want) bool {
	n := e.cfg.Set.Len()
	for range n + 1 {
		p := beacon.Participant(e.fetches.turn)
		if e.isSelf(p) || e.isBanned(p) || w.tries > 0 && p == w.peer {
			e.fetches.turn = (e.fetches.turn + 1) % n
			continue
		}
		w.peer, w.asked, w.since = p, time.Now(), time.Now()
		w.tries++
		e.Stats.FetchesSent.Add(1)
		e.net.Send(p, appendRequest(nil, request{beacon.Round{Epoch: e.cfg.Set.Epoch(), View: w.view}}))
		return true
	}
	return false
}

// helped notes that a peer sent something new: it gets the time of a fresh
// request for what it has not sent yet.
func (f *fetches) helped(from beacon.Participant) {
	for i := range f.wants {
		if f.wants[i].peer == from {
			f.wants[i].asked = time.Now()
			f.wants[i].got++
		}
	}
}

// refused notes that what a peer sent was not what it said: its answers are not
// waited for any longer.
func (f *fetches) refused(from beacon.Participant) {
	for i := range f.wants {
		if f.wants[i].peer == from {
			f.wants[i].asked, f.wants[i].got = time.Time{}, 0
		}
	}
}

// answeredBy ends a want whose answer is complete. If nothing in it was news,
// the next peer is asked at once.
func (e *Engine) answeredBy(from beacon.Participant, v chain.View) {
	for i, w := range e.fetches.wants {
		if w.view != v || w.peer != from {
			continue
		}
		if w.got == 0 && !e.has(v, w.below) && w.tries < e.cfg.Set.Len()-1 && e.ask(&w) {
			e.fetches.wants[i] = w
			return
		}
		e.fetches.wants = append(e.fetches.wants[:i], e.fetches.wants[i+1:]...)
		if w.next > 0 {
			e.fetchFor(simplex.Fetch{View: w.next, Below: w.nextBelow})
		}
		e.unpark(false)
		return
	}
}

// fetchAgain turns to the next peer for everything that has waited long enough,
// and forgets what has come or what every peer was asked for: the machine
// repeats that if need be.
func (e *Engine) fetchAgain() {
	kept := e.fetches.wants[:0]
	for _, w := range e.fetches.wants {
		if e.has(w.view, w.below) {
			continue
		}
		if time.Since(w.asked) >= e.cfg.FetchTimeout || time.Since(w.since) >= answerTimeouts*e.cfg.FetchTimeout {
			if w.tries > 0 {
				e.Stats.FetchesFailed.Add(1)
				e.Stats.Peers[w.peer].Unanswered.Add(1)
			}
			if w.next > 0 {
				w.view, w.below, w.next = w.next, w.nextBelow, 0
			}
			w.got = 0
			if w.tries > 0 && e.backlog() >= backlogMax {
				e.park(simplex.Fetch{View: w.view, Below: w.below})
				continue
			}
			if w.tries >= e.cfg.Set.Len() || !e.ask(&w) {
				continue
			}
		}
		kept = append(kept, w)
	}
	e.fetches.wants = kept
	e.unpark(true)
	if len(e.fetches.wants)+len(e.fetches.parked) > 0 {
		e.fetches.timer.Reset(e.cfg.FetchTimeout)
	}
}

// has reports whether what was wanted is here: the block of view below, or, if
// that is 0, whatever view v has.
func (e *Engine) has(v, below chain.View) bool {
	if max(v, below) <= e.machine.Floor().View {
		return true
	}
	if below > 0 {
		return e.machine.Knows(below, simplex.Notarize) || e.machine.Knows(below, simplex.Finalize)
	}
	for _, b := range e.blocks.list {
		if b.round.View == v && b.certify != nil && b.bytes == nil && !b.fitting {
			return false
		}
	}
	return e.machine.Knows(v, simplex.Notarize) || e.machine.Knows(v, simplex.Finalize) || e.machine.Knows(v, simplex.Nullify)
}
