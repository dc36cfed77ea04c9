package engine

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// A line of 100 ms carries more than one answer while the next question is on its way.
// So two ranges are asked for side by side, of two validators: the oldest that is
// missing, and one behind it that begins where the first will end if it is as long as
// those of late (docs/adr/0151). If it begins too early, some blocks come twice; if too late, what
// lies between is asked for when the first is here, as anything that is missing.

// span notes over how many views an answer to a range went, if it was as long as an
// answer is: who sends less says nothing about others.
func (f *fetches) span(a *ask) {
	if !a.late && a.bodies > 0 && (a.bodies == answerBlocks || a.bytes >= answerBytes/2) {
		f.spans[1], f.spans[0] = f.spans[0], a.last-a.view+1
	}
}

// expected is over how many views an answer goes: the lower of the last two, of which one
// may be a liar's who leaves blocks out. 0: not known.
func (f *fetches) expected() chain.View { return min(f.spans[0], f.spans[1]) }

// reached returns the first view of a range that did not come yet, as far as the range
// behind it that is asked for as well.
func (f *fetches) reached(w *want) chain.View {
	if w.to > 0 {
		return f.here.missingFrom(w.to)
	}
	return f.here.missingFrom(w.below)
}

// goAhead asks for the range behind the one that is under way, if nothing holds that up:
// somebody else has to be quick as well, and there has to be room for both.
func (f *fetches) goAhead() {
	first := -1
	for i := range f.wants {
		if w := &f.wants[i]; w.below > 0 {
			if first >= 0 {
				return // two are asked for
			}
			first = i
		}
	}
	views := f.expected()
	if first < 0 || views == 0 || len(f.wants) == wantsMax || f.rates.best(f.now) == nil || f.here.backlog()+answerBlocks >= backlogMax {
		return
	}
	w := &f.wants[first]
	from := w.view + views
	if w.to > 0 || w.running() == 0 || from >= w.below {
		return
	}
	asks := w.asks
	ahead := f.want(from, w.below)
	ahead.from = from
	asked := make([]bool, len(ahead.tried))
	for _, a := range asks {
		asked[a.peer] = true
	}
	if !f.askOf(ahead, func(p beacon.Participant) bool { return !asked[p] }) {
		f.wants = slices.Delete(f.wants, len(f.wants)-1, len(f.wants))
		return
	}
	f.wants[first].to = from
}
