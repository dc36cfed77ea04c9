package sdk

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func messageDefs() []vm.Def {
	return []vm.Def{
		native("send", 1, "target payload handler value cycles", sendMessage),
		native("call", 2, "target method args cycles_limit value", callActor),
		native("create_deferred_tx", 2, "target handler payload height value cycles_limit cells_limit", deferMessage),
		native("emit_event", 1, "topic data", emitEvent),
		native("spawn", 1, "salt source init entitlements value", spawn),
		native("transfer", 2, "to amount", transfer),
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
		if msg.Handler, err = c.nameArg(handler, "handler"); err != nil {
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

func emitEvent(c call) (vm.Value, error) {
	topic, err := c.nameArg(0, "topic")
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

func deferMessage(c call) (vm.Value, error) {
	var d host.Deferred
	var err error
	if d.Height, err = c.unsigned(3, "height"); err != nil {
		return vm.None, err
	}
	if d.Cells, err = c.unsigned(6, "cells_limit"); err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Timer)
	if d.Message, err = c.message(2, 1, 4, 5); err != nil {
		return vm.None, err
	}
	id, err := c.s.host.Defer(d)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.hexText(id[:]), nil
}

// saltBytes is the most that a salt has.
const saltBytes = 32

func spawn(c call) (vm.Value, error) {
	var s host.Spawn
	var err error
	if s.Salt, err = c.buffer(0, saltBytes, "salt"); err != nil {
		return vm.None, err
	}
	if len(s.Salt) > saltBytes {
		return vm.None, c.m.ValueError("salt must have at most %d bytes", saltBytes)
	}
	if s.Value, err = c.unsigned(4, "value"); err != nil {
		return vm.None, err
	}
	c.m.Charge(c.s.costs.Deploy)
	if s.Source, err = c.source(1); err != nil {
		return vm.None, err
	}
	// Bounded: by two; encode pays for the values.
	for i, to := range []*[]byte{&s.Init, &s.Entitlements} {
		if c.arg(2 + i).IsNone() {
			continue
		}
		if *to, err = c.s.encode(c.m, c.arg(2+i)); err != nil {
			return vm.None, err
		}
	}
	a, err := c.s.host.Spawn(s)
	if err != nil {
		return vm.None, c.s.refuse(c.m, err)
	}
	return c.hexText(a[:]), nil
}

// source returns argument i, the text of a program, and charges for it; absent
// is nil.
func (c call) source(i int) ([]byte, error) {
	v := c.arg(i)
	if v.IsNone() {
		return nil, nil
	}
	s, ok := v.Text()
	if !ok {
		return nil, c.m.TypeError("source must be str, not %s", c.m.TypeName(v))
	}
	c.m.ChargeEach(len(s), c.s.costs.DeployByte)
	return []byte(s), nil
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
	return vm.None, c.done(c.s.host.Transfer(to, amount))
}
