package jobs

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// ErrRecord means a row of the Job Dispatcher that does not decode: a fault, as only the
// protocol writes there.
var ErrRecord = errors.New("record of the job dispatcher is malformed")

// Phase is where a job is in its life.
type Phase uint8

// The phases.
const (
	Fresh    Phase = iota // waits for the draw of the next block
	Pending               // waits for a seed
	Assigned              // runners work, in the attempt that stands beside it
	Closing               // the outcome is known, the window is open
	Disputed              // a challenge is open
	Ended
	Phases // how many there are
)

// String names p.
func (p Phase) String() string {
	return [Phases]string{"fresh", "pending", "assigned", "closing", "disputed", "ended"}[p]
}

// Outcome is how a job ends.
type Outcome uint8

// The outcomes.
const (
	Open         Outcome = iota // not known yet
	OK                          // results agree
	Impossible                  // enough runners say that it cannot be done
	ActorFault                  // that it is the submitter's mistake
	External                    // that it is a third party's
	NoAgreement                 // all results are in and no threshold of them agrees
	Timeout                     // the attempts are used up
	NoCandidates                // fewer runners than the threshold could do it
	Cancelled                   // taken back
)

// Job is the row of a job. Its specification and its terms stand apart.
type Job struct {
	Submitter        chain.Address
	SubmittedAt      chain.Height
	Kind             chain.JobKind `cbor:"most=uint64(chain.JobAgent)"`
	Phase            Phase         `cbor:"most=uint64(Ended)"`
	Attempt          uint8         // 0 is the first
	Runners          uint8         // that the submitter asked for
	Threshold        uint8
	Mode             chain.VerificationMode `cbor:"most=uint64(chain.VerifySimilarity)"`
	MaxPrice         chain.Wei
	Tip              chain.Wei
	Held             chain.Wei // of the escrow, until settlement
	TimeoutBlocks    uint64
	AssignedAt       chain.Height // of this attempt; 0: not yet
	Deadline         chain.Height // of this attempt
	Seed             chain.Hash   // of the first draw
	CandidatesRoot   chain.Hash
	SpecHash         chain.Hash
	TermsHash        chain.Hash
	ReputationConfig uint32  // number of the configuration in force at SubmittedAt (resolution 12.17)
	Outcome          Outcome `cbor:"most=uint64(Cancelled)"`
	VerdictAt        chain.Height
	WindowEnd        chain.Height
	CanonicalSeat    uint8
	DataHash         chain.Hash   // of the canonical output; zero: none
	CommitBy         chain.Height // of this attempt: the last height for commitments
	GatherUntil      chain.Height // of this attempt: the last height at which the aggregator alone reveals; 0 where one runner works
	LateKey          chain.Hash   // what a result behind the verdict must match (package judge)
	SubmittedMillis  uint64       // timestamp of the block at SubmittedAt
	DueAt            chain.Height // the height of the job's row under due/; 0: it has none
	Model            chain.Hash   // that the job names and its results are of, once they agree; zero: none
	Attempts         uint8        // that it may have, as its submitter has paid for
	Papers           uint32       // bytes of specification and terms
	AnswerLoad       chain.Cycles // for the first use of the code that takes the answer, as its submitter has paid for
	Verifier         bool         // it names an actor that judges what its results come to
	Promised         uint64       // of the runner lane to the results of this attempt, in millionths; 0: they are in, or there are none
	Crowds           uint64       // crowded blocks of the lane, before the time that is looked at next
	Large            bool         // a result takes more than half of the lane
	Spared           bool         // who shows nothing in this attempt is not penalised: there is little time, or no room
	VerifierLoad     chain.Cycles // for the first use of the code of its verifier, in each attempt, as its submitter has paid for
	Backed           bool         // others stand behind what its results have come to: runners that had to agree, or its verifier
	TreasuryShare    uint16       // of what a runner earns, in basis points, as voted at its submission
	GatherShare      uint16       // of the same, to who gathers results of others
}

// Rates are what a runner charged when it was assigned, in wei for each unit (resolution
// 12.4).
type Rates struct {
	InputToken    chain.Wei
	OutputToken   chain.Wei
	RequestBase   chain.Wei
	ComputeSecond chain.Wei
	MemoryMB      chain.Wei
}

// RatesOf returns those of a rate card.
func RatesOf(c *chain.RateCard) Rates {
	return Rates{
		InputToken: c.LLMInputToken, OutputToken: c.LLMOutputToken, RequestBase: c.HTTPRequestBase,
		ComputeSecond: c.ComputeSecond, MemoryMB: c.MemoryMB,
	}
}

// Usage is what a runner says that it used.
type Usage struct {
	InputTokens  uint32
	OutputTokens uint32
	WallMillis   uint32
	MemoryMB     uint32
	Requests     uint32
}

// UsageOf returns that of a result.
func UsageOf(u chain.RunnerUsage) Usage { return Usage(u) }

// Seat is the row of a runner that was drawn for an attempt.
type Seat struct {
	Runner         chain.Address
	Rates          Rates
	ExpectedPrice  chain.Wei
	Excess         bool        // its silence costs nothing: it had no room when it was drawn (resolution 12.11), little time, or found the lane full
	ReputationX1e9 uint64      // of the snapshot
	Commitment     *chain.Hash // nil: none
	CommittedAt    chain.Height
	Reveal         *Reveal // nil: none
	Cost           chain.Wei
	Frozen         chain.Wei // slashed, until settlement (resolution 12.81)
	Bonded         chain.Wei // of the runner's stake, until its attempt or the job ends (resolution 12.8)
	Silent         bool      // it let the deadline pass that it had
	Mark           Mark      `cbor:"most=uint64(Void)"`
	Millis         uint64    // timestamp of the block of the commitment, or of the reveal without one (resolution 12.46)
}

// Mark is what became of a seat's result.
type Mark uint8

// The marks.
const (
	Unjudged Mark = iota
	Agrees        // it is among those that are paid
	Differs       // it is outside of them
	Void          // nothing came of its attempt
)

// Reveal is what is known of a result after it was shown. The result itself is in the
// transaction.
type Reveal struct {
	At      chain.Height
	Tx      chain.Hash
	Result  chain.Hash    // keccak256 of result_bytes
	Outcome chain.Outcome `cbor:"most=uint64(chain.OutcomeExternalFault)"`
	Usage   Usage
	// Gathered says that the aggregator showed it for its runner, in the time that it has alone.
	Gathered bool
}

// Encode returns the row.
func (j *Job) Encode() []byte { return j.appendTo(make([]byte, 0, 456)) }

// Encode returns the row.
func (s *Seat) Encode() []byte { return s.appendTo(make([]byte, 0, 272)) }

// DecodeJob reads what Encode writes and nothing else. The error wraps ErrRecord.
func DecodeJob(row []byte) (*Job, error) {
	j, r := new(Job), cbor.NewReader(row)
	if err := whole(j.readFrom(&r), &r); err != nil {
		return nil, err
	}
	return j, nil
}

// DecodeSeat reads what Encode writes and nothing else. The error wraps ErrRecord.
func DecodeSeat(row []byte) (*Seat, error) {
	s, r := new(Seat), cbor.NewReader(row)
	if err := whole(s.readFrom(&r), &r); err != nil {
		return nil, err
	}
	return s, nil
}

// whole is the error of a row that ends where r stands.
func whole(err error, r *cbor.Reader) error {
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return nil
}
