package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
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

// watch is the look-out for another life of our key.
type watch struct {
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
	timer   *time.Timer
}

// heard is the newest answer of a peer.
type heard struct {
	number uint32 // of the question; 0: none
	view   chain.View
	other  wire.OtherLife
	at     time.Time // when the other was heard at the earliest; zero: not lately
	spoke  time.Time // the same of a vote, if the answer has words that are strange; zero: not lately
}

// memory is the guard of a node without one.
type memory struct{ mark simplex.Watermark }

func (m *memory) Permit(k simplex.Kind, p simplex.Proposal) error { return m.mark.Permit(k, p) }
func (m *memory) Note(k simplex.Kind, p simplex.Proposal)         { m.mark.Note(k, p) }
func (m *memory) CloseRound(r beacon.Round)                       { m.mark.CloseRound(r) }
func (m *memory) Watermark() simplex.Watermark                    { return m.mark }
func (m *memory) Sync() error                                     { return nil }

// permit lets the machine vote: not while we listen, and not against what this
// key said before.
func (e *Engine) permit(k simplex.Kind, p simplex.Proposal) bool {
	view := p.Round.View
	if e.notice(); e.watch.silent {
		if k == simplex.Nullify {
			e.watch.nullify = view
		}
		e.Stats.VotesWithheld.Add(1)
		return false
	}
	if err := e.guard.Permit(k, p); err != nil {
		e.Stats.VotesWithheld.Add(1)
		if view == e.machine.View() { // a late word about an older view can be spared
			e.Stats.ClosedView.Store(uint64(view))
		}
		return false
	}
	if view >= chain.View(e.Stats.ClosedView.Load()) {
		e.Stats.ClosedView.Store(0)
	}
	return true
}

// watches reports whether we look for another life of our key.
func (e *Engine) watches() bool { return e.cfg.Share != nil && e.cfg.Watch.Instance != 0 }

// watchStart begins the watch.
func (e *Engine) watchStart() {
	if !e.watches() {
		return
	}
	now := time.Now()
	e.watch.heard = make([]heard, e.cfg.Set.Len())
	e.watch.memory = e.guard.Watermark()
	e.contact.seen = now
	e.contact.timer.Reset(beat)
	e.watch.began, e.watch.since, e.watch.until = now, now, now.Add(e.cfg.Watch.Listen)
	e.watch.silent, e.watch.voted = !e.cfg.Watch.Alone, e.cfg.Watch.Alone
	e.Stats.Watching.Store(e.watch.silent)
	e.watchTick()
	e.reason()
}

// watchTick asks every peer, and sets the time of the next question.
func (e *Engine) watchTick() {
	now := time.Now()
	e.askAll()
	if !e.watch.silent {
		e.watch.timer.Reset(e.cfg.Watch.Again)
		return
	}
	if left := e.watch.until.Sub(now); left > 0 {
		e.watch.final = 0
		e.watch.timer.Reset(min(left, e.cfg.Watch.Every))
	} else {
		if e.watch.final == 0 {
			e.watch.final = e.watch.question
		}
		e.watch.timer.Reset(e.cfg.Watch.Every)
	}
	e.reason()
}

func (e *Engine) askAll() {
	e.watch.question++
	copy(e.watch.asked[1:], e.watch.asked[:])
	e.watch.asked[0] = time.Now()
	e.Stats.OwnQuestions.Add(1)
	e.net.Broadcast(wire.Append(nil, e.ownAsk()))
}

func (e *Engine) ownAsk() wire.Ask {
	return wire.Ask{Instance: e.cfg.Watch.Instance, Number: e.watch.question, Posture: e.posture()}
}

func (e *Engine) posture() wire.Posture {
	switch {
	case !e.watch.silent:
		return wire.Votes
	case e.watch.voted:
		return wire.Rests
	}
	return wire.Listens
}

// Linked tells the engine that a validator can be reached, anew or for the first
// time. It never blocks and may be called by many goroutines.
func (e *Engine) Linked(p beacon.Participant) {
	if int(p) < len(e.contact.away) {
		e.contact.away[p].Store(false)
	}
	select {
	case e.links <- p:
	default: // the next question goes to everybody
	}
}

// linked asks a peer as soon as there is a way to it.
func (e *Engine) linked(p beacon.Participant) {
	if e.watches() && int(p) < len(e.peers) && !e.isSelf(p) {
		e.Stats.OwnQuestions.Add(1)
		e.net.Send(p, wire.Append(nil, e.ownAsk()))
	}
}

// answerAsk tells a peer what came in under its name.
func (e *Engine) answerAsk(to beacon.Participant, q wire.Ask) {
	p, now := &e.peers[to], time.Now()
	if q.Instance == 0 || !p.allows(now, e.cfg.FetchTimeout) {
		return
	}
	a := wire.Answer{Instance: q.Instance, Number: q.Number, Other: p.lives.meet(q, now), Spoke: -1}
	if !p.spoke.IsZero() {
		a.Spoke = now.Sub(p.spoke)
	}
	for _, v := range p.words {
		if v.Kind != 0 {
			a.Votes = append(a.Votes, v)
		}
	}
	a.Entered = e.entry()
	e.net.Send(to, wire.Append(nil, a))
}

// entry is the certificate by which we entered our view, if it is here.
func (e *Engine) entry() *simplex.Certificate {
	if v := e.machine.View(); v > 0 {
		for k := simplex.Finalize; k >= simplex.Notarize; k-- {
			if c, ok := e.machine.Certificate(v-1, k); ok {
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

// receiveAnswer takes what a peer has heard in our name. Nobody but a holder of
// our key can have made a vote in it, so only a false one is the sender's fault.
func (e *Engine) receiveAnswer(from beacon.Participant, a wire.Answer) {
	if !e.watches() || a.Instance != e.cfg.Watch.Instance || a.Number > e.watch.question {
		return // of another life of ours
	}
	strange := false
	for _, v := range a.Votes {
		if v.Signer != e.cfg.Self || v.Proposal.Round.Epoch != e.cfg.Set.Epoch() || !e.recognise(v, true) {
			e.ban(from)
			return
		}
		strange = strange || !e.watch.memory.Said(v.Kind, v.Proposal)
	}
	h := &e.watch.heard[from]
	if a.Number < h.number {
		return
	}
	e.Stats.OwnAnswers.Add(1)
	e.watch.news = true
	*h = heard{number: a.Number, other: a.Other}
	if back := e.watch.question - a.Number; back < uint32(len(e.watch.asked)) {
		if a.Other.Instance != 0 {
			h.at = e.watch.asked[back].Add(-a.Other.Age) // it was heard after that, or then
		}
		if strange && a.Spoke >= 0 {
			h.spoke = e.watch.asked[back].Add(-a.Spoke)
		}
	}
	// A life that we know nothing of asked since we began, or voted. From when we hear of
	// it, which may be long after the silence began, it has time to be heard. A single
	// peer that lies about it can have us listen for longer, once, and no more.
	if !e.watch.hinted && (strange || h.at.After(e.watch.began.Add(stale))) {
		e.watch.hinted = e.watch.silent
		e.listenUntil(time.Now().Add(e.cfg.Watch.Longest))
	}
	if a.Entered != nil {
		h.view = a.Entered.Proposal.Round.View + 1
		e.receiveCertificate(arrival{from, *a.Entered, nil}) // the peer is banned if it is false
	}
}

// recognise takes a vote in our name that came from outside: from a process that holds
// our peer key, or told by another validator. It reports false for one that our key did
// not sign.
func (e *Engine) recognise(v simplex.Vote, told bool) bool {
	mark := e.guard.Watermark()
	if v.Signer != e.cfg.Self || mark.Said(v.Kind, v.Proposal) {
		return v.Signer == e.cfg.Self
	}
	if len(e.checks.BadIndividuals([]simplex.Vote{v})) > 0 {
		return false
	}
	view := v.Proposal.Round.View
	if told && e.watch.horizon > 0 && view > e.watch.horizon {
		e.redraw(view)
	}
	if e.watches() && (e.watch.horizon == 0 || view <= e.watch.horizon) {
		// The word of an earlier life. What else it said in that round is not known.
		e.guard.CloseRound(v.Proposal.Round)
		e.watch.closed = max(e.watch.closed, view)
		e.Stats.OwnVotesFound.Add(1)
		e.cfg.Log.Warn("an earlier life of this key voted where nothing here remembers it: the round is closed",
			"vote", v.Kind, "view", view, "block", v.Proposal.Payload, "we_remember", mark.Round().View)
		if err := e.guard.Sync(); err != nil {
			e.fault = fmt.Errorf("sync votes: %w", err)
		}
		return true
	}
	e.fault = fmt.Errorf("%s of view %d, which began after this process started in view %d at the latest: %w",
		v.Kind, view, e.watch.horizon, ErrDoppelganger)
	return true
}

// redrawMax is how often a start that listens draws its horizon anew.
const redrawMax = 2

// redraw forgets the horizon of a start that has not said a word yet, for a word of a
// later round that a peer tells: those who answered first may have been liars and
// laggards, and the word one of a life that ended (docs/adr/0150). From the next
// question on it is drawn again, while we listen for the longest time; a life that goes
// on is soon beyond that too.
func (e *Engine) redraw(view chain.View) {
	w := &e.watch
	if !w.silent || w.voted || w.redrawn == redrawMax {
		return
	}
	e.cfg.Log.Warn("a vote of this key is of a later view than those who answered first were in: the others are asked anew",
		"view", view, "started_in", w.horizon)
	w.horizon, w.drawn = 0, w.question+1
	w.redrawn++
	e.listenUntil(time.Now().Add(e.cfg.Watch.Longest))
	w.final = 0 // no answer to an older question ends the silence
	e.watchTick()
}

// watchOn draws conclusions from what came in: it is called when the machine has
// nothing more to say.
func (e *Engine) watchOn() {
	if !e.watches() || e.fault != nil {
		return
	}
	quorum := e.cfg.Set.Quorum() - 1
	if e.watch.horizon == 0 && e.answers(max(1, e.watch.drawn)) >= quorum {
		e.watch.horizon = max(e.machine.View(), e.newestView()) + 1
	}
	if e.watch.news {
		e.watch.news = false
		e.lookAtOther()
	}
	if e.watch.silent && e.fault == nil && e.reason() == "" {
		e.watchOver()
	}
}

// answers counts the peers that answered a question or a later one.
func (e *Engine) answers(number uint32) (n int) {
	for _, h := range e.watch.heard {
		if h.number >= number && h.number > 0 {
			n++
		}
	}
	return n
}

// recent is the oldest question whose answer counts: asked when the listening was over,
// and not long ago.
func (e *Engine) recent() uint32 {
	oldest := uint32(1)
	if q := e.watch.question; q > askedKept {
		oldest = q - askedKept + 1
	}
	return max(oldest, e.watch.final)
}

// newestView is the view of the peer that is furthest, which a certificate proves.
func (e *Engine) newestView() (v chain.View) {
	for _, h := range e.watch.heard {
		v = max(v, h.view)
	}
	return v
}

// lookAtOther acts on another process of which more than a third of the peers have
// heard since we started. Who only listens stops for one that votes, or that has voted
// and asks again; that one stops for one that votes. Of two that are alike in this the
// one with the lower number stays, and of two that vote neither.
func (e *Engine) lookAtOther() {
	if e.watch.silent && e.speaks() {
		e.fault = fmt.Errorf("peers hear votes of our key while this process, instance %016x, says nothing: %w", e.cfg.Watch.Instance, ErrDoppelganger)
		return
	}
	other, at := e.other()
	if other.Instance == 0 {
		return
	}
	own := e.posture()
	stops := other.Posture == wire.Votes || other.Posture == wire.Rests && own == wire.Listens ||
		other.Posture == own && other.Instance < e.cfg.Watch.Instance
	switch {
	case stops:
		e.fault = fmt.Errorf("peers hear of another process with our key, instance %016x, which %s (this is instance %016x, which %s): %w",
			other.Instance, other.Posture, e.cfg.Watch.Instance, own, ErrDoppelganger)
	case own != wire.Votes: // it stops when it hears of us: until then we wait
		e.listenUntil(at.Add(2*e.cfg.Watch.Every + stale))
	}
}

// listenUntil has the silence last until then at least.
func (e *Engine) listenUntil(until time.Time) {
	if e.watch.silent && until.After(e.watch.until) {
		e.watch.until, e.watch.final = until, 0
		e.watch.timer.Reset(min(max(0, time.Until(until)), e.cfg.Watch.Every))
	}
}

// speaks reports whether more than a third of the peers heard votes of our key which
// we do not know, one of them since our silence began and after what an ended process
// can have left in queues: another process makes them, and we are the one to stop,
// before we say a word that would stop the other one.
func (e *Engine) speaks() bool {
	n := 0
	for _, h := range e.watch.heard {
		if h.spoke.After(e.watch.since.Add(stale)) {
			n++
		}
	}
	return n > e.cfg.Set.Len()-e.cfg.Set.Quorum()
}

// other is a process with our key that more than a third of the peers heard of,
// after what an ended one can have left in queues.
func (e *Engine) other() (found wire.OtherLife, at time.Time) {
	const rather = 2 // times stale: what is older says nothing of now
	since := e.watch.since
	if !e.watch.voted {
		// Two processes that take each other's links in turns are cut off again and again,
		// and hear of each other's past each time: whoever was heard since we started lives.
		since = e.watch.began
	}
	need := e.cfg.Set.Len() - e.cfg.Set.Quorum() + 1
	for i, h := range e.watch.heard {
		if h.other.Instance == 0 || h.other.Instance == e.cfg.Watch.Instance {
			continue
		}
		n, vote, spoke, last := 0, 0, 0, time.Time{}
		for _, o := range e.watch.heard {
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
		if n >= need && (found.Instance == 0 || vote >= need) && time.Since(last) < rather*stale+e.cfg.Watch.Every {
			found, at = e.watch.heard[i].other, last
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

// reason says why no vote leaves yet, or nothing if one may. It tells the log of
// each new reason, and of an old one once a minute.
func (e *Engine) reason() string {
	if !e.watch.silent {
		return ""
	}
	var text string
	want := e.cfg.Set.Quorum() - 1
	got := e.answers(e.recent())
	switch view, newest := e.machine.View(), e.newestView(); {
	case e.contact.cut:
		text = "can reach too few validators to know what was voted in its name"
	case e.watch.final == 0:
		text = "listens for another life of this key before it votes"
	case got < want:
		text = fmt.Sprintf("waits until %d others have said what they heard from this key: validators %s have not", want, e.unheard())
	case view < newest:
		text = fmt.Sprintf("is in view %d and does not vote before it is in view %d with its peers", view, newest)
	}
	e.Stats.Silence.Store(&text)
	if text != "" && (text != e.watch.told || time.Since(e.watch.toldAt) >= time.Minute) {
		e.watch.told, e.watch.toldAt = text, time.Now()
		e.cfg.Log.Info("no votes yet: this validator "+text, "instance", fmt.Sprintf("%016x", e.cfg.Watch.Instance))
	}
	return text
}

// unheard lists validators that have not answered lately, a few of them.
func (e *Engine) unheard() string {
	const few = 8
	var names []string
	for i, h := range e.watch.heard {
		if e.isSelf(beacon.Participant(i)) || h.number >= e.recent() {
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

// hold keeps what we would vote on, until we may. It reports whether it did.
func (e *Engine) hold(event simplex.Event) bool {
	if !e.watch.silent {
		return false
	}
	switch event.(type) {
	case simplex.Verified, simplex.ProposalReady:
		const held = 2 // a verdict and a block of the current view
		if len(e.watch.held) == held {
			e.watch.held = e.watch.held[1:]
		}
		e.watch.held = append(e.watch.held, event)
		return true
	}
	return false
}

// watchOver lets us vote, at once in a view that waits for our word.
func (e *Engine) watchOver() {
	e.watch.silent, e.watch.voted, e.watch.since = false, true, time.Now()
	e.Stats.Watching.Store(false)
	e.Stats.Silence.Store(nil)
	e.cfg.Log.Info("votes from now on: no other life of this key was heard of", "view", e.machine.View(), "instance", fmt.Sprintf("%016x", e.cfg.Watch.Instance))
	e.sayWithheld()
	for _, event := range e.watch.held { // of other views they have no effect
		e.step(event)
	}
	if v := e.machine.View(); e.watch.nullify == v {
		e.step(simplex.TimerFired{View: v, Timer: simplex.TimerRetry})
	}
	e.watch.held = nil
	e.watch.timer.Reset(e.cfg.Watch.Again)
}

// SilenceReason is why no vote leaves yet, in words that follow "this validator";
// it is empty if votes may leave.
func (s *Stats) SilenceReason() string {
	if text := s.Silence.Load(); text != nil {
		return *text
	}
	return ""
}
