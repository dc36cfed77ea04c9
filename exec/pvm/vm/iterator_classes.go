package vm

// defineIterators builds the classes of native iterators. All share the struct
// Iterator; of tells them apart.
func (rt *Runtime) defineIterators() {
	b := &rt.classes
	named := func(name string) *Class {
		c := rt.newClass(name, KindIterator)
		rt.methods(c,
			Def{Name: "__iter__", Min: 1, Max: 1, Fn: func(_ *Machine, a Args) (Value, error) { return a.Values[0], nil }},
			Def{Name: "__next__", Min: 1, Max: 1, Fn: iteratorNext},
		)
		return c
	}
	b.iterator = named("iterator")
	hint := Def{Name: "__length_hint__", Min: 1, Max: 1, Fn: func(_ *Machine, a Args) (Value, error) {
		n, ok := a.Values[0].ref.self.(*Iterator).left()
		if !ok {
			return NotImplemented, nil
		}
		return SmallInt(n), nil
	}}
	rt.methods(b.iterator, hint)
	// Bounded: by the source, once when the runtime is made.
	for i, name := range [...]string{"", "list_iterator", "tuple_iterator", "", "range_iterator", "dict_keyiterator", "dict_valueiterator", "dict_itemiterator"} {
		if name != "" {
			b.iterators[i] = named(name)
			rt.methods(b.iterators[i], hint)
		}
	}
	b.setIterator, b.listReverse, b.callableIterator = named("set_iterator"), named("list_reverseiterator"), named("callable_iterator")
	b.strIterator, b.asciiIterator = named("str_iterator"), named("str_ascii_iterator")
	b.bytesIterator, b.byteArrayIterator = named("bytes_iterator"), named("bytearray_iterator")
	// Bounded: by the source, once when the runtime is made.
	for _, c := range [...]*Class{b.setIterator, b.strIterator, b.asciiIterator, b.bytesIterator, b.byteArrayIterator} {
		rt.methods(c, hint)
	}
	rt.methods(b.listReverse, hint)
	// Bounded: by the source, once when the runtime is made.
	for i, name := range [...]string{"dict_reversekeyiterator", "dict_reversevalueiterator", "dict_reverseitemiterator"} {
		b.tableReverse[i] = named(name)
		rt.methods(b.tableReverse[i], hint)
	}
	b.enumerate, b.zip, b.map_, b.filter, b.reversed = named("enumerate"), named("zip"), named("map"), named("filter"), named("reversed")
	rt.methods(b.reversed, hint)
	rt.methods(b.enumerate,
		Def{Name: "__new__", Min: 2, Max: 3, Params: []string{"cls", "iterable", "start"}, Fn: enumerateNew},
		Def{Name: "__class_getitem__", Min: 2, Max: 2, Fn: aliasItem})
	rt.methods(b.zip, Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: zipNew})
	rt.methods(b.map_, Def{Name: "__new__", Min: 1, Max: -1, Fn: mapNew})
	rt.methods(b.filter, Def{Name: "__new__", Min: 3, Max: 3, Fn: filterNew})
	rt.methods(b.reversed, Def{Name: "__new__", Min: 2, Max: 2, Fn: reversedNew})
}

// iteratorClass is the builtin class of an iterator.
func (m *Machine) iteratorClass(it *Iterator) *Class {
	if it.of != nil {
		return it.of
	}
	if c := m.rt.classes.iterators[it.how]; c != nil {
		return c
	}
	return m.rt.classes.iterator
}

func iteratorNext(m *Machine, a Args) (Value, error) {
	v, ok, err := m.iterNext(a.Values[0].ref.self.(*Iterator))
	if err == nil && !ok {
		err = m.Stop(v)
	}
	return v, err
}

// newFunc makes an iterator of a builtin class or a subclass of it that keeps
// source and more alive.
func (m *Machine) newFunc(class Value, of *Class, source Value, next func(m *Machine) (Value, bool, error)) *Iterator {
	it := m.newIterator(iterFunc, source)
	it.of, it.next, it.class = of, next, m.subclassOrNil(class, of)
	return it
}

// take is Next for an iterator that makes what it gives of another's: one within one within one
// is a recursion, of which each level counts and pays for a step.
func (m *Machine) take(src Value) (Value, bool, error) {
	if o, ok := src.ref.self.(*Iterator); !ok || o.how != iterFunc {
		return m.Next(src)
	}
	if err := m.Enter(); err != nil {
		return unbound, false, err
	}
	m.Charge(m.dyn.Step)
	v, ok, err := m.Next(src)
	m.Exit()
	return v, ok, err
}

func enumerateNew(m *Machine, a Args) (Value, error) {
	n := SmallInt(0)
	if len(a.Values) > 2 && a.Values[2].Bound() {
		var err error
		if n, err = m.interpreted(a.Values[2]); err != nil {
			return unbound, err
		}
	}
	src, err := m.Iter(a.Values[1])
	if err != nil {
		return unbound, err
	}
	it := m.newFunc(a.Values[0], m.rt.classes.enumerate, src, func(m *Machine) (Value, bool, error) {
		m.Charge(m.dyn.Element)
		v, ok, err := m.take(src)
		if err != nil || !ok {
			return v, false, err
		}
		i := n
		if k, small := n.smallInt(); small && k < 1<<62 {
			n = SmallInt(k + 1)
		} else if n, err = m.Binary(OpAdd, n, SmallInt(1)); err != nil {
			return unbound, false, err
		}
		return m.newPair(i, v), true, nil
	})
	it.again = true
	it.roots = func(visit func(Value)) { visit(n) }
	return it.val(), nil
}

func zipNew(m *Machine, a Args) (Value, error) {
	kw, err := m.keywordOnly("zip", a, "strict")
	if err != nil {
		return unbound, err
	}
	strict := false
	if kw[0].Bound() {
		if strict, err = m.Truth(kw[0]); err != nil {
			return unbound, err
		}
	}
	srcs, err := m.iterators(a.Positional()[1:], func(i int, v Value) error {
		return m.Raise(m.rt.classes.TypeError, "'%s' object is not iterable", m.typeName(v))
	})
	if err != nil {
		return unbound, err
	}
	t := m.newTuple(srcs)
	it := m.newFunc(a.Values[0], m.rt.classes.zip, t.val(), func(m *Machine) (Value, bool, error) {
		if len(srcs) == 0 {
			return unbound, false, nil
		}
		m.ChargeEach(1+len(srcs), m.dyn.Element) // the row is an object, and has an item of each
		row := m.newTuple(make([]Value, len(srcs)))
		defer m.Release(m.Hold(row.val()))
		// Paid: by the charge for each source above.
		for i, src := range srcs {
			v, ok, err := m.take(src)
			if err != nil {
				return unbound, false, err
			}
			if !ok {
				if strict {
					return unbound, false, m.zipShort(srcs, i)
				}
				return v, false, nil
			}
			row.items[i] = v
		}
		return row.val(), true, nil
	})
	it.again = true
	return it.val(), nil
}

// zipShort is the answer of a strict zip when iterator i ends.
func (m *Machine) zipShort(srcs []Value, i int) error {
	what := func(n int) string {
		if n == 1 {
			return " "
		}
		return "s 1-"
	}
	if i > 0 {
		return m.Raise(m.rt.classes.ValueError, "zip() argument %d is shorter than argument%s%d", i+1, what(i), i)
	}
	// Paid: by the row that ended, an element for each source.
	for j := 1; j < len(srcs); j++ {
		_, ok, err := m.take(srcs[j])
		if err != nil {
			return err
		}
		if ok {
			return m.Raise(m.rt.classes.ValueError, "zip() argument %d is longer than argument%s%d", j+1, what(j), j)
		}
	}
	return nil
}

// iterators opens all of vs.
func (m *Machine) iterators(vs []Value, refuse func(i int, v Value) error) ([]Value, error) {
	mark := len(m.temp)
	defer m.releaseOnReturn(mark)
	m.ChargeSources(len(vs))
	out := make([]Value, 0, len(vs))
	// Paid: by the charge above, a native call each beyond a few, and by Iter.
	for i, v := range vs {
		it, err := m.Iter(v)
		if err != nil {
			if m.isRaised(err, m.rt.classes.TypeError) && !m.classOf(v).sp(spIter).Bound() && !m.classOf(v).sp(spGetitem).Bound() {
				err = refuse(i, v)
			}
			return nil, err
		}
		m.Hold(it)
		out = append(out, it)
	}
	return out, nil
}

func mapNew(m *Machine, a Args) (Value, error) {
	if len(a.Values) < 3 {
		return unbound, m.Raise(m.rt.classes.TypeError, "map() must have at least two arguments.")
	}
	fn := a.Values[1]
	srcs, err := m.iterators(a.Values[2:], func(_ int, v Value) error {
		return m.Raise(m.rt.classes.TypeError, "'%s' object is not iterable", m.typeName(v))
	})
	if err != nil {
		return unbound, err
	}
	t := m.newTuple(srcs)
	it := m.newFunc(a.Values[0], m.rt.classes.map_, t.val(), nil)
	it.again = true
	it.roots = func(visit func(Value)) { visit(fn) }
	it.next = func(m *Machine) (Value, bool, error) {
		m.Charge(m.dyn.NativeCall)
		m.ChargeEach(len(srcs)-1, m.dyn.Element)
		mark := len(m.temp)
		defer m.releaseOnReturn(mark)
		// Paid: by the charges above, an element for each source.
		for _, src := range srcs {
			v, ok, err := m.take(src)
			if err != nil || !ok {
				return v, false, err
			}
			m.Hold(v)
		}
		v, err := m.Call(fn, m.temp[mark:len(m.temp):len(m.temp)]...)
		return v, err == nil, err
	}
	return it.val(), nil
}

func filterNew(m *Machine, a Args) (Value, error) {
	fn := a.Values[1]
	src, err := m.Iter(a.Values[2])
	if err != nil {
		return unbound, err
	}
	plain := fn.IsNone() || fn == m.rt.classes.bool_.value()
	it := m.newFunc(a.Values[0], m.rt.classes.filter, src, nil)
	it.again = true
	it.roots = func(visit func(Value)) { visit(fn) }
	it.next = func(m *Machine) (Value, bool, error) {
		for {
			m.Charge(m.dyn.Element)
			v, ok, err := m.take(src)
			if err != nil || !ok {
				return v, false, err
			}
			keep := v
			if !plain {
				m.Charge(m.dyn.NativeCall)
				mark := m.Hold(v)
				keep, err = m.Call(fn, v)
				m.Release(mark)
				if err != nil {
					return unbound, false, err
				}
			}
			if is, err := m.Truth(keep); is || err != nil {
				return v, err == nil, err
			}
		}
	}
	return it.val(), nil
}

func reversedNew(m *Machine, a Args) (Value, error) {
	return m.reversed(a.Values[1])
}

// reversed is reversed(v): by __reversed__, else as a sequence from its end.
func (m *Machine) reversed(v Value) (Value, error) {
	if exact(v) {
		if it, ok, err := m.reversedIter(v); ok || err != nil {
			return it, err
		}
	}
	c := m.classOf(v)
	raw := c.sp(spReversed)
	if raw.Bound() && !raw.IsNone() {
		return m.callBound(raw, v, c)
	}
	k := v.ref.kind
	if raw.IsNone() || !c.sp(spGetitem).Bound() || k == KindDict || k == KindMappingProxy {
		return unbound, m.Raise(m.rt.classes.TypeError, "'%s' object is not reversible", c.name)
	}
	n, err := m.Len(v)
	if err != nil {
		return unbound, err
	}
	i, item := n-1, m.dyn.Element
	if s, ok := v.str(); ok && !s.ascii() {
		item *= 3 // it is looked for, from a mark near it, and an object is made
	}
	it := m.newFunc(m.rt.classes.reversed.value(), m.rt.classes.reversed, v, func(m *Machine) (Value, bool, error) {
		if i < 0 {
			return unbound, false, nil
		}
		m.Charge(item)
		i--
		x, err := m.GetItem(v, SmallInt(i+1))
		if err != nil && (m.isRaised(err, m.rt.classes.IndexError) || m.isRaised(err, m.rt.classes.StopIteration)) {
			return unbound, false, nil
		}
		return x, err == nil, err
	})
	it.hint = func() int64 { return i + 1 }
	return it.val(), nil
}
