//spec:implements CIP-2 6
//spec:implements resolutions 12.C

package jobs

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// What counts as one more event that is come to.
const (
	PruneRows  = 8 // that go
	EventSeats = 4 // of a job that something else falls due for

	// PaperBytes of what a job asks for count as one more where an attempt may end: whoever
	// waits for the job is told, and what it asks for is read for that.
	PaperBytes = 8 << 10
)

// Due comes to what has fallen due, in the order of heights and ids, and to no more than
// job.due_per_block of it: the rest is first in the next block. Nothing is passed over, and
// no right depends on when a block gets there: those go by the heights in the jobs. The
// error is a fault.
func (d *Dispatch) Due() error {
	most := d.Book.Params.Job.DuePerBlock
	// Bounded: by job.due_per_block.
	for done := uint64(0); done < most && uint64(len(d.Events)) < most; done++ {
		rows, err := d.Book.State.Scan(chain.AddrJobDispatcher, state.Span{Prefix: key(TableDue), Entries: 1, Bytes: 1})
		if err != nil || len(rows) == 0 {
			return err
		}
		behind, id, ok := SplitAt(TableDue, rows[0].Key)
		if !ok {
			return ErrRecord
		}
		if behind >= d.Book.Height {
			return nil
		}
		j, e, err := d.Book.takeDue(id, behind, rows[0].Value)
		if err != nil {
			return err
		}
		if j == nil { // left by an attempt that is over
			continue
		}
		more, err := d.happen(id, j, e)
		if err != nil {
			return err
		}
		done += more
	}
	return nil
}

// happen does what falls due for a job, and returns how many events more that counts as.
func (d *Dispatch) happen(id chain.Hash, j *Job, e Event) (more uint64, err error) {
	more = j.weighs(e)
	switch e {
	case AtCommitDeadline:
		return more, d.commitDeadline(id, j)
	case AtDeadline:
		return more, d.deadline(id, j)
	case AtWindowEnd:
		return more, d.Results.Settle(id)
	case AtPrune:
		rows, err := d.drop(id, j)
		return rows / PruneRows, err
	}
	return 0, ErrRecord
}

// weighs is how many events more something counts as that falls due, but for rows that go. The
// first PaperBytes come with the event itself, so that none reads more than that.
func (j *Job) weighs(e Event) uint64 {
	more := uint64(j.Runners) / EventSeats
	if e == AtCommitDeadline || e == AtDeadline {
		more += uint64(j.Papers) / PaperBytes
	}
	return more
}

// commitDeadline comes to an attempt of several runners when no more commitments can come:
// who made none is silent. With fewer than the threshold no result can follow, so the
// attempt is over (resolution 12.25). A job that has its verdict by then is left alone.
func (d *Dispatch) commitDeadline(id chain.Hash, j *Job) error {
	if j.Phase != Assigned {
		return nil
	}
	excused, err := d.Book.lacks(id, j, func(s *Seat) bool { return s.Commitment == nil && !s.Excess })
	if err == nil && excused {
		excused, err = d.excuses(id, j, j.CommitBy-min(j.AssignedAt, j.CommitBy))
	}
	if err != nil {
		return err
	}
	if err := d.Book.countCrowds(j); err != nil {
		return err
	}
	committed := 0
	if err := d.Book.eachSeat(id, j.Attempt, func(n uint8, s *Seat) error {
		if s.Commitment != nil {
			committed++
			return nil
		}
		s.Excess = s.Excess || excused
		return d.Silence(id, j.Attempt, n, s)
	}); err != nil {
		return err
	}
	if committed < int(j.Threshold) && d.Book.Params.Job.EarlyRetry {
		return d.lapse(id, j)
	}
	d.Book.Schedule(id, j, j.Deadline, AtDeadline)
	return nil
}

// deadline comes to the end of an attempt or of the time for results.
func (d *Dispatch) deadline(id chain.Hash, j *Job) error {
	if err := d.spare(id, j); err != nil {
		return err
	}
	retry, err := d.Results.AtDeadline(id)
	if err != nil || !retry {
		return err
	}
	if j, err = d.Book.job(id); err != nil {
		return err
	}
	return d.lapse(id, j)
}

// Silence notes that the runner of a seat let its deadline pass: it is drawn for the job no
// more, and is penalised unless it had no room for the seat (resolutions 12.11, 12.35).
func (d *Dispatch) Silence(id chain.Hash, attempt, n uint8, s *Seat) error {
	s.Silent = true
	d.Book.PutSeat(id, attempt, n, s)
	if err := d.Close(id, s); err != nil || s.Excess {
		return err
	}
	burned, err := d.Runners.Silent(s.Runner)
	if err != nil || burned == 0 {
		return err
	}
	d.announce(chain.AddrRunnerRegistry, EventSlashed, 2, func(b []byte) []byte {
		return cbor.AppendUint(cbor.AppendBytes(b, s.Runner[:]), uint64(burned))
	})
	return nil
}

// Close notes that a runner has nothing left to do for its seat: it may have another job.
// A seat that is closed stays so.
func (d *Dispatch) Close(id chain.Hash, s *Seat) error {
	open := OpenKey(s.Runner, id)
	row, err := d.Book.State.Storage(chain.AddrJobDispatcher, open)
	if err != nil || row == nil {
		return err
	}
	d.Book.set(open, nil)
	return d.Runners.Unseated(s.Runner)
}

// Release closes a seat and gives its bond free.
func (d *Dispatch) Release(id chain.Hash, attempt, n uint8, s *Seat) error {
	if err := d.Close(id, s); err != nil || s.Bonded == 0 {
		return err
	}
	if err := d.Runners.Release(s.Runner, s.Bonded); err != nil {
		return err
	}
	s.Bonded = 0
	d.Book.PutSeat(id, attempt, n, s)
	return nil
}

// eachSeat calls do for the seats of an attempt in the order of the committee.
func (b *Book) eachSeat(id chain.Hash, attempt uint8, do func(n uint8, s *Seat) error) error {
	seats, err := ReadSeats(b.State, id, attempt)
	// Bounded: by the runners of a job, job.max_runners.
	for n := 0; n < len(seats) && err == nil; n++ {
		err = do(uint8(n), seats[n])
	}
	return err
}

// eachSilent calls do for the seats of a job whose runners were silent, from the first
// attempt on. Nobody is silent twice in a job: who was is drawn for it no more.
func (b *Book) eachSilent(id chain.Hash, j *Job, do func(s *Seat) error) error {
	// Bounded: by job.max_retries, 16 at most.
	for attempt := range j.Attempt + 1 {
		if err := b.eachSeat(id, attempt, func(_ uint8, s *Seat) error {
			if !s.Silent {
				return nil
			}
			return do(s)
		}); err != nil {
			return err
		}
	}
	return nil
}
