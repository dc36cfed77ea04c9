package vm

func (rt *Runtime) defineDict() {
	c := rt.newClass("dict", KindDict)
	rt.classes.dict = c
	view := func(how iteration) NativeFunc {
		return func(m *Machine, a Args) (Value, error) { return m.newDictView(a.Values[0].ref.self.(*Dict), how), nil }
	}
	rt.methods(c, sizedDefs()...)
	rt.methods(c,
		Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: dictNew},
		Def{Name: "__init__", Min: 1, Max: 2, Keywords: true, Fn: dictUpdate("dict")},
		Def{Name: "__getitem__", Min: 2, Max: 2, Fn: containerGetMethod},
		Def{Name: "__setitem__", Min: 3, Max: 3, Fn: containerSetMethod},
		Def{Name: "__delitem__", Min: 2, Max: 2, Fn: containerSetMethod},
		Def{Name: "__class_getitem__", Min: 2, Max: 2, Fn: aliasItem},
		Def{Name: "__ior__", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			return a.Values[0], m.updateDict(a.Values[0].ref.self.(*Dict), a.Values[1])
		}},
		Def{Name: "keys", Min: 1, Max: 1, Fn: view(iterKeys)},
		Def{Name: "values", Min: 1, Max: 1, Fn: view(iterValues)},
		Def{Name: "items", Min: 1, Max: 1, Fn: view(iterItems)},
		Def{Name: "get", Min: 2, Max: 3, Fn: dictGetMethod},
		Def{Name: "setdefault", Min: 2, Max: 3, Fn: dictSetDefault},
		Def{Name: "pop", Min: 2, Max: 3, Fn: dictPop},
		Def{Name: "popitem", Min: 1, Max: 1, Fn: dictPopItem},
		Def{Name: "update", Min: 1, Max: 2, Keywords: true, Fn: dictUpdate("update")},
		Def{Name: "clear", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			a.Values[0].ref.self.(*Dict).table.clear(m)
			return None, nil
		}},
		Def{Name: "copy", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			return m.dictCopy(a.Values[0].ref.self.(*Dict)).val(), nil
		}},
	)
	rt.classMethods(c, Def{Name: "fromkeys", Min: 2, Max: 3, Fn: dictFromKeys})
	rt.binaries(c, OpBitOr)
	rt.comparisons(c, false)
	rt.unhashable(c)
}

func dictNew(m *Machine, a Args) (Value, error) {
	m.Alloc(dictBytes)
	d := &Dict{}
	return d.head(KindDict, m.subclassOrNil(a.Values[0], m.rt.classes.dict), d), nil
}

// dictUpdate is update(mapping or pairs, **keywords), and __init__.
func dictUpdate(name string) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		d := a.Values[0].ref.self.(*Dict)
		pos := a.Positional()
		if len(pos) > 1 {
			if err := m.updateDict(d, pos[1]); err != nil {
				return unbound, err
			}
		}
		m.ChargeEach(len(a.Names), m.dyn.DictOp)
		// Paid: by the line above.
		for i, n := range a.Names {
			if err := m.dictPut(d, n.val(), a.Values[len(pos)+i]); err != nil {
				return unbound, err
			}
		}
		return None, nil
	}
}

// updateDict puts the items of a mapping, or of an iterable of pairs, into d.
func (m *Machine) updateDict(d *Dict, v Value) error {
	if o, ok := v.ref.self.(*Dict); ok && (o.class == nil || o.class.sp(spIter) == m.rt.classes.dict.sp(spIter)) {
		return m.dictAbsorb(d, o)
	}
	keys, ok, err := m.LookupAttr(v, m.newStr("keys"))
	if err != nil {
		return err
	}
	if !ok {
		return m.updatePairs(d, v)
	}
	list, err := m.Call(keys)
	if err != nil {
		return err
	}
	return m.Each(list, func(k Value) error {
		x, err := m.GetItem(v, k)
		if err != nil {
			return err
		}
		m.Charge(m.dyn.DictOp)
		return m.dictPut(d, k, x)
	})
}

func (m *Machine) updatePairs(d *Dict, v Value) error {
	n := 0
	return m.Each(v, func(item Value) error {
		pair, ok := item.Items()
		if !ok || item.ref.class != nil {
			m.Charge(m.dyn.NativeCall) // for its iterator
			it, err := m.Iter(item)
			if err != nil {
				if m.isRaised(err, m.rt.classes.TypeError) {
					return m.Raise(m.rt.classes.TypeError, "cannot convert dictionary update sequence element #%d to a sequence", n)
				}
				return err
			}
			if pair, err = m.Collect(it); err != nil {
				return err
			}
		}
		if len(pair) != 2 {
			return m.Raise(m.rt.classes.ValueError, "dictionary update sequence element #%d has length %d; 2 is required", n, len(pair))
		}
		n++
		m.Charge(m.dyn.DictOp)
		return m.dictPut(d, pair[0], pair[1])
	})
}

func dictFromKeys(m *Machine, a Args) (Value, error) {
	v := None
	if len(a.Values) > 2 {
		v = a.Values[2]
	}
	c, _ := a.Values[0].asClass()
	if c == m.rt.classes.dict {
		d := m.newDict()
		defer m.Release(m.Hold(d.val()))
		if t := exactTable(a.Values[1]); t != nil {
			return d.val(), m.fillFromTable(d, t, v)
		}
		return d.val(), m.Each(a.Values[1], func(k Value) error {
			m.Charge(m.dyn.DictOp)
			return m.dictPut(d, k, v)
		})
	}
	d, err := m.Call(a.Values[0])
	if err != nil {
		return unbound, err
	}
	defer m.Release(m.Hold(d))
	return d, m.Each(a.Values[1], func(k Value) error {
		m.Charge(m.dyn.DictOp)
		return m.SetItem(d, k, v)
	})
}

// exactTable is the table of a dict or set that iterates as its class does.
func exactTable(v Value) *hashTable {
	if !exact(v) {
		return nil
	}
	switch o := v.ref.self.(type) {
	case *Dict:
		return &o.table
	case *Set:
		return &o.table
	}
	return nil
}

// fillFromTable puts the keys of a table into d without hashing them anew.
func (m *Machine) fillFromTable(d *Dict, t *hashTable, v Value) error {
	live := t.live
	for i := 0; i < len(t.entries); i++ {
		e := t.entries[i]
		m.Charge(m.dyn.DictOp)
		if e.key.ref == nil {
			continue
		}
		if err := m.dictPutHashed(d, e.key, e.hash, v); err != nil {
			return err
		}
		if t.live != live {
			return m.Raise(m.rt.classes.RuntimeError, "dictionary changed size during iteration")
		}
	}
	return nil
}

func dictGetMethod(m *Machine, a Args) (Value, error) {
	m.Charge(m.dyn.DictOp)
	v, ok, err := m.dictGet(a.Values[0].ref.self.(*Dict), a.Values[1])
	if err != nil || ok {
		return v, err
	}
	if len(a.Values) > 2 {
		return a.Values[2], nil
	}
	return None, nil
}

func dictSetDefault(m *Machine, a Args) (Value, error) {
	m.Charge(m.dyn.DictOp)
	d := a.Values[0].ref.self.(*Dict)
	hash, err := m.keyHash(a.Values[1])
	if err != nil {
		return unbound, err
	}
	i, err := d.table.find(m, a.Values[1], hash)
	if err != nil {
		return unbound, err
	}
	if i >= 0 {
		return d.table.entries[i].value, nil
	}
	v := None
	if len(a.Values) > 2 {
		v = a.Values[2]
	}
	d.table.add(m, a.Values[1], v, hash)
	return v, nil
}

func dictPop(m *Machine, a Args) (Value, error) {
	m.Charge(m.dyn.DictOp)
	v, ok, err := m.dictTake(a.Values[0].ref.self.(*Dict), a.Values[1])
	if err != nil || ok {
		return v, err
	}
	if len(a.Values) > 2 {
		return a.Values[2], nil
	}
	return unbound, m.RaiseValue(m.rt.classes.KeyError, a.Values[1])
}

func dictPopItem(m *Machine, a Args) (Value, error) {
	m.Charge(m.dyn.DictOp)
	t := &a.Values[0].ref.self.(*Dict).table
	if t.live == 0 {
		return unbound, m.Raise(m.rt.classes.KeyError, "popitem(): dictionary is empty")
	}
	i, _ := t.last(m)
	e := t.entries[i]
	t.remove(m, i)
	return m.newPair(e.key, e.value), nil
}

func (rt *Runtime) defineDictViews() {
	b := &rt.classes
	b.dictKeys = rt.newClass("dict_keys", KindDictView)
	b.dictValues = rt.newClass("dict_values", KindDictView)
	b.dictItems = rt.newClass("dict_items", KindDictView)
	// Bounded: by the source, once when the runtime is made.
	for _, c := range []*Class{b.dictKeys, b.dictValues, b.dictItems} {
		c.final = true
		rt.methods(c, sizedDefs()...)
		rt.getters(c, "mapping", func(m *Machine, v Value) (Value, error) {
			return m.newMappingProxy(v.ref.self.(*DictView).dict.val()), nil
		}, nil)
		if c == b.dictValues {
			continue
		}
		rt.comparisons(c, true)
		rt.binaries(c, OpBitOr, OpBitAnd, OpBitXor, OpSub)
		rt.unhashable(c)
		rt.methods(c, Def{Name: "isdisjoint", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			x, err := m.setFrom(KindSet, a.Values[0])
			if err != nil {
				return unbound, err
			}
			is, err := m.disjoint(x, a.Values[1])
			return Bool(is), err
		}})
	}
	p := rt.newClass("mappingproxy", KindMappingProxy)
	b.mappingProxy = p
	p.final = true
	rt.methods(p, sizedDefs()[1:]...)
	call := func(name string) Def {
		return Def{Name: name, Min: 1, Max: -1, Fn: func(m *Machine, a Args) (Value, error) {
			fn, err := m.GetAttr(a.Values[0].ref.self.(*MappingProxy).mapping, m.newStr(name))
			if err != nil {
				return unbound, err
			}
			return m.Call(fn, a.Values[1:]...)
		}}
	}
	rt.methods(p, call("keys"), call("values"), call("items"), call("get"), call("copy"),
		Def{Name: "__new__", Min: 2, Max: 2, Fn: mappingProxyNew},
		Def{Name: "__str__", Min: 1, Max: 1, Fn: mappingProxyStr},
		Def{Name: "__getitem__", Min: 2, Max: 2, Fn: containerGetMethod},
		Def{Name: "__class_getitem__", Min: 2, Max: 2, Fn: aliasItem},
		Def{Name: "__len__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			n, err := m.Len(a.Values[0].ref.self.(*MappingProxy).mapping)
			return SmallInt(n), err
		}},
		Def{Name: "__iter__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			return m.Iter(a.Values[0].ref.self.(*MappingProxy).mapping)
		}},
		Def{Name: "__or__", Min: 2, Max: 2, Fn: proxyOr}, Def{Name: "__ror__", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			return proxyOr(m, Args{Values: []Value{a.Values[1], a.Values[0]}})
		}},
	)
	rt.comparisons(p, false)
}

// mappingProxyStr is the text of the mapping behind the proxy.
func mappingProxyStr(m *Machine, a Args) (Value, error) {
	s, err := m.Str(a.Values[0].ref.self.(*MappingProxy).mapping)
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

func mappingProxyNew(m *Machine, a Args) (Value, error) {
	v := a.Values[1]
	if k := v.ref.kind; k == KindList || k == KindTuple || !m.classOf(v).sp(spGetitem).Bound() {
		return unbound, m.Raise(m.rt.classes.TypeError, "mappingproxy() argument must be a mapping, not %s", m.typeName(v))
	}
	return m.newMappingProxy(v), nil
}

func proxyOr(m *Machine, a Args) (Value, error) {
	x, y := a.Values[0], a.Values[1]
	if p, ok := x.ref.self.(*MappingProxy); ok {
		x = p.mapping
	}
	if p, ok := y.ref.self.(*MappingProxy); ok {
		y = p.mapping
	}
	return m.Binary(OpBitOr, x, y)
}
