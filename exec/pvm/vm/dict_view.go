package vm

// viewContains is x in a view.
func (m *Machine) viewContains(w *DictView, x Value) (bool, error) {
	switch w.how {
	case iterKeys:
		_, ok, err := m.dictGet(w.dict, x)
		return ok, err
	case iterItems:
		t, ok := x.ref.self.(*Tuple)
		if !ok || len(t.items) != 2 {
			return false, nil
		}
		v, ok, err := m.dictGet(w.dict, t.items[0])
		if err != nil || !ok {
			return false, err
		}
		return m.CompareBool(CompareEq, v, t.items[1])
	}
	for i := 0; i < len(w.dict.table.entries); i++ {
		m.Charge(m.dyn.Element)
		e := w.dict.table.entries[i]
		if e.key.ref == nil {
			continue
		}
		if eq, err := m.CompareBool(CompareEq, e.value, x); eq || err != nil {
			return eq, err
		}
	}
	return false, nil
}
