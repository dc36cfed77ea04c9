package results

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// AtDeadline does what is due behind the deadline of an attempt (resolutions 11.28, 12.25).
// Who has promised a result and not shown it is slashed. Of a job that closes nothing more
// can be paid; one without an outcome is judged once more at the end of the block, if
// something was shown, and has failed its attempt otherwise: then AtDeadline returns true,
// and the seats are the caller's to release. The error is a fault.
func (b *Book) AtDeadline(id chain.Hash) (retry bool, err error) {
	d, err := b.open(id)
	if err != nil || d == nil {
		return false, err
	}
	if d.job.Phase != jobs.Assigned && d.job.Phase != jobs.Closing {
		return false, nil
	}
	if d.unjudged() { // what waits for room, or for results that have not come
		b.Jobs.Touch(id)
		return false, nil
	}
	if err := b.slashWithheld(d); err != nil {
		return false, err
	}
	if d.job.Phase == jobs.Closing {
		return false, b.fixShares(d)
	}
	if d.job.Runners == 1 { // of several, who is silent was found at the commit deadline
		if err := b.silence(d); err != nil {
			return false, err
		}
	}
	b.dropBodies(d)
	b.put(d)
	return true, nil
}

// unjudged reports whether a result was shown that has no mark.
func (d *docket) unjudged() bool {
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Reveal != nil && s.Mark == jobs.Unjudged {
			return true
		}
	}
	return false
}

// fixShares ends the time in which results are paid (resolution 11.28).
func (b *Book) fixShares(d *docket) error {
	b.put(d)
	if d.job.WindowEnd < b.Jobs.Height {
		b.dropBodies(d)
		return b.settle(d)
	}
	return b.awaitEnd(d)
}

// slashWithheld slashes who has promised a result and not shown it, until the job is
// settled (resolutions 6.7, 11.28, 12.81). Where the window is too short for anybody, or the
// lane had no room, it costs nothing (resolution 12.27).
func (b *Book) slashWithheld(d *docket) error {
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Commitment == nil || s.Reveal != nil || s.Mark != jobs.Unjudged {
			continue
		}
		if !d.job.Spared {
			if err := b.freeze(s, b.Jobs.Params.Runner.SlashNonDeliveryBasisPoints); err != nil {
				return err
			}
		}
		s.Mark = jobs.Void
		if err := b.leave(d.id, s); err != nil {
			return err
		}
	}
	return nil
}

// silence notes who has given no sign in the time that it had (resolutions 12.11, 12.26).
func (b *Book) silence(d *docket) error {
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Silent || s.Commitment != nil || s.Reveal != nil {
			continue
		}
		s.Silent = true
		if err := b.leave(d.id, s); err != nil {
			return err
		}
		if s.Excess {
			continue
		}
		burned, err := b.Runners.Silent(s.Runner)
		if err != nil {
			return err
		}
		if burned > 0 {
			b.tellSlashed(s.Runner, burned)
		}
	}
	return nil
}

// silenceLate does so for a job that has its outcome before the pass has come to its commit
// deadline.
func (b *Book) silenceLate(d *docket) error {
	if b.Jobs.Height <= d.job.CommitBy {
		return nil
	}
	return b.silence(d)
}

// Failed tells who asked that a job has ended without a result: its attempts are used up,
// or too few can do it. The error is a fault.
func (b *Book) Failed(id chain.Hash, j *jobs.Job) error {
	spec, terms, _, err := b.papers(id)
	if err != nil {
		return err
	}
	return b.tellSubmitter(&docket{id: id, job: j}, spec, terms, nil)
}

// eachSeat goes through the seats of all attempts, those of the last as the docket has them.
func (b *Book) eachSeat(d *docket, do func(s *jobs.Seat, attempt, n uint8) error) error {
	// Bounded: by job.max_retries attempts.
	for attempt := uint8(0); attempt <= d.job.Attempt; attempt++ {
		seats := d.seats
		if attempt < d.job.Attempt {
			var err error
			if seats, err = jobs.ReadSeats(b.Jobs.State, d.id, attempt); err != nil {
				return err
			}
		}
		// Bounded: by the seats of a job.
		for n, s := range seats {
			if err := do(s, attempt, uint8(n)); err != nil {
				return err
			}
		}
	}
	return nil
}
