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

// holdings is what asking needs to know of what is here. It is the [stock], or a test's.
type holdings interface {
	has(v, below chain.View) bool
	missingFrom(p chain.View) chain.View
	hole() (parent chain.View, first bool)
	backlog() int
	undelivered() int
	mayAsk(p beacon.Participant, now time.Time) bool
}

// fetches is the part that asks peers for what is missing here: it knows what is being
// asked for and of whom, and how fast each peer was. Events are what the machine lacks,
// what came, and the time; effects are requests and the alarm by which they are looked
// at again.
type fetches struct {
	cfg   *Config
	stats *Stats
	here  holdings
	now   time.Time // of the event
	out   []effect  // of the event

	wants  []want // few
	lates  []ask  // of wants that are no more
	ends   []end  // of answers, to be looked at when the machine has what came before
	rates  rates
	spans  [2]chain.View // views that the last two whole answers went over; 0: none yet
	unpark time.Time     // when what is parked was last asked for because time ran out
	// parked waits for the application to make durable what it has: blocks that
	// come faster than that would fill the memory.
	parked []simplex.Fetch
}

// fetch asks for what the machine lacks, unless it has come in the same turn.
func (f *fetches) fetch(now time.Time, x simplex.Fetch) []effect {
	return f.event(now, func() { f.fetchFor(x) })
}

// later asks for view v if it is still lacking a fetch timeout from now.
func (f *fetches) later(now time.Time, v chain.View) []effect {
	return f.event(now, func() {
		if slices.ContainsFunc(f.wants, func(w want) bool { return w.view == v }) || len(f.wants) == wantsMax {
			return
		}
		f.want(v, 0).later = true
	})
}

// lied asks others for what a peer was asked for that sent what is not what it said.
func (f *fetches) lied(now time.Time, who beacon.Participant) []effect {
	return f.event(now, func() {
		f.refused(who)
		f.fetchAgain()
	})
}

// conclude looks at the answers that are complete, after the machine has taken in what
// they brought: only then is it known what is still missing.
func (f *fetches) conclude(now time.Time) []effect {
	return f.event(now, func() {
		for _, x := range f.ends {
			f.answeredBy(x.from, x.view)
		}
		f.ends = nil
	})
}

// drained goes on with what was put off, now that the application has taken something.
func (f *fetches) drained(now time.Time) []effect {
	return f.event(now, func() { f.takeParked(false) })
}

// tick looks at all requests: their alarm went off.
func (f *fetches) tick(now time.Time) []effect { return f.event(now, f.fetchAgain) }

// event does what one event leads to, and returns its effects.
func (f *fetches) event(now time.Time, do func()) []effect {
	f.now = now
	do()
	out := f.out
	f.out = nil
	return out
}

// lookSoon has the wants looked at soon.
func (f *fetches) lookSoon() {
	f.out = append(f.out, wake{alarmFetch, f.cfg.FetchTimeout / ticksPerTimeout})
}

// fetchFor asks for x, or puts it off.
func (f *fetches) fetchFor(x simplex.Fetch) {
	switch {
	case f.here.has(x.View, x.Below) && x.Below > 0:
	case f.full(x):
		f.park(x)
	default:
		f.fetchNow(x)
	}
}

func (f *fetches) fetchNow(x simplex.Fetch) {
	switch {
	case x.Below == 0:
		f.askFrom(x.View, 0)
	case !f.here.has(x.View, x.Below):
		f.askFrom(f.here.missingFrom(x.Below), x.Below)
	}
}

// full reports whether x has to wait for the backlog. The block of a view by itself, or
// those that are missing between others, wait only for what is executed and not durable:
// the backlog may be there because all of it stands behind them.
func (f *fetches) full(x simplex.Fetch) bool {
	if x.Below == 0 || f.holdsUp(x) {
		return f.here.undelivered() >= backlogMax
	}
	return f.here.backlog() >= backlogMax
}

// holdsUp reports whether nothing can be executed before x is here.
func (f *fetches) holdsUp(x simplex.Fetch) bool {
	parent, first := f.here.hole()
	return first && x.Below == parent
}

// park puts off what was asked for until the backlog is gone. Where there is too much,
// the oldest stays: the machine asks for the views of the present again by itself.
func (f *fetches) park(x simplex.Fetch) {
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
		f.lookSoon()
	}
}

func byView(a, b simplex.Fetch) int { return cmp.Compare(a.View, b.View) }

// takeParked asks for the oldest of what was put off, when half of the backlog is gone
// and nobody is asked for anything: the answer may go on to the rest. When time
// ran out, it asks behind blocks that were not executed too: they may be waiting
// for the very one.
func (f *fetches) takeParked(late bool) {
	for len(f.parked) > 0 && len(f.wants) == 0 {
		if f.here.backlog() > backlogMax/2 && (!late || f.here.undelivered() >= backlogMax) {
			return
		}
		x := slices.MinFunc(f.parked, byView)
		f.parked = slices.DeleteFunc(f.parked, func(y simplex.Fetch) bool { return y == x })
		if !f.here.has(x.View, x.Below) {
			f.fetchNow(x)
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

// askFrom asks a peer for view v and later ones, unless one is asked already, or
// one is just answering for the views before: the answer may go on to v. A range
// waits for the one before it in any case: what names its end may have come from a
// peer that we gave up, one block at a time.
func (f *fetches) askFrom(v, below chain.View) {
	for i := range f.wants {
		w := &f.wants[i]
		if w.view == v || w.view < v && (w.answering() || below > 0 && w.below > 0 && w.running() > 0) {
			w.then(simplex.Fetch{View: v, Below: below})
			if w.view == v && w.below == 0 && below > 0 {
				w.becomeRange(below)
			}
			f.goAhead()
			return
		}
	}
	if w := f.want(v, below); f.ask(w) {
		if below > 0 && f.rates.best(f.now) == nil {
			f.ask(w) // one of two is enough
		}
		f.goAhead()
	} else {
		f.wants = f.wants[:len(f.wants)-1]
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
func (f *fetches) want(v, below chain.View) *want {
	if len(f.wants) == wantsMax {
		f.dropWant(0) // the machine repeats what still matters
	}
	f.wants = append(f.wants, want{view: v, below: below, tried: make([]bool, f.cfg.Set.Len()), since: f.now})
	if len(f.wants) == 1 {
		f.lookSoon()
	}
	return &f.wants[len(f.wants)-1]
}

// dropWant drops a want. Answers that are still to come tell how fast their senders are.
func (f *fetches) dropWant(i int) {
	for _, a := range f.wants[i].asks {
		if a.late {
			f.lates = append(f.lates, a)
		}
	}
	f.lates = f.lates[max(0, len(f.lates)-latesMax):]
	f.wants = slices.Delete(f.wants, i, i+1)
}

// ask sends the request to the peer that is likely to answer fastest, of those that
// are not banned and were not asked for w. It reports whether there is one.
func (f *fetches) ask(w *want) bool {
	return f.askOf(w, func(beacon.Participant) bool { return true })
}

// askOf is ask among those that may be asked.
func (f *fetches) askOf(w *want, may func(beacon.Participant) bool) bool {
	p, ok := f.rates.pick(f.now, func(p beacon.Participant) bool {
		return f.here.mayAsk(p, f.now) && !w.tried[p] && may(p)
	})
	if !ok {
		return false
	}
	w.tried[p], w.later = true, false
	w.asks = append(w.asks, ask{peer: p, view: w.view, below: w.below, at: f.now})
	f.stats.FetchesSent.Add(1)
	f.out = append(f.out, send{p, wire.Request{Round: beacon.Round{Epoch: f.cfg.Set.Epoch(), View: w.view}}})
	return true
}

// fetchAgain asks another peer for everything that takes longer than it should,
// and forgets what has come or what every peer was asked for: the machine
// repeats that if need be.
func (f *fetches) fetchAgain() {
	var follow []simplex.Fetch
	for i := 0; i < len(f.wants); {
		w := &f.wants[i]
		if !f.over(w) && (!f.expire(w) || !f.over(w) && f.askOther(w)) {
			i++
			continue
		}
		follow = append(follow, w.next...)
		f.dropWant(i)
	}
	f.fetchAll(follow)
	if late := f.now.Sub(f.unpark) >= f.cfg.FetchTimeout; late {
		f.unpark = f.now
		f.takeParked(true)
	}
	if len(f.wants)+len(f.parked) > 0 {
		f.lookSoon()
	}
}

// over reports whether w is here and no answer to it runs on to what follows.
func (f *fetches) over(w *want) bool { return f.here.has(w.view, w.below) && !w.answering() }

// expire gives up the requests of w that are overdue. It reports whether nobody is
// left that might answer in time.
func (f *fetches) expire(w *want) bool {
	for i := range w.asks {
		a := &w.asks[i]
		if a.late || !f.overdue(w, a) {
			continue
		}
		a.late = true
		f.rates.recordAnswer(f.now, a, false)
		f.stats.FetchesFailed.Add(1)
		f.stats.Peers[a.peer].Unanswered.Add(1)
	}
	return w.running() == 0 && (!w.later || f.now.Sub(w.since) >= f.cfg.FetchTimeout)
}

// askOther asks somebody else for what is left of w, and reports whether w is still
// wanted by that.
func (f *fetches) askOther(w *want) bool {
	if w.below > 0 {
		w.view = max(w.from, f.reached(w))
	}
	if x := (simplex.Fetch{View: w.view, Below: w.below}); !w.later && f.full(x) {
		f.park(x)
		return false
	}
	if w.later {
		f.out = append(f.out, starved{})
	}
	return f.ask(w)
}
