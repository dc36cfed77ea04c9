package vm

// Generators, coroutines and asynchronous generators: frames that outlive their call. A
// suspended frame belongs to its generator, a running one to the machine.

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// Generator is a generator, a coroutine or an asynchronous generator, by the
// flags of its code. Its frame and registers are its own.
type Generator struct {
	Object
	frame    *frame
	flags    code.Flags
	name     *Str
	qualName *Str
	state    genState
	sendTo   int        // register that receives what is sent
	yielded  bool       // suspended by Yield itself, not by what it awaits
	busy     bool       // an awaitable of this asynchronous generator is under way
	delegate Value      // of YieldFrom and Await under way
	sent     Value      // for the delegate
	handled  *Exception // its own, while it is suspended
	awaits   int        // depth of awaits that lead here
}

type genState uint8

const (
	genFresh genState = iota
	genSuspended
	genRunning
	genDone
)

func (g *Generator) value() Value { return Value{ref: &g.Object} }

func (g *Generator) isGenerator() bool { return g.flags&(code.Coroutine|code.AsyncGenerator) == 0 }

// kindName is what messages call it.
func (g *Generator) kindName() string {
	switch {
	case g.flags&code.Coroutine != 0:
		return "coroutine"
	case g.flags&code.AsyncGenerator != 0:
		return "async generator"
	}
	return "generator"
}

// generatorClass is its class.
func (m *Machine) generatorClass(g *Generator) *Class {
	switch {
	case g.flags&code.Coroutine != 0:
		return m.rt.classes.coroutine
	case g.flags&code.AsyncGenerator != 0:
		return m.rt.classes.asyncGenerator
	}
	return m.rt.classes.generator
}

func (m *Machine) newGenerator(fn *Function) *Generator {
	n := fn.unit.obj.Registers
	m.Alloc(generatorBytes + n*valueBytes)
	m.chargeMake(n)
	m.chargeWide(n)
	g := &Generator{flags: fn.unit.obj.Flags, name: fn.name, qualName: fn.qualName}
	g.head(KindGenerator, nil, g)
	g.frame = &frame{regs: make([]Value, n), unit: fn.unit, fn: fn, gen: g}
	return g
}

// resume makes the generator's frame the running one. sent is what its Yield
// answers; unbound where something is raised there instead.
func (m *Machine) resume(g *Generator, sent Value, how arrival) (*frame, error) {
	switch {
	case g.state == genRunning:
		return nil, m.Raise(m.rt.classes.ValueError, "%s already executing", g.kindName())
	case g.state == genFresh && !sent.IsNone():
		return nil, m.Raise(m.rt.classes.TypeError, "can't send non-None value to a just-started %s", g.kindName())
	case m.depth >= m.rt.limits.RecursionDepth:
		return nil, m.errDeep()
	}
	m.depth++
	f := g.frame
	switch {
	case g.state == genFresh:
	case g.delegate.Bound():
		f.pc--
		g.sent = sent
	case sent.Bound():
		f.regs[g.sendTo] = sent
	}
	g.state, g.yielded = genRunning, false
	f.back, f.how, f.rest = m.frame, how, m.freeSlab()
	f.around, m.around = m.around, m.handling()
	f.handled, m.handled = m.handled, g.handled
	m.frame = f
	return f, nil
}

// suspend takes the running frame, a generator's, off the stack.
func (m *Machine) suspend(f *frame, state genState) {
	m.depth--
	g := f.gen
	g.state = state
	g.handled, m.handled = m.handled, f.handled
	m.frame, m.around = f.back, f.around
	f.back, f.rest, f.handled, f.around = nil, nil, nil, nil
	if state == genDone {
		g.handled, g.delegate, g.sent = nil, unbound, unbound
		f.regs = nil
	}
}

// yield suspends the running generator and hands v to who resumed it: it
// answers the frame that goes on, or none when that is a native.
func (m *Machine) yield(f *frame, v Value) (*frame, Value) {
	// Paid: by the instructions that resumed each of the frames.
	for {
		back, how := f.back, f.how
		m.suspend(f, genSuspended)
		switch how {
		case byNative:
			return nil, v
		case byFor:
			back.regs[f.ret] = v
			back.pc++
			return back, unbound
		}
		f = back
	}
}

// returnSlow is Return from all but plain calls.
func (m *Machine) returnSlow(f *frame, v Value) (*frame, Value, error) {
	back, how := f.back, f.how
	if f.gen != nil {
		m.suspend(f, genDone)
		switch how {
		case byFor:
			back.pc = int(back.unit.obj.Instrs[back.pc].Wide())
		case byDelegate:
			back.finishDelegate(v)
		}
	} else {
		if how == byNext {
			back.regs[f.ret] = v
			back.pc++
		}
		m.popFrame(f)
		if how == byInit && !v.IsNone() {
			return nil, unbound, m.errInit(v)
		}
	}
	if how == byNative {
		return nil, v, nil
	}
	return back, unbound, nil
}

// finishDelegate gives v as the result of the YieldFrom or Await that f is at.
func (f *frame) finishDelegate(v Value) {
	f.gen.delegate = unbound
	f.regs[f.unit.obj.Instrs[f.pc-1].A] = v
}

// delegate is YieldFrom and Await: it resumes what the generator waits for. It
// answers the frame that goes on, or none and what a native receives.
func (m *Machine) delegate(f *frame, in code.Instr) (*frame, Value, error) {
	g := f.gen
	sent := g.sent
	if g.delegate.Bound() {
		g.sent = unbound
	} else {
		it, err := m.delegateOf(f, in)
		if err != nil {
			return nil, unbound, err
		}
		g.delegate, sent = it, None
	}
	if sub, ok := g.delegate.ref.self.(*Generator); ok {
		return m.enterDelegate(f, sub, sent)
	}
	v, done, err := m.sendTo(g.delegate, sent)
	switch {
	case err != nil:
		return nil, unbound, err
	case done:
		f.finishDelegate(v)
		return f, unbound, nil
	}
	next, v := m.yield(f, v)
	return next, v, nil
}

// enterDelegate resumes a delegate that is a generator without recursion.
func (m *Machine) enterDelegate(f *frame, sub *Generator, sent Value) (*frame, Value, error) {
	if sub.state == genDone {
		if sub.flags&code.Coroutine != 0 {
			return nil, unbound, m.Raise(m.rt.classes.RuntimeError, "cannot reuse already awaited coroutine")
		}
		f.finishDelegate(None)
		return f, unbound, nil
	}
	if sub.flags&code.Coroutine != 0 {
		if sub.awaits = f.gen.awaits + 1; sub.awaits > awaitDepth {
			return nil, unbound, m.Raise(m.rt.classes.RecursionError, "maximum await depth exceeded")
		}
	}
	next, err := m.resume(sub, sent, byDelegate)
	return next, unbound, err
}

// delegateOf returns the iterator that YieldFrom or Await goes through.
func (m *Machine) delegateOf(f *frame, in code.Instr) (Value, error) {
	v := f.regs[in.B]
	if in.Op == code.Await {
		return m.awaitable(v)
	}
	if g, ok := v.ref.self.(*Generator); ok && g.flags&code.Coroutine != 0 {
		return unbound, m.Raise(m.rt.classes.TypeError, "cannot 'yield from' a coroutine object in a non-coroutine generator")
	}
	return m.Iter(v)
}

// resumeWith resumes g from a native until it yields or, with done, returns.
func (m *Machine) resumeWith(g *Generator, v Value) (r Value, done bool, err error) {
	if g.state == genDone {
		if g.flags&code.Coroutine != 0 {
			return unbound, true, m.Raise(m.rt.classes.RuntimeError, "cannot reuse already awaited coroutine")
		}
		return None, true, nil
	}
	f, err := m.resume(g, v, byNative)
	if err != nil {
		return unbound, false, err
	}
	return m.runGenerator(g, f, nil)
}

func (m *Machine) runGenerator(g *Generator, f *frame, pending error) (Value, bool, error) {
	mark := m.Hold(g.value())
	r, err := m.run(f, pending)
	m.Release(mark)
	return r, g.state == genDone, err
}

// sendTo is one step of any iterator on behalf of a delegating generator; with
// done, v is its result.
func (m *Machine) sendTo(it, sent Value) (v Value, done bool, err error) {
	switch o := it.ref.self.(type) {
	case *Generator:
		return m.resumeWith(o, sent)
	case *Iterator:
		if sent.IsNone() && exact(it) {
			v, ok, err := m.iterNext(o)
			if err == nil && !ok {
				return stopValueOf(v), true, nil
			}
			return v, !ok, err
		}
	case *Foreign:
		if step, ok := o.Payload.(*asyncStep); ok {
			return m.stepSend(step, sent)
		}
	}
	if sent.IsNone() {
		v, ok, err := m.callSpecial(it, spNext)
		if err == nil && !ok {
			err = m.Raise(m.rt.classes.TypeError, "'%s' object is not an iterator", m.classOf(it).name)
		}
		return m.stopValue(v, err)
	}
	fn, self, err := m.getMethod(it, m.intern("send"))
	if err != nil {
		return unbound, false, err
	}
	if self.Bound() {
		v, err = m.Call(fn, self, sent)
	} else {
		v, err = m.Call(fn, sent)
	}
	return m.stopValue(v, err)
}

// stopValue turns StopIteration into a result.
func (m *Machine) stopValue(v Value, err error) (Value, bool, error) {
	if err != nil && m.isRaised(err, m.rt.classes.StopIteration) {
		return stopValueOf(err.(*Raised).Exc.val()), true, nil
	}
	return v, false, err
}

// stopValueOf is the value of a StopIteration, or None of nothing.
func stopValueOf(v Value) Value {
	if e, ok := v.exception(); ok && e.value.Bound() {
		return e.value
	}
	return None
}

// generatorNext is next() of a generator; false when it has returned, with a
// StopIteration where it returned a value.
func (m *Machine) generatorNext(v Value) (Value, bool, error) {
	r, done, err := m.resumeWith(v.ref.self.(*Generator), None)
	switch {
	case err != nil:
		return unbound, false, err
	case done && r.IsNone():
		return unbound, false, nil
	case done:
		return m.stopped(m.stop(r))
	}
	return r, true, nil
}
