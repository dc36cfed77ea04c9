//spec:implements entitlements 7, 7.1

package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
)

// Spawn implements host.Messages. The child's creator is the actor: nobody else
// can take its address, and what it may do is within what the actor may pass on
// (entitlements §7, §9.1). One that is there and non-executable gets another
// manifest (§9.11), as its creator's transaction would give it: it is no new child.
func (f *frame) Spawn(s host.Spawn) (chain.Address, error) {
	if err := f.changes(); err != nil {
		return chain.Address{}, err
	}
	if f.msg.Depth+1 > f.run.block.Params.Actor.CallDepth {
		return chain.Address{}, &host.Refusal{Code: host.RefusedReentrancy, Text: "calls are nested too deep"}
	}
	if _, err := f.need(manifest.Spawn); err != nil {
		return chain.Address{}, err
	}
	grants, err := f.inherited(s.Entitlements)
	if err != nil {
		return chain.Address{}, err
	}
	d := &Deployment{Creator: f.env.Self, Parent: f.env.Self, Source: s.Source, Salt: s.Salt, Value: chain.Wei(s.Value)}
	if s.Init != nil {
		d.Init = &Init{Handler: "init", Payload: s.Init}
	}
	p, err := f.sourceOf(d)
	if err != nil {
		return chain.Address{}, err
	}
	addr := AddressOf(d.Creator, d.Salt, d.Source)
	v, err := f.bear(d, addr, p, grants)
	if err != nil {
		return addr, err
	}
	f.machine.ChargeCalled(code.Cycles(v.used))
	switch v.code {
	case chain.CodeOK:
		return addr, nil
	case chain.CodeCellsExhausted: // a limit of the run, not of the child
		return addr, &Trap{v.code, "cells limit reached in a spawned actor"}
	}
	return addr, &host.Refusal{Code: host.RefusedFailed, Text: "the spawned actor failed: " + chain.CodeName(v.code)}
}

// countChild counts a child against exec.spawn's max_children.
func (f *frame) countChild() error {
	l, err := ReadQuota(f.run.state, f.env.Self)
	if err != nil {
		return err
	}
	if err := f.maySpawn(l.Spawned); err != nil {
		return err
	}
	l.Spawned++
	WriteQuota(f.run.state, f.env.Self, l)
	return nil
}

// inherited returns the list of grants of a child that asks for a list, nil for
// all that may be passed on.
func (f *frame) inherited(list []byte) ([]byte, error) {
	p, h := f.run.block.Params, f.run.block.Height
	var asked manifest.Grants
	if list != nil {
		if err := f.run.block.fitsManifest(list); err != nil {
			return nil, err
		}
		var err error
		if asked, err = manifest.Parse(list); err == nil {
			err = asked.Check(p, h)
		}
		if err != nil {
			return nil, &host.Refusal{Code: host.RefusedArgument, Text: "entitlements: " + err.Error()}
		}
		if asked == nil {
			asked = manifest.Grants{}
		}
	}
	grants, err := manifest.Inherit(f.grants, asked, p)
	var e *manifest.Error
	if errors.As(err, &e) {
		return nil, &host.Refusal{Code: host.RefusedEntitlement, Text: e.Error()}
	}
	if err != nil {
		return nil, err
	}
	out := grants.Append(nil)
	f.machine.Charge(code.Cycles(f.run.block.manifestCycles(len(out))))
	return out, f.run.block.fitsManifest(out)
}

// sourceOf returns the compiled source of a child, by default the actor's own.
// Its bytes were charged with the call, those of the actor's own are here.
func (f *frame) sourceOf(d *Deployment) (*pvm.Program, error) {
	charged := f.run.block.costs.DeployByte * code.Cycles(len(d.Source))
	if d.Source == nil {
		own, err := f.run.state.Code(f.env.CodeHash)
		if err != nil {
			return nil, err
		}
		d.Source = own
	}
	if err := f.run.block.fitsSource(d.Source); err != nil {
		return nil, err
	}
	if byLength := f.run.block.costs.DeployByte * code.Cycles(len(d.Source)); byLength > charged {
		f.machine.Charge(byLength - charged)
		charged = byLength
	}
	return f.compile(d.Source, charged)
}

// compile compiles a source that the program gives, of whose price so much is charged.
func (f *frame) compile(source []byte, charged code.Cycles) (*pvm.Program, error) {
	left := f.machine.CyclesLeft()
	p, spent, err := f.run.block.programOf(f.run.engine, source, chain.Cycles(charged+left))
	f.run.noteFrontDefect(source, err)
	if errors.Is(err, pvm.ErrCycles) {
		f.machine.Charge(left + 1) // ends the handler
	}
	if more := code.Cycles(spent); more > charged {
		f.machine.Charge(more - charged)
	}
	if err != nil {
		return nil, &host.Refusal{Code: host.RefusedArgument, Text: "the source does not compile: " + err.Error()}
	}
	f.run.start.Warm.pay(chain.Hash(p.Hash))
	return p, nil
}

// bear writes the child, pays it and runs its body and its first message.
func (f *frame) bear(d *Deployment, addr chain.Address, p *pvm.Program, grants []byte) (ending, error) {
	r := f.run
	a, _, err := r.state.Account(addr)
	if err != nil {
		return ending{}, err
	}
	free, err := r.free(d, &a, addr)
	if err != nil {
		return ending{}, err
	}
	if !free {
		return ending{}, &host.Refusal{Code: host.RefusedArgument, Text: addr.String() + " has code: take another salt"}
	}
	if !a.HasCode() {
		if err := f.countChild(); err != nil {
			return ending{}, err
		}
	}
	if err := f.spend(uint64(d.Value)); err != nil {
		return ending{}, err
	}
	if err := money(f.debit(d.Value)); err != nil {
		return ending{}, err
	}
	if err := r.adopt(addr); err != nil {
		return ending{}, err
	}
	if v, err := r.found(d, a, addr, grants, p, 0); err != nil || v.code != chain.CodeOK {
		return v, err
	}
	e := Envelope{From: f.env.Self, To: addr, Value: d.Value, Depth: f.msg.Depth + 1, Parent: f.parent}
	if c, err := r.pay(&e); err != nil || c != chain.CodeOK {
		return refused(c, "value does not fit the actor's balance"), err
	}
	limit := min(chain.Cycles(f.machine.CyclesLeft()), r.block.Params.Actor.BlockCyclesBurst)
	return r.initialize(d, &e, p, limit)
}
