package jobs

import "github.com/cowboy-foundation/cowboy/chain"

// drop takes away the rows of a job that has ended, and returns how many.
func (d *Dispatch) drop(id chain.Hash, j *Job) (rows uint64, err error) {
	if j.Phase != Ended {
		return 0, ErrRecord
	}
	// Bounded: by job.max_retries, 16 at most.
	for attempt := range j.Attempt + 1 {
		if err := d.Book.eachSeat(id, attempt, func(n uint8, s *Seat) error {
			d.Book.set(SeatKey(id, attempt, n), nil)
			d.Book.set(WhoKey(id, s.Runner), nil) // gone already if it was drawn twice
			d.Book.set(BodyKey(id, attempt, n), nil)
			rows += 3
			return nil
		}); err != nil {
			return 0, err
		}
	}
	d.Book.set(JobKey(id), nil)
	d.Book.set(SpecKey(id), nil)
	d.Book.set(TermsKey(id), nil)
	d.Book.set(EligibleKey(id), nil)
	d.Book.set(KeptKey(id), nil)
	return rows + 4, nil
}
