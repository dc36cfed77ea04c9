package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// partial is functools.partial: a callable with some arguments given.
type partial struct {
	fn       vm.Value
	args     []vm.Value
	keywords *vm.Dict
}

func (p *partial) Roots(visit func(vm.Value)) {
	visit(p.fn)
	// Bounded: by the modelled memory, 16 bytes a value; measurements come after an eighth of its limit was announced.
	for _, v := range p.args {
		visit(v)
	}
	visit(p.keywords.Value())
}

func (p *partial) Bytes() int { return 64 + 16*len(p.args) }

func onPartial(fn func(m *vm.Machine, p *partial, a vm.Args) (vm.Value, error)) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		p, err := payload[*partial](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return fn(m, p, a)
	}
}

func partialClass(m *vm.Machine) *vm.Class {
	c := m.NewClass("functools", "partial").WithDict()
	c.Define(
		keyworded(def("__new__", 1, -1, partialNew)),
		keyworded(def("__init__", 1, -1, func(*vm.Machine, vm.Args) (vm.Value, error) { return vm.None, nil })),
		keyworded(def("__call__", 1, -1, onPartial(func(m *vm.Machine, p *partial, a vm.Args) (vm.Value, error) {
			return p.invoke(m, vm.Args{Values: a.Values[1:], Names: a.Names})
		}))),
		def("__repr__", 1, 1, onPartial(partialRepr)),
		def("__class_getitem__", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return m.NewAlias(a.Values[0], a.Values[1]), nil
		}),
	)
	get := func(pick func(m *vm.Machine, p *partial) vm.Value) func(*vm.Machine, vm.Value) (vm.Value, error) {
		return func(m *vm.Machine, v vm.Value) (vm.Value, error) {
			p, err := payload[*partial](m, v)
			if err != nil {
				return vm.None, err
			}
			return pick(m, p), nil
		}
	}
	c.Getter("func", get(func(_ *vm.Machine, p *partial) vm.Value { return p.fn }), nil)
	c.Getter("args", get(func(m *vm.Machine, p *partial) vm.Value { return m.NewTuple(p.args) }), nil)
	c.Getter("keywords", get(func(_ *vm.Machine, p *partial) vm.Value { return p.keywords.Value() }), nil)
	c.Constant("__doc__", vm.None)
	return c
}

func partialNew(m *vm.Machine, a vm.Args) (vm.Value, error) {
	c, _ := a.Values[0].Class()
	pos := a.Positional()
	if len(pos) < 2 {
		return vm.None, m.TypeError("type 'partial' takes at least one argument")
	}
	if _, ok := special(m, pos[1], "__call__"); !ok && !callable(pos[1]) {
		return vm.None, m.TypeError("the first argument must be callable")
	}
	p := &partial{fn: pos[1], keywords: m.NewDict()}
	elements(m, len(a.Values))
	m.ChargeEach(len(a.Names), m.Prices().DictOp)
	rest := pos[2:]
	if inner, _ := p.fn.Foreign(); inner != nil && m.ClassOf(p.fn) == c {
		if in, ok := inner.(*partial); ok {
			p.fn = in.fn
			elements(m, len(in.args))
			p.args = append(make([]vm.Value, 0, len(in.args)+len(rest)), in.args...)
			keys, values := m.DictItems(in.keywords)
			m.ChargeEach(len(keys), m.Prices().DictOp)
			// Paid: by the charge above, a store each.
			for i := range keys {
				if err := m.DictPut(p.keywords, keys[i], values[i]); err != nil {
					return vm.None, err
				}
			}
		}
	}
	p.args = append(p.args, rest...)
	// Paid: by the charge above, a store each.
	for i, name := range a.Names {
		if err := m.DictPut(p.keywords, name.Value(), a.Values[len(pos)+i]); err != nil {
			return vm.None, err
		}
	}
	return m.NewForeign(c, p), nil
}

// invoke adds the arguments given before to those of the call, whose keywords win.
func (p *partial) invoke(m *vm.Machine, a vm.Args) (vm.Value, error) {
	pos := a.Positional()
	elements(m, len(p.args)+len(a.Values))
	values := make([]vm.Value, 0, len(p.args)+len(a.Values)+p.keywords.Len())
	values = append(append(values, p.args...), pos...)
	if p.keywords.Len() == 0 {
		return m.CallArgs(p.fn, vm.Args{Values: append(values, a.Values[len(pos):]...), Names: a.Names})
	}
	keys, given := m.DictItems(p.keywords)
	m.ChargeEach(len(keys)+len(a.Names), m.Prices().DictOp)
	names := make([]*vm.Str, 0, len(keys)+len(a.Names))
	at := make(map[string]int, len(keys)) // place in values; looked up, never iterated
	// Paid: by the charge above, a look-up each.
	for i, k := range keys {
		name, ok := k.StrObject()
		if !ok {
			return vm.None, m.TypeError("keywords must be strings")
		}
		chars(m, len(name.String())/int(m.Work().KeyBytes))
		at[name.String()] = len(values)
		names, values = append(names, name), append(values, given[i])
	}
	// Paid: likewise.
	for j, n := range a.Names {
		chars(m, len(n.String())/int(m.Work().KeyBytes))
		v := a.Values[len(pos)+j]
		if k, ok := at[n.String()]; ok {
			values[k] = v
			continue
		}
		names, values = append(names, n), append(values, v)
	}
	return m.CallArgs(p.fn, vm.Args{Values: values, Names: names})
}

func partialRepr(m *vm.Machine, p *partial, a vm.Args) (vm.Value, error) {
	return m.ReprOnce(a.Values[0], "...", func() (string, error) {
		c := m.ClassOf(a.Values[0])
		var out strings.Builder
		text := func(parts ...string) {
			// Bounded: by the six parts that calls below give, a character each of theirs.
			for _, part := range parts {
				chars(m, len(part))
				out.WriteString(part)
			}
		}
		if c.Module() != "__main__" {
			text(c.Module(), ".")
		}
		s, err := m.Repr(p.fn)
		if err != nil {
			return "", err
		}
		text(c.Name(), "(", s.String())
		// Paid: by Repr and by the two characters of the comma at least.
		for _, v := range p.args {
			if s, err = m.Repr(v); err != nil {
				return "", err
			}
			text(", ", s.String())
		}
		keys, values := m.DictItems(p.keywords)
		// Paid: likewise, and by DictItems, an element each.
		for i, k := range keys {
			if s, err = m.Repr(values[i]); err != nil {
				return "", err
			}
			name, err := m.Str(k)
			if err != nil {
				return "", err
			}
			text(", ", name.String(), "=", s.String())
		}
		text(")")
		return out.String(), nil
	})
}

// reduce is functools.reduce.
func reduce(m *vm.Machine, a vm.Args) (vm.Value, error) {
	acc, have := given(a, 2)
	it, err := m.Iter(a.Values[1])
	if err != nil {
		if m.IsRaised(err, "TypeError") {
			return vm.None, m.TypeError("reduce() arg 2 must support iteration")
		}
		return vm.None, err
	}
	mark := m.Hold(it)
	defer m.Release(mark)
	at := m.Hold(acc)
	for {
		v, ok, err := m.Next(it)
		if err != nil {
			return vm.None, err
		}
		if !ok {
			break
		}
		m.Charge(m.Prices().Step)
		if !have {
			acc, have = v, true
		} else if acc, err = m.Call(a.Values[0], acc, v); err != nil {
			return vm.None, err
		}
		m.Release(at)
		m.Hold(acc)
	}
	if !have {
		return vm.None, m.TypeError("reduce() of empty iterable with no initial value")
	}
	return acc, nil
}

// sortKey is what functools.cmp_to_key makes of a value; before it is called, obj is unbound.
type sortKey struct{ cmp, obj vm.Value }

func (k *sortKey) Roots(visit func(vm.Value)) {
	visit(k.cmp)
	if k.obj.Bound() {
		visit(k.obj)
	}
}

func (k *sortKey) Bytes() int { return 48 }

// cmpToKey makes functools.cmp_to_key, with the one class of its keys.
func cmpToKey(m *vm.Machine) vm.Value {
	c := m.NewClass("functools", "KeyWrapper")
	c.Define(named("__call__", 2, []string{"", "obj"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		k, err := payload[*sortKey](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return m.NewForeign(c, &sortKey{k.cmp, a.Values[1]}), nil
	}))
	// Bounded: by six operators; once, when a machine loads the library.
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
		c.Define(def(op.name, 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return compareKeys(m, op.op, a.Values[0], a.Values[1])
		}))
	}
	c.Constant("__hash__", vm.None)
	c.Getter("obj", func(m *vm.Machine, v vm.Value) (vm.Value, error) {
		k, err := payload[*sortKey](m, v)
		if err != nil || !k.obj.Bound() {
			return vm.None, err
		}
		return k.obj, nil
	}, nil)
	return m.NewFunction(named("cmp_to_key", 1, []string{"mycmp"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		return m.NewForeign(c, &sortKey{cmp: a.Values[0]}), nil
	}))
}

// compareKeys compares two keys by what the first compares with.
func compareKeys(m *vm.Machine, op vm.CompareOp, x, y vm.Value) (vm.Value, error) {
	k, err := payload[*sortKey](m, x)
	if err != nil {
		return vm.None, err
	}
	p, _ := y.Foreign()
	o, ok := p.(*sortKey)
	if !ok {
		return vm.None, m.TypeError("other argument must be K instance")
	}
	if !k.obj.Bound() || !o.obj.Bound() {
		return vm.None, m.RaiseText("AttributeError", "object")
	}
	r, err := m.Call(k.cmp, k.obj, o.obj)
	if err != nil {
		return vm.None, err
	}
	return m.Compare(op, r, vm.SmallInt(0))
}
