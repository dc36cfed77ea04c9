package vm

// containerCompare is a op b of two containers; false when they do not compare,
// and == or order is for the specials to decide.
func (m *Machine) containerCompare(op CompareOp, a, b Value) (Value, bool, error) {
	switch x := a.ref.self.(type) {
	case *List:
		if y, ok := b.ref.self.(*List); ok {
			if len(x.items) != len(y.items) && op <= CompareNe {
				return Bool(op == CompareNe), true, nil
			}
			r, err := m.compareItems(op, func() []Value { return x.items }, func() []Value { return y.items })
			return r, true, err
		}
	case *Tuple:
		if y, ok := b.ref.self.(*Tuple); ok {
			r, err := m.compareItems(op, func() []Value { return x.items }, func() []Value { return y.items })
			return r, true, err
		}
	case *Dict:
		if y, ok := b.ref.self.(*Dict); ok && op <= CompareNe {
			eq, err := m.dictEqual(x, y)
			return Bool(eq == (op == CompareEq)), true, err
		}
	case *Set, *DictView:
		return m.compareSetLike(op, a, b)
	case *Range:
		if y, ok := b.ref.self.(*Range); ok && op <= CompareNe {
			eq, err := m.rangeEqual(x, y)
			return Bool(eq == (op == CompareEq)), true, err
		}
	case *Slice:
		if y, ok := b.ref.self.(*Slice); ok {
			m.Charge(m.dyn.DictOp) // for the parts of both, side by side
			if x == y {
				return Bool(op == CompareEq || op == CompareLe || op == CompareGe), true, nil
			}
			xs, ys := []Value{x.start, x.stop, x.step}, []Value{y.start, y.stop, y.step}
			r, err := m.compareItems(op, func() []Value { return xs }, func() []Value { return ys })
			return r, true, err
		}
	case *MappingProxy:
		r, err := m.Compare(op, x.mapping, b)
		return r, true, err
	}
	return unbound, false, nil
}

// compareItems compares sequences item by item; both are read anew after each
// comparison, as it may change them. Each comparison pays for its own level, as those
// of nested sequences are many and have next to no items.
func (m *Machine) compareItems(op CompareOp, a, b func() []Value) (Value, error) {
	if err := m.Enter(); err != nil {
		return unbound, err
	}
	defer m.Exit()
	m.Charge(m.dyn.DictOp)
	for i := 0; ; i++ {
		x, y := a(), b()
		if i >= len(x) || i >= len(y) {
			return Bool(compareLengths(op, len(x), len(y))), nil
		}
		m.Charge(m.dyn.Element)
		v, w := x[i], y[i]
		if v == w {
			continue
		}
		eq, err := m.CompareBool(CompareEq, v, w)
		if err != nil {
			return unbound, err
		}
		if eq {
			continue
		}
		switch op {
		case CompareEq:
			return False, nil
		case CompareNe:
			return True, nil
		}
		return m.Compare(op, v, w)
	}
}

func compareLengths(op CompareOp, a, b int) bool {
	switch op {
	case CompareEq:
		return a == b
	case CompareNe:
		return a != b
	case CompareLt:
		return a < b
	case CompareLe:
		return a <= b
	case CompareGt:
		return a > b
	}
	return a >= b
}

// setLike returns the table of a set, or of the keys or items of a dict.
func setLike(v Value) (*hashTable, bool) {
	switch o := v.ref.self.(type) {
	case *Set:
		return &o.table, true
	case *DictView:
		return &o.dict.table, o.how != iterValues
	}
	return nil, false
}

// compareSetLike orders sets and views by inclusion.
func (m *Machine) compareSetLike(op CompareOp, a, b Value) (Value, bool, error) {
	x, okX := setLike(a)
	y, okY := setLike(b)
	if !okX || !okY {
		return unbound, false, nil
	}
	if err := m.Enter(); err != nil {
		return unbound, true, err
	}
	defer m.Exit()
	m.Charge(m.dyn.DictOp) // as compareItems
	var is bool
	var err error
	switch op {
	case CompareEq, CompareNe:
		is = x.live == y.live
		if is {
			is, err = m.allIn(a, b)
		}
		is = is == (op == CompareEq)
	case CompareLe, CompareLt:
		is = x.live < y.live || op == CompareLe && x.live == y.live
		if is {
			is, err = m.allIn(a, b)
		}
	default:
		is = x.live > y.live || op == CompareGe && x.live == y.live
		if is {
			is, err = m.allIn(b, a)
		}
	}
	return Bool(is), true, err
}

// allIn tells whether all elements of a are in b.
func (m *Machine) allIn(a, b Value) (bool, error) {
	x, ok := a.ref.self.(*Set)
	y, ok2 := b.ref.self.(*Set)
	if ok && ok2 {
		return m.subset(x, y)
	}
	m.Charge(2 * m.dyn.NativeCall) // for the iterator
	it, _ := m.containerIter(a)
	defer m.Release(m.Hold(it))
	for {
		v, ok, err := m.iterNext(it.ref.self.(*Iterator))
		if err != nil || !ok {
			return err == nil, err
		}
		m.Charge(m.dyn.Step + m.dyn.DictOp)
		is, _, err := m.containerContains(b, v)
		if err != nil || !is {
			return false, err
		}
	}
}

// subset tells whether all elements of a are in b, by their known hashes.
func (m *Machine) subset(a, b *Set) (bool, error) {
	for i := 0; i < len(a.table.entries); i++ {
		e := a.table.entries[i]
		if e.key.ref == nil {
			m.Charge(m.dyn.Element)
			continue
		}
		m.Charge(m.dyn.DictOp)
		at, err := b.table.find(m, e.key, e.hash)
		if err != nil || at < 0 {
			return false, err
		}
	}
	return true, nil
}

// rangeEqual compares ranges as sequences.
func (m *Machine) rangeEqual(a, b *Range) (bool, error) {
	m.Charge(m.dyn.DictOp) // as compareItems
	eq, err := m.CompareBool(CompareEq, a.length, b.length)
	if err != nil || !eq || a.length == SmallInt(0) {
		return eq, err
	}
	if eq, err = m.CompareBool(CompareEq, a.start, b.start); err != nil || !eq || a.length == SmallInt(1) {
		return eq, err
	}
	return m.CompareBool(CompareEq, a.step, b.step)
}

// containerHash is hash(v) of tuples, frozensets and ranges.
func (m *Machine) containerHash(v Value) (int64, bool, error) {
	switch o := v.ref.self.(type) {
	case *Tuple:
		h, err := m.itemsHash(o.items)
		return h, true, err
	case *Set:
		if o.kind == KindFrozenSet {
			return m.setHash(o), true, nil
		}
	case *Range:
		parts := []Value{o.length, None, None}
		if o.length != SmallInt(0) {
			parts[1] = o.start
			if o.length != SmallInt(1) {
				parts[2] = o.step
			}
		}
		h, err := m.itemsHash(parts)
		return h, true, err
	}
	return 0, false, nil
}

// itemsHash combines hashes in order, by the rounds of xxHash as CPython's tuples
// do.
func (m *Machine) itemsHash(items []Value) (int64, error) {
	const p1, p2, p5 = 11400714785074694791, 14029467366897019727, 2870177450012600261
	if err := m.Enter(); err != nil {
		return 0, err
	}
	defer m.Exit()
	m.ChargeEach(len(items), m.dyn.Element)
	acc := uint64(p5)
	// Paid: by the charge for each item above.
	for _, v := range items {
		h, err := m.Hash(v)
		if err != nil {
			return 0, err
		}
		acc += uint64(h) * p2
		acc = (acc<<31 | acc>>33) * p1
	}
	acc += uint64(len(items)) ^ (p5 ^ 3527539)
	if acc == 1<<64-1 {
		return 1546275796, nil
	}
	return int64(acc), nil
}

// setHash combines the hashes of elements without regard to order, from their
// hashes in the table undone of the key of the process.
func (m *Machine) setHash(s *Set) int64 {
	if s.hashed {
		return s.hash
	}
	m.ChargeEach(len(s.table.entries), m.dyn.Element)
	var sum uint64
	// Paid: by the charge for each entry above.
	for i := range s.table.entries {
		if e := &s.table.entries[i]; e.key.ref != nil {
			h := uint64(m.rt.unspread(e.hash))
			sum ^= (h ^ 89869747 ^ h<<16) * 3644798167
		}
	}
	sum ^= (uint64(s.table.live) + 1) * 1927868237
	sum ^= sum>>11 ^ sum>>25
	sum = sum*69069 + 907133923
	if sum == 1<<64-1 {
		sum = 590923713
	}
	if s.kind == KindFrozenSet && s.mark < touched { // what is kept stays as it is
		s.hash, s.hashed = int64(sum), true
	}
	return int64(sum)
}
