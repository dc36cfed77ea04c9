//spec:implements CIP-2 6
//spec:implements resolutions 12.C

package jobs

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// lapse ends an attempt without a verdict. Its seats are closed; the job waits for another
// committee, or fails when the attempts are used up. Until it is drawn for, the job has no
// windows and nobody is assigned.
func (d *Dispatch) lapse(id chain.Hash, j *Job) error {
	if err := d.Book.eachSeat(id, j.Attempt, func(n uint8, s *Seat) error { return d.Release(id, j.Attempt, n, s) }); err != nil {
		return err
	}
	if err := d.Book.TakeBack(j); err != nil {
		return err
	}
	if j.Attempt+1 >= j.Attempts { // both are 16 at most
		return d.conclude(id, j, Timeout)
	}
	j.Attempt++
	j.AssignedAt, j.Deadline, j.CommitBy, j.GatherUntil = 0, 0, 0, 0
	d.Book.Unschedule(id, j)
	d.Book.Put(id, j)
	d.Book.set(AtKey(TableRetry, d.Book.Height, id), []byte{j.Attempt})
	d.announce(chain.AddrJobDispatcher, EventRetried, 2, func(b []byte) []byte {
		return cbor.AppendUint(cbor.AppendBytes(b, id[:]), uint64(j.Attempt))
	})
	return nil
}

// Retry draws for the jobs that wait for another committee, the longest waiting first, and
// for no more than job.retries_per_block of them, nor for more than have [RedrawCandidates] and
// [RedrawPapers] together. While others wait, a submitter gets a quarter of the draws. What finds no room
// waits for the next block. The error is a fault.
func (d *Dispatch) Retry() error {
	most := int(d.Book.Params.Job.RetriesPerBlock)
	waiting, err := d.Book.longestWaiting(most * RetryLookahead)
	if err != nil {
		return err
	}
	room := redraws{left: RedrawCandidates, papers: RedrawPapers, made: map[chain.Hash]bool{}}
	// Bounded: by job.retries_per_block.
	for _, w := range shareOut(waiting, most) {
		fits, err := room.takes(&d.Book, w)
		if err != nil || !fits {
			return err
		}
		d.Book.set(w.row, nil)
		if err := d.committee(w.id, w.job); err != nil {
			return err
		}
	}
	return nil
}

// waits reports whether a job has no committee yet in a later attempt, which is its present
// one: who has ended or is drawn for already is left alone.
func (j *Job) waits(attempt uint8) bool {
	return j.Phase == Assigned && j.Attempt == attempt && j.AssignedAt == 0
}

// conclude ends a job without a result. Where it fails for silence, who was silent in it
// loses reputation once more. Slashed stake that is frozen with a seat waits for the time
// in which its runner may complain, and the job with it.
func (d *Dispatch) conclude(id chain.Hash, j *Job, o Outcome) error {
	if o == Timeout {
		if err := d.Book.eachSilent(id, j, func(s *Seat) error {
			if s.Excess {
				return nil
			}
			return d.Runners.LostRetries(s.Runner)
		}); err != nil {
			return err
		}
	}
	d.Book.NoMoreDraws(id, j)
	held := j.Held
	frozen, err := d.frozen(id, j)
	if err != nil {
		return err
	}
	if frozen {
		err = d.await(id, j, o)
	} else {
		err = d.Book.End(id, j, o)
	}
	if err != nil {
		return err
	}
	if o == Cancelled {
		d.announce(chain.AddrJobDispatcher, EventCancelled, 3, func(b []byte) []byte {
			return cbor.AppendUint(cbor.AppendBytes(cbor.AppendBytes(b, id[:]), j.Submitter[:]), uint64(held))
		})
		return nil
	}
	d.announce(chain.AddrJobDispatcher, EventFailed, 2, func(b []byte) []byte {
		return cbor.AppendUint(cbor.AppendBytes(b, id[:]), uint64(o))
	})
	return d.Results.Failed(id, j)
}

// frozen reports whether a seat of a job has stake that is slashed and not burned.
func (d *Dispatch) frozen(id chain.Hash, j *Job) (yes bool, err error) {
	// Bounded: by job.max_retries, 16 at most.
	for attempt := range j.Attempt + 1 {
		if err := d.Book.eachSeat(id, attempt, func(_ uint8, s *Seat) error {
			yes = yes || s.Frozen > 0
			return nil
		}); err != nil {
			return false, err
		}
	}
	return yes, nil
}

// await leaves a job that has no result to its settlement behind the challenge window.
func (d *Dispatch) await(id chain.Hash, j *Job, o Outcome) error {
	spec, err := ReadSpec(d.Book.State, id)
	if err != nil {
		return err
	}
	if spec == nil {
		return ErrRecord
	}
	window := spec.Verification.DisputeWindowBlocks
	if window == 0 {
		window = d.Book.Params.Job.ChallengeWindowBlocks
	}
	j.Phase, j.Outcome, j.VerdictAt, j.WindowEnd = Closing, o, d.Book.Height, d.Book.Height+chain.Height(window)
	d.Book.Schedule(id, j, j.WindowEnd, AtWindowEnd)
	return nil
}

// NoMoreDraws says that a job is not drawn for any more: it has its verdict, or ends. What
// was kept of its candidates may go.
func (b *Book) NoMoreDraws(id chain.Hash, j *Job) {
	b.set(AtKey(TableLive, j.SubmittedAt, id), nil)
	b.set(EligibleKey(id), nil)
}
