package vm

// defineGroups builds BaseExceptionGroup and ExceptionGroup (PEP 654).
func (rt *Runtime) defineGroups() {
	c := rt.classes.BaseExceptionGroup
	rt.methods(c,
		Def{Name: "__new__", Min: 1, Max: -1, Fn: groupNew},
		Def{Name: "__init__", Min: 1, Max: -1, Fn: exceptionInit},
		Def{Name: "__str__", Min: 1, Max: 1, Fn: groupStr},
		Def{Name: "derive", Min: 2, Max: 2, Fn: groupDerive},
		Def{Name: "split", Min: 2, Max: 2, Fn: groupSplit},
		Def{Name: "subgroup", Min: 2, Max: 2, Fn: groupSubgroup},
		Def{Name: "__class_getitem__", Min: 2, Max: 2, Fn: aliasItem},
	)
	rt.getters(c, "message", func(m *Machine, v Value) (Value, error) {
		_, message, err := m.groupOf(v, "message")
		return message, err
	}, nil)
	rt.getters(c, "exceptions", func(m *Machine, v Value) (Value, error) {
		e, _, err := m.groupOf(v, "exceptions")
		if err != nil {
			return unbound, err
		}
		return m.tupleOf(e.group), nil
	}, nil)
}

// groupOf returns a group and its message. All exceptions have one layout, so that
// somebody may ask this of one that is no group, or that nobody gave a message.
func (m *Machine) groupOf(v Value, name string) (e *Exception, message Value, err error) {
	e, ok := v.exception()
	if !ok || e.group == nil || len(e.args) == 0 {
		return nil, unbound, m.Raise(m.rt.classes.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", name, m.rt.classes.BaseExceptionGroup.name, m.typeName(v))
	}
	return e, e.args[0], nil
}

func groupNew(m *Machine, a Args) (Value, error) {
	c, _ := a.Values[0].asClass()
	if len(a.Values) != 3 {
		return unbound, m.Raise(m.rt.classes.TypeError, "BaseExceptionGroup.__new__() takes exactly 2 arguments (%d given)", len(a.Values)-1)
	}
	if _, ok := a.Values[1].str(); !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "argument 1 must be str, not %s", m.typeName(a.Values[1]))
	}
	switch a.Values[2].ref.kind {
	case KindList, KindTuple:
	default:
		if !m.classOf(a.Values[2]).sp(spGetitem).Bound() {
			return unbound, m.Raise(m.rt.classes.TypeError, "second argument (exceptions) must be a sequence")
		}
	}
	items, err := m.Collect(a.Values[2])
	if err != nil {
		return unbound, err
	}
	if len(items) == 0 {
		return unbound, m.Raise(m.rt.classes.ValueError, "second argument (exceptions) must be a non-empty sequence")
	}
	plain := true
	// Paid: by Collect, an element each, and by below.
	for i, item := range items {
		e, ok := item.exception()
		if !ok {
			return unbound, m.Raise(m.rt.classes.ValueError, "Item %d of second argument (exceptions) is not an exception", i)
		}
		plain = plain && m.below(e.class, m.rt.classes.Exception)
	}
	switch {
	case c == m.rt.classes.BaseExceptionGroup && plain:
		c = m.rt.classes.ExceptionGroup
	case c == m.rt.classes.ExceptionGroup && !plain:
		return unbound, m.Raise(m.rt.classes.TypeError, "Cannot nest BaseExceptions in an ExceptionGroup")
	case c != m.rt.classes.BaseExceptionGroup && !plain && c.subclassOf(m.rt.classes.Exception):
		return unbound, m.Raise(m.rt.classes.TypeError, "Cannot nest BaseExceptions in '%s'", c.name)
	}
	e := m.newException(c, append([]Value(nil), a.Values[1:]...))
	m.Alloc(len(items) * valueBytes)
	e.group = items
	return e.val(), nil
}

func groupStr(m *Machine, a Args) (Value, error) {
	e, message, err := m.groupOf(a.Values[0], "__str__")
	if err != nil {
		return unbound, err
	}
	n, word := len(e.group), "exceptions"
	if n == 1 {
		word = "exception"
	}
	count, err := m.Str(SmallInt(int64(n)))
	if err != nil {
		return unbound, err
	}
	return m.newStr(nameText(message) + " (" + count.s + " sub-" + word + ")").val(), nil
}

func groupDerive(m *Machine, a Args) (Value, error) {
	_, message, err := m.groupOf(a.Values[0], "derive")
	if err != nil {
		return unbound, err
	}
	return m.Call(m.rt.classes.BaseExceptionGroup.value(), message, a.Values[1])
}

// groupCondition turns what split and subgroup take into a test.
func (m *Machine) groupCondition(v Value) (func(*Exception) (bool, error), error) {
	if m.isExceptionClass(v) {
		return func(e *Exception) (bool, error) { return m.matches(e, v) }, nil
	}
	if t, ok := v.ref.self.(*Tuple); ok {
		m.elements(len(t.items))
		// Paid: by the line above, and by below.
		for _, item := range t.items {
			if !m.isExceptionClass(item) {
				return nil, m.groupConditionError()
			}
		}
		return func(e *Exception) (bool, error) { return m.matches(e, v) }, nil
	}
	if v.ref.kind == KindFunction || v.ref.kind == KindMethod || v.ref.kind == KindNative {
		return func(e *Exception) (bool, error) {
			r, err := m.Call(v, e.val())
			if err != nil {
				return false, err
			}
			return m.Truth(r)
		}, nil
	}
	return nil, m.groupConditionError()
}

func (m *Machine) groupConditionError() error {
	return m.Raise(m.rt.classes.TypeError, "expected a function, exception type or tuple of exception types")
}

func groupSplit(m *Machine, a Args) (Value, error) {
	is, err := m.groupCondition(a.Values[1])
	if err != nil {
		return unbound, err
	}
	e, _ := a.Values[0].exception()
	yes, no, err := m.splitGroup(e, is)
	if err != nil {
		return unbound, err
	}
	return m.tupleOf([]Value{yes, no}), nil
}

func groupSubgroup(m *Machine, a Args) (Value, error) {
	is, err := m.groupCondition(a.Values[1])
	if err != nil {
		return unbound, err
	}
	e, _ := a.Values[0].exception()
	yes, _, err := m.splitGroup(e, is)
	return yes, err
}

// splitGroup divides an exception, a group by its leaves, into what meets the
// condition and the rest; None for nothing.
func (m *Machine) splitGroup(e *Exception, is func(*Exception) (bool, error)) (yes, no Value, err error) {
	if err := m.Enter(); err != nil {
		return None, None, err
	}
	defer m.Exit()
	m.Charge(m.dyn.NativeCall)
	hit, err := is(e)
	if err != nil {
		return None, None, err
	}
	if hit {
		return e.val(), None, nil
	}
	if e.group == nil {
		return None, e.val(), nil
	}
	hold := m.newList(nil)
	defer m.Release(m.Hold(Value{ref: &hold.Object}))
	var in, out []Value
	// Paid: by splitGroup, a native call each.
	for _, item := range e.group {
		sub, _ := item.exception()
		y, n, err := m.splitGroup(sub, is)
		if err != nil {
			return None, None, err
		}
		if !y.IsNone() {
			in = append(in, y)
		}
		if !n.IsNone() {
			out = append(out, n)
		}
		hold.items = append(hold.items, y, n)
	}
	if yes, err = m.deriveGroup(e, in); err != nil {
		return None, None, err
	}
	no, err = m.deriveGroup(e, out)
	return yes, no, err
}

// deriveGroup makes a group of parts with the metadata of e.
func (m *Machine) deriveGroup(e *Exception, parts []Value) (Value, error) {
	if len(parts) == 0 {
		return None, nil
	}
	fn, err := m.GetAttr(e.val(), m.newStr("derive"))
	if err != nil {
		return None, err
	}
	m.Charge(m.Work().GroupSplit * m.dyn.NativeCall)
	list := m.newList(parts)
	r, err := m.Call(fn, Value{ref: &list.Object})
	if err != nil {
		return None, err
	}
	g, ok := r.exception()
	if !ok || g.group == nil {
		return None, m.Raise(m.rt.classes.TypeError, "derive must return an instance of BaseExceptionGroup")
	}
	g.trace, g.cause, g.context, g.suppress = m.copyTrace(e), e.cause, e.context, e.suppress
	name := m.newStr("__notes__")
	notes, ok, err := m.LookupAttr(e.val(), name)
	if err != nil || !ok {
		return r, err
	}
	if l, isList := notes.ref.self.(*List); isList {
		c := m.newList(append([]Value(nil), l.items...))
		err = m.SetAttr(r, name, Value{ref: &c.Object})
	}
	return r, err
}

// copyTrace returns the traceback of e for another exception, which is raised from there
// on: were it shared, the first place that this one passes would copy it, unpaid.
func (m *Machine) copyTrace(e *Exception) []TraceEntry {
	m.Alloc(len(e.trace) * traceBytes)
	return append(make([]TraceEntry, 0, len(e.trace)+1), e.trace...) // with room for where it is raised
}

// matchGroup is "except* types" for e: the part that matches and the rest, None
// for nothing. An exception that is no group is wrapped when it matches.
func (m *Machine) matchGroup(e *Exception, types Value) (yes, no Value, err error) {
	if err := m.checkStarTypes(types); err != nil {
		return None, None, err
	}
	if e.group != nil {
		return m.splitGroup(e, func(x *Exception) (bool, error) { return m.matches(x, types) })
	}
	hit, err := m.matches(e, types)
	if err != nil || !hit {
		return None, e.val(), err
	}
	t := m.tupleOf([]Value{e.val()})
	g, err := m.Call(m.rt.classes.BaseExceptionGroup.value(), m.newStr("").val(), t)
	if err != nil {
		return None, None, err
	}
	ge, _ := g.exception()
	ge.trace = m.copyTrace(e)
	return g, None, nil
}

func (m *Machine) checkStarTypes(types Value) error {
	all := []Value{types}
	if t, ok := types.ref.self.(*Tuple); ok {
		all = t.items
		m.elements(2 * len(all))
	}
	// Paid: by elements above.
	for _, v := range all {
		if !m.isExceptionClass(v) {
			return m.notCatchable()
		}
		if c, _ := v.asClass(); c.subclassOf(m.rt.classes.BaseExceptionGroup) {
			return m.Raise(m.rt.classes.TypeError, "catching ExceptionGroup with except* is not allowed. Use except instead.")
		}
	}
	return nil
}
