package engine

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// ErrDoppelganger means that another process votes with our key, or is about to.
// To go on voting could be a double vote.
var ErrDoppelganger = errors.New("somebody else votes with our key")

// Watch says how a process looks for another life of its key: one that runs
// beside it, or one whose votes nothing here remembers, as after a restore
// (docs/adr/0103). The zero value does not look: for a validator without others.
type Watch struct {
	// Instance is a random number of this process, by which peers tell two with one
	// key apart. 0: no watch.
	Instance uint64
	// Listen is how long a start listens at least before it votes. Two processes
	// that start together notice each other if one of them listens for longer by
	// some round trips: its caller draws it.
	Listen time.Duration
	// Longest is how long a start listens at least whose peers heard votes of its key
	// that it does not know: they are of a life that ended, or of one that runs and
	// whose links we may have taken. Below Listen: no longer than that.
	Longest time.Duration
	// Every is the time between two questions while a start listens, Again the time
	// between them later.
	Every, Again time.Duration
	// Alone lets a start vote at once. The operator knows that there is no other
	// life.
	Alone bool
}

func (w Watch) check() error {
	if w.Instance != 0 && (w.Listen < 0 || w.Longest < 0 || w.Every <= 0 || w.Again <= 0) {
		return fmt.Errorf("watch listens for %v and asks every %v, then %v: want times above 0", w.Listen, w.Every, w.Again)
	}
	return nil
}

// stale is how long after our start, or after the end of our silence, what peers
// heard of another process may still be of one that ended before: messages lie in
// queues.
const stale = time.Second

// askedKept is how many questions back an answer may lie. Links on which an answer
// takes several questions' time are slow, and no reason to stay silent for ever.
const askedKept = 16

// progress is what the watch asks of the machine. It is a [simplex.Machine], or a test's.
type progress interface {
	View() chain.View
	Floor() simplex.Floor
	Certificate(v chain.View, k simplex.Kind) (simplex.Certificate, bool)
}

// watch is the part that looks for another life of our key, and has no vote leave while
// there may be one. Events are answers of peers, words in our name, links, and time;
// effects are questions, bans, and the votes that were held back. It closes rounds in
// the guard itself, which is durable before it says any more.
type watch struct {
	cfg     *Config
	stats   *Stats
	guard   Guard
	checks  simplex.Verifier
	machine progress
	now     time.Time // of the event
	out     []effect  // of the event
	fault   error     // ends Run: nothing leaves after it

	silent   bool                 // no vote leaves yet
	voted    bool                 // this process has voted: who only listens beside it does not end it
	began    time.Time            // the start
	since    time.Time            // the start, or the beginning or the end of a silence
	until    time.Time            // listens at least until then
	question uint32               // the newest
	asked    [askedKept]time.Time // the newest and those before it, for the first time
	final    uint32               // the first that was asked when the listening was over; 0: none yet
	heard    []heard              // by participant
	// memory is what the guard knew when the silence began: what peers heard of our
	// key beside that is strange to us.
	memory simplex.Watermark
	hinted bool           // in this silence a peer spoke of another life
	closed chain.View     // newest view that strange words closed
	unsent []simplex.Vote // that the journal has, or that were on their way out
	// horizon is the newest round that can have begun before we started, once a
	// quorum less one have answered; 0 before. Our key's words in later rounds are
	// those of another process that lives.
	horizon chain.View
	redrawn int             // how often the horizon was drawn anew
	drawn   uint32          // the first question whose answers it is drawn from
	held    []simplex.Event // verdicts and blocks that we would have voted for
	nullify chain.View      // in which we would have given up
	news    bool            // answers came that were not looked at
	told    string          // the reason that the log has
	toldAt  time.Time

	seen time.Time     // when we looked at the clocks last
	away []atomic.Bool // by participant: the link was lost and none has come since; set by the network
	cut  bool          // too many are away
}

// event does what one event leads to, and returns its effects.
func (w *watch) event(now time.Time, do func()) []effect {
	w.now = now
	do()
	out := w.out
	w.out = nil
	return out
}

func (w *watch) wake(a alarm, after time.Duration) { w.out = append(w.out, wake{a, after}) }

// heard is the newest answer of a peer.
type heard struct {
	number uint32 // of the question; 0: none
	view   chain.View
	other  wire.OtherLife
	at     time.Time // when the other was heard at the earliest; zero: not lately
	spoke  time.Time // the same of a vote, if the answer has words that are strange; zero: not lately
}

// permit reports whether the machine may vote: not while we listen, and not against
// what this key said before.
func (w *watch) permit(now time.Time, k simplex.Kind, p simplex.Proposal) (may bool, effects []effect) {
	effects = w.event(now, func() { may = w.permits(k, p) })
	return may, effects
}

func (w *watch) permits(k simplex.Kind, p simplex.Proposal) bool {
	view := p.Round.View
	if w.noticePause(); w.silent {
		if k == simplex.Nullify {
			w.nullify = view
		}
		w.stats.VotesWithheld.Add(1)
		return false
	}
	if err := w.guard.Permit(k, p); err != nil {
		w.stats.VotesWithheld.Add(1)
		if view == w.machine.View() { // a late word about an older view can be spared
			w.stats.ClosedView.Store(uint64(view))
		}
		return false
	}
	if view >= chain.View(w.stats.ClosedView.Load()) {
		w.stats.ClosedView.Store(0)
	}
	return true
}

// watches reports whether we look for another life of our key.
func (c *Config) watches() bool { return c.Share != nil && c.Watch.Instance != 0 }

// start begins the watch, once what this key said before is known.
func (w *watch) start(now time.Time) []effect { return w.event(now, w.begin) }

// tick asks again: the alarm of the watch went off.
func (w *watch) tick(now time.Time) []effect { return w.event(now, w.ask) }

// begin begins the watch.
func (w *watch) begin() {
	if !w.cfg.watches() {
		return
	}
	now := w.now
	w.heard = make([]heard, w.cfg.Set.Len())
	w.memory = w.guard.Watermark()
	w.seen = now
	w.wake(alarmBeat, beat)
	w.began, w.since, w.until = now, now, now.Add(w.cfg.Watch.Listen)
	w.silent, w.voted = !w.cfg.Watch.Alone, w.cfg.Watch.Alone
	w.stats.Watching.Store(w.silent)
	w.ask()
	w.reason()
}

// ask asks every peer, and sets the time of the next question.
func (w *watch) ask() {
	now := w.now
	w.askAll()
	if !w.silent {
		w.wake(alarmWatch, w.cfg.Watch.Again)
		return
	}
	if left := w.until.Sub(now); left > 0 {
		w.final = 0
		w.wake(alarmWatch, min(left, w.cfg.Watch.Every))
	} else {
		if w.final == 0 {
			w.final = w.question
		}
		w.wake(alarmWatch, w.cfg.Watch.Every)
	}
	w.reason()
}

func (w *watch) askAll() {
	w.question++
	copy(w.asked[1:], w.asked[:])
	w.asked[0] = w.now
	w.stats.OwnQuestions.Add(1)
	w.out = append(w.out, broadcast{w.ownAsk()})
}

func (w *watch) ownAsk() wire.Ask {
	return wire.Ask{Instance: w.cfg.Watch.Instance, Number: w.question, Posture: w.posture()}
}

func (w *watch) posture() wire.Posture {
	switch {
	case !w.silent:
		return wire.Votes
	case w.voted:
		return wire.Rests
	}
	return wire.Listens
}

// conclude draws conclusions from what came in: it is called when the machine has
// nothing more to say.
func (w *watch) conclude(now time.Time) []effect { return w.event(now, w.weigh) }

func (w *watch) weigh() {
	if !w.cfg.watches() || w.fault != nil {
		return
	}
	quorum := w.cfg.Set.Quorum() - 1
	if w.horizon == 0 && w.answers(max(1, w.drawn)) >= quorum {
		w.horizon = max(w.machine.View(), w.newestView()) + 1
	}
	if w.news {
		w.news = false
		w.lookAtOther()
	}
	if w.silent && w.fault == nil && w.reason() == "" {
		w.finish()
	}
}

// hold keeps what we would vote on, until we may. It reports whether it did.
func (w *watch) hold(event simplex.Event) bool {
	if !w.silent {
		return false
	}
	switch event.(type) {
	case simplex.Verified, simplex.ProposalReady:
		const held = 2 // a verdict and a block of the current view
		if len(w.held) == held {
			w.held = w.held[1:]
		}
		w.held = append(w.held, event)
		return true
	}
	return false
}

// finish lets us vote, at once in a view that waits for our word.
func (w *watch) finish() {
	w.silent, w.voted, w.since = false, true, w.now
	w.stats.Watching.Store(false)
	w.stats.Silence.Store(nil)
	w.cfg.Log.Info("votes from now on: no other life of this key was heard of", "view", w.machine.View(), "instance", fmt.Sprintf("%016x", w.cfg.Watch.Instance))
	w.sayWithheld()
	for _, event := range w.held { // of other views they have no effect
		w.out = append(w.out, step{event})
	}
	if v := w.machine.View(); w.nullify == v {
		w.out = append(w.out, step{simplex.TimerFired{View: v, Timer: simplex.TimerRetry}})
	}
	w.held = nil
	w.wake(alarmWatch, w.cfg.Watch.Again)
}

// SilenceReason is why no vote leaves yet, in words that follow "this validator";
// it is empty if votes may leave.
func (s *Stats) SilenceReason() string {
	if text := s.Silence.Load(); text != nil {
		return *text
	}
	return ""
}
