package vm

// newTuple returns a tuple that takes the slice over. It announces the items too.
func (m *Machine) newTuple(items []Value) *Tuple {
	m.Alloc(tupleBytes + len(items)*valueBytes)
	t := &Tuple{items: items}
	t.head(KindTuple, nil, t)
	return t
}

func (t *Tuple) val() Value { return Value{ref: &t.Object} }

// newPair is a tuple of two.
func (m *Machine) newPair(a, b Value) Value {
	m.Charge(2 * m.dyn.Element)
	m.Alloc(tupleBytes + 2*valueBytes)
	p := &pair{both: [2]Value{a, b}}
	p.items = p.both[:]
	return p.head(KindTuple, nil, &p.Tuple)
}

// pair is a tuple of two together with its items, in one allocation.
type pair struct {
	Tuple
	both [2]Value
}

// tupleGet is t[key].
func (m *Machine) tupleGet(t *Tuple, key Value) (Value, error) {
	if s, ok := key.ref.self.(*Slice); ok {
		b, err := m.sliceBounds(s, len(t.items))
		if err != nil {
			return unbound, err
		}
		if b.step == 1 && int(b.count) == len(t.items) && t.class == nil {
			return t.val(), nil
		}
		return m.newTuple(m.pick(t.items, b)).val(), nil
	}
	n, err := m.itemIndex(key, "tuple")
	if err != nil {
		return unbound, err
	}
	i, ok := position(n, len(t.items))
	if !ok {
		return unbound, m.Raise(m.rt.classes.IndexError, "tuple index out of range")
	}
	return t.items[i], nil
}
