package vm

// classOf is type(v).
func (m *Machine) classOf(v Value) *Class {
	if v.ref.class != nil {
		return v.ref.class
	}
	if v.ref.kind == KindIterator || v.ref.kind == KindGenerator || v.ref.kind == KindDictView {
		return m.classOfVariant(v)
	}
	return m.rt.byKind[v.ref.kind]
}

// ClassOf returns type(v).
func (m *Machine) ClassOf(v Value) *Class { return m.classOf(v) }

// typeName is the name of v's class as messages print it.
func (m *Machine) typeName(v Value) string {
	c := m.classOf(v)
	if c.dotted {
		return c.module + "." + c.name
	}
	return c.name
}

// attrKey is the text under which a name is kept: its NFC form.
func attrKey(name *Str) string { return nfcText(name) }

// GetAttr is getattr(v, name).
func (m *Machine) GetAttr(v Value, name *Str) (Value, error) {
	r, ok, err := m.findAttr(v, name)
	if err != nil || ok {
		return r, err
	}
	return unbound, m.noAttribute(v, name)
}

// noAttribute is the AttributeError for a missing attribute.
func (m *Machine) noAttribute(v Value, name *Str) error {
	if c, ok := v.asClass(); ok {
		return m.raiseAttribute(v, name, "type object '%s' has no attribute '%s'", c.name, name.s)
	}
	if mod, ok := v.module(); ok {
		return m.raiseAttribute(v, name, "module '%s' has no attribute '%s'", mod.name, name.s)
	}
	return m.raiseAttribute(v, name, "'%s' object has no attribute '%s'", m.typeName(v), name.s)
}

// raiseAttribute is an AttributeError with its name and obj.
func (m *Machine) raiseAttribute(v Value, name *Str, format string, args ...any) error {
	err := m.Raise(m.rt.classes.AttributeError, format, args...)
	if r, ok := err.(*Raised); ok {
		attrs := m.attrsOf(r.Exc.val(), true)
		attrs.put(m, r.Exc.class, m.newStr("name"), name.val())
		attrs.put(m, r.Exc.class, m.newStr("obj"), v)
	}
	return err
}

// ChargeLookup is the price of a look-up of an attribute of v for a native that makes many:
// an instruction has its cache, a native looks along the whole order each time, where the
// class remembers nothing.
func (m *Machine) ChargeLookup(v Value) {
	m.Charge(m.dyn.Step)
	m.chargeOrder(m.classOf(v))
	if c, ok := v.asClass(); ok {
		m.chargeOrder(c)
	}
}

// chargeOrder charges for the tables of a long order of a class that does not remember.
func (m *Machine) chargeOrder(c *Class) {
	if len(c.mro) > shortMRO && !c.far() {
		m.elements(len(c.mro))
	}
}

// LookupAttr is GetAttr that answers false instead of AttributeError.
func (m *Machine) LookupAttr(v Value, name *Str) (Value, bool, error) {
	r, ok, err := m.findAttr(v, name)
	if err != nil && m.isRaised(err, m.rt.classes.AttributeError) {
		return unbound, false, nil
	}
	return r, ok, err
}

// findAttr is GetAttr that answers false where the attribute is simply missing,
// and the AttributeError that a descriptor or a hook raised.
func (m *Machine) findAttr(v Value, name *Str) (Value, bool, error) {
	if m.forbidden(name) {
		return unbound, false, m.Raise(m.rt.classes.DeterminismError, "attribute '%s' is forbidden", name.s)
	}
	c := m.classOf(v)
	if get := c.sp(spGetattribute); get.Bound() && !isBuiltinNative(get, spGetattribute) {
		r, err := m.Call(get, v, name.val())
		return m.missing(v, c, name, r, err)
	}
	r, ok, err := m.plainGet(v, c, name)
	if ok && err == nil {
		return r, true, nil
	}
	if err != nil && !m.isRaised(err, m.rt.classes.AttributeError) {
		return unbound, false, err
	}
	return m.fallback(v, c, name, err)
}

// missing tells apart the results of a __getattribute__ of the program.
func (m *Machine) missing(v Value, c *Class, name *Str, r Value, err error) (Value, bool, error) {
	if err == nil {
		return r, true, nil
	}
	if !m.isRaised(err, m.rt.classes.AttributeError) {
		return unbound, false, err
	}
	return m.fallback(v, c, name, err)
}

// fallback calls __getattr__. cause is the AttributeError that led here, nil for
// a plain miss; it goes up when there is no __getattr__ so that its text stays.
func (m *Machine) fallback(v Value, c *Class, name *Str, cause error) (Value, bool, error) {
	if get := c.sp(spGetattr); get.Bound() {
		r, err := m.callBound(get, v, c, name.val())
		return r, err == nil, err
	}
	return unbound, false, cause
}

// plainGet is the lookup of object, type, module and super without hooks.
func (m *Machine) plainGet(v Value, c *Class, name *Str) (Value, bool, error) {
	switch v.ref.kind {
	case KindClass:
		k, _ := v.asClass()
		return m.classGet(k, c, name)
	case KindModule:
		return m.moduleGet(v, c, name)
	case KindSuper:
		return m.superGet(v, c, name)
	}
	return m.objectGet(v, c, name)
}

// objectGet is object.__getattribute__.
func (m *Machine) objectGet(v Value, c *Class, name *Str) (Value, bool, error) {
	key := m.normal(name)
	attr, _, found := m.lookupMRO(c, key)
	if found && m.isDataDescriptor(attr) && m.hasGet(attr) {
		r, err := m.bind(attr, v, c)
		return r, err == nil, err
	}
	if a := v.ref.attrs; a != nil {
		if r, ok := a.get(m, name); ok {
			return r, true, nil
		}
	}
	if !found {
		return unbound, false, nil
	}
	r, err := m.bind(attr, v, c)
	return r, err == nil, err
}

// classGet is type.__getattribute__: c's namespace before the metaclass's plain
// attributes.
func (m *Machine) classGet(c, meta *Class, name *Str) (Value, bool, error) {
	key := m.normal(name)
	attr, _, onMeta := m.lookupMRO(meta, key)
	if onMeta && m.isDataDescriptor(attr) && m.hasGet(attr) {
		r, err := m.bind(attr, c.value(), meta)
		return r, err == nil, err
	}
	if own, _, ok := m.lookupMRO(c, key); ok {
		r, err := m.bind(own, unbound, c)
		return r, err == nil, err
	}
	if !onMeta {
		return unbound, false, nil
	}
	r, err := m.bind(attr, c.value(), meta)
	return r, err == nil, err
}

// moduleGet looks into the module first, then asks its __getattr__ (PEP 562). No
// attribute of any kind reaches internal names of the library, from whatever code:
// its own functions read attributes that programs name.
func (m *Machine) moduleGet(v Value, c *Class, name *Str) (Value, bool, error) {
	mod, _ := v.module()
	if mod.name != mainModule && (internalName(name.s) || internalName(mod.name) && !m.ofLibrary()) {
		return unbound, false, nil
	}
	if r, ok := mod.dict.getStr(m, name); ok {
		return r, true, nil
	}
	if r, ok, err := m.objectGet(v, c, name); ok || err != nil {
		return r, ok, err
	}
	if name.s != "__getattr__" {
		if get, ok := mod.dict.getStr(m, m.intern("__getattr__")); ok {
			r, err := m.Call(get, name.val())
			return r, err == nil, err
		}
	}
	return unbound, false, nil
}

// superGet searches the MRO of the receiver behind the class of super.
func (m *Machine) superGet(v Value, c *Class, name *Str) (Value, bool, error) {
	s := v.ref.self.(*Super)
	if name.s == "__class__" || !s.obj.Bound() {
		return m.objectGet(v, c, name)
	}
	behind := false
	key := m.normal(name)
	m.elements(2 * len(s.start.mro)) // looked at and looked into
	// Paid: by the line above.
	for _, k := range s.start.mro {
		if !behind {
			behind = k == s.class
			continue
		}
		attr, ok := k.names.get(key)
		if !ok {
			continue
		}
		recv := s.obj
		if cls, isClass := s.obj.asClass(); isClass && cls == s.start {
			recv = unbound
		}
		r, err := m.bind(attr, recv, s.start)
		return r, err == nil, err
	}
	return m.objectGet(v, c, name)
}

// isBuiltinNative tells a builtin class's own method of that name from one of the
// program, and from another builtin method under this name.
func isBuiltinNative(v Value, name special) bool {
	n, ok := v.ref.self.(*Native)
	return ok && n.owner != nil && n.owner.builtin && n.name == specialNames[name]
}

// isDataDescriptor tells whether attr on a class wins over the instance.
func (m *Machine) isDataDescriptor(attr Value) bool {
	switch attr.ref.kind {
	case KindProperty, KindMember:
		return true
	case KindInstance, KindForeign:
		c := m.classOf(attr)
		return c.sp(spSet).Bound() || c.sp(spDelete).Bound()
	}
	return attr.ref.class != nil && attr.ref.kind != KindClass && attr.ref.class.sp(spSet).Bound()
}

// hasGet tells whether a data descriptor reads too: one that only writes hides
// nothing.
func (m *Machine) hasGet(attr Value) bool {
	return attr.ref.kind == KindProperty || attr.ref.kind == KindMember || m.classOf(attr).sp(spGet).Bound()
}

// bind is the descriptor protocol's __get__ of attr for an instance, unbound for
// access through the class c itself.
func (m *Machine) bind(attr, obj Value, c *Class) (Value, error) {
	switch o := attr.ref.self.(type) {
	case *Function:
		if !obj.Bound() {
			return attr, nil
		}
		return m.newMethod(attr, obj), nil
	case *Native:
		if !o.method || !obj.Bound() {
			return attr, nil
		}
		return m.newMethod(attr, obj), nil
	case *StaticMethod:
		return o.fn, nil
	case *ClassMethod:
		return m.bindClassMethod(o, c)
	case *Property:
		if attr.ref.class != nil && !isBuiltinNative(attr.ref.class.sp(spGet), spGet) {
			break
		}
		return m.getProperty(o, attr, obj)
	case *Member:
		return m.getMember(o, attr, obj)
	case *Super:
		if !obj.Bound() || o.class == nil || attr.ref.class != nil {
			break
		}
		return superBind(m, Args{Values: []Value{attr, obj}})
	}
	if attr.ref.kind == KindInstance || attr.ref.kind == KindForeign || attr.ref.class != nil {
		ac := m.classOf(attr)
		if get := ac.sp(spGet); get.Bound() {
			if !obj.Bound() {
				obj = None
			}
			if err := m.Enter(); err != nil { // __get__ may be a descriptor itself
				return unbound, err
			}
			v, err := m.callBound(get, attr, ac, obj, c.value())
			m.Exit()
			return v, err
		}
	}
	return attr, nil
}

func (m *Machine) bindClassMethod(o *ClassMethod, c *Class) (Value, error) {
	if err := m.Enter(); err != nil { // a class method of a class method
		return unbound, err
	}
	defer m.Exit()
	switch o.fn.ref.kind {
	case KindFunction, KindNative, KindMethod, KindClass:
		return m.newMethod(o.fn, c.value()), nil
	}
	fc := m.classOf(o.fn)
	if fc.sp(spGet).Bound() || o.fn.ref.kind == KindProperty || o.fn.ref.kind == KindClassMethod {
		m.Charge(m.dyn.NativeCall)
		return m.bind(o.fn, c.value(), m.classOf(c.value()))
	}
	return m.newMethod(o.fn, c.value()), nil
}

func (m *Machine) newMethod(fn, recv Value) Value {
	m.Charge(2 * m.dyn.Element) // both are written
	m.Alloc(methodBytes)
	b := &Method{fn: fn, recv: recv}
	return b.head(KindMethod, nil, b)
}

// callBound calls a special method found raw on class c with receiver v.
func (m *Machine) callBound(raw, v Value, c *Class, args ...Value) (Value, error) {
	switch raw.ref.kind {
	case KindFunction:
		return m.Call(raw, prepend(v, args)...)
	case KindNative:
		if raw.ref.self.(*Native).method {
			return m.Call(raw, prepend(v, args)...)
		}
	}
	fn, err := m.bind(raw, v, c)
	if err != nil {
		return unbound, err
	}
	return m.Call(fn, args...)
}

func prepend(v Value, args []Value) []Value {
	out := make([]Value, 0, len(args)+1)
	return append(append(out, v), args...)
}

// getMethod finds what a call v.name(...) calls, without making a bound method
// where the receiver can simply come first.
func (m *Machine) getMethod(v Value, name *Str) (fn, self Value, err error) {
	c := m.classOf(v)
	get := c.sp(spGetattribute)
	if v.ref.kind != KindClass && v.ref.kind != KindModule && v.ref.kind != KindSuper &&
		(!get.Bound() || isBuiltinNative(get, spGetattribute)) && !m.forbidden(name) {
		if attr, _, ok := m.lookupMRO(c, m.normal(name)); ok && bindsSelf(attr) {
			if a := v.ref.attrs; a != nil {
				if r, ok := a.get(m, name); ok {
					return r, unbound, nil
				}
			}
			return attr, v, nil
		}
	}
	fn, err = m.GetAttr(v, name)
	return fn, unbound, err
}

// bindsSelf tells whether attr is a plain method.
func bindsSelf(attr Value) bool {
	switch o := attr.ref.self.(type) {
	case *Function:
		return true
	case *Native:
		return o.method
	}
	return false
}
