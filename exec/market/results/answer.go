package results

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// Callback is the answer to who asked for a job, on its way to the next block.
type Callback struct {
	From    chain.Address
	To      chain.Address
	Origin  chain.Address // who has paid for its delivery
	Handler string
	Payload []byte       // canonical
	Cycles  chain.Cycles // for the handler
	Load    chain.Cycles // besides, at most, for the first use of its code
}

// outcomeNames are the outcomes as programs read them.
var outcomeNames = [...]string{
	jobs.OK: "ok", jobs.Impossible: "impossible", jobs.ActorFault: "actor_fault", jobs.External: "external_fault",
	jobs.NoAgreement: "no_agreement", jobs.Timeout: "timeout", jobs.NoCandidates: "no_candidates", jobs.Cancelled: "cancelled",
}

// tellSubmitter tells the actor that a job names how it ended: once for each job, at its verdict or
// when it has failed (resolutions 6.14, 12.53-12.55). The Result Verifier answers only to
// who asked itself: an answer that another has ordered is that other's message, or anybody
// could answer a handler that waits. An output that finds no room is named by its hash and
// length, and kept for whoever is told (ADR 236).
func (b *Book) tellSubmitter(d *docket, spec *chain.JobSpec, terms *chain.JobTerms, data []byte) error {
	to := spec.Callback.Actor
	if to == (chain.Address{}) || d.job.Outcome == jobs.Cancelled {
		return nil
	}
	c := &Callback{
		From: chain.AddrResultVerifier, To: to, Origin: d.job.Submitter, Handler: spec.Callback.Handler, Cycles: terms.CallbackCycles, Load: d.job.AnswerLoad,
	}
	if to != d.job.Submitter {
		c.From = d.job.Submitter
	}
	var output []byte
	if d.job.Outcome == jobs.OK {
		steps := strictjson.NewSteps(jobs.AnswerSteps(spec, terms))
		output = appendOutput(nil, terms.ResultSchema.DataFormat, data, steps)
		d.steps += steps.Used()
	}
	if c.Payload = appendAnswer(d, spec, output); d.job.Outcome == jobs.OK && (output == nil || !fits(c.Payload)) {
		hash := keccak.Sum256(data)
		output = cbor.AppendText(cbor.AppendMap(nil, 2), "hash") // the shorter name first
		output = cbor.AppendText(cbor.AppendBytes(output, hash[:]), "bytes")
		c.Payload = appendAnswer(d, spec, cbor.AppendUint(output, uint64(len(data))))
		b.Jobs.PutKept(d.id, &jobs.Kept{To: to, Format: terms.ResultSchema.DataFormat, Data: data})
		d.steps += readSteps(len(data))
	}
	if to == d.job.Submitter { // of answers that others have ordered, nothing speaks for or against it
		if err := jobs.CountCalls(b.Jobs.State, to, jobs.Calls{Sent: 1}); err != nil {
			return err
		}
	}
	return b.Post(c)
}

// appendAnswer returns a map whose names stand in canonical order, the shorter first. error
// is there only where the job has failed.
func appendAnswer(d *docket, spec *chain.JobSpec, output []byte) []byte {
	name, failed := outcomeNames[d.job.Outcome], d.job.Outcome != jobs.OK
	fields := 8
	if failed {
		fields++
	}
	b := cbor.AppendMap(make([]byte, 0, 2*len(output)+len(spec.Callback.Context)+1_024), fields)
	if failed {
		b = cbor.AppendText(cbor.AppendText(b, "error"), name)
	}
	b = cbor.AppendBytes(cbor.AppendText(b, "job_id"), d.id[:])
	b = append(cbor.AppendText(b, "output"), orNull(output)...)
	b = append(cbor.AppendText(b, "result"), orNull(output)...)
	status := "done"
	if failed {
		status = "failed"
	}
	b = cbor.AppendText(cbor.AppendText(b, "status"), status)
	b = appendContext(cbor.AppendText(b, "context"), spec.Callback.Context)
	b = cbor.AppendText(cbor.AppendText(b, "outcome"), name)
	b = appendRunners(cbor.AppendText(b, "runners"), d)
	return cbor.AppendText(cbor.AppendText(b, "correlation_id"), spec.Callback.CorrelationID)
}

// fits reports whether a message can have an answer as its payload.
func fits(payload []byte) bool {
	l := cbor.DefaultLimits()
	l.Bytes = jobs.AnswerBytes
	return cbor.Scan(payload, l) == nil
}

func orNull(item []byte) []byte {
	if item == nil {
		return cbor.AppendNull(nil)
	}
	return item
}

// appendContext appends what the submitter gave to be handed back: as the value that it is
// the encoding of, else as bytes.
func appendContext(dst, context []byte) []byte {
	if len(context) == 0 {
		return cbor.AppendNull(dst)
	}
	r := cbor.NewReader(context)
	item, err := r.Raw(contextLimits())
	if err == nil && r.End() == nil {
		return append(dst, item...)
	}
	return cbor.AppendBytes(dst, context)
}

// contextLimits leave room for the answer that a context stands in.
func contextLimits() cbor.Limits {
	l := cbor.DefaultLimits()
	l.Depth--
	return l
}

// appendRunners appends who agreed, or is paid for what came to nothing, in the order of the
// committee.
func appendRunners(dst []byte, d *docket) []byte {
	var agreed [][]byte
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Mark == jobs.Agrees {
			agreed = append(agreed, s.Runner[:])
		}
	}
	dst = cbor.AppendArray(dst, len(agreed))
	// Bounded: as above.
	for _, a := range agreed {
		dst = cbor.AppendBytes(dst, a)
	}
	return dst
}
