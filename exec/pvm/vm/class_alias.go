package vm

import "strings"

// alias is list[int] and its like (PEP 585).
type alias struct {
	origin  Value
	args    []Value
	starred bool // *list[int]
}

func (a *alias) Roots(visit func(Value)) {
	visit(a.origin)
	// Bounded: by the limit of memory, once for each eighth of it that was announced and paid.
	for _, v := range a.args {
		visit(v)
	}
}

func (a *alias) Bytes() int { return smallBytes + len(a.args)*valueBytes }

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

func aliasOf(v Value) (*alias, bool) {
	p, _ := v.Foreign()
	if a, ok := p.(*alias); ok {
		return a, true
	}
	return &alias{origin: None}, false // an instance of a subclass that nothing was put into
}

// NewAlias is origin[args], args being a tuple or one argument.
func (m *Machine) NewAlias(origin, key Value) Value {
	return m.newAliasOf(m.rt.classes.genericAlias, origin, key)
}

func (m *Machine) newAliasOf(c *Class, origin, key Value) Value {
	a := &alias{origin: origin, args: []Value{key}}
	if t, ok := key.ref.self.(*Tuple); ok {
		a.args = t.items
	}
	return m.NewForeign(c, a)
}

// aliasNew is GenericAlias(origin, args).
func aliasNew(m *Machine, a Args) (Value, error) {
	c, ok := a.Values[0].asClass()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "GenericAlias.__new__(X): X is not a type object (%s)", m.typeName(a.Values[0]))
	}
	return m.newAliasOf(c, a.Values[1], a.Values[2]), nil
}

// aliasItem is __class_getitem__ of the builtin containers.
func aliasItem(m *Machine, a Args) (Value, error) { return m.NewAlias(a.Values[0], a.Values[1]), nil }

// defineAliases builds types.GenericAlias and types.UnionType.
func (rt *Runtime) defineAliases() {
	g := rt.newClass("GenericAlias", KindForeign)
	g.module, g.qualName = "types", "GenericAlias"
	rt.classes.genericAlias = g
	rt.methods(g,
		Def{Name: "__new__", Min: 3, Max: 3, Fn: aliasNew},
		Def{Name: "__call__", Min: 1, Max: -1, Keywords: true, Fn: aliasCall},
		Def{Name: "__repr__", Min: 1, Max: 1, Fn: aliasRepr},
		Def{Name: "__eq__", Min: 2, Max: 2, Fn: aliasEq},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: aliasHash},
		Def{Name: "__getattr__", Min: 2, Max: 2, Fn: aliasGetattr},
		Def{Name: "__iter__", Min: 1, Max: 1, Fn: aliasIter},
		Def{Name: "__dir__", Min: 1, Max: 1, Fn: aliasDir},
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
		vars, err := m.typeVars(a.args)
		return m.tupleOf(vars), err
	}, nil)
	rt.getters(g, "__unpacked__", func(m *Machine, v Value) (Value, error) { a, _ := aliasOf(v); return Bool(a.starred), nil }, nil)
	rt.getters(g, "__typing_unpacked_tuple_args__", func(m *Machine, v Value) (Value, error) {
		a, _ := aliasOf(v)
		if a.starred && a.origin.ref.self == m.rt.classes.tuple {
			return m.tupleOf(a.args), nil
		}
		return None, nil
	}, nil)
	rt.defineUnion()
}

// tupleOf is a tuple of a copy of items, an element each.
func (m *Machine) tupleOf(items []Value) Value {
	m.elements(len(items))
	t := m.newTuple(append([]Value(nil), items...))
	return Value{ref: &t.Object}
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
	// Bounded: by eight names.
	for _, own := range aliasNames {
		if name.s == own {
			return unbound, m.noAttribute(a.Values[0], name)
		}
	}
	return m.GetAttr(al.origin, name)
}

// aliasNames are the attributes that are never those of the origin.
var aliasNames = [...]string{
	"__origin__", "__args__", "__unpacked__", "__parameters__", "__typing_unpacked_tuple_args__", "__mro_entries__",
	"__copy__", "__deepcopy__",
}

// aliasDir is what the origin lists and the alias's own.
func aliasDir(m *Machine, a Args) (Value, error) {
	al, _ := aliasOf(a.Values[0])
	v, err := builtinDir(m, Args{Values: []Value{al.origin}})
	if err != nil {
		return unbound, err
	}
	names, err := m.Collect(v)
	if err != nil {
		return unbound, err
	}
	out := m.newList(names)
	// Bounded: by six names.
	for _, own := range aliasNames[:6] {
		m.elements(len(names))
		if there, err := m.Contains(v, m.newStr(own).val()); err != nil {
			return unbound, err
		} else if !there {
			out.append(m, m.newStr(own).val())
		}
	}
	return out.val(), nil
}

// aliasIter gives *list[int], once.
func aliasIter(m *Machine, a Args) (Value, error) {
	al, _ := aliasOf(a.Values[0])
	star := m.NewForeign(m.classOf(a.Values[0]), &alias{origin: al.origin, args: al.args, starred: true})
	return m.Iter(m.tupleOf([]Value{star}))
}

// aliasSubscript puts arguments for the type variables.
func aliasSubscript(m *Machine, a Args) (Value, error) {
	al, _ := aliasOf(a.Values[0])
	args, err := m.substituted(a.Values[0], al.args, a.Values[1])
	if err != nil {
		return unbound, err
	}
	return m.NewForeign(m.rt.classes.genericAlias, &alias{origin: al.origin, args: args, starred: al.starred}), nil
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
	if x.starred != y.starred {
		return False, nil
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
	if al.starred {
		b.WriteString("*")
	}
	b.WriteString(s + "[")
	// Paid: by aliasPart, a character each.
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

// aliasPart prints classes by their name and other arguments by repr. It charges and
// announces the text, which stands in a longer one.
func (m *Machine) aliasPart(v Value) (text string, err error) {
	if c, ok := v.asClass(); ok {
		text = c.fullName()
	} else if v.ref.kind == KindEllipsis {
		text = "..."
	} else if s, err := m.Repr(v); err != nil {
		return "", err
	} else {
		text = s.s
	}
	m.ChargeEach(len(text), m.dyn.Char)
	m.Alloc(len(text))
	return text, nil
}
