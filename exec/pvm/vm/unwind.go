package vm

// Unwinding: an exception goes from the frame where it was raised to the handler that
// the code object's table names. exception_*.go has the objects themselves,
// unwind_text.go how they print.

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// traceBytes is the modelled size of an entry of a traceback.
const traceBytes = 64

// handling returns the exception that is being handled: the running context's
// own or that of whoever resumed the generator it is in.
func (m *Machine) handling() *Exception {
	if m.handled != nil {
		return m.handled
	}
	return m.around
}

// unwind takes an exception from the running frame to the handler that catches
// it, and answers the handler's frame; or none, once a frame has ended that
// a native entered.
func (m *Machine) unwind(err error) (*frame, error) {
	r, ok := err.(*Raised)
	if !ok {
		if a, isAbort := err.(*Abort); isAbort {
			panic(a)
		}
		panic(&Abort{Code: Internal, Detail: "an error that is no exception: " + err.Error()})
	}
	again := m.again
	m.again = false
	for {
		f := m.frame
		if f.gen != nil {
			f.gen.delegate = unbound
		}
		if !again {
			m.Alloc(traceBytes)
			r.Exc.passes(TraceEntry{Code: f.unit.obj, Line: f.line()})
		}
		again = false
		if h := f.unit.obj.HandlerAt(uint32(f.pc - 1)); h != nil {
			f.regs[h.Reg] = r.Exc.val()
			f.pc = int(h.Target)
			return f, nil
		}
		how := f.how
		if f.gen != nil {
			flags := f.gen.flags
			m.suspend(f, genDone)
			r = m.outOfGenerator(flags, r)
		} else {
			m.popFrame(f)
		}
		switch {
		case how == byNative:
			return nil, r
		case how == byNext && r.Exc.class.subclassOf(m.rt.classes.StopIteration):
			f = m.frame
			f.pc = int(f.unit.obj.Instrs[f.pc].Wide()) // the loop is over
			return f, nil
		}
	}
}

// outOfGenerator keeps StopIteration from leaving a generator (PEP 479).
func (m *Machine) outOfGenerator(flags code.Flags, r *Raised) *Raised {
	var text string
	stop := r.Exc.class.subclassOf(m.rt.classes.StopIteration)
	switch {
	case stop && flags&code.Coroutine != 0:
		text = "coroutine raised StopIteration"
	case stop && flags&code.AsyncGenerator != 0:
		text = "async generator raised StopIteration"
	case stop:
		text = "generator raised StopIteration"
	case flags&code.AsyncGenerator != 0 && r.Exc.class.subclassOf(m.rt.classes.StopAsyncIteration):
		text = "async generator raised StopAsyncIteration"
	default:
		return r
	}
	e := m.newException(m.rt.classes.RuntimeError, []Value{m.newStr(text).val()})
	e.cause, e.context, e.suppress = r.Exc.val(), r.Exc.val(), true
	return e.onItsWay()
}

// raiseOp is the instruction Raise.
func (m *Machine) raiseOp(f *frame, in code.Instr) error {
	if in.B == 0 {
		e := m.handling()
		if e == nil {
			return m.Raise(m.rt.classes.RuntimeError, "No active exception to reraise")
		}
		m.again = true
		return e.onItsWay()
	}
	e, err := m.exceptionFrom(f.regs[in.A])
	if err != nil {
		return err
	}
	if in.B == 2 {
		if err := m.setCause(e, f.regs[in.C]); err != nil {
			return err
		}
	}
	if h := m.handling(); h != nil && h != e {
		m.setContext(e, h)
	}
	return e.onItsWay()
}

// control executes the instructions for exceptions, patterns and modules.
func (m *Machine) control(f *frame, in code.Instr) error {
	if in.Op >= code.MatchSeq {
		if in.Op >= code.ImportName {
			return m.importOp(f, in)
		}
		return m.matchOp(f, in)
	}
	regs := f.regs
	switch in.Op {
	case code.Enter:
		if m.handled != nil {
			regs[in.A+1] = m.handled.val()
		} else {
			regs[in.A+1] = unbound
		}
		m.handled, _ = regs[in.A].exception()
	case code.Leave:
		m.handled, _ = regs[in.A+1].exception()
	case code.MatchExc:
		e, _ := regs[in.B].exception()
		ok, err := m.matches(e, regs[in.C])
		if err != nil {
			return err
		}
		regs[in.A] = Bool(ok)
	case code.Raise:
		return m.raiseOp(f, in)
	case code.Reraise:
		e, _ := regs[in.A].exception()
		m.again = true
		return e.onItsWay()
	case code.MatchGroup:
		e, _ := regs[in.B].exception()
		yes, no, err := m.matchGroup(e, regs[in.C])
		if err != nil {
			return err
		}
		regs[in.A], regs[in.A+1] = yes, no
	case code.RaiseStar:
		v, err := m.raiseStar(regs[in.B], regs[in.C])
		if err != nil {
			return err
		}
		regs[in.A] = v
	case code.EndAsync:
		e, _ := regs[in.A].exception()
		if !e.class.subclassOf(m.rt.classes.StopAsyncIteration) {
			m.again = true
			return e.onItsWay()
		}
	case code.GetAssertion:
		regs[in.A] = m.rt.classes.AssertionError.value()
	case code.EnterWith:
		return m.enterWith(regs, in, spEnter, spExit)
	case code.EnterAWith:
		return m.enterWith(regs, in, spAEnter, spAExit)
	case code.ExcInfo:
		e, _ := regs[in.B].exception()
		regs[in.A], regs[in.A+1] = e.class.value(), e.val()
		tb, err := tracebackOf(m, e)
		if err != nil {
			return err
		}
		regs[in.A+2] = tb
	default:
		panic(&Abort{Code: Internal, Detail: "unknown instruction " + decimalText(int(in.Op))})
	}
	return nil
}

// enterWith finds the two methods of a context manager.
func (m *Machine) enterWith(regs []Value, in code.Instr, enter, exit special) error {
	v := regs[in.B]
	c := m.classOf(v)
	en, ex := c.sp(enter), c.sp(exit)
	protocol, which := "context manager", specialNames[exit]
	if enter == spAEnter {
		protocol = "asynchronous context manager"
	}
	if !en.Bound() {
		return m.Raise(m.rt.classes.TypeError, "'%s' object does not support the %s protocol", c.name, protocol)
	}
	if !ex.Bound() {
		return m.Raise(m.rt.classes.TypeError, "'%s' object does not support the %s protocol (missed %s method)", c.name, protocol, which)
	}
	bx, err := m.bind(ex, v, c)
	if err != nil {
		return err
	}
	bn, err := m.bind(en, v, c)
	if err != nil {
		return err
	}
	regs[in.A], regs[in.A+1] = bx, bn
	return nil
}

// raiseStar is what leaves a try with except* clauses: of the parts in list,
// those that clauses did not handle are put together again in the structure of
// the original, and join what the clauses raised (PEP 654).
func (m *Machine) raiseStar(orig, list Value) (Value, error) {
	var raised []Value
	var again []*Exception
	o, _ := orig.exception()
	// Paid: by the instruction that put each part there.
	for _, v := range list.ref.self.(*List).items {
		e, ok := v.exception()
		switch {
		case !ok:
		case o.group == nil:
			return v, nil
		case sameOrigin(e, o):
			again = append(again, e)
		default:
			raised = append(raised, v)
		}
	}
	rest := None
	if len(again) > 0 {
		leaves := map[*Exception]bool{}
		// Paid: by collectLeaves.
		for _, e := range again {
			if err := m.collectLeaves(e, leaves); err != nil {
				return unbound, err
			}
		}
		var err error
		rest, _, err = m.splitGroup(o, func(e *Exception) (bool, error) { return leaves[e], nil })
		if err != nil {
			return unbound, err
		}
	}
	if len(raised) == 0 {
		return rest, nil
	}
	if !rest.IsNone() {
		raised = append(raised, rest)
	}
	items := Value{ref: &m.newList(raised).Object}
	return m.Call(m.rt.classes.ExceptionGroup.value(), m.newStr("").val(), items)
}

// sameOrigin tells a part of o from an exception that a clause raised.
func sameOrigin(e, o *Exception) bool {
	return e.group != nil && len(e.trace) == len(o.trace) && e.cause == o.cause && e.context == o.context
}

// leafBytes is the modelled size of a leaf among those that clauses did not handle.
const leafBytes = 48

func (m *Machine) collectLeaves(e *Exception, leaves map[*Exception]bool) error {
	m.Charge(m.dyn.Element)
	if e.group == nil {
		m.Charge(2 * m.dyn.DictOp) // it may be read from anywhere, and the map grows
		m.Alloc(leafBytes)
		leaves[e] = true
		return nil
	}
	if err := m.Enter(); err != nil {
		return err
	}
	defer m.Exit()
	// Paid: by collectLeaves, an element each.
	for _, v := range e.group {
		if sub, ok := v.exception(); ok {
			if err := m.collectLeaves(sub, leaves); err != nil {
				return err
			}
		}
	}
	return nil
}
