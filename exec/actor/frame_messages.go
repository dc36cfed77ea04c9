package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
)

// envelope takes the value of a message out of the actor's balance.
func (f *frame) envelope(m *host.Message) (Envelope, error) {
	e := Envelope{
		From: f.env.Self, To: m.To, Handler: m.Handler, Payload: m.Payload, Value: chain.Wei(m.Value),
		Cycles: chain.Cycles(m.Cycles), Depth: f.msg.Depth + 1, Parent: f.parent,
	}
	if m.Cycles == 0 {
		e.Cycles = f.run.block.Params.Actor.MessageReserveCycles
	}
	if err := checkText(m.Handler); err != nil {
		return e, err
	}
	if m.To.IsSystem() {
		return e, &host.Refusal{Code: host.RefusedTarget, Text: "a system actor takes no messages"}
	}
	if err := f.changes(); err != nil && m.Value > 0 {
		return e, err
	}
	if err := f.spend(m.Value); err != nil {
		return e, err
	}
	return e, f.debit(e.Value)
}

// Send implements host.Messages.
func (f *frame) Send(m host.Message) (host.ID, error) {
	if err := f.changes(); err != nil {
		return host.ID{}, err
	}
	if m.To == chain.AddrJobDispatcher && m.Handler == "" {
		return f.sendJob(&m)
	}
	if f.run.sent >= f.run.block.Params.Actor.FanoutPerTx {
		return host.ID{}, &host.Refusal{Code: host.RefusedLimit, Text: "the transaction sends no more messages"}
	}
	if err := f.run.takeCells(uint64(len(m.Payload)) + uint64(f.run.block.Params.API.DeliveryCells)); err != nil {
		return host.ID{}, err
	}
	e, err := f.envelope(&m)
	if err != nil {
		return host.ID{}, err
	}
	if err := f.reserve(&e); err != nil {
		return host.ID{}, err
	}
	if e.Nonce, err = f.nextNonce(); err != nil {
		return host.ID{}, err
	}
	e.ID = MessageID(e.From, e.Nonce, e.hash())
	f.run.sent++
	f.run.queue = append(f.run.queue, e)
	return host.ID(e.ID), nil
}

// sendJob takes a message to the dispatcher for the job that its payload asks for: the
// first example of the whitepaper (resolution 12.58). The dictionary names who answers.
func (f *frame) sendJob(m *host.Message) (host.ID, error) {
	if m.Value > 0 {
		return host.ID{}, &host.Refusal{Code: host.RefusedArgument, Text: "a job takes its price out of the balance: send no value"}
	}
	return f.SubmitJob(host.Job{Spec: m.Payload})
}

// reserve charges what a message may use, and what the first use of its receiver's
// code costs, unless the block has used that before or another message on its way
// will.
func (f *frame) reserve(e *Envelope) (err error) {
	if e.Code, e.Load, err = f.run.block.FirstUse(f.run.state, e.From, e.To); err != nil {
		return err
	}
	if e.Load > 0 && (f.run.start.Warm.has(e.Code) || f.run.willLoad(e.Code)) {
		e.Load = 0
	}
	left := chain.Cycles(f.machine.CyclesLeft())
	if e.Cycles > left || e.Load > left-e.Cycles {
		return &Trap{chain.CodeCyclesExhausted, "cycles left do not cover what the message reserves"}
	}
	f.machine.ChargeReserved(code.Cycles(e.Cycles + e.Load))
	return nil
}

// Call implements host.Messages. The cycles that it names are all it costs: of these
// the first use of the called code comes first, and is refused where they do not cover
// it. Where none are named, it comes on top, up to actor_limits.load_cycles.
func (f *frame) Call(m host.Message) ([]byte, error) {
	if f.msg.Depth+1 > f.run.block.Params.Actor.CallDepth {
		return nil, &host.Refusal{Code: host.RefusedReentrancy, Text: "calls are nested too deep"}
	}
	e, err := f.envelope(&m)
	if err != nil {
		return nil, err
	}
	left := chain.Cycles(f.machine.CyclesLeft())
	l, err := f.run.quota(e.To)
	if err != nil {
		return nil, err
	}
	most := e.Cycles
	if m.Cycles == 0 {
		most += f.run.block.Params.Actor.LoadCycles
	}
	v, err := f.run.handle(&e, min(e.Cycles, l.Left(&f.run.block.Params.Actor, f.run.block.Height)), min(left, most))
	if err != nil {
		return nil, err
	}
	f.machine.ChargeCalled(code.Cycles(v.used))
	if v.code == chain.CodeOK {
		return v.output, nil
	}
	if err := f.run.credit(e.From, e.Value); err != nil {
		return nil, err
	}
	if v.code == chain.CodeCellsExhausted { // a limit of the run, not of the call
		return nil, &Trap{v.code, "cells limit reached in a called handler"}
	}
	if v.cold {
		return nil, &host.Refusal{Code: host.RefusedLimit, Text: v.detail}
	}
	return nil, &host.Refusal{Code: refusalOf(v.code), Text: "the called handler failed: " + chain.CodeName(v.code)}
}

func refusalOf(code uint16) string {
	switch code {
	case chain.CodeNoCode:
		return host.RefusedTarget
	case chain.CodeNoHandler:
		return host.RefusedHandler
	case chain.CodeNotCallable:
		return host.RefusedPermission
	case chain.CodeDormant, chain.CodeNonExecutable:
		return host.RefusedDormant
	}
	return host.RefusedFailed
}
