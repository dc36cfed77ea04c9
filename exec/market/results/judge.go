package results

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/state"
)

// quota is what judging may still take in a block.
type quota struct {
	jobs    int // to look at
	skipped int // that may find no room before the rest waits unseen
	whole   uint64
	steps   uint64 // that are left of whole
	taken   uint64 // of steps, by the case under way
	seen    map[chain.Hash]bool
}

// skippedMax is how many jobs of a block may be looked at in vain: those behind them, which
// take less, have their turn.
const skippedMax = 64

func newQuota(steps uint64) *quota {
	return &quota{jobs: params.JudgedJobsMax, skipped: skippedMax, whole: steps, steps: steps, seen: map[chain.Hash]bool{}}
}

// full reports whether no further job is looked at.
func (q *quota) full() bool { return q.jobs == 0 || q.skipped == 0 }

// takes sets aside what a case takes at most, if there is room. Where nothing was taken yet
// there always is: a case may be larger than what a block gives, and the oldest comes first.
func (q *quota) takes(steps uint64) bool {
	if steps > q.steps && q.steps < q.whole {
		q.skipped--
		return false
	}
	q.taken = min(steps, q.steps)
	q.steps -= q.taken
	return true
}

// giveBack returns what the case under way has not used of what was set aside for it.
func (q *quota) giveBack(used uint64) {
	q.steps += q.taken - min(used, q.taken)
	q.taken = 0
}

// answered takes the steps that an answer has used: a block writes one answer more than it
// has room for at most.
func (q *quota) answered(steps uint64) { q.steps -= min(steps, q.steps) }

// JudgeTouched judges the jobs that wait for it, then those with a new result in this
// block, by their ids; each job once. What finds no room waits for the next blocks, in
// order, and what takes less is judged meanwhile. The error is a fault.
func (b *Book) JudgeTouched() error {
	q := newQuota(b.Jobs.Params.Job.JudgeStepsPerBlock)
	if err := b.judgeReady(q); err != nil {
		return err
	}
	span := state.Span{Prefix: jobs.TablePrefix(jobs.TableTouched), Entries: scanStep, Bytes: 1 << 20}
	// Paid: by the transactions of the block, which have touched so many, or by the jobs
	// whose deadlines the block has come to, job.due_per_block.
	for {
		rows, err := b.Jobs.State.Scan(chain.AddrJobDispatcher, span)
		if err != nil {
			return err
		}
		// Bounded: by scanStep.
		for i := range rows {
			if err := b.judgeNew(rows[i].Key, q); err != nil {
				return err
			}
			span.From = rows[i].Key.Next()
		}
		if len(rows) < scanStep {
			return nil
		}
	}
}

// scanStep is how many rows a pass reads at a time.
const scanStep = 64

// judgeNew judges a job with a new result, or lets it wait.
func (b *Book) judgeNew(key state.StorageKey, q *quota) error {
	id, ok := jobs.SplitTouched(key)
	if !ok {
		return ErrRecord
	}
	b.Jobs.State.SetStorage(chain.AddrJobDispatcher, key, nil)
	done, err := b.judge(id, q)
	if err == nil && !done {
		b.keepWaiting(id)
	}
	return err
}

// keepWaiting lets a job wait to be judged, from the next block on.
func (b *Book) keepWaiting(id chain.Hash) {
	b.Jobs.State.SetStorage(chain.AddrJobDispatcher, jobs.AtKey(jobs.TableReady, b.Jobs.Height, id), []byte{})
}

// judgeReady judges those that wait, the oldest first. Those that find no room keep their
// places.
func (b *Book) judgeReady(q *quota) error {
	span := state.Span{Prefix: jobs.TablePrefix(jobs.TableReady), Entries: scanStep, Bytes: 1 << 20}
	// Bounded: by params.JudgedJobsMax.
	for {
		rows, err := b.Jobs.State.Scan(chain.AddrJobDispatcher, span)
		if err != nil {
			return err
		}
		// Bounded: by scanStep.
		for i := range rows {
			h, id, ok := jobs.SplitAt(jobs.TableReady, rows[i].Key)
			if !ok {
				return ErrRecord
			}
			if h >= b.Jobs.Height || q.full() {
				return nil // it began to wait just now, or has to
			}
			done, err := b.judge(id, q)
			if err != nil {
				return err
			}
			if done {
				b.Jobs.State.SetStorage(chain.AddrJobDispatcher, rows[i].Key, nil)
			}
			span.From = rows[i].Key.Next()
		}
		if len(rows) < scanStep {
			return nil
		}
	}
}

// judge looks whether a job has an outcome, or whether late results agree with the one
// that it has. It reports false where the block has no room for it. A job that it has seen
// in this block waits by its first row, if it has to: a second one is done with.
func (b *Book) judge(id chain.Hash, q *quota) (done bool, err error) {
	if q.seen[id] {
		return true, nil
	}
	if q.full() {
		return false, nil
	}
	q.jobs--
	q.seen[id] = true
	d, err := b.open(id)
	if err != nil || d == nil {
		return true, err
	}
	switch d.job.Phase {
	case jobs.Assigned:
		done, err = b.judgeAttempt(d, q)
		q.answered(d.answerSteps)
		return done, err
	case jobs.Closing:
		return b.judgeLate(d, q)
	}
	return true, nil
}

// judgeAttempt looks for the outcome of a job under way (resolutions 12.28, 12.34, 12.52).
func (b *Book) judgeAttempt(d *docket, q *quota) (done bool, err error) {
	h := b.Jobs.Height
	lapses := d.job.Runners > 1 && d.committed() < int(d.job.Threshold)
	in := !lapses && d.allIn(h)
	final := in || h >= d.job.Deadline
	if d.revealed() == 0 || !final && (lapses || !d.mayDecide()) {
		return true, nil
	}
	c, done, err := b.question(d, q, func(*jobs.Seat) bool { return true })
	if err != nil || !done {
		return done, err
	}
	c.Final = final
	v := judge.Verdict(c)
	q.giveBack(v.Steps)
	switch {
	case b.unread != nil:
		return true, b.unread
	case v.Waiting:
		b.keepWaiting(d.id)
		return true, nil
	case v.Outcome != judge.Undecided && v.Outcome != judge.NoAgreement:
		return true, b.closeWith(d, c, v)
	case !final:
		return true, nil
	case in:
		return true, b.closeWithout(d, c, v)
	}
	// Somebody has withheld what it promised: the attempt fails, as nothing says that the
	// others disagree.
	if err := b.freezeFaults(d, v.Faults); err != nil {
		return true, err
	}
	d.void()
	b.put(d)
	if d.job.DueAt == 0 { // else what a backlog has kept from its turn leads there
		b.Jobs.Schedule(d.id, d.job, h, jobs.AtDeadline)
	}
	return true, nil
}

// mayDecide reports whether what was shown so far can come to an outcome before all are in:
// enough report one failure, or enough agree where nothing can overturn that, as they are
// more than half (resolution 12.34).
func (d *docket) mayDecide() bool {
	var n [chain.OutcomeExternalFault + 1]int
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Reveal != nil {
			n[s.Reveal.Outcome]++
		}
	}
	t := int(d.job.Threshold)
	return n[chain.OutcomeOK] >= t && settlesEarly(d.job.Mode) ||
		n[chain.OutcomeImpossible] >= t || n[chain.OutcomeActorFault] >= t || n[chain.OutcomeExternalFault] >= t
}

func settlesEarly(m chain.VerificationMode) bool {
	return m == chain.VerifyMajorityVote || m == chain.VerifyDeterministic || m == chain.VerifyNone || m == chain.VerifyEconomicBond
}

// question reads what a job asks for and what some of its seats have shown; false where the
// block has no room to judge that.
func (b *Book) question(d *docket, q *quota, of func(*jobs.Seat) bool) (c *judge.Question, done bool, err error) {
	c = &judge.Question{SubmittedMillis: d.job.SubmittedMillis}
	if c.Spec, c.Terms, err = b.papers(d.id); err != nil {
		return nil, false, err
	}
	var shown []int
	// Bounded: by the seats of a job.
	for n, s := range d.seats {
		if s.Reveal != nil && of(s) {
			shown = append(shown, n)
		}
	}
	if !q.takes(judge.StepsOf(c.Spec, c.Terms, len(shown))) {
		return nil, false, nil
	}
	// Bounded: by the seats of a job.
	for _, n := range shown {
		o, err := b.output(d, n)
		if err != nil {
			return nil, false, err
		}
		c.Outputs = append(c.Outputs, o)
	}
	c.Verifier = b.verifier(d, c)
	return c, true, nil
}

// output is what a seat has shown, as the judge wants it.
func (b *Book) output(d *docket, n int) (judge.Output, error) {
	s := d.seats[n]
	r, err := b.body(d, n)
	o := judge.Output{Seat: uint8(n), CommittedAt: s.CommittedAt, BlockMillis: s.Millis, Result: r}
	if s.Commitment == nil {
		o.CommittedAt = s.Reveal.At
	}
	return o, err
}

// papers reads what a job asks for.
func (b *Book) papers(id chain.Hash) (*chain.JobSpec, *chain.JobTerms, error) {
	spec, err := jobs.ReadSpec(b.Jobs.State, id)
	if err != nil {
		return nil, nil, err
	}
	terms, err := jobs.ReadTerms(b.Jobs.State, id)
	if err == nil && (spec == nil || terms == nil) {
		err = ErrRecord
	}
	return spec, terms, err
}

// judgeLate says of results that came behind the outcome whether they agree with it
// (resolution 11.28).
func (b *Book) judgeLate(d *docket, q *quota) (done bool, err error) {
	if !d.unjudged() {
		return true, nil
	}
	c, done, err := b.question(d, q, func(s *jobs.Seat) bool { return s.Mark == jobs.Unjudged })
	if err != nil || !done {
		return done, err
	}
	v := judge.Late(c, judged(d.job.Outcome), d.job.LateKey)
	q.giveBack(v.Steps)
	if err := b.gradeAll(d, c, v); err != nil {
		return true, err
	}
	b.put(d)
	b.awaitEnd(d)
	return true, nil
}
