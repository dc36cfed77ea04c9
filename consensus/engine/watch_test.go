package engine

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// watching lets a start listen for two seconds.
func watching(c *Config) {
	c.Watch = Watch{Instance: 50, Listen: 2 * time.Second, Every: time.Second, Again: time.Minute}
}

// asks returns the questions that were sent to all.
func (s *scene) asks() (out []wire.Ask) {
	for _, m := range s.net.broadcast {
		if q, err := wire.Decode(m, wire.Limits{BlockBytesMax: 1}); err == nil {
			if q, ok := q.(wire.Ask); ok {
				out = append(out, q)
			}
		}
	}
	return out
}

// answer has a peer answer the newest question.
func (s *scene) answer(from beacon.Participant, a wire.Answer) {
	s.t.Helper()
	all := s.asks()
	a.Instance, a.Number = all[len(all)-1].Instance, all[len(all)-1].Number
	s.hear(from, wire.Append(nil, a))
}

func (s *scene) voted() bool { return len(ownVotes(s.net.broadcast)) > 0 }

func (s *scene) words(votes ...simplex.Vote) wire.Answer { return wire.Answer{Votes: votes} }

// Certificates that peers had in their queues are no answer: no vote leaves in the
// turn that they come in, nor later (hostile.md §8, watch (c)).
func TestWatchDoesNotEndWithViews(t *testing.T) {
	for leader := range 3 {
		playWith(t, watching, func(s *scene) {
			for v := chain.View(1); v <= 3; v++ {
				p := simplex.Proposal{Round: beacon.Round{View: v}, Parent: v - 1, Payload: chain.Hash{byte(v)}}
				s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Finalize, p)))
			}
			s.hear(beacon.Participant(leader+1), s.vote(leader+1, simplex.Nullify, view(4, 0)))
			if v := s.engine.Stats.View.Load(); v != 4 || s.voted() {
				t.Fatalf("votes in view %d without an answer", v)
			}
			s.wait(time.Minute)
			if s.voted() {
				t.Error("votes without an answer")
			}
		})
	}
}

// On a chain that stands still the peers are asked every second, and no vote
// leaves before two of three have answered; with the answers, one leaves at once
// (hostile.md §8, watch (d)).
func TestWatchAsksAChainThatStandsStill(t *testing.T) {
	playWith(t, watching, func(s *scene) {
		s.wait(20 * time.Second)
		if n := len(s.asks()); n < 18 || s.voted() {
			t.Fatalf("asked %d times in 20 seconds, voted %v", n, s.voted())
		}
		if text := s.engine.Stats.SilenceReason(); text != "waits until 2 others have said what they heard from this key: validators 1 2 3 have not" {
			t.Errorf("reason %q", text)
		}
		s.answer(1, wire.Answer{})
		if s.voted() {
			t.Error("voted after one answer")
		}
		s.answer(1, wire.Answer{}) // says it twice
		if s.voted() {
			t.Error("voted after two answers of one peer")
		}
		s.answer(3, wire.Answer{})
		if own := ownVotes(s.net.broadcast); len(own) == 0 || own[0].Kind != simplex.Nullify {
			t.Errorf("votes %v after two answers, want a nullify of the view that waits", own)
		}
		if text := s.engine.Stats.SilenceReason(); text != "" || s.engine.Stats.Watching.Load() {
			t.Errorf("reason %q after the end", text)
		}
	})
}

// However fast peers answer, a start listens for its time, and what they heard in
// it is asked for at its end.
func TestWatchListens(t *testing.T) {
	playWith(t, watching, func(s *scene) {
		who, _, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 1))
		s.answer(1, wire.Answer{})
		s.answer(2, wire.Answer{})
		s.hear(who, msg)
		if s.voted() {
			t.Fatal("voted at once")
		}
		s.wait(1900 * time.Millisecond)
		s.answer(1, wire.Answer{})
		s.answer(2, wire.Answer{})
		s.wait(200 * time.Millisecond)
		if s.voted() {
			t.Fatal("voted on answers from before the end")
		}
		s.answer(1, wire.Answer{})
		s.answer(2, wire.Answer{})
		if own := ownVotes(s.net.broadcast); len(own) == 0 || own[0].Kind != simplex.Notarize {
			t.Errorf("votes %v, want one for the block that came meanwhile", own)
		}
	})
}

// Where an answer takes as long as seven questions, a start votes all the same, and not
// before it has an answer from the end of its listening.
func TestWatchEndsOnSlowLinks(t *testing.T) {
	playWith(t, watching, func(s *scene) {
		const late = 7 // seconds, and questions
		firstFinal := uint32(0)
		for range 30 {
			s.wait(time.Second)
			all := s.asks()
			if firstFinal == 0 && s.engine.watch.final > 0 {
				firstFinal = s.engine.watch.final
			}
			if len(all) <= late {
				continue
			}
			q := all[len(all)-1-late]
			for from := range beacon.Participant(2) {
				s.hear(from+1, wire.Append(nil, wire.Answer{Instance: q.Instance, Number: q.Number}))
			}
			if s.voted() {
				if q.Number < firstFinal {
					t.Errorf("voted on answer %d, from before the end of the listening, %d", q.Number, firstFinal)
				}
				return
			}
		}
		t.Errorf("silent after 30 seconds: %q", s.engine.Stats.SilenceReason())
	})
}

// Each validator that can be reached anew is asked at once: what was sent before is
// lost (hostile.md §8, watch (b)).
func TestLinkIsAsked(t *testing.T) {
	playWith(t, watching, func(s *scene) {
		s.engine.Linked(3)
		s.engine.Linked(0) // nobody
		s.engine.Linked(9)
		synctest.Wait()
		if sent := s.net.sent[3]; len(sent) != 1 || sent[0][0] != wire.TagAsk || len(s.net.sent) != 1 {
			t.Errorf("sent %x", s.net.sent)
		}
	})
	play(t, func(s *scene) {
		s.engine.Linked(3)
		synctest.Wait()
		if len(s.net.sent) != 0 {
			t.Error("asked without a watch")
		}
	})
}

// ends answers as often as it takes to vote.
func (s *scene) ends() {
	s.t.Helper()
	s.wait(2100 * time.Millisecond)
	s.answer(1, wire.Answer{})
	s.answer(2, wire.Answer{})
	if s.engine.Stats.Watching.Load() {
		s.t.Fatalf("the watch goes on: %s", s.engine.Stats.SilenceReason())
	}
}

// While it votes, a validator asks once a minute. A word of its key that it does
// not remember stops it if the round began after its start, and closes the round
// if not.
func TestWatchGoesOn(t *testing.T) {
	f := func(v chain.View, stops bool) {
		t.Helper()
		playWith(t, watching, func(s *scene) {
			s.after = func(err error) {
				if errors.Is(err, ErrDoppelganger) != stops {
					t.Errorf("view %d: Run = %v", v, err)
				}
			}
			s.ends()
			before := len(s.asks())
			s.wait(3 * time.Minute)
			if n := len(s.asks()) - before; n != 3 {
				t.Errorf("asked %d times in three minutes", n)
			}
			s.answer(3, s.words(s.voice[0].Sign(simplex.Finalize, view(v, 7))))
		})
	}
	f(3, true)
	f(2, false) // the start was in view 1, and others may have been a view ahead
}

// What others heard in our name before we started goes into the guard, which then
// closes the round; a vote that is none is its sender's fault.
func TestAnswersGoIntoTheGuard(t *testing.T) {
	f := func(rule string, closed chain.View, bans uint64, votes func(s *scene) []simplex.Vote) {
		t.Helper()
		guard := new(memory)
		playWith(t, func(c *Config) { watching(c); c.Guard = guard }, func(s *scene) {
			s.after = func(err error) {
				if errors.Is(err, ErrDoppelganger) {
					t.Errorf("%s: Run = %v", rule, err)
				}
			}
			guard.Note(simplex.Notarize, view(7, 1))
			s.answer(2, s.words(votes(s)...))
			if got := guard.mark.Round().View; got != closed {
				t.Errorf("%s: closed up to view %d, want %d", rule, got, closed)
			}
			for k := simplex.Notarize; k <= simplex.Finalize; k++ {
				if mark := guard.mark; closed > 7 && mark.Permit(k, view(closed, 2)) == nil {
					t.Errorf("%s: a %s of the round is permitted", rule, k)
				}
			}
			if n := s.engine.Stats.Bans.Load(); n != bans {
				t.Errorf("%s: %d bans, want %d", rule, n, bans)
			}
			if n := s.engine.watch.answers(1); n != 1-int(bans) {
				t.Errorf("%s: %d answers count", rule, n)
			}
		})
	}
	own := func(k simplex.Kind, v chain.View, b byte) func(s *scene) []simplex.Vote {
		return func(s *scene) []simplex.Vote { return []simplex.Vote{s.voice[0].Sign(k, view(v, b))} }
	}
	f("none", 7, 0, func(*scene) []simplex.Vote { return nil })
	f("an unknown vote", 9, 0, own(simplex.Nullify, 9, 0))
	f("our last vote", 7, 0, own(simplex.Notarize, 7, 1))
	f("another one of our last view", 7, 0, own(simplex.Notarize, 7, 2))
	f("an old vote", 7, 0, own(simplex.Notarize, 6, 3))
	f("all kinds", 11, 0, func(s *scene) []simplex.Vote {
		return append(append(own(simplex.Notarize, 11, 1)(s), own(simplex.Nullify, 8, 0)(s)...), own(simplex.Finalize, 10, 1)(s)...)
	})
	f("a forged vote", 7, 1, func(s *scene) []simplex.Vote {
		v := s.voice[2].Sign(simplex.Nullify, view(9, 0))
		v.Signer = 0
		return []simplex.Vote{v}
	})
	f("another's vote", 7, 1, func(s *scene) []simplex.Vote {
		return []simplex.Vote{s.voice[2].Sign(simplex.Nullify, view(9, 0))}
	})
	f("a vote of another epoch", 7, 1, func(s *scene) []simplex.Vote {
		return []simplex.Vote{s.voice[0].Sign(simplex.Nullify, simplex.Proposal{Round: beacon.Round{Epoch: 1, View: 9}})}
	})
}

// A start that knows of no votes learns of one of view 5 of its key, while the
// chain is in view 6: it goes on, and says nothing in view 5.
func TestRestoredLifeGoesOn(t *testing.T) {
	playWith(t, watching, func(s *scene) {
		entered := s.certificate(simplex.Nullify, view(5, 0))
		s.answer(1, wire.Answer{Votes: []simplex.Vote{s.voice[0].Sign(simplex.Notarize, view(5, 1))}, Entered: &entered})
		s.answer(2, wire.Answer{Entered: &entered})
		s.wait(2100 * time.Millisecond)
		s.answer(1, wire.Answer{Entered: &entered})
		s.answer(3, wire.Answer{Entered: &entered})
		s.wait(10 * time.Second)
		own := ownVotes(s.net.broadcast)
		if len(own) == 0 || slices.ContainsFunc(own, func(v simplex.Vote) bool { return v.Proposal.Round.View < 6 }) {
			t.Errorf("votes %v, want some, of view 6", own)
		}
		if n := s.engine.Stats.OwnVotesFound.Load(); n != 1 {
			t.Errorf("%d own votes found", n)
		}
	})
}

// A liar and a laggard answer first, and what the third one heard is of a later view:
// the horizon is drawn anew, twice. The third word beyond it stops the start, and so does
// the first once it has voted, or one that another process says itself. Words that
// come one behind the other in answer to one question count as one.
func TestHorizonIsDrawnAnew(t *testing.T) {
	f := func(rule string, stops bool, play func(s *scene, told func(v chain.View), drawn func())) {
		t.Helper()
		playWith(t, watching, func(s *scene) {
			s.after = func(err error) {
				if errors.Is(err, ErrDoppelganger) != stops {
					t.Errorf("%s: Run = %v, want a stop: %v", rule, err, stops)
				}
			}
			told := func(v chain.View) { s.answer(3, s.words(s.voice[0].Sign(simplex.Nullify, view(v, 0)))) }
			drawn := func() { s.answer(1, wire.Answer{}); s.answer(2, wire.Answer{}) }
			drawn()
			play(s, told, drawn)
		})
	}
	type step = func(chain.View)
	f("one word of a life that ended", false, func(s *scene, told step, drawn func()) {
		told(9)
		if mark := s.engine.guard.Watermark(); mark.Round().View != 9 || s.engine.watch.horizon != 0 {
			t.Errorf("closed up to view %d, horizon %d", mark.Round().View, s.engine.watch.horizon)
		}
		drawn()
		if s.engine.watch.horizon == 0 {
			t.Error("the horizon is not drawn")
		}
		s.wait(2100 * time.Millisecond)
		drawn()
		if s.engine.Stats.Watching.Load() {
			t.Errorf("silent: %q", s.engine.Stats.SilenceReason())
		}
	})
	f("a liar that tells them one by one", false, func(_ *scene, told step, _ func()) {
		for v := chain.View(9); v < 20; v++ {
			told(v)
		}
	})
	f("answers of before draw nothing", false, func(s *scene, told step, _ func()) {
		old := s.asks()[len(s.asks())-1]
		told(9)
		for from := beacon.Participant(1); from < 3; from++ {
			s.hear(from, wire.Append(nil, wire.Answer{Instance: old.Instance, Number: old.Number}))
		}
		if s.engine.watch.horizon != 0 {
			t.Error("the horizon is drawn from old answers")
		}
	})
	f("a life that goes on", true, func(_ *scene, told step, drawn func()) {
		for v := chain.View(9); v < 12; v++ {
			told(v)
			drawn()
		}
	})
	f("after it voted", true, func(s *scene, told step, _ func()) {
		s.ends()
		told(9)
	})
	f("from another process itself", true, func(s *scene, _ step, _ func()) {
		s.hear(0, s.vote(0, simplex.Nullify, view(9, 0)))
	})
}

// No vote leaves while a peer is in a later view, which only a certificate proves:
// a false one gets its sender banned and counts nothing.
func TestWatchWaitsUntilLevel(t *testing.T) {
	playWith(t, watching, func(s *scene) {
		ahead := s.certificate(simplex.Notarize, view(5, 1)) // we have not the block: it takes us nowhere
		lie := s.certificate(simplex.Nullify, view(900, 0))
		lie.Signature = lie.Seed
		s.wait(2100 * time.Millisecond)
		s.answer(3, wire.Answer{Entered: &lie})
		s.answer(2, wire.Answer{Entered: &ahead})
		s.answer(1, wire.Answer{})
		if s.voted() || s.engine.Stats.SilenceReason() != "is in view 1 and does not vote before it is in view 6 with its peers" {
			t.Errorf("voted %v, reason %q", s.voted(), s.engine.Stats.SilenceReason())
		}
		if s.engine.Stats.Bans.Load() != 1 || s.engine.Stats.Peers[3].BlockedUntilUnix.Load() == 0 {
			t.Error("the liar is not banned")
		}
		s.hear(2, simplex.AppendCertificate(nil, s.certificate(simplex.Finalize, view(5, 1))))
		if s.engine.Stats.Watching.Load() {
			t.Errorf("level, and yet: %s", s.engine.Stats.SilenceReason())
		}
	})
}

// Two processes of one key learn of each other from their peers: of two that start,
// the one with the lower number stays; one that votes already stays; of two that
// vote, neither. One peer's word is not enough where one may lie, and what was
// heard before the start does not count.
func TestOtherLife(t *testing.T) {
	const low, high = 40, 60
	f := func(rule string, voting, stops bool, peers int, other wire.OtherLife) {
		t.Helper()
		playWith(t, watching, func(s *scene) {
			s.after = func(err error) {
				if errors.Is(err, ErrDoppelganger) != stops {
					t.Errorf("%s: Run = %v", rule, err)
				}
			}
			if voting {
				s.ends()
				s.wait(time.Minute)
			}
			s.wait(1500 * time.Millisecond)
			s.engine.Linked(1)
			synctest.Wait()
			s.wait(time.Minute) // the newest question is later than what is stale
			for p := range peers {
				s.answer(beacon.Participant(p+1), wire.Answer{Other: other})
			}
			if !voting && !stops && other.Instance == high && peers > 1 {
				s.answer(3, wire.Answer{})
				if s.voted() {
					t.Errorf("%s: votes beside it", rule)
				}
			}
		})
	}
	f("a lower one starts", false, true, 2, wire.OtherLife{Instance: low})
	f("a higher one starts", false, false, 2, wire.OtherLife{Instance: high})
	f("a higher one votes", false, true, 2, wire.OtherLife{Instance: high, Posture: wire.Votes})
	f("one peer says so", false, false, 1, wire.OtherLife{Instance: low, Posture: wire.Votes})
	f("it ended before", false, false, 2, wire.OtherLife{Instance: low, Posture: wire.Votes, Age: time.Hour})
	f("one rests that has voted", false, true, 2, wire.OtherLife{Instance: high, Posture: wire.Rests})
	f("voting: one rests", true, false, 2, wire.OtherLife{Instance: low, Posture: wire.Rests})
	f("voting: one votes too", true, true, 2, wire.OtherLife{Instance: low, Posture: wire.Votes})
	f("voting: one starts", true, false, 2, wire.OtherLife{Instance: low})
	f("voting: one peer says so", true, false, 1, wire.OtherLife{Instance: low, Posture: wire.Votes})
}

// The operator who knows that there is no other life need not wait.
func TestAloneVotesAtOnce(t *testing.T) {
	playWith(t, func(c *Config) { watching(c); c.Watch.Alone = true }, func(s *scene) {
		who, _, msg := s.offerOf(encodeBlock(beacon.Round{View: 1}, s.parent, 1))
		s.hear(who, msg)
		if !s.voted() || len(s.asks()) != 1 {
			t.Errorf("voted %v, asked %d times", s.voted(), len(s.asks()))
		}
	})
}

// A peer is told the newest vote of each kind that came from it, the other process
// that asks in its name, and by what certificate we entered our view.
func TestAskIsAnswered(t *testing.T) {
	play(t, func(s *scene) {
		told := func() wire.Answer {
			t.Helper()
			sent := s.net.sent[2]
			m, err := wire.Decode(sent[len(sent)-1], wire.Limits{BlockBytesMax: 1})
			if err != nil {
				t.Fatal(err)
			}
			return m.(wire.Answer)
		}
		s.hear(2, wire.Append(nil, wire.Ask{Instance: 7, Number: 1, Posture: wire.Listens}))
		if a := told(); a.Instance != 7 || a.Number != 1 || a.Spoke >= 0 || len(a.Votes) != 0 || a.Entered != nil || a.Other.Instance != 0 {
			t.Errorf("%+v", a)
		}
		s.hear(2, s.vote(2, simplex.Notarize, view(1, 1)))
		s.hear(2, s.vote(2, simplex.Finalize, view(1, 1)))
		s.hear(2, s.vote(2, simplex.Notarize, view(2, 4)))
		s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(3, 0))))
		s.wait(3 * time.Second)
		s.hear(2, wire.Append(nil, wire.Ask{Instance: 8, Number: 2, Posture: wire.Votes}))
		a := told()
		if len(a.Votes) != 2 || a.Votes[0].Proposal != view(2, 4) || a.Votes[1].Kind != simplex.Finalize {
			t.Errorf("votes %+v", a.Votes)
		}
		if a.Spoke != 3*time.Second {
			t.Errorf("a vote came in %v ago", a.Spoke)
		}
		if a.Entered == nil || a.Entered.Proposal.Round.View != 3 || a.Other != (wire.OtherLife{Instance: 7, Posture: wire.Listens, Age: 3 * time.Second}) {
			t.Errorf("entered %+v, other %+v", a.Entered, a.Other)
		}
		s.hear(2, wire.Append(nil, wire.Ask{Instance: 7, Number: 3, Posture: wire.Listens}))
		if a := told(); a.Other != (wire.OtherLife{Instance: 8, Posture: wire.Votes, Age: 0}) {
			t.Errorf("other %+v", a.Other)
		}
		many := len(s.net.sent[2])
		for range 100 {
			s.hear(2, wire.Append(nil, wire.Ask{Instance: 7, Number: 4, Posture: wire.Listens}))
		}
		if n := len(s.net.sent[2]) - many; n > answersPerWindow {
			t.Errorf("%d answers at once", n)
		}
		if n := len(wire.Append(nil, a)); n > wire.AnswerBytesMax {
			t.Errorf("an answer of %d bytes, want %d at most", n, wire.AnswerBytesMax)
		}
	})
}

// A validator with our name beside us is stopped by our words as by an answer.
func TestOwnNameFromOutside(t *testing.T) {
	f := func(rule string, stops bool, k simplex.Kind, v chain.View, b byte) {
		t.Helper()
		playWith(t, watching, func(s *scene) {
			s.after = func(err error) {
				if errors.Is(err, ErrDoppelganger) != stops {
					t.Errorf("%s: Run = %v", rule, err)
				}
			}
			s.ends()
			s.engine.guard.Note(simplex.Notarize, view(7, 1))
			s.hear(0, s.vote(0, k, view(v, b)))
		})
	}
	f("another vote", true, simplex.Nullify, 9, 0)
	f("our own vote come back", false, simplex.Notarize, 7, 1)
}

// A whole network that starts and listens gets going, also where one of four is
// down, and at the pace of its longest listener.
func TestWatchOfEverybodyEnds(t *testing.T) {
	set, shares, g := committee(t, 4)
	for _, up := range []int{4, 3} {
		synctest.Test(t, func(t *testing.T) {
			network := &mesh{engines: make([]*Engine, 4)}
			apps := make([]*chainApp, up)
			for i := range apps {
				apps[i] = newChainApp(t, g.Hash())
				apps[i].blockTime = 100 * time.Millisecond
				cfg := testConfig(t, set, shares[i], g.Hash())
				cfg.Watch = Watch{Instance: uint64(i + 1), Listen: time.Duration(2+i) * time.Second, Every: 2 * time.Second, Again: time.Minute}
				e, err := New(cfg, apps[i], port{network, beacon.Participant(i)}, new(diskJournal))
				if err != nil {
					t.Fatal(err)
				}
				network.engines[i] = e
			}
			reached := apps[0].want(5)
			for i := range apps {
				stop, _ := run(t, network.engines[i])
				defer func() { _ = stop() }()
			}
			select {
			case <-reached:
			case <-time.After(30 * time.Second):
				t.Errorf("%d of 4 up: %d blocks after half a minute", up, len(apps[0].final))
			}
		})
	}
}
