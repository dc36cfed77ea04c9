package vm

func (rt *Runtime) defineTuple() {
	c := rt.newClass("tuple", KindTuple)
	rt.classes.tuple = c
	rt.methods(c, sizedDefs()[:4]...) // tuples are reversed as sequences
	rt.methods(c,
		Def{Name: "__new__", Min: 1, Max: 2, Keywords: true, Fn: tupleNew},
		Def{Name: "__getitem__", Min: 2, Max: 2, Fn: containerGetMethod},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: containerHashMethod},
		Def{Name: "__add__", Min: 2, Max: 2, Fn: sequenceAdd},
		Def{Name: "__mul__", Min: 2, Max: 2, Fn: sequenceMul},
		Def{Name: "__rmul__", Min: 2, Max: 2, Fn: sequenceMul},
		Def{Name: "__class_getitem__", Min: 2, Max: 2, Fn: aliasItem},
		Def{Name: "__getnewargs__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			t := m.newTuple(a.Values[0].ref.self.(*Tuple).items)
			return m.newTuple([]Value{t.val()}).val(), nil
		}},
		Def{Name: "index", Min: 2, Max: 4, Fn: sequenceIndex},
		Def{Name: "count", Min: 2, Max: 2, Fn: sequenceCount},
	)
	rt.comparisons(c, true)
}

func tupleNew(m *Machine, a Args) (Value, error) {
	c, _ := a.Values[0].asClass()
	if err := m.noKeywords(c, m.rt.classes.tuple, spInit, a); err != nil {
		return unbound, err
	}
	sub := m.subclassOrNil(a.Values[0], m.rt.classes.tuple)
	var items []Value
	if len(a.Positional()) > 1 {
		v := a.Values[1]
		t, ok := v.ref.self.(*Tuple)
		ok = ok && t.class == nil
		switch {
		case ok && sub == nil:
			return v, nil
		case ok:
			items = t.items
		default:
			l := m.newList(nil)
			defer m.Release(m.Hold(l.val()))
			if err := m.extendList(l, v); err != nil {
				return unbound, err
			}
			items = l.items[:len(l.items):len(l.items)]
		}
	}
	m.Alloc(tupleBytes + len(items)*valueBytes)
	t := &Tuple{items: items}
	return t.head(KindTuple, sub, t), nil
}
