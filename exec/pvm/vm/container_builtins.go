package vm

// containerBuiltins are the builtin functions of this area.
func (rt *Runtime) containerBuiltins() []Def {
	return []Def{
		{Name: "len", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			n, err := m.Len(a.Values[0])
			return SmallInt(n), err
		}},
		{Name: "iter", Min: 1, Max: 2, Fn: builtinIter},
		{Name: "next", Min: 1, Max: 2, Fn: builtinNext},
		{Name: "aiter", Min: 1, Max: 1, Fn: builtinAIter},
		{Name: "anext", Min: 1, Max: 2, Fn: builtinANext},
		{Name: "sorted", Min: 0, Max: -1, Keywords: true, Fn: builtinSorted},
		{Name: "sum", Min: 0, Max: 2, Params: []string{"", "start"}, Fn: builtinSum},
		{Name: "min", Min: 1, Max: -1, Keywords: true, Fn: extreme("min", CompareLt)},
		{Name: "max", Min: 1, Max: -1, Keywords: true, Fn: extreme("max", CompareGt)},
		{Name: "any", Min: 1, Max: 1, Fn: anyOrAll(true)},
		{Name: "all", Min: 1, Max: 1, Fn: anyOrAll(false)},
	}
}

func builtinIter(m *Machine, a Args) (Value, error) {
	if len(a.Values) == 1 {
		return m.Iter(a.Values[0])
	}
	fn, sentinel := a.Values[0], a.Values[1]
	if !m.callable(fn) {
		return unbound, m.Raise(m.rt.classes.TypeError, "iter(v, w): v must be callable")
	}
	ended := false // by fn itself, maybe
	it := m.newFunc(m.rt.classes.callableIterator.value(), m.rt.classes.callableIterator, fn, func(m *Machine) (Value, bool, error) {
		m.Charge(m.dyn.NativeCall)
		v, err := m.Call(fn)
		if err != nil {
			if m.isRaised(err, m.rt.classes.StopIteration) {
				ended = true
				return unbound, false, nil
			}
			return unbound, false, err
		}
		if ended {
			return unbound, false, nil
		}
		defer m.Release(m.Hold(v))
		end, err := m.CompareBool(CompareEq, v, sentinel)
		ended = ended || end
		return v, err == nil && !end, err
	})
	it.roots = func(visit func(Value)) { visit(sentinel) }
	return it.val(), nil
}

// builtinNext is next(iterator[, default]). The StopIteration of a generator
// keeps its value.
func builtinNext(m *Machine, a Args) (Value, error) {
	it := a.Values[0]
	var err error
	if n, ok := it.ref.self.(*Iterator); ok && it.ref.class == nil {
		var v Value
		if v, ok, err = m.iterNext(n); ok || err != nil {
			return v, err
		}
		err = m.Stop(v)
	} else {
		v, ok, e := m.callSpecial(it, spNext)
		if !ok {
			return unbound, m.Raise(m.rt.classes.TypeError, "'%s' object is not an iterator", m.typeName(it))
		}
		if e == nil {
			return v, nil
		}
		err = e
	}
	if len(a.Values) > 1 && m.isRaised(err, m.rt.classes.StopIteration) {
		return a.Values[1], nil
	}
	return unbound, err
}

func builtinSorted(m *Machine, a Args) (Value, error) {
	if n := len(a.Positional()); n != 1 {
		return unbound, m.Raise(m.rt.classes.TypeError, "sorted expected 1 argument, got %d", n)
	}
	kw, err := m.keywordOnly("sort", a, "key", "reverse")
	if err != nil {
		return unbound, err
	}
	l := m.listTaken(nil)
	defer m.Release(m.Hold(l.val()))
	if err := m.extendList(l, a.Values[0]); err != nil {
		return unbound, err
	}
	return l.val(), m.sortList(l, kw[0], kw[1])
}

func builtinSum(m *Machine, a Args) (Value, error) {
	if len(a.Values) == 0 || !a.Values[0].Bound() {
		return unbound, m.Raise(m.rt.classes.TypeError, "sum() takes at least 1 positional argument (0 given)")
	}
	sum := SmallInt(0)
	if len(a.Values) > 1 && a.Values[1].Bound() {
		sum = a.Values[1]
		switch sum.ref.kind {
		case KindStr:
			return unbound, m.Raise(m.rt.classes.TypeError, "sum() can't sum strings [use ''.join(seq) instead]")
		case KindBytes:
			return unbound, m.Raise(m.rt.classes.TypeError, "sum() can't sum bytes [use b''.join(seq) instead]")
		case KindByteArray:
			return unbound, m.Raise(m.rt.classes.TypeError, "sum() can't sum bytearray [use b''.join(seq) instead]")
		}
	}
	mark := m.Hold(sum)
	defer m.releaseOnReturn(mark)
	err := m.Each(a.Values[0], func(v Value) error {
		if sum.ref == &intTag && v.ref == &intTag {
			x, y := int64(sum.bits), int64(v.bits)
			if z := x + y; (x^z)&(y^z) >= 0 {
				sum = SmallInt(z)
				return nil
			}
		}
		var err error
		sum, err = m.Binary(OpAdd, sum, v)
		m.temp[mark] = sum
		return err
	})
	return sum, err
}

// extreme is min and max: of equal ones the first.
func extreme(name string, op CompareOp) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		kw, err := m.keywordOnly(name, a, "key", "default")
		if err != nil {
			return unbound, err
		}
		key, absent, pos := kw[0], kw[1], a.Positional()
		if key.Bound() && key.IsNone() {
			key = unbound
		}
		if len(pos) > 1 && absent.Bound() {
			return unbound, m.Raise(m.rt.classes.TypeError, "Cannot specify a default for %s() with multiple positional arguments", name)
		}
		src := pos[0]
		if len(pos) > 1 {
			src = m.newTuple(append([]Value(nil), pos...)).val()
		}
		var best, bestKey Value
		mark := m.Hold(src)
		m.Hold(None)
		m.Hold(None)
		defer m.releaseOnReturn(mark)
		err = m.Each(src, func(v Value) error {
			k := v
			if key.Bound() {
				m.Charge(m.dyn.NativeCall)
				hold := m.Hold(v)
				var err error
				k, err = m.Call(key, v)
				m.Release(hold)
				if err != nil {
					return err
				}
			}
			if best.Bound() {
				m.Charge(m.dyn.Compare)
				better, err := m.CompareBool(op, k, bestKey)
				if err != nil || !better {
					return err
				}
			}
			best, bestKey = v, k
			m.temp[mark+1], m.temp[mark+2] = v, k
			return nil
		})
		switch {
		case err != nil:
			return unbound, err
		case best.Bound():
			return best, nil
		case absent.Bound():
			return absent, nil
		}
		return unbound, m.Raise(m.rt.classes.ValueError, "%s() arg is an empty sequence", name)
	}
}

// anyOrAll looks for an item whose truth is want.
func anyOrAll(want bool) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		it, err := m.Iter(a.Values[0])
		if err != nil {
			return unbound, err
		}
		defer m.Release(m.Hold(it))
		for {
			v, ok, err := m.Next(it)
			if err != nil || !ok {
				return Bool(!want), err
			}
			m.Charge(2 * m.dyn.Element) // for the item and its truth
			is, err := m.Truth(v)
			if err != nil || is == want {
				return Bool(want), err
			}
		}
	}
}
