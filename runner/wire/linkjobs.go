//spec:implements CIP-11 10.1
//spec:implements CIP-11 10.2
//spec:implements CIP-11 10.5

package wire

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// jobStream is an assignment under way, which has a stream of its own.
type jobStream struct {
	dispatch  Dispatch
	several   bool // of a validator: results wait for their commitments
	answered  bool // an acknowledgement was received, or sent
	accepted  bool
	committed bool
	revealed  bool
	progress  int64 // of a validator: when the last one came, in ms
	over      bool  // of a runner: nothing is sent any more, the stream's end is awaited

	behind []Received // of a validator: what came behind an answer that is being verified
}

// maxBehind bounds what a runner sends while its answer is verified: progress, the commitment
// and the result.
const maxBehind = 3

// push opens a stream for an assignment. While the runner takes no work, or leaves, or has as
// many streams as it may, nothing is pushed: it can poll.
func (l *Link) push(e Push) []Effect {
	if l.state != LinkAdmitted || !l.accepting || len(l.jobs) >= MaxJobStreams || l.jobs[e.Stream] != nil || e.Stream == controlStream {
		return nil
	}
	l.jobs[e.Stream] = &jobStream{dispatch: l.dispatch(e.Assignment), several: e.Several}
	return []Effect{OpenStream{e.Stream, e.Assignment}}
}

func (l *Link) dispatch(f *JobAssignment) Dispatch {
	return Dispatch{
		ChainID: l.cfg.ChainID, JobID: f.JobID, AssignmentHash: f.Hash, Runner: l.session.Runner, Validator: l.session.Validator,
	}
}

// cancel takes an assignment back.
func (l *Link) cancel(e Cancel) []Effect {
	j := l.jobs[e.Stream]
	if j == nil {
		return nil
	}
	f := &JobCancel{JobID: j.dispatch.JobID, AssignmentHash: j.dispatch.AssignmentHash, Reason: e.Reason}
	return []Effect{l.sendSigned(e.Stream, f, j.dispatch.CancelDigest(e.Reason))}
}

// ackOverdue gives an assignment up that has no answer.
func (l *Link) ackOverdue(stream uint64) []Effect {
	j := l.jobs[stream]
	if j == nil || j.answered {
		return nil
	}
	delete(l.jobs, stream)
	return []Effect{Silent{stream}, ResetStream{Stream: stream, Err: errors.New("no answer to an assignment")}}
}

// onJob takes a frame of a job stream. What breaks the stream's order ends the stream, and
// what belongs to no job stream ends the session.
func (l *Link) onJob(e Received) []Effect {
	if l.isRunner() {
		return l.onJobOfRunner(e)
	}
	switch e.Frame.(type) {
	case *JobAck, *JobProgress, *JobResultCommit, *JobResult:
	default:
		return l.violation(GoodbyeProtocolError, fmt.Errorf("%v on a job stream", e.Frame.Type()))
	}
	j := l.jobs[e.Stream]
	if j == nil {
		return nil // of a stream that was reset meanwhile
	}
	if _, ack := e.Frame.(*JobAck); !ack && j.answered && !j.accepted && len(j.behind) < maxBehind {
		j.behind = append(j.behind, e)
		return nil
	}
	switch f := e.Frame.(type) {
	case *JobAck:
		return l.takeAck(e.Stream, j, f)
	case *JobProgress:
		return l.takeProgress(e, j, f)
	case *JobResultCommit:
		return l.takeTx(e.Stream, j, f.JobID, f.Tx, false)
	case *JobResult:
		return l.takeTx(e.Stream, j, f.JobID, f.Tx, true)
	}
	return nil
}

// resetStream ends a job stream for what the other side did.
func (l *Link) resetStream(stream uint64, format string, args ...any) []Effect {
	delete(l.jobs, stream)
	return []Effect{ResetStream{Stream: stream, Err: fmt.Errorf(format, args...)}}
}

// takeAck holds an answer to the assignment of the stream (CIP-11 §10.2).
func (l *Link) takeAck(stream uint64, j *jobStream, f *JobAck) []Effect {
	switch {
	case f.JobID != j.dispatch.JobID || f.AssignmentHash != j.dispatch.AssignmentHash:
		return l.resetStream(stream, "an answer to another assignment")
	case j.answered:
		return l.resetStream(stream, "a second answer")
	}
	j.answered = true
	return l.check(stream, f, f.SignedHash(&j.dispatch), f.Signature[:])
}

func (l *Link) acknowledged(stream uint64, f *JobAck) []Effect {
	j := l.jobs[stream]
	if j == nil {
		return nil
	}
	out := []Effect{Acknowledged{Stream: stream, Status: f.Status, Why: f.Why}}
	if j.accepted = f.Status == AckAccepted; !j.accepted {
		delete(l.jobs, stream)
		return append(out, ResetStream{Stream: stream})
	}
	behind := j.behind
	j.behind = nil
	for _, e := range behind {
		out = append(out, l.Step(e)...)
	}
	return out
}

// takeProgress shows how far a runner is, once a second at most; what comes sooner is left
// out, since a network may hand two over at once.
func (l *Link) takeProgress(e Received, j *jobStream, f *JobProgress) []Effect {
	switch {
	case f.JobID != j.dispatch.JobID || !j.accepted:
		return l.resetStream(e.Stream, "progress of what was not accepted here")
	case j.progress != 0 && e.Millis-j.progress < 1000:
		return nil
	}
	j.progress = max(e.Millis, 1)
	return []Effect{Progressed{e.Stream, f}}
}

// takeTx hands a transaction on: one commitment, then one result (CIP-11 §10.3).
func (l *Link) takeTx(stream uint64, j *jobStream, job chain.Hash, tx []byte, result bool) []Effect {
	done := &j.committed
	if result {
		done = &j.revealed
	}
	switch {
	case job != j.dispatch.JobID || !j.accepted:
		return l.resetStream(stream, "a transaction for what was not accepted here")
	case *done || j.revealed:
		return l.resetStream(stream, "a second transaction of its kind, or a commitment behind the result")
	case result && j.several && !j.committed:
		return l.resetStream(stream, "a result before its commitment")
	}
	*done = true
	return []Effect{Forward{Stream: stream, JobID: job, Result: result, Tx: tx}}
}

// onJobOfRunner takes an assignment, which is the first frame of its stream, or its
// cancellation.
func (l *Link) onJobOfRunner(e Received) []Effect {
	j := l.jobs[e.Stream]
	switch f := e.Frame.(type) {
	case *JobAssignment:
		if j == nil {
			if l.state == LinkDraining || len(l.jobs) >= MaxJobStreams { // both sides count for themselves
				return []Effect{ResetStream{Stream: e.Stream}}
			}
			l.jobs[e.Stream] = &jobStream{dispatch: l.dispatch(f)}
			return []Effect{Assigned{e.Stream, f}}
		}
	case *JobCancel:
		if j != nil && f.JobID == j.dispatch.JobID && f.AssignmentHash == j.dispatch.AssignmentHash {
			return l.check(e.Stream, f, j.dispatch.CancelDigest(f.Reason), f.Signature[:])
		}
		if j != nil {
			return l.resetStream(e.Stream, "cancellation of another assignment")
		}
		return nil // of what is over here
	}
	return l.violation(GoodbyeProtocolError, fmt.Errorf("%v on a job stream", e.Frame.Type()))
}

func (l *Link) cancelled(stream uint64, f *JobCancel) []Effect {
	if l.jobs[stream] == nil {
		return nil
	}
	delete(l.jobs, stream)
	return []Effect{Cancelled{stream, f.Reason}, ResetStream{Stream: stream}}
}

// acknowledge sends a runner's answer to an assignment. What is not accepted is over, but its
// stream has its place until it ends, so that no second assignment comes on it.
func (l *Link) acknowledge(e Answer) []Effect {
	j := l.jobs[e.Stream]
	if j == nil || j.answered {
		return nil
	}
	j.answered, j.accepted = true, e.Status == AckAccepted
	j.over = !j.accepted
	f := &JobAck{JobID: j.dispatch.JobID, AssignmentHash: j.dispatch.AssignmentHash, Status: e.Status, Why: e.Why, Reason: e.Reason}
	out := []Effect{l.sendSigned(e.Stream, f, f.SignedHash(&j.dispatch))}
	if j.over {
		out = append(out, FinishStream{e.Stream})
	}
	return out
}

// say sends what a runner has to say of a job that it has accepted.
func (l *Link) say(e Say) []Effect {
	if j := l.jobs[e.Stream]; j == nil || !j.accepted {
		return nil
	}
	return []Effect{Send{Stream: e.Stream, Frame: e.Frame}}
}
