package vm

// SetAttr is setattr(v, name, x); an unbound x deletes.
func (m *Machine) SetAttr(v Value, name *Str, x Value) error {
	if m.forbidden(name) {
		return m.Raise(m.rt.classes.DeterminismError, "attribute '%s' is forbidden", name.s)
	}
	c := m.classOf(v)
	if x.Bound() {
		if set := c.sp(spSetattr); set.Bound() && !isBuiltinNative(set, spSetattr) {
			_, err := m.callBound(set, v, c, name.val(), x)
			return err
		}
	} else if del := c.sp(spDelattr); del.Bound() && !isBuiltinNative(del, spDelattr) {
		_, err := m.callBound(del, v, c, name.val())
		return err
	}
	return m.plainSet(v, c, name, x)
}

// plainSet is __setattr__ and __delattr__ of object, type and module.
func (m *Machine) plainSet(v Value, c *Class, name *Str, x Value) error {
	if k, ok := v.asClass(); ok {
		return m.classSet(k, c, name, x)
	}
	key := m.normal(name)
	attr, _, found := m.lookupMRO(c, key)
	if found {
		if done, err := m.descriptorSet(attr, v, x); done || err != nil {
			return err
		}
	}
	if mod, ok := v.module(); ok {
		return m.moduleSet(mod, v, name, x)
	}
	a := m.attrsOf(v, x.Bound())
	if a == nil {
		return m.cannotSet(v, c, name, found, x.Bound())
	}
	if x.Bound() {
		a.put(m, c, name, x)
		return nil
	}
	ok, err := a.del(m, name)
	if err == nil && !ok {
		err = m.noAttribute(v, name)
	}
	return err
}

func (m *Machine) cannotSet(v Value, c *Class, name *Str, found, set bool) error {
	if found {
		return m.raiseAttribute(v, name, "'%s' object attribute '%s' is read-only", c.name, name.s)
	}
	return m.noAttribute(v, name)
}

// moduleSet writes to modules of the program only: those of the library are
// fixed.
func (m *Machine) moduleSet(mod *Module, v Value, name *Str, x Value) error {
	if mod.name != mainModule {
		return m.Raise(m.rt.classes.DeterminismError, "module '%s' cannot be changed", mod.name)
	}
	if x.Bound() {
		mod.dict.putStr(m, name, x)
		return nil
	}
	ok, err := m.dictDel(mod.dict, name.val())
	if err == nil && !ok {
		err = m.noAttribute(v, name)
	}
	return err
}

// descriptorSet hands x to a data descriptor; done tells that attr was one.
func (m *Machine) descriptorSet(attr, v, x Value) (done bool, err error) {
	switch o := attr.ref.self.(type) {
	case *Property:
		sp := spSet
		if !x.Bound() {
			sp = spDelete
		}
		if attr.ref.class != nil && !isBuiltinNative(attr.ref.class.sp(sp), sp) {
			break
		}
		return true, m.setProperty(o, attr, v, x)
	case *Member:
		return true, m.setMember(o, attr, v, x)
	}
	if attr.ref.kind != KindInstance && attr.ref.kind != KindForeign && attr.ref.class == nil || attr.ref.kind == KindClass {
		return false, nil
	}
	ac := m.classOf(attr)
	if x.Bound() {
		if set := ac.sp(spSet); set.Bound() {
			_, err = m.callBound(set, attr, ac, v, x)
			return true, err
		}
		if ac.sp(spDelete).Bound() {
			return true, m.Raise(m.rt.classes.AttributeError, "__set__")
		}
		return false, nil
	}
	if del := ac.sp(spDelete); del.Bound() {
		_, err = m.callBound(del, attr, ac, v)
		return true, err
	}
	if ac.sp(spSet).Bound() {
		return true, m.Raise(m.rt.classes.AttributeError, "__delete__")
	}
	return false, nil
}

// classSet is type.__setattr__ and type.__delattr__.
func (m *Machine) classSet(k, meta *Class, name *Str, x Value) error {
	if k.builtin || k.layout == KindForeign && k.version == 0 {
		return m.Raise(m.rt.classes.TypeError, "cannot set '%s' attribute of immutable type '%s'", name.s, k.name)
	}
	key := m.normal(name)
	if attr, _, found := m.lookupMRO(meta, key); found {
		if done, err := m.descriptorSet(attr, k.value(), x); done || err != nil {
			return err
		}
	}
	m.touch(&k.Object)
	if x.Bound() {
		if _, had := k.names.get(key); !had {
			m.Alloc(dictEntryBytes + longText(key))
		}
		k.names.put(key, x)
	} else if !k.names.del(key) {
		return m.raiseAttribute(k.value(), name, "type object '%s' has no attribute '%s'", k.name, name.s)
	}
	m.changed(k)
	return nil
}
