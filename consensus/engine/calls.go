package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
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

// call runs f off the loop and hands its reply back unless ctx ends first.
func (e *Engine) call(ctx context.Context, stage string, f func(context.Context) reply) {
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
	if len(e.undelivered) >= e.cfg.UndeliveredMax {
		e.postponed = &x
		return
	}
	ctx, e.building = context.WithCancel(ctx)
	e.call(ctx, "propose", func(ctx context.Context) reply {
		start := time.Now()
		p, err := e.app.Propose(ctx, ProposeRequest{Round: x.Round, Parent: parentRef(x.Parent), Draft: e.announce(ctx, x)})
		if err == nil && p.Shards == nil {
			p.Shards, err = e.sharding.encode(p.Block)
		}
		return proposed{x, p, err, time.Since(start)}
	})
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
		e.step(simplex.ProposalFailed{View: r.req.Round.View})
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
	e.proposedIn(r.req.Round.View)
	e.seen.see(r.req.Round.View)
	e.step(simplex.ProposalReady{View: r.req.Round.View, Payload: r.block.Digest})
	return nil
}

// verify asks for a verdict on a proposal whose bytes are here.
func (e *Engine) verify(ctx context.Context, x simplex.RequestVerify) {
	b := e.blocks.find(x.Proposal.Round.View, x.Proposal.Payload)
	b.verifying = &x
	e.blocks.prefer(b, x.Leader)
	e.judge(ctx, b)
}

// settled answers a certify request whose verdict is known already.
func (e *Engine) settled(x simplex.RequestCertify) bool {
	b := e.blocks.put(x.Proposal)
	b.certify = &x
	if b.verdict != valid && b.verdict != invalid {
		return false
	}
	e.report(b)
	return true
}

// certify takes in a notarized block, after fetching it if need be.
func (e *Engine) certify(ctx context.Context, x simplex.RequestCertify) {
	b := e.blocks.find(x.Proposal.Round.View, x.Proposal.Payload)
	if b.bytes != nil {
		e.judge(ctx, b)
	} else if !b.fitting && !b.rebuilding && !e.awaitShards(b) {
		e.fetchFor(simplex.Fetch{View: x.Proposal.Round.View})
	}
}

// wakeCertify goes on with a notarized block whose bytes have come.
func (e *Engine) wakeCertify(p simplex.Proposal) {
	if b := e.blocks.find(p.Round.View, p.Payload); b != nil && b.certify != nil && b.bytes != nil {
		e.outgoing = append(e.outgoing, *b.certify)
	}
}

// judge has the application verify b, once.
func (e *Engine) judge(ctx context.Context, b *block) {
	switch b.verdict {
	case running:
		return
	case valid, invalid:
		e.report(b)
		return
	}
	req := VerifyRequest{Round: b.round, Digest: b.digest, Block: b.bytes, Rebuilt: b.rebuilt}
	ask, again := e.app.Verify, false
	if x := b.certify; x != nil {
		req.Parent, again = parentRef(x.Parent), x.Again
		if x.Known {
			req.Leader = e.cfg.Set.At(x.Leader).PeerKey
		}
	} else {
		req.Parent = parentRef(b.verifying.Parent)
		req.Leader = e.cfg.Set.At(b.verifying.Leader).PeerKey
	}
	if again || b.rebuilt || b.certify != nil {
		// A quorum found that its time had come: a verdict on a notarized block
		// must be the same for all, and clocks are not.
		ask = e.app.Recover
	}
	b.verdict = running
	e.call(ctx, "verify", func(ctx context.Context) reply {
		start := time.Now()
		ok, err := ask(ctx, req)
		return verified{b, ok, err, time.Since(start)}
	})
}

// receiveBackfill takes the block that came with a good certificate, once it is
// known to be the block that the certificate names.
func (e *Engine) receiveBackfill(a arrival) {
	p := a.certificate.Proposal
	if a.block == nil || p.Round.View <= e.machine.Floor().View {
		return
	}
	b := e.blocks.put(p)
	if b.sure() || b.fitting {
		return
	}
	if e.fitting+len(a.block) > e.cfg.PendingBytesMax/2 || b.certify == nil && e.backlog() >= 2*backlogMax {
		e.Stats.BackfillsPutOff.Add(1)
		return // it is asked for again
	}
	b.fitting, b.backfilled = true, true
	e.fitting += len(a.block)
	e.fits = append(e.fits, a)
}

// fit holds a block against its digest, off the loop: that is a hash over all of
// it.
func (e *Engine) fit(ctx context.Context, a arrival) {
	e.call(ctx, "fit", func(context.Context) reply {
		return fitted{a, e.app.Fits(a.certificate.Proposal.Payload, a.block)}
	})
}

type fitted struct {
	arrival
	ok bool
}

func (r fitted) apply(_ context.Context, e *Engine) error {
	e.fitting -= len(r.block)
	p := r.certificate.Proposal
	b := e.blocks.find(p.Round.View, p.Payload)
	if b != nil {
		b.fitting = false
	}
	switch {
	case !r.ok:
		e.ban(r.from)
		e.fetches.refused(r.from)
		if b != nil && b.certify != nil && b.bytes == nil {
			e.outgoing = append(e.outgoing, simplex.Fetch{View: p.Round.View})
		}
		e.fetchAgain()
	case p.Round.View > e.machine.Floor().View:
		b := e.blocks.put(p)
		if !b.sure() && b.verdict != running {
			e.blocks.makeRoom(len(r.block))
			e.blocks.settle(b, r.block)
			b.fits = true
		} else if b.verdict == running {
			e.blocks.offer(p, r.block, r.from, true)
		}
		e.wakeCertify(p)
	}
	return nil
}

type verified struct {
	block *block
	ok    bool
	err   error
	took  time.Duration
}

func (r verified) apply(ctx context.Context, e *Engine) error {
	b := r.block
	e.Stats.Stages[StageVerify].add(r.took)
	defer e.unpark(false)
	switch {
	case errors.Is(r.err, ErrWrongBlock):
		e.wrongBytes(ctx, b)
		return nil
	case errors.Is(r.err, ErrEarly):
		e.early(b)
		return nil
	case r.err != nil:
		return fmt.Errorf("verify block %v of view %d: %w", b.digest, b.round.View, r.err)
	case r.ok:
		b.verdict = valid
	default:
		b.verdict = invalid
		e.Stats.BlocksRejected.Add(1)
	}
	e.blocks.settle(b, b.bytes)
	e.report(b)
	return nil
}

// wrongBytes blames who sent bytes that are not the block, and goes on with what
// else there is of it: other bytes, then shards. A leader that sent nothing better
// loses its view.
func (e *Engine) wrongBytes(ctx context.Context, b *block) {
	blamed, supplied := b.supplier, b.supplied
	if supplied {
		e.ban(blamed)
	}
	more := e.blocks.wrong(b)
	if x := b.verifying; x != nil && supplied && blamed == x.Leader {
		b.verifying = nil
		e.step(simplex.Verified{View: b.round.View, Payload: b.digest})
	}
	if x := b.verifying; x != nil && !more && e.ownShard(b) != nil {
		b.verifying = nil
		e.glance(*x)
	}
	if x := b.certify; x != nil {
		e.outgoing = append(e.outgoing, *x)
	} else if more && b.verifying != nil {
		e.judge(ctx, b)
	}
}

// early leaves a block without our vote but open: once it is notarized, it is
// judged again without the clock.
func (e *Engine) early(b *block) {
	b.verdict = unknown
	if b.verifying != nil {
		b.verifying = nil
		e.step(simplex.Verified{View: b.round.View, Payload: b.digest})
	}
	if b.certify != nil {
		e.outgoing = append(e.outgoing, *b.certify)
	}
}

// report tells the machine the verdict that it waits for. What is final is valid,
// whatever came out here: the application gets it as final, and mends what is
// wrong with it or ends Run.
func (e *Engine) report(b *block) {
	if b.verifying != nil {
		b.verifying = nil
		e.step(simplex.Verified{View: b.round.View, Payload: b.digest, OK: b.verdict == valid})
	}
	if b.certify != nil {
		b.certify = nil
		ok := b.verdict == valid || e.machine.Knows(b.round.View, simplex.Finalize)
		e.step(simplex.Certified{View: b.round.View, Payload: b.digest, OK: ok})
	}
}

// finalize lines the blocks up for the application.
func (e *Engine) finalize(ctx context.Context, x simplex.Finalized) {
	certificate := simplex.AppendCertificate(nil, x.Certificate)
	idle := len(e.undelivered) == 0
	for _, own := range x.Chain {
		e.seen.since(own.Proposal.Round.View, &e.Stats.Stages[StageFinal])
		e.undelivered = append(e.undelivered, Finalization{
			Round: own.Proposal.Round, Digest: own.Proposal.Payload, Seed: own.Seed,
			Certificate: certificate, Own: simplex.AppendCertificate(nil, own),
		})
	}
	if idle {
		e.deliver(ctx)
	}
}

// deliver hands the oldest finalized block to the application.
func (e *Engine) deliver(ctx context.Context) {
	f := e.undelivered[0]
	e.call(ctx, "finalize", func(ctx context.Context) reply {
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
	e.delivered = r.view
	e.undelivered[0] = Finalization{}
	e.undelivered = e.undelivered[1:]
	e.bury(r.view)
	if len(e.undelivered) > 0 {
		e.deliver(ctx)
	}
	e.unpark(false)
	if x := e.postponed; x != nil {
		e.postponed = nil
		e.outgoing = append(e.outgoing, *x)
	}
	return nil
}

// bury drops what is final and need not be in memory for peers any more: without an
// archive nobody else has what a peer lacks that missed some seconds.
func (e *Engine) bury(delivered chain.View) {
	low := delivered - min(delivered, servedViews)
	oldest, bytes := low, 0
	if e.cfg.Archive == nil {
		oldest, bytes = delivered-min(delivered, e.cfg.Retention), e.cfg.PendingBytesMax/8
	}
	e.blocks.bury(low, oldest, bytes)
}

func parentRef(p simplex.Parent) ParentRef {
	return ParentRef{Round: p.Round, Digest: p.Payload, Seed: p.Seed}
}
