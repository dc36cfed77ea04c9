package simplex

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// certificate takes in a certificate of a quorum.
func (m *Machine) certificate(c Certificate) {
	v := c.Proposal.Round.View
	if c.Proposal.Round.Epoch != m.cfg.Epoch {
		return
	}
	if v <= m.floor.View {
		if v == m.floor.View && m.floor.Seed == (bls.Signature{}) {
			m.floor.Seed = c.Seed
			m.progress()
		}
		return
	}
	s := m.at(v)
	if old := s.certs[c.Kind]; old != nil {
		if old.Proposal != c.Proposal {
			m.conflict(*old, c)
		}
		return
	}
	for _, other := range s.certs {
		if other != nil && contradict(*other, c) {
			m.conflict(*other, c)
			return
		}
	}
	s.certs[c.Kind] = &c
	if m.view > 0 {
		m.emit(Persist{Record: c})
		if v+1 >= m.view { // older ones are our own catching up
			m.emit(BroadcastCertificate{Certificate: c})
		}
	}
	if c.Kind == Finalize {
		m.finals = insert(m.finals, v)
	}
	if c.Kind != Nullify {
		m.named = insert(m.named, v)
	}
	// Finality overrules a verdict of ours: the application is asked once more.
	if c.Kind != Nullify && !s.loaded && (s.certify != rejected || c.Kind == Finalize) {
		m.uncertified = insert(m.uncertified, v)
	}
	if c.Kind != Notarize && m.view > 0 {
		m.enterView(v + 1)
	}
	m.progress()
}

// contradict reports whether two certificates of one view, of different kinds,
// cannot both exist. A notarization and a nullification can.
func contradict(a, b Certificate) bool {
	if a.Kind == Nullify || b.Kind == Nullify {
		return a.Kind == Finalize || b.Kind == Finalize
	}
	return a.Proposal != b.Proposal
}

// tryCertify asks the application to take in notarized blocks whose parents it
// has.
func (m *Machine) tryCertify() {
	for _, v := range m.uncertified {
		s := m.views[v]
		if s.asked {
			continue
		}
		block := *s.block()
		if parent, ok := m.parent(block.Parent); ok {
			s.asked = true
			who, known := m.leader(v, block.Parent)
			m.emit(RequestCertify{Proposal: block, Parent: parent, Leader: who, Known: known, Again: s.certify == accepted})
		} else if m.unknown(block.Parent) {
			m.fetchBelow(block.Parent)
		}
	}
}

// MissingFrom returns the lowest view that may be missing below the unknown block
// of view p: the first one without a certificate after the highest block below p
// that a certificate names, or p itself. A validator that was away for long so
// asks for the oldest missing blocks, which it can execute, and not back from the
// newest, one by one. Nor does it ask for what it has: an answer is bounded, and
// nullifications, of which a time without blocks has many, would fill it again
// and again. If one of those views has a block too, its child will name it.
func (m *Machine) MissingFrom(p chain.View) chain.View {
	v := m.floor.View + 1
	if i, _ := slices.BinarySearch(m.named, p); i > 0 {
		v = m.named[i-1] + 1
	}
	for ; v < p; v++ {
		if s := m.views[v]; s == nil || s.certs[Nullify] == nil {
			break
		}
	}
	return v
}

// LackingFrom is [Machine.MissingFrom] for a driver that may lack the newest of the
// blocks that certificates name, as the end of an answer does whose last certificate
// came without its block: it begins with the first of these. here reports whether the
// driver has a block, or what will become one. Only the newest count: a notarized
// block that nobody keeps any more must not be asked for again with each answer.
func (m *Machine) LackingFrom(p chain.View, here func(Proposal) bool) chain.View {
	v := m.MissingFrom(p)
	for i, _ := slices.BinarySearch(m.named, p); i > 0; i-- {
		s := m.views[m.named[i-1]]
		if s.loaded || s.certify == rejected || here(*s.block()) {
			break
		}
		v = m.named[i-1]
	}
	return v
}

// Hole returns the parent of the lowest block that certificates name and whose parent
// they do not: what is missing below it keeps all that came above from being taken in.
// first reports whether it does so now: no block below waits for its verdict. 0: there
// is none.
func (m *Machine) Hole() (parent chain.View, first bool) {
	for i, v := range m.uncertified {
		s := m.views[v]
		if !s.asked && m.unknown(s.block().Parent) {
			return s.block().Parent, i == 0
		}
	}
	return 0, false
}

// certified takes in the verdict on a notarized block.
func (m *Machine) certified(e Certified) {
	s := m.views[e.View]
	if e.View <= m.floor.View || s == nil || !s.asked || s.loaded || s.block().Payload != e.Payload {
		return
	}
	if !e.OK && (s.certify == accepted || s.certs[Finalize] != nil) {
		m.halt(fmt.Errorf("view %d: block %v: %w", e.View, e.Payload, ErrVerdictChanged))
		return
	}
	first := s.certify == pending
	s.asked, s.loaded = false, e.OK
	m.uncertified = remove(m.uncertified, e.View)
	if !e.OK {
		s.certify = rejected
	} else {
		s.certify = accepted
	}
	if first {
		m.emit(Persist{Record: Certification{Round: m.round(e.View), Payload: e.Payload, OK: e.OK}})
	}
	switch {
	case !e.OK:
		if e.View == m.view {
			m.nullify()
		}
	default:
		m.finalize(e.View)
		m.enterView(e.View + 1)
	}
	m.progress()
}

// tryFinalize reports finalized blocks as soon as their whole ancestry down to
// the floor is here and executed.
func (m *Machine) tryFinalize() {
	for len(m.finals) > 0 {
		v := m.finals[0]
		chain, ok := m.branch(v)
		if !ok {
			return
		}
		c := *m.views[v].certs[Finalize]
		m.floor = Floor{View: v, Payload: c.Proposal.Payload, Seed: c.Seed}
		m.finals = m.finals[1:]
		m.emit(Finalized{Chain: chain, Certificate: c})
		m.prune()
	}
}

// branch returns the blocks above the floor up to view v, parents first, if
// the application holds them all.
func (m *Machine) branch(v chain.View) ([]Certificate, bool) {
	var up []Certificate
	complete := true
	for v > m.floor.View {
		s := m.views[v]
		if s == nil || s.block() == nil {
			return nil, false // tryCertify sees to it
		}
		complete = complete && s.loaded
		own := s.certs[Finalize]
		if own == nil {
			own = s.certs[Notarize]
		}
		up = append(up, *own)
		v = own.Proposal.Parent
	}
	if v != m.floor.View {
		m.halt(fmt.Errorf("finalized chain leaves out finalized view %d: %w", m.floor.View, ErrConflict))
		return nil, false
	}
	slices.Reverse(up)
	return up, complete
}

// prune drops what no rule needs any more: views at or below the floor, except
// for the certificates that peers may ask for.
func (m *Machine) prune() {
	keep := func(v chain.View) bool { return v > m.floor.View }
	m.uncertified = slices.DeleteFunc(m.uncertified, func(v chain.View) bool { return !keep(v) })
	m.named = slices.DeleteFunc(m.named, func(v chain.View) bool { return !keep(v) })
	if m.floor.View > m.cfg.Retention {
		for end := m.floor.View - m.cfg.Retention; m.low < end; m.low++ {
			delete(m.views, m.low)
		}
	}
}

// insert adds v to an ascending list without duplicates.
func insert(list []chain.View, v chain.View) []chain.View {
	i, found := slices.BinarySearch(list, v)
	if found {
		return list
	}
	return slices.Insert(list, i, v)
}

// remove takes v out of an ascending list.
func remove(list []chain.View, v chain.View) []chain.View {
	if i, found := slices.BinarySearch(list, v); found {
		return slices.Delete(list, i, i+1)
	}
	return list
}
