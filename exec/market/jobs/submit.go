//spec:implements CIP-2 3

package jobs

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// Names of events.
const (
	EventSubmitted = "job_submitted" // [job, submitter, kind, runners, max price]
	EventCancelled = "job_cancelled" // [job, submitter, what came back]
)

// The verdicts.
var (
	// ErrUnknown means an id that no job has.
	ErrUnknown = verdict.New(verdict.Missing, "no such job")
	// ErrForeign means a job of another submitter.
	ErrForeign = verdict.New(verdict.Forbidden, "the job is another's")
	// ErrAssigned means a job that is past taking back.
	ErrAssigned = verdict.New(verdict.State, "runners are assigned, or the job has ended")
)

// Call is an operation on the dispatcher by a submitter.
type Call struct {
	*service.Call
	Rules    *Rules
	Required uint64 // items of lists that runners must attest for the submitter ([manifest.Grants.Attested])
}

func (c *Call) book() *Book {
	return &Book{State: c.State, Params: c.Params, Height: c.Height, Millis: c.Millis}
}

// takeIn takes a job in under an id. pay moves the escrow to the dispatcher.
func (c *Call) takeIn(id chain.Hash, spec *chain.JobSpec, terms *chain.JobTerms, pay func(escrow chain.Wei) error) error {
	if err := c.Run.Take(handling(c.Params, len(spec.Encode())+len(terms.Encode()))); err != nil {
		return err
	}
	if err := c.check(spec, terms); err != nil {
		return err
	}
	load, err := c.chargeAll(id, spec, terms)
	if err != nil {
		return err
	}
	escrow, fits := escrowOf(spec)
	if !fits {
		return argument("tip", "max_price and tip exceed 64 bits")
	}
	if err := pay(escrow); err != nil {
		return err
	}
	return c.book().Submit(id, c.By, spec, terms, load)
}

// chargeAll takes what the job costs besides its bytes, and the event that tells of it, and
// returns what it took for the first use of code. What later blocks use comes last.
func (c *Call) chargeAll(id chain.Hash, spec *chain.JobSpec, terms *chain.JobTerms) (load Loads, err error) {
	registered, err := runners.Count(c.State)
	if err != nil {
		return load, err
	}
	reading, err := runners.ReadingCycles(c.State, c.Params)
	if err != nil {
		return load, err
	}
	if err := c.Run.Take(chain.Usage{Cycles: reading}); err != nil {
		return load, err
	}
	if err := c.Run.Take(passes(c.Params, spec, terms, uint64(registered), c.Required)); err != nil {
		return load, err
	}
	data := cbor.AppendBytes(cbor.AppendArray(nil, 5), id[:])
	data = cbor.AppendUint(cbor.AppendBytes(data, c.By[:]), uint64(spec.JobType.Kind()))
	data = cbor.AppendUint(cbor.AppendUint(data, uint64(spec.Verification.Runners)), uint64(spec.MaxPrice))
	if err := c.keepEvent(EventSubmitted, data); err != nil {
		return load, err
	}
	if load, err = c.loads(spec); err != nil {
		return load, err
	}
	reserved := later(c.Params, spec, terms, load)
	return load, errors.Join(c.Run.TakeCells(uint64(reserved.Cells)), c.Run.TakeLater(reserved.Cycles))
}

// loads finds what the actors that a job names cost to load.
func (c *Call) loads(spec *chain.JobSpec) (l Loads, err error) {
	if to := spec.Callback.Actor; to != (chain.Address{}) {
		if l.Answer, err = c.Run.FirstUse(c.By, to); err != nil {
			return l, err
		}
	}
	if verifier, _, named := judge.Custom(spec); named {
		l.Verifier, err = c.Run.FirstUse(c.By, verifier)
	}
	return l, err
}

// keepEvent keeps an event and charges for it.
func (c *Call) keepEvent(name string, data []byte) error {
	api := &c.Params.API
	if err := c.Run.Take(chain.Usage{
		Cycles: api.EmitEventCycles + chain.Cycles(len(name)+len(data))*api.EmitEventByteCycles,
		Cells:  chain.Cells(api.OfEvent(len(name), len(data))),
	}); err != nil {
		return err
	}
	if c.Run.Events() >= chain.MaxEvents {
		return verdict.New(verdict.Limit, "the transaction emits no more events")
	}
	c.Run.Emit(chain.Event{Emitter: chain.AddrJobDispatcher, Name: name, Data: data})
	return nil
}

// escrowOf is what a job holds; false where the sum exceeds 64 bits.
func escrowOf(spec *chain.JobSpec) (chain.Wei, bool) {
	sum := spec.MaxPrice
	fits := funds.Add(&sum, spec.Tip)
	return sum, fits
}

// SubmitFor takes in the job of an actor, which pays the escrow out of its balance.
func (c *Call) SubmitFor(id chain.Hash, spec *chain.JobSpec, terms *chain.JobTerms) error {
	return c.takeIn(id, spec, terms, c.payFromBalance)
}

// payFromBalance moves an escrow out of what an actor may spend.
func (c *Call) payFromBalance(escrow chain.Wei) error {
	held, err := c.Run.Withheld(c.By, escrow)
	if err != nil {
		return err
	}
	if held {
		return fmt.Errorf("%w: the rest of it is held for rent", funds.ErrShort)
	}
	if err := c.Run.Debit(c.By, escrow); err != nil {
		if errors.Is(err, funds.ErrShort) {
			err = fmt.Errorf("%w: max_price and tip of the job are %d base units", err, escrow)
		}
		return err
	}
	c.Run.PutAside(c.By, escrow)
	return c.Run.Credit(chain.AddrJobDispatcher, escrow)
}

// Submit writes the rows of a job whose escrow the dispatcher has, and fills in of its
// specification what the chain knows: id, submitter and height (CIP-11 §12.6). The job waits
// for the draw of the next block. load was paid for the first use of code.
func (b *Book) Submit(id chain.Hash, by chain.Address, spec *chain.JobSpec, terms *chain.JobTerms, load Loads) error {
	escrow, fits := escrowOf(spec)
	if !fits {
		return funds.ErrOverflow
	}
	spec.JobID, spec.Submitter, spec.SubmittedAt = id, by, b.Height
	v, asked, agreed := &spec.Verification, spec.Encode(), terms.Encode()
	_, _, verified := judge.Custom(spec)
	b.Put(id, &Job{
		Submitter: by, SubmittedAt: b.Height, SubmittedMillis: b.Millis, Kind: spec.JobType.Kind(), Phase: Fresh,
		Runners: v.Runners, Threshold: v.Threshold, Mode: v.Mode,
		MaxPrice: spec.MaxPrice, Tip: spec.Tip, Held: escrow, TimeoutBlocks: spec.TimeoutBlocks,
		SpecHash: spec.SpecHash(), TermsHash: terms.TermsHash(), Attempts: uint8(b.Params.Job.MaxRetries), // 16 at most
		Papers: uint32(len(asked) + len(agreed)), AnswerLoad: load.Answer, Verifier: verified, // the bytes of a transaction at most
		VerifierLoad:  load.Verifier,
		TreasuryShare: uint16(b.Params.Job.TreasuryBasisPoints), GatherShare: uint16(b.Params.Job.AggregatorBonusBasisPoints), // 10,000 together at most
	})
	b.set(SpecKey(id), asked)
	b.set(TermsKey(id), agreed)
	b.set(AtKey(TableFresh, b.Height, id), []byte{})
	b.set(AtKey(TableLive, b.Height, id), []byte{})
	return nil
}
