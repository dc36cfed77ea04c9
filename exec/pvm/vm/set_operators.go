package vm

// containerBinary is a op b of containers; false when op is not theirs.
func (m *Machine) containerBinary(op Operator, a, b Value) (Value, bool, error) {
	switch x := a.ref.self.(type) {
	case *List, *Tuple:
		if op == OpAdd || op == OpMul {
			return m.sequenceBinary(op, a, b)
		}
	case *Set, *DictView:
		return m.setBinary(op, a, b)
	case *Dict:
		if y, ok := b.ref.self.(*Dict); ok && op == OpBitOr {
			m.Charge(2 * m.dyn.DictOp) // for a dict, which may be empty
			out := m.dictCopy(x)
			return out.val(), true, m.dictAbsorb(out, y)
		}
		return unbound, false, nil
	}
	if op != OpMul {
		if _, ok := b.ref.self.(*DictView); ok {
			return m.setBinary(op, a, b)
		}
		return unbound, false, nil
	}
	switch b.ref.self.(type) {
	case *List, *Tuple:
		return m.sequenceBinary(op, b, a)
	}
	return unbound, false, nil
}

// sequenceBinary is + and * of lists and tuples.
func (m *Machine) sequenceBinary(op Operator, a, b Value) (Value, bool, error) {
	items, _ := a.Items()
	switch op {
	case OpAdd:
		more, ok := b.Items()
		if !ok || a.ref.kind != b.ref.kind {
			return unbound, true, m.concatError(a, b)
		}
		n := len(items) + len(more)
		m.ChargeEach(2+n, m.dyn.Element) // with the sequence, which may be empty
		m.Alloc(n * valueBytes)
		out := make([]Value, n)
		copy(out[copy(out, items):], more)
		return m.sequenceOf(a.ref.kind, out), true, nil
	case OpMul:
		n, ok, err := m.asIndex(b)
		if err != nil {
			return unbound, true, err
		}
		if !ok {
			return unbound, true, m.repeatError(b)
		}
		r, err := m.repeat(a, items, n)
		return r, true, err
	}
	return unbound, false, nil
}

func (m *Machine) concatError(a, b Value) error {
	if a.ref.kind == KindList {
		return m.Raise(m.rt.classes.TypeError, "can only concatenate list (not \"%s\") to list", m.typeName(b))
	}
	return m.Raise(m.rt.classes.TypeError, "can only concatenate tuple (not \"%s\") to tuple", m.typeName(b))
}

// sequenceOf makes a list or tuple of announced items.
func (m *Machine) sequenceOf(kind Kind, items []Value) Value {
	if kind == KindList {
		return m.listTaken(items).val()
	}
	m.Alloc(tupleBytes)
	t := &Tuple{items: items}
	return t.head(KindTuple, nil, t)
}

// repeat is a sequence times an int.
func (m *Machine) repeat(a Value, items []Value, times Value) (Value, error) {
	n, ok := times.Int64()
	if !ok {
		return unbound, m.Raise(m.rt.classes.OverflowError, "cannot fit 'int' into an index-sized integer")
	}
	if n <= 0 || len(items) == 0 {
		m.ChargeEach(2, m.dyn.Element) // for the sequence, though it is empty
		return m.sequenceOf(a.ref.kind, nil), nil
	}
	if a.ref.kind == KindTuple && n == 1 && a.ref.class == nil {
		return a, nil
	}
	if n > m.heap.limit/int64(len(items)) {
		m.Alloc(-1) // past the limit: this aborts
	}
	total := int(n) * len(items)
	m.ChargeEach(2+total, m.dyn.Element) // with the sequence
	m.Alloc(total * valueBytes)
	out := make([]Value, total)
	// Paid: by the charge for each item above.
	for done := copy(out, items); done < total; {
		done += copy(out[done:], out[:done])
	}
	return m.sequenceOf(a.ref.kind, out), nil
}

// setBinary is |, &, - and ^ of sets and views. The result has the kind of the
// left set; with a view on either side it is a set. Order: what comes from the
// left operand in its order, then what comes from the right in its own; the
// elements themselves, where equal on both sides, are the left's. With a view as
// one operand the other may be any iterable.
func (m *Machine) setBinary(op Operator, a, b Value) (Value, bool, error) {
	if op != OpBitOr && op != OpBitAnd && op != OpBitXor && op != OpSub {
		return unbound, false, nil
	}
	x, leftSet := a.ref.self.(*Set)
	y, rightSet := b.ref.self.(*Set)
	if leftSet && rightSet {
		out, err := m.setOperate(op, x, y)
		if err != nil {
			return unbound, true, err
		}
		return out.val(), true, nil
	}
	left, leftView := a.ref.self.(*DictView)
	right, rightView := b.ref.self.(*DictView)
	if leftView && left.how == iterValues || rightView && right.how == iterValues || !leftView && !rightView {
		return unbound, false, nil
	}
	m.Charge(2 * m.dyn.NativeCall) // for a set of this side, and what goes through it
	var err error
	if x, err = m.setFrom(KindSet, a); err != nil {
		return unbound, true, err
	}
	defer m.Release(m.Hold(x.val()))
	m.Charge(2 * m.dyn.NativeCall) // likewise of that one
	if y, err = m.setFrom(KindSet, b); err != nil {
		return unbound, true, err
	}
	m.Hold(y.val())
	out, err := m.setOperate(op, x, y)
	if err != nil {
		return unbound, true, err
	}
	return out.val(), true, nil
}

// setOperate computes a new set of x's kind.
func (m *Machine) setOperate(op Operator, x, y *Set) (*Set, error) {
	m.Charge(2 * m.dyn.DictOp) // for a set, which may be empty
	out := m.setCopy(x.kind, x)
	defer m.Release(m.Hold(out.val()))
	switch op {
	case OpBitOr:
		return out, m.setAbsorb(out, y)
	case OpBitAnd:
		return out, m.setKeep(out, y, true)
	case OpSub:
		return out, m.setKeep(out, y, false)
	}
	// what is in both goes; the rest of y follows
	both := m.setCopy(KindSet, y)
	m.Hold(both.val())
	if err := m.setKeep(both, x, false); err != nil {
		return nil, err
	}
	if err := m.setKeep(out, y, false); err != nil {
		return nil, err
	}
	return out, m.setAbsorb(out, both)
}

// setCopy returns a set or frozenset with the elements of s.
func (m *Machine) setCopy(kind Kind, s *Set) *Set {
	m.ChargeEach(len(s.table.entries), m.dyn.Copy)
	out := m.newSetOf(kind)
	out.table.copyFrom(m, &s.table)
	return out
}

// setAbsorb adds the elements of y to s in their order.
func (m *Machine) setAbsorb(s, y *Set) error {
	if s == y {
		return nil
	}
	for i := 0; i < len(y.table.entries); i++ {
		e := y.table.entries[i]
		if e.key.ref == nil {
			m.Charge(m.dyn.Element)
			continue
		}
		m.Charge(m.dyn.DictOp)
		if err := m.setAddHashed(s, e.key, e.hash); err != nil {
			return err
		}
	}
	return nil
}

// setKeep drops the elements of s whose presence in y is not keep.
func (m *Machine) setKeep(s, y *Set, keep bool) error {
	for i := 0; i < len(s.table.entries); i++ {
		e := s.table.entries[i]
		if e.key.ref == nil {
			m.Charge(m.dyn.Element)
			continue
		}
		m.Charge(m.dyn.DictOp)
		version := s.table.version
		at, err := y.table.find(m, e.key, e.hash)
		if err != nil {
			return err
		}
		if (at >= 0) == keep {
			continue
		}
		if s.table.version != version { // __eq__ changed s
			if i, err = s.table.find(m, e.key, e.hash); err != nil {
				return err
			}
			if i < 0 {
				i = -1
				continue
			}
		}
		s.table.remove(m, i)
	}
	return nil
}

// setFrom collects any iterable into a new set.
func (m *Machine) setFrom(kind Kind, v Value) (*Set, error) {
	if o, ok := v.ref.self.(*Set); ok && o.class == nil {
		return m.setCopy(kind, o), nil
	}
	s := m.newSetOf(kind)
	return s, m.setUpdate(s, v)
}

// setUpdate adds all items of an iterable.
func (m *Machine) setUpdate(s *Set, v Value) error {
	if o, ok := v.ref.self.(*Set); ok && o.class == nil {
		return m.setAbsorb(s, o)
	}
	if d, ok := v.ref.self.(*Dict); ok && d.class == nil {
		live := d.table.live
		for i := 0; i < len(d.table.entries); i++ {
			e := d.table.entries[i]
			m.Charge(m.dyn.DictOp)
			if e.key.ref == nil {
				continue
			}
			if err := m.setAddHashed(s, e.key, e.hash); err != nil {
				return err
			}
			if d.table.live != live {
				return m.Raise(m.rt.classes.RuntimeError, "dictionary changed size during iteration")
			}
		}
		return nil
	}
	defer m.Release(m.Hold(s.val()))
	return m.Each(v, func(item Value) error {
		m.Charge(m.dyn.DictOp)
		return m.setAdd(s, item)
	})
}
