package vm

// defineGenerators builds generators, coroutines and asynchronous generators.
func (rt *Runtime) defineGenerators() {
	b := &rt.classes
	b.generator = rt.newClass("generator", KindGenerator)
	b.coroutine = rt.newClass("coroutine", KindGenerator)
	b.asyncGenerator = rt.newClass("async_generator", KindGenerator)
	rt.asyncStep = rt.newClass("async_generator_asend", KindForeign)
	rt.methods(b.generator,
		Def{Name: "__iter__", Min: 1, Max: 1, Fn: itself},
		Def{Name: "__next__", Min: 1, Max: 1, Fn: generatorNextMethod},
	)
	rt.methods(b.coroutine, Def{Name: "__await__", Min: 1, Max: 1, Fn: coroutineAwait})
	// Bounded: by the source, once when the runtime is made.
	for _, c := range []*Class{b.generator, b.coroutine} {
		rt.methods(c,
			Def{Name: "send", Min: 2, Max: 2, Fn: generatorSend},
			Def{Name: "throw", Min: 2, Max: 4, Fn: generatorThrow},
			Def{Name: "close", Min: 1, Max: 1, Fn: generatorClose},
		)
	}
	rt.methods(b.asyncGenerator,
		Def{Name: "__aiter__", Min: 1, Max: 1, Fn: itself},
		Def{Name: "__anext__", Min: 1, Max: 1, Fn: asyncMethod(stepSends)},
		Def{Name: "asend", Min: 2, Max: 2, Fn: asyncMethod(stepSends)},
		Def{Name: "athrow", Min: 2, Max: 4, Fn: asyncMethod(stepThrows)},
		Def{Name: "aclose", Min: 1, Max: 1, Fn: asyncMethod(stepCloses)},
	)
	rt.methods(rt.asyncStep,
		Def{Name: "__await__", Min: 1, Max: 1, Fn: itself},
		Def{Name: "__iter__", Min: 1, Max: 1, Fn: itself},
		Def{Name: "__next__", Min: 1, Max: 1, Fn: stepMethod},
		Def{Name: "send", Min: 2, Max: 2, Fn: stepMethod},
		Def{Name: "throw", Min: 2, Max: 4, Fn: stepThrowMethod},
		Def{Name: "close", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			s, ok := payloadOf[*asyncStep](a.Values[0])
			if !ok {
				return unbound, m.wrongReceiver("async_generator_asend", a.Values[0])
			}
			s.state = stepClosed
			return None, nil
		}},
	)
	rt.orDefault = rt.newClass("anext_awaitable", KindForeign)
	rt.methods(rt.orDefault,
		Def{Name: "__await__", Min: 1, Max: 1, Fn: itself},
		Def{Name: "__iter__", Min: 1, Max: 1, Fn: itself},
		Def{Name: "__next__", Min: 1, Max: 1, Fn: orDefaultSend},
		Def{Name: "send", Min: 2, Max: 2, Fn: orDefaultSend},
	)
	rt.awaited = rt.newClass("coroutine_wrapper", KindForeign)
	rt.methods(rt.awaited,
		Def{Name: "__iter__", Min: 1, Max: 1, Fn: itself},
		Def{Name: "__next__", Min: 1, Max: 1, Fn: onAwaited(generatorNextMethod)},
		Def{Name: "send", Min: 2, Max: 2, Fn: onAwaited(generatorSend)},
		Def{Name: "throw", Min: 2, Max: 4, Fn: onAwaited(generatorThrow)},
		Def{Name: "close", Min: 1, Max: 1, Fn: onAwaited(generatorClose)},
	)
	rt.generatorGetters(b.generator, "gi_")
	rt.generatorGetters(b.coroutine, "cr_")
	rt.generatorGetters(b.asyncGenerator, "ag_")
}

func itself(_ *Machine, a Args) (Value, error) { return a.Values[0], nil }

func generatorIn(v Value) *Generator { return v.ref.self.(*Generator) }

// generatorGetters adds the attributes that tell a generator's name and state.
func (rt *Runtime) generatorGetters(c *Class, prefix string) {
	text := func(name string, field func(*Generator) **Str) {
		rt.getters(c, name, func(_ *Machine, v Value) (Value, error) {
			return (*field(generatorIn(v))).val(), nil
		}, func(m *Machine, v, x Value) error {
			if !x.Bound() || x.Kind() != KindStr {
				return m.Raise(m.rt.classes.TypeError, "%s must be set to a string object", name)
			}
			*field(generatorIn(v)), _ = x.str()
			return nil
		})
	}
	text("__name__", func(g *Generator) **Str { return &g.name })
	text("__qualname__", func(g *Generator) **Str { return &g.qualName })
	rt.getters(c, prefix+"running", func(_ *Machine, v Value) (Value, error) {
		return Bool(generatorIn(v).state == genRunning), nil
	}, nil)
	rt.getters(c, prefix+"suspended", func(_ *Machine, v Value) (Value, error) {
		return Bool(generatorIn(v).state == genSuspended), nil
	}, nil)
	waits := "await"
	if c == rt.classes.generator {
		waits = "yieldfrom"
	}
	rt.getters(c, prefix+waits, func(_ *Machine, v Value) (Value, error) {
		if d := generatorIn(v).delegate; d.Bound() {
			return d, nil
		}
		return None, nil
	}, nil)
}

// payloadOf returns what a builtin Foreign object keeps.
func payloadOf[T Payload](v Value) (T, bool) {
	var none T
	o, ok := v.ref.self.(*Foreign)
	if !ok {
		return none, false
	}
	p, ok := o.Payload.(T)
	return p, ok
}

// wrongReceiver is the TypeError of a method that is called on another object.
func (m *Machine) wrongReceiver(class string, v Value) error {
	return m.Raise(m.rt.classes.TypeError, "descriptor requires a '%s' object but received '%s'", class, m.typeName(v))
}

// awaited is what __await__ of a coroutine answers.
type awaited struct{ gen *Generator }

// Roots visits the coroutine.
func (w awaited) Roots(visit func(Value)) { visit(w.gen.value()) }

// Bytes is the modelled size.
func (w awaited) Bytes() int { return smallBytes }

// onAwaited makes of a generator's method one of the wrapper.
func onAwaited(fn NativeFunc) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		w, ok := payloadOf[awaited](a.Values[0])
		if !ok {
			return unbound, m.wrongReceiver("coroutine_wrapper", a.Values[0])
		}
		return fn(m, Args{Values: prepend(w.gen.value(), a.Values[1:])})
	}
}

// stop is the StopIteration by which a generator returns v.
func (m *Machine) stop(v Value) error {
	if v.IsNone() {
		return m.RaiseValue(m.rt.classes.StopIteration)
	}
	return m.RaiseValue(m.rt.classes.StopIteration, v)
}

// stepped makes of a step what next() answers.
func (m *Machine) stepped(v Value, done bool, err error) (Value, error) {
	if err == nil && done {
		err = m.stop(v)
	}
	return v, err
}

func generatorNextMethod(m *Machine, a Args) (Value, error) {
	return m.stepped(m.resumeWith(generatorIn(a.Values[0]), None))
}

func generatorSend(m *Machine, a Args) (Value, error) {
	return m.stepped(m.resumeWith(generatorIn(a.Values[0]), a.Values[1]))
}

func generatorThrow(m *Machine, a Args) (Value, error) {
	return m.stepped(m.throwArgs(generatorIn(a.Values[0]), a.Values[1:]))
}

func generatorClose(m *Machine, a Args) (Value, error) {
	return None, m.closeGenerator(generatorIn(a.Values[0]))
}

// coroutineAwait is __await__: an iterator that drives the coroutine.
func coroutineAwait(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	m.Alloc(smallBytes)
	o := &Foreign{Payload: awaited{generatorIn(v)}}
	return o.head(KindForeign, m.rt.awaited, o), nil
}

// thrown makes the exception of throw(exception) or throw(class, value, traceback).
func (m *Machine) thrown(args []Value) (*Exception, error) {
	v := args[0]
	if len(args) > 2 && !args[2].IsNone() {
		return nil, m.Raise(m.rt.classes.TypeError, "throw() third argument must be a traceback object")
	}
	if e, ok := v.exception(); ok {
		if len(args) > 1 && !args[1].IsNone() {
			return nil, m.Raise(m.rt.classes.TypeError, "instance exception may not have a separate value")
		}
		return e, nil
	}
	if !m.isExceptionClass(v) {
		return nil, m.Raise(m.rt.classes.TypeError, "exceptions must be classes or instances deriving from BaseException, not %s", m.classOf(v).name)
	}
	if len(args) == 1 || args[1].IsNone() {
		e, err := m.exceptionFrom(v)
		if err != nil {
			return raisedIn(err)
		}
		return e, nil
	}
	if e, ok := args[1].exception(); ok {
		if c, _ := v.asClass(); e.class.subclassOf(c) {
			return e, nil
		}
	}
	more := args[1:2]
	if t, ok := args[1].ref.self.(*Tuple); ok {
		more = t.items
	}
	r, err := m.Call(v, more...)
	if err != nil {
		return raisedIn(err)
	}
	if e, ok := r.exception(); ok {
		return e, nil
	}
	return raisedIn(m.notAnException(v, r))
}

// raisedIn turns what the making of an exception raised into the exception that a
// generator gets: CPython makes it inside.
func raisedIn(err error) (*Exception, error) {
	if r, ok := err.(*Raised); ok {
		return r.Exc, nil
	}
	return nil, err
}

func asyncMethod(mode stepMode) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		arg := None
		if len(a.Values) > 1 {
			arg = a.Values[1]
		}
		if mode == stepThrows {
			e, err := m.thrown(a.Values[1:])
			if err != nil {
				return unbound, err
			}
			arg = e.val()
		}
		return m.newStep(generatorIn(a.Values[0]), mode, arg), nil
	}
}

func stepMethod(m *Machine, a Args) (Value, error) {
	sent := None
	if len(a.Values) > 1 {
		sent = a.Values[1]
	}
	s, ok := payloadOf[*asyncStep](a.Values[0])
	if !ok {
		return unbound, m.wrongReceiver("async_generator_asend", a.Values[0])
	}
	return m.stepped(m.stepSend(s, sent))
}

func stepThrowMethod(m *Machine, a Args) (Value, error) {
	s, ok := payloadOf[*asyncStep](a.Values[0])
	if !ok {
		return unbound, m.wrongReceiver("async_generator_asend", a.Values[0])
	}
	return m.stepped(m.stepThrow(s, a.Values[1:]))
}
