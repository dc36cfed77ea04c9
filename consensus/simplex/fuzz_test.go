package simplex

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// script reads events off fuzz input. Certificates come from a world that keeps
// the rules of quorums: what it certified it does not contradict.
type script struct {
	in    []byte
	certs map[chain.View][Finalize + 1]*Proposal
}

func (s *script) byte() byte {
	if len(s.in) == 0 {
		return 0
	}
	b := s.in[0]
	s.in = s.in[1:]
	return b
}

// next makes an event around view v.
func (s *script) next(v chain.View) Event {
	op := s.byte()
	view := max(1, v+chain.View(s.byte()%5)) - 1
	view = max(view, 1)
	back := chain.View(s.byte()%3) + 1
	p := prop(view, view-min(view, back), s.byte()%3)
	who := beacon.Participant(op >> 4 % 3)
	switch op % 12 {
	case 0, 1:
		return ProposalReceived{who, p}
	case 2:
		return ProposalReady{view, p.Payload}
	case 3:
		return ProposalFailed{view}
	case 4, 5:
		return Verified{view, p.Payload, op&0x80 == 0}
	case 6, 7:
		return Certified{view, p.Payload, true}
	case 8:
		return VoteSeen{who, view, Nullify}
	case 9:
		return TimerFired{view, Timer(op >> 4 % 4)}
	}
	return s.certificate(Kind(1+op>>4%3), p)
}

// certificate returns one that can exist beside those before it.
func (s *script) certificate(k Kind, p Proposal) Event {
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	v := p.Round.View
	seen := s.certs[v]
	for other, q := range seen {
		if q == nil {
			continue
		}
		a, b := Certificate{Kind: k, Proposal: p}, Certificate{Kind: Kind(other), Proposal: *q}
		if Kind(other) == k && *q != p || Kind(other) != k && contradict(a, b) {
			return TimerFired{v, TimerCertification}
		}
	}
	// A final block's ancestry is certified, down to the floor.
	if k != Nullify && p.Parent > 0 && s.certs[p.Parent][Notarize] == nil {
		return TimerFired{v, TimerLeader}
	}
	for w := p.Parent + 1; k != Nullify && w < v; w++ {
		if s.certs[w][Nullify] == nil {
			return TimerFired{v, TimerLeader}
		}
	}
	if k == Finalize && seen[Notarize] == nil {
		k = Notarize
	}
	seen[k] = &p
	s.certs[v] = seen
	return cert(k, p)
}

// witness holds what left a machine against its rules, over restarts.
type witness struct {
	t     *testing.T
	votes map[chain.View][Finalize + 1]*Vote
	kept  []Record // durable before anything binding leaves
	view  chain.View
	floor chain.View
	tip   chain.View // of the last final block
}

func (w *witness) see(m *Machine, effects []Effect) {
	w.t.Helper()
	for _, e := range effects {
		switch e := e.(type) {
		case Persist:
			w.kept = append(w.kept, e.Record)
		case Broadcast:
			w.voted(e.Vote)
		case EnterView:
			if e.Round.View <= w.view {
				w.t.Fatalf("enters view %d after %d", e.Round.View, w.view)
			}
			w.view = e.Round.View
		case Finalized:
			for _, c := range e.Chain {
				if c.Proposal.Parent != w.tip {
					w.t.Fatalf("final block of view %d extends %d, not %d", c.Proposal.Round.View, c.Proposal.Parent, w.tip)
				}
				w.tip = c.Proposal.Round.View
			}
		case Halt:
			w.t.Fatalf("halts in a world that keeps the rules: %v", e.Err)
		}
	}
	if m.Floor().View < w.floor {
		w.t.Fatalf("floor goes back to %d", m.Floor().View)
	}
	w.floor = m.Floor().View
}

func (w *witness) voted(v Vote) {
	w.t.Helper()
	view := v.Proposal.Round.View
	found := false
	for _, r := range w.kept {
		found = found || r == Record(v)
	}
	if !found {
		w.t.Fatalf("%s of view %d leaves before it is kept", v.Kind, view)
	}
	votes := w.votes[view]
	if old := votes[v.Kind]; old != nil && *old != v {
		w.t.Fatalf("two %s of view %d", v.Kind, view)
	}
	votes[v.Kind] = &v
	w.votes[view] = votes
	if votes[Nullify] != nil && votes[Finalize] != nil {
		w.t.Fatalf("nullify and finalize in view %d", view)
	}
	if votes[Notarize] != nil && votes[Finalize] != nil && votes[Notarize].Proposal != votes[Finalize].Proposal {
		w.t.Fatalf("notarizes one block and finalizes another in view %d", view)
	}
}

// FuzzMachine steps a machine through any sequence of events, with restarts in
// between from what it kept. Whatever comes, it votes by the rules, keeps a vote
// before it sends it, and goes neither back nor off its chain.
func FuzzMachine(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 4, 1, 0, 1, 10, 1, 0, 1, 6, 1, 0, 1, 0x2a, 1, 0, 1})
	f.Add([]byte{9, 1, 0, 1, 0x1a, 1, 0, 0, 0x0a, 1, 0, 1, 6, 1, 0, 1, 255, 1, 2, 3})
	f.Add([]byte("timers, certificates and proposals of every kind, in no order"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 512 {
			return // a restart reads all again
		}
		who := fakeElector{other, self}
		if len(in) > 0 && in[0]&1 == 1 {
			who = fakeElector{self, other}
		}
		s := &script{in: in, certs: map[chain.View][Finalize + 1]*Proposal{}}
		w := &witness{t: t, votes: map[chain.View][Finalize + 1]*Vote{}}
		m := New(testConfig(who))
		w.see(m, m.Step(Resumed{}))
		for restarts := 0; len(s.in) > 0; {
			if s.in[0] == 255 && restarts < 5 {
				restarts++
				s.byte()
				m = restart(w, who)
			}
			w.see(m, m.Step(s.next(m.View())))
		}
	})
}

// restart begins anew with genesis as the floor: all that is known comes from
// the journal.
func restart(w *witness, who Elector) *Machine {
	m := New(testConfig(who))
	journal := w.kept
	w.view, w.floor, w.tip = 0, 0, 0
	for _, r := range journal {
		w.see(m, m.Step(Replayed{r}))
	}
	w.see(m, m.Step(Resumed{}))
	return m
}
