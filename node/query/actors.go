package query

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/trial"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rent"
)

// newTrials makes the bench on which readers' calls run.
func newTrials(s *Source) (*trial.Bench, error) {
	cfg := trial.DefaultConfig()
	cfg.Engine = s.cfg.Engine
	cfg.AtHead = func(ctx context.Context, try func(trial.Head) error) error {
		return s.atHead(ctx, func(head *ledger.Executed) error {
			return try(trial.Head{State: head.State, Inputs: s.cfg.Chain.NextInputs(head)})
		})
	}
	return trial.New(cfg)
}

// Actor implements rpc.Actors.
func (s *Source) Actor(ctx context.Context, q *rpc.ActorQuery) (a *rpc.Actor, ok bool, err error) {
	err = s.atHead(ctx, func(head *ledger.Executed) (err error) {
		a, ok, err = actorAt(ctx, head, q)
		return err
	})
	return a, ok, err
}

func actorAt(ctx context.Context, head *ledger.Executed, q *rpc.ActorQuery) (*rpc.Actor, bool, error) {
	a, ok, err := head.State.Account(q.Address)
	if err != nil || !ok || !a.HasCode() {
		return nil, false, err
	}
	rec, err := actor.ReadRecord(head.State, q.Address)
	if err == nil && rec == nil {
		err = fmt.Errorf("%s has code and no record", q.Address)
	}
	if err != nil {
		return nil, false, err
	}
	grants, err := actor.ReadGrants(head.State, manifest.NewMemo(0), rec)
	if err != nil {
		return nil, false, err
	}
	l, err := actor.ReadQuota(head.State, q.Address)
	if err != nil {
		return nil, false, err
	}
	owes, _, err := rentAt(head, q.Address)
	if err != nil {
		return nil, false, err
	}
	out := &rpc.Actor{
		Rent: *owes, Height: head.Height(), CodeHash: a.CodeHash, Balance: a.Balance, Nonce: l.Sent, Mailbox: l.Waiting,
		Creator: rec.Creator, Parent: rec.Parent, Deployed: rec.Deployed, Dormant: rent.Dormant(&a),
		CyclesLeft: l.Left(&head.Force.Params.Actor, head.Height()+1),
		Manifest:   entitlements(grants, &head.Force.Params.Entitlements),
	}
	if out.Dormant {
		return out, true, nil // what is there is the claim of one who restores it
	}
	size, err := state.NewOverlay(head.State).StorageSize(q.Address)
	if err != nil {
		return nil, false, err
	}
	out.StorageBytes = size.Bytes
	span := state.Span{
		Prefix: state.NewStorageKey(state.VMNamespacePVM, []byte(q.Prefix)), From: q.From, Entries: q.EntriesMax, Bytes: q.BytesMax,
	}
	if out.Entries, out.Next, err = storagePage(head.State, q.Address, span); err != nil {
		return nil, false, err
	}
	n := 0
	for i := range out.Entries {
		n += entryBytes + len(out.Entries[i].Key) + len(out.Entries[i].Value)
	}
	return out, true, rpc.Bill(ctx, n) // before they are written as JSON
}

// storagePage reads a part of what a program has stored, and the first key behind
// it; "" if there is none.
func storagePage(v state.View, addr chain.Address, span state.Span) (page []state.Entry, next state.StorageKey, err error) {
	if page, err = v.Scan(addr, span); err != nil || span.Used() {
		return nil, "", err
	}
	rest, whole := span.Rest(page)
	if whole {
		return page, "", nil
	}
	rest.Entries, rest.Bytes = 1, 1
	behind, err := v.Scan(addr, rest)
	if err != nil || len(behind) == 0 {
		return page, "", err
	}
	return page, behind[0].Key, nil
}

// entitlements are the lines of a manifest, with the last block of those that
// governance takes out (entitlements §9.11).
func entitlements(grants manifest.Grants, p *params.Entitlements) []rpc.Entitlement {
	out := make([]rpc.Entitlement, len(grants))
	for i, g := range grants {
		out[i].ID = g.ID
		if d, ok := p.Deprecation(g.ID); ok {
			out[i].Deprecated, out[i].LastBlock = true, uint64(d.Last)
		}
		for _, p := range g.Params {
			if out[i].Params == nil {
				out[i].Params = map[string]any{}
			}
			switch p.Kind {
			case manifest.ParamUint:
				out[i].Params[p.Name] = p.Uint
			case manifest.ParamText:
				out[i].Params[p.Name] = p.Text
			default:
				out[i].Params[p.Name] = p.List
			}
		}
	}
	return out
}

// ReadActor implements rpc.Trials.
func (s *Source) ReadActor(ctx context.Context, q *rpc.ReadQuery) (*rpc.Trial, error) {
	a, err := s.trials.Read(ctx, trial.Question{
		Client: rpc.ClientOf(ctx), Sender: q.Sender, Actor: q.Actor, Handler: q.Handler, Payload: q.Payload, Cycles: q.Cycles,
	})
	if err != nil {
		return nil, trialError(err)
	}
	t := trialOf(&a.Outcome, a.Height)
	return t, billTrial(ctx, t)
}

// Estimate implements rpc.Trials.
func (s *Source) Estimate(ctx context.Context, q *rpc.EstimateQuery) (*rpc.Trial, error) {
	quote, err := s.trials.Estimate(ctx, rpc.ClientOf(ctx), q.Sender, q.Tx)
	if err != nil {
		return nil, trialError(err)
	}
	t := trialOf(&quote.Outcome, quote.Height)
	t.Lane, t.Actor, t.Fee, t.Short, t.Suggested = quote.Lane, quote.Actor, quote.Fee, quote.Short, quote.Suggested
	t.Growth = quote.Growth
	t.Fees = s.BaseFees().Fees[quote.Lane]
	return t, billTrial(ctx, t)
}

// billTrial bills for what a call has left behind, before it is written as JSON; what the call
// cost is in the price of the request.
func billTrial(ctx context.Context, t *rpc.Trial) error {
	n := 64 + len(t.Detail) + len(t.Output) + traceBytes*len(t.Trace)
	for i := range t.Events {
		n += 64 + len(t.Events[i].Data)
	}
	return rpc.Bill(ctx, n)
}

// traceBytes is what a message of a trace is billed as.
const traceBytes = 64

func trialOf(o *actor.Outcome, h chain.Height) *rpc.Trial {
	return &rpc.Trial{
		Height: h, Code: o.Code, Detail: clipDetail(o.Detail), Used: o.Used, Output: o.Output, Events: o.Events, Trace: o.Trace,
	}
}

// detailBytesMax bounds a traceback in an answer.
const detailBytesMax = 8 << 10

// clipDetail keeps the end of a traceback, which says what happened.
func clipDetail(s string) string {
	if len(s) <= detailBytesMax {
		return s
	}
	return "…" + s[len(s)-detailBytesMax:]
}

// trialError names an error of a trial in the API's words.
func trialError(err error) error {
	var invalid *exec.InvalidTx
	switch {
	case errors.Is(err, trial.ErrBusy):
		return rpc.ErrBusy
	case errors.Is(err, trial.ErrStopped):
		return rpc.ErrNotReady
	case errors.As(err, &invalid):
		code := txCode(invalid.Err)
		switch {
		case errors.Is(err, exec.ErrActorBusy):
			code = rpc.CodeActorBusy
		case errors.Is(err, exec.ErrLaneFull):
			code = rpc.CodeLimitTooHigh
		}
		return &rpc.Refusal{Status: http.StatusBadRequest, Code: code, Message: "no block takes this transaction: " + invalid.Err.Error()}
	}
	return err
}
