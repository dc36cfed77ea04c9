package simplex

import "fmt"

// replay puts back what a journal record says. Records at or below the floor
// are of views that are never entered again.
func (m *Machine) replay(r Record) {
	switch r := r.(type) {
	case Vote:
		m.replayVote(r)
	case Certificate:
		m.certificate(r)
	case Certification:
		s := m.views[r.Round.View]
		if r.Round.Epoch != m.cfg.Epoch || r.Round.View <= m.floor.View || s == nil || s.block() == nil {
			return // its certificate was pruned with the floor
		}
		s.certify = accepted
		if !r.OK {
			s.certify = rejected
		}
		if !r.OK && s.certs[Finalize] == nil {
			m.uncertified = remove(m.uncertified, r.Round.View)
		}
	default:
		panic("simplex: unknown record")
	}
}

func (m *Machine) replayVote(v Vote) {
	view := v.Proposal.Round.View
	if v.Proposal.Round.Epoch != m.cfg.Epoch || view <= m.floor.View || m.cfg.Signer == nil {
		return
	}
	s := m.at(view)
	old := s.votes[v.Kind]
	if v.Signer != m.cfg.Self || old != nil && *old != v {
		m.halt(fmt.Errorf("view %d: %s of validator %d: %w", view, v.Kind, v.Signer, ErrForeignVote))
		return
	}
	s.votes[v.Kind] = &v
}

// resume enters the view where the journal ends and puts our votes back into
// the world. That includes votes that may never have left: a whole cluster can
// crash between "nullify is durable" and "nullification is formed", and would
// wait for ever if each took its own vote for sent.
func (m *Machine) resume() {
	if m.view > 0 {
		return
	}
	start := m.floor.View + 1
	for v := start; v <= m.top; v++ {
		s := m.views[v]
		if s == nil {
			continue
		}
		if s.votes != [Finalize + 1]*Vote{} {
			start = max(start, v)
		}
		if s.certs[Nullify] != nil || s.certs[Finalize] != nil || s.certify == accepted {
			start = max(start, v+1)
		}
	}
	m.enterView(start)
	for v := m.floor.View + 1; v <= m.top; v++ {
		s := m.views[v]
		if s == nil {
			continue
		}
		for k, vote := range s.votes {
			if vote != nil && s.certs[k] == nil {
				m.emit(Broadcast{Vote: *vote})
			}
		}
		if s.certify == accepted && v >= m.floor.View {
			m.finalize(v) // the crash may have come between verdict and vote
		}
	}
	if m.at(m.view).votes[Nullify] != nil {
		m.nullify()
	}
	m.progress()
}
