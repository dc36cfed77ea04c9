//spec:implements CIP-2 5
//spec:implements resolutions 12.B, 12.C

package jobs

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// Assign draws the first committees of the jobs that were submitted in a block: that before
// this one, or this one under parent-block. The error is a fault.
func (d *Dispatch) Assign(submitted chain.Height) error {
	return d.Book.at(TableFresh, submitted, func(id chain.Hash) error {
		d.Book.set(AtKey(TableFresh, submitted, id), nil)
		j, err := Read(d.Book.State, id)
		if err != nil || j == nil || j.Phase != Fresh {
			return err // gone, or past its first draw
		}
		j.Seed = chain.SelectionSeedV2(d.Seed, id, submitted)
		return d.committee(id, j)
	})
}

// committee draws a committee for an attempt of a job, or ends the job where nobody may ask any
// more, or too few are there.
func (d *Dispatch) committee(id chain.Hash, j *Job) error {
	r, err := d.Requesters.Requester(j.Submitter)
	if err != nil {
		return err
	}
	if !r.Executable { // entitlements §9.11
		return d.conclude(id, j, Cancelled)
	}
	s, err := d.snapshotOf(id, j)
	if err != nil {
		return err
	}
	round := selection.Round{First: j.Seed, Number: uint32(j.Attempt), Runners: int(j.Runners)}
	left := len(s.Candidates())
	if err := d.Book.eachSilent(id, j, func(seat *Seat) error {
		round.Excluded = append(round.Excluded, seat.Runner)
		left-- // who was drawn was a candidate, and is drawn no more
		return nil
	}); err != nil {
		return err
	}
	if left < int(j.Threshold) && d.Book.Params.Job.FailUnfillable {
		outcome := NoCandidates
		if j.Attempt > 0 {
			outcome = Timeout
		}
		return d.conclude(id, j, outcome)
	}
	return d.seat(id, j, s, s.DrawV2(&round, d.Book.Params.Job.SelectionChainedDraw))
}

// seat writes the seats of a committee, in its order, and the windows of the attempt.
func (d *Dispatch) seat(id chain.Hash, j *Job, s *selection.Snapshot, steps []selection.Step) error {
	spec, terms, err := d.Book.asked(id)
	if err != nil {
		return err
	}
	j.Phase, j.AssignedAt = Assigned, d.Book.Height
	j.Deadline = d.Book.Height + chain.Height(j.TimeoutBlocks)
	if j.Attempt == 0 {
		j.Deadline = j.SubmittedAt + chain.Height(j.TimeoutBlocks)
	}
	j.Spared = j.short(&d.Book.Params.Job) || outgrown(d.Book.Params, j, spec, terms)
	// Bounded: by the seats of a job, which its submitter has paid for.
	for n := range steps {
		c := &s.Candidates()[steps[n].Candidate]
		if err := d.take(id, j, uint8(n), c, spec, terms); err != nil {
			return err
		}
	}
	j.CommitBy, j.GatherUntil = windows(&d.Book.Params.Job, j)
	if err := d.promiseOf(j, len(steps), spec, terms); err != nil {
		return err
	}
	if j.Runners > 1 {
		d.Book.Schedule(id, j, j.CommitBy, AtCommitDeadline)
	} else {
		d.Book.Schedule(id, j, j.Deadline, AtDeadline)
	}
	d.announce(chain.AddrJobDispatcher, EventAssigned, 4, func(b []byte) []byte {
		b = cbor.AppendUint(cbor.AppendBytes(b, id[:]), uint64(j.Attempt))
		return cbor.AppendUint(cbor.AppendUint(b, uint64(j.Deadline)), uint64(len(steps)))
	})
	return nil
}

// short reports whether an attempt gives its runners less than job.min_window_blocks, as for
// a job that was taken in before a vote on that: nobody is penalised then (resolution 12.27).
// It is asked at the draw, whatever is voted later.
func (j *Job) short(p *params.Job) bool {
	return j.Deadline < j.AssignedAt+chain.Height(p.MinWindowBlocks)
}

// windows returns the last heights for commitments and for the aggregator alone (resolutions
// 11.27, 12.24, 12.26). They are those of the block of the draw, whatever is voted later.
func windows(p *params.Job, j *Job) (commitBy, gatherUntil chain.Height) {
	if j.Runners == 1 {
		return j.Deadline, 0
	}
	span := uint64(j.Deadline - min(j.AssignedAt, j.Deadline))
	commitBy = j.AssignedAt + chain.Height(partOf(span, p.CommitDeadlineBasisPoints))
	return commitBy, j.Deadline - chain.Height(partOf(span, p.AggregatorWindowBasisPoints))
}

// partOf returns floor(n · basisPoints / 10,000), for at most 10,000.
func partOf(n, basisPoints uint64) uint64 {
	hi, lo := bits.Mul64(n, basisPoints)
	q, _ := bits.Div64(hi, lo, params.BasisPoints)
	return q
}

// take gives a runner a seat.
func (d *Dispatch) take(id chain.Hash, j *Job, n uint8, c *chain.Candidate, spec *chain.JobSpec, terms *chain.JobTerms) error {
	bonded, excess, err := d.Runners.Seated(c.Runner, bondOf(j, terms))
	if err != nil {
		return err
	}
	offer, err := runners.ReadOffer(d.Book.State, c.Runner)
	if err != nil {
		return err
	}
	rates := RatesOf(&offer.Card)
	d.Book.PutSeat(id, j.Attempt, n, &Seat{
		Runner: c.Runner, Rates: rates, ExpectedPrice: expectedPrice(j.Kind, spec, &rates),
		Excess: excess || j.Spared, ReputationX1e9: c.ReputationX1e9,
		Bonded: bonded,
	})
	d.Book.set(WhoKey(id, c.Runner), []byte{j.Attempt, n})
	d.Book.set(OpenKey(c.Runner, id), []byte{})
	return nil
}

// bondOf returns what a seat binds of a stake, at most 2^64-1 and never more than is free
// ([runners.Book.Seated]).
func bondOf(j *Job, terms *chain.JobTerms) chain.Wei {
	const million = 1_000_000
	hi, lo := bits.Mul64(uint64(j.MaxPrice), bondE6(j, terms))
	lo, carry := bits.Add64(lo, million-1, 0) // rounded up, as the filter asks
	if hi += carry; hi >= million {
		return ^chain.Wei(0)
	}
	q, _ := bits.Div64(hi, lo, million)
	return chain.Wei(q)
}
