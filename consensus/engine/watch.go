package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// ErrDoppelganger means that a vote in our own name is about, under our own
// signature, that nothing here remembers: another process votes with our key,
// or this one lost its memory. To go on voting could be a double vote.
var ErrDoppelganger = errors.New("somebody votes with our key")

// memory is the guard of a node without one.
type memory struct{ mark simplex.Watermark }

func (m *memory) Permit(k simplex.Kind, p simplex.Proposal) error { return m.mark.Permit(k, p) }
func (m *memory) Note(k simplex.Kind, p simplex.Proposal)         { m.mark.Note(k, p) }
func (m *memory) Watermark() simplex.Watermark                    { return m.mark }
func (m *memory) Sync() error                                     { return nil }

// watch is the wait at the start, without votes, for votes in our own name.
type watch struct {
	views int // left
	timer *time.Timer
}

// permit lets the machine vote: not while we watch, and not against what this
// key said before.
func (e *Engine) permit(k simplex.Kind, p simplex.Proposal) bool {
	if e.watch.views > 0 || e.guard.Permit(k, p) != nil {
		e.Stats.VotesWithheld.Add(1)
		return false
	}
	return true
}

// watchStart begins the watch.
func (e *Engine) watchStart() {
	if e.cfg.Share == nil || e.cfg.WatchViews == 0 {
		return
	}
	e.watch.views = e.cfg.WatchViews + 1 // the first view is entered by Resumed
	e.watch.timer.Reset(time.Duration(e.cfg.WatchViews) * e.cfg.CertificationTimeout)
	e.Stats.Watching.Store(true)
}

// watchOn asks the peers, in each view of the watch, for the last vote they
// have from us.
func (e *Engine) watchOn() {
	if e.watch.views <= 1 {
		e.watchOver()
		return
	}
	e.watch.views--
	e.net.Broadcast([]byte{tagWatch})
}

// watchOver lets us vote: from the next event on, and in a view that waits for
// our vote at the retry timer.
func (e *Engine) watchOver() {
	e.watch.views = 0
	e.Stats.Watching.Store(false)
}

// answerWatch tells a peer the last vote that we have from it.
func (e *Engine) answerWatch(to beacon.Participant) {
	p := &e.peers[to]
	if p.last.Kind == 0 || !p.allows(time.Now(), e.cfg.FetchTimeout) {
		return
	}
	e.net.Send(to, appendEcho(nil, echo{p.last}))
}

// receiveEcho takes a vote that somebody else has from us. Nobody but the
// holder of our key can make one, so only a false one is the sender's fault.
func (e *Engine) receiveEcho(from beacon.Participant, v simplex.Vote) {
	if e.cfg.Share == nil || v.Signer != e.cfg.Self || v.Proposal.Round.Epoch != e.cfg.Set.Epoch() {
		e.ban(from)
		return
	}
	if !e.recognise(v) {
		e.ban(from)
	}
}

// recognise ends Run if a vote in our name is not ours, whether we still watch
// or not. It reports false for a vote that our key did not sign.
func (e *Engine) recognise(v simplex.Vote) bool {
	mark := e.guard.Watermark()
	if v.Signer != e.cfg.Self || mark.Said(v.Kind, v.Proposal) {
		return v.Signer == e.cfg.Self
	}
	if len(e.scheme.BadIndividuals([]simplex.Vote{v})) > 0 {
		return false
	}
	e.fault = fmt.Errorf("%s of view %d, our last was in view %d: %w",
		v.Kind, v.Proposal.Round.View, mark.Round().View, ErrDoppelganger)
	return true
}
