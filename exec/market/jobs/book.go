package jobs

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// Book is the Job Dispatcher in one block.
type Book struct {
	State  *state.Overlay
	Params *params.Params // in force in the block
	Height chain.Height
	Millis uint64 // timestamp of the block, for who submits
}

// Reader reads entries of storages: a state, or one asked over a wire.
type Reader interface {
	Storage(addr chain.Address, key state.StorageKey) ([]byte, error)
}

// Read returns the row of a job, nil for an id that none has. The error is a fault.
func Read(view Reader, id chain.Hash) (*Job, error) {
	row, err := view.Storage(chain.AddrJobDispatcher, JobKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	return DecodeJob(row)
}

// ReadSpec returns what a job asks for, nil for an id that no job has. The error is a fault.
func ReadSpec(view Reader, id chain.Hash) (*chain.JobSpec, error) {
	row, err := view.Storage(chain.AddrJobDispatcher, SpecKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	return chain.DecodeJobSpec(row)
}

// ReadTerms returns a job's terms, nil for an id that no job has. The error is a fault.
func ReadTerms(view Reader, id chain.Hash) (*chain.JobTerms, error) {
	row, err := view.Storage(chain.AddrJobDispatcher, TermsKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	return chain.DecodeJobTerms(row)
}

// ReadSeat returns the nth seat of an attempt, nil where there is none. The error is a
// fault.
func ReadSeat(view Reader, id chain.Hash, attempt, n uint8) (*Seat, error) {
	row, err := view.Storage(chain.AddrJobDispatcher, SeatKey(id, attempt, n))
	if err != nil || row == nil {
		return nil, err
	}
	return DecodeSeat(row)
}

// ReadSeats returns the seats of an attempt in the order of the committee. The error is a
// fault.
func ReadSeats(view Reader, id chain.Hash, attempt uint8) ([]*Seat, error) {
	var all []*Seat
	// Bounded: by the runners of a job, job.max_runners.
	for n := uint8(0); ; n++ {
		s, err := ReadSeat(view, id, attempt, n)
		if err != nil || s == nil {
			return all, err
		}
		all = append(all, s)
	}
}

// ReadWho returns the attempt and the number of a runner's latest seat; false for who was
// not drawn for the job. The error is a fault.
func ReadWho(view Reader, id chain.Hash, runner chain.Address) (attempt, n uint8, ok bool, err error) {
	row, err := view.Storage(chain.AddrJobDispatcher, WhoKey(id, runner))
	if err != nil || row == nil {
		return 0, 0, false, err
	}
	if len(row) != 2 {
		return 0, 0, false, ErrRecord
	}
	return row[0], row[1], true, nil
}

// Put writes the row of a job.
func (b *Book) Put(id chain.Hash, j *Job) { b.set(JobKey(id), j.Encode()) }

// PutSeat writes the row of the nth seat of an attempt.
func (b *Book) PutSeat(id chain.Hash, attempt, n uint8, s *Seat) {
	b.set(SeatKey(id, attempt, n), s.Encode())
}

// Touch notes that a job has a new result in this block, which is judged at its end.
func (b *Book) Touch(id chain.Hash) { b.set(TouchedKey(id), []byte{}) }

// Event is what happens next to a job by itself.
type Event uint8

// The events. Each falls due at the first block behind the height that it stands under.
const (
	AtCommitDeadline Event = iota + 1 // who has not committed is silent
	AtDeadline                        // the attempt ends, or what is paid is settled
	AtWindowEnd                       // no challenge can come
	AtPrune                           // the rows of the job go
)

// Schedule puts the next event of a job's present attempt behind a height, in place of what
// stood there before: a job has one at a time, wherever a pass with a backlog has got to. It
// writes the row of the job.
func (b *Book) Schedule(id chain.Hash, j *Job, behind chain.Height, e Event) {
	b.Unschedule(id, j)
	j.DueAt = behind
	b.set(AtKey(TableDue, behind, id), []byte{byte(e), j.Attempt})
	b.Put(id, j)
}

// Unschedule takes away what falls due for a job, if anything does, and writes the row of
// the job.
func (b *Book) Unschedule(id chain.Hash, j *Job) {
	if j.DueAt == 0 {
		return
	}
	b.set(AtKey(TableDue, j.DueAt, id), nil)
	j.DueAt = 0
	b.Put(id, j)
}

// takeDue takes the event of a row under due/ out of its table, and returns the job that it
// is for; nil where the row is not the one that the job has now, in this attempt.
func (b *Book) takeDue(id chain.Hash, behind chain.Height, row []byte) (*Job, Event, error) {
	if len(row) != 2 {
		return nil, 0, ErrRecord
	}
	b.set(AtKey(TableDue, behind, id), nil)
	j, err := Read(b.State, id)
	if err != nil || j == nil || j.DueAt != behind || j.Attempt != row[1] {
		return nil, 0, err
	}
	b.Unschedule(id, j)
	return j, Event(row[0]), nil
}

func (b *Book) set(k state.StorageKey, row []byte) {
	b.State.SetStorage(chain.AddrJobDispatcher, k, row)
}
