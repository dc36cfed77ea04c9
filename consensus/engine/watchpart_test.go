package engine

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/hashed"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// newWatching returns the watch of validator 0 of four, in view 5, which listens for two
// seconds from noon on, and what it said when it began.
func newWatching(t *testing.T) (w *watch, m *fakeMachine, began []effect) {
	t.Helper()
	cfg, stats := partOf(t)
	watching(cfg)
	m = &fakeMachine{view: 5}
	w = &watch{cfg: cfg, stats: stats, guard: new(memory), checks: hashed.Scheme{Quorum: 3}, machine: m, away: make([]atomic.Bool, 4)}
	return w, m, w.start(noon)
}

// says is an answer to the newest question.
func (w *watch) says(votes ...simplex.Vote) wire.Answer {
	return wire.Answer{Instance: w.cfg.Watch.Instance, Number: w.question, Spoke: -1, Votes: votes}
}

// A start asks at once, says nothing while it listens, and speaks when a quorum less one
// answered a question that was asked after that: first what it held back.
func TestWatchLetsGoWhatItHeld(t *testing.T) {
	w, _, began := newWatching(t)
	expect(t, "start", began,
		wake{alarmBeat, beat},
		broadcast{wire.Ask{Instance: 50, Number: 1, Posture: wire.Listens}},
		wake{alarmWatch, time.Second})
	p := view(5, 1)
	may, out := w.permit(noon, simplex.Notarize, p)
	expect(t, "a vote while it listens", out, wake{alarmBeat, beat})
	verdict := simplex.Verified{View: 5, Payload: p.Payload, OK: true}
	if may || !w.hold(verdict) || w.hold(simplex.Resumed{}) {
		t.Fatal("a vote leaves while it listens, or what is no vote is held")
	}
	for _, from := range []beacon.Participant{1, 2} {
		expect(t, "an answer", w.answered(noon, from, w.says()))
	}
	expect(t, "two answers, too early", w.conclude(noon))
	now := noon.Add(time.Second)
	w.notice(now)
	w.tick(now)
	now = now.Add(time.Second)
	expect(t, "the first question after it listened", w.tick(now),
		broadcast{wire.Ask{Instance: 50, Number: 3, Posture: wire.Listens}}, wake{alarmWatch, time.Second})
	w.answered(now, 1, w.says())
	w.answered(now, 1, w.says())
	expect(t, "one answer", w.conclude(now))
	w.answered(now, 3, w.says())
	expect(t, "two answers", w.conclude(now), step{verdict}, wake{alarmWatch, time.Minute})
	if may, _ := w.permit(now, simplex.Notarize, p); !may || w.hold(verdict) {
		t.Error("no vote leaves after the silence")
	}
	if may, _ := w.permit(now, simplex.Notarize, view(5, 2)); may {
		t.Error("the guard is not asked")
	}
}

// A process that stood still withholds what it was about to say, has the network forget
// the rest, and says it when the others know of nobody else.
func TestWatchAfterAPause(t *testing.T) {
	w, _, _ := newWatching(t)
	w.silent, w.voted = false, true
	expect(t, "a beat", w.notice(noon.Add(beat)), wake{alarmBeat, beat})
	now := noon.Add(beat + stoodStill)
	expect(t, "a pause", w.notice(now), wake{alarmBeat, beat}, forgetVotes{},
		broadcast{wire.Ask{Instance: 50, Number: 2, Posture: wire.Rests}}, wake{alarmWatch, time.Second})
	votes := []simplex.Vote{{Kind: simplex.Notarize, Proposal: view(4, 1)}, {Kind: simplex.Finalize, Proposal: view(4, 1)}}
	for range 2 {
		for _, v := range votes {
			w.withhold(v)
		}
	}
	w.answered(now, 1, w.says())
	w.answered(now, 2, w.says())
	expect(t, "answers", w.conclude(now), sayVote{votes[0]}, sayVote{votes[1]}, wake{alarmWatch, time.Minute})
}

// Links to too many others that break are a silence too, once.
func TestWatchWithoutOthers(t *testing.T) {
	w, _, _ := newWatching(t)
	w.silent, w.voted = false, true
	for i := range 2 {
		w.away[i+1].Store(true)
	}
	if out := w.notice(noon); len(of[forgetVotes](out)) != 1 || !w.silent {
		t.Fatalf("two of three are away: %+v", out)
	}
	expect(t, "still away", w.notice(noon), wake{alarmBeat, beat})
	w.answered(noon, 1, w.says())
	w.answered(noon, 3, w.says())
	if w.conclude(noon); !w.silent {
		t.Error("the silence ends while too many are away")
	}
	w.away[1].Store(false)
	if w.notice(noon); len(of[wake](w.conclude(noon))) != 1 || w.silent {
		t.Error("the silence does not end when one is back")
	}
	expect(t, "a link", w.linked(noon, 1), send{1, wire.Ask{Instance: 50, Number: 2, Posture: wire.Votes}})
	expect(t, "a link to a full node", w.linked(noon, 4))
	expect(t, "a link to us", w.linked(noon, 0))
}

// What peers tell of our key: a lie bans the teller; a word that is strange closes its
// round; a word of a round that began after our start ends us.
func TestWatchHearsOfOurKey(t *testing.T) {
	own := hashed.Scheme{Self: 0, Quorum: 3}
	tests := []struct {
		name    string
		vote    simplex.Vote
		horizon chain.View
		bans    int
		closes  chain.View
		ends    bool
	}{
		{"of another validator", hashed.Scheme{Self: 2}.Sign(simplex.Notarize, view(3, 1)), 0, 1, 0, false},
		{"of another epoch", own.Sign(simplex.Notarize, simplex.Proposal{Round: beacon.Round{Epoch: 1, View: 3}}), 0, 1, 0, false},
		{"forged", simplex.Vote{Kind: simplex.Notarize, Proposal: view(3, 1)}, 0, 1, 0, false},
		{"known", own.Sign(simplex.Notarize, view(2, 1)), 6, 0, 0, false},
		{"strange, of before", own.Sign(simplex.Notarize, view(3, 1)), 6, 0, 3, false},
		{"strange, of after", own.Sign(simplex.Notarize, view(7, 1)), 6, 0, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, _, _ := newWatching(t)
			w.voted = true
			w.guard.Note(simplex.Notarize, view(2, 1))
			w.memory = w.guard.Watermark()
			w.horizon = tt.horizon
			out := w.answered(noon, 2, w.says(tt.vote))
			if n := len(of[ban](out)); n != tt.bans {
				t.Errorf("%d bans, want %d", n, tt.bans)
			}
			if w.closed != tt.closes || tt.closes > 0 && w.guard.Permit(simplex.Finalize, view(tt.closes, 1)) == nil {
				t.Errorf("view %d is closed, want %d", w.closed, tt.closes)
			}
			if errors.Is(w.fault, ErrDoppelganger) != tt.ends {
				t.Errorf("fault: %v", w.fault)
			}
		})
	}
}

// The certificate of an answer goes on to be verified; who is further than we are is
// waited for; who was banned has said nothing.
func TestWatchWaitsForTheLevel(t *testing.T) {
	w, m, _ := newWatching(t)
	w.until = noon
	w.tick(noon)
	c := simplex.Certificate{Kind: simplex.Nullify, Proposal: view(8, 0)}
	a := w.says()
	a.Entered = &c
	expect(t, "an answer from ahead", w.answered(noon, 1, a), arrive{arrival{1, c, nil}})
	w.answered(noon, 2, w.says())
	expect(t, "behind", w.conclude(noon))
	m.view = 9
	w.dropPeer(1)
	expect(t, "one of two was banned", w.conclude(noon))
	w.answered(noon, 3, w.says())
	expect(t, "level", w.conclude(noon), wake{alarmWatch, time.Minute})
}

// What we heard of a validator is what we answer it, with the certificate of our view.
func TestWatchAnswers(t *testing.T) {
	w, m, _ := newWatching(t)
	m.certificates = []simplex.Certificate{{Kind: simplex.Nullify, Proposal: view(4, 0)}, {Kind: simplex.Notarize, Proposal: view(4, 1)}}
	v := voice{spoke: noon.Add(-time.Second)}
	v.words[simplex.Finalize] = simplex.Vote{Kind: simplex.Finalize, Proposal: view(3, 1), Signer: 2}
	ask := func(instance uint64, at time.Time) wire.Answer {
		out := w.answerTo(at, 2, wire.Ask{Instance: instance, Number: 9, Posture: wire.Rests}, &v)
		if len(out) != 1 || out[0].(send).to != 2 {
			t.Fatalf("effects %+v", out)
		}
		return out[0].(send).msg.(wire.Answer)
	}
	a := ask(7, noon)
	if a.Instance != 7 || a.Number != 9 || a.Spoke != time.Second || len(a.Votes) != 1 || a.Other.Instance != 0 || a.Entered == nil {
		t.Errorf("answer %+v", a)
	}
	if b := ask(8, noon.Add(time.Second)); b.Other != (wire.OtherLife{Instance: 7, Posture: wire.Rests, Age: time.Second}) {
		t.Errorf("the other life is %+v", b.Other)
	}
}

// What is withheld is bounded.
func TestWithheldVotesAreBounded(t *testing.T) {
	w, _, _ := newWatching(t)
	for v := chain.View(1); v <= 1000; v++ {
		w.withhold(simplex.Vote{Kind: simplex.Nullify, Proposal: view(v, 0)})
		w.hold(simplex.Verified{View: v})
	}
	if len(w.unsent) != unsentMax || w.unsent[0].Proposal.Round.View != 1001-unsentMax || len(w.held) != 2 {
		t.Errorf("%d votes and %d events are kept", len(w.unsent), len(w.held))
	}
	if slices.ContainsFunc(w.held, func(e simplex.Event) bool { return e.(simplex.Verified).View < 999 }) {
		t.Error("old verdicts are held")
	}
}
