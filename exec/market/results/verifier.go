package results

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// ErrFailed means a verifier whose handler fails, or that is none, or gives no answer.
var ErrFailed = errors.New("the verifier of a job fails")

// Inquiry is what the actor is asked that a job names as its verifier (whitepaper,
// "Verification"; market design §10).
type Inquiry struct {
	Job     chain.Hash
	Actor   chain.Address
	Handler string
	By      chain.Address // the submitter
	Payload []byte        // canonical: {job, outputs, runners}
	Cycles  chain.Cycles  // terms.verifier_cycles
	Load    chain.Cycles  // for the first use of its code, as was paid for at the submission
	// Attempts are those that the job may have, each of which its submitter has paid for.
	Attempts uint8
}

// inquiryInto is what the actor of a job's custom check is asked, but for the results; nil
// where it names none.
func inquiryInto(d *docket, c *judge.Question) *Inquiry {
	actor, handler, ok := judge.Custom(c.Spec)
	if !ok {
		return nil
	}
	return &Inquiry{Job: d.id, Actor: actor, Handler: handler, By: d.job.Submitter, Cycles: c.Terms.VerifierCycles, Load: d.job.VerifierLoad, Attempts: d.job.Attempts}
}

// verifier asks the actor of a job's custom check, nil where it names none.
func (b *Book) verifier(d *docket, c *judge.Question, inquiry *Inquiry) judge.Verifier {
	if inquiry == nil {
		return nil
	}
	return func(agreed *judge.Decision) (judge.Opinion, error) {
		inquiry.Payload = inquiryOf(d, c, agreed)
		answer, err := b.Ask(inquiry)
		switch {
		case err == nil:
		case errors.Is(err, judge.ErrNoRoom), errors.Is(err, ErrFailed):
			return judge.Opinion{}, err
		default: // nothing that this block says of the actor: judgeAttempt returns it
			b.unread = err
			return judge.Opinion{}, judge.ErrNoRoom
		}
		return opinionOf(answer, c.Terms.ResultSchema.DataFormat)
	}
}

// inquiryOf is a map whose names stand in canonical order: the job, the data that agree and
// whose they are, in the order of the committee.
func inquiryOf(d *docket, c *judge.Question, agreed *judge.Decision) []byte {
	p := cbor.AppendBytes(cbor.AppendText(cbor.AppendMap(nil, 3), "job"), d.id[:])
	p = cbor.AppendArray(cbor.AppendText(p, "outputs"), len(agreed.Seats))
	// Bounded: by the seats of a job.
	for _, n := range agreed.Seats {
		p = cbor.AppendBytes(p, dataOf(c, n))
	}
	p = cbor.AppendArray(cbor.AppendText(p, "runners"), len(agreed.Seats))
	// Bounded: by the seats of a job.
	for _, n := range agreed.Seats {
		p = cbor.AppendBytes(p, d.seats[n].Runner[:])
	}
	return p
}

func dataOf(c *judge.Question, seat uint8) []byte {
	// Bounded: by the seats of a job.
	for i := range c.Outputs {
		if c.Outputs[i].Seat == seat {
			return c.Outputs[i].Result.Data
		}
	}
	return nil
}

// opinionOf reads an actor's answer: a map with valid, and perhaps canonical_output and
// reason. The error says that it is no such answer.
func opinionOf(answer []byte, format chain.DataFormat) (o judge.Opinion, err error) {
	r := cbor.NewReader(answer)
	n, err := r.Map(3)
	said := false
	// Bounded: by three names.
	for i := 0; i < n && err == nil; i++ {
		var name string
		if name, err = r.Text(len("canonical_output")); err != nil {
			break
		}
		switch name {
		case "valid":
			o.Valid, err = r.Bool()
			said = true
		case "canonical_output":
			o.Canonical, err = readOutput(&r, format)
		default:
			_, err = r.Raw(cbor.DefaultLimits())
		}
	}
	if err == nil {
		err = r.End()
	}
	if err == nil && !said {
		err = ErrFailed
	}
	return o, err
}

// readOutput reads the output that an actor gives instead: text where the job's is text or
// JSON, else bytes; nil for null.
func readOutput(r *cbor.Reader, format chain.DataFormat) ([]byte, error) {
	if r.Null() {
		return nil, nil
	}
	if format == chain.FormatBytes {
		return r.Bytes(chain.MaxReturnBytes)
	}
	s, err := r.Text(chain.MaxReturnBytes)
	return []byte(s), err
}
