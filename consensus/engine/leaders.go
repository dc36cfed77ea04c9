package engine

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// lead is who leads a view, and whether it proposed.
type lead struct {
	view     chain.View
	who      beacon.Participant
	known    bool
	proposed bool
	heard    bool // a vote of this view came in: we were there when it took place
}

// leads is the accounts of the current view, of the one before, whose proposal
// may be overtaken by the certificate that ended it, and of the next one.
type leads struct {
	stats             []LeaderStats
	before, now, next lead
}

// knower tells which certificates are known.
type knower interface {
	Knows(v chain.View, k simplex.Kind) bool
}

// timedOut counts that the leader of the current view did not propose in time.
func (l *leads) timedOut() {
	if l.now.known {
		l.stats[l.now.who].Timeouts.Add(1)
	}
}

// of returns the account of view v, if it is open.
func (l *leads) of(v chain.View) *lead {
	for _, a := range []*lead{&l.before, &l.now, &l.next} {
		if a.view == v {
			return a
		}
	}
	return nil
}

// openView opens the account of x and closes the oldest one. A leader that kept
// its proposal from us has missed it, though others made a certificate of it; one
// whose view we only read about has not.
func (l *leads) openView(x simplex.EnterView, certificates knower) {
	if b := l.before; b.known && !b.proposed && (b.heard || !certificates.Knows(b.view, simplex.Notarize) && !certificates.Knows(b.view, simplex.Finalize)) {
		l.stats[b.who].ProposalsMissed.Add(1)
	}
	now := l.next
	if now.view != x.Round.View {
		now = lead{view: x.Round.View}
	}
	early := now.proposed
	now.who, now.known, now.proposed = x.Leader, x.Known, false
	l.before, l.now, l.next = l.now, now, lead{view: x.Round.View + 1}
	if early {
		l.proposed(now.view)
	}
}

// heard notes that somebody voted in view v.
func (l *leads) heard(v chain.View) {
	if a := l.of(v); a != nil {
		a.heard = true
	}
}

// proposed counts a proposal of the leader of view v, once.
func (l *leads) proposed(v chain.View) {
	a := l.of(v)
	if a == nil || a.proposed {
		return
	}
	a.proposed = true
	if a.known {
		l.stats[a.who].ProposalsMade.Add(1)
	}
}
