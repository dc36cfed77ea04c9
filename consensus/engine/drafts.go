package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// A draft is what a leader knows of its block before it has executed it. The
// others execute it at the same time, so that the execution of a block takes its
// time once on the way from view to view, not once at the leader and once more
// at everybody else. A draft decides nothing: the proposal comes later and is
// judged as always, only with the work done. Of each view one draft counts, and
// only from its known leader.

// drafting is the draft of the current view that came in, and the newest view
// that one was taken for.
type drafting struct {
	view    chain.View
	waiting []wire.Draft
}

// announce returns the function by which the application hands out its draft.
func (e *Engine) announce(ctx context.Context, x simplex.RequestProposal) func([]byte) {
	return func(bytes []byte) {
		select {
		case e.replies <- drafted{wire.Draft{Round: x.Round, Parent: x.Parent.Round.View, Bytes: bytes}}:
		case <-ctx.Done():
		}
	}
}

type drafted struct{ draft wire.Draft }

func (r drafted) apply(_ context.Context, e *Engine) error {
	if r.draft.Round.View == e.machine.View() && len(r.draft.Bytes) <= e.cfg.MaxBlockBytes {
		e.Stats.DraftsSent.Add(1)
		e.net.Broadcast(wire.Append(nil, r.draft))
	}
	return nil
}

// receiveDraft takes the draft of a view's leader.
func (e *Engine) receiveDraft(from beacon.Participant, d wire.Draft) {
	v := d.Round.View
	if !e.machine.Leads(from, d.Round, d.Parent) || v <= e.drafting.view {
		e.Stats.Dropped.Add(1)
		return
	}
	e.drafting.view = v
	e.drafting.waiting = append(e.drafting.waiting, d)
}

// prepare has the application execute the drafts that came in.
func (e *Engine) prepare(ctx context.Context) {
	for _, d := range e.drafting.waiting {
		e.call(ctx, "prepare", func(ctx context.Context) reply {
			start := time.Now()
			err := e.app.Prepare(ctx, PrepareRequest{Round: d.Round, Draft: d.Bytes})
			return prepared{err, time.Since(start)}
		})
	}
	e.drafting.waiting = nil
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
