package vm

import "slices"

// fillNamespace copies what the class body left behind, and makes __slots__.
func (m *Machine) fillNamespace(c *Class, ns *Dict) error {
	keys, values := m.dictItems(ns)
	m.ChargeEach(len(keys), m.dyn.DictOp)
	m.Alloc(len(keys) * classNameBytes)
	var slots Value
	c.names.keys = make([]string, 0, len(keys))
	// Paid: by the charge for each name above.
	for i, k := range keys {
		name, ok := k.str()
		if !ok {
			return m.Raise(m.rt.classes.TypeError, "class namespace keys must be strings")
		}
		v := values[i]
		m.nameWork(len(name.s))
		m.Alloc(longText(name.s))
		switch name.s {
		case "__slots__":
			slots = v
		case "__qualname__":
			q, isStr := v.str()
			if !isStr {
				return m.Raise(m.rt.classes.TypeError, "type __qualname__ must be a str, not %s", m.typeName(v))
			}
			c.qualName = q.s
			continue
		case "__classcell__":
			cell, isCell := v.ref.self.(*Cell)
			if !isCell {
				return m.Raise(m.rt.classes.TypeError, "type.__new__(): __classcell__ must be a nonlocal cell, not %s", m.typeName(v))
			}
			m.touch(&cell.Object)
			cell.v = c.value()
			continue
		case "__module__":
			if s, isStr := v.str(); isStr {
				c.module = s.s
			}
		case "__new__":
			if v.ref.kind == KindFunction {
				s := &StaticMethod{fn: v}
				v = s.head(KindStaticMethod, nil, s)
			}
		case "__init_subclass__", "__class_getitem__":
			if v.ref.kind == KindFunction {
				v = newClassMethod(v)
			}
		case "__del__":
			return m.Raise(m.rt.classes.DeterminismError, "__del__ is forbidden: it would run when memory is freed")
		}
		c.names.put(m.normal(name), v)
	}
	if _, ok := c.names.get("__eq__"); ok {
		if _, ok := c.names.get("__hash__"); !ok {
			c.names.put("__hash__", None)
		}
	}
	if _, ok := c.names.get("__doc__"); !ok {
		c.names.put("__doc__", None)
	}
	return m.makeSlots(c, slots)
}

// makeSlots gives the class its members and decides on __dict__.
func (m *Machine) makeSlots(c *Class, slots Value) error {
	if !slots.Bound() {
		c.hasDict = true
		return nil
	}
	var items []Value
	if slots.ref.kind == KindStr {
		items = []Value{slots}
	} else {
		var err error
		if items, err = m.Collect(slots); err != nil {
			return err
		}
	}
	members := c.slots[:len(c.slots):len(c.slots)]
	if len(items) > 0 { // those of the bases are copied
		m.looked(int64(len(members)))
		m.Alloc(len(members) * mroBytes)
	}
	// Paid: by Collect, an element each.
	for _, item := range items {
		s, ok := item.str()
		if !ok {
			return m.Raise(m.rt.classes.TypeError, "__slots__ items must be strings, not '%s'", m.typeName(item))
		}
		m.ChargeEach(len(s.s), m.dyn.Char)
		m.Charge(m.dyn.NativeCall) // for its member
		if !identifier(s.s) {
			return m.Raise(m.rt.classes.TypeError, "__slots__ must be identifiers")
		}
		name := m.mangle(c.name, s.s)
		if name == "__dict__" {
			c.hasDict = true
			continue
		}
		if name == "__weakref__" {
			continue
		}
		if _, taken := c.names.get(name); taken {
			return m.Raise(m.rt.classes.ValueError, "'%s' in __slots__ conflicts with class variable", s.s)
		}
		if c.layout != KindInstance && c.layout != KindException {
			return m.Raise(m.rt.classes.TypeError, "nonempty __slots__ not supported for subtype of '%s'", c.bases[0].name)
		}
		d := &Member{name: name, owner: c, index: len(members)}
		c.names.put(name, d.head(KindMember, nil, d))
		members = append(members, d)
		m.Alloc(smallBytes)
	}
	c.slots = members
	return nil
}

// mangle is the private form of a name in a class, which a class with a long name makes
// long.
func (m *Machine) mangle(class, name string) string {
	if len(name) < 3 || name[:2] != "__" || name[len(name)-2:] == "__" {
		return name
	}
	m.looked(int64(len(class)))
	// Paid: by the line above.
	for len(class) > 0 && class[0] == '_' {
		class = class[1:]
	}
	if class == "" {
		return name
	}
	m.Alloc(1 + len(class) + len(name))
	m.nameWork(1 + len(class) + len(name))
	return "_" + class + name
}

// announceClass calls __set_name__ of the values and __init_subclass__ of the
// parent.
func (m *Machine) announceClass(c *Class, names []*Str, values []Value) error {
	defer m.Release(m.Hold(c.value()))
	m.elements(len(c.names.keys))
	// Paid: by the line above.
	keys, found := slices.Clone(c.names.keys), slices.Clone(c.names.values) // the calls may change the class
	// Paid: by elements above.
	for i, key := range keys {
		v := found[i]
		if key == "" || !v.Bound() {
			continue
		}
		k := m.classOf(v)
		raw := k.sp(spSetName)
		if !raw.Bound() {
			continue
		}
		if _, err := m.callBound(raw, v, k, c.value(), m.newStr(key).val()); err != nil {
			return m.setNameError(err, v, key, c)
		}
	}
	s := &Super{class: c, obj: c.value(), start: c}
	sv := s.head(KindSuper, nil, s)
	fn, err := m.GetAttr(sv, m.newStr("__init_subclass__"))
	if err != nil {
		return err
	}
	_, err = m.CallArgs(fn, Args{values, names})
	return err
}

// setNameError is 3.11's RuntimeError around what __set_name__ raised.
func (m *Machine) setNameError(err error, v Value, key string, c *Class) error {
	r, ok := err.(*Raised)
	if !ok {
		return err
	}
	out := m.Raise(m.rt.classes.RuntimeError, "Error calling __set_name__ on '%s' instance '%s' in '%s'", m.typeName(v), key, c.name)
	if w, ok := out.(*Raised); ok {
		w.Exc.cause, w.Exc.context, w.Exc.suppress = r.Exc.val(), r.Exc.val(), true
	}
	return out
}
