package engine

import (
	"sync/atomic"
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

// contact is what we know of being in touch, with time and with the others.
type contact struct {
	seen  time.Time // when we looked at the clocks last
	timer *time.Timer
	away  []atomic.Bool // by participant: the link was lost and none has come since
	cut   bool          // too many are away
}

// Forgetter is a network that keeps votes for validators that cannot be reached, and
// drops them when it is told: they were made in ignorance.
type Forgetter interface{ ForgetVotes() }

// Unlinked tells the engine that there is no way to a validator any more. It never
// blocks and may be called by many goroutines.
func (e *Engine) Unlinked(p beacon.Participant) {
	if int(p) < len(e.contact.away) {
		e.contact.away[p].Store(true)
	}
}

// notice falls silent if we stood still, or lost so many others that a quorum can have
// gone on without a word of it coming here. It is called before each vote, and at each
// beat.
func (e *Engine) notice() {
	if !e.watches() || e.watch.heard == nil {
		return
	}
	now := time.Now()
	// A machine that was paused may have one clock that went on and one that did not.
	gap := max(now.Sub(e.contact.seen), now.Round(0).Sub(e.contact.seen.Round(0)))
	e.contact.seen = now
	e.contact.timer.Reset(beat)
	if gap >= stoodStill {
		e.fallSilent("this process stood still", "for", gap.Round(time.Millisecond))
	}
	away := 0
	for i := range e.contact.away {
		if e.contact.away[i].Load() {
			away++
		}
	}
	cut := e.cfg.Set.Len()-away < e.cfg.Set.Quorum()
	if cut && !e.contact.cut {
		e.fallSilent("too many validators cannot be reached", "away", away)
	}
	e.contact.cut = cut
}

// fallSilent has no vote leave before a quorum less one have answered anew. A start
// that listens begins again.
func (e *Engine) fallSilent(why string, args ...any) {
	now, w := time.Now(), &e.watch
	listen := time.Duration(0)
	if w.silent && w.until.After(w.since) {
		listen = e.cfg.Watch.Listen
	}
	if !w.silent {
		w.memory = e.guard.Watermark()
		e.Stats.Silences.Add(1)
		e.cfg.Log.Warn("no votes for now: "+why+", and another life of this key may have voted meanwhile: the others are asked", args...)
	}
	w.silent, w.since, w.until, w.final = true, now, now.Add(listen), 0
	w.hinted = false
	clear(w.heard)
	e.Stats.Watching.Store(true)
	if net, ok := e.net.(Forgetter); ok {
		net.ForgetVotes()
	}
	e.watchTick()
}

// withhold keeps a vote that must not leave yet: one that the journal has, or that was
// made before we fell silent.
func (e *Engine) withhold(v simplex.Vote) {
	for _, w := range e.watch.unsent {
		if w.Kind == v.Kind && w.Proposal == v.Proposal {
			return
		}
	}
	if len(e.watch.unsent) == unsentMax {
		e.watch.unsent = e.watch.unsent[1:]
	}
	e.watch.unsent = append(e.watch.unsent, v)
}

// sayWithheld sends what was withheld, but for rounds of which we learned that another
// life spoke in them or after them.
func (e *Engine) sayWithheld() {
	for _, v := range e.watch.unsent {
		if e.stands(v.Proposal.Round.View) {
			e.broadcastVote(v)
		}
	}
	e.watch.unsent = nil
}

// stands reports whether our words of a view may be said again, and are of use.
func (e *Engine) stands(v chain.View) bool { return v > e.watch.closed && v > e.machine.Floor().View }
