package vm

// publish puts everything that every module sees into the builtins. Names that
// Python has and a chain must not - eval, exec, compile, id, input, globals -
// are absent or raise DeterminismError.
func (rt *Runtime) publish() {
	b := &rt.classes
	// Bounded: by the source, once when the runtime is made.
	for _, c := range []*Class{
		b.object, b.type_, b.bool_, b.int_, b.float, b.str, b.bytes, b.bytearray, b.tuple, b.list, b.dict, b.set, b.frozenset,
		b.range_, b.slice, b.property, b.staticmethod, b.classmethod, b.super, b.enumerate, b.zip, b.map_, b.filter, b.reversed,
	} {
		if c == nil {
			continue
		}
		rt.builtin(c.name, c.value())
	}
	rt.builtin("None", None)
	rt.builtin("True", True)
	rt.builtin("False", False)
	rt.builtin("Ellipsis", EllipsisValue)
	rt.builtin("NotImplemented", NotImplemented)
	rt.builtin("__debug__", True)
	rt.publishExceptions()
	// Bounded: by the source, once when the runtime is made.
	for _, defs := range [][]Def{objectBuiltins(), forbiddenBuiltins(), rt.numberBuiltins(), rt.containerBuiltins()} {
		// Bounded: by the source, once when the runtime is made.
		for _, d := range defs {
			rt.builtin(d.Name, newNative(d).value())
		}
	}
}

func objectBuiltins() []Def {
	return []Def{
		{Name: "print", Min: 0, Max: -1, Keywords: true, Fn: builtinPrint},
		{Name: "isinstance", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			is, err := m.IsInstance(a.Values[0], a.Values[1])
			return Bool(is), err
		}},
		{Name: "issubclass", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			is, err := m.IsSubclass(a.Values[0], a.Values[1])
			return Bool(is), err
		}},
		{Name: "callable", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) { return Bool(m.callable(a.Values[0])), nil }},
		{Name: "getattr", Min: 2, Max: 3, Fn: builtinGetattr},
		{Name: "hasattr", Min: 2, Max: 2, Fn: builtinHasattr},
		{Name: "setattr", Min: 3, Max: 3, Fn: builtinSetattr},
		{Name: "delattr", Min: 2, Max: 2, Fn: builtinSetattr},
		{Name: "hash", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			h, err := m.Hash(a.Values[0])
			return SmallInt(h), err
		}},
		{Name: "repr", Min: 1, Max: 1, Fn: textBuiltin((*Machine).Repr)},
		{Name: "ascii", Min: 1, Max: 1, Fn: textBuiltin((*Machine).ASCII)},
		{Name: "format", Min: 1, Max: 2, Fn: builtinFormatFn},
		{Name: "dir", Min: 1, Max: 1, Fn: builtinDir},
		{Name: "vars", Min: 1, Max: 1, Fn: builtinVars},
	}
}

// forbiddenBuiltins are the names that raise when called, where the gate did not
// see them.
func forbiddenBuiltins() []Def {
	var defs []Def
	// Bounded: by the source, once when the runtime is made.
	for _, name := range []string{"eval", "exec", "compile", "globals", "locals", "input", "breakpoint", "id", "memoryview", "__import__"} {
		defs = append(defs, Def{Name: name, Min: 0, Max: -1, Keywords: true, Fn: func(m *Machine, _ Args) (Value, error) {
			return unbound, m.Raise(m.rt.classes.DeterminismError, "%s() is forbidden", name)
		}})
	}
	return defs
}

func textBuiltin(fn func(*Machine, Value) (*Str, error)) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		s, err := fn(m, a.Values[0])
		if err != nil {
			return unbound, err
		}
		return s.val(), nil
	}
}

// builtinPrint writes to the debug output of the machine, which is no part of
// the result.
func builtinPrint(m *Machine, a Args) (Value, error) {
	sep, end := " ", "\n"
	first := len(a.Values) - len(a.Names)
	// Paid: by the call, which put each keyword there.
	for i, n := range a.Names {
		v := a.Values[first+i]
		s, isStr := v.str()
		switch n.s {
		case "sep", "end":
			if !isStr && !v.IsNone() {
				return unbound, m.Raise(m.rt.classes.TypeError, "%s must be None or a string, not %s", n.s, m.typeName(v))
			}
			if isStr && n.s == "sep" {
				sep = s.s
			}
			if isStr && n.s == "end" {
				end = s.s
			}
		case "flush":
		case "file":
			if !v.IsNone() {
				return unbound, m.Raise(m.rt.classes.DeterminismError, "print() writes to the debug log only")
			}
		default:
			return unbound, m.Raise(m.rt.classes.TypeError, "'%s' is an invalid keyword argument for print()", n.s)
		}
	}
	// Paid: by the call, which put each value there, and by write.
	for i, v := range a.Values[:first] {
		s, err := m.Str(v)
		if err != nil {
			return unbound, err
		}
		if i > 0 {
			m.write(sep)
		}
		m.write(s.s)
	}
	m.write(end)
	return None, nil
}

// write appends to the output as far as the limit allows.
func (m *Machine) write(s string) {
	m.ChargeEach(len(s), m.dyn.Char)
	if room := m.rt.limits.OutputBytes - len(m.output); len(s) > room {
		s = s[:max(room, 0)]
	}
	m.output = append(m.output, s...)
}

// callable tells whether v can be called.
func (m *Machine) callable(v Value) bool {
	switch v.ref.kind {
	case KindFunction, KindNative, KindMethod, KindClass:
		return true
	}
	return m.classOf(v).sp(spCall).Bound()
}

func (m *Machine) attributeName(v Value, fn string) (*Str, error) {
	s, ok := v.str()
	if !ok {
		return nil, m.Raise(m.rt.classes.TypeError, "attribute name must be string, not '%s'", m.typeName(v))
	}
	return s, nil
}

func builtinGetattr(m *Machine, a Args) (Value, error) {
	name, err := m.attributeName(a.Values[1], "getattr")
	if err != nil {
		return unbound, err
	}
	if len(a.Values) == 2 {
		return m.GetAttr(a.Values[0], name)
	}
	r, ok, err := m.LookupAttr(a.Values[0], name)
	if m.isRaised(err, m.rt.classes.AttributeError) || err == nil && !ok {
		return a.Values[2], nil
	}
	return r, err
}

func builtinHasattr(m *Machine, a Args) (Value, error) {
	name, err := m.attributeName(a.Values[1], "hasattr")
	if err != nil {
		return unbound, err
	}
	m.chargeOrder(m.classOf(a.Values[0]))
	_, ok, err := m.LookupAttr(a.Values[0], name)
	if m.isRaised(err, m.rt.classes.AttributeError) {
		return False, nil
	}
	return Bool(ok), err
}

func builtinSetattr(m *Machine, a Args) (Value, error) {
	name, err := m.attributeName(a.Values[1], "setattr")
	if err != nil {
		return unbound, err
	}
	x := unbound
	if len(a.Values) == 3 {
		x = a.Values[2]
	}
	return None, m.SetAttr(a.Values[0], name, x)
}

func builtinFormatFn(m *Machine, a Args) (Value, error) {
	spec := m.newStr("")
	if len(a.Values) == 2 {
		s, ok := a.Values[1].str()
		if !ok {
			return unbound, m.Raise(m.rt.classes.TypeError, "format() argument 2 must be str, not %s", m.typeName(a.Values[1]))
		}
		spec = s
	}
	s, err := m.Format(a.Values[0], spec)
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

func builtinDir(m *Machine, a Args) (Value, error) {
	r, _, err := m.callSpecial(a.Values[0], spDir)
	if err != nil {
		return unbound, err
	}
	items, err := m.Collect(r)
	if err != nil {
		return unbound, err
	}
	return m.sortedNames(items)
}

func builtinVars(m *Machine, a Args) (Value, error) {
	r, ok, err := m.LookupAttr(a.Values[0], m.newStr("__dict__"))
	if err == nil && !ok {
		err = m.Raise(m.rt.classes.TypeError, "vars() argument must have __dict__ attribute")
	}
	return r, err
}
