package results

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// ErrRecord means rows of a job that contradict each other, or an escrow that is not
// there: a fault. Only the protocol writes them.
var ErrRecord = errors.New("records of a job's results contradict each other")

// Registry is what results say of runners to the Runner Registry.
type Registry interface {
	// Unseated notes that a runner has no more to do for one of its seats.
	Unseated(runner chain.Address) error
	// Revealed notes that a runner has shown a result (resolution 12.35).
	Revealed(runner chain.Address) error
	// Release gives back what a runner promised of its stake (resolution 12.8).
	Release(runner chain.Address, bond chain.Wei) error
	// Silent notes that a runner gave no sign, and returns what it lost at once
	// (resolutions 12.25, 12.35).
	Silent(runner chain.Address) (burned chain.Wei, err error)
	// Disagreed notes a result outside of what was agreed (resolution 12.7).
	Disagreed(runner chain.Address) error
	// Succeeded notes a verified result that is paid, and whether it was that of who
	// gathered others that were needed.
	Succeeded(runner chain.Address, gathered bool) error
	// Confirmed notes that others stand behind a result that is paid.
	Confirmed(runner chain.Address) error
	// Rejected notes a result that came to nothing for a submitter, and reports whether its
	// runner is paid a share of it (ADR 228).
	Rejected(runner, submitter chain.Address) (paid bool, err error)
	// Freeze takes basis points of what a runner has at stake out of it and returns how
	// much that is, which stays in the registry's balance (resolutions 12.47, 12.81).
	Freeze(runner chain.Address, basisPoints uint64) (chain.Wei, error)
	// Burn takes what was frozen out of the registry's balance, for good.
	Burn(amount chain.Wei) error
}

// Book is the Result Verifier in one block.
type Book struct {
	Jobs    jobs.Book
	Runners Registry
	Purse   funds.Purse
	// Room reports whether the block has room to ask the actor that a job names as its
	// verifier, whatever the results are; the error is a fault.
	Room func(*Inquiry) (bool, error)
	// Ask asks the actor that a job names as its verifier; the error is [judge.ErrNoRoom]
	// where the block has no cycles left for it, [ErrFailed], or a fault.
	Ask func(*Inquiry) ([]byte, error)
	// Post queues an answer to the next block. Its delivery was paid when the job was
	// submitted (resolution 12.54).
	Post func(*Callback) error
	// Events are what is to be announced.
	Events []chain.Event

	unread error // a fault of Ask
}

// docket is a job with the seats of its attempt, as they are written.
type docket struct {
	id    chain.Hash
	job   *jobs.Job
	seats []*jobs.Seat

	queue queue  // in which it waits
	steps uint64 // that it has taken in this block
}

// open reads a job; nil for one that is not there, or over.
func (b *Book) open(id chain.Hash) (*docket, error) {
	j, err := jobs.Read(b.Jobs.State, id)
	if err != nil || j == nil || j.Phase == jobs.Ended {
		return nil, err
	}
	d := &docket{id: id, job: j}
	d.seats, err = jobs.ReadSeats(b.Jobs.State, id, j.Attempt)
	return d, err
}

// body reads the result that a seat has shown, in steps.
func (b *Book) body(d *docket, n int) (*chain.RunnerResult, error) {
	row, err := b.Jobs.State.Storage(chain.AddrJobDispatcher, jobs.BodyKey(d.id, d.job.Attempt, uint8(n)))
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, ErrRecord
	}
	d.steps += readSteps(len(row))
	return chain.DecodeRunnerResult(row)
}

// put writes the job and its seats.
func (b *Book) put(d *docket) {
	b.Jobs.Put(d.id, d.job)
	// Bounded: by the seats of a job.
	for n, s := range d.seats {
		b.Jobs.PutSeat(d.id, d.job.Attempt, uint8(n), s)
	}
}

// dropBodies drops the results of an attempt, which nobody judges any more, and what was found
// in them.
func (b *Book) dropBodies(d *docket) {
	// Bounded: by the seats of a job.
	for n, s := range d.seats {
		if s.Reveal == nil {
			continue
		}
		b.Jobs.State.SetStorage(chain.AddrJobDispatcher, jobs.BodyKey(d.id, d.job.Attempt, uint8(n)), nil)
		if readsAhead(d.job.Mode) {
			b.Jobs.State.SetStorage(chain.AddrJobDispatcher, jobs.FoundKey(d.id, d.job.Attempt, uint8(n)), nil)
		}
	}
}

// leave notes that a seat's runner has no more to do, once.
func (b *Book) leave(id chain.Hash, s *jobs.Seat) error {
	key := jobs.OpenKey(s.Runner, id)
	row, err := b.Jobs.State.Storage(chain.AddrJobDispatcher, key)
	if err != nil || row == nil {
		return err
	}
	b.Jobs.State.SetStorage(chain.AddrJobDispatcher, key, nil)
	return b.Runners.Unseated(s.Runner)
}

// committed returns how many seats have a commitment.
func (d *docket) committed() (n int) {
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Commitment != nil {
			n++
		}
	}
	return n
}

// revealed returns how many seats have shown a result.
func (d *docket) revealed() (n int) {
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Reveal != nil {
			n++
		}
	}
	return n
}

// allIn reports whether all that committed have shown their results, or were slashed for not
// doing so, and nobody else may commit behind a block at height h (resolution 12.34).
func (d *docket) allIn(h chain.Height) bool {
	waits := false // for who could still commit
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		switch {
		case s.Reveal != nil:
		case s.Commitment != nil && s.Mark == jobs.Unjudged:
			return false
		case s.Commitment != nil: // slashed for it
		default:
			waits = true
		}
	}
	return !waits || h >= d.job.CommitBy
}
