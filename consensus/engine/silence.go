package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// A process can stand still without a sign: a machine that is paused, a container that
// is frozen, a memory that was saved and goes on an hour later. Meanwhile another life
// of the key may have voted, and what this one knows of its own words is the past. It
// must not say what its old timers want before it has asked again (docs/adr/0137).
const (
	// beat is how often the loop looks at the clocks at least.
	beat = 500 * time.Millisecond
	// stoodStill is the time between two looks after which we do not trust what we
	// remember. No other life can have begun to vote in less: a start listens for
	// longer where it matters, and before that reads its folder.
	stoodStill = 2 * time.Second
	// unsentMax bounds the votes that wait for the end of our silence.
	unsentMax = 64
)

// Forgetter is a network that keeps votes for validators that cannot be reached, and
// drops them when it is told: they were made in ignorance.
type Forgetter interface{ ForgetVotes() }

// notice falls silent if we stood still, or lost so many others that a quorum can have
// gone on without a word of it coming here. It is called before each vote, and at each
// beat.
func (w *watch) notice(now time.Time) []effect { return w.event(now, w.noticePause) }

func (w *watch) noticePause() {
	if !w.cfg.watches() || w.heard == nil {
		return
	}
	now := w.now
	// A machine that was paused may have one clock that went on and one that did not.
	gap := max(now.Sub(w.seen), now.Round(0).Sub(w.seen.Round(0)))
	w.seen = now
	w.wake(alarmBeat, beat)
	if gap >= stoodStill {
		w.fallSilent("this process stood still", "for", gap.Round(time.Millisecond))
	}
	away := 0
	for i := range w.away {
		if w.away[i].Load() {
			away++
		}
	}
	cut := w.cfg.Set.Len()-away < w.cfg.Set.Quorum()
	if cut && !w.cut {
		w.fallSilent("too many validators cannot be reached", "away", away)
	}
	w.cut = cut
}

// fallSilent has no vote leave before a quorum less one have answered anew. A start
// that listens begins again.
func (w *watch) fallSilent(why string, args ...any) {
	now := w.now
	listen := time.Duration(0)
	if w.silent && w.until.After(w.since) {
		listen = w.cfg.Watch.Listen
	}
	if !w.silent {
		w.memory = w.guard.Watermark()
		w.stats.Silences.Add(1)
		w.cfg.Log.Warn("no votes for now: "+why+", and another life of this key may have voted meanwhile: the others are asked", args...)
	}
	w.silent, w.since, w.until, w.final = true, now, now.Add(listen), 0
	w.hinted = false
	clear(w.heard)
	w.stats.Watching.Store(true)
	w.out = append(w.out, forgetVotes{})
	w.ask()
}

// withhold keeps a vote that must not leave yet: one that the journal has, or that was
// made before we fell silent.
func (w *watch) withhold(v simplex.Vote) {
	for _, u := range w.unsent {
		if u.Kind == v.Kind && u.Proposal == v.Proposal {
			return
		}
	}
	if len(w.unsent) == unsentMax {
		w.unsent = w.unsent[1:]
	}
	w.unsent = append(w.unsent, v)
}

// sayWithheld sends what was withheld, but for rounds of which we learned that another
// life spoke in them or after them.
func (w *watch) sayWithheld() {
	for _, v := range w.unsent {
		if w.stands(v.Proposal.Round.View) {
			w.out = append(w.out, sayVote{v})
		}
	}
	w.unsent = nil
}

// stands reports whether our words of a view may be said again, and are of use.
func (w *watch) stands(v chain.View) bool { return v > w.closed && v > w.machine.Floor().View }

// reason says why no vote leaves yet, or nothing if one may. It tells the log of
// each new reason, and of an old one once a minute.
func (w *watch) reason() string {
	if !w.silent {
		return ""
	}
	var text string
	want := w.cfg.Set.Quorum() - 1
	got := w.answers(w.recent())
	switch view, newest := w.machine.View(), w.newestView(); {
	case w.cut:
		text = "can reach too few validators to know what was voted in its name"
	case w.final == 0:
		text = "listens for another life of this key before it votes"
	case got < want:
		text = fmt.Sprintf("waits until %d others have said what they heard from this key: validators %s have not", want, w.unheard())
	case view < newest:
		text = fmt.Sprintf("is in view %d and does not vote before it is in view %d with its peers", view, newest)
	}
	w.stats.Silence.Store(&text)
	if text != "" && (text != w.told || w.now.Sub(w.toldAt) >= time.Minute) {
		w.told, w.toldAt = text, w.now
		w.cfg.Log.Info("no votes yet: this validator "+text, "instance", fmt.Sprintf("%016x", w.cfg.Watch.Instance))
	}
	return text
}

// unheard lists validators that have not answered lately, a few of them.
func (w *watch) unheard() string {
	const few = 8
	var names []string
	for i, h := range w.heard {
		if w.cfg.isSelf(beacon.Participant(i)) || h.number >= w.recent() {
			continue
		}
		if len(names) == few {
			names = append(names, "and others")
			break
		}
		names = append(names, fmt.Sprint(i))
	}
	return strings.Join(names, " ")
}
