package vm

func (rt *Runtime) defineList() {
	c := rt.newClass("list", KindList)
	rt.classes.list = c
	rt.methods(c, sizedDefs()...)
	rt.methods(c,
		Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: listNew},
		Def{Name: "__init__", Min: 1, Max: 2, Keywords: true, Fn: listInit},
		Def{Name: "__getitem__", Min: 2, Max: 2, Fn: containerGetMethod},
		Def{Name: "__setitem__", Min: 3, Max: 3, Fn: containerSetMethod},
		Def{Name: "__delitem__", Min: 2, Max: 2, Fn: containerSetMethod},
		Def{Name: "__add__", Min: 2, Max: 2, Fn: sequenceAdd},
		Def{Name: "__mul__", Min: 2, Max: 2, Fn: sequenceMul},
		Def{Name: "__rmul__", Min: 2, Max: 2, Fn: sequenceMul},
		Def{Name: "__iadd__", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			_, err := listExtend(m, a)
			return a.Values[0], err
		}},
		Def{Name: "__imul__", Min: 2, Max: 2, Fn: listIMul},
		Def{Name: "__class_getitem__", Min: 2, Max: 2, Fn: aliasItem},
		Def{Name: "append", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			a.Values[0].ref.self.(*List).append(m, a.Values[1])
			return None, nil
		}},
		Def{Name: "extend", Min: 2, Max: 2, Fn: listExtend},
		Def{Name: "insert", Min: 3, Max: 3, Fn: listInsert},
		Def{Name: "pop", Min: 1, Max: 2, Fn: listPop},
		Def{Name: "remove", Min: 2, Max: 2, Fn: listRemove},
		Def{Name: "clear", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			m.touch(a.Values[0].ref)
			a.Values[0].ref.self.(*List).items = nil
			return None, nil
		}},
		Def{Name: "index", Min: 2, Max: 4, Fn: sequenceIndex},
		Def{Name: "count", Min: 2, Max: 2, Fn: sequenceCount},
		Def{Name: "sort", Min: 1, Max: -1, Keywords: true, Fn: listSort},
		Def{Name: "reverse", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			m.touch(a.Values[0].ref)
			items := a.Values[0].ref.self.(*List).items
			m.ChargeEach(len(items), m.dyn.Element)
			reverseItems(items)
			return None, nil
		}},
		Def{Name: "copy", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			items := a.Values[0].ref.self.(*List).items
			return m.listTaken(m.pick(items, bounds{step: 1, count: int64(len(items))})).val(), nil
		}},
	)
	rt.comparisons(c, true)
	rt.unhashable(c)
}

func listNew(m *Machine, a Args) (Value, error) {
	m.Alloc(listBytes)
	l := &List{}
	return l.head(KindList, m.subclassOrNil(a.Values[0], m.rt.classes.list), l), nil
}

func listInit(m *Machine, a Args) (Value, error) {
	if err := m.noKeywords(m.classOf(a.Values[0]), m.rt.classes.list, spNew, a); err != nil {
		return unbound, err
	}
	l := a.Values[0].ref.self.(*List)
	m.touch(&l.Object)
	l.items = nil
	if len(a.Positional()) < 2 {
		return None, nil
	}
	return None, m.extendList(l, a.Values[1])
}

// listIAdd is l += v, what the call of list.__iadd__, own, does at the same level
// of recursion.
func (m *Machine) listIAdd(own, l, v Value) (Value, error) {
	if err := m.Enter(); err != nil {
		return unbound, err
	}
	mark := len(m.temp)
	m.temp = append(m.temp, own, l, v)
	m.chargeIterator(v)
	err := m.extendList(l.ref.self.(*List), v)
	m.Release(mark)
	m.Exit()
	return l, err
}

func listExtend(m *Machine, a Args) (Value, error) {
	return None, m.extendList(a.Values[0].ref.self.(*List), a.Values[1])
}

// extendList appends the items of any iterable.
func (m *Machine) extendList(l *List, v Value) error {
	if v.ref.class == nil {
		if items, ok := v.Items(); ok {
			m.ChargeEach(len(items), m.dyn.Element)
			l.extend(m, items)
			return nil
		}
	}
	it, err := m.Iter(v)
	if err != nil {
		return err
	}
	defer m.Release(m.Hold(it))
	if n, ok := it.ref.self.(*Iterator); ok && it.ref.class == nil && n.how != iterFunc {
		if left, known := n.left(); known && left < 1<<20 && n.table == nil {
			l.grow(m, len(l.items)+int(left))
		}
		for {
			x, ok, err := m.iterNext(n)
			if err != nil || !ok {
				return err
			}
			m.Charge(m.dyn.Step)
			l.append(m, x)
		}
	}
	for {
		x, ok, err := m.Next(it)
		if err != nil || !ok {
			return err
		}
		m.Charge(m.dyn.Step)
		l.append(m, x)
	}
}

// sequenceAdd is __add__ of lists and tuples; as an operator it comes after the
// right operand's __radd__.
func sequenceAdd(m *Machine, a Args) (Value, error) {
	return m.binaryMethod(OpAdd, a.Values[0], a.Values[1])
}

func sequenceMul(m *Machine, a Args) (Value, error) {
	n, ok, err := m.asIndex(a.Values[1])
	if err != nil {
		return unbound, err
	}
	if !ok {
		return unbound, m.notAnInteger(a.Values[1])
	}
	items, _ := a.Values[0].Items()
	return m.repeat(a.Values[0], items, n)
}

// notAnInteger is what __mul__ called by name says; repeatError is *.
func (m *Machine) notAnInteger(v Value) error {
	return m.Raise(m.rt.classes.TypeError, "'%s' object cannot be interpreted as an integer", m.typeName(v))
}

// isIndex tells whether v is an int or has __index__.
func (m *Machine) isIndex(v Value) bool {
	return v.ref.kind == KindInt || v.ref.kind == KindBool || m.classOf(v).sp(spIndex).Bound()
}

func (m *Machine) repeatError(v Value) error {
	return m.Raise(m.rt.classes.TypeError, "can't multiply sequence by non-int of type '%s'", m.typeName(v))
}

func listIMul(m *Machine, a Args) (Value, error) {
	r, err := sequenceMul(m, a)
	if err != nil {
		return unbound, err
	}
	m.touch(a.Values[0].ref)
	a.Values[0].ref.self.(*List).items = r.ref.self.(*List).items
	return a.Values[0], nil
}

func listInsert(m *Machine, a Args) (Value, error) {
	l := a.Values[0].ref.self.(*List)
	n, err := m.Index(a.Values[1])
	if err != nil {
		return unbound, err
	}
	if n < 0 {
		n = max(n+int64(len(l.items)), 0)
	}
	i := int(min(n, int64(len(l.items))))
	m.ChargeEach(len(l.items)-i, m.dyn.Element)
	l.append(m, a.Values[2])
	copy(l.items[i+1:], l.items[i:])
	l.items[i] = a.Values[2]
	return None, nil
}

func listPop(m *Machine, a Args) (Value, error) {
	l := a.Values[0].ref.self.(*List)
	n := int64(-1)
	if len(a.Values) > 1 {
		var err error
		if n, err = m.Index(a.Values[1]); err != nil {
			return unbound, err
		}
	}
	if len(l.items) == 0 {
		return unbound, m.Raise(m.rt.classes.IndexError, "pop from empty list")
	}
	i, ok := position(n, len(l.items))
	if !ok {
		return unbound, m.Raise(m.rt.classes.IndexError, "pop index out of range")
	}
	v := l.items[i]
	m.ChargeEach(len(l.items)-1-i, m.dyn.Element)
	m.touch(&l.Object)
	copy(l.items[i:], l.items[i+1:])
	l.items[len(l.items)-1] = unbound
	l.items = l.items[:len(l.items)-1]
	l.shrink()
	return v, nil
}

func listRemove(m *Machine, a Args) (Value, error) {
	l := a.Values[0].ref.self.(*List)
	i, err := m.indexOf(func() []Value { return l.items }, a.Values[1], 0)
	if err != nil {
		return unbound, err
	}
	if i < 0 {
		return unbound, m.Raise(m.rt.classes.ValueError, "list.remove(x): x not in list")
	}
	if i < len(l.items) {
		m.ChargeEach(len(l.items)-i, m.dyn.Element)
		l.replace(m, i, i+1, nil)
	}
	return None, nil
}

// sequenceIndex is index of lists and tuples.
func sequenceIndex(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	items := func() []Value { now, _ := v.Items(); return now }
	from, to := int64(0), int64(maxInt64)
	// Bounded: by two.
	for i, p := range []*int64{&from, &to} {
		if len(a.Values) > 2+i {
			n, ok, err := m.asIndex(a.Values[2+i])
			if err != nil {
				return unbound, err
			}
			if !ok {
				return unbound, m.Raise(m.rt.classes.TypeError, "slice indices must be integers or have an __index__ method")
			}
			if *p = clamped(n); *p < 0 {
				*p = max(*p+int64(len(items())), 0)
			}
		}
	}
	from = min(from, int64(len(items())))
	i, err := m.indexOf(func() []Value { now := items(); return now[:min(int64(len(now)), to)] }, a.Values[1], int(from))
	if err != nil {
		return unbound, err
	}
	if i < 0 && v.ref.kind == KindTuple {
		return unbound, m.Raise(m.rt.classes.ValueError, "tuple.index(x): x not in tuple")
	}
	if i < 0 {
		s, err := m.Repr(a.Values[1])
		if err != nil {
			return unbound, err
		}
		return unbound, m.Raise(m.rt.classes.ValueError, "%s is not in list", s.s)
	}
	return SmallInt(int64(i)), nil
}

func sequenceCount(m *Machine, a Args) (Value, error) {
	v, n := a.Values[0], 0
	items := func() []Value { now, _ := v.Items(); return now }
	// Paid: by indexOf, an element for each item, which goes on where it ended.
	for i := 0; ; i++ {
		var err error
		if i, err = m.indexOf(items, a.Values[1], i); err != nil {
			return unbound, err
		}
		if i < 0 {
			return SmallInt(int64(n)), nil
		}
		n++
	}
}

func reverseItems(items []Value) {
	// Paid: by who asks, an element for each item.
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
}

func listSort(m *Machine, a Args) (Value, error) {
	if len(a.Positional()) > 1 {
		return unbound, m.Raise(m.rt.classes.TypeError, "sort() takes no positional arguments")
	}
	kw, err := m.keywordOnly("sort", a, "key", "reverse")
	if err != nil {
		return unbound, err
	}
	return None, m.sortList(a.Values[0].ref.self.(*List), kw[0], kw[1])
}

// sortList is l.sort(key, reverse). The list is empty meanwhile; what a callback
// puts there is lost, with ValueError.
func (m *Machine) sortList(l *List, key, reverse Value) error {
	back := false
	if reverse.Bound() {
		n, ok, err := m.asIndex(reverse)
		if err != nil {
			return err
		}
		if !ok {
			return m.Raise(m.rt.classes.TypeError, "'%s' object cannot be interpreted as an integer", m.typeName(reverse))
		}
		back = n != SmallInt(0)
	}
	m.touch(&l.Object)
	items := l.items
	l.items = nil
	hold := m.listTaken(items)
	defer m.Release(m.Hold(hold.val()))
	err := m.sortItems(items, key, back)
	changed := l.items != nil
	l.items = items
	if err == nil && changed {
		err = m.Raise(m.rt.classes.ValueError, "list modified during sort")
	}
	return err
}

// sortItems sorts in place, by key where there is one; back keeps the order of
// equal items too.
func (m *Machine) sortItems(items []Value, key Value, back bool) error {
	var keys []Value
	if key.Bound() && !key.IsNone() {
		m.Alloc(len(items) * valueBytes)
		hold := m.listTaken(make([]Value, 0, len(items)))
		defer m.Release(m.Hold(hold.val()))
		for _, v := range items {
			m.Charge(m.dyn.NativeCall)
			k, err := m.Call(key, v)
			if err != nil {
				return err
			}
			hold.items = append(hold.items, k)
		}
		keys = hold.items
	}
	m.ChargeEach(len(items), m.dyn.Element)
	if back {
		reverseItems(items)
		reverseItems(keys)
	}
	var err error
	if keys != nil {
		err = m.sortBy(keys, items)
	} else {
		err = m.sortBy(items, nil)
	}
	if back {
		reverseItems(items)
	}
	return err
}
