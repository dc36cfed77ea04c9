package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// Order is an instruction of a transaction.
type Order struct {
	By      chain.Address
	Value   chain.Wei       // the operation's where it takes value; it was taken from By by the caller, who gives it back when the code is not chain.CodeOK
	Payload []byte          // [opcode, args…], judged by [chain.Tx.Classify]
	Signers []chain.Address // those of the transaction
}

// Serve carries out an instruction as the first of the run, and then what its handlers
// have sent. An operation that is refused leaves nothing behind but its charge. The error
// is a fault.
func (r *Run) Serve(ins *service.Instruction, o Order) (Outcome, error) {
	m := r.mark()
	s := &serving{run: r, depth: 1, began: m.state}
	answer, err := s.instruct(ins, &o)
	v := ending{output: answer}
	if err != nil {
		var refused bool
		if v, refused = refusedWith(err); !refused {
			return Outcome{}, err
		}
		s.used -= r.undo(m)
	}
	r.cycles -= s.used
	if price := chain.Cycles(s.handled) * r.block.Params.API.StorageReadByteCycles; price > r.cycles {
		r.cycles, v = 0, refused(chain.CodeCyclesExhausted, "%d bytes of data cost %d cycles", s.handled, price)
		r.undo(m)
	} else {
		r.cycles -= price
	}
	r.weighed = ins.OwnGrowth
	return r.closeRun(m, v)
}

// instruct reads, prices and runs an instruction.
func (s *serving) instruct(ins *service.Instruction, o *Order) (answer []byte, err error) {
	if o.Value != 0 && ins.Value == service.NoValue {
		return nil, errValue
	}
	r := cbor.NewReader(o.Payload)
	if _, err := r.Array(chain.MaxTxBytes); err != nil {
		return nil, badArgument(err)
	}
	if _, err := r.Uint(); err != nil {
		return nil, badArgument(err)
	}
	var args service.Args = &r
	if ins.Read != nil {
		if args, err = ins.Read(&r); err != nil {
			return nil, badArgument(err)
		}
	}
	c := s.serviceCall(o.By, o.Value)
	c.Signers = o.Signers
	if ins.Price != nil {
		price := ins.Price(c.Params, args)
		if err := s.takeCycles(price.Cycles); err != nil {
			return nil, err
		}
		if err := s.TakeCells(uint64(price.Cells)); err != nil {
			return nil, err
		}
	}
	if answer, err = ins.Run(c, args); err == nil && o.Value != 0 && ins.Value == service.NoValueLast {
		err = errValue
	}
	return answer, err
}

var errValue = verdict.New(verdict.Argument, "the instruction takes no value")

// badArgument is the verdict on arguments that could not be read.
func badArgument(err error) error {
	if _, ok := verdict.Of(err); ok {
		return err
	}
	return verdict.New(verdict.Argument, err.Error())
}

// refusedWith is how a run ends whose operation was refused, or that the operation has
// ended; false for a fault.
func refusedWith(err error) (ending, bool) {
	if v, ok := verdict.Of(err); ok {
		return ending{code: v.Reason.Code(), detail: v.Text}, true
	}
	return trapped(err)
}

// serving is the run's part of one call of a service: [service.Run].
type serving struct {
	run    *Run
	frame  *frame       // whose host call it is; nil for an instruction
	depth  uint64       // of the handlers that it runs
	parent uint64       // of what these send
	used   chain.Cycles // that they have used, with what their messages reserve

	handled uint64 // bytes of data
	began   int    // mark of the state
}

// serve makes a call of a service for the program, which asks to change something, and
// charges what handlers use that the service runs.
func (f *frame) serve(do func(c *service.Call) error) error {
	if err := f.changes(); err != nil {
		return err
	}
	s := &serving{run: f.run, frame: f, depth: f.msg.Depth + 1, parent: f.parent}
	err := do(s.serviceCall(f.env.Self, 0))
	if s.used > 0 {
		f.machine.ChargeCalled(code.Cycles(s.used))
	}
	if s.handled > 0 {
		f.machine.ChargeEach(int(s.handled), f.run.block.costs.ReadByte)
	}
	return refusal(err)
}

// exceptions are what programs catch of verdicts.
var exceptions = [verdict.Reasons]string{
	verdict.Argument: host.RefusedArgument, verdict.Past: host.RefusedPast, verdict.TooFar: host.RefusedLimit,
	verdict.Limit: host.RefusedLimit, verdict.Depth: host.RefusedReentrancy,
	verdict.Missing: host.RefusedTarget, verdict.NotBegun: host.RefusedArgument, verdict.Exists: host.RefusedArgument,
	verdict.Forbidden: host.RefusedPermission, verdict.State: host.RefusedArgument, verdict.Proof: host.RefusedArgument, verdict.Stake: host.RefusedFunds,
	verdict.Funds: host.RefusedFunds, verdict.Reserve: host.RefusedReserve, verdict.Overflow: host.RefusedLimit, verdict.Quota: host.RefusedStorage,
	verdict.TokenBalance: host.RefusedFunds, verdict.Allowance: host.RefusedAllowance, verdict.Frozen: host.RefusedFrozen,
	verdict.Hook: host.RefusedFailed, verdict.Cycles: host.RefusedLimit,
}

// refusal is what a program catches of an operation's error; what is no verdict stays as
// it is.
func refusal(err error) error {
	if v, ok := verdict.Of(err); ok {
		return &host.Refusal{Code: exceptions[v.Reason], Text: v.Text}
	}
	return err
}

func (s *serving) serviceCall(by chain.Address, value chain.Wei) *service.Call {
	b := s.run.block
	return &service.Call{
		By: by, Value: value, State: s.run.state, Params: b.Params, Height: b.Height, ChainID: b.ChainID, Millis: b.TimestampMillis,
		ID: s.run.start.ID, TimerBase: b.TimerBase, Round: &b.Round, Run: s,
	}
}

// Take implements [service.Run].
func (s *serving) Take(u chain.Usage) error {
	return errors.Join(s.takeCycles(u.Cycles), s.TakeCells(uint64(u.Cells)))
}

// takeCycles charges an instruction's run, or the program whose host call it is.
func (s *serving) takeCycles(n chain.Cycles) error {
	if s.frame != nil {
		if n > s.left() {
			return &Trap{chain.CodeCyclesExhausted, "cycles left do not cover what is asked for"}
		}
		s.frame.machine.Charge(code.Cycles(n))
		return nil
	}
	if n > s.run.cycles {
		s.run.cycles = 0
		return &Trap{chain.CodeCyclesExhausted, "cycles limit reached"}
	}
	s.run.cycles -= n
	return nil
}

// TakeCells implements [service.Run].
func (s *serving) TakeCells(n uint64) error { return s.run.takeCells(n) }

// TakeLater implements [service.Run]. It counts among what handlers use, of which the
// bucket of an actor pays only what is used now.
func (s *serving) TakeLater(n chain.Cycles) error {
	if n > s.left() {
		return &Trap{chain.CodeCyclesExhausted, "cycles left do not cover what is reserved"}
	}
	s.used += n
	s.run.later += n
	return nil
}

// FirstUse implements [service.Run].
func (s *serving) FirstUse(by, to chain.Address) (chain.Cycles, error) {
	_, load, err := s.run.block.FirstUse(s.run.state, by, to)
	return load, err
}

// left are the cycles that handlers may use.
func (s *serving) left() chain.Cycles {
	if s.frame != nil {
		return chain.Cycles(s.frame.machine.CyclesLeft()) - s.used
	}
	return s.run.cycles - s.used
}

// Whole implements [service.Run].
func (s *serving) Whole(do func() error) error {
	m := s.run.mark()
	err := do()
	if err != nil {
		s.used -= s.run.undo(m)
	}
	return err
}

// Ask implements [service.Run].
func (s *serving) Ask(q *service.Question) ([]byte, error) {
	r, p := s.run, &s.run.block.Params.Actor
	if s.depth > p.CallDepth {
		return nil, verdict.New(verdict.Depth, "calls are nested too deep")
	}
	l, err := r.quota(q.To)
	if err != nil {
		return nil, err
	}
	e := Envelope{From: q.From, To: q.To, Handler: q.Handler, Payload: q.Payload, Depth: s.depth, Parent: s.parent}
	v, err := r.handle(&e, min(q.Most, l.Left(p, r.block.Height)), min(s.left(), q.Most+p.LoadCycles))
	if err != nil {
		return nil, err
	}
	s.used += v.used
	switch v.code {
	case chain.CodeOK:
		return v.output, nil
	case chain.CodeCellsExhausted: // a limit of the run, not of the handler
		return nil, &Trap{v.code, "cells limit reached in " + q.Who}
	}
	if v.cold {
		return nil, verdict.New(verdict.Limit, q.Who+": "+v.detail)
	}
	return nil, verdict.New(q.Failed, q.Who+" failed: "+chain.CodeName(v.code))
}

// Events implements [service.Run].
func (s *serving) Events() int { return len(s.run.events) }

// Emit implements [service.Run].
func (s *serving) Emit(e chain.Event) { s.run.events = append(s.run.events, e) }

// Cycles implements [service.Run].
func (s *serving) Cycles() chain.Cycles { return s.left() }

// Growth implements [service.Run].
func (s *serving) Growth() (fees.Growth, error) {
	return s.run.block.Growth(s.run.state, s.began, chain.Hash{})
}

// Overwritten implements [service.Run].
func (s *serving) Overwritten(of chain.Address) (uint64, error) {
	return s.run.state.Overwritten(s.began, of)
}

// Handled implements [service.Run].
func (s *serving) Handled(bytes uint64) { s.handled += bytes }

// Creator implements [service.Run].
func (s *serving) Creator(of chain.Address) (chain.Address, bool, error) {
	rec, err := ReadRecord(s.run.state, of)
	if err != nil || rec == nil {
		return chain.Address{}, false, err
	}
	return rec.Creator, true, nil
}

// MayHaveTimer implements [service.Run].
func (s *serving) MayHaveTimer(actor chain.Address, has uint64) error {
	grants, err := s.grantsOf(actor)
	if err != nil {
		return err
	}
	g, ok := grants.Find(manifest.Schedule)
	if !ok {
		return &Trap{chain.CodeNotEntitled, manifest.Schedule + " is not in the manifest"}
	}
	if most, bounded := g.Uint(manifest.MaxTimers); bounded && has >= most {
		return &Trap{chain.CodeEntitlementQuota, manifest.Schedule + "/" + manifest.MaxTimers}
	}
	return nil
}

func (s *serving) grantsOf(actor chain.Address) (manifest.Grants, error) {
	if s.frame != nil && s.frame.env.Self == actor {
		return s.frame.grants, nil
	}
	rec, err := s.run.record(actor)
	if err != nil {
		return nil, err
	}
	return s.run.grants(rec)
}

// Debit implements [funds.Purse].
func (s *serving) Debit(from chain.Address, amount chain.Wei) error { return s.run.debit(from, amount) }

// Withheld implements [funds.Purse].
func (s *serving) Withheld(of chain.Address, amount chain.Wei) (bool, error) {
	return s.run.rent().Withholds(of, amount)
}

// Credit implements [funds.Purse].
func (s *serving) Credit(to chain.Address, amount chain.Wei) error { return s.run.credit(to, amount) }

// PutAside implements [funds.Purse].
func (s *serving) PutAside(of chain.Address, amount chain.Wei) { s.run.putAside(of, amount) }

// GiveBack implements [funds.Purse].
func (s *serving) GiveBack(to chain.Address, amount chain.Wei) error {
	return s.run.giveBack(to, amount)
}

// Burn implements [funds.Purse].
func (s *serving) Burn(amount chain.Wei) error {
	s.run.burned += amount // was in a balance, so the sum fits
	return nil
}
