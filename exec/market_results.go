package exec

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// registryOf is the Runner Registry as an instruction sees it.
func registryOf(c *service.Call) results.Registry {
	return &runners.Book{State: c.State, Params: c.Params, Height: c.Height}
}

// verifier is the Result Verifier in this block, which tells a registry of runners.
func (b *block) verifier(registry *runners.Book) *results.Book {
	return &results.Book{
		Jobs:    jobs.Book{State: b.state, Params: b.in.Params, Height: b.in.Height},
		Runners: registry, Purse: purse{b}, Ask: b.askVerifier, Post: b.post, Room: b.verifierRoom,
	}
}

// verifierLimit is what a verifier may use, and how much of its cycles are for its handler: no
// more than a submission can have paid for each attempt, and for the first use of its code no
// more than this one has paid. Whose code has grown since then runs out of cycles, and does not
// wait for room that no block has.
func (b *block) verifierLimit(q *results.Inquiry) (limit chain.Usage, own chain.Cycles, err error) {
	_, load, err := b.actors.FirstUse(b.state, q.By, q.Actor)
	if err != nil {
		return limit, 0, &Fault{"read the record of a verifier", err}
	}
	paid := b.in.Params.MaxTxCycles / chain.Cycles(max(1, q.Attempts))
	own = min(q.Cycles, b.in.Params.Actor.BlockCyclesBurst, paid)
	limit = chain.Usage{Cycles: own + min(load, q.Load, paid-own), Cells: b.in.Params.Actor.MessageReserveCells}
	return limit, own, nil
}

// verifierRoom reports whether the space for deliveries has room for a verifier.
func (b *block) verifierRoom(q *results.Inquiry) (bool, error) {
	limit, _, err := b.verifierLimit(q)
	return err == nil && b.budget.Fits(chain.LaneUser, fees.Space{Usage: limit}), err
}

// askVerifier asks the actor that a job names to judge its results, which changes nothing.
// It has a receipt like a delivery, and comes out of the space for these: its cycles were
// paid when the job was submitted.
func (b *block) askVerifier(q *results.Inquiry) ([]byte, error) {
	limit, own, err := b.verifierLimit(q)
	if err != nil {
		return nil, err
	}
	if !b.budget.Fits(chain.LaneUser, fees.Space{Usage: limit}) {
		return nil, judge.ErrNoRoom
	}
	before, id := b.state.Snapshot(), b.firingID("cowboy-job-verifier-v1", q.Job)
	out, err := actor.NewRun(b.actors, b.state, b.in.Engine, actor.Start{
		Origin: q.By, ID: id, ReadOnly: true, Load: limit.Cycles - own, Warm: b.warm,
		Cycles: limit.Cycles, Cells: limit.Cells,
	}).First(actor.Envelope{From: chain.AddrResultVerifier, To: q.Actor, Handler: q.Handler, Payload: q.Payload})
	b.state.Revert(before)
	if err != nil {
		return nil, &Fault{"ask a verifier", err}
	}
	if err := b.book(id, &out); err != nil {
		return nil, err
	}
	if out.Code != chain.CodeOK {
		return nil, results.ErrFailed
	}
	return out.Output, nil
}

// postHeights is how many blocks ahead an answer looks for room among what its origin has
// deferred.
const postHeights = 16

// post defers the answer to a job to the next block, or to one soon after it if its origin
// has no more room there. Its delivery was paid when the job was submitted, with the first use
// of the code that the actor had then.
func (b *block) post(c *results.Callback) error {
	q, err := actor.ReadQuota(b.state, c.From)
	if err != nil {
		return err
	}
	_, load, err := b.actors.FirstUse(b.state, c.From, c.To)
	if err != nil {
		return err
	}
	h, p, least := b.in.Height, &b.in.Params.Actor, b.actors.Delivery()
	it := &mailbox.Item{
		From: c.From, To: c.To, Origin: c.Origin, Nonce: q.Sent, Handler: c.Handler, Payload: c.Payload,
		Cycles: max(c.Cycles, least.Cycles), Load: min(load, c.Load), Cells: max(jobs.AnswerCells(b.in.Params, c.Cycles), least.Cells), Parked: h,
	}
	q.Sent++
	actor.WriteQuota(b.state, c.From, q)
	// Bounded: by postHeights, 16.
	for ahead := chain.Height(1); ahead <= postHeights; ahead++ {
		if err = mailbox.Defer(b.state, h, h+ahead, it, p.MailboxItems); !errors.Is(err, mailbox.ErrFull) {
			return err
		}
	}
	if c.From != chain.AddrResultVerifier {
		return nil
	}
	return jobs.CountCalls(b.state, c.To, jobs.Calls{Failed: 1})
}

// countAnswer notes that the handler of an actor has failed on the answer to one of its own
// jobs (resolution 6.14).
func (b *block) countAnswer(it *mailbox.Item, out *actor.Outcome) error {
	if it.From != chain.AddrResultVerifier || out.Code == chain.CodeOK {
		return nil
	}
	return fault("count an answer", jobs.CountCalls(b.state, it.To, jobs.Calls{Failed: 1}))
}
