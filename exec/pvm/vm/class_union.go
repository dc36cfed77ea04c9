package vm

import "strings"

// union is int | str (PEP 604).
type union struct{ args []Value }

func (u *union) Roots(visit func(Value)) {
	// Bounded: by the limit of memory, once for each eighth of it that was announced and paid.
	for _, v := range u.args {
		visit(v)
	}
}

func (u *union) Bytes() int { return smallBytes + len(u.args)*valueBytes }

func unionOf(v Value) (*union, bool) {
	p, _ := v.Foreign()
	if u, ok := p.(*union); ok {
		return u, true
	}
	return &union{}, false
}

func (m *Machine) anyMember(u *union, is func(Value) (bool, error)) (bool, error) {
	for _, c := range u.args {
		m.Charge(m.dyn.Element)
		if yes, err := is(c); err != nil || yes {
			return yes, err
		}
	}
	return false, nil
}

// defineUnion builds types.UnionType.
func (rt *Runtime) defineUnion() {
	u := rt.newClass("UnionType", KindForeign)
	u.module = "types"
	rt.classes.union = u
	rt.methods(u,
		Def{Name: "__repr__", Min: 1, Max: 1, Fn: unionRepr},
		Def{Name: "__eq__", Min: 2, Max: 2, Fn: unionEq},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: unionHash},
		Def{Name: "__or__", Min: 2, Max: 2, Fn: unionOr},
		Def{Name: "__ror__", Min: 2, Max: 2, Fn: unionRor},
	)
	rt.methods(u, Def{Name: "__getitem__", Min: 2, Max: 2, Fn: unionSubscript})
	rt.getters(u, "__parameters__", func(m *Machine, v Value) (Value, error) {
		w, _ := unionOf(v)
		vars, err := m.typeVars(w.args)
		return m.tupleOf(vars), err
	}, nil)
	rt.getters(u, "__args__", func(m *Machine, v Value) (Value, error) { w, _ := unionOf(v); return m.tupleOf(w.args), nil }, nil)
}

func unionOr(m *Machine, a Args) (Value, error)  { return m.makeUnion(a.Values[0], a.Values[1]) }
func unionRor(m *Machine, a Args) (Value, error) { return m.makeUnion(a.Values[1], a.Values[0]) }

// makeUnion flattens and drops what is there twice. None is a type beside another only.
func (m *Machine) makeUnion(x, y Value) (Value, error) {
	if x.IsNone() && y.IsNone() {
		return NotImplemented, nil
	}
	var args []Value
	for _, v := range []Value{x, y} {
		parts := []Value{v}
		if u, ok := unionOf(v); ok {
			parts = u.args
		} else if _, generic := aliasOf(v); !v.isClass() && !v.IsNone() && !generic {
			return NotImplemented, nil
		}
		for _, p := range parts {
			if p.IsNone() {
				p = m.rt.classes.NoneType.value()
			}
			dup := false
			for _, q := range args {
				m.Charge(m.dyn.NativeCall)
				eq, err := m.CompareBool(CompareEq, p, q)
				if err != nil {
					return unbound, err
				}
				dup = dup || eq
			}
			if !dup {
				args = append(args, p)
			}
		}
	}
	if len(args) == 1 {
		return args[0], nil
	}
	return m.NewForeign(m.rt.classes.union, &union{args: args}), nil
}

func unionRepr(m *Machine, a Args) (Value, error) {
	u, _ := unionOf(a.Values[0])
	parts := make([]string, len(u.args))
	// Paid: by aliasPart, a character each.
	for i, v := range u.args {
		if v.ref.self == m.rt.classes.NoneType {
			v = None
		}
		s, err := m.aliasPart(v)
		if err != nil {
			return unbound, err
		}
		parts[i] = s
	}
	// Paid: by aliasPart, a character each.
	return m.newStr(strings.Join(parts, " | ")).val(), nil
}

func unionEq(m *Machine, a Args) (Value, error) {
	x, _ := unionOf(a.Values[0])
	y, ok := unionOf(a.Values[1])
	if !ok {
		return NotImplemented, nil
	}
	if len(x.args) != len(y.args) {
		return False, nil
	}
	for _, v := range x.args {
		found := false
		for _, w := range y.args {
			m.Charge(m.dyn.Element)
			eq, err := m.CompareBool(CompareEq, v, w)
			if err != nil {
				return unbound, err
			}
			found = found || eq
		}
		if !found {
			return False, nil
		}
	}
	return True, nil
}

func unionHash(m *Machine, a Args) (Value, error) {
	u, _ := unionOf(a.Values[0])
	s, err := m.setFrom(KindFrozenSet, m.tupleOf(u.args))
	if err != nil {
		return unbound, err
	}
	return SmallInt(m.setHash(s)), nil
}

// unionSubscript puts arguments for the type variables.
func unionSubscript(m *Machine, a Args) (Value, error) {
	u, _ := unionOf(a.Values[0])
	args, err := m.substituted(a.Values[0], u.args, a.Values[1])
	if err != nil {
		return unbound, err
	}
	defer m.Release(m.Hold(m.tupleOf(args)))
	if len(args) == 0 { // the variables stood for nothing
		return unbound, m.Raise(m.rt.classes.TypeError, "%s is not a generic class", m.rt.classes.union.name)
	}
	out := args[0]
	// Paid: by makeUnion, a native call for each pair.
	for _, v := range args[1:] {
		if out, err = m.Binary(OpBitOr, out, v); err != nil {
			return unbound, err
		}
	}
	return out, nil
}
