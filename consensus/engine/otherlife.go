package engine

import (
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// linked asks a peer as soon as there is a way to it.
func (w *watch) linked(now time.Time, p beacon.Participant) []effect {
	return w.event(now, func() { w.greet(p) })
}

func (w *watch) greet(p beacon.Participant) {
	if w.cfg.watches() && int(p) < w.cfg.Set.Len() && !w.cfg.isSelf(p) {
		w.stats.OwnQuestions.Add(1)
		w.out = append(w.out, send{p, w.ownAsk()})
	}
}

// answerTo tells a peer what came in under its name.
func (w *watch) answerTo(now time.Time, to beacon.Participant, q wire.Ask, p *voice) []effect {
	a := wire.Answer{Instance: q.Instance, Number: q.Number, Other: p.lives.meet(q, now), Spoke: -1}
	if !p.spoke.IsZero() {
		a.Spoke = now.Sub(p.spoke)
	}
	for _, v := range p.words {
		if v.Kind != 0 {
			a.Votes = append(a.Votes, v)
		}
	}
	a.Entered = w.entry()
	return []effect{send{to, a}}
}

// dropPeer drops what a peer said.
func (w *watch) dropPeer(p beacon.Participant) {
	if w.heard != nil {
		w.heard[p] = heard{}
	}
}

// entry is the certificate by which we entered our view, if it is here.
func (w *watch) entry() *simplex.Certificate {
	if v := w.machine.View(); v > 0 {
		for k := simplex.Finalize; k >= simplex.Notarize; k-- {
			if c, ok := w.machine.Certificate(v-1, k); ok {
				return &c
			}
		}
	}
	return nil
}

// lives are the two processes that asked last in the name of one validator: with
// a single key there is one, or one that took over from another.
type lives [2]struct {
	wire.Ask
	at time.Time
}

// meet notes a process that asks, and returns the other one.
func (l *lives) meet(q wire.Ask, now time.Time) (other wire.OtherLife) {
	if l[0].Instance != q.Instance {
		l[1] = l[0]
	}
	l[0].Ask, l[0].at = q, now
	if l[1].Instance == 0 || l[1].Instance == q.Instance {
		return wire.OtherLife{}
	}
	return wire.OtherLife{Instance: l[1].Instance, Posture: l[1].Posture, Age: now.Sub(l[1].at)}
}

// answered takes what a peer has heard in our name. Nobody but a holder of
// our key can have made a vote in it, so only a false one is the sender's fault.
func (w *watch) answered(now time.Time, from beacon.Participant, a wire.Answer) []effect {
	return w.event(now, func() { w.takeAnswer(from, a) })
}

func (w *watch) takeAnswer(from beacon.Participant, a wire.Answer) {
	if !w.cfg.watches() || a.Instance != w.cfg.Watch.Instance || a.Number > w.question {
		return // of another life of ours
	}
	strange := false
	for _, v := range a.Votes {
		if v.Signer != w.cfg.Self || v.Proposal.Round.Epoch != w.cfg.Set.Epoch() || !w.recognise(v, true) {
			w.out = append(w.out, ban{from})
			return
		}
		strange = strange || !w.memory.Said(v.Kind, v.Proposal)
	}
	h := &w.heard[from]
	if a.Number < h.number {
		return
	}
	w.stats.OwnAnswers.Add(1)
	w.news = true
	*h = heard{number: a.Number, other: a.Other}
	if back := w.question - a.Number; back < uint32(len(w.asked)) {
		if a.Other.Instance != 0 {
			h.at = w.asked[back].Add(-a.Other.Age) // it was heard after that, or then
		}
		if strange && a.Spoke >= 0 {
			h.spoke = w.asked[back].Add(-a.Spoke)
		}
	}
	// A life that we know nothing of asked since we began, or voted. From when we hear of
	// it, which may be long after the silence began, it has time to be heard. A single
	// peer that lies about it can have us listen for longer, once, and no more.
	if !w.hinted && (strange || h.at.After(w.began.Add(stale))) {
		w.hinted = w.silent
		w.listenUntil(w.now.Add(w.cfg.Watch.Longest))
	}
	if a.Entered != nil {
		h.view = a.Entered.Proposal.Round.View + 1
		w.out = append(w.out, arrive{arrival{from, *a.Entered, nil}}) // the peer is banned if it is false
	}
}

// heardAs takes a vote in our name from a process that holds our peer key.
func (w *watch) heardAs(now time.Time, v simplex.Vote) []effect {
	return w.event(now, func() { w.recognise(v, false) })
}

// recognise takes a vote in our name that came from outside: from a process that holds
// our peer key, or told by another validator. It reports false for one that our key did
// not sign.
func (w *watch) recognise(v simplex.Vote, told bool) bool {
	mark := w.guard.Watermark()
	if v.Signer != w.cfg.Self || mark.Said(v.Kind, v.Proposal) {
		return v.Signer == w.cfg.Self
	}
	if len(w.checks.BadIndividuals([]simplex.Vote{v})) > 0 {
		return false
	}
	view := v.Proposal.Round.View
	if told && w.horizon > 0 && view > w.horizon {
		w.redraw(view)
	}
	if w.cfg.watches() && (w.horizon == 0 || view <= w.horizon) {
		// The word of an earlier life. What else it said in that round is not known.
		w.guard.CloseRound(v.Proposal.Round)
		w.closed = max(w.closed, view)
		w.stats.OwnVotesFound.Add(1)
		w.cfg.Log.Warn("an earlier life of this key voted where nothing here remembers it: the round is closed",
			"vote", v.Kind, "view", view, "block", v.Proposal.Payload, "we_remember", mark.Round().View)
		if err := w.guard.Sync(); err != nil {
			w.fault = fmt.Errorf("sync votes: %w", err)
		}
		return true
	}
	w.fault = fmt.Errorf("%s of view %d, which began after this process started in view %d at the latest: %w",
		v.Kind, view, w.horizon, ErrDoppelganger)
	return true
}

// redrawMax is how often a start that listens draws its horizon anew.
const redrawMax = 2

// redraw forgets the horizon of a start that has not said a word yet, for a word of a
// later round that a peer tells: those who answered first may have been liars and
// laggards, and the word one of a life that ended (docs/adr/0150). From the next
// question on it is drawn again, while we listen for the longest time; a life that goes
// on is soon beyond that too.
func (w *watch) redraw(view chain.View) {
	if !w.silent || w.voted || w.redrawn == redrawMax {
		return
	}
	w.cfg.Log.Warn("a vote of this key is of a later view than those who answered first were in: the others are asked anew",
		"view", view, "started_in", w.horizon)
	w.horizon, w.drawn = 0, w.question+1
	w.redrawn++
	w.listenUntil(w.now.Add(w.cfg.Watch.Longest))
	w.final = 0 // no answer to an older question ends the silence
	w.ask()
}

// answers counts the peers that answered a question or a later one.
func (w *watch) answers(number uint32) (n int) {
	for _, h := range w.heard {
		if h.number >= number && h.number > 0 {
			n++
		}
	}
	return n
}

// recent is the oldest question whose answer counts: asked when the listening was over,
// and not long ago.
func (w *watch) recent() uint32 {
	oldest := uint32(1)
	if q := w.question; q > askedKept {
		oldest = q - askedKept + 1
	}
	return max(oldest, w.final)
}

// newestView is the view of the peer that is furthest, which a certificate proves.
func (w *watch) newestView() (v chain.View) {
	for _, h := range w.heard {
		v = max(v, h.view)
	}
	return v
}

// lookAtOther acts on another process of which more than a third of the peers have
// heard since we started. Who only listens stops for one that votes, or that has voted
// and asks again; that one stops for one that votes. Of two that are alike in this the
// one with the lower number stays, and of two that vote neither.
func (w *watch) lookAtOther() {
	if w.silent && w.speaks() {
		w.fault = fmt.Errorf("peers hear votes of our key while this process, instance %016x, says nothing: %w", w.cfg.Watch.Instance, ErrDoppelganger)
		return
	}
	other, at := w.other()
	if other.Instance == 0 {
		return
	}
	own := w.posture()
	stops := other.Posture == wire.Votes || other.Posture == wire.Rests && own == wire.Listens ||
		other.Posture == own && other.Instance < w.cfg.Watch.Instance
	switch {
	case stops:
		w.fault = fmt.Errorf("peers hear of another process with our key, instance %016x, which %s (this is instance %016x, which %s): %w",
			other.Instance, other.Posture, w.cfg.Watch.Instance, own, ErrDoppelganger)
	case own != wire.Votes: // it stops when it hears of us: until then we wait
		w.listenUntil(at.Add(2*w.cfg.Watch.Every + stale))
	}
}

// listenUntil has the silence last until then at least.
func (w *watch) listenUntil(until time.Time) {
	if w.silent && until.After(w.until) {
		w.until, w.final = until, 0
		w.wake(alarmWatch, min(max(0, until.Sub(w.now)), w.cfg.Watch.Every))
	}
}

// speaks reports whether more than a third of the peers heard votes of our key which
// we do not know, one of them since our silence began and after what an ended process
// can have left in queues: another process makes them, and we are the one to stop,
// before we say a word that would stop the other one.
func (w *watch) speaks() bool {
	n := 0
	for _, h := range w.heard {
		if h.spoke.After(w.since.Add(stale)) {
			n++
		}
	}
	return n > w.cfg.Set.Len()-w.cfg.Set.Quorum()
}

// other is a process with our key that more than a third of the peers heard of,
// after what an ended one can have left in queues.
func (w *watch) other() (found wire.OtherLife, at time.Time) {
	const rather = 2 // times stale: what is older says nothing of now
	since := w.since
	if !w.voted {
		// Two processes that take each other's links in turns are cut off again and again,
		// and hear of each other's past each time: whoever was heard since we started lives.
		since = w.began
	}
	need := w.cfg.Set.Len() - w.cfg.Set.Quorum() + 1
	for i, h := range w.heard {
		if h.other.Instance == 0 || h.other.Instance == w.cfg.Watch.Instance {
			continue
		}
		n, vote, spoke, last := 0, 0, 0, time.Time{}
		for _, o := range w.heard {
			if o.other.Instance == h.other.Instance && o.at.After(since.Add(stale)) {
				n++
				switch o.other.Posture {
				case wire.Votes:
					vote++
					spoke++
				case wire.Rests:
					spoke++
				}
				if o.at.After(last) {
					last = o.at
				}
			}
		}
		if n >= need && (found.Instance == 0 || vote >= need) && w.now.Sub(last) < rather*stale+w.cfg.Watch.Every {
			found, at = w.heard[i].other, last
			switch found.Posture = wire.Listens; {
			case vote >= need:
				found.Posture = wire.Votes
			case spoke >= need:
				found.Posture = wire.Rests
			}
		}
	}
	return found, at
}
