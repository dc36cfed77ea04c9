package results

import (
	"encoding/binary"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// outcomes are those of a judge, as a job has them.
var outcomes = [...]jobs.Outcome{
	judge.Agreed: jobs.OK, judge.Impossible: jobs.Impossible, judge.ActorFault: jobs.ActorFault, judge.External: jobs.External,
	judge.NoAgreement: jobs.NoAgreement, judge.Rejected: jobs.NoAgreement,
}

// judged is the outcome of a job, as the judge has it; Undecided for one that no judge gives.
func judged(o jobs.Outcome) judge.Outcome {
	// Bounded: by the outcomes of a judge.
	if i := slices.Index(outcomes[:], o); i > 0 {
		return judge.Outcome(i)
	}
	return judge.Undecided
}

// closeWith gives a job the outcome that a threshold of its results agree on, or that of results
// that are all in and do not agree. What they agree on and its verifier rejects is no agreement
// for who asked, and yet work that was done, and so are results enough that differ: they are
// marked, and settlement pays them a share (ADR 221, 228). Nobody is blamed for differing
// (resolution 12.28).
func (b *Book) closeWith(d *docket, c *judge.Question, v *judge.Decision) error {
	d.job.Outcome = outcomes[v.Outcome]
	if d.job.Outcome == jobs.OK {
		if err := b.readCanonical(d, c, v); err != nil {
			return err
		}
		if llm, ok := c.Spec.JobType.(*chain.LLMJob); ok {
			d.job.Model = llm.ModelID
		}
		d.job.CanonicalSeat, d.job.DataHash, d.job.LateKey = v.Canonical, keccak.Sum256(v.Data), v.Key
		d.job.Backed = v.Backed
	}
	if err := b.gradeAll(d, c, v); err != nil {
		return err
	}
	if d.job.Outcome == jobs.OK {
		b.remember(d.job, d.seats[v.Seats[0]].Runner)
	}
	return b.close(d, c, v.Data)
}

// readCanonical reads the result of a verdict where it was found before.
func (b *Book) readCanonical(d *docket, c *judge.Question, v *judge.Decision) error {
	// Bounded: by the seats of a job.
	for i := range c.Outputs {
		if c.Outputs[i].Seat != v.Canonical || c.Outputs[i].Found == nil {
			continue
		}
		r, err := b.body(d, int(v.Canonical))
		if err != nil {
			return err
		}
		v.Data = r.Data
	}
	return nil
}

// gradeAll marks the seats whose results were judged, and slashes those that failed what the
// job declares.
func (b *Book) gradeAll(d *docket, c *judge.Question, v *judge.Decision) error {
	if err := b.freezeFaults(d, v.Faults); err != nil {
		return err
	}
	// Bounded: by the seats of a job.
	for i := range c.Outputs {
		o := &c.Outputs[i]
		// Bounded: by the seats of a job.
		if err := b.grade(d, o, slices.Contains(v.Seats, o.Seat)); err != nil {
			return err
		}
	}
	return nil
}

// grade says whether a result agrees with the outcome of its job, and what it earns then.
func (b *Book) grade(d *docket, o *judge.Output, agrees bool) error {
	s := d.seats[o.Seat]
	switch {
	case agrees:
		s.Mark, s.Cost = jobs.Agrees, b.earned(d.job, s, o.Result)
	case d.job.Outcome == jobs.OK:
		s.Mark = jobs.Differs
		return b.Runners.Disagreed(s.Runner)
	default:
		s.Mark = jobs.Void // reports of failures move no reputation (resolution 12.52), nor does what was rejected
	}
	return nil
}

// void marks all results of the attempt as void.
func (d *docket) void() {
	// Bounded: by the seats of a job.
	for _, s := range d.seats {
		if s.Reveal != nil {
			s.Mark = jobs.Void
		}
	}
}

// freezeFaults slashes the seats whose results fail what the job declares, until it is
// settled (resolutions 12.44, 12.81). Where nothing is agreed, that is what costs them
// reputation.
func (b *Book) freezeFaults(d *docket, faults []judge.Fault) error {
	// Bounded: by the seats of a job.
	for _, f := range faults {
		s := d.seats[f.Seat]
		if err := b.freeze(s, b.Jobs.Params.Runner.SlashGarbageBasisPoints); err != nil {
			return err
		}
		if d.job.Outcome != jobs.OK {
			if err := b.Runners.Disagreed(s.Runner); err != nil {
				return err
			}
		}
	}
	return nil
}

// freeze slashes the runner of a seat. Faults of one result do not add up: what is frozen
// already stays all.
func (b *Book) freeze(s *jobs.Seat, basisPoints uint64) error {
	if s.Frozen > 0 {
		return nil
	}
	frozen, err := b.Runners.Freeze(s.Runner, basisPoints)
	s.Frozen = frozen
	return err
}

// close opens the window of a job whose outcome is known, and tells who asked.
func (b *Book) close(d *docket, c *judge.Question, data []byte) error {
	j, h := d.job, b.Jobs.Height
	if err := b.silenceLate(d); err != nil {
		return err
	}
	j.Phase, j.VerdictAt = jobs.Closing, h
	window := c.Spec.Verification.DisputeWindowBlocks
	if window == 0 {
		window = b.Jobs.Params.Job.ChallengeWindowBlocks
	}
	if j.WindowEnd = h + chain.Height(window); j.WindowEnd < h {
		j.WindowEnd = ^chain.Height(0)
	}
	b.Jobs.State.SetStorage(chain.AddrJobDispatcher, jobs.AtKey(jobs.TableLive, j.SubmittedAt, d.id), nil)
	b.Jobs.State.SetStorage(chain.AddrJobDispatcher, jobs.EligibleKey(d.id), nil)
	b.put(d)
	if err := b.awaitEnd(d); err != nil {
		return err
	}
	b.tellVerdict(d)
	return b.tellSubmitter(d, c.Spec, c.Terms, data)
}

// awaitEnd schedules what comes next to a job that closes: the deadline as long as a result
// may come, then the end of its window. The error is a fault.
func (b *Book) awaitEnd(d *docket) error {
	j, h := d.job, b.Jobs.Height
	if !d.allIn(h) {
		b.Jobs.Schedule(d.id, j, max(j.Deadline, h), jobs.AtDeadline)
		return nil
	}
	b.dropBodies(d)
	if err := b.Jobs.TakeBack(j); err != nil {
		return err
	}
	b.Jobs.Schedule(d.id, j, max(j.WindowEnd, h), jobs.AtWindowEnd)
	return nil
}

// remember notes which runner succeeded last for a submitter in a kind of job (CIP-11
// §9.4): the first of those that agree, in the order of the committee.
func (b *Book) remember(j *jobs.Job, runner chain.Address) {
	row := binary.BigEndian.AppendUint64(runner[:], uint64(b.Jobs.Height))
	b.Jobs.State.SetStorage(chain.AddrJobDispatcher, jobs.LatestKey(j.Submitter, j.Kind), row)
}
