package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// applyLocal does the part of an effect that stays in this process, and keeps the
// rest for after the sync.
func (e *Engine) applyLocal(ctx context.Context, effect simplex.Effect) error {
	switch x := effect.(type) {
	case simplex.Persist:
		return e.records.persist(x.Record)
	case simplex.Broadcast:
		if x.Vote.Kind == simplex.Nullify {
			e.patience.gaveUp = x.Vote.Proposal.Round.View
		}
		e.tally.AddOwn(x.Vote)
	case simplex.EnterView:
		e.enterView(x)
		return nil
	case simplex.ArmTimer:
		e.arm(x)
		return nil
	case simplex.RequestVerify:
		if effects, answered := e.sharding.glance(x); answered {
			e.do(ctx, effects)
			return nil
		}
	case simplex.RequestCertify:
		if effects, known := e.judging.answerCertify(x); known {
			e.do(ctx, effects)
			return nil
		}
	case simplex.Finalized:
		e.Stats.FinalizedView.Store(uint64(x.Certificate.Proposal.Round.View))
		e.tally.Advance(x.Certificate.Proposal.Round.View)
		if e.sharding.pool != nil {
			e.sharding.pool.Advance(x.Certificate.Proposal.Round.View)
		}
	case simplex.Equivocation:
		e.ban(x.From) // the tally saw it first, and made evidence of it
		return nil
	case simplex.Halt:
		return fmt.Errorf("halt in view %d: %w", e.machine.View(), x.Err)
	}
	e.outgoing = append(e.outgoing, effect)
	return nil
}

// release lets an effect leave. Everything before it is durable.
func (e *Engine) release(ctx context.Context, effect simplex.Effect) {
	switch x := effect.(type) {
	case simplex.Broadcast:
		if e.do(ctx, e.watch.notice(time.Now())); e.watch.silent {
			e.watch.withhold(x.Vote)
			return
		}
		e.sayVote(ctx, x.Vote)
	case simplex.BroadcastCertificate:
		e.net.Broadcast(wire.Append(nil, x.Certificate))
	case simplex.Fetch:
		e.do(ctx, e.fetches.fetch(time.Now(), x))
	case simplex.RequestProposal:
		e.propose(ctx, x)
	case simplex.RequestVerify:
		e.do(ctx, e.judging.verify(x))
	case simplex.RequestCertify:
		e.do(ctx, e.judging.certify(x))
	case simplex.Finalized:
		for _, own := range x.Chain {
			e.seen.since(own.Proposal.Round.View, &e.Stats.Stages[StageFinal])
		}
		if next, due := e.deliveries.add(x); due {
			e.deliver(ctx, next)
		}
	default:
		panic("engine: unknown effect")
	}
}

// sayVote sends our vote; a notarize vote for a block of our own takes the block along.
func (e *Engine) sayVote(ctx context.Context, v simplex.Vote) {
	if v.Kind == simplex.Notarize {
		if b := e.blocks.byDigest(v.Proposal.Round.View, v.Proposal.Payload); b != nil && b.own {
			if pieces := e.sharding.offer(v, b); pieces != nil {
				e.do(ctx, pieces)
			} else if e.net != (Alone{}) { // who is alone need not encode blocks
				e.net.Broadcast(wire.Append(nil, wire.Offer{Vote: v, Block: b.bytes}))
			}
			return
		}
	}
	e.net.Broadcast(wire.Append(nil, v))
	if v.Kind == simplex.Notarize {
		e.do(ctx, e.sharding.relay(v.Proposal))
	}
}

// enterView stops what belongs to older views.
func (e *Engine) enterView(x simplex.EnterView) {
	for i := range e.timers {
		e.timers[i].Stop()
	}
	if e.building != nil {
		e.building()
		e.building = nil
		e.Stats.ProposalsMissed.Add(1)
	}
	e.postponed = nil
	e.blocks.enterView(x.Round.View)
	factor := e.patience.viewBegins(time.Now(), x.Round.View, e.machine, &e.cfg)
	e.Stats.TimeoutPermille.Store(int64(1000 * factor))
	if window := e.cfg.tallyViews(); x.Round.View > window {
		e.tally.Advance(x.Round.View - window)
	}
	e.leads.openView(x, e.machine)
	e.Stats.View.Store(uint64(x.Round.View))
}

// tallyViewsMin is how many views keep their votes whatever they take: the current one
// and those whose finality may be on its way.
const tallyViewsMin = 16

// tallyViews is how many views before the current one keep their votes. Finality
// drops them sooner; where there is none, the votes of a view that was left are of no
// use to us, who have the certificate that ended it, but to blame who contradicts
// them later.
func (c *Config) tallyViews() chain.View {
	return chain.View(max(tallyViewsMin, c.TallyBytes/simplex.TallyViewBytes(c.Set.Len())))
}

func (e *Engine) arm(x simplex.ArmTimer) {
	t := &e.timers[x.Timer]
	t.view = x.View
	wait := e.cfg.timing()
	switch x.Timer {
	case simplex.TimerLeader:
		t.Reset(e.patience.stretch(wait.LeaderTimeout))
	case simplex.TimerCertification:
		t.Reset(e.patience.stretch(wait.CertificationTimeout))
	case simplex.TimerRetry:
		t.Reset(wait.RetryInterval)
	case simplex.TimerSkip:
		t.Reset(0)
	}
}
