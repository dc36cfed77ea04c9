package vm

// Names that are not registers.

func (m *Machine) unboundLocal(name string) error {
	return m.Raise(m.rt.classes.UnboundLocalError, "cannot access local variable '%s' where it is not associated with a value", name)
}

func (m *Machine) unboundFree(name string) error {
	return m.Raise(m.rt.classes.NameError, "cannot access free variable '%s' where it is not associated with a value in enclosing scope", name)
}

func (m *Machine) nameError(name *Str) error {
	return m.Raise(m.rt.classes.NameError, "name '%s' is not defined", name.s)
}

func (m *Machine) deleteGlobal(f *frame, name *Str) error {
	ok, err := m.dictDel(f.fn.globals, Value{ref: &name.Object})
	if err == nil && !ok {
		err = m.nameError(name)
	}
	return err
}

// fromNamespace looks a name up in the namespace of a class body.
func (m *Machine) fromNamespace(f *frame, name *Str) (Value, bool, error) {
	if !f.ns.Bound() {
		return unbound, false, nil
	}
	m.chargeName(name)
	if d, ok := f.ns.ref.self.(*Dict); ok && f.ns.ref.class == nil {
		v, ok := d.getStr(m, name)
		return v, ok, nil
	}
	v, err := m.GetItem(f.ns, Value{ref: &name.Object})
	if err == nil {
		return v, true, nil
	}
	if m.isRaised(err, m.rt.classes.KeyError) {
		return unbound, false, nil
	}
	return unbound, false, err
}

// chargeName charges for a long name in a namespace: a key that the program put there is
// another object with as long a text.
func (m *Machine) chargeName(name *Str) {
	if len(name.s) > longName {
		m.chargeKey(name)
	}
}

func (m *Machine) getName(f *frame, name *Str) (Value, error) {
	v, ok, err := m.fromNamespace(f, name)
	if ok || err != nil {
		return v, err
	}
	if v, ok := f.fn.globals.getStr(m, name); ok {
		return v, nil
	}
	if v, ok := m.rt.builtins.get(name.s); ok {
		return v, nil
	}
	return unbound, m.nameError(name)
}

func (m *Machine) setName(f *frame, name *Str, v Value) error {
	if !f.ns.Bound() {
		f.fn.globals.putStr(m, name, v)
		return nil
	}
	if d, ok := f.ns.ref.self.(*Dict); ok && f.ns.ref.class == nil {
		m.chargeName(name)
		d.putStr(m, name, v)
		return nil
	}
	return m.SetItem(f.ns, Value{ref: &name.Object}, v)
}

func (m *Machine) deleteName(f *frame, name *Str) error {
	if !f.ns.Bound() {
		return m.deleteGlobal(f, name)
	}
	if d, ok := f.ns.ref.self.(*Dict); ok {
		found, err := m.dictDel(d, Value{ref: &name.Object})
		if err == nil && !found {
			err = m.nameError(name)
		}
		return err
	}
	err := m.DelItem(f.ns, Value{ref: &name.Object})
	if err != nil && m.isRaised(err, m.rt.classes.KeyError) {
		return m.nameError(name)
	}
	return err
}

// freeNames returns the names of free variables.
func (m *Machine) freeNames(u *unit) []*Str {
	if u.free == nil {
		u.free = make([]*Str, len(u.obj.Free))
		// Bounded: once for each unit and call; the names are of the program's text.
		for i, name := range u.obj.Free {
			u.free[i] = m.nameOf(u.obj, name)
		}
	}
	return u.free
}

// freeInClass is GetFreeIn: the namespace first, then free variable i.
func (m *Machine) freeInClass(f *frame, i int) (Value, error) {
	name := f.unit.obj.Free[i]
	v, ok, err := m.fromNamespace(f, m.freeNames(f.unit)[i])
	if ok || err != nil {
		return v, err
	}
	if v = f.fn.closure[i].v; !v.Bound() {
		return unbound, m.unboundFree(name)
	}
	return v, nil
}

// runClassBody runs the body of a class statement in the namespace ns and
// returns its __class__ cell or None.
func (m *Machine) runClassBody(body, ns Value) (Value, error) {
	fn := body.ref.self.(*Function)
	f, err := m.pushFrame(fn, byNative)
	if err != nil {
		return unbound, err
	}
	f.ns = ns
	m.enterFrame(f)
	return m.run(f, nil)
}
