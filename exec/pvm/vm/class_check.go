package vm

import "github.com/cowboy-foundation/cowboy/exec/pvm/ucd"

// identifier tells whether name could be a variable.
func identifier(name string) bool {
	// Paid: by who asks, a character for each byte.
	for i, r := range name {
		if r == '_' || i == 0 && ucd.IsIdentStart(r) || i > 0 && ucd.IsIdentContinue(r) {
			continue
		}
		return false
	}
	return name != ""
}

// IsInstance is isinstance(v, class): class may be a tuple or a union.
func (m *Machine) IsInstance(v, class Value) (bool, error) {
	if c, ok := class.asClass(); ok {
		if m.classOf(v) == c {
			return true, nil
		}
		raw := m.classOf(class).sp(spInstancecheck)
		if isBuiltinNative(raw, spInstancecheck) {
			return m.plainInstance(v, c)
		}
		return m.checkBy(raw, class, v)
	}
	if err := m.Enter(); err != nil {
		return false, err
	}
	defer m.Exit()
	if t, ok := class.ref.self.(*Tuple); ok {
		for _, item := range t.items {
			m.Charge(m.dyn.Element)
			if is, err := m.IsInstance(v, item); err != nil || is {
				return is, err
			}
		}
		return false, nil
	}
	if u, ok := unionOf(class); ok {
		return m.anyMember(u, func(c Value) (bool, error) { return m.IsInstance(v, c) })
	}
	if raw, ok := m.specialOf(class, spInstancecheck); ok {
		return m.checkBy(raw, class, v)
	}
	return false, m.Raise(m.rt.classes.TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union")
}

func (m *Machine) checkBy(raw, class, v Value) (bool, error) {
	if err := m.Enter(); err != nil {
		return false, err
	}
	defer m.Exit()
	r, err := m.callBound(raw, class, m.classOf(class), v)
	if err != nil {
		return false, err
	}
	return m.Truth(r)
}

// plainInstance is type.__instancecheck__: by the class, then by __class__.
func (m *Machine) plainInstance(v Value, c *Class) (bool, error) {
	if m.below(m.classOf(v), c) {
		return true, nil
	}
	if v.ref.kind != KindInstance && v.ref.kind != KindForeign {
		return false, nil
	}
	// found where the special methods are: a tuple of classes asks once for each
	if vc := m.classOf(v); vc.sp(spClass) == m.rt.classes.object.sp(spClass) && isBuiltinNative(vc.sp(spGetattribute), spGetattribute) {
		return false, nil
	}
	m.Charge(2 * m.dyn.NativeCall) // for an exception that nobody hears of, and a tuple of classes asks again
	k, ok, err := m.LookupAttr(v, m.newStr("__class__"))
	if err != nil || !ok {
		return false, err
	}
	kc, isClass := k.asClass()
	return isClass && kc.subclassOf(c), nil
}

// IsSubclass is issubclass(c, class).
func (m *Machine) IsSubclass(c, class Value) (bool, error) {
	if k, ok := class.asClass(); ok {
		raw := m.classOf(class).sp(spSubclasscheck)
		if isBuiltinNative(raw, spSubclasscheck) {
			return m.plainSubclass(c, k)
		}
		return m.checkBy(raw, class, c)
	}
	if err := m.Enter(); err != nil {
		return false, err
	}
	defer m.Exit()
	if t, ok := class.ref.self.(*Tuple); ok {
		for _, item := range t.items {
			m.Charge(m.dyn.Element)
			if is, err := m.IsSubclass(c, item); err != nil || is {
				return is, err
			}
		}
		return false, nil
	}
	if u, ok := unionOf(class); ok {
		if !c.isClass() {
			return false, m.notAClass()
		}
		return m.anyMember(u, func(k Value) (bool, error) { return m.IsSubclass(c, k) })
	}
	if raw, ok := m.specialOf(class, spSubclasscheck); ok {
		return m.checkBy(raw, class, c)
	}
	return false, m.Raise(m.rt.classes.TypeError, "issubclass() arg 2 must be a class, a tuple of classes, or a union")
}

func (m *Machine) notAClass() error {
	return m.Raise(m.rt.classes.TypeError, "issubclass() arg 1 must be a class")
}

func (m *Machine) plainSubclass(c Value, k *Class) (bool, error) {
	cc, ok := c.asClass()
	if !ok {
		return false, m.notAClass()
	}
	return m.below(cc, k), nil
}

func typeInstancecheck(m *Machine, a Args) (Value, error) {
	c, ok := a.Values[0].asClass()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "descriptor '__instancecheck__' requires a 'type' object but received a '%s'", m.typeName(a.Values[0]))
	}
	is, err := m.plainInstance(a.Values[1], c)
	return Bool(is), err
}

func typeSubclasscheck(m *Machine, a Args) (Value, error) {
	c, ok := a.Values[0].asClass()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "descriptor '__subclasscheck__' requires a 'type' object but received a '%s'", m.typeName(a.Values[0]))
	}
	is, err := m.plainSubclass(a.Values[1], c)
	return Bool(is), err
}
