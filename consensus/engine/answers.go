package engine

import (
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// helped notes that a peer sent a certificate of view v, and n bytes with it. What it
// sent before it was asked, or twice, is not counted.
func (f *fetches) helped(now time.Time, from beacon.Participant, v chain.View, n int) {
	for i := range f.wants {
		for j := range f.wants[i].asks {
			if a := &f.wants[i].asks[j]; a.peer == from {
				a.countReceived(now, v, n)
			}
		}
	}
	for i := range f.lates {
		if a := &f.lates[i]; a.peer == from {
			a.countReceived(now, v, n)
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

// answeredBy ends a want whose answer is complete. If it was of no help, the
// next peer is asked at once.
func (f *fetches) answeredBy(from beacon.Participant, v chain.View) {
	is := func(a ask) bool { return a.peer == from && a.view == v }
	if i := slices.IndexFunc(f.lates, is); i >= 0 {
		f.rates.recordAnswer(f.now, &f.lates[i], true)
		f.lates = slices.Delete(f.lates, i, i+1)
	}
	for i := range f.wants {
		w := &f.wants[i]
		j := slices.IndexFunc(w.asks, is)
		if j < 0 {
			continue
		}
		a := w.asks[j]
		torn := f.leftOut(&a)
		if torn {
			a.bytes = 0
		}
		f.rates.recordAnswer(f.now, &a, true)
		w.asks = slices.Delete(w.asks, j, j+1)
		stuck := f.stuck(w)
		if stuck && (w.running() > 0 || w.tries() < f.cfg.Set.Len()-1 && f.ask(w)) {
			return
		}
		next := w.next
		if !torn {
			f.span(&a)
		}
		f.dropWant(i)
		if x, ok := f.hole(); ok && !stuck {
			next = slices.Insert(next, 0, x)
		}
		f.fetchAll(next)
		f.takeParked(false)
		f.goAhead()
		return
	}
}

// hole returns what to ask for below the lowest block whose parent is not named, if
// nobody is being asked for it: the machine asks for what it names once a view.
func (f *fetches) hole() (simplex.Fetch, bool) {
	parent, _ := f.here.hole()
	if parent == 0 {
		return simplex.Fetch{}, false
	}
	v := f.here.missingFrom(parent)
	for i := range f.wants {
		if w := &f.wants[i]; w.running() > 0 && w.view <= v && (w.to == 0 || v < w.to) {
			return simplex.Fetch{}, false
		}
	}
	return simplex.Fetch{View: v, Below: parent}, true
}

// leftOut reports whether an answer lacks blocks that others of it stand on. Nobody
// honest does that, but the network may lose some: who did is not a quick peer.
func (f *fetches) leftOut(a *ask) bool {
	parent, _ := f.here.hole()
	return parent >= a.view && parent < a.newest && a.newest < a.below
}

// stuck reports whether w is no further than when it was asked for.
func (f *fetches) stuck(w *want) bool {
	return !f.here.has(w.view, w.below) && (w.below == 0 || f.reached(w) <= w.view)
}

// fetchAll asks for what followed an answer and is not here yet.
func (f *fetches) fetchAll(next []simplex.Fetch) {
	for _, x := range next {
		if !f.here.has(x.View, x.Below) {
			f.fetchFor(x)
		}
	}
}
