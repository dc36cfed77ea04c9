package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// servedViews is how many views below the durable tip keep their blocks in
// memory, for peers that ask. Older blocks come from the archive; where there is none,
// those of [Config.Retention] views stay, an eighth of [Config.PendingBytesMax] at most.
const servedViews = 4

// reply is the result of an application call, applied on the loop.
type reply interface {
	apply(ctx context.Context, e *Engine) error
}

// runOffLoop runs f off the loop and hands its reply back unless ctx ends first.
func (e *Engine) runOffLoop(ctx context.Context, stage string, f func(context.Context) reply) {
	e.calls.Go(func() {
		pprof.Do(ctx, pprof.Labels("stage", stage), func(ctx context.Context) {
			r := f(ctx)
			select {
			case e.replies <- r:
			case <-ctx.Done():
			}
		})
	})
}

// propose asks the application for a block, unless it is too far behind with
// the ones it has: then the disk sets the pace.
func (e *Engine) propose(ctx context.Context, x simplex.RequestProposal) {
	if len(e.deliveries.waiting) >= e.cfg.UndeliveredMax {
		e.postponed = &x
		return
	}
	ctx, e.building = context.WithCancel(ctx)
	e.runOffLoop(ctx, "propose", func(ctx context.Context) reply {
		start := time.Now()
		p, err := e.app.Propose(ctx, ProposeRequest{Round: x.Round, Parent: parentRef(x.Parent), Preview: e.previewOf(ctx, x)})
		if err == nil && p.Shards == nil {
			p.Shards, err = e.sharding.encode(p.Block)
		}
		return proposed{x, p, err, time.Since(start)}
	})
}

// previewOf returns the function by which the application hands out its preview.
func (e *Engine) previewOf(ctx context.Context, x simplex.RequestProposal) func([]byte) {
	return func(bytes []byte) {
		select {
		case e.replies <- previewed{wire.Preview{Round: x.Round, Parent: x.Parent.Round.View, Bytes: bytes}}:
		case <-ctx.Done():
		}
	}
}

type previewed struct{ preview wire.Preview }

func (r previewed) apply(ctx context.Context, e *Engine) error {
	e.do(ctx, e.previewing.announce(r.preview, e.machine.View()))
	return nil
}

type proposed struct {
	req   simplex.RequestProposal
	block Proposed
	err   error
	took  time.Duration
}

func (r proposed) apply(_ context.Context, e *Engine) error {
	if r.req.Round.View != e.machine.View() {
		return nil // too late, and cancelled
	}
	e.building()
	e.building = nil
	e.Stats.Stages[StagePropose].add(r.took)
	switch {
	case errors.Is(r.err, ErrNoProposal):
		e.Stats.ProposalsMissed.Add(1)
		e.queueEvent(simplex.ProposalFailed{View: r.req.Round.View})
		return nil
	case r.err != nil:
		return fmt.Errorf("propose in view %d: %w", r.req.Round.View, r.err)
	case len(r.block.Block) == 0 || len(r.block.Block) > e.cfg.MaxBlockBytes:
		return fmt.Errorf("propose in view %d: %d bytes: %w", r.req.Round.View, len(r.block.Block), wire.ErrBlock)
	}
	e.Stats.ProposalsMade.Add(1)
	b := e.blocks.put(simplex.Proposal{Round: r.req.Round, Payload: r.block.Digest})
	e.blocks.set(b, r.block.Block)
	b.own, b.verdict, b.codeword = true, valid, r.block.Shards
	e.leads.proposed(r.req.Round.View)
	e.seen.see(r.req.Round.View)
	e.queueEvent(simplex.ProposalReady{View: r.req.Round.View, Payload: r.block.Digest})
	return nil
}

// verify has the application judge a block.
func (e *Engine) verify(ctx context.Context, x verify) {
	ask := e.app.Verify
	if x.final {
		ask = e.app.Recover
	}
	e.runOffLoop(ctx, "verify", func(ctx context.Context) reply {
		start := time.Now()
		ok, err := ask(ctx, x.req)
		return verified{x.block, ok, err, time.Since(start)}
	})
}

type verified struct {
	block *block
	ok    bool
	err   error
	took  time.Duration
}

func (r verified) apply(ctx context.Context, e *Engine) error {
	e.Stats.Stages[StageVerify].add(r.took)
	effects, err := e.judging.judged(r.block, r.ok, r.err)
	e.do(ctx, effects)
	e.do(ctx, e.fetches.drained(time.Now()))
	return err
}

// startWork begins off the loop what the parts have in line: answers to peers, hashes of
// blocks and of shards, blocks to be put together, previews to be executed.
func (e *Engine) startWork(ctx context.Context) {
	for r, ok := e.serving.startAnswer(); ok; r, ok = e.serving.startAnswer() {
		if r.stranger {
			e.strangers <- r // its goroutine has answered the one before
			continue
		}
		e.runOffLoop(ctx, "archive", func(ctx context.Context) reply { return r.make(ctx, e.cfg.Archive, &e.serving.reads.encoded) })
	}
	for _, a := range e.judging.dequeueDue() {
		e.runOffLoop(ctx, "fit", func(context.Context) reply {
			ok, err := e.app.Fits(a.certificate.Proposal.Payload, a.block)
			return fitted{a, ok, err}
		})
	}
	pool := e.sharding.pool
	for e.sharding.checks.due() {
		batch := e.sharding.checks.dequeue()
		e.runOffLoop(ctx, "shards", func(context.Context) reply {
			for i := range batch {
				batch[i].err = pool.Check(batch[i].relay.Digest, batch[i].relay.Parcel)
			}
			return checkedShards(batch)
		})
	}
	for _, a := range e.sharding.dequeueDue() {
		work := pool.Rebuilder(a)
		e.runOffLoop(ctx, "rebuild", func(context.Context) reply {
			start := time.Now()
			block, err := work()
			return rebuilt{a, block, err, time.Since(start)}
		})
	}
	for _, d := range e.previewing.dequeue() {
		e.runOffLoop(ctx, "prepare", func(ctx context.Context) reply {
			start := time.Now()
			err := e.app.Prepare(ctx, PrepareRequest{Round: d.Round, Preview: d.Bytes})
			return prepared{err, time.Since(start)}
		})
	}
}

// workDue reports whether startWork has something to begin.
func (e *Engine) workDue() bool {
	return e.serving.reads.due() || len(e.judging.fits) > 0 || len(e.sharding.rebuilds) > 0 || e.sharding.checks.due() || len(e.previewing.waiting) > 0
}

// serveStrangers makes the answers to full nodes, one after the other, so that however
// many they are they have one core at most, and a fast disk one reader more.
func (e *Engine) serveStrangers(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-e.strangers:
			select {
			case e.replies <- r.make(ctx, e.cfg.Archive, &e.serving.reads.encoded):
			case <-ctx.Done():
				return
			}
		}
	}
}

func (r served) apply(ctx context.Context, e *Engine) error {
	e.do(ctx, e.serving.served(time.Now(), r))
	return nil
}

type fitted struct {
	arrival
	ok  bool
	err error // this node's; the peer has no part in it
}

func (r fitted) apply(ctx context.Context, e *Engine) error {
	if r.err != nil {
		return fmt.Errorf("hold a block against its digest: %w", r.err)
	}
	e.do(ctx, e.judging.fitted(r.arrival, r.ok))
	return nil
}

// checkedShards brings verdicts on relayed shards.
type checkedShards []relayCheck

func (r checkedShards) apply(ctx context.Context, e *Engine) error {
	e.sharding.checks.running--
	for _, x := range r {
		if e.banned.has(x.from, time.Now()) {
			e.Stats.Dropped.Add(1)
			continue
		}
		e.do(ctx, e.sharding.checked(x, e.voices[x.from].words[simplex.Notarize]))
	}
	return nil
}

type rebuilt struct {
	assembly *shards.Assembly
	block    []byte
	err      error
	took     time.Duration
}

func (r rebuilt) apply(ctx context.Context, e *Engine) error {
	e.Stats.Stages[StageRebuild].add(r.took)
	e.do(ctx, e.sharding.rebuilt(r.assembly, r.block, r.err))
	return nil
}

type prepared struct {
	err  error
	took time.Duration
}

func (r prepared) apply(_ context.Context, e *Engine) error {
	if r.err != nil {
		return fmt.Errorf("prepare: %w", r.err)
	}
	e.Stats.Stages[StagePrepare].add(r.took)
	return nil
}

// deliver hands a finalized block to the application, the oldest that it does not have.
func (e *Engine) deliver(ctx context.Context, f Finalization) {
	e.runOffLoop(ctx, "finalize", func(ctx context.Context) reply {
		start := time.Now()
		err := e.app.Finalized(ctx, f)
		return applied{f.Round.View, err, time.Since(start)}
	})
}

type applied struct {
	view chain.View
	err  error
	took time.Duration
}

func (r applied) apply(ctx context.Context, e *Engine) error {
	if r.err != nil {
		return fmt.Errorf("finalize view %d: %w", r.view, r.err)
	}
	e.Stats.Stages[StageFinalize].add(r.took)
	e.seen.since(r.view, &e.Stats.Stages[StageDurable])
	e.Stats.BlocksFinalized.Add(1)
	if next, due := e.deliveries.done(r.view); due {
		e.deliver(ctx, next)
	}
	e.do(ctx, e.fetches.drained(time.Now()))
	if x := e.postponed; x != nil {
		e.postponed = nil
		e.outgoing = append(e.outgoing, *x)
	}
	return nil
}
