package engine

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// A start that hears of votes which its key makes while it is silent stops, and says
// nothing that would stop the process that makes them. One peer alone cannot end it,
// and neither can votes that it knows, or that came in before.
func TestNewcomerStops(t *testing.T) {
	const known = chain.View(3)
	f := func(rule string, stops bool, peers int, spoke time.Duration, v chain.View) {
		t.Helper()
		guard := new(memory)
		guard.Note(simplex.Notarize, view(known, 1))
		change := func(c *Config) { watching(c); c.Guard, c.Watch.Longest = guard, 10*time.Second }
		playWith(t, change, func(s *scene) {
			s.after = func(err error) {
				if errors.Is(err, ErrDoppelganger) != stops {
					t.Errorf("%s: Run = %v", rule, err)
				}
			}
			s.wait(2500 * time.Millisecond) // the newest question was asked after 2 s
			for p := range peers {
				a := s.words(s.voice[0].Sign(simplex.Notarize, view(v, 1)))
				a.Spoke = spoke
				s.answer(beacon.Participant(p+1), a)
			}
			if s.voted() {
				t.Errorf("%s: voted", rule)
			}
		})
	}
	f("a vote while we listen", true, 2, 0, 4)
	f("one peer says so", false, 1, 0, 4)
	f("before we listened", false, 2, 1500*time.Millisecond, 4)
	f("a vote that we remember", false, 2, 0, known)
}

// Where peers heard what this folder does not know, a start listens for its longest
// time: the links of another life come back within it.
func TestStrangeWordsLengthenTheSilence(t *testing.T) {
	change := func(c *Config) { watching(c); c.Watch.Longest = 10 * time.Second }
	playWith(t, change, func(s *scene) {
		a := s.words(s.voice[0].Sign(simplex.Notarize, view(1, 1)))
		a.Spoke = time.Minute
		s.answer(1, a)
		s.wait(9900 * time.Millisecond)
		s.answer(1, a)
		s.answer(2, wire.Answer{Spoke: -1})
		if !s.engine.Stats.Watching.Load() {
			t.Fatal("the silence ended before its longest time")
		}
		s.wait(time.Second)
		s.answer(1, a)
		s.answer(2, wire.Answer{Spoke: -1})
		if s.engine.Stats.Watching.Load() {
			t.Errorf("the silence goes on: %s", s.engine.Stats.SilenceReason())
		}
	})
}

// What the journal has of our votes is not sent again before the silence is over.
func TestJournalIsSilentToo(t *testing.T) {
	disk := new(diskJournal)
	playOn(t, disk, func(*Config) {}, func(s *scene) { s.wait(10 * time.Second) }) // nullifies view 1
	playOn(t, disk.crash(), watching, func(s *scene) {
		s.wait(5 * time.Second)
		if s.voted() {
			t.Fatal("a silent start sends the votes of its journal")
		}
		s.ends()
		if own := ownVotes(s.net.broadcast); len(own) == 0 || own[0].Kind != simplex.Nullify {
			t.Errorf("votes %v, want the one of the journal", own)
		}
	})
}

// frozen is a guard in which the process stands still for a while, as it may anywhere:
// after the decision to vote and before the vote leaves.
type frozen struct {
	memory
	still time.Duration
}

func (f *frozen) Permit(k simplex.Kind, p simplex.Proposal) error {
	time.Sleep(f.still)
	f.still = 0
	return f.memory.Permit(k, p)
}

// A process that stood still says nothing, not even what it was about to say, until it
// has asked again; what it then hears of rounds after its start stops it.
func TestStoodStill(t *testing.T) {
	f := func(still time.Duration, silent, stops bool) {
		t.Helper()
		guard := new(frozen)
		playWith(t, func(c *Config) { watching(c); c.Guard = guard }, func(s *scene) {
			s.after = func(err error) {
				if errors.Is(err, ErrDoppelganger) != stops {
					t.Errorf("%v: Run = %v", still, err)
				}
			}
			s.ends()
			before := len(ownVotes(s.net.broadcast))
			guard.still = still
			s.hear(1, simplex.AppendCertificate(nil, s.certificate(simplex.Nullify, view(1, 0))))
			s.wait(still + 3500*time.Millisecond) // the view ends without a block
			if n := len(ownVotes(s.net.broadcast)) - before; (n == 0) != silent || s.engine.Stats.Watching.Load() != silent {
				t.Fatalf("%v: %d votes, silent %v", still, n, s.engine.Stats.Watching.Load())
			}
			if !silent {
				return
			}
			var a wire.Answer
			if stops {
				a = s.words(s.voice[0].Sign(simplex.Finalize, view(9, 7)))
			}
			s.answer(1, a)
			s.answer(2, wire.Answer{})
			if n := len(ownVotes(s.net.broadcast)) - before; (n > 0) == stops {
				t.Errorf("%v: %d votes after the answers", still, n)
			}
		})
	}
	f(time.Second, false, false)
	f(time.Minute, true, false)
	f(time.Minute, true, true)
}

// A validator that lost so many others that a quorum may be beyond its sight has its
// votes forgotten, and asks before it votes again.
func TestTooFewOthers(t *testing.T) {
	playWith(t, watching, func(s *scene) {
		s.ends()
		s.engine.Unlinked(1)
		s.engine.Unlinked(9) // nobody
		s.wait(time.Second)
		if s.engine.Stats.Watching.Load() || s.net.forgot != 0 {
			t.Fatal("silent for the want of one")
		}
		s.engine.Unlinked(3)
		s.wait(time.Second)
		if !s.engine.Stats.Watching.Load() || s.net.forgot != 1 || s.engine.Stats.Silences.Load() != 1 {
			t.Fatalf("votes on, %d times told to forget", s.net.forgot)
		}
		s.answer(1, wire.Answer{})
		s.answer(2, wire.Answer{})
		if !s.engine.Stats.Watching.Load() {
			t.Error("votes on while two are away")
		}
		s.engine.Linked(3)
		s.wait(time.Second)
		s.answer(3, wire.Answer{})
		s.answer(2, wire.Answer{})
		synctest.Wait()
		if s.engine.Stats.Watching.Load() {
			t.Errorf("silent with three of four: %s", s.engine.Stats.SilenceReason())
		}
	})
}

// Two lives of a key take each other's links in turns, and each is silent for as long as
// it has none. The one that has not voted stops when it hears of the other, however often
// its silence begins anew meanwhile.
func TestLinksInTurns(t *testing.T) {
	for _, other := range []wire.OtherLife{
		{Instance: 60, Posture: wire.Rests, Age: 1200 * time.Millisecond},
		{Instance: 60, Posture: wire.Votes, Age: 1200 * time.Millisecond},
		{Instance: 40, Posture: wire.Listens, Age: 1200 * time.Millisecond},
	} {
		playWith(t, watching, func(s *scene) {
			s.after = func(err error) {
				if !errors.Is(err, ErrDoppelganger) {
					t.Errorf("beside one that %s: Run = %v", other.Posture, err)
				}
			}
			for range 8 {
				for p := beacon.Participant(1); p <= 3; p++ {
					s.engine.Unlinked(p)
				}
				s.wait(1200 * time.Millisecond)
				for p := beacon.Participant(1); p <= 3; p++ {
					s.engine.Linked(p)
				}
				synctest.Wait()
				for p := beacon.Participant(1); p <= 2; p++ {
					s.answer(p, wire.Answer{Other: other})
				}
				s.wait(1200 * time.Millisecond)
			}
			if s.voted() {
				t.Errorf("votes beside one that %s", other.Posture)
			}
		})
	}
}
