package simplex

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// maxOffers bounds the proposals kept for one view. At most two validators can
// lead a view (see leader), so anything above serves only to remember the
// early ones, whose right to propose is not known yet.
const maxOffers = 128

// offered keeps a proposal for the current view or the next one.
func (m *Machine) offered(e ProposalReceived) {
	p := e.Proposal
	v := p.Round.View
	if p.Round.Epoch != m.cfg.Epoch || v < m.view || v > m.view+1 || v <= m.floor.View || p.Parent >= v {
		return
	}
	s := m.at(v)
	for i := range s.offers {
		o := &s.offers[i]
		if o.From != e.From {
			continue
		}
		if o.Proposal != p && !o.twoFaced {
			o.twoFaced = true
			m.emit(Equivocation{From: e.From, First: o.Proposal, Second: p})
		}
		return
	}
	if len(s.offers) == maxOffers {
		return
	}
	s.offers = append(s.offers, offer{ProposalReceived: e})
	if v == m.view {
		m.tryVerify()
	}
}

// tryVerify asks the application about the first admissible proposal of the
// current view.
func (m *Machine) tryVerify() {
	s := m.at(m.view)
	if s.verifying != nil || s.votes[Notarize] != nil || s.votes[Nullify] != nil {
		return
	}
	for _, o := range s.offers {
		if parent, ok := m.admissible(o); ok {
			p := o.Proposal
			s.verifying = &p
			m.emit(RequestVerify{Proposal: p, Parent: parent, Leader: o.From})
			return
		}
	}
}

// admissible applies the parent rule: the parent is certified or finalized,
// every view between parent and proposal is nullified, and the sender leads.
// It fetches what is missing to decide.
func (m *Machine) admissible(o offer) (Parent, bool) {
	p := o.Proposal
	if p.Parent < m.floor.View {
		return Parent{}, false
	}
	who, known := m.leader(p.Round.View, p.Parent)
	if !known {
		m.fetch(p.Round.View - 2) // we came through a certificate of the view before
		return Parent{}, false
	}
	if who != o.From || !m.gap(p.Parent, p.Round.View) {
		return Parent{}, false
	}
	parent, ok := m.parent(p.Parent)
	if !ok && m.unknown(p.Parent) {
		m.fetchBelow(p.Parent)
	}
	return parent, ok
}

// gap reports whether all views in (p, v) are nullified, and fetches the
// highest that is not.
func (m *Machine) gap(p, v chain.View) bool {
	for w := v - 1; w > p; w-- {
		if s := m.views[w]; s == nil || s.certs[Nullify] == nil {
			m.fetch(w)
			return false
		}
	}
	return true
}

// parent returns the block of view v as a parent, if it may be one: it is the
// floor, or notarized and taken in by the application.
func (m *Machine) parent(v chain.View) (Parent, bool) {
	if v == m.floor.View {
		seed, ok := m.seed(v)
		return Parent{Round: m.round(v), Payload: m.floor.Payload, Seed: seed}, ok || v == 0
	}
	s := m.views[v]
	if s == nil || !s.loaded {
		return Parent{}, false
	}
	seed, _ := m.seed(v) // loaded blocks have a certificate
	return Parent{Round: m.round(v), Payload: s.block().Payload, Seed: seed}, true
}

// unknown reports whether no quorum's word about a block of view v is here.
func (m *Machine) unknown(v chain.View) bool {
	s := m.views[v]
	return v > m.floor.View && (s == nil || s.block() == nil)
}

// tryPropose asks for a block when we lead the current view.
func (m *Machine) tryPropose() {
	s := m.at(m.view)
	if m.cfg.Signer == nil || s.building != nil || s.votes[Notarize] != nil || s.votes[Nullify] != nil {
		return
	}
	for p := m.view - 1; ; p-- {
		if parent, ok := m.parent(p); ok {
			if who, known := m.leader(m.view, p); known && who == m.cfg.Self {
				s.building = &parent
				m.emit(RequestProposal{Round: m.round(m.view), Parent: parent})
			}
			return
		}
		if w := m.views[p]; p == m.floor.View || w == nil || w.certs[Nullify] == nil {
			m.fetchToPropose(p)
			return // wait for the certificate or the application
		}
	}
}

// fetchToPropose asks for view p if nothing is known of it and we lead, as far
// as we can tell. Nobody else would: the others ask for what a proposal needs
// when they see it, and while each leader in turn lacks one old nullification no
// view has a proposal, and none lasts until the retry timer.
func (m *Machine) fetchToPropose(p chain.View) {
	if s := m.views[p]; !m.unknown(p) || s != nil && s.certs[Nullify] != nil {
		return
	}
	if who, known := m.expected(); !known || who == m.cfg.Self {
		m.fetch(p)
	}
}

// proposed votes for our own block. It needs no verification.
func (m *Machine) proposed(e ProposalReady) {
	s := m.views[e.View]
	if e.View != m.view || s.building == nil || s.votes[Nullify] != nil || s.votes[Notarize] != nil {
		return
	}
	p := Proposal{Round: m.round(e.View), Parent: s.building.Round.View, Payload: e.Payload}
	if !s.overtaken(p) {
		m.vote(Notarize, p)
	}
}

// overtaken reports whether a quorum chose another block for the view than p: a
// vote about p would come to nothing, and keep us from finalizing theirs.
func (s *attempt) overtaken(p Proposal) bool {
	b := s.block()
	return b != nil && *b != p
}

// verified votes for a valid proposal and against a view with an invalid one.
func (m *Machine) verified(e Verified) {
	s := m.views[e.View]
	if e.View != m.view || s.verifying == nil || s.verifying.Payload != e.Payload || s.overtaken(*s.verifying) {
		return
	}
	if !e.OK {
		m.nullify()
		return
	}
	if s.votes[Nullify] == nil && s.votes[Notarize] == nil {
		m.vote(Notarize, *s.verifying)
	}
}

// vote signs, and orders the vote kept before it is sent. The callers keep the
// rules; this is the only place where a vote is made.
func (m *Machine) vote(k Kind, p Proposal) {
	if m.cfg.Signer == nil || m.cfg.Permit != nil && !m.cfg.Permit(k, p) {
		return
	}
	v := m.cfg.Signer.Sign(k, p)
	m.at(p.Round.View).votes[k] = &v
	m.emit(Persist{Record: v}, Broadcast{Vote: v})
}

// nullify votes to end the current view without a block, unless we voted to
// finalize it, and starts to remind the others.
func (m *Machine) nullify() {
	s := m.at(m.view)
	if s.votes[Nullify] == nil && s.votes[Finalize] == nil {
		m.vote(Nullify, Proposal{Round: m.round(m.view)})
	}
	if !s.retrying {
		s.retrying = true
		m.emit(ArmTimer{View: m.view, Timer: TimerRetry})
	}
}

// finalize votes to finalize the notarized block of view v. We do so only if
// that contradicts nothing we signed for v, and if its proposer did not show
// us two faces.
func (m *Machine) finalize(v chain.View) {
	s := m.at(v)
	own, block := s.votes[Notarize], s.block()
	switch {
	case s.votes[Finalize] != nil || s.certs[Finalize] != nil:
	case s.votes[Nullify] != nil || m.twoFaced(v):
	case own != nil && own.Proposal != *block:
		// two digests of one view under our name are evidence (resolution 11.2)
	default:
		m.vote(Finalize, *block)
	}
}

// twoFaced reports whether the proposer of the notarized block of view v made
// another proposal for v. What others did is of no consequence: a validator
// that does not lead must not be able to hold back finality.
func (m *Machine) twoFaced(v chain.View) bool {
	s := m.at(v)
	who, known := m.leader(v, s.block().Parent)
	return known && slices.ContainsFunc(s.offers, func(o offer) bool { return o.twoFaced && o.From == who })
}

// leaderNullified gives up a view whose leader has given it up.
func (m *Machine) leaderNullified(e VoteSeen) {
	if e.View != m.view {
		return
	}
	s := m.at(m.view)
	if who, known := m.expected(); known && who == e.From && s.votes[Notarize] == nil {
		m.nullify()
	}
}

// timer acts on a timer of the current view.
func (m *Machine) timer(e TimerFired) {
	if e.View != m.view || m.view == 0 {
		return
	}
	s := m.at(m.view)
	switch e.Timer {
	case TimerLeader:
		if s.verifying == nil && s.votes[Notarize] == nil {
			m.nullify()
		}
	case TimerSkip:
		if m.silent() && s.verifying == nil && s.votes[Notarize] == nil {
			m.nullify()
		}
	case TimerCertification:
		m.nullify()
	case TimerRetry:
		m.nullify() // it may be permitted by now
		m.remind()
	}
}

// remind sends again what could move the others, and asks again for what could
// move us.
func (m *Machine) remind() {
	for _, v := range m.at(m.view).votes {
		if v != nil {
			m.emit(Broadcast{Vote: *v})
		}
	}
	if s := m.views[m.view-1]; s != nil {
		for _, c := range s.certs {
			if c != nil {
				m.emit(BroadcastCertificate{Certificate: *c})
			}
		}
	}
	m.emit(Fetch{View: m.view})
	m.askAgain()
	m.progress()
	m.emit(ArmTimer{View: m.view, Timer: TimerRetry})
}
