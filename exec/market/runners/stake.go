//spec:implements whitepaper 5.2

package runners

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// Unstake puts so much of the stake aside, free after runner.unbonding_blocks (resolution
// 11.30). A runner that is paused may go below what it declared; it is no candidate then
// until it tops up.
func (b *Book) Unstake(a chain.Address, amount chain.Wei) error {
	r, err := b.open(a)
	if err != nil {
		return err
	}
	if n := len(r.Tranches); n >= MaxTranches && r.Tranches[n-1].Free != b.free() { // the same block's are one
		return ErrTranches
	}
	if amount == 0 || amount > r.Stake {
		return ErrAmount
	}
	left := r.Stake - amount
	if need, ok := Required(&b.Params.Runner, r.MaxJobValue); !r.Has(selection.Paused) && (!ok || left < need) {
		return ErrStake
	}
	if left < r.Bonded {
		return ErrPromised
	}
	r.unbond(amount, b.free())
	b.put(a, r)
	return nil
}

// free is from which height on stake may be withdrawn that is put aside now. A later vote
// on runner.unbonding_blocks does not move it.
func (b *Book) free() chain.Height { return b.Height + chain.Height(b.Params.Runner.UnbondingBlocks) }

// unbond moves stake into a tranche. The ninth is added to the newest, which then waits as
// long as this one: only a runner that leaves comes to that.
func (r *Runner) unbond(amount chain.Wei, free chain.Height) {
	r.Stake -= amount
	if n := len(r.Tranches); n > 0 && (r.Tranches[n-1].Free == free || n == MaxTranches) {
		newest := &r.Tranches[n-1]
		newest.Amount, newest.Free = newest.Amount+amount, max(newest.Free, free)
		return
	}
	r.Tranches = append(r.Tranches, Tranche{amount, free})
}

// Withdraw takes out all that has waited long enough and returns how much that is, which
// the caller pays out of the registry's balance. Who has deregistered may withdraw too.
func (b *Book) Withdraw(a chain.Address) (chain.Wei, error) {
	r, err := Read(b.State, a)
	switch {
	case err != nil:
		return 0, err
	case r == nil:
		return 0, ErrUnknown
	}
	var free chain.Wei
	var left []Tranche
	// Bounded: by MaxTranches, 8.
	for _, t := range r.Tranches {
		if t.Free > b.Height { // also before one that is free, if a vote has made waiting shorter
			left = append(left, t)
			continue
		}
		free += t.Amount
	}
	if len(left) == len(r.Tranches) {
		return 0, ErrNothingFree
	}
	r.Tranches = left
	b.put(a, r)
	return free, nil
}

// since is how many blocks ago a height was.
func (b *Book) since(h chain.Height) uint64 { return uint64(b.Height - min(h, b.Height)) }

// Deregister takes a runner out of selection for good, unless it registers again. All its
// stake begins to unbond.
func (b *Book) Deregister(a chain.Address) error {
	r, err := b.open(a)
	if err != nil {
		return err
	}
	switch {
	case r.Active > 0:
		return ErrAtWork
	case r.Bonded > 0:
		return ErrPromised
	}
	if r.Has(selection.Healthy) {
		seen, err := b.lastHeard(a)
		if err != nil {
			return err
		}
		b.State.SetStorage(chain.AddrRunnerRegistry, beatKey(seen, r.Index), nil)
	}
	b.State.SetStorage(chain.AddrRunnerRegistry, seenKey(a), nil) // the role goes with it
	r.Flags = selection.Deregistered
	if err := b.countLong(r, 0); err != nil {
		return err
	}
	if r.Stake > 0 {
		r.unbond(r.Stake, b.free())
	}
	b.put(a, r)
	return nil
}
