package chain

import "github.com/cowboy-foundation/cowboy/chain/cbor"

// MaxSigners bounds the results of one transaction whose signatures are recovered beside
// its own: a job has no more runners by default (job.max_runners). Those of a transaction
// with more are recovered when it runs, if it comes to that.
const MaxSigners = 16

// SignedResult is a result with the signature of its runner.
type SignedResult struct {
	Result    []byte // encoding of a [RunnerResult]
	Signature [65]byte
}

// Job returns the job that an instruction of an assigned runner names, which is its first
// argument. The error wraps ErrPayload.
func (t *Tx) Job() (job Hash, err error) {
	r := cbor.NewReader(t.Payload)
	if _, err = r.Array(MaxTxBytes); err == nil {
		if _, err = r.Uint(); err == nil {
			err = r.BytesInto(job[:])
		}
	}
	if err != nil {
		return job, payloadError("job_id", err)
	}
	return job, nil
}

// SignedResults returns the job and the results that a transaction shows, in their order.
// There are none in one that is no such instruction, that has more than MaxSigners, or
// whose arguments do not decode. Byte strings alias the payload.
func (t *Tx) SignedResults() (job Hash, all []SignedResult) {
	if t.To == nil || *t.To != AddrResultVerifier {
		return job, nil
	}
	r := cbor.NewReader(t.Payload)
	if _, err := r.Array(MaxTxBytes); err != nil {
		return job, nil
	}
	opcode, err := r.Uint()
	if err != nil {
		return job, nil
	}
	switch opcode {
	case OpResultReveal:
		var q ResultReveal
		if ReadRequest(&r, &q) == nil {
			all = []SignedResult{{q.Result, q.RunnerSig}}
		}
		return q.JobID, all
	case OpResultSubmit:
		var q ResultSubmit
		if ReadRequest(&r, &q) != nil || len(q.Reveals) > MaxSigners {
			return job, nil
		}
		for i := range q.Reveals {
			all = append(all, SignedResult{q.Reveals[i].Result, q.Reveals[i].RunnerSig})
		}
		return q.JobID, all
	}
	return job, nil
}
