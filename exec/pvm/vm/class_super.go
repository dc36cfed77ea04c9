package vm

func (rt *Runtime) defineSuper() {
	c := rt.newClass("super", KindSuper)
	rt.classes.super = c
	rt.methods(c,
		Def{Name: "__new__", Min: 1, Max: 3, Fn: superNew},
		Def{Name: "__init__", Min: 1, Max: -1, Keywords: true, Fn: ignoreInit},
		Def{Name: "__repr__", Min: 1, Max: 1, Fn: superRepr},
		Def{Name: "__get__", Min: 2, Max: 3, Fn: superBind},
	)
	rt.getters(c, "__thisclass__", func(m *Machine, v Value) (Value, error) { return v.ref.self.(*Super).class.value(), nil }, nil)
	rt.getters(c, "__self__", func(m *Machine, v Value) (Value, error) { return orNone(v.ref.self.(*Super).obj), nil }, nil)
	rt.getters(c, "__self_class__", func(m *Machine, v Value) (Value, error) {
		if s := v.ref.self.(*Super); s.start != nil {
			return s.start.value(), nil
		}
		return None, nil
	}, nil)
}

// superNew is super(), super(class) and super(class, obj). Without arguments it
// takes both from the frame that calls.
func superNew(m *Machine, a Args) (Value, error) {
	m.Alloc(smallBytes)
	s := &Super{}
	v := s.head(KindSuper, m.subclassOrNil(a.Values[0], m.rt.classes.super), s)
	var obj Value
	switch len(a.Values) {
	case 1:
		class, first, err := m.callerClass()
		if err != nil {
			return unbound, err
		}
		s.class, obj = class, first
	default:
		c, ok := a.Values[1].asClass()
		if !ok {
			return unbound, m.Raise(m.rt.classes.TypeError, "super() argument 1 must be a type, not %s", m.typeName(a.Values[1]))
		}
		s.class = c
		if len(a.Values) == 2 || a.Values[2].IsNone() {
			return v, nil
		}
		obj = a.Values[2]
	}
	return v, m.superBindTo(s, obj)
}

// superBindTo checks and sets the receiver.
func (m *Machine) superBindTo(s *Super, obj Value) error {
	if c, ok := obj.asClass(); ok && c.subclassOf(s.class) {
		s.obj, s.start = obj, c
		return nil
	}
	if c := m.classOf(obj); c.subclassOf(s.class) {
		s.obj, s.start = obj, c
		return nil
	}
	if k, ok, err := m.LookupAttr(obj, m.newStr("__class__")); err == nil && ok {
		if c, isClass := k.asClass(); isClass && c.subclassOf(s.class) {
			s.obj, s.start = obj, c
			return nil
		}
	}
	return m.Raise(m.rt.classes.TypeError, "super(type, obj): obj must be an instance or subtype of type")
}

func superBind(m *Machine, a Args) (Value, error) {
	s := a.Values[0].ref.self.(*Super)
	if s.obj.Bound() || a.Values[1].IsNone() {
		return a.Values[0], nil
	}
	m.Alloc(smallBytes)
	n := &Super{class: s.class}
	v := n.head(KindSuper, s.Object.class, n)
	return v, m.superBindTo(n, a.Values[1])
}

func superRepr(m *Machine, a Args) (Value, error) {
	s := a.Values[0].ref.self.(*Super)
	text := "<super: <class '" + s.class.name + "'>, NULL>"
	if s.start != nil {
		text = "<super: <class '" + s.class.name + "'>, <" + s.start.name + " object>>"
	}
	return m.newStr(text).val(), nil
}
