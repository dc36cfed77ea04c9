package simtest

import (
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// marginViews is how many views lie between the block that a selection is
// about and the seed that makes it (SELECTION_SEED_DELAY_VIEWS, resolution
// 11.17).
const marginViews = 3

// delaysMax bounds the delays that [Margins] counts.
const delaysMax = 16

// Margins holds the activation margin of resolution 11.17 over runs. A view
// counts if its block was notarized. Its margin is the time from the moment
// when it was decided to the moment when f liars, with the earliest honest votes, could
// know the seed three views on. Below zero, a coalition knew the seed while the
// block could still be anything.
//
// Decided means final for an honest validator, or left out by a block that is.
// Bound is earlier: f+1 honest validators voted to finalize the block, or one
// after it, so that no nullification can take it away any more, whoever knows.
type Margins struct {
	Views    int // measured
	Least    time.Duration
	Negative int

	LeastBound    time.Duration
	NegativeBound int

	// Delays counts views by the smallest delay in views that has no negative
	// margin, at most delaysMax-1.
	Delays [delaysMax]int
}

func (m *Margins) add(o Margins) {
	if o.Views == 0 {
		return
	}
	if m.Views == 0 {
		m.Least, m.LeastBound = o.Least, o.LeastBound
	}
	m.Views += o.Views
	m.Least, m.LeastBound = min(m.Least, o.Least), min(m.LeastBound, o.LeastBound)
	m.Negative += o.Negative
	m.NegativeBound += o.NegativeBound
	for i, n := range o.Delays {
		m.Delays[i] += n
	}
}

// Delay returns the smallest delay in views without a negative margin.
func (m *Margins) Delay() int {
	for d := delaysMax - 1; d > 0; d-- {
		if m.Delays[d] > 0 {
			return d
		}
	}
	return 0
}

// margins gathers times during a run.
type margins struct {
	voters  map[chain.View]int           // honest validators that voted in a view
	heard   map[voterKey]bool            // those
	finals  map[chain.View]int           // honest validators that voted to finalize in a view
	known   map[chain.View]time.Duration // when f liars and they could know its seed
	decided []time.Duration              // by view: when that view or a later one was final
	bound   []time.Duration              // by view: when that view or a later one was bound
}

type voterKey struct {
	who  beacon.Participant
	view chain.View
}

func newMargins() margins {
	return margins{
		voters: make(map[chain.View]int), heard: make(map[voterKey]bool), finals: make(map[chain.View]int),
		known: make(map[chain.View]time.Duration),
	}
}

// voted takes in a vote that leaves an honest validator, before the auditor
// remembers it. With the earliest votes that complete a quorum a coalition of f
// knows the seed: messages to liars take no time.
func (m *margins) voted(a *auditor, v *validator, vote simplex.Vote) {
	view, n := vote.Proposal.Round.View, v.set.Len()
	if n == 1 {
		return
	}
	if _, before := a.votes[voteKey{v.id, view, simplex.Finalize}]; vote.Kind == simplex.Finalize && !before {
		if m.finals[view]++; m.finals[view] == n-v.set.Quorum()+1 {
			m.bound = extend(m.bound, view, a.net.now)
		}
	}
	if m.heard[voterKey{v.id, view}] {
		return
	}
	m.heard[voterKey{v.id, view}] = true
	if m.voters[view]++; m.voters[view] == v.set.Quorum()-(n-1)/3 {
		m.known[view] = a.net.now
	}
}

// finalized notes that a view is final for v.
func (m *margins) finalized(v *validator, view chain.View) {
	if v.player == nil {
		m.decided = extend(m.decided, view, v.net.now)
	}
}

// extend fills times up to view with now.
func extend(times []time.Duration, view chain.View, now time.Duration) []time.Duration {
	for chain.View(len(times)) <= view {
		times = append(times, now)
	}
	return times
}

// report measures all notarized views that were decided, against seeds that
// were known.
func (m *margins) report(a *auditor) Margins {
	var out Margins
	for view := chain.View(1); view < chain.View(len(m.decided)); view++ {
		_, notarized := a.certs[certKey{view, simplex.Notarize}]
		known, ok := m.known[view+marginViews]
		if !ok || !notarized {
			continue
		}
		one := Margins{Views: 1, Least: known - m.decided[view]}
		if one.Least < 0 {
			one.Negative = 1
		}
		bound := m.decided[view]
		if view < chain.View(len(m.bound)) {
			bound = min(bound, m.bound[view])
		}
		if one.LeastBound = known - bound; one.LeastBound < 0 {
			one.NegativeBound = 1
		}
		one.Delays[m.delay(view)] = 1
		out.add(one)
	}
	return out
}

// delay returns the smallest number of views after view whose seed nobody knew
// before view was decided.
func (m *margins) delay(view chain.View) int {
	for d := 1; d < delaysMax-1; d++ {
		if known, ok := m.known[view+chain.View(d)]; !ok || known >= m.decided[view] {
			return d
		}
	}
	return delaysMax - 1
}
