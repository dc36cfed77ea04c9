//spec:implements CIP-11 10.1
//spec:implements CIP-11 10.2
//spec:implements CIP-11 10.5
//spec:implements restored 11

package wire

import (
	"bytes"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// JobAssignment hands a seat of a job to its runner (CIP-11 §10.1). Seven of its nine fields
// are the same whoever pushes it; [JobAssignment.Same] compares them.
type JobAssignment struct {
	JobID         chain.Hash
	Spec          []byte     // canonical_job_spec, stands inline in the frame
	SpecHash      chain.Hash // keccak256 of Spec, as the validator says
	Height        chain.Height
	DeadlineBlock chain.Height
	Runner        chain.RunnerKey
	Validator     chain.PeerKey
	Hash          chain.Hash // assignment_hash, as the validator says: [Assignment.Hash]
	Signature     [ValidatorSignatureBytes]byte
}

// Type implements [Frame].
func (*JobAssignment) Type() FrameType { return TypeJobAssignment }

func (f *JobAssignment) fields(b *body) {
	b.hash32("job_id", (*[32]byte)(&f.JobID))
	f.spec(b)
	b.hash32("job_spec_hash", (*[32]byte)(&f.SpecHash))
	b.runnerKey("runner_pubkey", &f.Runner)
	number(b, "deadline_block", &f.DeadlineBlock)
	b.hash32("assignment_hash", (*[32]byte)(&f.Hash))
	b.validatorKey("validator_pubkey", &f.Validator)
	b.signature("validator_signed", f.Signature[:])
	number(b, "assignment_height", &f.Height)
}

// specLimits bound the item that stands for a specification, before it is read as one.
var specLimits = cbor.Limits{Bytes: chain.MaxJobBytes, Depth: 32, Items: chain.MaxJobBytes}

// spec walks canonical_job_spec, which stands in the frame as the map that it is.
func (f *JobAssignment) spec(b *body) {
	switch {
	case !b.opens("job_spec"):
	case !b.reading:
		b.out = append(b.out, f.Spec...)
	default:
		if f.Spec, b.err = b.in.Raw(specLimits); b.err != nil {
			return
		}
		if _, err := chain.DecodeJobSpec(f.Spec); err != nil {
			b.err = fmt.Errorf("%w: %w", ErrFrameValue, err)
		}
	}
}

// Same reports whether two assignments of a job are one, whoever has pushed them: all but the
// validator's key and signature are equal (restored definitions §11).
func (f *JobAssignment) Same(o *JobAssignment) bool {
	return f.JobID == o.JobID && bytes.Equal(f.Spec, o.Spec) && f.SpecHash == o.SpecHash && f.Height == o.Height &&
		f.DeadlineBlock == o.DeadlineBlock && f.Runner == o.Runner && f.Hash == o.Hash
}

// Assignment returns what the validator signs of the frame on a chain.
func (f *JobAssignment) Assignment(chainID uint64) Assignment {
	return Assignment{
		ChainID: chainID, JobID: f.JobID, JobSpecHash: f.SpecHash, Height: f.Height, DeadlineBlock: f.DeadlineBlock, Runner: f.Runner,
	}
}

// JobAck answers an assignment (CIP-11 §10.2). Signature is of [Dispatch.AckDigest].
type JobAck struct {
	JobID          chain.Hash
	AssignmentHash chain.Hash
	Status         AckStatus
	Why            RejectReason // of AckReject alone
	Reason         *string
	Signature      [RunnerSignatureBytes]byte
}

// Type implements [Frame].
func (*JobAck) Type() FrameType { return TypeJobAck }

func (f *JobAck) fields(b *body) {
	b.hash32("job_id", (*[32]byte)(&f.JobID))
	b.maybeText("reason", &f.Reason, MaxReasonBytes)
	b.signature(signedField, f.Signature[:])
	f.status(b)
	b.hash32("assignment_hash", (*[32]byte)(&f.AssignmentHash))
}

// status walks a number, or the list of AckReject and its reason (restored definitions §4).
func (f *JobAck) status(b *body) {
	switch {
	case !b.opens("status"):
	case b.reading:
		b.err = f.readStatus(&b.in)
	case f.Status == AckReject:
		b.out = cbor.AppendUints(b.out, uint64(f.Status), uint64(f.Why))
	default:
		b.out = cbor.AppendUint(b.out, uint64(f.Status))
	}
}

func (f *JobAck) readStatus(r *cbor.Reader) error {
	plain := *r
	if n, err := plain.Uint(); err == nil {
		*r = plain
		if n != uint64(AckAccepted) && n != uint64(AckDuplicate) {
			return fmt.Errorf("status %d: %w", n, ErrFrameValue)
		}
		f.Status = AckStatus(n)
		return nil
	}
	if err := r.ArrayOf(2); err != nil {
		return err
	}
	status, err := r.Uint()
	if err != nil {
		return err
	}
	why, err := r.Uint()
	if err != nil {
		return err
	}
	if status != uint64(AckReject) || why > 0xff || !RejectReason(why).Known() {
		return fmt.Errorf("status [%d, %d]: %w", status, why, ErrFrameValue)
	}
	f.Status, f.Why = AckReject, RejectReason(why)
	return nil
}

// SignedHash returns what the runner signs: of the dispatch that it answers.
func (f *JobAck) SignedHash(d *Dispatch) chain.Hash {
	var reason string
	if f.Reason != nil {
		reason = *f.Reason
	}
	return d.AckDigest(f.Status, f.Why, reason)
}

// JobProgress says how far the work is (CIP-11 §10.2). It is not signed.
type JobProgress struct {
	JobID   chain.Hash
	Percent uint8 // 0 to 100
	Detail  *string
}

// Type implements [Frame].
func (*JobProgress) Type() FrameType { return TypeJobProgress }

func (f *JobProgress) fields(b *body) {
	b.maybeText("detail", &f.Detail, MaxReasonBytes)
	b.hash32("job_id", (*[32]byte)(&f.JobID))
	one(b, "fraction", &f.Percent, func(p uint8) bool { return p <= 100 })
}

// JobResultCommit carries the wire transaction of a commitment, which its runner has signed
// (CIP-11 §10.3).
type JobResultCommit struct {
	JobID chain.Hash
	Tx    []byte // with its length before it, as a client submits it
}

// Type implements [Frame].
func (*JobResultCommit) Type() FrameType { return TypeJobResultCommit }

func (f *JobResultCommit) fields(b *body) {
	b.hash32("job_id", (*[32]byte)(&f.JobID))
	b.byteString("tx_bytes", &f.Tx, maxWireTxBytes)
}

// JobResult carries the wire transaction of a result, which its runner has signed
// (CIP-11 §10.3).
type JobResult struct {
	JobID chain.Hash
	Tx    []byte
}

// Type implements [Frame].
func (*JobResult) Type() FrameType { return TypeJobResult }

func (f *JobResult) fields(b *body) {
	b.hash32("job_id", (*[32]byte)(&f.JobID))
	b.byteString("tx_bytes", &f.Tx, maxWireTxBytes)
}

// maxWireTxBytes bounds a transaction with its length before it.
const maxWireTxBytes = chain.MaxTxBytes + 16

// JobCancel takes an assignment back (CIP-11 §10.5). Signature is of
// [Dispatch.CancelDigest].
type JobCancel struct {
	JobID          chain.Hash
	AssignmentHash chain.Hash
	Reason         CancelReason
	Signature      [ValidatorSignatureBytes]byte
}

// Type implements [Frame].
func (*JobCancel) Type() FrameType { return TypeJobCancel }

func (f *JobCancel) fields(b *body) {
	b.hash32("job_id", (*[32]byte)(&f.JobID))
	one(b, "reason", &f.Reason, CancelReason.Known)
	b.hash32("assignment_hash", (*[32]byte)(&f.AssignmentHash))
	b.signature("validator_signed", f.Signature[:])
}
