//spec:implements whitepaper 12.2
//spec:implements CIP-2 6
//spec:implements resolutions 5, 11, 12.A, 12.C

package runners

import (
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// What follows is done by the passes of a block, to runners that have a seat: a record
// that is missing is a fault.

// seated returns the record of a runner that was drawn for a job.
func (b *Book) seated(a chain.Address) (*Runner, error) {
	r, err := Read(b.State, a)
	if err == nil && r == nil {
		err = ErrRecord
	}
	return r, err
}

// Seated notes that a runner was drawn for a job that asks for so much of its stake as a
// bond, 0 for none. It returns how much of that the runner has free, which is bonded from
// now on, and whether the seat is beyond what the runner takes at a time (resolutions 12.8,
// 12.11).
func (b *Book) Seated(a chain.Address, bond chain.Wei) (bonded chain.Wei, excess bool, err error) {
	r, err := b.seated(a)
	if err != nil {
		return 0, false, err
	}
	excess = r.Full(&b.Params.Runner)
	bonded = min(bond, r.Stake-min(r.Bonded, r.Stake))
	r.Active++ // one of each open seat: fewer than 2^32 rows
	r.Bonded += bonded
	b.put(a, r)
	return bonded, excess, nil
}

// Unseated notes that a runner has nothing left to do for a seat.
func (b *Book) Unseated(a chain.Address) error {
	r, err := b.seated(a)
	if err != nil {
		return err
	}
	if r.Active == 0 {
		return ErrRecord
	}
	r.Active--
	b.put(a, r)
	return nil
}

// Release gives a bond free that [Book.Seated] took.
func (b *Book) Release(a chain.Address, bond chain.Wei) error {
	if bond == 0 {
		return nil
	}
	r, err := b.seated(a)
	if err != nil {
		return err
	}
	if r.Bonded < bond {
		return ErrRecord
	}
	r.Bonded -= bond
	b.put(a, r)
	return nil
}

// Silent notes that a runner let a deadline pass. At the runner.slash_threshold-th time in
// a row it loses stake, which burns at once; Silent returns how much (resolutions 6.9,
// 12.35, 12.81).
func (b *Book) Silent(a chain.Address) (burned chain.Wei, err error) {
	r, err := b.seated(a)
	if err != nil {
		return 0, err
	}
	r.Silences++
	r.TimeoutsInRow++
	b.score(r, selection.Silent)
	if p := &b.Params.Runner; r.TimeoutsInRow >= p.SlashThreshold {
		r.TimeoutsInRow = 0
		burned = r.slash(p.SlashTimeoutBasisPoints)
	}
	b.put(a, r)
	return burned, b.Burn(burned)
}

// Revealed notes that a runner has shown a result: it is not silent in a row any more
// (resolution 12.35).
func (b *Book) Revealed(a chain.Address) error {
	return b.change(a, func(r *Runner) { r.TimeoutsInRow = 0 })
}

// Succeeded notes a verified result, with reveals of others that were needed if it
// gathered them.
func (b *Book) Succeeded(a chain.Address, gathered bool) error {
	return b.change(a, func(r *Runner) {
		r.Successes++
		if gathered {
			b.score(r, selection.Gathered)
			return
		}
		b.score(r, selection.Verified)
	})
}

// Confirmed notes that others stand behind a result of the runner: those that agree with it, or
// the actor of who asked. What was rejected before is forgotten (ADR 228).
func (b *Book) Confirmed(a chain.Address) error {
	r, err := b.seated(a)
	if err != nil || len(r.RejectedBy) == 0 {
		return err
	}
	r.RejectedBy = nil
	b.put(a, r)
	return nil
}

// Rejected notes a result of the runner that came to nothing for a submitter, and reports
// whether the runner is paid its share of it: not behind [MaxRejections] others since the last
// one that was confirmed. A submitter counts once, or one alone could let a runner go unpaid.
func (b *Book) Rejected(a, submitter chain.Address) (paid bool, err error) {
	r, err := b.seated(a)
	if err != nil || len(r.RejectedBy) == MaxRejections {
		return false, err
	}
	if slices.Contains(r.RejectedBy, submitter) { // Bounded: by MaxRejections, 3.
		return true, nil
	}
	r.RejectedBy = append(r.RejectedBy, submitter)
	b.put(a, r)
	return true, nil
}

// Disagreed notes a result outside of the matching set (resolution 12.7).
func (b *Book) Disagreed(a chain.Address) error {
	return b.change(a, func(r *Runner) {
		r.Disagreements++
		b.score(r, selection.Disagreed)
	})
}

// LostRetries notes that a job has ended for silence in which the runner was silent once
// (resolution 12.35).
func (b *Book) LostRetries(a chain.Address) error {
	return b.change(a, func(r *Runner) { b.score(r, selection.Abandoned) })
}

func (b *Book) change(a chain.Address, how func(*Runner)) error {
	r, err := b.seated(a)
	if err != nil {
		return err
	}
	how(r)
	b.put(a, r)
	return nil
}

// Freeze takes a share of what a runner has at risk, in basis points, and returns how much
// that is. The money stays in the registry's balance, as frozen with a seat, until
// [Book.Burn] or until it is given back (resolutions 12.47, 12.81).
func (b *Book) Freeze(a chain.Address, basisPoints uint64) (frozen chain.Wei, err error) {
	return frozen, b.change(a, func(r *Runner) { frozen = r.slash(basisPoints) })
}

// Burn takes what was slashed out of the registry's balance, and adds it to Burned, which
// the block books.
func (b *Book) Burn(amount chain.Wei) error {
	if err := funds.Debit(b.State, chain.AddrRunnerRegistry, amount, b.Height); err != nil {
		return err
	}
	b.Burned += amount
	return nil
}

// slash takes a share, floored, of stake and of what unbonds: first of the stake, then of
// the newest tranche and so on back (resolution 12.47).
func (r *Runner) slash(basisPoints uint64) chain.Wei {
	hi, lo := bits.Mul64(uint64(r.AtRisk()), basisPoints)
	share, _ := bits.Div64(hi, lo, params.BasisPoints) // at most 10,000, so hi is below it
	left := chain.Wei(share)
	taken := min(left, r.Stake)
	r.Stake -= taken
	left -= taken
	// Bounded: by MaxTranches, 8.
	for n := len(r.Tranches) - 1; left > 0; n-- {
		t := &r.Tranches[n]
		taken = min(left, t.Amount)
		t.Amount -= taken
		if left -= taken; t.Amount == 0 {
			r.Tranches = r.Tranches[:n]
		}
	}
	r.Slashed += chain.Wei(share) // what was slashed of it in all is within the supply
	return chain.Wei(share)
}

// score moves a runner's reputation for an event, and notes when it fell below the minimum
// (resolutions 5.8, 12.5).
func (b *Book) score(r *Runner, e selection.Event) {
	p := &b.Params.Runner
	c, before := configNow(p), r.Standing.At(b.Height, p.ReputationHalfLifeBlocks)
	r.Standing = r.Standing.After(e, b.Height, &c, &selection.Points{
		PerResult: p.ReputationPerResult, PerTimeout: p.TimeoutReputationPenalty, PerDisagreement: p.DisagreementPenalty,
		PerFailure: p.SlashThreshold, Max: p.MaxReputation,
	})
	fallen := selection.Rounded(r.Standing.ReputationX1e9) < p.MinReputation
	if fallen && (r.FellAt == 0 || selection.Rounded(before) >= p.MinReputation) {
		r.FellAt = b.Height
	}
}
