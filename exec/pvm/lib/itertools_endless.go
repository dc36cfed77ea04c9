package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// isNumber tells what count takes.
func isNumber(m *vm.Machine, v vm.Value) bool {
	if _, ok := v.BigInt(); ok {
		return true
	}
	if _, ok := v.FloatEncoding(); ok {
		return true
	}
	// Bounded: by three names.
	for _, name := range [...]string{"__int__", "__index__", "__float__"} {
		if _, ok := special(m, v, name); ok {
			_, text := v.Text()
			return !text
		}
	}
	return false
}

func newCount(m *vm.Machine, a vm.Args) (*iterState, error) {
	at, ok := given(a, 1)
	if !ok {
		at = vm.SmallInt(0)
	}
	step, ok := given(a, 2)
	if !ok {
		step = vm.SmallInt(1)
	}
	if !isNumber(m, at) || !isNumber(m, step) {
		return nil, m.TypeError("a number is required")
	}
	one := false
	if n, ok := step.Int64(); ok {
		one = n == 1
	}
	s := &iterState{roots: func(visit func(vm.Value)) { visit(at); visit(step) }}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		v := at
		next, err := m.Binary(vm.OpAdd, at, step)
		if err != nil {
			return vm.None, false, err
		}
		at = next
		return v, true, nil
	}
	s.repr = func(m *vm.Machine) (string, error) {
		first, err := m.Repr(at)
		if err != nil || one {
			return "count(" + textOf(first) + ")", err
		}
		second, err := m.Repr(step)
		return "count(" + textOf(first) + ", " + textOf(second) + ")", err
	}
	return s, nil
}

// textOf is the text of a string that may be missing beside an error.
func textOf(s *vm.Str) string {
	if s == nil {
		return ""
	}
	return s.String()
}

func newRepeat(m *vm.Machine, a vm.Args) (*iterState, error) {
	v := a.Values[1]
	left := int64(-1)
	if t, ok := given(a, 2); ok {
		n, err := m.Index(t)
		if err != nil {
			return nil, err
		}
		left = max(n, 0)
	}
	s := &iterState{roots: func(visit func(vm.Value)) { visit(v) }}
	s.next = func(*vm.Machine) (vm.Value, bool, error) {
		if left == 0 {
			return vm.None, false, nil
		}
		if left > 0 {
			left--
		}
		return v, true, nil
	}
	s.repr = func(m *vm.Machine) (string, error) {
		text, err := m.Repr(v)
		if err != nil || left < 0 {
			return "repeat(" + textOf(text) + ")", err
		}
		n, err := m.Repr(vm.SmallInt(left))
		return "repeat(" + textOf(text) + ", " + textOf(n) + ")", err
	}
	s.hint = func() (int64, bool) { return left, left >= 0 }
	return s, nil
}

func repeatHint(m *vm.Machine, a vm.Args) (vm.Value, error) {
	s, err := payload[*iterState](m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	n, ok := s.hint()
	if !ok {
		return vm.None, m.TypeError("len() of unsized object")
	}
	return vm.SmallInt(n), nil
}

func newCycle(m *vm.Machine, a vm.Args) (*iterState, error) {
	it, err := m.Iter(a.Values[1])
	if err != nil {
		return nil, err
	}
	var saved []vm.Value
	at, first := 0, true
	s := &iterState{
		roots: func(visit func(vm.Value)) { visit(it); visitAll(saved, visit) },
		size:  func() int { return 16 * len(saved) },
	}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		if first {
			v, ok, err := m.Next(it)
			if err != nil {
				return vm.None, false, err
			}
			if ok {
				m.Alloc(16)
				saved = append(saved, v)
				return v, true, nil
			}
			first, it = false, vm.None
		}
		if len(saved) == 0 {
			return vm.None, false, nil
		}
		v := saved[at]
		at = (at + 1) % len(saved)
		return v, true, nil
	}
	return s, nil
}

func newAccumulate(m *vm.Machine, a vm.Args) (*iterState, error) {
	it, err := m.Iter(a.Values[1])
	if err != nil {
		return nil, err
	}
	fn, total := orNone(a, 2), orNone(a, 3)
	pending, begun := !total.IsNone(), !total.IsNone()
	s := &iterState{again: true, roots: func(visit func(vm.Value)) { visit(it); visit(fn); visit(total) }}
	s.next = func(m *vm.Machine) (vm.Value, bool, error) {
		if pending {
			pending = false
			return total, true, nil
		}
		v, ok, err := m.Next(it)
		if err != nil || !ok {
			return v, false, err
		}
		if !begun {
			begun, total = true, v
			return v, true, nil
		}
		var r vm.Value
		if fn.IsNone() {
			r, err = m.Binary(vm.OpAdd, total, v)
		} else {
			r, err = m.Call(fn, total, v)
		}
		if err != nil {
			return vm.None, false, err
		}
		total = r
		return r, true, nil
	}
	return s, nil
}
