package wire

import "github.com/cowboy-foundation/cowboy/chain"

// controlStream is the stream of all that is no job's.
const controlStream = 0

// Timer names a time that a session waits for something.
type Timer uint8

const (
	TimerHello Timer = iota // 5 s for the other side's Hello
	TimerProof              // 5 s for the other side's proof
	TimerDrain              // 2 s between Goodbye and the end
)

// Event is what has happened to a session.
type Event interface{ isEvent() }

type (
	// Opened: the connection is there. A runner opens the control stream; a validator waits
	// for it, for no longer than for a Hello.
	Opened struct{}

	// Received is a frame that was read off a stream. Job streams are read when [Proven] has
	// come, not before: they may overtake the proof. Millis is any clock that does not go
	// back.
	Received struct {
		Stream uint64
		Frame  Frame
		Millis int64
	}

	// Unreadable: a stream gave what is no frame.
	Unreadable struct{ Err error }

	// Admission answers [Admit].
	Admission struct {
		OK     bool
		Refuse GoodbyeReason
	}

	// Verified answers the oldest [Verify] that has no answer.
	Verified struct{ OK bool }

	// TimedOut: a time that was armed is over.
	TimedOut struct{ Timer Timer }

	// Lost: the connection is gone.
	Lost struct{ Err error }

	// Stopping: this side ends the session. At once where a newer connection of the runner
	// has taken its place (resolution 12.69), else after what is under way has had its time.
	Stopping struct {
		Reason           GoodbyeReason
		RetryAfterBlocks uint64
		AtOnce           bool
	}

	// NewHeight: a block is final here. It has a runner ping (must C32), unless its last Ping
	// has no Pong yet or was sent a moment ago.
	NewHeight struct {
		Height chain.Height
		Millis int64
	}

	// Capacity has a runner say how much work it has.
	Capacity struct {
		Active, Max uint32
		Accepting   bool
		Reason      *string
	}

	// Capabilities has a runner say what it can do besides what it has registered.
	Capabilities struct{ Delta CapabilityDelta }

	// Push has a validator open a job stream, which has no use yet, with an assignment.
	// Several says that the job has more than one runner, whose results wait for their
	// commitments.
	Push struct {
		Stream     uint64
		Assignment *JobAssignment // with the signature
		Several    bool
	}

	// Cancel has a validator take an assignment back.
	Cancel struct {
		Stream uint64
		Reason CancelReason
	}

	// AckOverdue: no answer to an assignment has come in its time.
	AckOverdue struct{ Stream uint64 }

	// StreamEnded: the other side has ended or reset a job stream.
	StreamEnded struct{ Stream uint64 }

	// Answer has a runner answer an assignment.
	Answer struct {
		Stream uint64
		Status AckStatus
		Why    RejectReason
		Reason *string
	}

	// Say has a runner send a [JobProgress], [JobResultCommit] or [JobResult].
	Say struct {
		Stream uint64
		Frame  Frame
	}
)

func (Opened) isEvent()       {}
func (Received) isEvent()     {}
func (Unreadable) isEvent()   {}
func (Admission) isEvent()    {}
func (Verified) isEvent()     {}
func (TimedOut) isEvent()     {}
func (Lost) isEvent()         {}
func (Stopping) isEvent()     {}
func (NewHeight) isEvent()    {}
func (Capacity) isEvent()     {}
func (Capabilities) isEvent() {}
func (Push) isEvent()         {}
func (Cancel) isEvent()       {}
func (AckOverdue) isEvent()   {}
func (StreamEnded) isEvent()  {}
func (Answer) isEvent()       {}
func (Say) isEvent()          {}

// Effect is what is to be done for a session.
type Effect interface{ isEffect() }

type (
	// Send writes a frame to a stream. Sign is what its signature is of, which
	// [SetSignature] puts in; nil for a frame that has one or needs none.
	Send struct {
		Stream uint64
		Frame  Frame
		Sign   *chain.Hash
	}

	// Verify asks whether a signature is the party's; [Verified] answers, in the order of
	// the questions.
	Verify struct {
		Digest    chain.Hash
		By        Party
		Signature []byte
	}

	// Admit asks whether the runner may come, by the snapshot that it names, the subset and
	// the registry, in this order (resolution 12.68); [Admission] answers. Nothing is booked
	// on the runner yet.
	Admit struct {
		Runner  chain.RunnerKey
		Epoch   chain.Epoch
		SetHash chain.Hash
	}

	// Proven: both sides are who they say. A validator ends the runner's older connection.
	Proven struct{ Peer Party }

	// Arm begins a time; that of the same name which runs is over.
	Arm struct{ Timer Timer }

	// Present: the runner is there, and whether it takes work.
	Present struct{ Accepting bool }

	// Noted is a change of what the runner can do, which the chain does not hear of.
	Noted struct{ Delta *CapabilityDelta }

	// OpenStream opens a job stream and writes its first frame.
	OpenStream struct {
		Stream uint64
		Frame  Frame
	}

	// ResetStream ends a job stream at once, in both directions.
	ResetStream struct {
		Stream uint64
		Err    error // what the other side did; nil if nothing
	}

	// Acknowledged is a runner's answer to an assignment.
	Acknowledged struct {
		Stream uint64
		Status AckStatus
		Why    RejectReason // of AckReject
	}

	// Silent: a runner has not answered an assignment in its time (CIP-11 §10.6,
	// HardFailure); it is not present until its next Ping.
	Silent struct{ Stream uint64 }

	// FinishStream ends this side's direction of a job stream.
	FinishStream struct{ Stream uint64 }

	// Progressed is how far a runner says that it is.
	Progressed struct {
		Stream   uint64
		Progress *JobProgress
	}

	// Forward is a transaction of the runner: to be decoded, held to job and sender, and
	// handed on byte for byte (CIP-11 §10.3). A result may come before its window opens:
	// who forwards holds it until then (must C67).
	Forward struct {
		Stream uint64
		JobID  chain.Hash
		Result bool // else a commitment
		Tx     []byte
	}

	// Assigned is an assignment that a validator has pushed; [Answer] answers.
	Assigned struct {
		Stream     uint64
		Assignment *JobAssignment
	}

	// Cancelled: the validator has taken an assignment back. Obligations of a commitment stay.
	Cancelled struct {
		Stream uint64
		Reason CancelReason
	}

	// Leaving: the other side will close, and may be asked again after so many blocks.
	Leaving struct {
		Reason           GoodbyeReason
		RetryAfterBlocks uint64
	}

	// Close ends the connection, when what was sent before has left. It is the last effect.
	Close struct {
		Reason GoodbyeReason
		Err    error
	}
)

func (Send) isEffect()         {}
func (Verify) isEffect()       {}
func (Admit) isEffect()        {}
func (Proven) isEffect()       {}
func (Arm) isEffect()          {}
func (Present) isEffect()      {}
func (Noted) isEffect()        {}
func (OpenStream) isEffect()   {}
func (ResetStream) isEffect()  {}
func (Acknowledged) isEffect() {}
func (Silent) isEffect()       {}
func (FinishStream) isEffect() {}
func (Progressed) isEffect()   {}
func (Forward) isEffect()      {}
func (Assigned) isEffect()     {}
func (Cancelled) isEffect()    {}
func (Leaving) isEffect()      {}
func (Close) isEffect()        {}

// SetSignature puts a signature into a frame that has one, of the length of its scheme.
func SetSignature(f Frame, signature []byte) {
	switch f := f.(type) {
	case *HelloAck:
		f.Signature = signature
	case *Goodbye:
		f.Signature = signature
	case *Ping:
		copy(f.Signature[:], signature)
	case *Pong:
		copy(f.Signature[:], signature)
	case *Backpressure:
		copy(f.Signature[:], signature)
	case *CapabilityDelta:
		copy(f.Signature[:], signature)
	case *JobAssignment:
		copy(f.Signature[:], signature)
	case *JobAck:
		copy(f.Signature[:], signature)
	case *JobCancel:
		copy(f.Signature[:], signature)
	}
}
