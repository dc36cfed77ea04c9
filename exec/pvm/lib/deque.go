package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// deque is collections.deque: a ring of values.
type deque struct {
	ring    []vm.Value
	head, n int
	most    int64 // maxlen, -1: none
	version int   // changes with every change, so that iterators notice
}

func (d *deque) Roots(visit func(vm.Value)) {
	// Bounded: by the modelled memory, 16 bytes a value; measurements come after an eighth of its limit was announced.
	for i := range d.n {
		visit(*d.slot(i))
	}
}

func (d *deque) Bytes() int { return 64 + 16*len(d.ring) }

func (d *deque) slot(i int) *vm.Value { return &d.ring[(d.head+i)&(len(d.ring)-1)] }

func (d *deque) grow(m *vm.Machine) {
	if d.n < len(d.ring) {
		return
	}
	size := max(8, 2*len(d.ring))
	m.Alloc(16 * size)
	ring := make([]vm.Value, size)
	// Paid: by the calls that pushed as many, since the ring doubles, and by Alloc, a character for 128 bytes.
	for i := range d.n {
		ring[i] = *d.slot(i)
	}
	d.ring, d.head = ring, 0
}

func (d *deque) push(m *vm.Machine, v vm.Value) {
	d.version++
	if d.most == 0 {
		return
	}
	if int64(d.n) == d.most {
		d.takeFirst()
	}
	d.grow(m)
	d.n++
	*d.slot(d.n - 1) = v
}

func (d *deque) pushFirst(m *vm.Machine, v vm.Value) {
	d.version++
	if d.most == 0 {
		return
	}
	if int64(d.n) == d.most {
		d.takeLast()
	}
	d.grow(m)
	d.head = (d.head - 1) & (len(d.ring) - 1)
	d.n++
	*d.slot(0) = v
}

func (d *deque) takeFirst() vm.Value {
	v := *d.slot(0)
	*d.slot(0) = vm.Value{}
	d.head = (d.head + 1) & (len(d.ring) - 1)
	d.n--
	d.version++
	return v
}

func (d *deque) takeLast() vm.Value {
	v := *d.slot(d.n - 1)
	*d.slot(d.n - 1) = vm.Value{}
	d.n--
	d.version++
	return v
}

func (d *deque) clear() { d.ring, d.head, d.n, d.version = nil, 0, 0, d.version+1 }

// values returns what the deque holds, in order.
func (d *deque) values(m *vm.Machine) []vm.Value {
	elements(m, d.n)
	m.Alloc(16 * d.n)
	out := make([]vm.Value, d.n)
	// Paid: by the elements above.
	for i := range out {
		out[i] = *d.slot(i)
	}
	return out
}

// delete removes item i.
func (d *deque) delete(m *vm.Machine, i int) {
	elements(m, min(i, d.n-i))
	if i < d.n/2 {
		// Paid: by the elements above.
		for ; i > 0; i-- {
			*d.slot(i) = *d.slot(i - 1)
		}
		d.takeFirst()
		return
	}
	// Paid: by the elements above.
	for ; i < d.n-1; i++ {
		*d.slot(i) = *d.slot(i + 1)
	}
	d.takeLast()
}

// rotate moves k items, of either sign, from the end to the beginning.
func (d *deque) rotate(m *vm.Machine, k int64) {
	if d.n <= 1 {
		return
	}
	k %= int64(d.n)
	if k > int64(d.n)/2 {
		k -= int64(d.n)
	} else if k < -int64(d.n)/2 {
		k += int64(d.n)
	}
	elements(m, int(max(k, -k)))
	// Paid: by the elements above.
	for ; k > 0; k-- {
		v := d.takeLast()
		d.head = (d.head - 1) & (len(d.ring) - 1)
		d.n++
		*d.slot(0) = v
	}
	// Paid: by the elements above.
	for ; k < 0; k++ {
		v := d.takeFirst()
		d.n++
		*d.slot(d.n - 1) = v
	}
}

// onDeque is a native whose receiver is a deque.
func onDeque(fn func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error)) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		d, err := payload[*deque](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return fn(m, d, a)
	}
}

// dequeClass makes the class.
func dequeClass(m *vm.Machine) *vm.Class {
	c := m.NewClass("collections", "deque")
	c.SetPattern(m, vm.PatternSequence)
	c.Define(
		keyworded(def("__new__", 1, -1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			k, ok := a.Values[0].Class()
			if !ok {
				return vm.None, m.TypeError("deque.__new__(X): X is not a type object (%s)", m.TypeName(a.Values[0]))
			}
			return m.NewForeign(k, &deque{most: -1}), nil
		})),
		named("__init__", 1, []string{"", "iterable", "maxlen"}, onDeque(dequeInit)),
		def("append", 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			d.push(m, a.Values[1])
			return vm.None, nil
		})),
		def("appendleft", 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			d.pushFirst(m, a.Values[1])
			return vm.None, nil
		})),
		def("pop", 1, 1, onDeque(func(m *vm.Machine, d *deque, _ vm.Args) (vm.Value, error) {
			if d.n == 0 {
				return vm.None, m.RaiseText("IndexError", "pop from an empty deque")
			}
			return d.takeLast(), nil
		})),
		def("popleft", 1, 1, onDeque(func(m *vm.Machine, d *deque, _ vm.Args) (vm.Value, error) {
			if d.n == 0 {
				return vm.None, m.RaiseText("IndexError", "pop from an empty deque")
			}
			return d.takeFirst(), nil
		})),
		def("clear", 1, 1, onDeque(func(_ *vm.Machine, d *deque, _ vm.Args) (vm.Value, error) {
			d.clear()
			return vm.None, nil
		})),
		def("extend", 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			return vm.None, d.extend(m, a, d.push)
		})),
		def("extendleft", 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			return vm.None, d.extend(m, a, d.pushFirst)
		})),
		def("rotate", 1, 2, onDeque(dequeRotate)),
		def("reverse", 1, 1, onDeque(func(m *vm.Machine, d *deque, _ vm.Args) (vm.Value, error) {
			elements(m, d.n)
			// Paid: by the elements above.
			for i := range d.n / 2 {
				*d.slot(i), *d.slot(d.n - 1 - i) = *d.slot(d.n - 1 - i), *d.slot(i)
			}
			return vm.None, nil
		})),
		def("copy", 1, 1, onDeque(dequeCopy)),
		def("__copy__", 1, 1, onDeque(dequeCopy)),
		def("count", 2, 2, onDeque(dequeCount)),
		def("index", 2, 4, onDeque(dequeIndex)),
		def("insert", 3, 3, onDeque(dequeInsert)),
		def("remove", 2, 2, onDeque(dequeRemove)),
	)
	defineDequeProtocols(c)
	c.Getter("maxlen", func(m *vm.Machine, v vm.Value) (vm.Value, error) {
		d, err := payload[*deque](m, v)
		if err != nil || d.most < 0 {
			return vm.None, err
		}
		return vm.SmallInt(d.most), nil
	}, nil)
	return c
}

func dequeInit(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	d.most = -1
	if most := orNone(a, 2); !most.IsNone() {
		if _, isInt := most.BigInt(); !isInt {
			return vm.None, m.TypeError("an integer is required")
		}
		n, err := m.Index(most)
		if err != nil {
			return vm.None, err
		}
		if n < 0 {
			return vm.None, m.ValueError("maxlen must be non-negative")
		}
		d.most = n
	}
	d.clear()
	if _, ok := given(a, 1); !ok {
		return vm.None, nil
	}
	return vm.None, d.extend(m, a, d.push)
}

// extend pushes the items of argument 1, which may be the deque itself.
func (d *deque) extend(m *vm.Machine, a vm.Args, push func(*vm.Machine, vm.Value)) error {
	if a.Values[1].Same(a.Values[0]) {
		items := d.values(m)
		// Paid: by items, an element each.
		for _, v := range items {
			push(m, v)
		}
		return nil
	}
	return m.Each(a.Values[1], func(v vm.Value) error {
		elements(m, 1)
		push(m, v)
		return nil
	})
}

func dequeRotate(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	k := int64(1)
	if v, ok := given(a, 1); ok {
		n, err := m.Index(v)
		if err != nil {
			return vm.None, err
		}
		k = n
	}
	d.rotate(m, k)
	return vm.None, nil
}

func dequeCopy(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	c := m.ClassOf(a.Values[0])
	args := []vm.Value{a.Values[0]}
	if d.most >= 0 {
		args = append(args, vm.SmallInt(d.most))
	}
	return m.Call(c.Value(), args...)
}

// mutated is the RuntimeError of a deque that changed under a loop.
func mutated(m *vm.Machine) error {
	return m.RaiseText("RuntimeError", "deque mutated during iteration")
}

func dequeCount(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	n, version := int64(0), d.version
	// Paid: by the element in it; a comparison that calls pays for the call.
	for i := 0; i < d.n; i++ {
		elements(m, 1)
		eq, err := m.CompareBool(vm.CompareEq, *d.slot(i), a.Values[1])
		if err != nil {
			return vm.None, err
		}
		if d.version != version {
			return vm.None, mutated(m)
		}
		if eq {
			n++
		}
	}
	return vm.SmallInt(n), nil
}

// indexOf returns the position of v in [from, to), -1 when it is not there.
func (d *deque) indexOf(m *vm.Machine, v vm.Value, from, to int, changed func(*vm.Machine) error) (int, error) {
	version := d.version
	// Paid: likewise.
	for i := from; i < min(to, d.n); i++ {
		elements(m, 1)
		eq, err := m.CompareBool(vm.CompareEq, *d.slot(i), v)
		if err != nil {
			return -1, err
		}
		if d.version != version {
			return -1, changed(m)
		}
		if eq {
			return i, nil
		}
	}
	return -1, nil
}

func dequeIndex(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	bounds := [2]int64{0, int64(d.n)}
	// Bounded: by two.
	for i := range bounds {
		v, ok := given(a, i+2)
		if !ok {
			continue
		}
		n, err := m.Index(v)
		if err != nil {
			return vm.None, err
		}
		if n < 0 {
			n = max(n+int64(d.n), 0)
		}
		bounds[i] = min(n, int64(d.n))
	}
	i, err := d.indexOf(m, a.Values[1], int(bounds[0]), int(bounds[1]), mutated)
	if err != nil {
		return vm.None, err
	}
	if i < 0 {
		return vm.None, absent(m, a.Values[1])
	}
	return vm.SmallInt(int64(i)), nil
}

// absent is the ValueError for an item that is not there.
func absent(m *vm.Machine, v vm.Value) error {
	s, err := m.Repr(v)
	if err != nil {
		return err
	}
	return m.ValueError("%s is not in deque", s.String())
}

func dequeInsert(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	i, err := m.Index(a.Values[1])
	if err != nil {
		return vm.None, err
	}
	if d.most >= 0 && int64(d.n) >= d.most {
		return vm.None, m.RaiseText("IndexError", "deque already at its maximum size")
	}
	switch n := int64(d.n); {
	case i >= n:
		d.push(m, a.Values[2])
	case i <= -n || i == 0:
		d.pushFirst(m, a.Values[2])
	default:
		d.rotate(m, -i)
		if i < 0 {
			d.push(m, a.Values[2])
		} else {
			d.pushFirst(m, a.Values[2])
		}
		d.rotate(m, i)
	}
	return vm.None, nil
}

func dequeRemove(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	i, err := d.indexOf(m, a.Values[1], 0, d.n, func(m *vm.Machine) error {
		return m.RaiseText("IndexError", "deque mutated during remove().")
	})
	if err != nil {
		return vm.None, err
	}
	if i < 0 {
		return vm.None, absent(m, a.Values[1])
	}
	d.delete(m, i)
	return vm.None, nil
}
