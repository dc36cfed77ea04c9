package engine

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// lead is who leads the current view, and whether it proposed.
type lead struct {
	view     chain.View
	who      beacon.Participant
	known    bool
	proposed bool
	early    chain.View // the next view, if a proposal for it came before we entered it
}

// entered closes the account of the view before and opens that of x.
func (e *Engine) entered(x simplex.EnterView) {
	l := &e.lead
	if l.known && !l.proposed && !e.machine.Knows(l.view, simplex.Notarize) && !e.machine.Knows(l.view, simplex.Finalize) {
		e.Stats.Leaders[l.who].ProposalsMissed.Add(1)
	}
	early := l.early
	*l = lead{view: x.Round.View, who: x.Leader, known: x.Known}
	if early == l.view {
		e.proposedIn(l.view)
	}
}

// proposedIn counts a proposal of the leader of view v, once.
func (e *Engine) proposedIn(v chain.View) {
	l := &e.lead
	switch {
	case v == l.view && l.known && !l.proposed:
		l.proposed = true
		e.Stats.Leaders[l.who].ProposalsMade.Add(1)
	case v == l.view+1:
		l.early = v
	}
}
