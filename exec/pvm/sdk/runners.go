package sdk

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func runnerDefs() []vm.Def {
	return []vm.Def{
		native("submit_job", 1, "spec handler", submitJob),
		native("cancel_job", 1, "job_id", cancelJob),
		native("job_status", 1, "job_id", jobStatus),
		native("job_result", 1, "job_id", jobResult),
		native("store_secret", 2, "key value access_policy", storeSecret),
		native("delete_secret", 1, "key", deleteSecret),
	}
}

// jobSpec encodes a specification: what leaves the chain has no objects, no NaN
// and no infinities (resolution 11.45).
func (c call) jobSpec(v vm.Value) ([]byte, error) {
	if v.Kind() != vm.KindDict {
		return nil, c.m.TypeError("a job specification must be dict, not %s", c.m.TypeName(v))
	}
	p := c.s.limits.Value
	p.Finite, p.NoObjects = true, true
	return values.Append(c.m, nil, v, p)
}

func submitJob(c call) (vm.Value, error) {
	c.m.Charge(c.s.costs.Job)
	spec, err := c.jobSpec(c.arg(0))
	if err != nil {
		return vm.None, err
	}
	job := host.Job{Spec: spec, Correlation: c.s.nextID()}
	if !c.arg(1).IsNone() {
		if job.Handler, err = c.nameArg(1, "handler"); err != nil {
			return vm.None, err
		}
	}
	id, err := c.s.host.SubmitJob(job)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.hexText(id[:]), nil
}

func cancelJob(c call) (vm.Value, error) {
	id, err := c.id(0)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Job)
	return c.truth(c.s.host.CancelJob(id))
}

func jobStatus(c call) (vm.Value, error) {
	id, err := c.id(0)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.BlockInfo)
	state, err := c.s.host.JobStatus(id)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.m.NewStr(state.String()), nil
}

// jobResult answers the format of what a job came to, and its bytes.
func jobResult(c call) (vm.Value, error) {
	id, err := c.id(0)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.StorageRead)
	out, err := c.s.host.JobResult(id, func(bytes int) { c.m.ChargeEach(bytes, c.s.costs.ReadByte) })
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	data := c.m.NewBytes(string(out.Data))
	defer c.m.Release(c.m.Hold(data))
	return c.m.NewTuple([]vm.Value{c.m.NewStr(string(out.Format)), data}), nil
}

// storeSecret takes what the actor's owner has sealed, as bytes or as text.
func storeSecret(c call) (vm.Value, error) {
	var s host.Secret
	var err error
	if s.Name, err = c.nameArg(0, "key"); err != nil {
		return vm.None, err
	}
	sealed := c.arg(1)
	text, isText := sealed.Text()
	n := max(len(text), sealed.BytesLen())
	switch {
	case n > c.s.limits.Value.Bytes:
		return vm.None, c.m.ValueError("value must have at most %d bytes", c.s.limits.Value.Bytes)
	case !isText && !sealed.IsBytes():
		_, err := c.buffer(1, 0, "value") // says so
		return vm.None, err
	}
	if !c.arg(2).IsNone() {
		if s.Policy, err = c.s.encode(c.m, c.arg(2)); err != nil {
			return vm.None, err
		}
	}
	c.m.Charge(c.s.costs.System)
	c.m.ChargeEach(len(s.Name)+n+len(s.Policy), c.s.costs.WriteByte)
	if s.Sealed = []byte(text); !isText {
		if s.Sealed, err = c.buffer(1, n, "value"); err != nil {
			return vm.None, err
		}
	}
	return vm.None, c.done(c.s.host.StoreSecret(s))
}

func deleteSecret(c call) (vm.Value, error) {
	name, err := c.nameArg(0, "key")
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.System)
	return c.truth(c.s.host.DeleteSecret(name))
}
