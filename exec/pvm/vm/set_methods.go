package vm

func (rt *Runtime) defineSets() {
	b := &rt.classes
	b.set = rt.newClass("set", KindSet)
	b.frozenset = rt.newClass("frozenset", KindFrozenSet)
	// Bounded: by the source, once when the runtime is made.
	for _, c := range []*Class{b.set, b.frozenset} {
		rt.methods(c, sizedDefs()[:4]...)
		rt.comparisons(c, true)
		rt.binaries(c, OpBitOr, OpBitAnd, OpBitXor, OpSub)
		rt.methods(c,
			Def{Name: "__class_getitem__", Min: 2, Max: 2, Fn: aliasItem},
			Def{Name: "union", Min: 1, Max: -1, Fn: setMany(OpBitOr, false)},
			Def{Name: "intersection", Min: 1, Max: -1, Fn: setMany(OpBitAnd, false)},
			Def{Name: "difference", Min: 1, Max: -1, Fn: setMany(OpSub, false)},
			Def{Name: "symmetric_difference", Min: 2, Max: 2, Fn: setMany(OpBitXor, false)},
			Def{Name: "issubset", Min: 2, Max: 2, Fn: setInclusion(false)},
			Def{Name: "issuperset", Min: 2, Max: 2, Fn: setInclusion(true)},
			Def{Name: "isdisjoint", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
				is, err := m.disjoint(a.Values[0].ref.self.(*Set), a.Values[1])
				return Bool(is), err
			}},
			Def{Name: "copy", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
				s := a.Values[0].ref.self.(*Set)
				if s.kind == KindFrozenSet && s.class == nil {
					return s.val(), nil
				}
				return m.setCopyAs(s, s).val(), nil
			}},
		)
	}
	rt.methods(b.frozenset,
		Def{Name: "__new__", Min: 1, Max: 2, Keywords: true, Fn: frozenSetNew},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: containerHashMethod})
	rt.unhashable(b.set)
	rt.methods(b.set,
		Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: func(m *Machine, a Args) (Value, error) {
			s := m.newSet()
			s.class = m.subclassOrNil(a.Values[0], m.rt.classes.set)
			return s.val(), nil
		}},
		Def{Name: "__init__", Min: 1, Max: 2, Keywords: true, Fn: setInit},
		Def{Name: "add", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			m.Charge(m.dyn.DictOp)
			return None, m.setAdd(a.Values[0].ref.self.(*Set), a.Values[1])
		}},
		Def{Name: "discard", Min: 2, Max: 2, Fn: setDiscard(false)},
		Def{Name: "remove", Min: 2, Max: 2, Fn: setDiscard(true)},
		Def{Name: "pop", Min: 1, Max: 1, Fn: setPop},
		Def{Name: "clear", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			a.Values[0].ref.self.(*Set).table.clear(m)
			return None, nil
		}},
		Def{Name: "update", Min: 1, Max: -1, Fn: setMany(OpBitOr, true)},
		Def{Name: "intersection_update", Min: 1, Max: -1, Fn: setMany(OpBitAnd, true)},
		Def{Name: "difference_update", Min: 1, Max: -1, Fn: setMany(OpSub, true)},
		Def{Name: "symmetric_difference_update", Min: 2, Max: 2, Fn: setMany(OpBitXor, true)},
		Def{Name: "__ior__", Min: 2, Max: 2, Fn: setInPlace(OpBitOr)},
		Def{Name: "__iand__", Min: 2, Max: 2, Fn: setInPlace(OpBitAnd)},
		Def{Name: "__isub__", Min: 2, Max: 2, Fn: setInPlace(OpSub)},
		Def{Name: "__ixor__", Min: 2, Max: 2, Fn: setInPlace(OpBitXor)},
	)
}

// setCopyAs copies s into a set of the kind of like; results of methods are of
// the builtin class.
func (m *Machine) setCopyAs(like, s *Set) *Set { return m.setCopy(like.kind, s) }

func frozenSetNew(m *Machine, a Args) (Value, error) {
	c, _ := a.Values[0].asClass()
	if err := m.noKeywords(c, m.rt.classes.frozenset, spInit, a); err != nil {
		return unbound, err
	}
	sub := m.subclassOrNil(a.Values[0], m.rt.classes.frozenset)
	if len(a.Positional()) < 2 {
		s := m.newSetOf(KindFrozenSet)
		s.class = sub
		return s.val(), nil
	}
	if o, ok := a.Values[1].ref.self.(*Set); ok && o.kind == KindFrozenSet && o.class == nil && sub == nil {
		return o.val(), nil
	}
	s, err := m.setFrom(KindFrozenSet, a.Values[1])
	if err != nil {
		return unbound, err
	}
	s.class = sub
	return s.val(), nil
}

func setInit(m *Machine, a Args) (Value, error) {
	if err := m.noKeywords(m.rt.classes.set, m.rt.classes.set, spNew, a); err != nil {
		return unbound, err
	}
	s := a.Values[0].ref.self.(*Set)
	s.table.clear(m)
	if len(a.Positional()) < 2 {
		return None, nil
	}
	return None, m.setUpdate(s, a.Values[1])
}

// operand is an argument of a set method as a set: itself, or the items of an
// iterable.
func (m *Machine) operand(v Value) (*Set, error) {
	if o, ok := v.ref.self.(*Set); ok {
		return o, nil
	}
	return m.setFrom(KindSet, v)
}

// setMany is union and its like for any iterables, from left to right.
func setMany(op Operator, inPlace bool) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		s := a.Values[0].ref.self.(*Set)
		result := None
		if !inPlace {
			s = m.setCopyAs(s, s)
			result = s.val()
			defer m.Release(m.Hold(result))
		}
		m.ChargeSources(len(a.Values))
		if op != OpBitOr {
			m.ChargeEach(max(0, len(a.Values)-2), m.dyn.NativeCall) // for the set that each becomes
		}
		// Paid: by the charges above, one or two native calls each, and by setApply.
		for _, v := range a.Values[1:] {
			if err := m.setApply(op, s, v); err != nil {
				return unbound, err
			}
		}
		return result, nil
	}
}

// setApply is s op= v for any iterable v.
func (m *Machine) setApply(op Operator, s *Set, v Value) error {
	if op == OpBitOr {
		return m.setUpdate(s, v)
	}
	y, err := m.operand(v)
	if err != nil {
		return err
	}
	defer m.Release(m.Hold(y.val()))
	switch op {
	case OpBitAnd:
		return m.setKeep(s, y, true)
	case OpSub:
		if s == y {
			s.table.clear(m)
			return nil
		}
		return m.setKeep(s, y, false)
	}
	if s == y {
		s.table.clear(m)
		return nil
	}
	rest := m.setCopy(KindSet, y)
	m.Hold(rest.val())
	if err := m.setKeep(rest, s, false); err != nil {
		return err
	}
	if err := m.setKeep(s, y, false); err != nil {
		return err
	}
	return m.setAbsorb(s, rest)
}

// setInPlace is |= and its like, for sets only.
func setInPlace(op Operator) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		if _, ok := a.Values[1].ref.self.(*Set); !ok {
			return NotImplemented, nil
		}
		return a.Values[0], m.setApply(op, a.Values[0].ref.self.(*Set), a.Values[1])
	}
}

func setDiscard(must bool) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		m.Charge(m.dyn.DictOp)
		s := a.Values[0].ref.self.(*Set)
		i, _, err := m.setFind(s, a.Values[1])
		if err != nil {
			return unbound, err
		}
		if i >= 0 {
			s.table.remove(m, i)
		} else if must {
			return unbound, m.RaiseValue(m.rt.classes.KeyError, a.Values[1])
		}
		return None, nil
	}
}

// setPop takes the last element, as popitem of dicts does.
func setPop(m *Machine, a Args) (Value, error) {
	m.Charge(m.dyn.DictOp)
	t := &a.Values[0].ref.self.(*Set).table
	if t.live == 0 {
		return unbound, m.Raise(m.rt.classes.KeyError, "pop from an empty set")
	}
	v := t.entries[len(t.entries)-1].key
	t.remove(m, len(t.entries)-1)
	return v, nil
}

func setInclusion(super bool) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		x := a.Values[0].ref.self.(*Set)
		y, err := m.operand(a.Values[1])
		if err != nil {
			return unbound, err
		}
		defer m.Release(m.Hold(y.val()))
		if super {
			x, y = y, x
		}
		if x.table.live > y.table.live {
			return False, nil
		}
		is, err := m.subset(x, y)
		return Bool(is), err
	}
}

// disjoint tells whether no item of v is in s: those of a set by their known hashes.
func (m *Machine) disjoint(s *Set, v Value) (bool, error) {
	if o, ok := v.ref.self.(*Set); ok && exact(v) {
		return m.apart(s, o)
	}
	it, err := m.Iter(v)
	if err != nil {
		return false, err
	}
	defer m.Release(m.Hold(it))
	for {
		x, ok, err := m.Next(it)
		if err != nil || !ok {
			return err == nil, err
		}
		m.Charge(m.dyn.Step + m.dyn.DictOp)
		hash, err := m.keyHash(x)
		if err != nil {
			return false, err
		}
		if i, err := s.table.find(m, x, hash); err != nil || i >= 0 {
			return false, err
		}
	}
}

// apart tells whether no element of b is in a.
func (m *Machine) apart(a, b *Set) (bool, error) {
	for i := 0; i < len(b.table.entries); i++ {
		e := b.table.entries[i]
		if e.key.ref == nil {
			m.Charge(m.dyn.Element)
			continue
		}
		m.Charge(m.dyn.DictOp)
		if at, err := a.table.find(m, e.key, e.hash); err != nil || at >= 0 {
			return false, err
		}
	}
	return true, nil
}
