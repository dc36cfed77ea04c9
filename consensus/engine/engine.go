package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

var (
	// ErrBusy means that the inbox is full. The network drops the message or
	// tries again; the sender repeats what matters.
	ErrBusy = errors.New("consensus inbox full")
	// ErrNoSeed means that neither the certificates of the last finalized block
	// nor the journal have the seed of its round, without which no leader can be
	// drawn.
	ErrNoSeed = errors.New("seed of the last finalized round is not known")
)

// drainMax bounds the messages taken in one turn of the loop, so that a flood
// does not put off the sync, and with it our own votes.
const drainMax = 256

// Engine drives one [simplex.Machine]. It is the loop: it hands events to the machine and
// to the parts, and carries out what these decide.
type Engine struct {
	cfg       Config
	app       Application
	net       Network
	journal   Journal
	signer    simplex.Signer
	checks    simplex.Verifier
	guard     Guard
	inbox     inbox
	replies   chan reply
	links     chan beacon.Participant // that can be reached anew
	strangers chan read               // the answer to a full node that is made now
	Stats     Stats

	// Owned by Run: what is known.
	machine *simplex.Machine
	tally   *simplex.Tally
	blocks  blocks
	banned  bans
	voices  []voice // by participant

	// Owned by Run: the parts.
	records    records    // what outlasts this process
	fetches    fetches    // what peers are asked for
	serving    serving    // what peers ask for
	sharding   sharding   // blocks in pieces
	previewing previewing // blocks to come
	judging    judging    // blocks on their way to a verdict
	deliveries deliveries // blocks on their way to the application
	watch      watch      // for another life of our key
	patience   patience   // by how much waits are longer
	leads      leads      // who leads the current view and its neighbours, and whether it proposed
	seen       sightings  // when proposals came
	refusals   refusals   // what the log was told of them

	// Owned by Run: what this turn has to do.
	events   []simplex.Event  // to be stepped
	arrivals []arrival        // certificates to be verified
	outgoing []simplex.Effect // to be carried out after the sync

	timers    [simplex.NumTimers]timer // of the machine
	alarms    [numAlarms]*time.Timer   // of the parts
	building  context.CancelFunc       // ends the Propose in progress
	postponed *simplex.RequestProposal // waits for deliveries to drain
	calls     sync.WaitGroup
}

// delivery is a message with its sender.
type delivery struct {
	from beacon.Participant
	msg  []byte
}

// timer is a timer with the view it was armed in.
type timer struct {
	*time.Timer
	view chain.View
}

// New returns an engine that has not touched its journal yet.
func New(cfg Config, app Application, net Network, journal Journal) (*Engine, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	scheme, err := simplex.NewThreshold(cfg.Set, cfg.Self, simplex.Keys{Share: cfg.Share, Peer: cfg.Peer}, cfg.Weights)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		cfg: cfg, app: app, net: net, journal: journal, signer: scheme, checks: scheme, guard: cfg.Guard,
		replies: make(chan reply), strangers: make(chan read, 1), links: make(chan beacon.Participant, cfg.Set.Len()),
	}
	if cfg.Checks != nil {
		e.checks = cfg.Checks(scheme)
		if s, ok := e.checks.(simplex.Signer); ok {
			e.signer = s
		}
	}
	if e.guard == nil {
		e.guard = new(memory)
	}
	e.watch = newWatch(&e.cfg, &e.Stats)
	e.inbox = newInbox(&e.cfg, &e.Stats.InboxBytes)
	e.refusals.told = make([]uint64, len(e.inbox.refused))
	if e.cfg.Log == nil {
		e.cfg.Log = slog.New(slog.DiscardHandler)
	}
	e.Stats.Peers = make([]PeerStats, cfg.Set.Len())
	e.Stats.Leaders = make([]LeaderStats, cfg.Set.Len())
	return e, nil
}

// Run replays the journal and takes part until ctx ends or something happens
// that a validator must not survive: a vote cannot be made durable, the
// application is at fault, or certificates contradict each other. The caller
// owns the goroutine; Run waits for its own. It may be called once.
func (e *Engine) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer e.calls.Wait()
	defer cancel()
	var timers []**time.Timer
	for i := range e.alarms {
		timers = append(timers, &e.alarms[i])
	}
	for i := range e.timers {
		timers = append(timers, &e.timers[i].Timer)
	}
	for _, t := range timers {
		*t = time.NewTimer(time.Hour)
		(*t).Stop()
		defer (*t).Stop()
	}
	if err := e.resume(ctx); err != nil {
		return err
	}
	e.calls.Go(func() { e.serveStrangers(ctx) })
	e.Stats.Resumed.Store(true)
	began := time.Now()
	for {
		if err := e.turn(ctx); err != nil {
			return err
		}
		e.refusals.logRefused(time.Now(), &e.Stats, &e.inbox, e.cfg.Log)
		e.Stats.OwnerNanos.Add(uint64(time.Since(began)))
		take := e.awaitInput(ctx)
		began = time.Now()
		if err := take(); err != nil {
			return err
		}
	}
}

// awaitInput waits for what comes next, and returns what takes it in.
func (e *Engine) awaitInput(ctx context.Context) (take func() error) {
	effects := func(effects func() []effect) func() error {
		return func() error {
			e.do(ctx, effects())
			return nil
		}
	}
	fired := func(t simplex.Timer) func() error {
		return func() error {
			e.fired(t)
			return nil
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err
	case d := <-e.inbox.line:
		return func() error {
			e.receive(ctx, e.inbox.took(d))
			e.drain(ctx)
			return nil
		}
	case r := <-e.replies:
		return func() error { return r.apply(ctx, e) }
	case <-e.timers[simplex.TimerLeader].C:
		return fired(simplex.TimerLeader)
	case <-e.timers[simplex.TimerCertification].C:
		return fired(simplex.TimerCertification)
	case <-e.timers[simplex.TimerRetry].C:
		return fired(simplex.TimerRetry)
	case <-e.timers[simplex.TimerSkip].C:
		return fired(simplex.TimerSkip)
	case <-e.alarms[alarmFetch].C:
		return effects(func() []effect { return e.fetches.tick(time.Now()) })
	case <-e.alarms[alarmWatch].C:
		return effects(func() []effect { return e.watch.tick(time.Now()) })
	case <-e.alarms[alarmBeat].C:
		return effects(func() []effect { return e.watch.notice(time.Now()) })
	case p := <-e.links:
		return effects(func() []effect { return e.watch.linked(time.Now(), p) })
	}
}

// turn does all that the last input leads to.
func (e *Engine) turn(ctx context.Context) error {
	for {
		if err := e.carryOut(ctx); err != nil {
			return err
		}
		e.do(ctx, e.watch.conclude(time.Now()))
		if e.watch.fault != nil || !e.busy() {
			return e.watch.fault
		}
	}
}

// carryOut goes on until nothing is left to do. Nothing leaves after a fault.
func (e *Engine) carryOut(ctx context.Context) error {
	for e.watch.fault == nil && (e.busy() || len(e.outgoing) > 0 || len(e.fetches.ends) > 0 || e.workDue()) {
		if err := e.stepUntilQuiet(ctx); err != nil {
			return err
		}
		e.do(ctx, e.fetches.conclude(time.Now()))
		free, bound := simplex.Split(e.outgoing)
		e.outgoing = nil
		for _, effect := range free {
			e.release(ctx, effect)
		}
		if len(bound) > 0 {
			if err := e.records.sync(); err != nil {
				return err
			}
		}
		for _, effect := range bound {
			e.release(ctx, effect)
		}
		e.startWork(ctx)
	}
	e.Stats.BlockBytes.Store(int64(e.blocks.bytes))
	e.Stats.BlocksDropped.Store(e.blocks.dropped)
	if e.watch.fault != nil {
		return nil
	}
	err := e.records.prune(e.cfg.PruneBytes, e.deliveries.durable, e.givenUp)
	e.Stats.JournalBytes.Store(int64(e.records.appended))
	return err
}

// busy reports whether the machine or the tally has something to do.
func (e *Engine) busy() bool { return len(e.events) > 0 || e.tally.Due() || len(e.arrivals) > 0 }

// stepUntilQuiet steps the machine until it has nothing more to say.
func (e *Engine) stepUntilQuiet(ctx context.Context) error {
	for e.busy() {
		e.verifyCertificates()
		for len(e.events) > 0 {
			event := e.events[0]
			e.events = e.events[1:]
			for _, effect := range e.machine.Step(event) {
				if err := e.applyLocal(ctx, effect); err != nil {
					return err
				}
			}
		}
		if err := e.assembleCertificates(); err != nil {
			return err
		}
	}
	return nil
}

// drain takes what else is in the inbox, so that one sync and one batch serve
// all of it.
func (e *Engine) drain(ctx context.Context) {
	for range drainMax {
		select {
		case d := <-e.inbox.line:
			e.receive(ctx, e.inbox.took(d))
		default:
			return
		}
	}
}

func (e *Engine) fired(t simplex.Timer) {
	if e.timers[t].view == e.machine.View() {
		switch t {
		case simplex.TimerLeader:
			e.Stats.LeaderTimeouts.Add(1)
			e.leads.timedOut()
		case simplex.TimerCertification:
			e.Stats.CertificationTimeouts.Add(1)
		case simplex.TimerSkip:
			e.Stats.LeaderSkips.Add(1)
		}
	}
	e.queueEvent(simplex.TimerFired{View: e.timers[t].view, Timer: t})
}

// queueEvent puts an event in line for this turn.
func (e *Engine) queueEvent(event simplex.Event) {
	if !e.watch.hold(event) {
		e.events = append(e.events, event)
	}
}

// Deliver hands over a message that the validator from sent; the network
// vouches for the sender. It never blocks, keeps msg, and may be called by
// many goroutines.
func (e *Engine) Deliver(from beacon.Participant, msg []byte) error {
	if len(msg) > wire.EnvelopeBytesMax+e.cfg.MaxBlockBytes {
		return fmt.Errorf("message of %d bytes: %w", len(msg), wire.ErrBlock)
	}
	return e.inbox.put(delivery{from, msg}, &e.Stats)
}

// Linked tells the engine that a validator can be reached, anew or for the first
// time. It never blocks and may be called by many goroutines.
func (e *Engine) Linked(p beacon.Participant) {
	if int(p) < len(e.watch.away) {
		e.watch.away[p].Store(false)
	}
	select {
	case e.links <- p:
	default: // the next question goes to everybody
	}
}

// Unlinked tells the engine that there is no way to a validator any more. It never
// blocks and may be called by many goroutines.
func (e *Engine) Unlinked(p beacon.Participant) {
	if int(p) < len(e.watch.away) {
		e.watch.away[p].Store(true)
	}
}
