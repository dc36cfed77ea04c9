package vm

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// awaitDepth bounds chains of coroutines that await each other.
const awaitDepth = 32

// awaitable returns the iterator that await goes through.
func (m *Machine) awaitable(v Value) (Value, error) {
	switch o := v.ref.self.(type) {
	case *Generator:
		if o.flags&code.Coroutine != 0 {
			if o.delegate.Bound() {
				return unbound, m.Raise(m.rt.classes.RuntimeError, "coroutine is being awaited already")
			}
			return v, nil
		}
	case *Foreign:
		if _, ok := o.Payload.(*asyncStep); ok {
			return v, nil
		}
	}
	it, ok, err := m.callSpecial(v, spAwait)
	if err != nil {
		return unbound, err
	}
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "object %s can't be used in 'await' expression", m.classOf(v).name)
	}
	if g, isGen := it.ref.self.(*Generator); isGen && g.flags&code.Coroutine != 0 {
		return unbound, m.Raise(m.rt.classes.TypeError, "__await__() returned a coroutine")
	}
	if it.Kind() != KindIterator && it.Kind() != KindGenerator && !m.classOf(it).sp(spNext).Bound() {
		return unbound, m.Raise(m.rt.classes.TypeError, "__await__() returned non-iterator of type '%s'", m.classOf(it).name)
	}
	return it, nil
}

// drive runs a coroutine to its end. There is no event loop within a call: what
// a coroutine yields must be None, which means "later", and later is at once.
func (m *Machine) drive(v Value) (Value, error) {
	it, err := m.awaitable(v)
	if err != nil {
		return unbound, err
	}
	defer m.Release(m.Hold(it))
	for {
		r, done, err := m.sendTo(it, None)
		if err != nil || done {
			return r, err
		}
		if !r.IsNone() {
			return unbound, m.Raise(m.rt.classes.RuntimeError, "a coroutine yielded '%s' and nothing handles it", m.classOf(r).name)
		}
		m.Charge(m.dyn.NativeCall)
	}
}

// asyncIter is GetAIter.
func (m *Machine) asyncIter(v Value) (Value, error) {
	if g, ok := v.ref.self.(*Generator); ok && g.flags&code.AsyncGenerator != 0 {
		return v, nil
	}
	it, ok, err := m.callSpecial(v, spAIter)
	if err != nil {
		return unbound, err
	}
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "'async for' requires an object with __aiter__ method, got %s", m.classOf(v).name)
	}
	if _, ok := m.specialOf(it, spANext); !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "'async for' received an object from __aiter__ that does not implement __anext__: %s", m.classOf(it).name)
	}
	return it, nil
}

// asyncNext is GetANext: the awaitable of the next item.
func (m *Machine) asyncNext(v Value) (Value, error) {
	if g, ok := v.ref.self.(*Generator); ok && g.flags&code.AsyncGenerator != 0 {
		return m.newStep(g, stepSends, None), nil
	}
	aw, ok, err := m.callSpecial(v, spANext)
	if err != nil {
		return unbound, err
	}
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "'async for' requires an iterator with __anext__ method, got %s", m.classOf(v).name)
	}
	return aw, nil
}

// asyncStep is the awaitable that asend, athrow, aclose and __anext__ of an
// asynchronous generator answer.
type asyncStep struct {
	gen   *Generator
	mode  stepMode
	state stepState
	v     Value // what is sent or raised
}

type stepMode uint8

const (
	stepSends stepMode = iota
	stepThrows
	stepCloses
)

type stepState uint8

const (
	stepFresh stepState = iota
	stepRunning
	stepClosed
)

// Roots visits the generator and the argument.
func (s *asyncStep) Roots(visit func(Value)) {
	visit(s.gen.value())
	if s.v.Bound() {
		visit(s.v)
	}
}

// Bytes is the modelled size.
func (s *asyncStep) Bytes() int { return smallBytes }

func (m *Machine) newStep(g *Generator, mode stepMode, v Value) Value {
	m.Alloc(smallBytes)
	o := &Foreign{Payload: &asyncStep{gen: g, mode: mode, v: v}}
	return o.head(KindForeign, m.rt.asyncStep, o)
}

// stepSend advances the generator; done with the item that it yields.
func (m *Machine) stepSend(s *asyncStep, sent Value) (Value, bool, error) {
	g := s.gen
	switch s.state {
	case stepClosed:
		return unbound, false, m.Raise(m.rt.classes.RuntimeError, "cannot reuse already awaited %s", s.name())
	case stepRunning:
		v, done, err := m.resumeWith(g, sent)
		return m.stepResult(s, v, done, err)
	}
	if g.busy {
		return unbound, false, m.Raise(m.rt.classes.RuntimeError, "%s: asynchronous generator is already running", s.caller())
	}
	s.state = stepRunning
	if s.mode == stepSends {
		if sent.IsNone() {
			sent = s.v
		}
		g.busy = true
		v, done, err := m.resumeWith(g, sent)
		return m.stepResult(s, v, done, err)
	}
	if s.mode == stepCloses {
		if g.state == genDone || g.state == genFresh {
			return None, true, m.closeStep(s)
		}
		s.v = m.newException(m.rt.classes.GeneratorExit, nil).val()
	}
	exc, err := m.exceptionFrom(s.v)
	if err != nil {
		return unbound, false, err
	}
	g.busy = true
	v, done, err := m.throwInto(g, exc)
	return m.stepResult(s, v, done, err)
}

func (m *Machine) closeStep(s *asyncStep) error {
	s.state, s.gen.busy = stepClosed, false
	return m.closeGenerator(s.gen)
}

// stepThrow is throw(*args) in a step under way.
func (m *Machine) stepThrow(s *asyncStep, args []Value) (Value, bool, error) {
	if s.state == stepClosed {
		return unbound, false, m.Raise(m.rt.classes.RuntimeError, "cannot reuse already awaited %s", s.name())
	}
	s.state, s.gen.busy = stepRunning, true
	v, done, err := m.throwArgs(s.gen, args)
	return m.stepResult(s, v, done, err)
}

// stepResult tells an item from what the generator awaits.
func (m *Machine) stepResult(s *asyncStep, v Value, done bool, err error) (Value, bool, error) {
	if err == nil && !done && !s.gen.yielded {
		return v, false, nil
	}
	s.state, s.gen.busy = stepClosed, false
	switch {
	case s.mode == stepCloses && err == nil && !done:
		return unbound, false, m.Raise(m.rt.classes.RuntimeError, "async generator ignored GeneratorExit")
	case s.mode == stepCloses:
		if err != nil && !m.isRaised(err, m.rt.classes.StopAsyncIteration) && !m.isRaised(err, m.rt.classes.GeneratorExit) {
			return unbound, false, err
		}
		return None, true, nil
	case err != nil:
		return unbound, false, err
	case done:
		return unbound, false, m.RaiseValue(m.rt.classes.StopAsyncIteration)
	}
	return v, true, nil
}

func (s *asyncStep) name() string {
	switch s.mode {
	case stepSends:
		return "__anext__()/asend()"
	default:
		return "aclose()/athrow()"
	}
}

func (s *asyncStep) caller() string {
	switch s.mode {
	case stepSends:
		return "anext()"
	case stepThrows:
		return "athrow()"
	default:
		return "aclose()"
	}
}

// builtinAIter is aiter(v).
func builtinAIter(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	it, ok, err := m.callSpecial(v, spAIter)
	if err != nil {
		return unbound, err
	}
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "'%s' object is not an async iterable", m.typeName(v))
	}
	if _, ok := m.specialOf(it, spANext); !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "aiter() returned not an async iterator of type '%s'", m.typeName(it))
	}
	return it, nil
}

// builtinANext is anext(iterator[, default]).
func builtinANext(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	aw, ok, err := m.callSpecial(v, spANext)
	if err != nil {
		return unbound, err
	}
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "'%s' object is not an async iterator", m.typeName(v))
	}
	if len(a.Values) == 1 {
		return aw, nil
	}
	m.Alloc(smallBytes)
	o := &Foreign{Payload: &orDefault{aw: aw, absent: a.Values[1]}}
	return o.head(KindForeign, m.rt.orDefault, o), nil
}

// orDefault is the awaitable of anext with a default.
type orDefault struct{ aw, it, absent Value }

// Roots visits the awaitable and the default.
func (o *orDefault) Roots(visit func(Value)) {
	visit(o.aw)
	visit(o.absent)
	if o.it.Bound() {
		visit(o.it)
	}
}

// Bytes is the modelled size.
func (o *orDefault) Bytes() int { return smallBytes }

// orDefaultSend is __next__ and send of the awaitable.
func orDefaultSend(m *Machine, a Args) (Value, error) {
	o, ok := payloadOf[*orDefault](a.Values[0])
	if !ok {
		return unbound, m.wrongReceiver("anext_awaitable", a.Values[0])
	}
	if !o.it.Bound() {
		it, err := m.awaitable(o.aw)
		if err != nil {
			return unbound, err
		}
		o.it = it
	}
	sent := None
	if len(a.Values) > 1 {
		sent = a.Values[1]
	}
	r, done, err := m.sendTo(o.it, sent)
	if err != nil && m.isRaised(err, m.rt.classes.StopAsyncIteration) {
		return unbound, m.stop(o.absent)
	}
	return m.stepped(r, done, err)
}
