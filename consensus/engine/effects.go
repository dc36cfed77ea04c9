package engine

import (
	"context"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// take does the part of an effect that stays in this process, and keeps the
// rest for after the sync.
func (e *Engine) take(effect simplex.Effect) error {
	switch x := effect.(type) {
	case simplex.Persist:
		return e.persist(x.Record)
	case simplex.Broadcast:
		if x.Vote.Kind == simplex.Nullify {
			e.patience.gaveUp = x.Vote.Proposal.Round.View
		}
		e.tally.AddOwn(x.Vote)
		e.recount(x.Vote.Proposal.Round.View, x.Vote.Kind)
	case simplex.EnterView:
		e.enter(x)
		return nil
	case simplex.ArmTimer:
		e.arm(x)
		return nil
	case simplex.RequestVerify:
		if e.glance(x) {
			return nil
		}
	case simplex.RequestCertify:
		if e.settled(x) {
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
		if e.notice(); e.watch.silent {
			e.withhold(x.Vote)
			return
		}
		e.broadcastVote(x.Vote)
	case simplex.BroadcastCertificate:
		e.net.Broadcast(simplex.AppendCertificate(nil, x.Certificate))
	case simplex.Fetch:
		e.fetchFor(x)
	case simplex.RequestProposal:
		e.propose(ctx, x)
	case simplex.RequestVerify:
		e.verify(ctx, x)
	case simplex.RequestCertify:
		e.certify(ctx, x)
	case simplex.Finalized:
		e.finalize(ctx, x)
	default:
		panic("engine: unknown effect")
	}
}

// broadcastVote sends our vote; a notarize vote for a block of our own takes
// the block along.
func (e *Engine) broadcastVote(v simplex.Vote) {
	if v.Kind == simplex.Notarize {
		if b := e.blocks.find(v.Proposal.Round.View, v.Proposal.Payload); b != nil && b.own {
			if !e.broadcastShards(v, b) {
				e.net.Broadcast(wire.Append(nil, wire.Offer{Vote: v, Block: b.bytes}))
			}
			return
		}
	}
	e.net.Broadcast(simplex.AppendVote(nil, v))
	if v.Kind == simplex.Notarize {
		e.relayShard(v.Proposal)
	}
}

// enter stops what belongs to older views.
func (e *Engine) enter(x simplex.EnterView) {
	for i := range e.timers {
		e.timers[i].Stop()
	}
	if e.building != nil {
		e.building()
		e.building = nil
		e.Stats.ProposalsMissed.Add(1)
	}
	e.postponed = nil
	e.blocks.enter(x.Round.View)
	e.paceView(x.Round.View)
	if window := e.tallyViews(); x.Round.View > window {
		e.tally.Advance(x.Round.View - window)
	}
	e.entered(x)
	e.Stats.View.Store(uint64(x.Round.View))
}

// tallyViewsMin is how many views keep their votes whatever they take: the current one
// and those whose finality may be on its way.
const tallyViewsMin = 16

// tallyViews is how many views before the current one keep their votes. Finality
// drops them sooner; where there is none, the votes of a view that was left are of no
// use to us, who have the certificate that ended it, but to blame who contradicts
// them later.
func (e *Engine) tallyViews() chain.View {
	return chain.View(max(tallyViewsMin, e.cfg.TallyBytes/simplex.TallyViewBytes(e.cfg.Set.Len())))
}

func (e *Engine) arm(x simplex.ArmTimer) {
	t := &e.timers[x.Timer]
	t.view = x.View
	wait := e.timing()
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
