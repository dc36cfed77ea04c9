package actor

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/state/rent"
)

// ending is how one handler ended.
type ending struct {
	code   uint16
	detail string
	output []byte
	used   chain.Cycles // with what is reserved for the messages it sent
	own    chain.Cycles // without
	cold   bool         // refused, as the purse does not cover the first use of the code: nothing was charged
}

func refused(code uint16, format string, args ...any) ending {
	return ending{code: code, detail: fmt.Sprintf(format, args...)}
}

// trapped is the verdict on a run that a trap has ended; false for another error.
func trapped(err error) (ending, bool) {
	var trap *Trap
	if !errors.As(err, &trap) {
		return ending{}, false
	}
	return refused(trap.Code, "%s", trap.Text), true
}

// handle pays the receiver and runs its handler with so many cycles, out of a purse
// that pays for the first use of its code as well. A handler that fails leaves nothing
// behind but its charge. The error is a fault.
func (r *Run) handle(e *Envelope, own, purse chain.Cycles) (ending, error) {
	m := r.mark()
	c, err := r.pay(e)
	if err != nil || c != chain.CodeOK {
		return refused(c, "value does not fit the receiver's balance"), err
	}
	v, err := r.runMessage(e, own, purse)
	if err != nil {
		return v, err
	}
	if v.code != chain.CodeOK {
		dropped := r.undo(m)
		v.used -= dropped
		v.output = nil
		if v.code == chain.CodeNonExecutable {
			r.warnNonExecutable(e.To)
		}
	}
	return r.drawOwn(e.To, v, m), nil
}

// drawOwn takes out of an actor's bucket what its handler has used since the mark,
// without what it has reserved for messages and what it has paid for first uses of
// code, and returns the verdict that says so.
func (r *Run) drawOwn(a chain.Address, v ending, m mark) ending {
	v.own = v.used - (r.later - m.later) - (r.loaded - m.loaded)
	// Bounded: by fanout_per_tx, 1,024, for each handler that sends; each message costs send_message.
	for i := m.queue; i < len(r.queue); i++ {
		v.own -= r.queue[i].Cycles + r.queue[i].Load
	}
	r.draw(a, v.own)
	return v
}

// runMessage finds the actor's program and runs it. A message to an account without
// code is a payment.
func (r *Run) runMessage(e *Envelope, own, purse chain.Cycles) (ending, error) {
	a, err := r.state.CodeAndMeta(e.To)
	if err != nil {
		return ending{}, err
	}
	switch {
	case !a.HasCode() && e.Handler != "":
		return refused(chain.CodeNoCode, "%s has no code", e.To), nil
	case !a.HasCode():
		return ending{}, nil
	case rent.Dormant(&a):
		return refused(chain.CodeDormant, "the storage of %s is evicted", e.To), nil
	}
	if err := ready(r.engine); err != nil {
		return ending{}, err
	}
	rec, err := r.record(e.To)
	if err != nil {
		return ending{}, err
	}
	load, covered := r.chargeFirstUse(a.CodeHash, rec, purse)
	if !covered {
		v := refused(chain.CodeCyclesExhausted, "the first use of the code of %s in a block costs %d cycles", e.To, rec.Load)
		v.cold = true
		return v, nil
	}
	cycles, entry := min(own, purse-load), r.block.entryCycles(rec)
	if entry > cycles {
		v := refused(chain.CodeCyclesExhausted, "the manifest of %s costs %d cycles", e.To, entry)
		v.used = load + cycles
		return v, nil
	}
	f, err := r.frame(e, &a, rec)
	if err != nil {
		return ending{}, err
	}
	if gone := f.grants.Gone(r.block.Params, r.block.Height); gone != "" {
		v := refused(chain.CodeNonExecutable, "the manifest of %s holds %s, which is gone", e.To, gone)
		v.used = load + entry
		return v, nil
	}
	p, err := r.program(a.CodeHash)
	if err != nil {
		return ending{}, err
	}
	v, err := r.execute(f, p, cycles-entry, sdk.Entry{Handler: e.Handler, Payload: e.Payload, Inside: e.From == e.To}.Deliver)
	v.used += load + entry
	return v, err
}

// record returns the record of an actor that has code: an actor without one is a
// fault.
func (r *Run) record(a chain.Address) (*Record, error) {
	rec, err := ReadRecord(r.state, a)
	if err == nil && rec == nil {
		err = fmt.Errorf("%w: %s has code and no record", ErrRecord, a)
	}
	return rec, err
}

// program returns the compiled code, which compiled when it was deployed.
func (r *Run) program(hash chain.Hash) (*pvm.Program, error) {
	if p, ok := r.engine.Cached(pvm.Hash(hash)); ok {
		return p, nil
	}
	src, err := r.state.Code(hash)
	if err != nil {
		return nil, err
	}
	p, err := r.engine.Program(src, sourceName)
	if err != nil {
		return nil, fmt.Errorf("deployed code %s does not compile: %w", hash, err)
	}
	return p, nil
}

// sourceName is an actor's file in tracebacks.
const sourceName = "actor.py"

// execute runs fn in a clean machine into which the program was loaded, and charges what
// that took.
func (r *Run) execute(f *frame, p *pvm.Program, cycles chain.Cycles, fn func(*vm.Machine) ([]byte, error)) (v ending, err error) {
	a, err := r.engine.Call(&pvm.Call{
		Program: p, Host: f, Costs: r.block.costs, Limits: r.block.limits, Imports: r.block.imports,
		Cycles: code.Cycles(min(cycles, maxCycles)), Item: code.Cycles(r.block.Params.API.EntryItemCycles),
		Memory: int64(r.block.Params.Actor.MemoryPerCallBytes), Brief: !r.start.Explain || f.msg.Depth > 0,
	}, fn)
	v.output, v.used = a.Output, chain.Cycles(a.Cycles)
	switch {
	case err != nil:
		r.noteDefect(f, p, cycles, err)
		if v.code, v.detail, err = judge(err); err != nil {
			return v, err
		}
	case a.Failed:
		v.code, v.detail = raised(a.Raised), a.Traceback
	}
	return v, r.chargeCells(a.Scratch, &v)
}

// noteDefect keeps what is needed to look at a defect of the machine: the
// verdict is the same on every node, the dump is for those who mend it. What the
// handler asked of the chain is not in it.
func (r *Run) noteDefect(f *frame, p *pvm.Program, cycles chain.Cycles, err error) {
	var a *vm.Abort
	if !errors.As(err, &a) || a.Code != vm.Internal {
		return
	}
	r.defects = append(r.defects, pvm.Dump{
		File: sourceName, CodeHash: p.Hash, Entry: f.msg.Handler, Args: append(cbor.AppendArray(nil, 1), f.msg.Payload...),
		Cycles: code.Cycles(min(cycles, maxCycles)), Panic: a.Detail, Stack: a.Stack,
	})
}

// maxCycles is the most that a machine counts.
const maxCycles = 1 << 62

// chargeCells charges the cells of a handler's scratch files and of its answer.
func (r *Run) chargeCells(scratch int, v *ending) error {
	cells := uint64(scratch)
	if v.code == chain.CodeOK {
		cells += uint64(len(v.output)) * uint64(r.block.Params.API.ReturnByteCells)
	}
	var trap *Trap
	if errors.As(r.takeCells(cells), &trap) && v.code == chain.CodeOK {
		v.code, v.detail = trap.Code, trap.Text
	}
	return nil
}

// judge turns the end of a call by the machine into a verdict; what is none is a
// fault.
func judge(err error) (uint16, string, error) {
	var a *vm.Abort
	if !errors.As(err, &a) {
		return 0, "", err
	}
	switch a.Code {
	case vm.OutOfCycles:
		return chain.CodeCyclesExhausted, "cycles used up", nil
	case vm.OutOfMemory:
		return chain.CodeMemoryExceeded, "heap limit exceeded", nil
	case vm.Internal:
		return chain.CodeVMInternal, a.Error(), nil
	}
	var trap *Trap
	if errors.As(a.Err, &trap) {
		return trap.Code, trap.Text, nil
	}
	return 0, "", a.Err
}

// raised is the code of an exception that nobody caught.
func raised(class string) uint16 {
	switch class {
	case "UnknownHandler":
		return chain.CodeNoHandler
	case "PermissionDenied":
		return chain.CodeNotCallable
	}
	return chain.CodeReverted
}

// callID names one call of the chain.
func (r *Run) callID() chain.Hash {
	r.calls++
	return keccak.Sum256([]byte("cowboy-call-v1"), r.start.ID[:], binary.BigEndian.AppendUint64(nil, r.calls))
}
