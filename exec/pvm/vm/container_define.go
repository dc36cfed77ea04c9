package vm

// defineContainers builds the classes of containers and native iterators.
func (rt *Runtime) defineContainers() {
	rt.defineList()
	rt.defineTuple()
	rt.defineDict()
	rt.defineDictViews()
	rt.defineSets()
	rt.defineRange()
	rt.defineSlice()
	rt.defineIterators()
}

// The special methods that containers share: each is the direct form as a method.

var compareNames = [...]string{"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}

// comparisons gives a class its comparison methods, == and != alone or all six.
func (rt *Runtime) comparisons(c *Class, all bool) {
	// Bounded: by the source, once when the runtime is made.
	for i, name := range compareNames {
		if i > 1 && !all {
			break
		}
		op := CompareOp(i)
		rt.methods(c, Def{Name: name, Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			r, ok, err := m.containerCompare(op, a.Values[0], a.Values[1])
			if !ok && err == nil {
				return NotImplemented, nil
			}
			return r, err
		}})
	}
}

// binaries gives a class operators with their reflected forms.
func (rt *Runtime) binaries(c *Class, ops ...Operator) {
	// Bounded: by the source, once when the runtime is made.
	for _, op := range ops {
		rt.methods(c,
			Def{Name: specialNames[spAdd+special(op)], Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
				return m.binaryMethod(op, a.Values[0], a.Values[1])
			}},
			Def{Name: specialNames[spRAdd+special(op)], Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
				return m.binaryMethod(op, a.Values[1], a.Values[0])
			}})
	}
}

func (m *Machine) binaryMethod(op Operator, a, b Value) (Value, error) {
	r, ok, err := m.containerBinary(op, a, b)
	if !ok && err == nil {
		return NotImplemented, nil
	}
	return r, err
}

// unhashable gives mutable containers __hash__ = None.
func (rt *Runtime) unhashable(c *Class) { c.Constant("__hash__", None) }

func containerLenMethod(m *Machine, a Args) (Value, error) {
	if r, ok := a.Values[0].ref.self.(*Range); ok {
		return r.length, nil
	}
	n, _ := m.containerLen(a.Values[0])
	return SmallInt(int64(n)), nil
}

func containerGetMethod(m *Machine, a Args) (Value, error) {
	r, _, err := m.containerGetItem(a.Values[0], a.Values[1])
	return r, err
}

func containerSetMethod(m *Machine, a Args) (Value, error) {
	x := unbound
	if len(a.Values) == 3 {
		x = a.Values[2]
	}
	_, err := m.containerSetItem(a.Values[0], a.Values[1], x)
	return None, err
}

func containerContainsMethod(m *Machine, a Args) (Value, error) {
	is, _, err := m.containerContains(a.Values[0], a.Values[1])
	return Bool(is), err
}

func containerIterMethod(m *Machine, a Args) (Value, error) {
	it, _ := m.containerIter(a.Values[0])
	return it, nil
}

func containerHashMethod(m *Machine, a Args) (Value, error) {
	h, ok, err := m.containerHash(a.Values[0])
	if !ok && err == nil {
		return unbound, m.Raise(m.rt.classes.TypeError, "unhashable type: '%s'", m.typeName(a.Values[0]))
	}
	return SmallInt(h), err
}

func containerReprMethod(m *Machine, a Args) (Value, error) {
	s, _, err := m.containerRepr(a.Values[0])
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

// sizedDefs are the methods that all containers have.
func sizedDefs() []Def {
	return []Def{
		{Name: "__len__", Min: 1, Max: 1, Fn: containerLenMethod},
		{Name: "__contains__", Min: 2, Max: 2, Fn: containerContainsMethod},
		{Name: "__iter__", Min: 1, Max: 1, Fn: containerIterMethod},
		{Name: "__repr__", Min: 1, Max: 1, Fn: containerReprMethod},
		{Name: "__reversed__", Min: 1, Max: 1, Fn: containerReversed},
	}
}

// containerReversed is __reversed__.
func containerReversed(m *Machine, a Args) (Value, error) {
	it, _, err := m.reversedIter(a.Values[0])
	return it, err
}

// reversedIter iterates backwards over a container; false when v is none with an
// order.
func (m *Machine) reversedIter(v Value) (Value, bool, error) {
	switch o := v.ref.self.(type) {
	case *List:
		it := m.newIterator(iterBack, v)
		it.list, it.at, it.of = o, int64(len(o.items))-1, m.rt.classes.listReverse
		return it.val(), true, nil
	case *Tuple:
		it := m.newIterator(iterBack, v)
		it.items, it.at, it.of = o.items, int64(len(o.items))-1, m.rt.classes.reversed
		return it.val(), true, nil
	case *Dict:
		return m.tableBack(iterKeys, &o.table, v), true, nil
	case *DictView:
		return m.tableBack(o.how, &o.dict.table, o.dict.val()), true, nil
	case *Range:
		last, err := m.rangeAt(o, SmallInt(-1))
		if err != nil {
			return unbound, true, err
		}
		span, err := m.Binary(OpMul, o.length, o.step)
		if err != nil {
			return unbound, true, err
		}
		if last, err = m.Binary(OpAdd, last, span); err != nil {
			return unbound, true, err
		}
		back, err := m.Binary(OpMul, o.step, SmallInt(-1))
		if err != nil {
			return unbound, true, err
		}
		return m.rangeSteps(v, last, back, o.length), true, nil
	case *MappingProxy:
		r, err := m.reversed(o.mapping)
		return r, true, err
	}
	return unbound, false, nil
}

func (m *Machine) tableBack(how iteration, t *hashTable, source Value) Value {
	it := m.tableIter(how, t, source)
	it.step, it.at = -1, int64(len(t.entries))-1
	it.of = m.rt.classes.tableReverse[how-iterKeys]
	return it.val()
}

// keywordOnly reads keywords that a function names; the results stand in the
// order of names, unbound where absent.
func (m *Machine) keywordOnly(fn string, a Args, names ...string) ([]Value, error) {
	out := make([]Value, len(names))
	first := len(a.Values) - len(a.Names)
next:
	// Bounded: by the names that a function has: each may come once, another ends it.
	for i, n := range a.Names {
		// Bounded: by the names that a function has.
		for j, name := range names {
			if n.s == name {
				out[j] = a.Values[first+i]
				continue next
			}
		}
		return nil, m.Raise(m.rt.classes.TypeError, "'%s' is an invalid keyword argument for %s()", n.s, fn)
	}
	return out, nil
}

// noKeywords refuses keywords of a builtin class, not of a subclass, whose
// __init__ may take them.
func (m *Machine) noKeywords(c, base *Class, other special, a Args) error {
	if len(a.Names) > 0 && (c == base || c.sp(other) == base.sp(other)) {
		return m.Raise(m.rt.classes.TypeError, "%s() takes no keyword arguments", base.name)
	}
	return nil
}
