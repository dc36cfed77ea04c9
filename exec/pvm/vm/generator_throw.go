package vm

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// throwInto raises exc where g is suspended.
func (m *Machine) throwInto(g *Generator, exc *Exception) (Value, bool, error) {
	return m.throwArgs(g, []Value{exc.val()})
}

// throwArgs is g.throw(*args). A delegate that is no generator gets the arguments as
// they are: only where they are raised must they be an exception.
func (m *Machine) throwArgs(g *Generator, args []Value) (Value, bool, error) {
	if g.state == genSuspended && g.delegate.Bound() {
		v, done, err := m.throwToDelegate(g, args)
		switch {
		case err == errThrowHere:
		case err == nil && !done:
			g.yielded = false
			return v, false, nil
		case err == nil:
			g.frame.finishDelegate(v)
			return m.send2(g, v)
		default:
			if r, ok := err.(*lookupFailed); ok {
				return unbound, false, r.error
			}
			return m.raiseInto(g, err)
		}
	}
	exc, err := m.thrown(args)
	if err != nil {
		return unbound, false, err
	}
	return m.raiseInto(g, exc.onItsWay())
}

// raiseInto raises err in g itself, which has no delegate any more.
func (m *Machine) raiseInto(g *Generator, err error) (Value, bool, error) {
	switch g.state {
	case genDone:
		if g.flags&code.Coroutine != 0 {
			return unbound, true, m.Raise(m.rt.classes.RuntimeError, "cannot reuse already awaited coroutine")
		}
		return unbound, true, err
	case genRunning:
		return unbound, false, m.Raise(m.rt.classes.ValueError, "%s already executing", g.kindName())
	}
	r, raised := err.(*Raised)
	if raised && g.handled != nil && g.handled != r.Exc {
		m.setContext(r.Exc, g.handled)
	}
	if g.state == genFresh {
		g.state = genDone
		g.frame.regs = nil
		if raised {
			err = m.outOfGenerator(g.flags, r)
		}
		return unbound, true, err
	}
	g.delegate = unbound
	f, rerr := m.resume(g, unbound, byNative)
	if rerr != nil {
		return unbound, false, rerr
	}
	return m.runGenerator(g, f, err)
}

// send2 resumes g whose delegate has just given v to its register.
func (m *Machine) send2(g *Generator, v Value) (Value, bool, error) {
	g.sendTo = int(g.frame.unit.obj.Instrs[g.frame.pc-1].A)
	f, err := m.resume(g, v, byNative)
	if err != nil {
		return unbound, false, err
	}
	return m.runGenerator(g, f, nil)
}

// errThrowHere says that a delegate has no say in what is thrown.
var errThrowHere = errors.New("thrown where the generator delegates")

// lookupFailed is the error of looking for a delegate's throw: it ends the call and
// does not reach the generator.
type lookupFailed struct{ error }

// throwToDelegate hands the arguments of a throw to what g delegates to; done with
// its result when that returns.
func (m *Machine) throwToDelegate(g *Generator, args []Value) (Value, bool, error) {
	if err := m.Enter(); err != nil {
		return unbound, false, err
	}
	m.Charge(2 * m.dyn.Element) // a chain of them is as deep as recursion may be
	defer m.exitAndIdle(g)
	g.state = genRunning
	d := g.delegate
	if m.closes(args[0]) {
		if err := m.closeDelegate(d); err != nil {
			return unbound, false, err
		}
		return unbound, false, errThrowHere
	}
	switch o := d.ref.self.(type) {
	case *Generator:
		return m.throwArgs(o, args)
	case *Foreign:
		if step, ok := o.Payload.(*asyncStep); ok {
			return m.stepThrow(step, args)
		}
	}
	fn, ok, err := m.LookupAttr(d, m.intern("throw"))
	if err != nil {
		return unbound, false, &lookupFailed{err}
	}
	if !ok {
		return unbound, false, errThrowHere
	}
	return m.stopValue(m.Call(fn, args...))
}

// closes tells whether what is thrown closes a generator.
func (m *Machine) closes(v Value) bool {
	exit := m.rt.classes.GeneratorExit
	if e, ok := v.exception(); ok {
		return m.below(e.class, exit)
	}
	c, ok := v.Class()
	return ok && m.below(c, exit)
}

func (m *Machine) exitAndIdle(g *Generator) {
	m.Exit()
	g.state = genSuspended
}

// closeDelegate closes what a closing generator delegates to.
func (m *Machine) closeDelegate(d Value) error {
	switch o := d.ref.self.(type) {
	case *Generator:
		return m.closeGenerator(o)
	case *Foreign:
		if step, ok := o.Payload.(*asyncStep); ok {
			step.state = stepClosed
			return nil
		}
	}
	fn, ok, err := m.LookupAttr(d, m.intern("close"))
	if err == nil && ok {
		_, err = m.Call(fn)
		return err
	}
	if _, raised := err.(*Raised); raised {
		return nil // as CPython, which prints it and goes on
	}
	return err
}

// closeGenerator is g.close().
func (m *Machine) closeGenerator(g *Generator) error {
	switch g.state {
	case genDone:
		return nil
	case genFresh:
		g.state = genDone
		g.frame.regs = nil
		return nil
	}
	exc := m.newException(m.rt.classes.GeneratorExit, nil)
	_ = m.raise(exc) // what is being handled is its context
	_, done, err := m.throwInto(g, exc)
	switch {
	case err == nil && !done:
		return m.Raise(m.rt.classes.RuntimeError, "%s ignored GeneratorExit", g.kindName())
	case err != nil && (m.isRaised(err, m.rt.classes.GeneratorExit) || m.isRaised(err, m.rt.classes.StopIteration)):
		return nil
	}
	return err
}
