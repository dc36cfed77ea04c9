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
		Def{Name: "close", Min: 1, Max: 1, Fn: func(_ *Machine, a Args) (Value, error) {
			a.Values[0].ref.self.(*Foreign).Payload.(*asyncStep).state = stepClosed
			return None, nil
		}},
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
	return m.stepped(m.send(generatorIn(a.Values[0]), None))
}

func generatorSend(m *Machine, a Args) (Value, error) {
	return m.stepped(m.send(generatorIn(a.Values[0]), a.Values[1]))
}

func generatorThrow(m *Machine, a Args) (Value, error) {
	e, err := m.thrown(a.Values[1:])
	if err != nil {
		return unbound, err
	}
	return m.stepped(m.throwInto(generatorIn(a.Values[0]), e))
}

func generatorClose(m *Machine, a Args) (Value, error) {
	return None, m.closeGenerator(generatorIn(a.Values[0]))
}

// coroutineAwait is __await__: the wrapper is the coroutine itself.
func coroutineAwait(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	next := func(m *Machine) (Value, bool, error) {
		r, done, err := m.send(generatorIn(v), None)
		if err == nil && done {
			return unbound, false, m.stop(r)
		}
		return r, true, err
	}
	m.Alloc(smallBytes)
	it := &Iterator{next: next, roots: func(visit func(Value)) { visit(v) }}
	return it.head(KindIterator, nil, it), nil
}

// thrown makes the exception of throw(exception) or throw(class, value, traceback).
func (m *Machine) thrown(args []Value) (*Exception, error) {
	v := args[0]
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
		return m.exceptionFrom(v)
	}
	if e, ok := args[1].exception(); ok {
		return e, nil
	}
	var r Value
	var err error
	if t, ok := args[1].ref.self.(*Tuple); ok {
		r, err = m.Call(v, t.items...)
	} else {
		r, err = m.Call(v, args[1])
	}
	if err != nil {
		return nil, err
	}
	return m.exceptionFrom(r)
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
	return m.stepped(m.stepSend(a.Values[0].ref.self.(*Foreign).Payload.(*asyncStep), sent))
}

func stepThrowMethod(m *Machine, a Args) (Value, error) {
	e, err := m.thrown(a.Values[1:])
	if err != nil {
		return unbound, err
	}
	return m.stepped(m.stepThrow(a.Values[0].ref.self.(*Foreign).Payload.(*asyncStep), e))
}
