package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// onDict is a native whose receiver is a dict of a subclass.
func onDict(fn func(m *vm.Machine, d *vm.Dict, a vm.Args) (vm.Value, error)) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		d, ok := a.Values[0].Dict()
		if !ok {
			return vm.None, m.TypeError("descriptor requires a 'dict' object but received '%s'", m.TypeName(a.Values[0]))
		}
		return fn(m, d, a)
	}
}

// parentMethod calls dict's method of this name.
func parentMethod(m *vm.Machine, name string, a vm.Args) (vm.Value, error) {
	fn, _ := m.Builtin("dict").Lookup(m, name)
	return m.CallArgs(fn, a)
}

// factoryName is the attribute that holds a defaultdict's factory.
const factoryName = "default_factory"

func factoryOf(m *vm.Machine, v vm.Value) (vm.Value, error) {
	f, ok, err := m.LookupAttr(v, m.Interned(factoryName))
	if !ok || err != nil {
		return vm.None, err
	}
	return f, nil
}

// defaultDictClass makes collections.defaultdict.
func defaultDictClass(m *vm.Machine) *vm.Class {
	c := m.NewClass("collections", "defaultdict", m.Builtin("dict")).WithDict()
	return c.Define(
		keyworded(def("__init__", 1, -1, onDict(func(m *vm.Machine, _ *vm.Dict, a vm.Args) (vm.Value, error) {
			factory, rest := vm.None, a
			if len(a.Positional()) > 1 {
				factory = a.Values[1]
				values := append([]vm.Value{a.Values[0]}, a.Values[2:]...)
				rest = vm.Args{Values: values, Names: a.Names}
			}
			if _, ok := special(m, factory, "__call__"); !ok && !factory.IsNone() && !callable(factory) {
				return vm.None, m.TypeError("first argument must be callable or None")
			}
			if err := m.SetAttr(a.Values[0], m.Interned(factoryName), factory); err != nil {
				return vm.None, err
			}
			return parentMethod(m, "__init__", rest)
		}))),
		def("__missing__", 2, 2, onDict(func(m *vm.Machine, d *vm.Dict, a vm.Args) (vm.Value, error) {
			factory, err := factoryOf(m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			if factory.IsNone() {
				return vm.None, m.RaiseValue(m.Builtin("KeyError"), a.Values[1])
			}
			v, err := m.Call(factory)
			if err != nil {
				return vm.None, err
			}
			m.Charge(m.Prices().DictOp)
			return v, m.DictPut(d, a.Values[1], v)
		})),
		def("__repr__", 1, 1, onDict(defaultDictRepr)),
		def("copy", 1, 1, onDict(defaultDictCopy)),
		def("__copy__", 1, 1, onDict(defaultDictCopy)),
		def("__or__", 2, 2, onDict(func(m *vm.Machine, _ *vm.Dict, a vm.Args) (vm.Value, error) {
			return mergedDict(m, a.Values[0], a.Values[0], a.Values[1])
		})),
		def("__ror__", 2, 2, onDict(func(m *vm.Machine, _ *vm.Dict, a vm.Args) (vm.Value, error) {
			return mergedDict(m, a.Values[0], a.Values[1], a.Values[0])
		})),
	)
}

// callable tells kinds that are called without a special method.
func callable(v vm.Value) bool {
	switch v.Kind() {
	case vm.KindFunction, vm.KindNative, vm.KindMethod, vm.KindClass, vm.KindStaticMethod:
		return true
	}
	return false
}

func defaultDictRepr(m *vm.Machine, _ *vm.Dict, a vm.Args) (vm.Value, error) {
	factory, err := factoryOf(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	text, err := m.ReprOnce(factory, "...", func() (string, error) {
		s, err := m.Repr(factory)
		if err != nil {
			return "", err
		}
		return s.String(), nil
	})
	if err != nil {
		return vm.None, err
	}
	inner, err := parentMethod(m, "__repr__", a)
	if err != nil {
		return vm.None, err
	}
	f, _ := text.Text()
	d, _ := inner.Text()
	chars(m, len(f)+len(d))
	return m.NewStr(m.ClassOf(a.Values[0]).Name() + "(" + f + ", " + d + ")"), nil
}

func defaultDictCopy(m *vm.Machine, _ *vm.Dict, a vm.Args) (vm.Value, error) {
	factory, err := factoryOf(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	return m.Call(m.ClassOf(a.Values[0]).Value(), factory, a.Values[0])
}

// mergedDict is first | second for a defaultdict among them, whose class and
// factory the result has.
func mergedDict(m *vm.Machine, self, first, second vm.Value) (vm.Value, error) {
	if _, ok := first.Dict(); !ok {
		return vm.NotImplemented, nil
	}
	if _, ok := second.Dict(); !ok {
		return vm.NotImplemented, nil
	}
	factory, err := factoryOf(m, self)
	if err != nil {
		return vm.None, err
	}
	v, err := m.Call(m.ClassOf(self).Value(), factory, first)
	if err != nil {
		return vm.None, err
	}
	defer m.Release(m.Hold(v))
	_, err = parentMethod(m, "update", vm.Args{Values: []vm.Value{v, second}})
	return v, err
}

// orderedDictClass makes collections.OrderedDict. dict keeps the order already:
// what it adds are moves, and equality that minds the order.
func orderedDictClass(m *vm.Machine) *vm.Class {
	c := m.NewClass("collections", "OrderedDict", m.Builtin("dict")).WithDict()
	c.Define(
		named("move_to_end", 2, []string{"", "key", "last"}, onDict(func(m *vm.Machine, d *vm.Dict, a vm.Args) (vm.Value, error) {
			last, err := flag(m, a, 2)
			if err != nil {
				return vm.None, err
			}
			m.Charge(m.Prices().DictOp)
			ok, err := m.DictMove(d, a.Values[1], last)
			if err == nil && !ok {
				err = m.RaiseValue(m.Builtin("KeyError"), a.Values[1])
			}
			return vm.None, err
		})),
		named("popitem", 1, []string{"", "last"}, onDict(func(m *vm.Machine, d *vm.Dict, a vm.Args) (vm.Value, error) {
			last, err := flag(m, a, 1)
			if err != nil {
				return vm.None, err
			}
			m.Charge(m.Prices().DictOp)
			k, v, ok := m.DictEdge(d, last)
			if !ok {
				return vm.None, m.RaiseText("KeyError", "dictionary is empty")
			}
			if _, _, err = m.DictDel(d, k); err != nil {
				return vm.None, err
			}
			m.Alloc(72)
			return m.NewTuple([]vm.Value{k, v}), nil
		})),
		named("pop", 2, []string{"", "key", "default"}, ofDict("pop")),
		named("setdefault", 2, []string{"", "key", "default"}, ofDict("setdefault")),
		def("__eq__", 2, 2, onDict(orderedEq)),
		def("__ne__", 2, 2, onDict(func(m *vm.Machine, d *vm.Dict, a vm.Args) (vm.Value, error) {
			r, err := orderedEq(m, d, a)
			if err != nil || r.Same(vm.NotImplemented) {
				return r, err
			}
			return vm.Bool(r.Same(vm.False)), nil
		})),
		def("__repr__", 1, 1, onDict(orderedRepr)),
		def("copy", 1, 1, onDict(func(m *vm.Machine, _ *vm.Dict, a vm.Args) (vm.Value, error) {
			return m.Call(m.ClassOf(a.Values[0]).Value(), a.Values[0])
		})),
		def("__or__", 2, 2, onDict(func(m *vm.Machine, _ *vm.Dict, a vm.Args) (vm.Value, error) {
			return mergedOrdered(m, a.Values[0], a.Values[0], a.Values[1])
		})),
		def("__ror__", 2, 2, onDict(func(m *vm.Machine, _ *vm.Dict, a vm.Args) (vm.Value, error) {
			return mergedOrdered(m, a.Values[0], a.Values[1], a.Values[0])
		})),
	)
	c.Constant("__hash__", vm.None)
	return c
}

// ofDict is a method of dict; an OrderedDict's takes its default by name too.
func ofDict(name string) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		values := a.Values[:2]
		if fallback, ok := given(a, 2); ok {
			values = []vm.Value{a.Values[0], a.Values[1], fallback}
		}
		return parentMethod(m, name, vm.Args{Values: values})
	}
}

// flag is the truth of argument i, true when it is absent.
func flag(m *vm.Machine, a vm.Args, i int) (bool, error) {
	v, ok := given(a, i)
	if !ok {
		return true, nil
	}
	return m.Truth(v)
}

func mergedOrdered(m *vm.Machine, self, first, second vm.Value) (vm.Value, error) {
	if _, ok := first.Dict(); !ok {
		return vm.NotImplemented, nil
	}
	if _, ok := second.Dict(); !ok {
		return vm.NotImplemented, nil
	}
	v, err := m.Call(m.ClassOf(self).Value(), first)
	if err != nil {
		return vm.None, err
	}
	defer m.Release(m.Hold(v))
	_, err = parentMethod(m, "update", vm.Args{Values: []vm.Value{v, second}})
	return v, err
}

// orderedEq compares as dicts and, between two OrderedDicts, the order of keys.
func orderedEq(m *vm.Machine, d *vm.Dict, a vm.Args) (vm.Value, error) {
	o, ok := a.Values[1].Dict()
	if !ok {
		return vm.NotImplemented, nil
	}
	r, err := parentMethod(m, "__eq__", a)
	if err != nil || !r.Same(vm.True) {
		return r, err
	}
	if _, ordered := m.ClassOf(a.Values[1]).Lookup(m, "move_to_end"); !ordered {
		return r, nil
	}
	ours, _ := m.DictItems(d)
	theirs, _ := m.DictItems(o)
	// Paid: by DictItems, an element for each entry and hole of both, and by __eq__ before.
	for i := range ours {
		if i >= len(theirs) {
			return vm.False, nil
		}
		eq, err := m.CompareBool(vm.CompareEq, ours[i], theirs[i])
		if err != nil || !eq {
			return vm.False, err
		}
	}
	return vm.Bool(len(ours) == len(theirs)), nil
}

func orderedRepr(m *vm.Machine, d *vm.Dict, a vm.Args) (vm.Value, error) {
	name := m.ClassOf(a.Values[0]).Name()
	if d.Len() == 0 {
		return m.NewStr(name + "()"), nil
	}
	return m.ReprOnce(a.Values[0], "...", func() (string, error) {
		keys, values := m.DictItems(d)
		pairs := make([]vm.Value, len(keys))
		m.Alloc(88 * len(keys))
		// Paid: by DictItems, an element each, and by Repr, which goes through them all.
		for i := range keys {
			pairs[i] = m.NewTuple([]vm.Value{keys[i], values[i]})
		}
		s, err := m.Repr(m.NewList(pairs))
		if err != nil {
			return "", err
		}
		return name + "(" + s.String() + ")", nil
	})
}
