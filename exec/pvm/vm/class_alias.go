package vm

import "strings"

// alias is list[int] and its like (PEP 585).
type alias struct {
	origin Value
	args   []Value
}

func (a *alias) Roots(visit func(Value)) {
	visit(a.origin)
	for _, v := range a.args {
		visit(v)
	}
}

func (a *alias) Bytes() int { return smallBytes + len(a.args)*valueBytes }

// union is int | str (PEP 604).
type union struct{ args []Value }

func (u *union) Roots(visit func(Value)) {
	for _, v := range u.args {
		visit(v)
	}
}

func (u *union) Bytes() int { return smallBytes + len(u.args)*valueBytes }

// NewForeign makes an instance of a class of the library.
func (m *Machine) NewForeign(c *Class, p Payload) Value {
	m.Alloc(headerBytes + p.Bytes())
	f := &Foreign{Payload: p}
	v := f.head(KindForeign, c, f)
	return v
}

// Foreign returns what a library object keeps.
func (v Value) Foreign() (Payload, bool) {
	if v.ref == nil {
		return nil, false
	}
	f, ok := v.ref.self.(*Foreign)
	if !ok {
		return nil, false
	}
	return f.Payload, true
}

func unionOf(v Value) (*union, bool) {
	p, _ := v.Foreign()
	if u, ok := p.(*union); ok {
		return u, true
	}
	return &union{}, false
}

func aliasOf(v Value) (*alias, bool) {
	p, _ := v.Foreign()
	if a, ok := p.(*alias); ok {
		return a, true
	}
	return &alias{origin: None}, false // an instance of a subclass that nothing was put into
}

func (m *Machine) anyMember(u *union, is func(Value) (bool, error)) (bool, error) {
	for _, c := range u.args {
		m.Charge(m.dyn.Element)
		if c.IsNone() {
			c = m.rt.classes.NoneType.value()
		}
		if yes, err := is(c); err != nil || yes {
			return yes, err
		}
	}
	return false, nil
}

// NewAlias is origin[args], args being a tuple or one argument.
func (m *Machine) NewAlias(origin, key Value) Value {
	a := &alias{origin: origin, args: []Value{key}}
	if t, ok := key.ref.self.(*Tuple); ok {
		a.args = t.items
	}
	return m.NewForeign(m.rt.classes.genericAlias, a)
}

// aliasItem is __class_getitem__ of the builtin containers.
func aliasItem(m *Machine, a Args) (Value, error) { return m.NewAlias(a.Values[0], a.Values[1]), nil }

// defineAliases builds types.GenericAlias and types.UnionType.
func (rt *Runtime) defineAliases() {
	g := rt.newClass("GenericAlias", KindForeign)
	g.module, g.qualName = "types", "GenericAlias"
	rt.classes.genericAlias = g
	rt.methods(g,
		Def{Name: "__new__", Min: 3, Max: 3, Fn: func(m *Machine, a Args) (Value, error) { return m.NewAlias(a.Values[1], a.Values[2]), nil }},
		Def{Name: "__call__", Min: 1, Max: -1, Keywords: true, Fn: aliasCall},
		Def{Name: "__repr__", Min: 1, Max: 1, Fn: aliasRepr},
		Def{Name: "__eq__", Min: 2, Max: 2, Fn: aliasEq},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: aliasHash},
		Def{Name: "__getattr__", Min: 2, Max: 2, Fn: aliasGetattr},
		Def{Name: "__mro_entries__", Min: 2, Max: 2, Fn: aliasMroEntries},
		Def{Name: "__instancecheck__", Min: 2, Max: 2, Fn: aliasCheck("isinstance() argument 2 cannot be a parameterized generic")},
		Def{Name: "__subclasscheck__", Min: 2, Max: 2, Fn: aliasCheck("issubclass() argument 2 cannot be a parameterized generic")},
		Def{Name: "__getitem__", Min: 2, Max: 2, Fn: aliasSubscript},
		Def{Name: "__or__", Min: 2, Max: 2, Fn: unionOr},
		Def{Name: "__ror__", Min: 2, Max: 2, Fn: unionRor},
	)
	rt.getters(g, "__origin__", func(m *Machine, v Value) (Value, error) { a, _ := aliasOf(v); return a.origin, nil }, nil)
	rt.getters(g, "__args__", func(m *Machine, v Value) (Value, error) { a, _ := aliasOf(v); return m.tupleOf(a.args), nil }, nil)
	rt.getters(g, "__parameters__", func(m *Machine, v Value) (Value, error) {
		a, _ := aliasOf(v)
		return m.tupleOf(m.typeVars(a.args)), nil
	}, nil)

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
	rt.getters(u, "__args__", func(m *Machine, v Value) (Value, error) { w, _ := unionOf(v); return m.tupleOf(w.args), nil }, nil)
}

func (m *Machine) tupleOf(items []Value) Value {
	t := m.newTuple(append([]Value(nil), items...))
	return Value{ref: &t.Object}
}

// typeVars are the type variables of args, each once: objects that know how to be
// substituted.
func (m *Machine) typeVars(args []Value) []Value {
	var out []Value
	add := func(v Value) {
		m.elements(len(out))
		for _, o := range out {
			if o.is(v) {
				return
			}
		}
		out = append(out, v)
	}
	for _, v := range args {
		m.Charge(m.dyn.NativeCall)
		if v.isClass() {
			continue
		}
		if _, _, ok := m.classOf(v).find("__typing_subst__"); ok {
			add(v)
			continue
		}
		if a, ok := aliasOf(v); ok && m.Enter() == nil {
			for _, w := range m.typeVars(a.args) {
				add(w)
			}
			m.Exit()
		}
	}
	return out
}

func aliasCall(m *Machine, a Args) (Value, error) {
	al, _ := aliasOf(a.Values[0])
	return m.CallArgs(al.origin, Args{a.Values[1:], a.Names})
}

func aliasGetattr(m *Machine, a Args) (Value, error) {
	al, _ := aliasOf(a.Values[0])
	name, ok := a.Values[1].str()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "attribute name must be string, not '%s'", m.typeName(a.Values[1]))
	}
	return m.GetAttr(al.origin, name)
}

func aliasMroEntries(m *Machine, a Args) (Value, error) {
	al, _ := aliasOf(a.Values[0])
	return m.tupleOf([]Value{al.origin}), nil
}

func aliasCheck(text string) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		return unbound, m.RaiseValue(m.rt.classes.TypeError, m.newStr(text).val())
	}
}

func aliasEq(m *Machine, a Args) (Value, error) {
	x, _ := aliasOf(a.Values[0])
	y, ok := aliasOf(a.Values[1])
	if !ok {
		return NotImplemented, nil
	}
	if eq, err := m.CompareBool(CompareEq, x.origin, y.origin); err != nil || !eq {
		return False, err
	}
	return m.Compare(CompareEq, m.tupleOf(x.args), m.tupleOf(y.args))
}

func aliasHash(m *Machine, a Args) (Value, error) {
	x, _ := aliasOf(a.Values[0])
	h, err := m.Hash(m.tupleOf(append([]Value{x.origin}, x.args...)))
	return SmallInt(h), err
}

func aliasRepr(m *Machine, a Args) (Value, error) {
	if err := m.Enter(); err != nil {
		return unbound, err
	}
	defer m.Exit()
	al, _ := aliasOf(a.Values[0])
	var b strings.Builder
	s, err := m.aliasPart(al.origin)
	if err != nil {
		return unbound, err
	}
	b.WriteString(s + "[")
	for i, v := range al.args {
		if i > 0 {
			b.WriteString(", ")
		}
		if s, err = m.aliasPart(v); err != nil {
			return unbound, err
		}
		b.WriteString(s)
	}
	if len(al.args) == 0 {
		b.WriteString("()")
	}
	b.WriteString("]")
	return m.newStr(b.String()).val(), nil
}

// aliasPart prints classes by their name and other arguments by repr.
func (m *Machine) aliasPart(v Value) (string, error) {
	if c, ok := v.class(); ok {
		return c.fullName(), nil
	}
	if v.ref.kind == KindEllipsis {
		return "...", nil
	}
	s, err := m.Repr(v)
	if err != nil {
		return "", err
	}
	return s.s, nil
}

// aliasSubscript puts arguments for the type variables.
func aliasSubscript(m *Machine, a Args) (Value, error) {
	al, _ := aliasOf(a.Values[0])
	vars := m.typeVars(al.args)
	with := []Value{a.Values[1]}
	if t, ok := a.Values[1].ref.self.(*Tuple); ok {
		with = t.items
	}
	if len(vars) == 0 {
		s, err := m.Repr(a.Values[0])
		if err != nil {
			return unbound, err
		}
		return unbound, m.Raise(m.rt.classes.TypeError, "%s is not a generic class", s.s)
	}
	if len(vars) != len(with) {
		word := "few"
		if len(with) > len(vars) {
			word = "many"
		}
		return unbound, m.Raise(m.rt.classes.TypeError, "Too %s arguments for %s; actual %d, expected %d", word, m.typeName(a.Values[0]), len(with), len(vars))
	}
	args := make([]Value, len(al.args))
	for i, v := range al.args {
		args[i] = v
		for j, tv := range vars {
			if v.is(tv) {
				args[i] = with[j]
			}
		}
	}
	return m.NewForeign(m.rt.classes.genericAlias, &alias{origin: al.origin, args: args}), nil
}

func unionOr(m *Machine, a Args) (Value, error)  { return m.makeUnion(a.Values[0], a.Values[1]) }
func unionRor(m *Machine, a Args) (Value, error) { return m.makeUnion(a.Values[1], a.Values[0]) }

// makeUnion flattens and drops what is there twice.
func (m *Machine) makeUnion(x, y Value) (Value, error) {
	var args []Value
	for _, v := range []Value{x, y} {
		parts := []Value{v}
		if u, ok := unionOf(v); ok {
			parts = u.args
		} else if _, generic := aliasOf(v); !v.isClass() && !v.IsNone() && !generic {
			return NotImplemented, nil
		}
		for _, p := range parts {
			dup := false
			for _, q := range args {
				m.Charge(m.dyn.Element)
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
	for i, v := range u.args {
		s, err := m.aliasPart(v)
		if err != nil {
			return unbound, err
		}
		parts[i] = s
	}
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
	var sum int64
	for _, v := range u.args {
		h, err := m.Hash(v)
		if err != nil {
			return unbound, err
		}
		sum ^= h
	}
	return SmallInt(sum), nil
}
