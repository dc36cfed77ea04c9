package runners

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// Register makes a registered runner of an address, whose stake the caller has credited to
// the registry; pay is called for the offer's row. One that has deregistered takes up its old index, reputation, counters and
// what still unbonds (resolution 12.82). It counts as heard.
func (b *Book) Register(a chain.Address, stake, maxJobValue chain.Wei, o *Offer, pay func(bytes, overwritten int) error) (*Runner, error) {
	r, err := Read(b.State, a)
	if err != nil {
		return nil, err
	}
	if r != nil && !r.Has(selection.Deregistered) {
		return nil, ErrRegistered
	}
	if need, ok := Required(&b.Params.Runner, maxJobValue); !ok || stake < need {
		return nil, ErrStake
	}
	if r != nil { // leaving and coming back is no way around the cooldown
		if b.cools(r) {
			return nil, ErrCooldown
		}
		r.OfferChanged = b.Height
	} else if r, err = b.join(); err != nil {
		return nil, err
	}
	r.Flags = selection.Healthy
	r.Stake = stake // a runner that left has put all it had aside
	r.MaxJobValue = maxJobValue
	if err := b.putOffer(a, r, o, pay); err != nil {
		return nil, err
	}
	b.put(a, r)
	b.hear(a, r)
	return r, nil
}

// cools reports whether an offer was changed too lately to change again (resolution 12.4).
func (b *Book) cools(r *Runner) bool {
	return r.OfferChanged != 0 && b.since(r.OfferChanged) < b.Params.Runner.OfferCooldownBlocks
}

// join makes a record for a runner that was never here, at the end of the active list.
func (b *Book) join() (*Runner, error) {
	n, err := Count(b.State)
	if err != nil {
		return nil, err
	}
	if uint64(n) >= b.Params.Runner.MaxRegistered {
		return nil, ErrFull
	}
	b.State.SetStorage(chain.AddrRunnerRegistry, countKey(), cbor.AppendUint(nil, uint64(n)+1))
	return &Runner{
		Index: n, Registered: b.Height,
		Standing: selection.Standing{ReputationX1e9: b.Params.Runner.InitialReputation * selection.Point, Height: b.Height},
	}, nil
}

// Update changes what a runner offers, and adds to its stake what the caller has credited
// to the registry; pay is called for the offer's row if it changes. Between two changes of prices, abilities or the largest job lies a
// cooldown (resolution 12.4).
func (b *Book) Update(a chain.Address, more chain.Wei, q *chain.RunnerUpdate, pay func(bytes, overwritten int) error) error {
	r, err := b.open(a)
	if err != nil {
		return err
	}
	if q.MaxJobValue != nil || q.RateCard != nil || q.Capabilities != nil {
		if b.cools(r) {
			return ErrCooldown
		}
		r.OfferChanged = b.Height
	}
	o, err := ReadOffer(b.State, a)
	if err != nil {
		return err
	}
	o.apply(q)
	if err := o.checkChanged(b.Params, q); err != nil {
		return err
	}
	r.Stake += more // all stakes are within the supply
	if q.MaxJobValue != nil {
		r.MaxJobValue = *q.MaxJobValue
	}
	if need, ok := Required(&b.Params.Runner, r.MaxJobValue); q.MaxJobValue != nil && (!ok || r.Stake < need) {
		return ErrStake
	}
	if err := b.putOffer(a, r, o, pay); err != nil {
		return err
	}
	b.put(a, r)
	return nil
}
