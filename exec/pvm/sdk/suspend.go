package sdk

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Keys of storage under which suspended handlers wait: the record of each, and
// how many there are.
const (
	continuationKey   = host.ContinuationKey + ":"
	continuationCount = host.ContinuationKey + "s"
)

func continuationDefs() []vm.Def {
	return []vm.Def{
		native("suspend", 5, "name label captured spec context", suspend),
		native("suspend_group", 4, "name label captured requests", suspendGroup),
		native("group_answer", 3, "group index answer", groupAnswer),
		native("resume", 1, "correlation", resume),
		native("answer", 1, "spec", answer),
		native("wait", 1, "awaitable", func(c call) (vm.Value, error) { return c.m.Await(c.arg(0)) }),
		native("program_function", 1, "name", programFunction),
		native("exception_class", 2, "module name", exceptionClass),
		native("program_classes", 0, "", programClasses),
	}
}

// exact is the profile of records: the variables come back as they were.
func (c call) exact() values.Profile {
	p := c.s.limits.Value
	p.Exact = true
	return p
}

// suspend stores {code_hash, name, label, captured, context} and submits the job
// whose answer resumes the handler.
func suspend(c call) (vm.Value, error) {
	n, err := c.waiting()
	if err != nil {
		return vm.None, err
	}
	if n >= c.s.limits.Continuations {
		return vm.None, c.s.raise(c.m, host.RefusedLimit, "too many handlers wait for runners")
	}
	id, err := c.store(c.arg(0), c.arg(1), c.arg(2), c.arg(4))
	if err != nil {
		return vm.None, err
	}
	if err := c.setWaiting(n + 1); err != nil {
		return vm.None, err
	}
	return c.hexText(id[:]), c.ask(c.arg(3), id)
}

// store keeps {code_hash, parts} under an identifier of its own.
func (c call) store(parts ...vm.Value) (host.ID, error) {
	hash := c.m.NewBytes(string(c.s.env.CodeHash[:]))
	defer c.m.Release(c.m.Hold(hash))
	record := c.m.NewTuple(append([]vm.Value{hash}, parts...))
	data, err := values.Append(c.m, nil, record, c.exact())
	if err != nil {
		return host.ID{}, err
	}
	id := c.s.nextID()
	return id, c.write(continuationKey+string(hexDigits(id)), data)
}

// ask submits the job whose answer resumes the handler.
func (c call) ask(spec vm.Value, id host.ID) error {
	c.m.Charge(c.s.costs.Job)
	data, err := c.jobSpec(spec)
	if err != nil {
		return err
	}
	_, err = c.s.host.SubmitJob(host.Job{Spec: data, Handler: ResumeHandler, Correlation: id})
	return c.done(err)
}

// waiting returns how many handlers of the actor are suspended.
func (c call) waiting() (int, error) { return c.readCount(continuationCount) }

func (c call) setWaiting(n int) error {
	if n == 0 {
		_, err := c.remove(continuationCount)
		return err
	}
	return c.writeCount(continuationCount, n)
}

// resume takes a record out of storage and answers name, label, captured
// variables and context. A record of other code is refused: its labels are not
// this program's.
func resume(c call) (vm.Value, error) {
	id, err := c.id(0)
	if err != nil {
		return vm.None, err
	}
	key := continuationKey + string(hexDigits(id))
	data, ok, err := c.read(key)
	if err != nil {
		return vm.None, err
	}
	if !ok {
		return vm.None, c.s.raise(c.m, host.RefusedTarget, "no handler waits for this job")
	}
	v, err := values.Decode(c.m, data, c.exact())
	if err != nil {
		return vm.None, err
	}
	parts, _ := v.Items()
	if len(parts) != 5 {
		return vm.None, c.m.ValueError("malformed continuation")
	}
	if hash, _ := c.m.BytesText(parts[0]); hash != string(c.s.env.CodeHash[:]) {
		return vm.None, c.s.raise(c.m, host.RefusedTarget, "the handler that waits is of other code")
	}
	mark := c.m.Hold(v)
	if _, err := c.remove(key); err != nil {
		return vm.None, err
	}
	n, err := c.waiting()
	if err != nil {
		return vm.None, err
	}
	if err := c.setWaiting(max(n-1, 0)); err != nil {
		return vm.None, err
	}
	c.m.Release(mark)
	return c.m.NewTuple(parts[1:]), nil
}

// answer gives the answer to a job where the host has it at once.
func answer(c call) (vm.Value, error) {
	h, ok := c.s.host.(host.Answering)
	if !ok {
		return vm.None, c.m.Raise(c.m.Builtin("DeterminismError"), "await of a runner outside @runner.continuation")
	}
	c.m.Charge(c.s.costs.Job)
	spec, err := c.jobSpec(c.arg(0))
	if err != nil {
		return vm.None, err
	}
	data, err := h.Answer(host.Job{Spec: spec, Correlation: c.s.nextID()})
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.s.decode(c.m, data)
}

// programFunction answers a global function of the program, None when there is
// no such function.
func programFunction(c call) (vm.Value, error) {
	name, err := c.nameArg(0, "handler")
	if err != nil {
		return vm.None, err
	}
	v, ok := c.m.Global("__main__", name)
	if !ok || v.Kind() != vm.KindFunction {
		return vm.None, nil
	}
	return v, nil
}

// programClasses answers the classes among the program's global names, in order.
func programClasses(c call) (vm.Value, error) {
	names, ok := c.m.ModuleNames("__main__")
	d, isDict := names.Dict()
	if !ok || !isDict {
		return c.m.NewList(nil), nil
	}
	_, vals := c.m.DictItems(d)
	c.m.ChargeEach(len(vals), c.m.Prices().DictOp)
	var out []vm.Value
	// Paid: by the look-ups above, and by DictItems for holes.
	for _, v := range vals {
		if _, ok := v.Class(); ok {
			out = append(out, v)
		}
	}
	return c.m.NewList(out), nil
}

// exceptionClass answers a class by its module and name: a builtin one, one of
// the SDK or a global name of the program; None when there is no such class.
func exceptionClass(c call) (vm.Value, error) {
	module, err := c.nameArg(0, "module")
	if err != nil {
		return vm.None, err
	}
	name, err := c.nameArg(1, "class")
	if err != nil {
		return vm.None, err
	}
	v, ok := c.m.BuiltinName(name)
	switch module {
	case "builtins":
	case "__main__", "cowboy_sdk":
		v, ok = c.m.Global(module, name)
	default:
		return vm.None, nil
	}
	if _, isClass := v.Class(); !ok || !isClass {
		return vm.None, nil
	}
	return v, nil
}
