package vm

import (
	"math/big"
	"math/bits"
)

// newRange returns range(start, stop, step) of ints; step is not 0.
func (m *Machine) newRange(start, stop, step Value) Value {
	m.Alloc(smallBytes)
	r := &Range{start: start, stop: stop, step: step, length: m.rangeLength(start, stop, step)}
	return r.head(KindRange, nil, r)
}

// rangeLength is the number of values, as an int.
func (m *Machine) rangeLength(start, stop, step Value) Value {
	a, okA := start.smallInt()
	z, okZ := stop.smallInt()
	s, okS := step.smallInt()
	if okA && okZ && okS {
		lo, hi, by := a, z, uint64(s)
		if s < 0 {
			lo, hi, by = z, a, -uint64(s)
		}
		if lo >= hi {
			return SmallInt(0)
		}
		n := (uint64(hi)-uint64(lo)-1)/by + 1
		if n != 0 && bits.LeadingZeros64(n) > 0 {
			return SmallInt(int64(n))
		}
	}
	lo, _ := start.BigInt()
	hi, _ := stop.BigInt()
	by, _ := step.BigInt()
	size, divisor := max(limbs(lo), limbs(hi)), limbs(by)
	m.spend(int64(size+divisor), size+divisor)
	if by.Sign() < 0 {
		lo, hi, by = hi, lo, new(big.Int).Neg(by)
	}
	if lo.Cmp(hi) >= 0 {
		return SmallInt(0)
	}
	m.ChargeCount(int64(max(size-divisor+2, 1))*int64(divisor), m.dyn.LimbWork)
	n := new(big.Int).Sub(hi, lo)
	n.Sub(n, big.NewInt(1)).Quo(n, by)
	return m.newInt(n.Add(n, big.NewInt(1)))
}

// rangeAt is the value at position i, which may lie one step outside.
func (m *Machine) rangeAt(r *Range, i Value) (Value, error) {
	off, err := m.Binary(OpMul, i, r.step)
	if err != nil {
		return unbound, err
	}
	return m.Binary(OpAdd, r.start, off)
}

// rangeGet is r[key].
func (m *Machine) rangeGet(r *Range, key Value) (Value, error) {
	if s, ok := key.ref.self.(*Slice); ok {
		return m.rangeSlice(r, s)
	}
	i, ok, err := m.asIndex(key)
	if err != nil {
		return unbound, err
	}
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "range indices must be integers or slices, not %s", m.typeName(key))
	}
	if isNegative(i) {
		if i, err = m.Binary(OpAdd, i, r.length); err != nil {
			return unbound, err
		}
	}
	if at, ok := i.smallInt(); ok && at >= 0 {
		if n, ok := r.length.smallInt(); ok && at < n {
			return m.rangeAt(r, i)
		}
	}
	n, _ := i.BigInt()
	m.ChargeEach(limbs(n), m.dyn.LimbWork)
	if l, _ := r.length.BigInt(); n.Sign() < 0 || n.Cmp(l) >= 0 {
		return unbound, m.Raise(m.rt.classes.IndexError, "range object index out of range")
	}
	return m.rangeAt(r, i)
}

// isNegative tells it of an int.
func isNegative(v Value) bool {
	if n, ok := v.smallInt(); ok {
		return n < 0
	}
	n, _ := v.BigInt()
	return n.Sign() < 0
}

// rangeSlice is r[start:stop:step], a range.
func (m *Machine) rangeSlice(r *Range, s *Slice) (Value, error) {
	start, stop, step, err := m.rangeIndices(s, r.length)
	if err != nil {
		return unbound, err
	}
	by, err := m.Binary(OpMul, step, r.step)
	if err != nil {
		return unbound, err
	}
	a, err := m.rangeAt(r, start)
	if err != nil {
		return unbound, err
	}
	z, err := m.rangeAt(r, stop)
	if err != nil {
		return unbound, err
	}
	return m.newRange(a, z, by), nil
}

// rangeIndices is bigIndices, in words where all parts are.
func (m *Machine) rangeIndices(s *Slice, length Value) (start, stop, step Value, err error) {
	n, ok := length.smallInt()
	// Bounded: by three parts.
	for _, part := range []Value{s.start, s.stop, s.step} {
		i, small := part.smallInt()
		ok = ok && (small && i != minInt64 || part.IsNone())
	}
	if !ok {
		return m.bigIndices(s, length)
	}
	b, err := m.sliceParts(s)
	if err == nil {
		b.fit(n)
	}
	return SmallInt(b.start), SmallInt(b.stop), SmallInt(b.step), err
}

// bigIndices is slice.indices(length) for lengths of any size.
func (m *Machine) bigIndices(s *Slice, length Value) (start, stop, step Value, err error) {
	step = SmallInt(1)
	if !s.step.IsNone() {
		if step, err = m.slicePart(s.step); err != nil {
			return
		}
		if n, _ := step.BigInt(); n.Sign() == 0 {
			err = m.Raise(m.rt.classes.ValueError, "slice step cannot be zero")
			return
		}
	}
	by, _ := step.BigInt()
	n, _ := length.BigInt()
	m.spend(int64(2*limbs(n)), limbs(n))
	low, high := new(big.Int), n
	if by.Sign() < 0 {
		low, high = big.NewInt(-1), new(big.Int).Sub(n, big.NewInt(1))
	}
	part := func(v Value, absent *big.Int) (Value, error) {
		if v.IsNone() {
			return m.newInt(absent), nil
		}
		w, err := m.slicePart(v)
		if err != nil {
			return unbound, err
		}
		i, _ := w.BigInt()
		if i.Sign() < 0 {
			m.ChargeEach(limbs(i)+limbs(n), m.dyn.LimbWork)
			i = new(big.Int).Add(i, n)
			if i.Cmp(low) < 0 {
				i = low
			}
		} else if i.Cmp(high) > 0 {
			i = high
		}
		return m.newInt(i), nil
	}
	first, last := low, high
	if by.Sign() < 0 {
		first, last = high, low
	}
	if start, err = part(s.start, first); err != nil {
		return
	}
	stop, err = part(s.stop, last)
	return
}

func (m *Machine) slicePart(v Value) (Value, error) {
	n, ok, err := m.asIndex(v)
	if err == nil && !ok {
		err = m.Raise(m.rt.classes.TypeError, "slice indices must be integers or None or have an __index__ method")
	}
	return n, err
}

// rangePosition is the position of an int in r, false when it is not there.
func (m *Machine) rangePosition(r *Range, x Value) (Value, bool) {
	a, okA := r.start.smallInt()
	s, okS := r.step.smallInt()
	n, okN := x.smallInt()
	l, okL := r.length.smallInt()
	if okA && okS && okN && okL && a > -1<<62 && a < 1<<62 && n > -1<<62 && n < 1<<62 {
		d := n - a
		if d%s != 0 || d/s < 0 || d/s >= l {
			return unbound, false
		}
		return SmallInt(d / s), true
	}
	v, ok := x.BigInt()
	if !ok {
		return unbound, false
	}
	from, _ := r.start.BigInt()
	by, _ := r.step.BigInt()
	count, _ := r.length.BigInt()
	m.ChargeCount(int64(limbs(v)+limbs(from))*int64(limbs(by)), m.dyn.LimbWork)
	q, rest := new(big.Int).QuoRem(new(big.Int).Sub(v, from), by, new(big.Int))
	if rest.Sign() != 0 || q.Sign() < 0 || q.Cmp(count) >= 0 {
		return unbound, false
	}
	return m.newInt(q), true
}

// rangeContains is x in r: by arithmetic for ints, else one by one.
func (m *Machine) rangeContains(r *Range, x Value) (bool, error) {
	if x.ref.class == nil && (x.ref.kind == KindInt || x.ref.kind == KindBool) {
		if x.ref.kind == KindBool {
			x = SmallInt(int64(x.bits))
		}
		_, ok := m.rangePosition(r, x)
		return ok, nil
	}
	it := m.rangeIter(r)
	defer m.Release(m.Hold(it))
	for {
		v, ok, err := m.iterNext(it.ref.self.(*Iterator))
		if err != nil || !ok {
			return false, err
		}
		m.Charge(m.dyn.Element)
		if eq, err := m.CompareBool(CompareEq, v, x); eq || err != nil {
			return eq, err
		}
	}
}

// rangeIter is iter(r).
func (m *Machine) rangeIter(r *Range) Value { return m.rangeSteps(r.val(), r.start, r.step, r.length) }

func (r *Range) val() Value { return Value{ref: &r.Object} }

// rangeSteps iterates over start, start+step, ...: length values.
func (m *Machine) rangeSteps(source, start, step, length Value) Value {
	it := m.newIterator(iterRange, source)

	a, okA := start.smallInt()
	s, okS := step.smallInt()
	n, okN := length.smallInt()
	if okA && okS && okN {
		if hi, lo := bits.Mul64(uint64(max(s, -s)), uint64(n)); hi == 0 && lo < 1<<62 && a > -1<<62 && a < 1<<62 {
			it.at, it.step, it.end = a, s, n
			return it.val()
		}
	}
	m.Charge(m.dyn.NativeCall) // for what goes on by a function
	left := clamped(length)    // nobody takes more
	at := start
	it.how = iterFunc
	it.roots = func(visit func(Value)) { visit(at); visit(step) }
	it.next = func(m *Machine) (Value, bool, error) {
		if left <= 0 {
			return unbound, false, nil
		}
		v := at
		next, err := m.Binary(OpAdd, at, step)
		if err != nil {
			return unbound, false, err
		}
		at = next
		left--
		return v, true, nil
	}
	return it.val()
}
