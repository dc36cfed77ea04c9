package engine

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// resume makes the parts, and the machine what it was when the journal ended.
func (e *Engine) resume(ctx context.Context) error {
	floor, err := e.cfg.LastFinalized.machine(e.cfg.Set.Epoch())
	if err != nil {
		return fmt.Errorf("last finalized: %w", err)
	}
	machine := simplex.Config{
		Epoch: e.cfg.Set.Epoch(), Self: e.cfg.Self, Elector: e.cfg.Set,
		GenesisBeacon: e.cfg.Set.GenesisBeacon(), Floor: floor, Retention: e.cfg.Retention,
		Skip: simplex.Skip{After: e.cfg.SkipAfter, Members: e.cfg.Set.Len(), Quorum: e.cfg.Set.Quorum()},
	}
	if e.cfg.Share != nil {
		machine.Signer = e.signer
		machine.Permit = func(k simplex.Kind, p simplex.Proposal) bool { return e.permit(ctx, k, p) }
	}
	e.machine = simplex.New(machine)
	e.tally = simplex.NewTally(e.cfg.Set.Quorum(), e.machine.TakesVotes)
	e.tally.Advance(floor.View)
	if err := e.assembleParts(floor.View); err != nil {
		return err
	}
	if err := e.records.replay(e.replay); err != nil {
		return err
	}
	if floor.View > 0 && !e.machine.Knows(floor.View, simplex.Finalize) {
		return fmt.Errorf("view %d: %w", floor.View, ErrNoSeed)
	}
	e.watch.nameClosed(e.records.spoken)
	e.do(ctx, e.watch.start(time.Now()))
	e.queueEvent(simplex.Resumed{})
	return nil
}

// assembleParts makes the parts, and gives each what it asks of others.
func (e *Engine) assembleParts(floor chain.View) error {
	cfg, stats := &e.cfg, &e.Stats
	e.blocks = blocks{shareMax: max(cfg.PendingBytesMax/cfg.Set.Len(), cfg.wholeMax()), max: cfg.PendingBytesMax}
	e.banned = bans{cfg: cfg, stats: stats, until: make(map[beacon.Participant]time.Time)}
	e.voices = make([]voice, cfg.Set.Len())
	e.leads.stats = stats.Leaders
	e.deliveries = deliveries{cfg: cfg, blocks: &e.blocks, durable: floor}
	here := &stock{cfg: cfg, machine: e.machine, blocks: &e.blocks, deliveries: &e.deliveries, bans: &e.banned}
	speeds, err := newRates(cfg)
	if err != nil {
		return fmt.Errorf("draw the order of peers: %w", err)
	}
	e.fetches = fetches{cfg: cfg, stats: stats, here: here, rates: speeds}
	e.sharding = newSharding(cfg, stats, e.machine, &e.blocks)
	e.previewing = previewing{cfg: cfg, stats: stats, leads: e.machine.Leads}
	e.judging = judging{cfg: cfg, stats: stats, machine: e.machine, blocks: &e.blocks, shards: &e.sharding, backlog: here.backlog}
	e.serving = newServing(cfg, stats, e.machine, &e.blocks, &e.deliveries)
	e.records = records{journal: e.journal, guard: e.guard, stats: stats, blocks: &e.blocks, shard: e.sharding.shardRecord}
	e.watch.guard, e.watch.checks, e.watch.machine = e.guard, e.checks, e.machine
	return nil
}

// newWatch returns the watch, which the network may tell of links before Run.
func newWatch(cfg *Config, stats *Stats) watch {
	return watch{cfg: cfg, stats: stats, away: make([]atomic.Bool, cfg.Set.Len())}
}

// replay takes one record of the journal.
func (e *Engine) replay(rec []byte) error {
	if len(rec) > 0 && rec[0] == tagBlock {
		old, err := decodeBlock(rec)
		if err != nil {
			return err
		}
		if old.round.Epoch != e.cfg.Set.Epoch() || old.round.View <= e.deliveries.durable {
			return nil
		}
		b := e.blocks.put(simplex.Proposal{Round: old.round, Payload: old.digest})
		e.blocks.set(b, append([]byte(nil), old.bytes...)) // the journal may reuse rec
		b.own, b.journaled = old.own, true
		return nil
	}
	if len(rec) > 0 && rec[0] == tagOwnShard {
		return e.sharding.replay(rec, e.deliveries.durable)
	}
	r, err := simplex.DecodeRecord(rec)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRecord, err)
	}
	for _, effect := range e.machine.Step(simplex.Replayed{Record: r}) {
		if halt, ok := effect.(simplex.Halt); ok {
			return halt.Err
		}
	}
	if v, ok := r.(simplex.Vote); ok {
		e.records.addVote(v)
	}
	if c, ok := r.(simplex.Certificate); ok && c.Proposal.Round.View > e.deliveries.durable {
		e.tally.Close(c)
	}
	return nil
}

// permit lets the machine vote, unless the watch or the guard says no.
func (e *Engine) permit(ctx context.Context, k simplex.Kind, p simplex.Proposal) bool {
	may, effects := e.watch.permit(time.Now(), k, p)
	e.do(ctx, effects)
	return may
}

// givenUp reports whether view v ended without a block, as far as we know. A block of
// it that others took in has a notarization which they hold, and those who vote for a
// child of it have it.
func (e *Engine) givenUp(v chain.View) bool {
	return v+1 < e.machine.View() && e.machine.Knows(v, simplex.Nullify) &&
		!e.machine.Knows(v, simplex.Notarize) && !e.machine.Knows(v, simplex.Finalize)
}
