package vm

import "strings"

// defineExceptions gives the exception classes their methods.
func (rt *Runtime) defineExceptions() {
	c := rt.classes.BaseException
	rt.methods(c,
		Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: exceptionNew},
		Def{Name: "__init__", Min: 1, Max: -1, Keywords: true, Fn: exceptionInit},
		Def{Name: "__repr__", Min: 1, Max: 1, Fn: exceptionRepr},
		Def{Name: "__str__", Min: 1, Max: 1, Fn: exceptionStr},
		Def{Name: "with_traceback", Min: 2, Max: 2, Fn: func(_ *Machine, a Args) (Value, error) { return a.Values[0], nil }},
		Def{Name: "add_note", Min: 2, Max: 2, Fn: exceptionAddNote},
	)
	field := func(get func(m *Machine, e *Exception) (Value, error)) func(*Machine, Value) (Value, error) {
		return func(m *Machine, v Value) (Value, error) { e, _ := v.exception(); return get(m, e) }
	}
	rt.getters(c, "args", field(func(m *Machine, e *Exception) (Value, error) { return m.tupleOf(e.args), nil }), setExceptionArgs)
	rt.getters(c, "__cause__", field(func(_ *Machine, e *Exception) (Value, error) { return orNone(e.cause), nil }), setExceptionCause)
	rt.getters(c, "__context__", field(func(_ *Machine, e *Exception) (Value, error) { return orNone(e.context), nil }), setExceptionContext)
	rt.getters(c, "__suppress_context__", field(func(_ *Machine, e *Exception) (Value, error) { return Bool(e.suppress), nil }),
		func(m *Machine, v, x Value) error {
			t, err := m.Truth(orNone(x))
			e, _ := v.exception()
			e.suppress = t
			return err
		})
	rt.getters(c, "__traceback__", field(tracebackOf), func(m *Machine, v, x Value) error {
		if e, _ := v.exception(); orNone(x).IsNone() {
			e.trace = nil
		}
		return nil
	})
	value := func(get func(m *Machine, e *Exception) (Value, error)) func(*Machine, Value) (Value, error) {
		return field(get)
	}
	setValue := func(_ *Machine, v, x Value) error {
		e, _ := v.exception()
		e.value = orNone(x)
		return nil
	}
	rt.methods(rt.classes.StopIteration, Def{Name: "__init__", Min: 1, Max: -1, Fn: stopIterationInit})
	rt.getters(rt.classes.StopIteration, "value", value(func(_ *Machine, e *Exception) (Value, error) { return orNone(e.value), nil }), setValue)
	rt.methods(rt.classes.SystemExit, Def{Name: "__init__", Min: 1, Max: -1, Fn: systemExitInit})
	rt.getters(rt.classes.SystemExit, "code", value(func(_ *Machine, e *Exception) (Value, error) { return orNone(e.value), nil }), setValue)
	rt.methods(rt.classes.KeyError, Def{Name: "__str__", Min: 1, Max: 1, Fn: keyErrorStr})
	// Bounded: by the source, once when the runtime is made.
	for _, named := range []*Class{rt.classes.AttributeError, rt.classes.NameError, rt.classes.ImportError} {
		rt.methods(named, Def{Name: "__init__", Min: 1, Max: -1, Keywords: true, Fn: namedInit})
	}
	rt.defineGroups()
	rt.defineOSError()
	rt.defineSyntaxError()
	rt.defineUnicodeErrors()
}

func exceptionNew(m *Machine, a Args) (Value, error) {
	c, ok := a.Values[0].asClass()
	if !ok || c.layout != KindException {
		return unbound, m.Raise(m.rt.classes.TypeError, "BaseException.__new__(X): X is not a type object (%s)", m.typeName(a.Values[0]))
	}
	if err := m.checkAbstract(c); err != nil {
		return unbound, err
	}
	e := m.newException(c, append([]Value(nil), a.Positional()[1:]...))
	if len(c.slots) > 0 {
		m.chargeMake(len(c.slots))
		e.slots = make([]Value, len(c.slots))
	}
	return e.val(), nil
}

func exceptionInit(m *Machine, a Args) (Value, error) {
	e, _ := a.Values[0].exception()
	if len(a.Names) > 0 {
		return unbound, m.Raise(m.rt.classes.TypeError, "%s() takes no keyword arguments", e.class.name)
	}
	if !sameValues(e.args, a.Values[1:]) {
		m.Alloc(len(a.Values) * valueBytes)
		e.args = append([]Value(nil), a.Values[1:]...)
	}
	return None, nil
}

// sameValues tells whether __init__ receives what __new__ kept.
func sameValues(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	// Paid: by the call, which put each argument there.
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

func stopIterationInit(m *Machine, a Args) (Value, error) {
	e, _ := a.Values[0].exception()
	if len(a.Values) > 1 {
		e.value = a.Values[1]
	}
	return exceptionInit(m, a)
}

func systemExitInit(m *Machine, a Args) (Value, error) {
	e, _ := a.Values[0].exception()
	switch len(a.Values) {
	case 1:
	case 2:
		e.value = a.Values[1]
	default:
		e.value = m.tupleOf(a.Values[1:])
	}
	return exceptionInit(m, a)
}

// namedInit takes the keywords name, obj and path and keeps them as attributes.
func namedInit(m *Machine, a Args) (Value, error) {
	e, _ := a.Values[0].exception()
	first := len(a.Values) - len(a.Names)
	known := map[*Class][]string{
		m.rt.classes.AttributeError: {"name", "obj"}, m.rt.classes.NameError: {"name"}, m.rt.classes.ImportError: {"name", "path"},
	}
	var names []string
	owner := ""
	// Bounded: by MROClasses, 64.
	for _, c := range e.class.mro {
		if l, ok := known[c]; ok {
			names, owner = l, c.name
			break
		}
	}
	at := m.attrsOf(e.val(), true)
	// Bounded: by two names.
	for _, n := range names {
		at.put(m, e.class, m.newStr(n), None)
	}
	// Bounded: by two names: each may come once, another ends it.
	for i, n := range a.Names {
		ok := false
		// Bounded: by two names.
		for _, k := range names {
			ok = ok || k == n.s
		}
		if !ok {
			return unbound, m.Raise(m.rt.classes.TypeError, "'%s' is an invalid keyword argument for %s", n.s, owner)
		}
		at.put(m, e.class, n, a.Values[first+i])
	}
	if owner == "ImportError" {
		msg := None
		if first == 2 {
			msg = a.Values[1]
		}
		at.put(m, e.class, m.newStr("msg"), msg)
	}
	return exceptionInit(m, Args{Values: a.Values[:first]})
}

func exceptionRepr(m *Machine, a Args) (Value, error) {
	e, _ := a.Values[0].exception()
	if len(e.args) == 1 {
		s, err := m.Repr(e.args[0])
		if err != nil {
			return unbound, err
		}
		return m.newStr(e.class.name + "(" + s.s + ")").val(), nil
	}
	s, err := m.Repr(m.tupleOf(e.args))
	if err != nil {
		return unbound, err
	}
	return m.newStr(e.class.name + s.s).val(), nil
}

func exceptionStr(m *Machine, a Args) (Value, error) {
	e, _ := a.Values[0].exception()
	switch len(e.args) {
	case 0:
		return m.newStr("").val(), nil
	case 1:
		return m.strOf(e.args[0])
	}
	return m.strOf(m.tupleOf(e.args))
}

func (m *Machine) strOf(v Value) (Value, error) {
	s, err := m.Str(v)
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

func keyErrorStr(m *Machine, a Args) (Value, error) {
	e, _ := a.Values[0].exception()
	if len(e.args) != 1 {
		return exceptionStr(m, a)
	}
	s, err := m.Repr(e.args[0])
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

func exceptionAddNote(m *Machine, a Args) (Value, error) {
	if _, ok := a.Values[1].str(); !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "note must be a str, not '%s'", m.typeName(a.Values[1]))
	}
	name := m.newStr("__notes__")
	notes, ok, err := m.LookupAttr(a.Values[0], name)
	if err != nil {
		return unbound, err
	}
	if !ok {
		l := m.newList(nil)
		notes = Value{ref: &l.Object}
		if err := m.SetAttr(a.Values[0], name, notes); err != nil {
			return unbound, err
		}
	}
	l, isList := notes.ref.self.(*List)
	if !isList {
		return unbound, m.Raise(m.rt.classes.TypeError, "Cannot add note: __notes__ is not a list")
	}
	l.append(m, a.Values[1])
	return None, nil
}

func setExceptionArgs(m *Machine, v, x Value) error {
	if !x.Bound() {
		return m.Raise(m.rt.classes.TypeError, "args may not be deleted")
	}
	items, err := m.Collect(x)
	e, _ := v.exception()
	e.args = items
	return err
}

func setExceptionCause(m *Machine, v, x Value) error {
	e, _ := v.exception()
	if _, ok := x.exception(); !ok && !x.IsNone() {
		return m.Raise(m.rt.classes.TypeError, "exception cause must be None or derive from BaseException")
	}
	e.cause, e.suppress = x, true
	return nil
}

func setExceptionContext(m *Machine, v, x Value) error {
	e, _ := v.exception()
	if _, ok := x.exception(); !ok && !x.IsNone() {
		return m.Raise(m.rt.classes.TypeError, "exception context must be None or derive from BaseException")
	}
	e.context = x
	return nil
}

// tracebackOf is a traceback object while the exception has passed a place; it
// shows nothing but that.
func tracebackOf(m *Machine, e *Exception) (Value, error) {
	if len(e.trace) == 0 {
		return None, nil
	}
	o := &Object{}
	return o.head(KindTraceback, nil, o), nil
}

// defineOSError gives OSError errno, strerror and filename.
func (rt *Runtime) defineOSError() {
	at := func(i int) func(*Machine, Value) (Value, error) {
		return func(_ *Machine, v Value) (Value, error) {
			if e, _ := v.exception(); len(e.args) >= 2 && i < len(e.args) {
				return e.args[i], nil
			}
			return None, nil
		}
	}
	c := rt.classes.OSError
	// Bounded: by the source, once when the runtime is made.
	for i, name := range []string{"errno", "strerror", "filename"} {
		rt.getters(c, name, at(i), nil)
	}
	rt.methods(c, Def{Name: "__str__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
		e, _ := a.Values[0].exception()
		if len(e.args) < 2 || len(e.args) > 3 {
			return exceptionStr(m, a)
		}
		var parts [3]string
		// Bounded: by three.
		for i, v := range e.args {
			s, err := m.Str(v)
			if i == 2 {
				s, err = m.Repr(v)
			}
			if err != nil {
				return unbound, err
			}
			parts[i] = s.s
		}
		text := "[Errno " + parts[0] + "] " + parts[1]
		if len(e.args) == 3 {
			text += ": " + parts[2]
		}
		return m.newStr(text).val(), nil
	}})
}

// defineSyntaxError gives SyntaxError msg and its place.
func (rt *Runtime) defineSyntaxError() {
	c := rt.classes.SyntaxError
	rt.getters(c, "msg", func(_ *Machine, v Value) (Value, error) {
		if e, _ := v.exception(); len(e.args) > 0 {
			return e.args[0], nil
		}
		return None, nil
	}, nil)
	// Bounded: by the source, once when the runtime is made.
	for i, name := range []string{"filename", "lineno", "offset", "text", "end_lineno", "end_offset"} {
		rt.getters(c, name, func(_ *Machine, v Value) (Value, error) {
			if e, _ := v.exception(); len(e.args) > 1 {
				if t, ok := e.args[1].ref.self.(*Tuple); ok && i < len(t.items) {
					return t.items[i], nil
				}
			}
			return None, nil
		}, nil)
	}
	rt.methods(c, Def{Name: "__str__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
		if e, _ := a.Values[0].exception(); len(e.args) > 0 {
			return m.strOf(e.args[0])
		}
		return m.newStr("None").val(), nil
	}})
}

// defineUnicodeErrors gives the codec errors their fields.
func (rt *Runtime) defineUnicodeErrors() {
	fields := []string{"encoding", "object", "start", "end", "reason"}
	// Bounded: by the source, once when the runtime is made.
	for _, c := range []*Class{rt.classes.UnicodeDecodeError, rt.classes.UnicodeEncodeError} {
		// Bounded: by the source, once when the runtime is made.
		for i, name := range fields {
			rt.getters(c, name, func(_ *Machine, v Value) (Value, error) {
				if e, _ := v.exception(); i < len(e.args) {
					return e.args[i], nil
				}
				return None, nil
			}, nil)
		}
		rt.methods(c, Def{Name: "__str__", Min: 1, Max: 1, Fn: codecErrorStr})
	}
}

// codecErrorStr is CPython's sentence about a character or bytes.
func codecErrorStr(m *Machine, a Args) (Value, error) {
	e, _ := a.Values[0].exception()
	if len(e.args) != 5 {
		return exceptionStr(m, a)
	}
	start, err := m.Index(e.args[2])
	if err != nil {
		return unbound, err
	}
	end, err := m.Index(e.args[3])
	if err != nil {
		return unbound, err
	}
	verb, unit := "decode", "byte"
	if e.class.subclassOf(m.rt.classes.UnicodeEncodeError) {
		verb, unit = "encode", "character"
	}
	var b strings.Builder
	b.WriteString("'" + nameText(e.args[0]) + "' codec can't " + verb + " " + unit)
	item, err := m.GetItem(e.args[1], e.args[2])
	if end-start == 1 && err == nil {
		if n, ok := item.smallInt(); ok {
			b.WriteString(" 0x" + string("0123456789abcdef"[n>>4&15]) + string("0123456789abcdef"[n&15]))
		} else {
			text := nameText(item)
			m.ChargeEach(len(text), m.dyn.Char)
			b.WriteString(" '" + escapeNonASCII(text) + "'")
		}
		s, err := m.Str(e.args[2])
		if err != nil {
			return unbound, err
		}
		b.WriteString(" in position " + s.s)
	} else {
		last, err := m.Str(SmallInt(end - 1))
		if err != nil {
			return unbound, err
		}
		first, err := m.Str(e.args[2])
		if err != nil {
			return unbound, err
		}
		b.WriteString("s in position " + first.s + "-" + last.s)
	}
	b.WriteString(": " + nameText(e.args[4]))
	return m.newStr(b.String()).val(), nil
}
