package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

func newChain(m *vm.Machine, a vm.Args) (*iterState, error) {
	elements(m, len(a.Values))
	outer, err := m.Iter(m.NewTuple(append([]vm.Value(nil), a.Values[1:]...)))
	if err != nil {
		return nil, err
	}
	return chainOf(outer), nil
}

// chainOf chains the iterables that outer yields.
func chainOf(outer vm.Value) *iterState {
	inner := vm.None
	s := &iterState{roots: func(visit func(vm.Value)) { visit(outer); visit(inner) }}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		for {
			if inner.IsNone() {
				v, ok, err := m.Next(outer)
				if err != nil || !ok {
					return vm.None, false, err
				}
				m.Charge(2 * m.Prices().Step) // an iterator is made, of an iterable that may be empty
				if inner, err = m.Iter(v); err != nil {
					inner = vm.None
					s.done = true
					return vm.None, false, err
				}
			}
			v, ok, err := m.Next(inner)
			if err != nil || ok {
				return v, ok, err
			}
			inner = vm.None
		}
	}
	return s
}

// skip charges for an item that is taken and not handed on: what a step of the iterator
// costs, as the source may make an object for it.
func skip(m *vm.Machine) { m.Charge(m.Work().IteratorStep * m.Prices().Element) }

// iterOf is the iterator of argument i; the function of the class, if any, is
// the argument before.
func iterOf(m *vm.Machine, a vm.Args, i int) (vm.Value, error) { return m.Iter(a.Values[i]) }

func newCompress(m *vm.Machine, a vm.Args) (*iterState, error) {
	data, err := iterOf(m, a, 1)
	if err != nil {
		return nil, err
	}
	defer m.Release(m.Hold(data))
	selectors, err := iterOf(m, a, 2)
	if err != nil {
		return nil, err
	}
	s := &iterState{again: true, roots: hold(data, selectors)}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		// Paid: by skip, for each item that is taken and not handed on.
		for {
			v, ok, err := m.Next(data)
			if err != nil || !ok {
				return v, false, err
			}
			mark := m.Hold(v)
			pick, ok, err := m.Next(selectors)
			if err != nil || !ok {
				m.Release(mark)
				return pick, false, err
			}
			t, err := m.Truth(pick)
			m.Release(mark)
			if err != nil || t {
				return v, t, err
			}
			skip(m)
		}
	}
	return s, nil
}

func newDropwhile(m *vm.Machine, a vm.Args) (*iterState, error) {
	it, err := iterOf(m, a, 2)
	if err != nil {
		return nil, err
	}
	fn, started := a.Values[1], false
	s := &iterState{again: true, roots: hold(it, fn)}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		// Paid: by skip, for each item that is taken and not handed on.
		for {
			v, ok, err := m.Next(it)
			if err != nil || !ok || started {
				return v, ok && err == nil, err
			}
			t, err := predicate(m, fn, v)
			if err != nil {
				return vm.None, false, err
			}
			if !t {
				started = true
				return v, true, nil
			}
			skip(m)
		}
	}
	return s, nil
}

// predicate is truthOf where None is no function.
func predicate(m *vm.Machine, fn, v vm.Value) (bool, error) {
	defer m.Release(m.Hold(v))
	r, err := m.Call(fn, v)
	if err != nil {
		return false, err
	}
	return m.Truth(r)
}

func newTakewhile(m *vm.Machine, a vm.Args) (*iterState, error) {
	it, err := iterOf(m, a, 2)
	if err != nil {
		return nil, err
	}
	fn := a.Values[1]
	s := &iterState{again: true, roots: hold(it, fn)}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		v, ok, err := m.Next(it)
		if err != nil || !ok {
			return v, false, err
		}
		t, err := predicate(m, fn, v)
		s.again = t || err != nil
		return v, t, err
	}
	return s, nil
}

func newFilterfalse(m *vm.Machine, a vm.Args) (*iterState, error) {
	it, err := iterOf(m, a, 2)
	if err != nil {
		return nil, err
	}
	fn := a.Values[1]
	s := &iterState{again: true, roots: hold(it, fn)}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		// Paid: by skip, for each item that is taken and not handed on.
		for {
			v, ok, err := m.Next(it)
			if err != nil || !ok {
				return v, false, err
			}
			t, err := truthOf(m, fn, v)
			if err != nil || !t {
				return v, err == nil, err
			}
			skip(m)
		}
	}
	return s, nil
}

func newStarmap(m *vm.Machine, a vm.Args) (*iterState, error) {
	it, err := iterOf(m, a, 2)
	if err != nil {
		return nil, err
	}
	fn := a.Values[1]
	s := &iterState{again: true, roots: hold(it, fn)}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		v, ok, err := m.Next(it)
		if err != nil || !ok {
			return v, false, err
		}
		args, err := m.Collect(v)
		if err != nil {
			return vm.None, false, err
		}
		r, err := m.Call(fn, args...)
		return r, err == nil, err
	}
	return s, nil
}

func newPairwise(m *vm.Machine, a vm.Args) (*iterState, error) {
	it, err := iterOf(m, a, 1)
	if err != nil {
		return nil, err
	}
	var last vm.Value
	s := &iterState{roots: func(visit func(vm.Value)) { visitAll([]vm.Value{it, last}, visit) }}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		if !last.Bound() {
			v, ok, err := m.Next(it)
			if err != nil || !ok {
				return v, false, err
			}
			last = v
		}
		first := last // which the source may replace, where it asks for a pair itself
		defer m.Release(m.Hold(first))
		v, ok, err := m.Next(it)
		if err != nil || !ok {
			return v, false, err
		}
		last = v
		elements(m, 2) // a pair is made, also of pairs, which nothing else pays for
		return m.NewTuple([]vm.Value{first, v}), true, nil
	}
	return s, nil
}

// sliceBound reads an argument of islice; ok is false for what is no index.
func sliceBound(m *vm.Machine, v vm.Value, absent int64) (n int64, ok bool, err error) {
	if v.IsNone() {
		return absent, true, nil
	}
	n, err = m.Index(v)
	if err != nil {
		if m.IsRaised(err, "TypeError") || m.IsRaised(err, "OverflowError") {
			return 0, false, nil
		}
		return 0, false, err
	}
	return n, n >= 0, nil
}

func newIslice(m *vm.Machine, a vm.Args) (*iterState, error) {
	start, end, step := int64(0), int64(-1), int64(1)
	bounds := a.Values[2:]
	var ok bool
	var err error
	if len(bounds) == 1 {
		if end, ok, err = sliceBound(m, bounds[0], -1); err != nil || !ok {
			if err == nil {
				err = m.ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
			}
			return nil, err
		}
	} else {
		if start, ok, err = sliceBound(m, bounds[0], 0); err != nil {
			return nil, err
		}
		var okEnd bool
		if end, okEnd, err = sliceBound(m, bounds[1], -1); err != nil {
			return nil, err
		}
		if !okEnd {
			return nil, m.ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
		}
		if !ok {
			return nil, m.ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
		}
	}
	if len(bounds) == 3 {
		if step, ok, err = sliceBound(m, bounds[2], 1); err != nil {
			return nil, err
		}
		if !ok || step == 0 {
			return nil, m.ValueError("Step for islice() must be a positive integer or None.")
		}
	}
	it, err := m.Iter(a.Values[1])
	if err != nil {
		return nil, err
	}
	return sliced(it, start, end, step), nil
}

// sliced is islice with its bounds; end -1 is none.
func sliced(it vm.Value, next, end, step int64) *iterState {
	taken := int64(0)
	s := &iterState{roots: hold(it)}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		limit := next
		if end >= 0 && next >= end {
			limit = end
		}
		// Paid: by skip, for each item that is taken and not handed on.
		for taken < limit {
			if v, ok, err := m.Next(it); err != nil || !ok {
				return v, false, err
			}
			skip(m)
			taken++
		}
		if end >= 0 && taken >= end {
			return vm.None, false, nil
		}
		v, ok, err := m.Next(it)
		if err != nil || !ok {
			return v, false, err
		}
		taken++
		if next > 1<<63-1-step {
			next = 1<<63 - 1
			if end >= 0 {
				next = end
			}
		} else {
			next += step
		}
		return v, true, nil
	}
	return s
}
