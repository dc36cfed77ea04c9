package vm

// Containers: container_*.go has what they share, each class has files of its own.
// hashtable.go is the table of dicts and sets. An operation that calls back into Python
// (comparison, hashing, keys) looks again at what it works on afterwards: it may have
// changed.

// The direct forms of the protocols for containers, exact or of a subclass.

// DictView is what keys(), values() and items() return.
type DictView struct {
	Object
	dict *Dict
	how  iteration // iterKeys, iterValues or iterItems
}

func (w *DictView) roots(visit func(Value)) { visit(w.dict.val()) }

// MappingProxy is a read-only view of any mapping.
type MappingProxy struct {
	Object
	mapping Value
}

func (p *MappingProxy) roots(visit func(Value)) { visit(p.mapping) }

func (m *Machine) newDictView(d *Dict, how iteration) Value {
	m.Alloc(smallBytes)
	w := &DictView{dict: d, how: how}
	return w.head(KindDictView, nil, w)
}

// A proxy of a proxy is one of its mapping: nests of them would be walked whole for each look.
func (m *Machine) newMappingProxy(mapping Value) Value {
	if inner, ok := mapping.ref.self.(*MappingProxy); ok {
		mapping = inner.mapping
	}
	m.Alloc(smallBytes)
	p := &MappingProxy{mapping: mapping}
	return p.head(KindMappingProxy, nil, p)
}

// classOfVariant is the builtin class of the kinds that have several.
func (m *Machine) classOfVariant(v Value) *Class {
	switch o := v.ref.self.(type) {
	case *DictView:
		switch o.how {
		case iterKeys:
			return m.rt.classes.dictKeys
		case iterValues:
			return m.rt.classes.dictValues
		}
		return m.rt.classes.dictItems
	case *Iterator:
		return m.iteratorClass(o)
	case *Generator:
		return m.generatorClass(o)
	}
	return m.rt.byKind[v.ref.kind]
}

// containerLen is len of the sized kinds of this area; of a range it is
// no more than its truth, for a length may be beyond an int.
func (m *Machine) containerLen(v Value) (int, bool) {
	switch o := v.ref.self.(type) {
	case *Dict:
		return o.table.live, true
	case *List:
		return len(o.items), true
	case *Tuple:
		return len(o.items), true
	case *Set:
		return o.table.live, true
	case *DictView:
		return o.dict.table.live, true
	case *Range:
		if n, ok := o.length.smallInt(); ok && n == 0 {
			return 0, true
		}
		return 1, true // only its truth is asked for
	}
	return 0, false
}

// containerGetItem is v[key].
func (m *Machine) containerGetItem(v, key Value) (Value, bool, error) {
	switch o := v.ref.self.(type) {
	case *List:
		r, err := m.listGet(o, key)
		return r, true, err
	case *Dict:
		r, err := m.dictItem(o, key)
		return r, true, err
	case *Tuple:
		r, err := m.tupleGet(o, key)
		return r, true, err
	case *Range:
		r, err := m.rangeGet(o, key)
		return r, true, err
	case *MappingProxy:
		r, err := m.GetItem(o.mapping, key)
		return r, true, err
	}
	return unbound, false, nil
}

// containerSetItem is v[key] = x, and del v[key] with x unbound.
func (m *Machine) containerSetItem(v, key, x Value) (bool, error) {
	switch o := v.ref.self.(type) {
	case *List:
		return true, m.listSet(o, key, x)
	case *Dict:
		if x.Bound() {
			return true, m.dictPut(o, key, x)
		}
		ok, err := m.dictDel(o, key)
		if err == nil && !ok {
			err = m.RaiseValue(m.rt.classes.KeyError, key)
		}
		return true, err
	}
	return false, nil
}

// containerContains is x in v.
func (m *Machine) containerContains(v, x Value) (is, ok bool, err error) {
	switch o := v.ref.self.(type) {
	case *Dict:
		_, is, err = m.dictGet(o, x)
	case *Set:
		is, err = m.setHas(o, x)
	case *List:
		var i int
		i, err = m.indexOf(func() []Value { return o.items }, x, 0)
		is = i >= 0
	case *Tuple:
		var i int
		i, err = m.indexOf(func() []Value { return o.items }, x, 0)
		is = i >= 0
	case *Range:
		is, err = m.rangeContains(o, x)
	case *DictView:
		is, err = m.viewContains(o, x)
	case *MappingProxy:
		is, err = m.Contains(o.mapping, x)
	default:
		return false, false, nil
	}
	return is, true, err
}

// indexOf is the position of x in items from position i on, -1 when absent; items
// are read anew after each comparison.
func (m *Machine) indexOf(items func() []Value, x Value, i int) (int, error) {
	for ; ; i++ {
		now := items()
		if i >= len(now) {
			return -1, nil
		}
		m.Charge(m.dyn.Element)
		if now[i] == x {
			return i, nil
		}
		if now[i].ref == &intTag && x.ref == &intTag {
			continue
		}
		eq, err := m.CompareBool(CompareEq, now[i], x)
		if err != nil {
			return -1, err
		}
		if eq {
			return i, nil
		}
	}
}

// containerIter is iter(v).
func (m *Machine) containerIter(v Value) (Value, bool) {
	switch o := v.ref.self.(type) {
	case *List:
		return m.listIter(o).val(), true
	case *Tuple:
		return m.tupleIter(v, o.items).val(), true
	case *Dict:
		return m.tableIter(iterKeys, &o.table, v).val(), true
	case *Set:
		return m.tableIter(iterKeys, &o.table, v).val(), true
	case *Range:
		return m.rangeIter(o), true
	case *DictView:
		return m.tableIter(o.how, &o.dict.table, o.dict.val()).val(), true
	case *Iterator:
		return v, true
	}
	return unbound, false
}
