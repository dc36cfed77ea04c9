//spec:implements whitepaper 5.4

package results

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// open reads a job of which the runner has a seat in the attempt that is under way, and
// which; closing says whether one counts whose outcome is known.
func (c *call) open(id chain.Hash, runner chain.Address, closing bool) (*jobs.Job, uint8, error) {
	attempt, n, ok, err := jobs.ReadWho(c.State, id, runner)
	if err != nil {
		return nil, 0, err
	}
	j, err := jobs.Read(c.State, id)
	switch {
	case err != nil:
		return nil, 0, err
	case j == nil || !ok:
		return nil, 0, ErrUnknown
	case attempt != j.Attempt || j.Phase != jobs.Assigned && (j.Phase != jobs.Closing || !closing):
		return nil, 0, ErrNotOpen
	}
	return j, n, nil
}

// seat reads a seat that is there.
func (c *call) seat(id chain.Hash, j *jobs.Job, n uint8) (*jobs.Seat, error) {
	s, err := jobs.ReadSeat(c.State, id, j.Attempt, n)
	if err == nil && s == nil {
		err = ErrRecord
	}
	return s, err
}

// commit binds the sender to a result (CIP-2 §8; resolutions 11.1, 11.27).
func (c *call) commit(q *chain.ResultCommit) error {
	j, n, err := c.open(q.JobID, c.By, false)
	if err != nil {
		return err
	}
	if c.Height > j.CommitBy {
		return ErrLate
	}
	s, err := c.seat(q.JobID, j, n)
	switch {
	case err != nil:
		return err
	case s.Commitment != nil:
		return ErrCommitted
	case s.Reveal != nil:
		return ErrRevealed
	}
	s.Commitment, s.CommittedAt, s.Millis = &q.Commitment, c.Height, c.Millis
	c.book.PutSeat(q.JobID, j.Attempt, n, s)
	return nil
}

// reveal shows the sender's result.
func (c *call) reveal(q *chain.ResultReveal) error {
	v, err := c.view(q.JobID)
	if err != nil {
		return err
	}
	return c.show(v, 0, &chain.Reveal{Runner: c.By, Result: q.Result, RunnerSig: q.RunnerSig})
}

// showAll shows results of several runners, in the order of the committee: all, or none
// (resolution 12.30).
func (c *call) showAll(q *chain.ResultSubmit) error {
	v, err := c.view(q.JobID)
	if err != nil {
		return err
	}
	if len(q.Reveals) > int(v.job.Runners) {
		return argument("reveals: more than the %d runners of the job", v.job.Runners)
	}
	last := -1
	// Paid: by the bytes of the payload (submitPrice).
	for i := range q.Reveals {
		n, ok := v.seatOf(q.Reveals[i].Runner)
		if !ok {
			return argument("reveals: %s has no seat", q.Reveals[i].Runner)
		}
		if n <= last {
			return argument("reveals: not in the order of the seats")
		}
		last = n
		if err := c.show(v, i, &q.Reveals[i]); err != nil {
			return err
		}
	}
	return nil
}

// view is a job as who shows results sees it.
type view struct {
	docket
	aggregator int // -1: nobody has committed
	spec       *chain.JobSpec
	terms      *chain.JobTerms
}

func (v *view) seatOf(runner chain.Address) (int, bool) {
	// Bounded: by the seats of a job.
	for n, s := range v.seats {
		if s.Runner == runner {
			return n, true
		}
	}
	return 0, false
}

// view reads a job for a sender who shows results now, whosever these are.
func (c *call) view(id chain.Hash) (*view, error) {
	j, _, err := c.open(id, c.By, true)
	switch {
	case err != nil:
		return nil, err
	case c.Height > j.Deadline:
		return nil, ErrLate
	}
	if err := c.Run.Take(seatsPrice(c.Params, j.Runners)); err != nil {
		return nil, err
	}
	v := &view{docket: docket{id: id, job: j}, aggregator: -1}
	if v.seats, err = jobs.ReadSeats(c.State, id, j.Attempt); err != nil {
		return nil, err
	}
	if n, ok := jobs.Aggregator(v.seats); ok {
		v.aggregator = n
	}
	if j.Runners > 1 {
		if committed := v.committed(); committed < int(j.Threshold) || committed < len(v.seats) && c.Height <= j.CommitBy {
			return nil, ErrEarly
		}
		if c.Height <= j.GatherUntil && v.seats[v.aggregator].Runner != c.By {
			return nil, ErrAlone
		}
	}
	return v, c.readPapers(v)
}

// readPapers reads what the job asks for, by whose bytes it charges.
func (c *call) readPapers(v *view) error {
	spec, err := c.State.Storage(chain.AddrJobDispatcher, jobs.SpecKey(v.id))
	if err != nil {
		return err
	}
	terms, err := c.State.Storage(chain.AddrJobDispatcher, jobs.TermsKey(v.id))
	if err != nil {
		return err
	}
	c.Run.Handled(uint64(len(spec) + len(terms)))
	if v.spec, err = chain.DecodeJobSpec(spec); err != nil {
		return fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if v.terms, err = chain.DecodeJobTerms(terms); err != nil {
		return fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return nil
}

// show takes in a result, the i-th of the transaction.
func (c *call) show(v *view, i int, r *chain.Reveal) error {
	n, ok := v.seatOf(r.Runner)
	if !ok {
		return ErrRecord // the sender's seat is of this attempt, and others were looked for
	}
	s := v.seats[n]
	switch {
	case s.Reveal != nil:
		return ErrRevealed
	case s.Commitment == nil && v.job.Runners > 1:
		return ErrNoCommitment
	}
	result, err := v.check(r.Result)
	if err != nil {
		return err
	}
	if s.Commitment != nil && chain.ResultCommitment(r.Result, r.RunnerSig) != *s.Commitment {
		return ErrCommitment
	}
	if signer, ok := c.signer(v.id, i, r); !ok || signer != r.Runner {
		return ErrSignature
	}
	return c.keep(v, uint8(n), r, result)
}

// signer returns who signed the i-th result of the transaction, as it was recovered with the
// transaction's own signature, or else by the plain rule; false for nobody.
func (c *call) signer(job chain.Hash, i int, r *chain.Reveal) (chain.Address, bool) {
	if i < len(c.Signers) {
		return c.Signers[i], c.Signers[i] != chain.Address{}
	}
	sig, ok := secp256k1.TakeApart(&r.RunnerSig)
	if !ok {
		return chain.Address{}, false
	}
	key, err := secp256k1.Recover(chain.ResultDigest(c.ChainID, job, r.Result), sig)
	if err != nil {
		return chain.Address{}, false
	}
	return key.Address(), true
}

// keep writes a result that holds, and lets its runner go.
func (c *call) keep(v *view, n uint8, r *chain.Reveal, result *chain.RunnerResult) error {
	s := v.seats[n]
	s.Reveal = &jobs.Reveal{
		At: c.Height, Tx: c.ID, Result: keccak.Sum256(r.Result), Outcome: result.Outcome, Usage: jobs.UsageOf(result.Usage),
		Gathered: r.Runner != c.By && c.gathers(v),
	}
	if s.Commitment == nil {
		s.Millis = c.Millis
	}
	c.book.PutSeat(v.id, v.job.Attempt, n, s)
	c.State.SetStorage(chain.AddrJobDispatcher, jobs.BodyKey(v.id, v.job.Attempt, n), r.Result)
	c.book.Touch(v.id)
	if err := c.registry.Revealed(r.Runner); err != nil {
		return err
	}
	b := Book{Jobs: c.book, Runners: c.registry}
	return b.leave(v.id, s)
}

// gathers reports whether the sender is the aggregator in the time in which it alone shows
// results: what it has of others by then, they have given it. Behind that they show their own,
// which it could copy on their way into a block (CIP-2 §8; ADR 221).
func (c *call) gathers(v *view) bool {
	return v.aggregator >= 0 && v.seats[v.aggregator].Runner == c.By && c.Height <= v.job.GatherUntil
}

// check reads a result and holds it to the job: attempt, usage within the bounds, the
// length of its data, and whether an embedding belongs to it (resolutions 12.31-12.33).
func (v *view) check(data []byte) (*chain.RunnerResult, error) {
	r, err := chain.DecodeRunnerResult(data)
	if err != nil {
		return nil, argument("result: %v", err)
	}
	u, b := &r.Usage, &v.spec.Bounds
	switch {
	case r.Attempt != v.job.Attempt:
		return nil, argument("result.attempt: %d, the job is at %d", r.Attempt, v.job.Attempt)
	case len(r.Data) > int(v.terms.ResultSchema.MaxReturnBytes):
		return nil, argument("result.data: %d bytes, more than the job's max_return_bytes %d", len(r.Data), v.terms.ResultSchema.MaxReturnBytes)
	case r.TEE != nil && !v.spec.Verification.TEERequired:
		return nil, argument("result.tee: the job asks for no enclave")
	case r.Embedding != nil && v.terms.Similarity == nil:
		return nil, argument("result.embedding: the job asks for none")
	case u.InputTokens > b.MaxInputTokens:
		return nil, above("input_tokens", u.InputTokens, b.MaxInputTokens)
	case u.OutputTokens > b.MaxOutputTokens:
		return nil, above("output_tokens", u.OutputTokens, b.MaxOutputTokens)
	case uint64(u.WallMillis) > 1_000*uint64(b.MaxWallTimeSeconds):
		return nil, argument("result.usage.wall_ms: %d is above the job's %d seconds", u.WallMillis, b.MaxWallTimeSeconds)
	case u.MemoryMB > b.MaxMemoryMB:
		return nil, above("memory_mb", u.MemoryMB, b.MaxMemoryMB)
	case uint64(u.Requests) > 1+uint64(b.MaxRetries):
		return nil, argument("result.usage.requests: %d is above one and the job's %d retries", u.Requests, b.MaxRetries)
	}
	return r, nil
}

func above(field string, got, most uint32) error {
	return argument("result.usage.%s: %d is above the job's bound %d", field, got, most)
}

// argument is a verdict on an argument, with the name of what is wrong.
func argument(format string, args ...any) error {
	return verdict.New(verdict.Argument, fmt.Sprintf(format, args...))
}
