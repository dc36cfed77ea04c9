package lib

import (
	"strconv"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// defineDequeProtocols adds the special methods.
func defineDequeProtocols(c *vm.Class) {
	c.Define(
		def("__len__", 1, 1, onDeque(func(_ *vm.Machine, d *deque, _ vm.Args) (vm.Value, error) {
			return vm.SmallInt(int64(d.n)), nil
		})),
		def("__bool__", 1, 1, onDeque(func(_ *vm.Machine, d *deque, _ vm.Args) (vm.Value, error) {
			return vm.Bool(d.n > 0), nil
		})),
		def("__getitem__", 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			i, err := d.position(m, a.Values[1])
			if err != nil {
				return vm.None, err
			}
			return *d.slot(i), nil
		})),
		def("__setitem__", 3, 3, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			i, err := d.position(m, a.Values[1])
			if err == nil {
				*d.slot(i) = a.Values[2]
			}
			return vm.None, err
		})),
		def("__delitem__", 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			i, err := d.position(m, a.Values[1])
			if err == nil {
				d.delete(m, i)
			}
			return vm.None, err
		})),
		def("__contains__", 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			i, err := d.indexOf(m, a.Values[1], 0, d.n, mutated)
			return vm.Bool(i >= 0), err
		})),
		def("__iter__", 1, 1, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			return d.iterate(m, a.Values[0], false), nil
		})),
		def("__reversed__", 1, 1, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			return d.iterate(m, a.Values[0], true), nil
		})),
		def("__repr__", 1, 1, onDeque(dequeRepr)),
		def("__add__", 2, 2, onDeque(dequeAdd)),
		def("__iadd__", 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			return a.Values[0], d.extend(m, a, d.push)
		})),
		def("__mul__", 2, 2, onDeque(dequeMul)),
		def("__rmul__", 2, 2, onDeque(dequeMul)),
		def("__imul__", 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			return a.Values[0], d.repeat(m, a.Values[1])
		})),
		def("__class_getitem__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return m.NewAlias(a.Values[0], a.Values[1]), nil
		}),
	)
	// Bounded: by six operators; once, when the library is loaded.
	for _, op := range []struct {
		name string
		op   vm.CompareOp
	}{
		{"__eq__", vm.CompareEq},
		{"__ne__", vm.CompareNe},
		{"__lt__", vm.CompareLt},
		{"__le__", vm.CompareLe},
		{"__gt__", vm.CompareGt},
		{"__ge__", vm.CompareGe},
	} {
		c.Define(def(op.name, 2, 2, onDeque(func(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
			p, _ := a.Values[1].Foreign()
			o, ok := p.(*deque)
			if !ok {
				return vm.NotImplemented, nil
			}
			return m.Compare(op.op, m.NewList(d.values(m)), m.NewList(o.values(m)))
		})))
	}
	c.Constant("__hash__", vm.None)
	c.Constant("__doc__", vm.None)
}

// position is a subscript, counted from the end when negative.
func (d *deque) position(m *vm.Machine, key vm.Value) (int, error) {
	if _, ok := special(m, key, "__index__"); !ok {
		return 0, m.TypeError("sequence index must be integer, not '%s'", m.TypeName(key))
	}
	i, err := m.Index(key)
	if err != nil {
		return 0, err
	}
	if i < 0 {
		i += int64(d.n)
	}
	if i < 0 || i >= int64(d.n) {
		return 0, m.RaiseText("IndexError", "deque index out of range")
	}
	elements(m, 1)
	return int(i), nil
}

func (d *deque) iterate(m *vm.Machine, self vm.Value, back bool) vm.Value {
	i, version := 0, d.version
	return m.NewIterator(func(m *vm.Machine) (vm.Value, bool, error) {
		if d.version != version {
			return vm.None, false, mutated(m)
		}
		if i >= d.n {
			return vm.None, false, nil
		}
		at := i
		if back {
			at = d.n - 1 - i
		}
		i++
		elements(m, 1)
		return *d.slot(at), true, nil
	}, func(visit func(vm.Value)) { visit(self) })
}

func dequeRepr(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	return m.ReprOnce(a.Values[0], "[...]", func() (string, error) {
		s, err := m.Repr(m.NewList(d.values(m)))
		if err != nil {
			return "", err
		}
		text := m.ClassOf(a.Values[0]).Name() + "(" + s.String()
		if d.most >= 0 {
			text += ", maxlen=" + strconv.FormatInt(d.most, 10)
		}
		return text + ")", nil
	})
}

func dequeAdd(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	p, _ := a.Values[1].Foreign()
	if _, ok := p.(*deque); !ok {
		return vm.None, m.TypeError("can only concatenate deque (not \"%s\") to deque", m.TypeName(a.Values[1]))
	}
	v, err := dequeCopy(m, d, a)
	if err != nil {
		return vm.None, err
	}
	out, err := payload[*deque](m, v)
	if err != nil {
		return vm.None, err
	}
	return v, out.extend(m, vm.Args{Values: []vm.Value{v, a.Values[1]}}, out.push)
}

func dequeMul(m *vm.Machine, d *deque, a vm.Args) (vm.Value, error) {
	if _, ok := special(m, a.Values[1], "__index__"); !ok {
		return vm.None, m.TypeError("can't multiply sequence by non-int of type '%s'", m.TypeName(a.Values[1]))
	}
	v, err := dequeCopy(m, d, a)
	if err != nil {
		return vm.None, err
	}
	out, err := payload[*deque](m, v)
	if err != nil {
		return vm.None, err
	}
	return v, out.repeat(m, a.Values[1])
}

// repeat makes the deque n times itself.
func (d *deque) repeat(m *vm.Machine, times vm.Value) error {
	n, err := m.Index(times)
	if err != nil {
		return err
	}
	if n <= 0 {
		d.clear()
		return nil
	}
	items := d.values(m)
	if d.most >= 0 && len(items) > 0 {
		n = min(n, d.most/int64(len(items))+2)
	}
	// Paid: by the elements in it; items is not empty.
	for ; n > 1 && len(items) > 0; n-- {
		elements(m, len(items))
		// Paid: by the elements above.
		for _, v := range items {
			d.push(m, v)
		}
	}
	return nil
}
