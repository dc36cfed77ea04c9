//spec:implements CIP-2 9
//spec:implements resolutions 12.D

package judge

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Question is a job and what is known of its results.
type Question struct {
	Spec            *chain.JobSpec
	Terms           *chain.JobTerms
	SubmittedMillis uint64   // timestamp of the block in which the job was submitted
	Outputs         []Output // what was revealed, one for a seat, in any order
	// Final says that no further result counts: all that committed have revealed, or the
	// deadline has passed.
	Final bool
	// Verifier asks the actor that the job names, if it names one; nil when there is no room
	// for that now.
	Verifier Verifier
}

// Output is a result and how it came.
type Output struct {
	Seat        uint8
	CommittedAt chain.Height // of its commitment; of its reveal if it had none
	BlockMillis uint64       // timestamp of that block (resolution 12.46)
	Result      *chain.RunnerResult
	// Found is what an earlier [Verdict] has found in it: of a majority_vote it is not read
	// again, and Result needs to have its outcome alone.
	Found *Finding
}

// Finding is what of a result counts for a majority_vote.
type Finding struct {
	Counts bool // it holds all that it can be held to alone
	Fails  FaultKind
	Key    chain.Hash // of what is compared
}

// SeatFinding is what was found in the result of a seat.
type SeatFinding struct {
	Seat uint8
	Finding
}

// Outcome is what the results of a job come to.
type Outcome uint8

// The outcomes.
const (
	Undecided   Outcome = iota // further results may decide
	Agreed                     // enough agree
	Impossible                 // enough say that it cannot be done
	ActorFault                 // that it is the submitter's mistake
	External                   // that it is a third party's
	NoAgreement                // none of these, and no further result counts
	Rejected                   // enough agree, and the actor that the job names says no
)

// FaultKind is an objective failure of a result (whitepaper, "Objective Failure Criteria";
// resolution 12.44).
type FaultKind uint8

// The faults, the graver one last.
const (
	NoFault    FaultKind = iota
	TooShort             // fewer bytes than the terms ask for
	TooUniform           // less entropy
)

// Fault is a failure that the runner at a seat answers for with stake.
type Fault struct {
	Seat uint8
	Kind FaultKind
}

// Decision is the answer to a [Question].
type Decision struct {
	Outcome Outcome
	// Seats are those that agree, also on what is rejected, or that report the failure; where
	// there is no agreement, those that each count by themselves, if these are enough.
	// Ascending.
	Seats []uint8
	// Canonical is the seat whose data is the result; for a median, which nobody needs to
	// have sent, the first of Seats.
	Canonical uint8
	Data      []byte     // the result, by the terms' data format; nil where there is none, or Canonical was not read
	Key       chain.Hash // what a late result must match: see Late
	// Backed says that somebody stands behind what is agreed besides each runner for itself: the
	// others, where they had to agree in something, or the actor that the job names.
	Backed bool
	Faults []Fault // ascending by seat; one for a seat at most
	// Findings are those of the results that were read, ascending by seat.
	Findings []SeatFinding
	// Waiting says that the results agree and that the job's verifier has to be asked in a
	// later block; the outcome is Undecided.
	Waiting bool
	Steps   uint64 // that it took
	Panics  int    // results that could not be read for a mistake of this program
}

// Verifier asks the actor of the job's custom check about a decision that the results have
// come to. An error other than ErrNoRoom is a failure of the actor, which leaves the decision
// as it is.
type Verifier func(agreed *Decision) (Opinion, error)

// Opinion is what an actor says of a decision.
type Opinion struct {
	Valid     bool
	Canonical []byte // the result instead of the decision's, by the terms' data format; nil: none
}

// ErrNoRoom means that a block has no room left for a call of a verifier.
var ErrNoRoom = errors.New("no room for a verifier in this block")
