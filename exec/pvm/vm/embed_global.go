package vm

// Global returns a global name of a loaded module: "__main__" or one of the
// library.
func (m *Machine) Global(module, name string) (Value, bool) {
	mod, ok := m.modules[module]
	if !ok {
		return unbound, false
	}
	return mod.dict.getStr(m, m.intern(name))
}

// IsExact tells whether v is an instance of exactly the builtin class of its
// kind, whose behaviour no program can change.
func (v Value) IsExact() bool { return v.ref != nil && v.ref.class == nil }

// Module returns the name of the module that made the class.
func (c *Class) Module() string { return c.module }

// QualName returns the class's __qualname__.
func (c *Class) QualName() string { return c.qualName }

// SetElements returns what a set or frozenset holds now, in order. It charges
// for the copy.
func (m *Machine) SetElements(v Value) ([]Value, bool) {
	if v.ref == nil {
		return nil, false
	}
	s, ok := v.ref.self.(*Set)
	if !ok {
		return nil, false
	}
	return m.setItems(s), true
}

// Await runs what v waits for to its end and returns its result, as the
// outermost await of a call does.
func (m *Machine) Await(v Value) (Value, error) { return m.drive(v) }
