package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// Limits of asking.
const (
	wantsMax   = 16  // views asked for at a time
	latesMax   = 32  // requests that were given up, whose answers still tell how fast a peer is
	backlogMax = 128 // blocks of others not yet executed or durable, above which we ask for no more
	// ticksPerTimeout is how often in a fetch timeout requests are looked at.
	ticksPerTimeout = 16
)

// want is a view whose certificates or block we lack. Where nobody is known to be
// quick, two peers are asked side by side; else the quickest is. One that takes
// longer than a good one would is left to go on, and another is asked beside it
// ([fetches.overdue]).
type want struct {
	view, below chain.View      // as in [simplex.Fetch]
	from, to    chain.View      // a range beside another one begins there, or ends; 0: it has none beside it
	asks        []ask           // under way, or late
	tried       []bool          // by participant
	since       time.Time       // when it began to be wanted
	later       bool            // nobody is asked before a fetch timeout has passed
	next        []simplex.Fetch // to be asked for when the answer is complete, if it did not bring them
}

// fetches is what is being asked for.
type fetches struct {
	wants  []want // few
	lates  []ask  // of wants that are no more
	rates  rates
	spans  [2]chain.View // views that the last two whole answers went over; 0: none yet
	timer  *time.Timer
	unpark time.Time // when what is parked was last asked for because time ran out
	// parked waits for the application to make durable what it has: blocks that
	// come faster than that would fill the memory.
	parked []simplex.Fetch
}

// tickFetches has the wants looked at soon.
func (e *Engine) tickFetches() { e.fetches.timer.Reset(e.cfg.FetchTimeout / ticksPerTimeout) }

// fetchFor carries out what the machine asked for, unless it has come in the
// same turn.
func (e *Engine) fetchFor(x simplex.Fetch) {
	switch {
	case e.has(x.View, x.Below) && x.Below > 0:
	case e.full(x):
		e.park(x)
	default:
		e.fetchNow(x)
	}
}

func (e *Engine) fetchNow(x simplex.Fetch) {
	switch {
	case x.Below == 0:
		e.fetch(x.View, 0)
	case !e.has(x.View, x.Below):
		e.fetch(e.missingFrom(x.Below), x.Below)
	}
}

// missingFrom returns from which view on we ask for what leads to the unknown block of
// view p: the blocks that came need not reach as far as the certificates that came.
func (e *Engine) missingFrom(p chain.View) chain.View {
	return e.machine.LackingFrom(p, func(at simplex.Proposal) bool {
		b := e.blocks.find(at.Round.View, at.Payload)
		return b != nil && (b.bytes != nil || b.fitting || b.rebuilding || b.verdict != unknown)
	})
}

// backlog counts the blocks that came faster than the application took them. In
// bytes a backlog is full at half of what blocks may take.
func (e *Engine) backlog() int {
	n, bytes := e.blocks.unjudged()
	full := backlogMax * (bytes + e.fitting) / (e.cfg.PendingBytesMax / 2)
	return max(len(e.undelivered)+n, full)
}

// full reports whether x has to wait for the backlog. The block of a view by itself, or
// those that are missing between others, wait only for what is executed and not durable:
// the backlog may be there because all of it stands behind them.
func (e *Engine) full(x simplex.Fetch) bool {
	if x.Below == 0 || e.holdsUp(x) {
		return len(e.undelivered) >= backlogMax
	}
	return e.backlog() >= backlogMax
}

// holdsUp reports whether nothing can be executed before x is here.
func (e *Engine) holdsUp(x simplex.Fetch) bool {
	parent, first := e.machine.Hole()
	return first && x.Below == parent
}

// park puts off what was asked for until the backlog is gone. Where there is too much,
// the oldest stays: the machine asks for the views of the present again by itself.
func (e *Engine) park(x simplex.Fetch) {
	f := &e.fetches
	same := func(y simplex.Fetch) bool { return y == x || y.Below == x.Below && x.Below > 0 }
	if slices.ContainsFunc(f.parked, same) {
		return // what is missing below is looked up when its turn comes
	}
	f.parked = append(f.parked, x)
	if len(f.parked) > wantsMax {
		newest := slices.MaxFunc(f.parked, byView)
		f.parked = slices.DeleteFunc(f.parked, func(y simplex.Fetch) bool { return y == newest })
	}
	if len(f.wants) == 0 {
		e.tickFetches()
	}
}

func byView(a, b simplex.Fetch) int { return cmp.Compare(a.View, b.View) }

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
		x := slices.MinFunc(f.parked, byView)
		f.parked = slices.DeleteFunc(f.parked, func(y simplex.Fetch) bool { return y == x })
		if !e.has(x.View, x.Below) {
			e.fetchNow(x)
		}
	}
}

// answering reports whether a peer is at the answer to w, and not late with it.
func (w *want) answering() bool {
	return slices.ContainsFunc(w.asks, func(a ask) bool { return !a.late && a.blocks > 0 })
}

// running counts the requests that are not late.
func (w *want) running() (n int) {
	for i := range w.asks {
		if !w.asks[i].late {
			n++
		}
	}
	return n
}

func (w *want) tries() (n int) {
	for _, t := range w.tried {
		if t {
			n++
		}
	}
	return n
}

// fetch asks a peer for view v and later ones, unless one is asked already, or
// one is just answering for the views before: the answer may go on to v. A range
// waits for the one before it in any case: what names its end may have come from a
// peer that we gave up, one block at a time.
func (e *Engine) fetch(v, below chain.View) {
	for i := range e.fetches.wants {
		w := &e.fetches.wants[i]
		if w.view == v || w.view < v && (w.answering() || below > 0 && w.below > 0 && w.running() > 0) {
			w.then(simplex.Fetch{View: v, Below: below})
			if w.view == v && w.below == 0 && below > 0 {
				w.becomeRange(below)
			}
			e.goAhead()
			return
		}
	}
	if w := e.want(v, below); e.ask(w) {
		if below > 0 && e.fetches.rates.best() == nil {
			e.ask(w) // one of two is enough
		}
		e.goAhead()
	} else {
		e.fetches.wants = e.fetches.wants[:len(e.fetches.wants)-1]
	}
}

// becomeRange makes a request for a block one for the range that begins with it: what is
// asked of the peer is the same.
func (w *want) becomeRange(below chain.View) {
	w.then(simplex.Fetch{View: w.view})
	w.below = below
	for i := range w.asks {
		w.asks[i].below = below
	}
	w.next = slices.DeleteFunc(w.next, func(y simplex.Fetch) bool { return y == simplex.Fetch{View: w.view, Below: below} })
}

// then has x looked at when the answer to w is complete. None of several takes the
// place of another: a block that is executable next and the range behind it are
// asked for at the same time, and the machine asks for either only once a view.
func (w *want) then(x simplex.Fetch) {
	if x == (simplex.Fetch{View: w.view, Below: w.below}) {
		return
	}
	w.next = slices.DeleteFunc(w.next, func(y simplex.Fetch) bool { return y == x || y.Below == x.Below && x.Below > 0 })
	w.next = append(w.next, x)
	slices.SortFunc(w.next, byView)
	w.next = w.next[:min(len(w.next), wantsMax)]
}

// want adds a want, in place of the oldest one if there are too many.
func (e *Engine) want(v, below chain.View) *want {
	f := &e.fetches
	if len(f.wants) == wantsMax {
		f.forget(0) // the machine repeats what still matters
	}
	f.wants = append(f.wants, want{view: v, below: below, tried: make([]bool, e.cfg.Set.Len()), since: time.Now()})
	if len(f.wants) == 1 {
		e.tickFetches()
	}
	return &f.wants[len(f.wants)-1]
}

// forget drops a want. Answers that are still to come tell how fast their senders are.
func (f *fetches) forget(i int) {
	for _, a := range f.wants[i].asks {
		if a.late {
			f.lates = append(f.lates, a)
		}
	}
	f.lates = f.lates[max(0, len(f.lates)-latesMax):]
	f.wants = slices.Delete(f.wants, i, i+1)
}

// fetchLater fetches view v if it is still lacking a fetch timeout from now.
func (e *Engine) fetchLater(v chain.View) {
	f := &e.fetches
	if slices.ContainsFunc(f.wants, func(w want) bool { return w.view == v }) || len(f.wants) == wantsMax {
		return
	}
	e.want(v, 0).later = true
}

// ask sends the request to the peer that is likely to answer fastest, of those that
// are not banned and were not asked for w. It reports whether there is one.
func (e *Engine) ask(w *want) bool {
	return e.askOf(w, func(beacon.Participant) bool { return true })
}

// askOf is ask among those that may be asked.
func (e *Engine) askOf(w *want, may func(beacon.Participant) bool) bool {
	p, ok := e.fetches.rates.pick(func(p beacon.Participant) bool {
		return !e.isSelf(p) && !e.isBanned(p) && !w.tried[p] && may(p)
	})
	if !ok {
		return false
	}
	w.tried[p], w.later = true, false
	w.asks = append(w.asks, ask{peer: p, view: w.view, below: w.below, at: time.Now()})
	e.Stats.FetchesSent.Add(1)
	e.net.Send(p, wire.Append(nil, wire.Request{Round: beacon.Round{Epoch: e.cfg.Set.Epoch(), View: w.view}}))
	return true
}

// helped notes that a peer sent a certificate of view v, and n bytes with it. What it
// sent before it was asked, or twice, is not counted.
func (f *fetches) helped(from beacon.Participant, v chain.View, n int) {
	for i := range f.wants {
		for j := range f.wants[i].asks {
			if a := &f.wants[i].asks[j]; a.peer == from {
				a.take(v, n)
			}
		}
	}
	for i := range f.lates {
		if a := &f.lates[i]; a.peer == from {
			a.take(v, n)
		}
	}
}

// refused notes that what a peer sent was not what it said: its answers are not
// waited for any longer.
func (f *fetches) refused(from beacon.Participant) {
	for i := range f.wants {
		for j := range f.wants[i].asks {
			if a := &f.wants[i].asks[j]; a.peer == from {
				a.late, a.blocks, a.bytes = true, 0, 0
			}
		}
	}
}

// end is the end of a peer's answer to the request for a view.
type end struct {
	from beacon.Participant
	view chain.View
}

// concludeAnswers looks at the answers that are complete, after the machine has taken
// in what they brought: only then is it known what is still missing.
func (e *Engine) concludeAnswers() {
	for _, x := range e.ends {
		e.answeredBy(x.from, x.view)
	}
	e.ends = nil
}

// answeredBy ends a want whose answer is complete. If it was of no help, the
// next peer is asked at once.
func (e *Engine) answeredBy(from beacon.Participant, v chain.View) {
	f := &e.fetches
	is := func(a ask) bool { return a.peer == from && a.view == v }
	if i := slices.IndexFunc(f.lates, is); i >= 0 {
		f.rates.note(&f.lates[i], true)
		f.lates = slices.Delete(f.lates, i, i+1)
	}
	for i := range f.wants {
		w := &f.wants[i]
		j := slices.IndexFunc(w.asks, is)
		if j < 0 {
			continue
		}
		a := w.asks[j]
		torn := e.leftOut(&a)
		if torn {
			a.bytes = 0
		}
		f.rates.note(&a, true)
		w.asks = slices.Delete(w.asks, j, j+1)
		stuck := e.stuck(w)
		if stuck && (w.running() > 0 || w.tries() < e.cfg.Set.Len()-1 && e.ask(w)) {
			return
		}
		next := w.next
		if !torn {
			f.span(&a)
		}
		f.forget(i)
		if x, ok := e.hole(); ok && !stuck {
			next = slices.Insert(next, 0, x)
		}
		e.fetchAll(next)
		e.unpark(false)
		e.goAhead()
		return
	}
}

// hole returns what to ask for below the lowest block whose parent is not named, if
// nobody is being asked for it: the machine asks for what it names once a view.
func (e *Engine) hole() (simplex.Fetch, bool) {
	parent, _ := e.machine.Hole()
	if parent == 0 {
		return simplex.Fetch{}, false
	}
	v := e.missingFrom(parent)
	for i := range e.fetches.wants {
		if w := &e.fetches.wants[i]; w.running() > 0 && w.view <= v && (w.to == 0 || v < w.to) {
			return simplex.Fetch{}, false
		}
	}
	return simplex.Fetch{View: v, Below: parent}, true
}

// leftOut reports whether an answer lacks blocks that others of it stand on. Nobody
// honest does that, but the network may lose some: who did is not a quick peer.
func (e *Engine) leftOut(a *ask) bool {
	parent, _ := e.machine.Hole()
	return parent >= a.view && parent < a.newest && a.newest < a.below
}

// stuck reports whether w is no further than when it was asked for.
func (e *Engine) stuck(w *want) bool {
	return !e.has(w.view, w.below) && (w.below == 0 || e.reached(w) <= w.view)
}

// fetchAll asks for what followed an answer and is not here yet.
func (e *Engine) fetchAll(next []simplex.Fetch) {
	for _, x := range next {
		if !e.has(x.View, x.Below) {
			e.fetchFor(x)
		}
	}
}

// fetchAgain asks another peer for everything that takes longer than it should,
// and forgets what has come or what every peer was asked for: the machine
// repeats that if need be.
func (e *Engine) fetchAgain() {
	f := &e.fetches
	var follow []simplex.Fetch
	for i := 0; i < len(f.wants); {
		w := &f.wants[i]
		if !e.over(w) && (!e.expire(w) || !e.over(w) && e.askOther(w)) {
			i++
			continue
		}
		follow = append(follow, w.next...)
		f.forget(i)
	}
	e.fetchAll(follow)
	if late := time.Since(f.unpark) >= e.cfg.FetchTimeout; late {
		f.unpark = time.Now()
		e.unpark(true)
	}
	if len(f.wants)+len(f.parked) > 0 {
		e.tickFetches()
	}
}

// over reports whether w is here and no answer to it runs on to what follows.
func (e *Engine) over(w *want) bool { return e.has(w.view, w.below) && !w.answering() }

// expire gives up the requests of w that are overdue. It reports whether nobody is
// left that might answer in time.
func (e *Engine) expire(w *want) bool {
	for i := range w.asks {
		a := &w.asks[i]
		if a.late || !e.overdue(w, a) {
			continue
		}
		a.late = true
		e.fetches.rates.note(a, false)
		e.Stats.FetchesFailed.Add(1)
		e.Stats.Peers[a.peer].Unanswered.Add(1)
	}
	return w.running() == 0 && (!w.later || time.Since(w.since) >= e.cfg.FetchTimeout)
}

// askOther asks somebody else for what is left of w, and reports whether w is still
// wanted by that.
func (e *Engine) askOther(w *want) bool {
	if w.below > 0 {
		w.view = max(w.from, e.reached(w))
	}
	if x := (simplex.Fetch{View: w.view, Below: w.below}); !w.later && e.full(x) {
		e.park(x)
		return false
	}
	e.sharding.starved = e.sharding.starved || w.later
	return e.ask(w)
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
