package vm

func (rt *Runtime) defineRange() {
	c := rt.newClass("range", KindRange)
	rt.classes.range_ = c
	c.final = true
	rt.methods(c, sizedDefs()...)
	rt.methods(c,
		Def{Name: "__new__", Min: 2, Max: 4, Fn: rangeNew},
		Def{Name: "__getitem__", Min: 2, Max: 2, Fn: containerGetMethod},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: containerHashMethod},
		Def{Name: "__bool__", Min: 1, Max: 1, Fn: func(_ *Machine, a Args) (Value, error) {
			return Bool(a.Values[0].ref.self.(*Range).length != SmallInt(0)), nil
		}},
		Def{Name: "index", Min: 2, Max: 2, Fn: rangeIndex},
		Def{Name: "count", Min: 2, Max: 2, Fn: rangeCount},
	)
	rt.comparisons(c, false)
	part := func(name string, pick func(*Range) Value) {
		rt.getters(c, name, func(_ *Machine, v Value) (Value, error) { return pick(v.ref.self.(*Range)), nil }, nil)
	}
	part("start", func(r *Range) Value { return r.start })
	part("stop", func(r *Range) Value { return r.stop })
	part("step", func(r *Range) Value { return r.step })
}

// interpreted is an int argument.
func (m *Machine) interpreted(v Value) (Value, error) {
	n, ok, err := m.asIndex(v)
	if err == nil && !ok {
		err = m.Raise(m.rt.classes.TypeError, "'%s' object cannot be interpreted as an integer", m.typeName(v))
	}
	return n, err
}

func rangeNew(m *Machine, a Args) (Value, error) {
	parts := [3]Value{SmallInt(0), SmallInt(0), SmallInt(1)}
	args := a.Values[1:]
	at := 0
	if len(args) == 1 {
		at = 1
	}
	// Bounded: by three parts.
	for i, v := range args {
		n, err := m.interpreted(v)
		if err != nil {
			return unbound, err
		}
		parts[at+i] = n
	}
	if parts[2] == SmallInt(0) {
		return unbound, m.Raise(m.rt.classes.ValueError, "range() arg 3 must not be zero")
	}
	return m.newRange(parts[0], parts[1], parts[2]), nil
}

// rangeFind is the position of any value in a range.
func (m *Machine) rangeFind(r *Range, x Value) (Value, bool, error) {
	if x.ref.class == nil && (x.ref.kind == KindInt || x.ref.kind == KindBool) {
		if x.ref.kind == KindBool {
			x = SmallInt(int64(x.bits))
		}
		i, ok := m.rangePosition(r, x)
		return i, ok, nil
	}
	it := m.rangeIter(r)
	defer m.Release(m.Hold(it))
	for i := int64(0); ; i++ {
		v, ok, err := m.iterNext(it.ref.self.(*Iterator))
		if err != nil || !ok {
			return unbound, false, err
		}
		m.Charge(m.dyn.Element)
		if eq, err := m.CompareBool(CompareEq, v, x); eq || err != nil {
			return SmallInt(i), eq, err
		}
	}
}

func rangeIndex(m *Machine, a Args) (Value, error) {
	i, ok, err := m.rangeFind(a.Values[0].ref.self.(*Range), a.Values[1])
	if err != nil || ok {
		return i, err
	}
	if a.Values[1].ref.kind != KindInt {
		return unbound, m.Raise(m.rt.classes.ValueError, "sequence.index(x): x not in sequence")
	}
	s, err := m.Repr(a.Values[1])
	if err != nil {
		return unbound, err
	}
	return unbound, m.Raise(m.rt.classes.ValueError, "%s is not in range", s.s)
}

func rangeCount(m *Machine, a Args) (Value, error) {
	r := a.Values[0].ref.self.(*Range)
	if k := a.Values[1].ref.kind; k == KindInt || k == KindBool {
		is, err := m.rangeContains(r, a.Values[1])
		if is {
			return SmallInt(1), err
		}
		return SmallInt(0), err
	}
	it := m.rangeIter(r)
	defer m.Release(m.Hold(it))
	n := int64(0)
	err := m.Each(it, func(v Value) error {
		eq, err := m.CompareBool(CompareEq, v, a.Values[1])
		if eq {
			n++
		}
		return err
	})
	return SmallInt(n), err
}

func (rt *Runtime) defineSlice() {
	c := rt.newClass("slice", KindSlice)
	rt.classes.slice = c
	c.final = true
	rt.methods(c,
		Def{Name: "__new__", Min: 2, Max: 4, Fn: sliceNew},
		Def{Name: "__repr__", Min: 1, Max: 1, Fn: containerReprMethod},
		Def{Name: "indices", Min: 2, Max: 2, Fn: sliceIndices},
	)
	rt.comparisons(c, true)
	rt.unhashable(c)
	part := func(name string, pick func(*Slice) Value) {
		rt.getters(c, name, func(_ *Machine, v Value) (Value, error) { return pick(v.ref.self.(*Slice)), nil }, nil)
	}
	part("start", func(s *Slice) Value { return s.start })
	part("stop", func(s *Slice) Value { return s.stop })
	part("step", func(s *Slice) Value { return s.step })
}

func sliceNew(m *Machine, a Args) (Value, error) {
	args := a.Values[1:]
	switch len(args) {
	case 1:
		return m.newSlice(None, args[0], None), nil
	case 2:
		return m.newSlice(args[0], args[1], None), nil
	}
	return m.newSlice(args[0], args[1], args[2]), nil
}

func sliceIndices(m *Machine, a Args) (Value, error) {
	n, err := m.interpreted(a.Values[1])
	if err != nil {
		return unbound, err
	}
	if b, _ := n.BigInt(); b.Sign() < 0 {
		return unbound, m.Raise(m.rt.classes.ValueError, "length should not be negative")
	}
	start, stop, step, err := m.bigIndices(a.Values[0].ref.self.(*Slice), n)
	if err != nil {
		return unbound, err
	}
	return m.newTuple([]Value{start, stop, step}).val(), nil
}
