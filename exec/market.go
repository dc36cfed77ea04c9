package exec

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
)

// dispatch is what the market does by itself in this block, and what becomes of results.
func (b *block) dispatch() (*jobs.Dispatch, *results.Book) {
	registry := &runners.Book{State: b.state, Params: b.in.Params, Height: b.in.Height}
	verifier := b.verifier(registry)
	d := &jobs.Dispatch{
		Book:    jobs.Book{State: b.state, Params: b.in.Params, Height: b.in.Height},
		Runners: registry, Requesters: requesters{b}, Results: verifier, Seed: b.in.ParentHash, Memo: b.in.Market,
	}
	if b.in.Params.Job.SelectionSeed == params.SelectionSeedBeacon {
		d.Seed = b.in.ParentBeacon
	}
	if d.Memo == nil {
		d.Memo = jobs.NewMemo()
	}
	return d, verifier
}

// beginMarket does what the market does before the transactions.
func (b *block) beginMarket() error {
	d, v := b.dispatch()
	events, err := market.Begin(d)
	return b.keepMarket(d, append(events, v.Events...), "begin the market of the block", err)
}

// endMarket does what the market does behind all that changes a runner.
func (b *block) endMarket() error {
	d, v := b.dispatch()
	d.Used = fees.Space{Usage: b.result.Used[chain.LaneRunner], Bytes: b.runnerBytes}
	events, err := market.End(d, v)
	return b.keepMarket(d, append(events, v.Events...), "close the market of the block", err)
}

// keepMarket books what a part of the market has done.
func (b *block) keepMarket(d *jobs.Dispatch, events []chain.Event, what string, err error) error {
	if err == nil && !funds.Add(&b.result.Burned, d.Runners.Burned) {
		err = funds.ErrMoney
	}
	if err != nil {
		return &Fault{what, err}
	}
	b.announce(events)
	return nil
}

// requesters answer of actors and of pools what the market asks.
type requesters struct{ b *block }

// Requester implements [jobs.Requesters].
func (r requesters) Requester(a chain.Address) (jobs.Requester, error) {
	rec, err := actor.ReadRecord(r.b.state, a)
	if err != nil || rec == nil {
		return jobs.Requester{Executable: true}, err
	}
	grants, err := actor.ReadGrants(r.b.state, r.b.actors.Manifests, rec)
	if err != nil {
		return jobs.Requester{}, err
	}
	p := r.b.in.Params
	out := jobs.Requester{Executable: grants.Gone(p, r.b.in.Height) == ""}
	if !manifest.Provides(nil, grants, p) { // it asks for something
		out.Manifest, out.Required = rec.Manifest, grants
	}
	return out, nil
}

// JoinedPool implements [jobs.Requesters].
func (r requesters) JoinedPool(pool string, runner chain.Address) (bool, error) {
	book := entitlements.Book{State: r.b.state, Height: r.b.in.Height}
	return book.CheckFew(runner, entitlements.Scope{Kind: entitlements.ScopePool, Name: pool},
		entitlements.Action{Kind: entitlements.ActionRunnerJoinPool, Name: pool})
}
