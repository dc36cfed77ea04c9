//spec:implements CIP-2 3

package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs/ask"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// jobs runs an operation of the actor's on the dispatcher.
func (f *frame) jobs(do func(c *jobs.Call) error) error {
	return f.serve(func(c *service.Call) error { return do(&jobs.Call{Call: c, Rules: &f.run.block.JobRules}) })
}

// SubmitJob implements host.Runners. The dictionary is brought into the one form that a job
// has; the gate of entitlements judges that form, and the dispatcher takes it.
func (f *frame) SubmitJob(j host.Job) (id host.ID, err error) {
	if err := checkText(j.Handler); err != nil {
		return host.ID{}, err
	}
	err = f.jobs(func(c *jobs.Call) error {
		api := &c.Params.API
		price := c.Params.Intrinsic.JobSubmitCycles + chain.Cycles(len(j.Spec))*api.ManifestByteCycles
		if err := c.Run.Take(chain.Usage{Cycles: price}); err != nil {
			return err
		}
		made, err := f.nextJob()
		if err != nil {
			return err
		}
		id = host.ID(made)
		by := ask.Caller{Actor: f.env.Self, Handler: j.Handler, Correlation: made.String(), Resumes: j.Handler == sdk.ResumeHandler}
		if j.Correlation != (host.ID{}) {
			by.Correlation = chain.Hash(j.Correlation).String()
		}
		asked, err := ask.Read(j.Spec, &by, c.Params)
		if err != nil {
			return &host.Refusal{Code: host.RefusedArgument, Text: "the job: " + err.Error()}
		}
		if err := f.mayAsk(asked); err != nil {
			return err
		}
		c.Required = f.grants.Attested(c.Params)
		return c.SubmitFor(made, &asked.Spec, &asked.Terms)
	})
	return id, err
}

// nextJob numbers a job of the actor (resolutions 5.18, 11.36).
func (f *frame) nextJob() (chain.Hash, error) {
	l, err := ReadQuota(f.run.state, f.env.Self)
	if err != nil {
		return chain.Hash{}, err
	}
	id := chain.ActorJobID(f.env.Self, l.Jobs, f.run.block.Height)
	l.Jobs++
	WriteQuota(f.run.state, f.env.Self, l)
	return id, nil
}

// CancelJob implements host.Runners.
func (f *frame) CancelJob(id host.ID) (bool, error) {
	err := f.jobs(func(c *jobs.Call) error {
		if err := c.Run.Take(jobs.CancelPrice(c.Params)); err != nil {
			return err
		}
		return c.Cancel(chain.Hash(id))
	})
	var refusal *host.Refusal
	if errors.As(err, &refusal) && (refusal.Code == host.RefusedTarget || refusal.Code == host.RefusedPermission || refusal.Code == host.RefusedArgument) {
		return false, nil
	}
	return err == nil, err
}

// JobStatus implements host.Runners.
func (f *frame) JobStatus(id host.ID) (host.JobState, error) {
	f.machine.ChargeEach(1, f.run.block.costs.StorageRead)
	j, err := jobs.Read(f.run.state, chain.Hash(id))
	if err != nil || j == nil {
		return host.JobUnknown, err
	}
	return stateOf(j), nil
}

// stateOf is what programs see of a job (resolution 12.55; market table §13).
func stateOf(j *jobs.Job) host.JobState {
	switch {
	case j.Phase == jobs.Fresh, j.Phase == jobs.Pending:
		return host.JobPending
	case j.Phase == jobs.Assigned:
		return host.JobAssigned
	case j.Outcome == jobs.OK:
		return host.JobDone
	case j.Outcome == jobs.Cancelled:
		return host.JobCancelled
	}
	return host.JobFailed
}

// errNothingKept refuses to hand out what is not kept, or for another actor.
var errNothingKept = &host.Refusal{Code: host.RefusedTarget, Text: "no result of that job is kept for the actor"}

// JobResult implements host.Runners (market table §13). Who asks for another's pays for the
// look at it.
func (f *frame) JobResult(id host.ID, pay func(bytes int)) (host.JobOutput, error) {
	kept, err := jobs.ReadKept(f.run.state, chain.Hash(id))
	if err != nil {
		return host.JobOutput{}, err
	}
	if kept == nil {
		return host.JobOutput{}, errNothingKept
	}
	pay(len(kept.Data))
	if err := f.readCells(len(kept.Data)); err != nil {
		return host.JobOutput{}, err
	}
	if kept.To != f.env.Self {
		return host.JobOutput{}, errNothingKept
	}
	return host.JobOutput{Format: kept.Format, Data: kept.Data}, nil
}

// errNoSecrets refuses what keeps secrets for runners, so that a program can tell.
var errNoSecrets = &host.Refusal{Code: host.RefusedTarget, Text: "this chain keeps no secrets for runners yet"}

// StoreSecret implements host.Runners by a refusal.
func (f *frame) StoreSecret(host.Secret) error { return errNoSecrets }

// DeleteSecret implements host.Runners by a refusal.
func (f *frame) DeleteSecret(string) (bool, error) { return false, errNoSecrets }
