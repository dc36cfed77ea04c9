package vm

// Descriptors of this area: property, members and super.

func (m *Machine) getProperty(p *Property, self, obj Value) (Value, error) {
	if !obj.Bound() {
		return self, nil
	}
	if p.get.IsNone() {
		return unbound, m.propertyMissing(p, obj, "getter")
	}
	return m.Call(p.get, obj)
}

func (m *Machine) setProperty(p *Property, _, obj, x Value) error {
	if !x.Bound() {
		if p.del.IsNone() {
			return m.propertyMissing(p, obj, "deleter")
		}
		_, err := m.Call(p.del, obj)
		return err
	}
	if p.set.IsNone() {
		return m.propertyMissing(p, obj, "setter")
	}
	_, err := m.Call(p.set, obj, x)
	return err
}

func (m *Machine) propertyMissing(p *Property, obj Value, what string) error {
	c := m.classOf(obj)
	if p.name == "" {
		return m.Raise(m.rt.classes.AttributeError, "property of '%s' object has no %s", c.qualName, what)
	}
	return m.Raise(m.rt.classes.AttributeError, "property '%s' of '%s' object has no %s", p.name, c.qualName, what)
}

func (m *Machine) getMember(d *Member, self, obj Value) (Value, error) {
	if !obj.Bound() {
		return self, nil
	}
	if !m.classOf(obj).subclassOf(d.owner) {
		return unbound, m.Raise(m.rt.classes.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", d.name, d.owner.name, m.typeName(obj))
	}
	if d.get != nil {
		return d.get(m, obj)
	}
	slots := slotsOf(obj)
	if slots == nil || !(*slots)[d.index].Bound() {
		return unbound, m.raiseAttribute(obj, m.newStr(d.name), "'%s' object has no attribute '%s'", m.typeName(obj), d.name)
	}
	return (*slots)[d.index], nil
}

func (m *Machine) setMember(d *Member, _, obj, x Value) error {
	if !m.classOf(obj).subclassOf(d.owner) {
		return m.Raise(m.rt.classes.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", d.name, d.owner.name, m.typeName(obj))
	}
	if d.get != nil {
		if d.set == nil {
			return m.raiseAttribute(obj, m.newStr(d.name), "attribute '%s' of '%s' objects is not writable", d.name, d.owner.name)
		}
		return d.set(m, obj, x)
	}
	slots := slotsOf(obj)
	if slots == nil {
		return m.noAttribute(obj, m.newStr(d.name))
	}
	if !x.Bound() && !(*slots)[d.index].Bound() {
		return m.raiseAttribute(obj, m.newStr(d.name), "'%s' object has no attribute '%s'", m.typeName(obj), d.name)
	}
	m.touch(obj.ref)
	(*slots)[d.index] = x
	return nil
}

// slotsOf returns the storage of __slots__.
func slotsOf(v Value) *[]Value {
	switch o := v.ref.self.(type) {
	case *Instance:
		return &o.slots
	case *Exception:
		return &o.slots
	}
	return nil
}

// defineDescriptors builds property, staticmethod, classmethod, super and the
// member descriptors.
func (rt *Runtime) defineDescriptors() {
	b := &rt.classes
	b.property = rt.newClass("property", KindProperty)
	rt.methods(b.property,
		Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: propertyNew},
		Def{Name: "__init__", Min: 1, Max: 5, Params: []string{"self", "fget", "fset", "fdel", "doc"}, Fn: propertyInit},
		Def{Name: "getter", Min: 2, Max: 2, Fn: propertyCopy(0)},
		Def{Name: "setter", Min: 2, Max: 2, Fn: propertyCopy(1)},
		Def{Name: "deleter", Min: 2, Max: 2, Fn: propertyCopy(2)},
		Def{Name: "__get__", Min: 2, Max: 3, Fn: descriptorGet},
		Def{Name: "__set__", Min: 3, Max: 3, Fn: descriptorAssign},
		Def{Name: "__delete__", Min: 2, Max: 2, Fn: descriptorAssign},
		Def{Name: "__set_name__", Min: 1, Max: -1, Fn: propertySetName},
	)
	property := func(pick func(*Property) Value) func(*Machine, Value) (Value, error) {
		return func(_ *Machine, v Value) (Value, error) { return pick(v.ref.self.(*Property)), nil }
	}
	rt.getters(b.property, "fget", property(func(p *Property) Value { return p.get }), readOnly)
	rt.getters(b.property, "fset", property(func(p *Property) Value { return p.set }), readOnly)
	rt.getters(b.property, "fdel", property(func(p *Property) Value { return p.del }), readOnly)
	rt.getters(b.property, "__doc__", property(func(p *Property) Value { return p.doc }), func(m *Machine, obj, v Value) error {
		m.touch(obj.ref)
		obj.ref.self.(*Property).doc = v
		return nil
	})
	rt.getters(b.property, "__isabstractmethod__", propertyAbstract, nil)

	wrapped := func(m *Machine, v Value) (Value, error) {
		switch o := v.ref.self.(type) {
		case *StaticMethod:
			return o.fn, nil
		case *ClassMethod:
			return o.fn, nil
		}
		return None, nil
	}
	b.staticmethod = rt.newClass("staticmethod", KindStaticMethod)
	b.classmethod = rt.newClass("classmethod", KindClassMethod)
	// Bounded: by the source, once when the runtime is made.
	for _, c := range []*Class{b.staticmethod, b.classmethod} {
		c.hasDict = true
		rt.methods(c,
			Def{Name: "__new__", Min: 2, Max: 2, Fn: methodWrapperNew},
			Def{Name: "__init__", Min: 1, Max: -1, Keywords: true, Fn: ignoreInit},
			Def{Name: "__get__", Min: 2, Max: 3, Fn: descriptorGet},
		)
		rt.getters(c, "__func__", wrapped, nil)
		rt.getters(c, "__wrapped__", wrapped, nil)
		rt.getters(c, "__isabstractmethod__", func(m *Machine, v Value) (Value, error) {
			fn, _ := wrapped(m, v)
			return m.isAbstract(fn)
		}, nil)
	}
	rt.methods(b.staticmethod, Def{Name: "__call__", Min: 1, Max: -1, Keywords: true, Fn: func(m *Machine, a Args) (Value, error) {
		return m.CallArgs(a.Values[0].ref.self.(*StaticMethod).fn, Args{a.Values[1:], a.Names})
	}})
	rt.defineSuper()
	b.member = rt.newClass("member_descriptor", KindMember)
	rt.methods(b.member,
		Def{Name: "__get__", Min: 2, Max: 3, Fn: descriptorGet},
		Def{Name: "__set__", Min: 3, Max: 3, Fn: descriptorAssign},
		Def{Name: "__delete__", Min: 2, Max: 2, Fn: descriptorAssign},
	)
	rt.getters(b.member, "__name__", func(m *Machine, v Value) (Value, error) { return m.madeText(v.ref.self.(*Member).name), nil }, nil)
	rt.getters(b.member, "__objclass__", func(m *Machine, v Value) (Value, error) { return v.ref.self.(*Member).owner.value(), nil }, nil)
	rt.getters(b.member, "__doc__", func(_ *Machine, v Value) (Value, error) { return orNone(v.ref.self.(*Member).doc), nil },
		func(m *Machine, v, x Value) error {
			d := v.ref.self.(*Member)
			if !d.doc.Bound() {
				return m.raiseAttribute(v, m.newStr("__doc__"), "attribute '__doc__' of 'member_descriptor' objects is not writable")
			}
			m.touch(v.ref)
			d.doc = orNone(x)
			return nil
		})
}

// readOnly refuses to change what CPython keeps in a field of a struct.
func readOnly(m *Machine, _, _ Value) error {
	return m.Raise(m.rt.classes.AttributeError, "readonly attribute")
}

func ignoreInit(*Machine, Args) (Value, error) { return None, nil }

// propertyNew takes any arguments: a subclass may have an __init__ with others.
func propertyNew(m *Machine, a Args) (Value, error) {
	m.Alloc(propertyBytes)
	p := &Property{get: None, set: None, del: None, doc: None}
	return p.head(KindProperty, m.subclassOrNil(a.Values[0], m.rt.classes.property), p), nil
}

func propertyInit(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	p := v.ref.self.(*Property)
	m.touch(v.ref)
	p.get, p.set, p.del, p.doc = orNone(a.Values[1]), orNone(a.Values[2]), orNone(a.Values[3]), orNone(a.Values[4])
	p.getterDoc = false
	if !p.doc.IsNone() || p.get.IsNone() {
		return None, nil
	}
	doc, ok, err := m.LookupAttr(p.get, m.newStr("__doc__"))
	if err != nil || !ok {
		return None, err
	}
	p.doc, p.getterDoc = doc, true
	if p.class != nil { // whose own __doc__ hides that of property
		return None, m.SetAttr(v, m.newStr("__doc__"), doc)
	}
	return None, nil
}

func orNone(v Value) Value {
	if !v.Bound() {
		return None
	}
	return v
}

// subclassOrNil is the class to put into a header: nil for the builtin itself.
func (m *Machine) subclassOrNil(class Value, builtin *Class) *Class {
	c, ok := class.asClass()
	if !ok || c == builtin {
		return nil
	}
	return c
}

// propertyCopy is getter, setter and deleter.
func propertyCopy(which int) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		p := a.Values[0].ref.self.(*Property)
		parts := [3]Value{p.get, p.set, p.del}
		parts[which] = a.Values[1]
		doc := p.doc
		if p.getterDoc && !parts[0].IsNone() {
			doc = None
		}
		if p.class == nil {
			r, err := propertyNew(m, Args{Values: []Value{m.rt.classes.property.value()}})
			if err != nil {
				return unbound, err
			}
			r.ref.self.(*Property).name = p.name
			defer m.Release(m.Hold(r))
			_, err = propertyInit(m, Args{Values: []Value{r, parts[0], parts[1], parts[2], doc}})
			return r, err
		}
		return m.Call(p.class.value(), parts[0], parts[1], parts[2], doc)
	}
}

func propertySetName(m *Machine, a Args) (Value, error) {
	if len(a.Values) != 3 {
		return unbound, m.Raise(m.rt.classes.TypeError, "__set_name__() takes 2 positional arguments but %d were given", len(a.Values)-1)
	}
	if s, ok := a.Values[2].str(); ok {
		m.touch(a.Values[0].ref)
		a.Values[0].ref.self.(*Property).name = s.s
	}
	return None, nil
}

func propertyAbstract(m *Machine, v Value) (Value, error) {
	p := v.ref.self.(*Property)
	// Bounded: by three.
	for _, fn := range []Value{p.get, p.set, p.del} {
		if fn.IsNone() {
			continue
		}
		if r, err := m.isAbstract(fn); err != nil || r == True {
			return r, err
		}
	}
	return False, nil
}

// isAbstract reads __isabstractmethod__, which wrappers ask of what they wrap: each pays for
// its own level, as properties of properties are a tree.
func (m *Machine) isAbstract(fn Value) (Value, error) {
	if err := m.Enter(); err != nil {
		return unbound, err
	}
	defer m.Exit()
	m.Charge(m.dyn.NativeCall)
	r, ok, err := m.LookupAttr(fn, m.newStr("__isabstractmethod__"))
	if err != nil || !ok {
		return False, err
	}
	t, err := m.Truth(r)
	return Bool(t), err
}

// descriptorGet is __get__ as a method.
func descriptorGet(m *Machine, a Args) (Value, error) {
	obj, c := a.Values[1], (*Class)(nil)
	if len(a.Values) > 2 {
		c, _ = a.Values[2].asClass()
	}
	if obj.IsNone() && c != nil {
		obj = unbound
	}
	if c == nil {
		c = m.classOf(a.Values[1])
	}
	if p, ok := a.Values[0].ref.self.(*Property); ok { // whose class may have a __get__ that asks this one
		return m.getProperty(p, a.Values[0], obj)
	}
	return m.bind(a.Values[0], obj, c)
}

// descriptorAssign is __set__ and __delete__ as methods.
func descriptorAssign(m *Machine, a Args) (Value, error) {
	x := unbound
	if len(a.Values) > 2 {
		x = a.Values[2]
	}
	if p, ok := a.Values[0].ref.self.(*Property); ok {
		return None, m.setProperty(p, a.Values[0], a.Values[1], x)
	}
	_, err := m.descriptorSet(a.Values[0], a.Values[1], x)
	return None, err
}

func methodWrapperNew(m *Machine, a Args) (Value, error) {
	m.Charge(m.Work().MethodWrapper * m.dyn.NativeCall) // it reads five attributes
	m.Alloc(smallBytes)
	c, _ := a.Values[0].asClass()
	var v Value
	if c.layout == KindStaticMethod {
		s := &StaticMethod{fn: a.Values[1]}
		v = s.head(KindStaticMethod, m.subclassOrNil(a.Values[0], m.rt.classes.staticmethod), s)
	} else {
		k := &ClassMethod{fn: a.Values[1]}
		v = k.head(KindClassMethod, m.subclassOrNil(a.Values[0], m.rt.classes.classmethod), k)
	}
	// Bounded: by five names, which MethodWrapper pays for.
	for _, name := range [...]string{"__module__", "__name__", "__qualname__", "__doc__", "__annotations__"} {
		key := m.newStr(name)
		r, ok, err := m.LookupAttr(a.Values[1], key)
		if err != nil {
			return unbound, err
		}
		if ok {
			m.attrsOf(v, true).put(m, m.classOf(v), key, r)
		}
	}
	return v, nil
}
