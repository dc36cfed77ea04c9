package vm

import "fmt"

func (e *Exception) val() Value { return Value{ref: &e.Object} }

// Value returns the exception as a Python value.
func (e *Exception) Value() Value { return e.val() }

// exception returns v as an exception instance.
func (v Value) exception() (*Exception, bool) {
	if v.ref == nil || v.ref.kind != KindException {
		return nil, false
	}
	e, ok := v.ref.self.(*Exception)
	return e, ok
}

// newException makes an instance of c without calling its __init__.
func (m *Machine) newException(c *Class, args []Value) *Exception {
	m.Alloc(exceptionBytes + len(args)*valueBytes)
	e := &Exception{args: args}
	e.head(KindException, c, e)
	return e
}

// Raise makes an exception of a builtin class. The format is a literal, so that
// every text is in the table that genesis hashes (resolution 11.47).
func (m *Machine) Raise(c *Class, format string, args ...any) error {
	text := format
	if len(args) > 0 {
		size := 0
		// Bounded: by the format, a literal.
		for _, a := range args {
			if s, ok := a.(string); ok {
				size += len(s)
			}
		}
		m.ChargeEach(size, m.dyn.Char)
		m.Alloc(size)
		text = fmt.Sprintf(format, args...)
	}
	return m.RaiseValue(c, m.newStr(text).val())
}

// RaiseValue makes an exception of class c with these args.
func (m *Machine) RaiseValue(c *Class, args ...Value) error {
	e := m.newException(c, append([]Value(nil), args...))
	if c.subclassOf(m.rt.classes.StopIteration) && len(args) > 0 {
		e.value = args[0]
	}
	return m.raise(e)
}

// raise sends e on its way, with what is being handled as its context.
func (m *Machine) raise(e *Exception) error {
	if h := m.handling(); h != nil && h != e && !e.context.Bound() {
		m.setContext(e, h)
	}
	return e.onItsWay()
}

// setContext makes h the context of e and cuts a cycle that this would close.
//
// A program can make a cycle without e, which the walk notices by meeting a slower
// one, as CPython does.
func (m *Machine) setContext(e, h *Exception) {
	slow, step := h, false
	for o := h; ; {
		next, ok := o.context.exception()
		if !ok {
			break
		}
		m.Charge(2 * m.dyn.Element) // read from anywhere, and every other one once more
		if next == e {
			o.context = unbound
			break
		}
		if o = next; o == slow {
			break
		}
		if step {
			slow, _ = slow.context.exception()
		}
		step = !step
	}
	e.context = h.val()
}

// isRaised tells whether err is a Python exception of class c or below.
func (m *Machine) isRaised(err error, c *Class) bool {
	r, ok := err.(*Raised)
	return ok && r.Exc.class.subclassOf(c)
}

// exceptionFrom makes what "raise v" raises: v itself, or an instance of class v.
func (m *Machine) exceptionFrom(v Value) (*Exception, error) {
	if e, ok := v.exception(); ok {
		return e, nil
	}
	c, ok := v.asClass()
	if !ok || !c.subclassOf(m.rt.classes.BaseException) {
		return nil, m.Raise(m.rt.classes.TypeError, "exceptions must derive from BaseException")
	}
	r, err := m.Call(v)
	if err != nil {
		return nil, err
	}
	e, ok := r.exception()
	if !ok {
		return nil, m.notAnException(v, r)
	}
	return e, nil
}

func (m *Machine) notAnException(v, r Value) error {
	return m.Raise(m.rt.classes.TypeError, "calling %s should have returned an instance of BaseException, not %s", m.classText(v), m.typeName(r))
}

// setCause is "raise e from cause".
func (m *Machine) setCause(e *Exception, cause Value) error {
	switch {
	case cause.IsNone():
		e.cause = None
	case cause.isClass():
		c, err := m.exceptionFrom(cause)
		if err != nil {
			return err
		}
		e.cause = c.val()
	default:
		if _, ok := cause.exception(); !ok {
			return m.Raise(m.rt.classes.TypeError, "exception causes must derive from BaseException")
		}
		e.cause = cause
	}
	e.suppress = true
	return nil
}

// matches tells whether e is caught by "except types".
func (m *Machine) matches(e *Exception, types Value) (bool, error) {
	if t, ok := types.ref.self.(*Tuple); ok {
		m.ChargeEach(len(t.items), m.dyn.Element)
		// Paid: by the charge for each class above, and by below.
		for _, item := range t.items {
			if !m.isExceptionClass(item) {
				return false, m.notCatchable()
			}
		}
		// Paid: by the charge for each class above, and by below.
		for _, item := range t.items {
			c, _ := item.asClass()
			if m.below(e.class, c) {
				return true, nil
			}
		}
		return false, nil
	}
	if !m.isExceptionClass(types) {
		return false, m.notCatchable()
	}
	c, _ := types.asClass()
	return e.class.subclassOf(c), nil
}

func (m *Machine) notCatchable() error {
	return m.Raise(m.rt.classes.TypeError, "catching classes that do not inherit from BaseException is not allowed")
}

func (m *Machine) isExceptionClass(v Value) bool {
	c, ok := v.asClass()
	return ok && m.below(c, m.rt.classes.BaseException)
}

// asClass returns v as a class.
func (v Value) asClass() (*Class, bool) {
	if v.ref == nil || v.ref.kind != KindClass {
		return nil, false
	}
	return v.ref.self.(*Class), true
}

// module returns v as a module.
func (v Value) module() (*Module, bool) {
	if v.ref == nil || v.ref.kind != KindModule {
		return nil, false
	}
	return v.ref.self.(*Module), true
}
