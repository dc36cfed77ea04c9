package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
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

// Engine drives one [simplex.Machine].
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

	// Owned by Run.
	machine  *simplex.Machine
	tally    *simplex.Tally
	blocks   blocks
	timers   [simplex.NumTimers]timer
	banned   map[beacon.Participant]time.Time
	peers    []peer // by participant
	guests   map[beacon.Participant]*guest
	fetches  fetches
	reads    reads
	drafting drafting
	seen     sightings // when proposals came
	sharding sharding
	patience patience
	leads    leads             // who leads the current view and its neighbours, and whether it proposed
	watch    watch             // for another life of our key
	contact  contact           // with the others, and with time
	spoken   simplex.Watermark // what the journal says of our votes at the start
	refusals refusals
	fault    error            // ends Run: nothing leaves after it
	events   []simplex.Event  // to be stepped in this turn
	polls    []poll           // to be counted in this turn
	arrivals []arrival        // certificates to be verified in this turn
	ends     []end            // of answers, to be looked at when the machine has what came before
	fits     []arrival        // blocks to be held against their digests
	fitting  int              // bytes of these that are being hashed
	outgoing []simplex.Effect // to be carried out after the sync
	dirty    bool             // the journal has records that are not durable
	appended int              // journal bytes
	kept     int              // of these, what the last pruning left

	building    context.CancelFunc       // ends the Propose in progress
	postponed   *simplex.RequestProposal // waits for deliveries to drain
	undelivered []Finalization           // the first of them is being delivered
	delivered   chain.View               // newest view that the application has durably
	calls       sync.WaitGroup
}

// delivery is a message with its sender.
type delivery struct {
	from beacon.Participant
	msg  []byte
}

// poll names votes that changed.
type poll struct {
	view chain.View
	kind simplex.Kind
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
	e.contact.away = make([]atomic.Bool, cfg.Set.Len())
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
	timers := []**time.Timer{&e.fetches.timer, &e.watch.timer, &e.contact.timer}
	for i := range e.timers {
		timers = append(timers, &e.timers[i].Timer)
	}
	for _, t := range timers {
		*t = time.NewTimer(time.Hour)
		(*t).Stop()
		defer (*t).Stop()
	}
	if err := e.resume(); err != nil {
		return err
	}
	e.calls.Go(func() { e.serveStrangers(ctx) })
	e.Stats.Resumed.Store(true)
	for {
		if err := e.turn(ctx); err != nil {
			return err
		}
		e.tellRefusals()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case d := <-e.inbox.line:
			e.receive(e.inbox.took(d))
			e.drain()
		case r := <-e.replies:
			if err := r.apply(ctx, e); err != nil {
				return err
			}
		case <-e.timers[simplex.TimerLeader].C:
			e.fired(simplex.TimerLeader)
		case <-e.timers[simplex.TimerCertification].C:
			e.fired(simplex.TimerCertification)
		case <-e.timers[simplex.TimerRetry].C:
			e.fired(simplex.TimerRetry)
		case <-e.timers[simplex.TimerSkip].C:
			e.fired(simplex.TimerSkip)
		case <-e.fetches.timer.C:
			e.fetchAgain()
		case <-e.watch.timer.C:
			e.watchTick()
		case <-e.contact.timer.C:
			e.notice()
		case p := <-e.links:
			e.linked(p)
		}
	}
}

// turn does all that the last input leads to.
func (e *Engine) turn(ctx context.Context) error {
	for {
		if err := e.carryOut(ctx); err != nil {
			return err
		}
		e.watchOn()
		if e.fault != nil || !e.busy() {
			return e.fault
		}
	}
}

// carryOut goes on until nothing is left to do. Nothing leaves after a fault.
func (e *Engine) carryOut(ctx context.Context) error {
	for e.fault == nil && (e.busy() || len(e.outgoing) > 0 || len(e.ends) > 0 || e.reads.due() || len(e.fits) > 0 || len(e.sharding.rebuilds) > 0 || e.sharding.checks.due() || len(e.drafting.waiting) > 0) {
		if err := e.settle(); err != nil {
			return err
		}
		e.concludeAnswers()
		free, bound := simplex.Split(e.outgoing)
		e.outgoing = nil
		for _, effect := range free {
			e.release(ctx, effect)
		}
		if len(bound) > 0 {
			if err := e.sync(); err != nil {
				return err
			}
		}
		for _, effect := range bound {
			e.release(ctx, effect)
		}
		e.readArchives(ctx)
		for _, a := range e.fits {
			e.fit(ctx, a)
		}
		e.fits = nil
		e.checkShards(ctx)
		e.rebuildAll(ctx)
		e.prepare(ctx)
	}
	e.Stats.BlockBytes.Store(int64(e.blocks.bytes))
	e.Stats.BlocksDropped.Store(e.blocks.dropped)
	if e.fault != nil {
		return nil
	}
	err := e.prune()
	e.Stats.JournalBytes.Store(int64(e.appended))
	return err
}

// busy reports whether the machine or the tally has something to do.
func (e *Engine) busy() bool { return len(e.events) > 0 || len(e.polls) > 0 || len(e.arrivals) > 0 }

// settle steps the machine until it has nothing more to say.
func (e *Engine) settle() error {
	for e.busy() {
		e.admit()
		for len(e.events) > 0 {
			event := e.events[0]
			e.events = e.events[1:]
			for _, effect := range e.machine.Step(event) {
				if err := e.take(effect); err != nil {
					return err
				}
			}
		}
		if err := e.count(); err != nil {
			return err
		}
	}
	return nil
}

// sync makes durable what the machine wants kept, in the journal and then in the
// guard. Only then may anything leave. The order keeps the guard from closing a
// view for a block that is nowhere: what is in the guard is in the journal
// (docs/adr/0104).
func (e *Engine) sync() error {
	if !e.dirty {
		return nil
	}
	start := time.Now()
	if err := e.journal.Sync(); err != nil {
		return fmt.Errorf("sync votes: %w", err)
	}
	if err := e.guard.Sync(); err != nil {
		return fmt.Errorf("sync votes: %w", err)
	}
	e.dirty = false
	e.Stats.Stages[StageSync].add(time.Since(start))
	e.Stats.Syncs.Add(1)
	return nil
}

// drain takes what else is in the inbox, so that one sync and one batch serve
// all of it.
func (e *Engine) drain() {
	for range drainMax {
		select {
		case d := <-e.inbox.line:
			e.receive(e.inbox.took(d))
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
			if e.leads.now.known {
				e.Stats.Leaders[e.leads.now.who].Timeouts.Add(1)
			}
		case simplex.TimerCertification:
			e.Stats.CertificationTimeouts.Add(1)
		case simplex.TimerSkip:
			e.Stats.LeaderSkips.Add(1)
		}
	}
	e.step(simplex.TimerFired{View: e.timers[t].view, Timer: t})
}

// step puts an event in line for this turn.
func (e *Engine) step(event simplex.Event) {
	if !e.hold(event) {
		e.events = append(e.events, event)
	}
}

// recount puts a poll in line for this turn, once.
func (e *Engine) recount(v chain.View, k simplex.Kind) {
	for _, p := range e.polls {
		if p == (poll{v, k}) {
			return
		}
	}
	e.polls = append(e.polls, poll{v, k})
}
