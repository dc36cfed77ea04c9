package results

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// judge looks whether a job has an outcome, or whether late results agree with the one
// that it has. Where the block has no room for that, it returns the queue in which the job
// waits. A job that it has seen in this block waits by its first row, if it has to: a second
// one is done with.
func (b *Book) judge(id chain.Hash, q *quota) (waits queue, err error) {
	if _, before := q.seen[id]; before {
		return none, nil
	}
	if q.full() {
		return light, nil // as far as anybody knows who has not read what it asks for
	}
	q.jobs--
	q.seen[id] = none
	d, err := b.open(id)
	if err != nil || d == nil {
		return none, err
	}
	switch d.job.Phase {
	case jobs.Assigned:
		waits, err = b.judgeAttempt(d, q)
	case jobs.Closing:
		waits, err = b.judgeLate(d, q)
	}
	q.use(d.queue, d.steps)
	q.seen[id] = waits
	return waits, err
}

// judgeAttempt looks for the outcome of a job under way (resolutions 12.28, 12.34, 12.52).
func (b *Book) judgeAttempt(d *docket, q *quota) (waits queue, err error) {
	h := b.Jobs.Height
	lapses := d.job.Runners > 1 && d.committed() < int(d.job.Threshold)
	in := !lapses && d.allIn(h)
	final := in || h >= d.job.Deadline
	if d.revealed() == 0 || !final && (lapses || !d.mayDecide()) {
		return none, nil
	}
	c, waits, err := b.question(d, q, final, func(*jobs.Seat) bool { return true })
	if err != nil || waits != none {
		return waits, err
	}
	v := judge.Verdict(c)
	d.steps += v.Steps
	switch {
	case b.unread != nil:
		return none, b.unread
	case v.Waiting:
		return d.queue, nil
	case v.Outcome != judge.Undecided && v.Outcome != judge.NoAgreement:
		return none, b.closeWith(d, c, v)
	case !final:
		b.keepFindings(d, v)
		return none, nil
	case in:
		return none, b.closeWith(d, c, v)
	}
	// Somebody has withheld what it promised: the attempt fails, as nothing says that the
	// others disagree.
	if err := b.freezeFaults(d, v.Faults); err != nil {
		return none, err
	}
	d.void()
	b.put(d)
	if d.job.DueAt == 0 { // else what a backlog has kept from its turn leads there
		b.Jobs.Schedule(d.id, d.job, h, jobs.AtDeadline)
	}
	return none, nil
}

// mayDecide reports whether what was shown so far can come to an outcome before all are in:
// enough report one failure, or enough agree where nothing can overturn that, as they are
// more than half (resolution 12.34). A verifier is asked when no further result counts, so till
// then nothing is read for it.
func (d *docket) mayDecide() bool {
	t := int(d.job.Threshold)
	return d.came(chain.OutcomeOK) >= t && settlesEarly(d.job.Mode) && !d.job.Verifier ||
		d.came(chain.OutcomeImpossible) >= t || d.came(chain.OutcomeActorFault) >= t || d.came(chain.OutcomeExternalFault) >= t
}

// came returns how many results of an outcome were shown.
func (d *docket) came(o chain.Outcome) (n int) {
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Reveal != nil && s.Reveal.Outcome == o {
			n++
		}
	}
	return n
}

func settlesEarly(m chain.VerificationMode) bool {
	return m == chain.VerifyMajorityVote || m == chain.VerifyDeterministic || m == chain.VerifyNone || m == chain.VerifyEconomicBond
}

// question reads what a job asks for and what some of its seats have shown; where the block
// has no room to judge that, it returns the queue in which the job waits.
func (b *Book) question(d *docket, q *quota, final bool, of func(*jobs.Seat) bool) (c *judge.Question, waits queue, err error) {
	c = &judge.Question{SubmittedMillis: d.job.SubmittedMillis, Final: final}
	var bytes int
	if c.Spec, c.Terms, bytes, err = b.papers(d.id); err != nil {
		return nil, none, err
	}
	d.steps += readSteps(bytes)
	most := d.steps + judge.StepsBound(c.Spec, c.Terms) + jobs.AnswerSteps(c.Spec, c.Terms) + keptSteps(c.Spec, c.Terms) + uint64(d.job.Runners)*readSteps(chain.MaxResultBytes)
	inquiry := inquiryInto(d, c)
	if d.queue = q.queueOf(most); inquiry != nil && final && d.came(chain.OutcomeOK) >= int(d.job.Threshold) {
		d.queue = asking
	}
	room := q.lets(d.queue, most)
	if room && d.queue == asking {
		room, err = b.Room(inquiry)
	}
	if err != nil || !room {
		q.use(light, d.steps) // of who has had room, that is; the heavy ones may have used all of theirs
		d.steps = 0
		return nil, d.queue, err
	}
	// Bounded: by the seats of a job.
	for n, s := range d.seats {
		if s.Reveal == nil || !of(s) {
			continue
		}
		o, err := b.output(d, n)
		if err != nil {
			return nil, none, err
		}
		c.Outputs = append(c.Outputs, o)
	}
	c.Verifier = b.verifier(d, c, inquiry)
	return c, none, nil
}

// readsAhead reports whether results of a mode are read before all are in, and a verdict is
// looked for again when more have come.
func readsAhead(m chain.VerificationMode) bool { return m == chain.VerifyMajorityVote }

// foundBytes are those of a row of what was found in a result: whether it counts, its fault,
// and its key.
const foundBytes = 2 + len(chain.Hash{})

// keepFindings keeps what was found in the results of a job that has no verdict yet: each is
// read once, as its submitter has paid for.
func (b *Book) keepFindings(d *docket, v *judge.Decision) {
	// Bounded: by the seats of a job.
	for _, f := range v.Findings {
		row := append([]byte{0, byte(f.Fails)}, f.Key[:]...)
		if f.Counts {
			row[0] = 1
		}
		b.Jobs.State.SetStorage(chain.AddrJobDispatcher, jobs.FoundKey(d.id, d.job.Attempt, f.Seat), row)
	}
}

// found reads what was found in a seat's result, nil where it was not read yet.
func (b *Book) found(d *docket, n int) (*judge.Finding, error) {
	if !readsAhead(d.job.Mode) {
		return nil, nil
	}
	row, err := b.Jobs.State.Storage(chain.AddrJobDispatcher, jobs.FoundKey(d.id, d.job.Attempt, uint8(n)))
	if err != nil || row == nil {
		return nil, err
	}
	if len(row) != foundBytes || row[0] > 1 || row[1] > byte(judge.TooUniform) {
		return nil, ErrRecord
	}
	return &judge.Finding{Counts: row[0] == 1, Fails: judge.FaultKind(row[1]), Key: chain.Hash(row[2:])}, nil
}

// output is what a seat has shown, as the judge wants it.
func (b *Book) output(d *docket, n int) (judge.Output, error) {
	s := d.seats[n]
	o := judge.Output{Seat: uint8(n), CommittedAt: s.CommittedAt, BlockMillis: s.Millis}
	if s.Commitment == nil {
		o.CommittedAt = s.Reveal.At
	}
	var err error
	if o.Found, err = b.found(d, n); err != nil {
		return o, err
	}
	if o.Found != nil {
		o.Result = &chain.RunnerResult{Outcome: s.Reveal.Outcome}
		return o, nil
	}
	o.Result, err = b.body(d, n)
	return o, err
}

// ReadBytes is how many bytes of a job or of a result are read from the state by a step.
const ReadBytes = 32

// readSteps is what it takes to read a row of so many bytes.
func readSteps(bytes int) uint64 { return uint64(bytes)/ReadBytes + 1 }

// keptSteps is what it takes at most to keep what a job comes to for the actor that is told.
func keptSteps(spec *chain.JobSpec, terms *chain.JobTerms) uint64 {
	if spec.Callback.Actor == (chain.Address{}) {
		return 0
	}
	return readSteps(int(terms.ResultSchema.MaxReturnBytes))
}

// papers reads what a job asks for, and says how many bytes that is.
func (b *Book) papers(id chain.Hash) (spec *chain.JobSpec, terms *chain.JobTerms, bytes int, err error) {
	asked, err := b.Jobs.State.Storage(chain.AddrJobDispatcher, jobs.SpecKey(id))
	if err != nil {
		return nil, nil, 0, err
	}
	agreed, err := b.Jobs.State.Storage(chain.AddrJobDispatcher, jobs.TermsKey(id))
	if err != nil {
		return nil, nil, 0, err
	}
	if spec, err = chain.DecodeJobSpec(asked); err != nil {
		return nil, nil, 0, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if terms, err = chain.DecodeJobTerms(agreed); err != nil {
		return nil, nil, 0, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return spec, terms, len(asked) + len(agreed), nil
}

// judgeLate says of results that came behind the outcome whether they agree with it
// (resolution 11.28).
func (b *Book) judgeLate(d *docket, q *quota) (waits queue, err error) {
	if !d.unjudged() {
		return none, nil
	}
	c, waits, err := b.question(d, q, false, func(s *jobs.Seat) bool { return s.Mark == jobs.Unjudged })
	if err != nil || waits != none {
		return waits, err
	}
	v := judge.Late(c, judged(d.job.Outcome), d.job.LateKey)
	d.steps += v.Steps
	if err := b.gradeAll(d, c, v); err != nil {
		return none, err
	}
	b.put(d)
	return none, b.awaitEnd(d)
}
