package vm

// defineType builds type, whose class the caller has made.
func (rt *Runtime) defineType() {
	c := rt.classes.type_
	rt.methods(c,
		Def{Name: "__new__", Min: 2, Max: -1, Keywords: true, Fn: typeNew},
		Def{Name: "__init__", Min: 1, Max: -1, Keywords: true, Fn: typeInit},
		Def{Name: "__call__", Min: 1, Max: -1, Keywords: true, Fn: typeCall},
		Def{Name: "__getattribute__", Min: 2, Max: 2, Fn: objectGetattribute},
		Def{Name: "__setattr__", Min: 3, Max: 3, Fn: objectSetattr},
		Def{Name: "__delattr__", Min: 2, Max: 2, Fn: objectSetattr},
		Def{Name: "__repr__", Min: 1, Max: 1, Fn: objectRepr},
		Def{Name: "__instancecheck__", Min: 2, Max: 2, Fn: typeInstancecheck},
		Def{Name: "__subclasscheck__", Min: 2, Max: 2, Fn: typeSubclasscheck},
		Def{Name: "__or__", Min: 2, Max: 2, Fn: unionOr},
		Def{Name: "__ror__", Min: 2, Max: 2, Fn: unionRor},
		Def{Name: "mro", Min: 1, Max: 1, Fn: typeMRO},
	)
	rt.classMethods(c, Def{Name: "__prepare__", Min: 1, Max: -1, Keywords: true, Fn: func(m *Machine, _ Args) (Value, error) {
		d := m.newDict()
		return Value{ref: &d.Object}, nil
	}})
	rt.getters(c, "__name__", typeText(func(k *Class) string { return k.name }), setTypeName)
	rt.getters(c, "__qualname__", typeText(func(k *Class) string { return k.qualName }), setTypeQualName)
	rt.getters(c, "__module__", typeModule, setTypeModule)
	rt.getters(c, "__mro__", func(m *Machine, v Value) (Value, error) { return m.classTuple(classIn(v).mro), nil }, nil)
	rt.getters(c, "__bases__", func(m *Machine, v Value) (Value, error) { return m.classTuple(classIn(v).bases), nil }, nil)
	rt.getters(c, "__base__", typeBase, nil)
	rt.getters(c, "__dict__", typeDict, nil)
	rt.getters(c, "__doc__", typeDoc, func(m *Machine, v, x Value) error {
		if !x.Bound() {
			return m.Raise(m.rt.classes.TypeError, "cannot delete '__doc__' attribute of immutable type '%s'", classIn(v).name)
		}
		return m.classSetPlain(classIn(v), "__doc__", x)
	})
	rt.getters(c, "__abstractmethods__", typeAbstract, func(m *Machine, v, x Value) error {
		return m.classSetPlain(classIn(v), "__abstractmethods__", x)
	})
	rt.getters(c, "__annotations__", typeAnnotations, func(m *Machine, v, x Value) error {
		return m.classSetPlain(classIn(v), "__annotations__", x)
	})
}

func classIn(v Value) *Class {
	c, _ := v.asClass()
	return c
}

func typeInit(m *Machine, a Args) (Value, error) {
	if n := len(a.Positional()); n != 2 && n != 4 {
		return unbound, m.Raise(m.rt.classes.TypeError, "type.__init__() takes 1 or 3 arguments")
	}
	return None, nil
}

func typeCall(m *Machine, a Args) (Value, error) {
	c, ok := a.Values[0].asClass()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "descriptor '__call__' requires a 'type' object but received a '%s'", m.typeName(a.Values[0]))
	}
	return m.instantiate(c, Args{a.Values[1:], a.Names})
}

// instantiate is what calling a class does when its metaclass has no __call__ of
// its own.
func (m *Machine) instantiate(c *Class, a Args) (Value, error) {
	if c == m.rt.classes.type_ && len(a.Values) == 1 && len(a.Names) == 0 {
		return m.classOf(a.Values[0]).value(), nil
	}
	args := Args{prepend(c.value(), a.Values), a.Names}
	v, err := m.callNew(c, args)
	if err != nil || !m.classOf(v).subclassOf(c) {
		return v, err
	}
	k := m.classOf(v)
	raw := k.sp(spInit)
	if n, ok := raw.ref.self.(*Native); ok && n == m.rt.objectInit {
		if len(a.Values) > 0 {
			args.Values[0] = v
			_, err = objectInit(m, args)
		}
		return v, err
	}
	defer m.Release(m.Hold(v))
	args.Values[0] = v
	r, err := m.callInit(raw, v, k, args)
	if err == nil && !r.IsNone() {
		err = m.Raise(m.rt.classes.TypeError, "__init__() should return None, not '%s'", m.typeName(r))
	}
	return v, err
}

// callNew calls the class's __new__ with the class first.
func (m *Machine) callNew(c *Class, args Args) (Value, error) {
	raw := c.sp(spNew)
	fn, err := m.bind(raw, unbound, c)
	if err != nil {
		return unbound, err
	}
	return m.CallArgs(fn, args)
}

// callInit calls __init__, whose receiver is already first in args.
func (m *Machine) callInit(raw, v Value, k *Class, args Args) (Value, error) {
	if bindsSelf(raw) {
		return m.CallArgs(raw, args)
	}
	fn, err := m.bind(raw, v, k)
	if err != nil {
		return unbound, err
	}
	return m.CallArgs(fn, Args{args.Values[1:], args.Names})
}

func typeMRO(m *Machine, a Args) (Value, error) {
	l := m.newList(nil)
	m.elements(2 * len(classIn(a.Values[0]).mro))
	// Paid: by the line above.
	for _, k := range classIn(a.Values[0]).mro {
		l.items = append(l.items, k.value())
	}
	return Value{ref: &l.Object}, nil
}

func (m *Machine) classTuple(classes []*Class) Value {
	m.elements(2 * len(classes))
	items := make([]Value, len(classes))
	// Paid: by elements above.
	for i, k := range classes {
		items[i] = k.value()
	}
	t := m.newTuple(items)
	return Value{ref: &t.Object}
}

func typeText(pick func(*Class) string) func(*Machine, Value) (Value, error) {
	return func(m *Machine, v Value) (Value, error) {
		return m.madeText(pick(classIn(v))), nil
	}
}

func (m *Machine) immutableClass(k *Class, name string) error {
	return m.Raise(m.rt.classes.TypeError, "cannot set '%s' attribute of immutable type '%s'", name, k.name)
}

func setTypeName(m *Machine, v, x Value) error {
	k := classIn(v)
	s, ok := x.str()
	if k.builtin || !x.Bound() {
		return m.immutableClass(k, "__name__")
	}
	if !ok {
		return m.Raise(m.rt.classes.TypeError, "can only assign string to %s.__name__, not '%s'", k.name, m.typeName(x))
	}
	m.touch(&k.Object)
	k.name = s.s
	return nil
}

func setTypeQualName(m *Machine, v, x Value) error {
	k := classIn(v)
	s, ok := x.str()
	if k.builtin || !x.Bound() {
		return m.immutableClass(k, "__qualname__")
	}
	if !ok {
		return m.Raise(m.rt.classes.TypeError, "can only assign string to %s.__qualname__, not '%s'", k.name, m.typeName(x))
	}
	m.touch(&k.Object)
	k.qualName = s.s
	return nil
}

func typeModule(m *Machine, v Value) (Value, error) {
	k := classIn(v)
	if own, ok := k.names.get("__module__"); ok {
		return own, nil
	}
	return m.madeText(k.module), nil
}

func setTypeModule(m *Machine, v, x Value) error {
	k := classIn(v)
	if k.builtin || !x.Bound() {
		return m.immutableClass(k, "__module__")
	}
	m.touch(&k.Object)
	if s, ok := x.str(); ok {
		k.module = s.s
	}
	return m.classSetPlain(k, "__module__", x)
}

func typeBase(m *Machine, v Value) (Value, error) {
	k := classIn(v)
	if len(k.bases) == 0 {
		return None, nil
	}
	// Bounded: by MROClasses, 64.
	for _, b := range k.bases {
		if b.layout == k.layout && b.layout != KindInstance {
			return b.value(), nil
		}
	}
	return k.bases[0].value(), nil
}

// typeDict is a mapping proxy over the namespace as it is now.
func typeDict(m *Machine, v Value) (Value, error) {
	k := classIn(v)
	m.ChargeEach(len(k.names.keys), m.dyn.NativeCall) // a name and an entry each
	d := m.newDict()
	d.table.reserve(m, len(k.names.keys))
	// Paid: by the native call for each above, and by looked for its length.
	for i, key := range k.names.keys {
		if key != "" && !forbiddenName(key) {
			m.looked(int64(len(key)))
			d.putStr(m, m.newStr(key), k.names.values[i])
		}
	}
	return m.newMappingProxy(Value{ref: &d.Object}), nil
}

func typeDoc(m *Machine, v Value) (Value, error) {
	if doc, ok := classIn(v).names.get("__doc__"); ok && doc.ref.kind != KindMember {
		return m.bind(doc, unbound, classIn(v))
	}
	return None, nil
}

func typeAbstract(m *Machine, v Value) (Value, error) {
	if r, ok := classIn(v).names.get("__abstractmethods__"); ok && r.ref.kind != KindMember {
		return r, nil
	}
	return unbound, m.raiseAttribute(v, m.newStr("__abstractmethods__"), "type object '%s' has no attribute '%s'", classIn(v).name, "__abstractmethods__")
}

func typeAnnotations(m *Machine, v Value) (Value, error) {
	k := classIn(v)
	if r, ok := k.names.get("__annotations__"); ok && r.ref.kind != KindMember {
		return r, nil
	}
	if k.builtin {
		return unbound, m.raiseAttribute(v, m.newStr("__annotations__"), "type object '%s' has no attribute '%s'", k.name, "__annotations__")
	}
	d := m.newDict()
	m.touch(&k.Object)
	k.names.put("__annotations__", Value{ref: &d.Object})
	m.changed(k)
	return Value{ref: &d.Object}, nil
}

// classSetPlain writes into the namespace past descriptors.
func (m *Machine) classSetPlain(k *Class, name string, x Value) error {
	if k.builtin {
		return m.immutableClass(k, name)
	}
	m.touch(&k.Object)
	if !x.Bound() {
		if !k.names.del(name) {
			return m.raiseAttribute(k.value(), m.newStr(name), "type object '%s' has no attribute '%s'", k.name, name)
		}
	} else {
		k.names.put(name, x)
	}
	m.changed(k)
	return nil
}
