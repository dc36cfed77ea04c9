package simtest

import (
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// world is a network that a scenario plays with. The auditor looks on: any
// breach of an invariant fails the scenario.
type world struct {
	t *testing.T
	*network
}

// enact makes the world of cfg and starts it.
func enact(t *testing.T, cfg Config) *world {
	t.Helper()
	if cfg.Seed == 0 {
		cfg.Seed = 1
	}
	n, err := newNetwork(cfg)
	if err != nil {
		t.Fatal(err)
	}
	n.startAll()
	w := &world{t, n}
	t.Cleanup(func() {
		w.ledger.inspect()
		w.sound()
	})
	return w
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.runUntil(w.now + d)
	w.sound()
}

// until lets time pass until done, at most limit.
func (w *world) until(what string, limit time.Duration, done func() bool) {
	w.t.Helper()
	for end := w.now + limit; !done(); {
		if w.now >= end || w.err != nil {
			w.t.Fatalf("at %v: no %s within %v: heights %v, views %v, %v", w.now, what, limit, w.heights(), w.viewsNow(), w.err)
		}
		w.runUntil(w.now + 100*time.Millisecond)
	}
	w.sound()
}

// all waits until every honest node that is to be there has n more blocks than the
// longest chain has now.
func (w *world) all(n int, limit time.Duration) {
	w.t.Helper()
	goal := len(w.ledger.chain) + n
	w.until("progress", limit, func() bool {
		for _, v := range w.validators {
			absent := v.machine == nil && slices.Contains(w.cfg.Stopped, v.id)
			if v.player == nil && !absent && len(v.app.chain) < goal {
				return false
			}
		}
		return true
	})
}

func (w *world) sound() {
	w.t.Helper()
	if w.err != nil {
		w.t.Fatalf("%v\n%v", w.err, w.cfg)
	}
}

// clean wants no fault recorded and nobody banned.
func (w *world) clean() {
	w.t.Helper()
	if r := w.report; r.Equivocations != 0 || r.Bans != 0 {
		w.t.Errorf("%d equivocations, %d bans in a world without liars", r.Equivocations, r.Bans)
	}
}

// bannedBy returns how many honest nodes banned p.
func (w *world) bannedBy(p beacon.Participant) int {
	n := 0
	for _, v := range w.validators {
		if v.banned[p] {
			n++
		}
	}
	return n
}

func (w *world) viewsNow() []chain.View {
	var out []chain.View
	for _, v := range w.validators {
		if v.machine == nil {
			out = append(out, 0)
			continue
		}
		out = append(out, v.machine.View())
	}
	return out
}

// cut cuts the link between two nodes, both ways.
func (w *world) cut(a, b int) { w.link(a, b).Cut, w.link(b, a).Cut = true, true }

func (w *world) eachPair(f func(a, b int)) {
	for a := range w.validators {
		for b := range a {
			f(a, b)
		}
	}
}

// certified reports whether any certificate of view v exists.
func (w *world) certified(v chain.View, k simplex.Kind) bool {
	_, ok := w.ledger.certs[certKey{v, k}]
	return ok
}

// votes counts the honest votes of p by kind.
func (w *world) votes(p beacon.Participant, k simplex.Kind) int {
	n := 0
	for key := range w.ledger.votes {
		if key.who == p && key.kind == k {
			n++
		}
	}
	return n
}

// viewOf returns the view a message is about.
func (m message) viewOf() chain.View {
	switch {
	case m.vote != nil:
		return m.vote.Proposal.Round.View
	case m.certificate != nil:
		return m.certificate.Proposal.Round.View
	case m.relay != nil:
		return m.relay.Round.View
	case m.preview != nil:
		return m.preview.round.View
	}
	return m.request
}

func playerNamed(t *testing.T, name string) *Player {
	t.Helper()
	for _, p := range Players() {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no player %q", name)
	return nil
}
