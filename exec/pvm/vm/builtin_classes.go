package vm

// makeRoots makes object and type, which refer to each other, and the classes
// that have little of their own.
func (rt *Runtime) makeRoots() {
	b := &rt.classes
	b.object = rt.newClass("object", KindInstance)
	b.type_ = rt.newClass("type", KindClass)
	b.type_.hasDict = false
	rt.makeExceptionClasses()
	b.NoneType = rt.newClass("NoneType", KindNone)
	b.ellipsis = rt.newClass("ellipsis", KindEllipsis)
	b.NotImplementedType = rt.newClass("NotImplementedType", KindNotImplemented)
	b.native = rt.newClass("builtin_function_or_method", KindNative)
	b.method = rt.newClass("method", KindMethod)
	b.module = rt.newClass("module", KindModule)
	b.cell = rt.newClass("cell", KindCell)
	b.traceback = rt.newClass("traceback", KindTraceback)
	b.code = rt.newClass("code", KindCode)
	// Bounded: by the source, once when the runtime is made.
	for _, c := range []*Class{b.NoneType, b.ellipsis, b.NotImplementedType, b.native, b.method, b.cell, b.traceback, b.code} {
		c.final = true
	}
}

// defineObjects builds the classes of this area. It comes first: the other areas
// hang their classes below object.
func (rt *Runtime) defineObjects() {
	rt.makeRoots()
	rt.defineObject()
	rt.defineType()
	rt.defineDescriptors()
	rt.defineAliases()
	rt.defineExceptions()
	rt.defineSingletons()
	rt.defineCallables()
	rt.bindKinds()
}

// bindKinds tells which class the objects of a kind have by default.
func (rt *Runtime) bindKinds() {
	b := &rt.classes
	// Bounded: by the source, once when the runtime is made.
	for kind, c := range [KindForeign + 1]*Class{
		KindNone: b.NoneType, KindEllipsis: b.ellipsis, KindNotImplemented: b.NotImplementedType,
		KindClass: b.type_, KindNative: b.native, KindMethod: b.method, KindModule: b.module, KindCell: b.cell,
		KindTraceback: b.traceback, KindCode: b.code, KindProperty: b.property, KindStaticMethod: b.staticmethod,
		KindClassMethod: b.classmethod, KindSuper: b.super, KindMember: b.member, KindInstance: b.object,
	} {
		if c != nil {
			rt.byKind[kind] = c
		}
	}
}

// defineSingletons builds the classes of None, Ellipsis and NotImplemented, and
// module.
func (rt *Runtime) defineSingletons() {
	b := &rt.classes
	one := func(c *Class, v Value) {
		rt.methods(c, Def{Name: "__new__", Min: 1, Max: 1, Fn: func(*Machine, Args) (Value, error) { return v, nil }})
	}
	one(b.NoneType, None)
	one(b.ellipsis, EllipsisValue)
	one(b.NotImplementedType, NotImplemented)
	rt.methods(b.NoneType, Def{Name: "__bool__", Min: 1, Max: 1, Fn: func(*Machine, Args) (Value, error) { return False, nil }},
		Def{Name: "__or__", Min: 2, Max: 2, Fn: unionOr}, Def{Name: "__ror__", Min: 2, Max: 2, Fn: unionRor})
	rt.getters(b.module, "__dict__", func(m *Machine, v Value) (Value, error) {
		mod, _ := v.module()
		if mod.name == mainModule {
			return mod.dict.val(), nil
		}
		return m.publicNames(mod), nil
	}, nil)
}

// defineCallables builds the attributes of builtin functions and bound methods.
func (rt *Runtime) defineCallables() {
	b := &rt.classes
	native := func(pick func(m *Machine, n *Native) Value) func(*Machine, Value) (Value, error) {
		return func(m *Machine, v Value) (Value, error) { return pick(m, v.ref.self.(*Native)), nil }
	}
	name := native(func(m *Machine, n *Native) Value { return m.madeText(n.name) })
	rt.getters(b.native, "__name__", name, nil)
	rt.getters(b.native, "__qualname__", native(func(m *Machine, n *Native) Value {
		if n.owner != nil {
			return m.madeText(n.owner.qualName + "." + n.name)
		}
		return m.madeText(n.name)
	}), nil)
	rt.getters(b.native, "__module__", native(func(m *Machine, n *Native) Value { return m.madeText("builtins") }), nil)
	rt.getters(b.native, "__doc__", native(func(m *Machine, n *Native) Value { return None }), nil)
	rt.getters(b.native, "__objclass__", native(func(m *Machine, n *Native) Value {
		if n.owner != nil {
			return n.owner.value()
		}
		return None
	}), nil)
	rt.methods(b.native, Def{Name: "__get__", Min: 2, Max: 3, Fn: descriptorGet})

	method := func(pick func(o *Method) Value) func(*Machine, Value) (Value, error) {
		return func(_ *Machine, v Value) (Value, error) { return pick(v.ref.self.(*Method)), nil }
	}
	rt.getters(b.method, "__func__", method(func(o *Method) Value { return o.fn }), nil)
	rt.getters(b.method, "__self__", method(func(o *Method) Value { return o.recv }), nil)
	rt.methods(b.method,
		Def{Name: "__new__", Min: 3, Max: 3, Fn: func(m *Machine, a Args) (Value, error) {
			return m.newMethod(a.Values[1], a.Values[2]), nil
		}},
		Def{Name: "__getattr__", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			name, ok := a.Values[1].str()
			if !ok {
				return unbound, m.Raise(m.rt.classes.TypeError, "attribute name must be string, not '%s'", m.typeName(a.Values[1]))
			}
			return m.GetAttr(a.Values[0].ref.self.(*Method).fn, name)
		}},
		Def{Name: "__eq__", Min: 2, Max: 2, Fn: methodEq},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: methodHash},
		Def{Name: "__call__", Min: 1, Max: -1, Keywords: true, Fn: func(m *Machine, a Args) (Value, error) {
			return m.CallArgs(a.Values[0], Args{a.Values[1:], a.Names})
		}},
		Def{Name: "__get__", Min: 2, Max: 3, Fn: func(_ *Machine, a Args) (Value, error) { return a.Values[0], nil }},
	)
	rt.getters(b.method, "__doc__", methodDoc, nil)
	rt.getters(b.cell, "cell_contents", func(m *Machine, v Value) (Value, error) {
		if c := v.ref.self.(*Cell); c.v.Bound() {
			return c.v, nil
		}
		return unbound, m.Raise(m.rt.classes.ValueError, "Cell is empty")
	}, nil)
}

// methodDoc asks the function, which may be a method again: each pays for its own level.
func methodDoc(m *Machine, v Value) (Value, error) {
	if err := m.Enter(); err != nil {
		return unbound, err
	}
	defer m.Exit()
	m.Charge(m.dyn.NativeCall)
	r, ok, err := m.LookupAttr(v.ref.self.(*Method).fn, m.newStr("__doc__"))
	if err != nil || !ok {
		return None, err
	}
	return r, nil
}

func methodEq(_ *Machine, a Args) (Value, error) {
	x := a.Values[0].ref.self.(*Method)
	y, ok := a.Values[1].ref.self.(*Method)
	if !ok {
		return NotImplemented, nil
	}
	return Bool(x.fn.is(y.fn) && x.recv.is(y.recv)), nil
}

func methodHash(m *Machine, a Args) (Value, error) {
	x := a.Values[0].ref.self.(*Method)
	return SmallInt(m.identityHash(x.fn)*31 + m.identityHash(x.recv)), nil
}
