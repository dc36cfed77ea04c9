package vm

// builtinLen is len of a builtin kind.
func (m *Machine) builtinLen(v Value) (int, bool) {
	switch o := v.ref.self.(type) {
	case *Str:
		return o.points(), true
	case *Bytes:
		return len(o.b), true
	case *ByteArray:
		return len(o.b), true
	case *Tuple:
		return len(o.items), true
	case *List:
		return len(o.items), true
	}
	return m.containerLen(v)
}

// Len is len(v), up to 2^63-1 on every machine.
func (m *Machine) Len(v Value) (int64, error) {
	if exact(v) {
		if r, ok := v.ref.self.(*Range); ok {
			if _, ok := r.length.smallInt(); !ok {
				return 0, m.Raise(m.rt.classes.OverflowError, "Python int too large to convert to C ssize_t")
			}
			return m.lengthOf(r.length)
		}
		if n, ok := m.builtinLen(v); ok {
			return int64(n), nil
		}
	}
	r, ok, err := m.callSpecial(v, spLen)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, m.Raise(m.rt.classes.TypeError, "object of type '%s' has no len()", m.typeName(v))
	}
	return m.lengthOf(r)
}

// lengthOf checks what __len__ answered.
func (m *Machine) lengthOf(r Value) (int64, error) {
	n, err := m.Index(r)
	if err != nil {
		if m.isRaised(err, m.rt.classes.OverflowError) {
			if r.ref.kind == KindInt && clamped(r) < 0 {
				return 0, m.Raise(m.rt.classes.ValueError, "__len__() should return >= 0")
			}
			return 0, m.Raise(m.rt.classes.OverflowError, "cannot fit '%s' into an index-sized integer", m.typeName(r))
		}
		return 0, err
	}
	if n < 0 {
		return 0, m.Raise(m.rt.classes.ValueError, "__len__() should return >= 0")
	}
	return n, nil
}

// GetItem is v[key].
func (m *Machine) GetItem(v, key Value) (Value, error) {
	if exact(v) {
		if r, ok, err := m.containerGetItem(v, key); ok || err != nil {
			return r, err
		}
		if r, ok, err := m.textGetItem(v, key); ok || err != nil {
			return r, err
		}
	}
	r, ok, err := m.callSpecial(v, spGetitem, key)
	if ok || err != nil {
		return r, err
	}
	if c, isClass := v.asClass(); isClass {
		return m.classItem(c, key)
	}
	return unbound, m.Raise(m.rt.classes.TypeError, "'%s' object is not subscriptable", m.typeName(v))
}

// classItem is C[key] by __class_getitem__ (PEP 560).
func (m *Machine) classItem(c *Class, key Value) (Value, error) {
	if c == m.rt.classes.type_ {
		return m.NewAlias(c.value(), key), nil
	}
	raw := c.sp(spClassGetitem)
	if !raw.Bound() || raw.IsNone() {
		return unbound, m.Raise(m.rt.classes.TypeError, "type '%s' is not subscriptable", c.name)
	}
	fn, err := m.bind(raw, unbound, c)
	if err != nil {
		return unbound, err
	}
	if f, ok := fn.ref.self.(*Function); ok && f != nil {
		fn = m.newMethod(fn, c.value()) // __class_getitem__ is a class method without saying so
	}
	return m.Call(fn, key)
}

// SetItem is v[key] = x.
func (m *Machine) SetItem(v, key, x Value) error {
	if exact(v) {
		if ok, err := m.containerSetItem(v, key, x); ok || err != nil {
			return err
		}
		if ok, err := m.textSetItem(v, key, x); ok || err != nil {
			return err
		}
	}
	_, ok, err := m.callSpecial(v, spSetitem, key, x)
	if err == nil && !ok {
		err = m.Raise(m.rt.classes.TypeError, "'%s' object does not support item assignment", m.typeName(v))
	}
	return err
}

// DelItem is del v[key].
func (m *Machine) DelItem(v, key Value) error {
	if exact(v) {
		if ok, err := m.containerSetItem(v, key, unbound); ok || err != nil {
			return err
		}
		if ok, err := m.textSetItem(v, key, unbound); ok || err != nil {
			return err
		}
	}
	_, ok, err := m.callSpecial(v, spDelitem, key)
	if err == nil && !ok {
		err = m.Raise(m.rt.classes.TypeError, "'%s' object doesn't support item deletion", m.typeName(v))
	}
	return err
}

// Contains is x in v.
func (m *Machine) Contains(v, x Value) (bool, error) {
	if exact(v) {
		if is, ok, err := m.containerContains(v, x); ok || err != nil {
			return is, err
		}
		if is, ok, err := m.textContains(v, x); ok || err != nil {
			return is, err
		}
	}
	raw := m.classOf(v).sp(spContains)
	if raw.Bound() {
		if raw.IsNone() {
			return false, m.Raise(m.rt.classes.TypeError, "'%s' object is not a container", m.typeName(v))
		}
		r, err := m.callBound(raw, v, m.classOf(v), x)
		if err != nil {
			return false, err
		}
		return m.Truth(r)
	}
	it, err := m.Iter(v)
	if err != nil {
		if m.isRaised(err, m.rt.classes.TypeError) && !m.classOf(v).sp(spIter).Bound() {
			return false, m.Raise(m.rt.classes.TypeError, "argument of type '%s' is not iterable", m.typeName(v))
		}
		return false, err
	}
	defer m.Release(m.Hold(it))
	for {
		item, ok, err := m.Next(it)
		if err != nil || !ok {
			return false, err
		}
		m.Charge(m.dyn.Compare)
		eq, err := m.CompareBool(CompareEq, item, x)
		if err != nil || eq {
			return eq, err
		}
	}
}

// Iter is iter(v).
func (m *Machine) Iter(v Value) (Value, error) {
	if exact(v) {
		if v.ref.kind == KindGenerator && !m.isCoroutine(v) || v.ref.kind == KindIterator {
			return v, nil
		}
		if it, ok := m.containerIter(v); ok {
			return it, nil
		}
		if it, ok := m.textIter(v); ok {
			return it, nil
		}
	}
	c := m.classOf(v)
	raw := c.sp(spIter)
	switch {
	case raw.Bound() && !raw.IsNone():
		it, err := m.callBound(raw, v, c)
		if err != nil {
			return unbound, err
		}
		if !m.isIterator(it) {
			return unbound, m.Raise(m.rt.classes.TypeError, "iter() returned non-iterator of type '%s'", m.typeName(it))
		}
		return it, nil
	case !raw.Bound() && c.sp(spGetitem).Bound() && !v.isClass():
		return m.sequenceIter(v), nil
	}
	return unbound, m.Raise(m.rt.classes.TypeError, "'%s' object is not iterable", m.typeName(v))
}

func (v Value) isClass() bool { return v.ref.kind == KindClass }

// isIterator tells whether v has __next__.
func (m *Machine) isIterator(v Value) bool {
	switch {
	case v.ref.kind == KindIterator:
		return true
	case v.ref.kind == KindGenerator:
		return !m.isCoroutine(v)
	}
	return m.classOf(v).sp(spNext).Bound()
}

// isCoroutine tells coroutines and asynchronous generators from generators.
func (m *Machine) isCoroutine(v Value) bool {
	return v.ref.kind == KindGenerator && m.classOf(v) != m.rt.classes.generator
}

// sequenceIter iterates by __getitem__ from 0 until IndexError.
func (m *Machine) sequenceIter(v Value) Value {
	i := int64(0)
	it := m.newIterator(iterFunc, v)
	it.next = func(m *Machine) (Value, bool, error) {
		r, err := m.GetItem(v, SmallInt(i))
		if err != nil {
			if m.isRaised(err, m.rt.classes.IndexError) || m.isRaised(err, m.rt.classes.StopIteration) {
				return unbound, false, nil
			}
			return unbound, false, err
		}
		i++
		return r, true, nil
	}
	return it.val()
}

// Next is next(it); false when exhausted. The value beside false is the
// StopIteration that said so where it is more than the plain one: iterators that
// pass on the end of another pass it on as well, as its value is the result of a
// generator that delegates to them.
func (m *Machine) Next(it Value) (Value, bool, error) {
	if exact(it) {
		switch o := it.ref.self.(type) {
		case *Iterator:
			return m.iterNext(o)
		}
		if it.ref.kind == KindGenerator && !m.isCoroutine(it) {
			return m.generatorNext(it)
		}
	}
	c := m.classOf(it)
	raw := c.sp(spNext)
	if !raw.Bound() {
		return unbound, false, m.Raise(m.rt.classes.TypeError, "'%s' object is not an iterator", c.name)
	}
	if f, ok := it.ref.self.(*Foreign); ok {
		if s, ok := f.Payload.(Stepper); ok && c.ownsNative(raw) {
			return m.step(s)
		}
	}
	r, err := m.callBound(raw, it, c)
	if err == nil {
		return r, true, nil
	}
	return m.stopped(err)
}

// stopped is the answer of an iterator that err ended: a StopIteration is its end.
func (m *Machine) stopped(err error) (Value, bool, error) {
	if m.isRaised(err, m.rt.classes.StopIteration) {
		return err.(*Raised).Exc.val(), false, nil
	}
	return unbound, false, err
}

// Stop is the StopIteration of an iterator whose Next answered v and false.
func (m *Machine) Stop(v Value) error {
	if e, ok := v.exception(); ok {
		return e.onItsWay()
	}
	return m.RaiseValue(m.rt.classes.StopIteration)
}

// step advances an iterator of the library without the call of its __next__,
// which would cost and count the same.
func (m *Machine) step(s Stepper) (Value, bool, error) {
	if err := m.Enter(); err != nil {
		return unbound, false, err
	}
	v, ok, err := s.Step(m)
	m.Exit()
	if err != nil {
		return m.stopped(err)
	}
	return v, ok, nil
}

// ownsNative tells whether a special method found on c is a native of the
// library's class that c is or is below.
func (c *Class) ownsNative(raw Value) bool {
	n, ok := raw.ref.self.(*Native)
	return ok && n.owner != nil && !n.owner.builtin && c.subclassOf(n.owner)
}

// Each calls fn with every item of v.
func (m *Machine) Each(v Value, fn func(Value) error) error {
	it, err := m.Iter(v)
	if err != nil {
		return err
	}
	defer m.Release(m.Hold(it))
	for {
		item, ok, err := m.Next(it)
		if err != nil || !ok {
			return err
		}
		m.Charge(m.dyn.Step)
		if err := fn(item); err != nil {
			return err
		}
	}
}

// itemsOf returns the items of an exact list or tuple, which need no iterator.
func itemsOf(v Value) (items []Value, ok bool) {
	if !exact(v) {
		return nil, false
	}
	switch o := v.ref.self.(type) {
	case *Tuple:
		return o.items, true
	case *List:
		return o.items, true
	}
	return nil, false
}

// chargeIterator charges for the iterator that what is no plain list or tuple needs, also
// an empty one: for instructions, as a native's call pays for it.
func (m *Machine) chargeIterator(v Value) {
	if _, plain := itemsOf(v); !plain {
		m.Charge(m.dyn.NativeCall)
	}
}

// Collect returns the items of any iterable in a fresh slice.
func (m *Machine) Collect(v Value) ([]Value, error) {
	if items, ok := itemsOf(v); ok {
		m.ChargeEach(len(items), m.dyn.Element)
		m.Alloc(len(items) * valueBytes)
		return append([]Value(nil), items...), nil
	}
	hold := m.newList(nil)
	defer m.Release(m.Hold(Value{ref: &hold.Object}))
	err := m.Each(v, func(item Value) error {
		m.Alloc(valueBytes)
		hold.items = append(hold.items, item)
		return nil
	})
	return hold.items, err
}
