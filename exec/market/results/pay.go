package results

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// Settle divides the escrow of a job whose window has ended, and burns what was frozen
// (resolutions 12.13, 12.48, 12.81). It leaves others as they are. The error is a fault.
func (b *Book) Settle(id chain.Hash) error {
	d, err := b.open(id)
	if err != nil || d == nil || d.job.Phase != jobs.Closing {
		return err
	}
	return b.settle(d)
}

// settle is Settle of a job that closes.
func (b *Book) settle(d *docket) error {
	j := d.job
	held := j.MaxPrice + j.Tip // fits: it was paid
	if j.Held != held {
		return ErrRecord
	}
	e, places := b.escrow(d)
	paid, err := e.Settle()
	if err != nil {
		return err
	}
	if j.Outcome != jobs.OK {
		paid.Refund += j.Tip
	}
	if err := b.payOut(d, &paid, places); err != nil {
		return err
	}
	burned, err := b.burnFrozen(d)
	if err != nil {
		return err
	}
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Bonded == 0 {
			continue
		}
		if err := b.Runners.Release(s.Runner, s.Bonded); err != nil {
			return err
		}
		s.Bonded = 0
	}
	j.Held, j.Phase = 0, jobs.Ended
	b.put(d)
	b.Jobs.Schedule(d.id, d.job, b.Jobs.Height+chain.Height(b.Jobs.Params.Job.KeepBlocks), jobs.AtPrune)
	b.tell(EventSettled, d.id, uint64(j.Outcome), uint64(held-paid.Refund), uint64(burned))
	return nil
}

// escrow is what there is to divide, and the seats that are paid, in the order of the
// committee.
func (b *Book) escrow(d *docket) (e Escrow, places []int) {
	e = Escrow{
		MaxPrice: d.job.MaxPrice, Runners: uint64(d.job.Runners),
		TreasuryBasisPoints: uint64(d.job.TreasuryShare), BonusBasisPoints: uint64(d.job.GatherShare),
	}
	if d.job.Outcome == jobs.OK {
		e.Tip = d.job.Tip
	}
	gatherer := d.gatherer()
	// Bounded: by the seats of a job.
	for n, s := range d.seats {
		if s.Mark != jobs.Agrees {
			continue
		}
		if n == gatherer {
			e.Gathered, e.Aggregator = true, len(places)
		}
		e.Costs = append(e.Costs, s.Cost)
		places = append(places, n)
	}
	return e, places
}

// gatherer is the seat of the aggregator where what it showed of others was needed for the
// verdict: without that, fewer than the threshold would have agreed (market design §10).
// -1 where it was not, or the aggregator is not paid itself.
func (d *docket) gatherer() int {
	byThemselves, gathered := 0, 0
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		switch {
		case s.Mark != jobs.Agrees || s.Reveal.At > d.job.VerdictAt:
		case s.Reveal.Gathered:
			gathered++
		default:
			byThemselves++
		}
	}
	if gathered == 0 || byThemselves >= int(d.job.Threshold) {
		return -1
	}
	n, ok := jobs.Aggregator(d.seats)
	if !ok || d.seats[n].Mark != jobs.Agrees {
		return -1
	}
	return n
}

// payOut moves the escrow out of the dispatcher's balance.
func (b *Book) payOut(d *docket, p *Payout, places []int) error {
	if err := b.Purse.Debit(chain.AddrJobDispatcher, d.job.Held); err != nil {
		return err
	}
	gatherer := d.gatherer()
	// Bounded: by the seats of a job.
	for i, n := range places {
		s := d.seats[n]
		to, err := b.payee(d, s, p.Runners[i])
		if err != nil {
			return err
		}
		if err := b.Purse.Credit(to, p.Runners[i]); err != nil {
			return err
		}
		if d.job.Outcome != jobs.OK {
			continue
		}
		if err := b.succeeded(d, s, n == gatherer); err != nil {
			return err
		}
		if err := b.countPrice(d, min(s.Cost, selection.Share(d.job.MaxPrice, uint64(d.job.Runners)))); err != nil {
			return err
		}
	}
	if err := b.Purse.Credit(chain.AddrTreasury, p.Treasury); err != nil {
		return err
	}
	return b.Purse.GiveBack(d.job.Submitter, p.Refund)
}

// payee is who gets what a seat has earned: its runner, but for the share of what came to
// nothing where that has happened to the runner too often. Then it is the Treasury: the
// submitter has had the work for its price, or it could have work for nothing of a runner that
// others have rejected (ADR 228).
func (b *Book) payee(d *docket, s *jobs.Seat, amount chain.Wei) (chain.Address, error) {
	if d.job.Outcome != jobs.NoAgreement || amount == 0 {
		return s.Runner, nil
	}
	paid, err := b.Runners.Rejected(s.Runner, d.job.Submitter)
	if err != nil || paid {
		return s.Runner, err
	}
	return chain.AddrTreasury, nil
}

// succeeded tells the registry of a verified result, and whether anybody else stands behind it.
func (b *Book) succeeded(d *docket, s *jobs.Seat, gathered bool) error {
	if err := b.Runners.Succeeded(s.Runner, gathered); err != nil {
		return err
	}
	if !d.job.Backed {
		return nil
	}
	return b.Runners.Confirmed(s.Runner)
}

// burnFrozen burns what was frozen with the seats of all attempts.
func (b *Book) burnFrozen(d *docket) (burned chain.Wei, err error) {
	err = b.eachSeat(d, func(s *jobs.Seat, attempt, n uint8) error {
		if s.Frozen == 0 {
			return nil
		}
		burned += s.Frozen // slashed of stakes, which are within the supply
		s.Frozen = 0
		b.Jobs.PutSeat(d.id, attempt, n, s)
		return nil
	})
	if err == nil && burned > 0 {
		err = b.Runners.Burn(burned)
	}
	return burned, err
}

// earned is what a result that agrees may cost: usage times rates where the outcome is ok,
// at most the seat's share of the price; a part of that where it is rejected; of failures what
// resolution 12.52 says.
func (b *Book) earned(j *jobs.Job, s *jobs.Seat, r *chain.RunnerResult) chain.Wei {
	share := selection.Share(j.MaxPrice, uint64(j.Runners))
	switch j.Outcome {
	case jobs.OK:
		return min(share, costOf(j.Kind, &s.Rates, &s.Reveal.Usage))
	case jobs.NoAgreement: // its verifier has rejected it, or others differ
		return part(min(share, costOf(j.Kind, &s.Rates, &s.Reveal.Usage)), b.Jobs.Params.Job.RejectedShareBasisPoints)
	case jobs.ActorFault:
		return min(share, b.Jobs.Params.Job.MinFee)
	}
	if r.Detail == nil || r.Detail.Total == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(s.ExpectedPrice), uint64(r.Detail.Done))
	part, _ := bits.Div64(hi, lo, uint64(r.Detail.Total)) // done is at most total, so hi is below it
	return min(share, chain.Wei(part))
}

// costOf returns usage times rates, of what is priced for the kind of job (resolution
// 12.12), or as much as 64 bits hold. Time is charged by the millisecond, and floored.
func costOf(kind chain.JobKind, r *jobs.Rates, u *jobs.Usage) chain.Wei {
	rates := selection.Rates{
		InputToken: uint64(r.InputToken), OutputToken: uint64(r.OutputToken), Request: uint64(r.RequestBase), MemoryMB: uint64(r.MemoryMB),
	}
	sum, ok := rates.Most(kind, &selection.Bounds{
		InputTokens: uint64(u.InputTokens), OutputTokens: uint64(u.OutputTokens), Requests: uint64(u.Requests), MemoryMB: uint64(u.MemoryMB),
	})
	hi, lo := bits.Mul64(uint64(r.ComputeSecond), uint64(u.WallMillis))
	if !ok || hi >= 1_000 {
		return ^chain.Wei(0)
	}
	time, _ := bits.Div64(hi, lo, 1_000)
	total, carry := bits.Add64(uint64(sum), time, 0)
	if carry != 0 {
		return ^chain.Wei(0)
	}
	return chain.Wei(total)
}
