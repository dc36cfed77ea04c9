package sdk

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func messageDefs() []vm.Def {
	return []vm.Def{
		native("send", 1, "target payload handler value cycles", sendMessage),
		native("call", 2, "target method args cycles_limit value", callActor),
		native("set_timer", 2, "height handler data gba", setTimer),
		native("set_interval", 2, "every_n_blocks handler data gba", setInterval),
		native("cancel_timer", 1, "timer_id", cancelTimer),
		native("emit_event", 1, "topic data", emitEvent),
		native("submit_job", 1, "spec handler", submitJob),
		native("transfer", 2, "to amount", transfer),
		native("system", 1, "operation arguments", system),
	}
}

// message reads target, payload, handler, value and cycles by their positions.
func (c call) message(payload, handler, value, cycles int) (host.Message, error) {
	var msg host.Message
	var err error
	if msg.To, err = c.address(0); err != nil {
		return msg, err
	}
	if !c.arg(handler).IsNone() {
		if msg.Handler, err = c.name(handler, "handler"); err != nil {
			return msg, err
		}
	}
	if msg.Value, err = c.unsigned(value, "value"); err != nil {
		return msg, err
	}
	if msg.Cycles, err = c.unsigned(cycles, "cycles"); err != nil {
		return msg, err
	}
	c.m.Charge(c.s.costs.Send)
	msg.Payload, err = c.s.encode(c.m, c.arg(payload))
	return msg, err
}

func sendMessage(c call) (vm.Value, error) {
	msg, err := c.message(1, 2, 3, 4)
	if err != nil {
		return vm.None, err
	}
	id, err := c.s.host.Send(msg)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.hexText(id[:]), nil
}

func callActor(c call) (vm.Value, error) {
	msg, err := c.message(2, 1, 4, 3)
	if err != nil {
		return vm.None, err
	}
	if err := c.m.Enter(); err != nil {
		return vm.None, err
	}
	answer, err := c.s.host.Call(msg)
	c.m.Exit()
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.s.decode(c.m, answer)
}

func setTimer(c call) (vm.Value, error) {
	height, err := c.unsigned(0, "height")
	if err != nil {
		return vm.None, err
	}
	return c.timer(host.Timer{Height: height})
}

func setInterval(c call) (vm.Value, error) {
	every, err := c.unsigned(0, "every_n_blocks")
	if err != nil {
		return vm.None, err
	}
	if every == 0 {
		return vm.None, c.m.ValueError("every_n_blocks must be at least 1")
	}
	return c.timer(host.Timer{Every: every})
}

func (c call) timer(t host.Timer) (vm.Value, error) {
	var err error
	if t.Handler, err = c.name(1, "handler"); err != nil {
		return vm.None, err
	}
	if !c.arg(3).IsNone() {
		a, err := c.address(3)
		if err != nil {
			return vm.None, err
		}
		t.Bidder = &a
	}
	c.m.Charge(c.s.costs.Timer)
	if t.Data, err = c.s.encode(c.m, c.arg(2)); err != nil {
		return vm.None, err
	}
	id, err := c.s.host.SetTimer(t)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.hexText(id[:]), nil
}

func cancelTimer(c call) (vm.Value, error) {
	id, err := c.id(0)
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Timer)
	ok, err := c.s.host.CancelTimer(id)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return vm.Bool(ok), nil
}

func emitEvent(c call) (vm.Value, error) {
	topic, err := c.name(0, "topic")
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Event)
	data, err := c.s.encode(c.m, c.arg(1))
	if err != nil {
		return vm.None, err
	}
	c.m.ChargeEach(len(topic)+len(data), c.s.costs.EventByte)
	if err := c.s.host.EmitEvent(topic, data); err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return vm.None, nil
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
		if job.Handler, err = c.name(1, "handler"); err != nil {
			return vm.None, err
		}
	}
	id, err := c.s.host.SubmitJob(job)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.hexText(id[:]), nil
}

func transfer(c call) (vm.Value, error) {
	to, err := c.address(0)
	if err != nil {
		return vm.None, err
	}
	amount, err := c.unsigned(1, "amount")
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Send)
	if err := c.s.host.Transfer(to, amount); err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return vm.None, nil
}

// system performs an operation of a system actor; its arguments are a list.
func system(c call) (vm.Value, error) {
	op, err := c.name(0, "operation")
	if err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.SystemCost(op))
	args, err := c.s.encode(c.m, c.arg(1))
	if err != nil {
		return vm.None, err
	}
	if op == "blob_commit" {
		c.m.ChargeEach((len(args)+1023)/1024, c.s.costs.BlobKiB)
	}
	answer, err := c.s.host.System(op, args)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.s.decode(c.m, answer)
}
