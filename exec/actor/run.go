package actor

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// Start is what a run begins with.
type Start struct {
	Origin   chain.Address // account that the run is for: the transaction's sender, the timer's owner
	ID       chain.Hash    // of the transaction, the message or the firing; distinct on the chain
	Cycles   chain.Cycles  // limits, less what was charged before the run
	Cells    chain.Cells   //
	ReadOnly bool          // whatever would change the state is refused
	Load     chain.Cycles  // of Cycles, what is there for first uses of code alone: the first handler may use the rest
	Warm     *Warm         // the code that the block has used; nil: none
	Explain  bool          // somebody reads where the first handler failed: in no block
}

// Outcome is what a run did.
type Outcome struct {
	Code   uint16 // chain.CodeOK, or why all was undone
	Detail string // of a failure, for logs and RPC; no consensus
	Used   chain.Usage
	Burned chain.Wei // besides the fees: what timers and rent cost
	Output []byte    // canonical answer of the first handler
	Events []chain.Event
	Trace  []chain.Delivery
	Actor  chain.Address // that a deployment made

	Defects []pvm.Dump // of handlers that a defect of the machine ended; for people, no consensus
}

// Run shares one pair of limits between handlers. It is used once.
type Run struct {
	block  *Block
	state  *state.Overlay
	engine *pvm.Engine
	start  Start

	loaded  chain.Cycles // paid for first uses of code
	cycles  chain.Cycles // left, less what is reserved for the messages in the queue
	cells   chain.Cells  // used
	later   chain.Cycles // charged for runs in later blocks
	calls   uint64       // handlers begun
	sent    uint64       // messages sent (whitepaper §3.3: fan-out)
	burned  chain.Wei
	events  []chain.Event
	trace   []chain.Delivery
	defects []pvm.Dump
	queue   []Envelope // of this run, the first next of them delivered
	next    int
	held    holdings
	draws   draws
	spelled chain.Hash // of the source that stood in the payload
	weighed bool       // what the run adds to the state is not for it to charge
	fault   error      // that nothing could return when it was met
}

// NewRun begins a run on an overlay.
func NewRun(b *Block, o *state.Overlay, e *pvm.Engine, s Start) *Run {
	if s.Warm == nil {
		s.Warm = NewWarm(nil)
	}
	return &Run{block: b, state: o, engine: e, start: s, cycles: s.Cycles}
}

// mark is a place to which a handler that fails takes the run back. What was
// charged stays charged, for loading as well.
type mark struct {
	state, events, queue int
	held                 holdingsMark
	burned               chain.Wei
	later, loaded        chain.Cycles
}

func (r *Run) mark() mark {
	return mark{r.state.Snapshot(), len(r.events), len(r.queue), r.held.mark(), r.burned, r.later, r.loaded}
}

// undo takes back everything since the mark and returns the cycles that were
// reserved for messages which are not sent any more.
func (r *Run) undo(m mark) (reserved chain.Cycles) {
	r.state.Revert(m.state)
	r.events, r.burned = r.events[:m.events], m.burned
	r.held.undo(m.held)
	reserved, r.later = r.later-m.later, m.later
	// Paid: by send_message for each, dropped once.
	for i := m.queue; i < len(r.queue); i++ {
		reserved += r.queue[i].Cycles + r.queue[i].Load
		r.queue[i] = Envelope{}
	}
	r.queue = r.queue[:m.queue]
	return reserved
}

// takeCells charges cells, or ends the handler.
func (r *Run) takeCells(n uint64) error {
	left := uint64(r.start.Cells - r.cells)
	if n > left {
		r.cells = r.start.Cells
		return &Trap{chain.CodeCellsExhausted, "cells limit reached"}
	}
	r.cells += chain.Cells(n)
	return nil
}

// First delivers a message to its handler as the first of the run, then what
// came of it. The value was taken from its sender by the caller, who gives it
// back when the code is not chain.CodeOK. The error is a fault.
func (r *Run) First(e Envelope) (Outcome, error) {
	m := r.mark()
	v, err := r.handle(&e, r.cycles-min(r.start.Load, r.cycles), r.cycles)
	if err != nil {
		return Outcome{}, err
	}
	r.cycles -= v.used
	return r.closeRun(m, v)
}

// closeRun delivers the queue and closes the run.
func (r *Run) closeRun(m mark, v ending) (Outcome, error) {
	if v.code == chain.CodeOK {
		if err := r.drain(); err != nil {
			return Outcome{}, err
		}
		code, err := r.checkHoldings()
		if err != nil {
			return Outcome{}, err
		}
		if code != chain.CodeOK {
			v = ending{code: code, detail: "balance grew without econ.hold_balance"}
			r.undo(m)
			r.failTrace(code)
		}
	}
	if err := r.writeDraws(); err != nil {
		return Outcome{}, err
	}
	v, err := r.payGrowth(m, v)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{
		Code: v.code, Detail: v.detail, Output: v.output, Events: r.events, Trace: r.trace, Defects: r.defects, Burned: r.burned,
		Used: chain.Usage{Cycles: r.start.Cycles - r.cycles, Cells: r.cells},
	}
	if v.code != chain.CodeOK {
		out.Output = nil
	}
	return out, r.fault
}

// failTrace says of messages that were delivered, or wait, that they are undone
// with the run.
func (r *Run) failTrace(code uint16) {
	// Paid: by the delivery of each, once a run.
	for i := range r.trace {
		if d := &r.trace[i]; d.Status != chain.DeliveryFailed {
			d.Status, d.Code = chain.DeliveryFailed, code
		}
	}
}
