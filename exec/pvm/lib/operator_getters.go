package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// itemGetter is operator.itemgetter: obj[item], or a tuple of several.
type itemGetter struct{ items []vm.Value }

func (g *itemGetter) Bytes() int { return 48 + 16*len(g.items) }

func (g *itemGetter) Roots(visit func(vm.Value)) {
	// Bounded: by the modelled memory, 16 bytes a value; measurements come after an eighth of its limit was announced.
	for _, v := range g.items {
		visit(v)
	}
}

func itemGetterClass(m *vm.Machine) *vm.Class {
	c := getterClass(m, "itemgetter", func(m *vm.Machine, a vm.Args) (vm.Payload, error) {
		if len(a.Values) == 0 {
			return nil, m.TypeError("itemgetter expected 1 argument, got 0")
		}
		elements(m, len(a.Values))
		return &itemGetter{append([]vm.Value(nil), a.Values...)}, nil
	})
	defineGetter(c, "itemgetter", func(m *vm.Machine, g *itemGetter, obj vm.Value) (vm.Value, error) {
		return oneOrTuple(m, len(g.items), func(i int) (vm.Value, error) { return m.GetItem(obj, g.items[i]) })
	}, func(m *vm.Machine, g *itemGetter) (string, error) { return reprs(m, g.items) })
	return c
}

// attrGetter is operator.attrgetter: obj.a.b of dotted names, or a tuple of several.
type attrGetter struct {
	names []vm.Value // as they were given
	paths [][]vm.Value
	parts int
}

func (g *attrGetter) Bytes() int { return 64 + 40*len(g.names) + 16*g.parts }

func (g *attrGetter) Roots(visit func(vm.Value)) {
	// Bounded: likewise, 40 bytes a name.
	for i, v := range g.names {
		visit(v)
		// Bounded: likewise, 16 bytes a part.
		for _, part := range g.paths[i] {
			visit(part)
		}
	}
}

func attrGetterClass(m *vm.Machine) *vm.Class {
	c := getterClass(m, "attrgetter", newAttrGetter)
	defineGetter(c, "attrgetter", func(m *vm.Machine, g *attrGetter, obj vm.Value) (vm.Value, error) {
		return oneOrTuple(m, len(g.paths), func(i int) (vm.Value, error) {
			mark := m.Hold(obj)
			defer m.Release(mark)
			v := obj
			for _, part := range g.paths[i] {
				m.ChargeLookup(v)
				name, _ := part.StrObject()
				next, err := m.GetAttr(v, name)
				if err != nil {
					return vm.None, err
				}
				m.Release(mark)
				m.Hold(next)
				v = next
			}
			return v, nil
		})
	}, func(m *vm.Machine, g *attrGetter) (string, error) { return reprs(m, g.names) })
	return c
}

// newAttrGetter splits the names once, which cannot change.
func newAttrGetter(m *vm.Machine, a vm.Args) (vm.Payload, error) {
	if len(a.Values) == 0 {
		return nil, m.TypeError("attrgetter expected 1 argument, got 0")
	}
	elements(m, len(a.Values))
	m.ChargeWide(len(a.Values), m.Prices().NativeCall)
	defer m.Release(m.Hold(vm.None))
	g := &attrGetter{}
	for _, v := range a.Values {
		text, ok := v.Text()
		if !ok {
			return nil, m.TypeError("attribute name must be a string")
		}
		chars(m, len(text))
		// Paid: by the characters above.
		n := strings.Count(text, ".") + 1
		elements(m, n)
		m.Alloc(16 * n)
		var path []vm.Value
		// Paid: by the characters and the elements above.
		for part := range strings.SplitSeq(text, ".") {
			path = append(path, m.NewStr(part))
			m.Hold(path[len(path)-1])
		}
		g.names, g.paths, g.parts = append(g.names, v), append(g.paths, path), g.parts+n
	}
	return g, nil
}

// methodCaller is operator.methodcaller: obj.name(args).
type methodCaller struct {
	name  vm.Value
	args  []vm.Value // the values of the keywords last
	names []*vm.Str
}

func (g *methodCaller) Bytes() int { return 64 + 16*len(g.args) + 8*len(g.names) }

func (g *methodCaller) Roots(visit func(vm.Value)) {
	visit(g.name)
	// Bounded: by the modelled memory, 16 bytes a value; measurements come after an eighth of its limit was announced.
	for _, v := range g.args {
		visit(v)
	}
	// Bounded: likewise, 8 bytes a name.
	for _, n := range g.names {
		visit(n.Value())
	}
}

func methodCallerClass(m *vm.Machine) *vm.Class {
	c := m.NewClass("operator", "methodcaller").Dotted()
	c.Define(keyworded(def("__new__", 1, -1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		class, _ := a.Values[0].Class()
		pos := a.Positional()
		if len(pos) < 2 {
			return vm.None, m.TypeError("methodcaller needs at least one argument, the method name")
		}
		if _, ok := pos[1].Text(); !ok {
			return vm.None, m.TypeError("method name must be a string")
		}
		elements(m, len(a.Values))
		return m.NewForeign(class, &methodCaller{pos[1], append([]vm.Value(nil), a.Values[2:]...), append([]*vm.Str(nil), a.Names...)}), nil
	})), keyworded(def("__init__", 1, -1, func(*vm.Machine, vm.Args) (vm.Value, error) { return vm.None, nil })))
	defineGetter(c, "methodcaller", func(m *vm.Machine, g *methodCaller, obj vm.Value) (vm.Value, error) {
		m.Charge(m.Prices().DictOp)
		name, _ := g.name.StrObject()
		fn, err := m.GetAttr(obj, name)
		if err != nil {
			return vm.None, err
		}
		defer m.Release(m.Hold(fn))
		elements(m, len(g.args))
		return m.CallArgs(fn, vm.Args{Values: g.args, Names: g.names})
	}, methodCallerText)
	return c
}

func methodCallerText(m *vm.Machine, g *methodCaller) (string, error) {
	pos := len(g.args) - len(g.names)
	text, err := reprs(m, append([]vm.Value{g.name}, g.args[:pos]...))
	// Paid: by the characters of the text so far, each round.
	for i, n := range g.names {
		if err != nil {
			return "", err
		}
		var s *vm.Str
		if s, err = m.Repr(g.args[pos+i]); err == nil {
			text += ", " + n.String() + "=" + s.String()
			chars(m, len(text))
		}
	}
	return text, err
}

// getterClass makes a class of module operator whose instances are made of positional
// arguments.
func getterClass(m *vm.Machine, name string, make func(*vm.Machine, vm.Args) (vm.Payload, error)) *vm.Class {
	c := m.NewClass("operator", name).Dotted()
	c.Define(keyworded(def("__new__", 1, -1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		class, _ := a.Values[0].Class()
		if len(a.Names) > 0 {
			return vm.None, m.TypeError("%s() takes no keyword arguments", name)
		}
		p, err := make(m, vm.Args{Values: a.Values[1:]})
		if err != nil {
			return vm.None, err
		}
		return m.NewForeign(class, p), nil
	})), keyworded(def("__init__", 1, -1, func(*vm.Machine, vm.Args) (vm.Value, error) { return vm.None, nil })))
	return c
}

// defineGetter gives a class of callables its call with one object, and its text.
func defineGetter[T vm.Payload](c *vm.Class, name string, call func(*vm.Machine, T, vm.Value) (vm.Value, error), text func(*vm.Machine, T) (string, error)) {
	c.Define(
		keyworded(def("__call__", 1, -1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			p, err := payload[T](m, a.Values[0])
			switch {
			case err != nil:
				return vm.None, err
			case len(a.Names) > 0:
				return vm.None, m.TypeError("%s() takes no keyword arguments", name)
			case len(a.Values) != 2:
				return vm.None, m.TypeError("%s expected 1 argument, got %d", name, len(a.Values)-1)
			}
			return call(m, p, a.Values[1])
		})),
		def("__repr__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			p, err := payload[T](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			who := m.TypeName(a.Values[0])
			return m.ReprOnce(a.Values[0], who+"(...)", func() (string, error) {
				inside, err := text(m, p)
				return who + "(" + inside + ")", err
			})
		}),
	)
}

// oneOrTuple is what a getter answers for n things to get.
func oneOrTuple(m *vm.Machine, n int, get func(i int) (vm.Value, error)) (vm.Value, error) {
	if n == 1 {
		return get(0)
	}
	elements(m, n)
	m.Alloc(16 * n)
	defer m.Release(m.Hold(vm.None))
	out := make([]vm.Value, 0, n)
	// Paid: by the elements above, and two steps each: what is got may be made anew.
	for i := range n {
		m.Charge(2 * m.Prices().Step)
		v, err := get(i)
		if err != nil {
			return vm.None, err
		}
		m.Hold(v)
		out = append(out, v)
	}
	return m.NewTuple(out), nil
}

// reprs are the representations of values, apart by commas.
func reprs(m *vm.Machine, values []vm.Value) (string, error) {
	var b strings.Builder
	for i, v := range values {
		s, err := m.Repr(v)
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteString(", ")
		}
		chars(m, len(s.String()))
		m.Alloc(len(s.String()))
		b.WriteString(s.String())
	}
	return b.String(), nil
}
