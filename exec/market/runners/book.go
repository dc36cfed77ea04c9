package runners

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// The verdicts.
var (
	// ErrUnknown means an address that has never registered.
	ErrUnknown = verdict.New(verdict.Missing, "no such runner")
	// ErrRegistered means a registration of who is registered.
	ErrRegistered = verdict.New(verdict.Exists, "the runner is registered")
	// ErrGone means an instruction of a runner that has deregistered.
	ErrGone = verdict.New(verdict.State, "the runner has deregistered")
	// ErrHeard means a second heartbeat in one block (resolution 12.9).
	ErrHeard = verdict.New(verdict.State, "heard in this block already")
	// ErrStake means a stake below what the declared largest job asks for.
	ErrStake = verdict.New(verdict.Stake, "the stake is below the floor, or does not cover the largest job declared")
	// ErrFull means that the active list has no place left (resolution 12.2).
	ErrFull = verdict.New(verdict.Limit, "no more runners can register")
	// ErrOffers means that the offers of more than 1 KiB of all runners have no room for this one.
	ErrOffers = verdict.New(verdict.Limit, "the registry has no more room for long offers: one of 1 KiB has some always")
	// ErrTranches means more unbonding at a time than a record holds.
	ErrTranches = verdict.New(verdict.Limit, "as much unbonds as may at a time: withdraw what is free first")
	// ErrPromised means stake that jobs hold.
	ErrPromised = verdict.New(verdict.State, "the stake is promised to jobs")
	// ErrAtWork means a runner that still owes work.
	ErrAtWork = verdict.New(verdict.State, "jobs are not done yet")
	// ErrNothingFree means that no tranche has waited long enough.
	ErrNothingFree = verdict.New(verdict.State, "nothing is free yet")
	// ErrCooldown means an offer that was changed lately (resolution 12.4).
	ErrCooldown = verdict.New(verdict.State, "the offer was changed within runner.offer_cooldown_blocks")
	// ErrNotFallen means a return of who is not below the minimum, or not for long enough.
	ErrNotFallen = verdict.New(verdict.State, "reputation is not below the minimum, or fell less than runner.return_blocks ago")
	// ErrLong means more bytes of arguments than an offer has.
	ErrLong = verdict.New(verdict.Argument, "the arguments are longer than an offer may be")
	// ErrAmount means nothing, or more than there is.
	ErrAmount = verdict.New(verdict.Argument, "amount out of range")
)

// Book is the registry in one block.
type Book struct {
	State  *state.Overlay
	Params *params.Params // in force in the block
	Height chain.Height
	Burned chain.Wei // out of the registry's balance so far, for the block to book

	kept int // pages of standings that Fold kept as they were
}

// open returns the record of a runner that has one and has not deregistered.
func (b *Book) open(a chain.Address) (*Runner, error) {
	r, err := Read(b.State, a)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, ErrUnknown
	case r.Has(selection.Deregistered):
		return nil, ErrGone
	}
	return r, nil
}

// put writes a record, from which Fold makes the entries of the pages.
func (b *Book) put(a chain.Address, r *Runner) {
	r.judgeStake(&b.Params.Runner)
	b.State.SetStorage(chain.AddrRunnerRegistry, runnerKey(a), r.encode())
}

// hear notes that a runner was heard in this block, and that it was not at another height.
func (b *Book) hear(a chain.Address, r *Runner) {
	b.State.SetStorage(chain.AddrRunnerRegistry, seenKey(a), cbor.AppendUint(nil, uint64(b.Height)))
	b.State.SetStorage(chain.AddrRunnerRegistry, beatKey(b.Height, r.Index), []byte{})
}

// lastHeard is when a runner that is registered was last heard.
func (b *Book) lastHeard(a chain.Address) (chain.Height, error) {
	seen, ok, err := Seen(b.State, a)
	if err == nil && !ok {
		err = ErrRecord
	}
	return seen, err
}

// Heartbeat notes that a runner is there (CIP-2 §4; resolution 12.9). It reports whether
// the runner is healthy again.
func (b *Book) Heartbeat(a chain.Address) (revived bool, err error) {
	r, err := b.open(a)
	if err != nil {
		return false, err
	}
	seen, err := b.lastHeard(a)
	if err != nil {
		return false, err
	}
	if seen == b.Height {
		return false, ErrHeard
	}
	if r.Has(selection.Healthy) {
		b.State.SetStorage(chain.AddrRunnerRegistry, beatKey(seen, r.Index), nil)
	} else {
		r.set(selection.Healthy, true)
		b.put(a, r)
		revived = true
	}
	b.hear(a, r)
	return revived, nil
}

// SetPaused takes a runner out of selection, or back in.
func (b *Book) SetPaused(a chain.Address, paused bool) error {
	r, err := b.open(a)
	if err != nil {
		return err
	}
	r.set(selection.Paused, paused)
	b.put(a, r)
	return nil
}
