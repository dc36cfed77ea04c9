package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// internalModule is _pvm: the natives behind the modules written in Python, each
// made when it is first imported. No program can import it; those that would let
// one escape refuse programs besides.
func internalModule() vm.ModuleDef {
	defs := make(map[string]vm.Def) // looked up, never iterated
	// Bounded: by four tables; once, when a runtime is made.
	for _, list := range [][]vm.Def{internalDefs[:], base64Defs[:], formatterDefs[:], cbor2Defs[:]} {
		// Bounded: by the tables; once, when a runtime is made.
		for _, d := range list {
			defs[d.Name] = d
		}
	}
	return vm.ModuleDef{Name: "_pvm", Kept: true, Load: func(m *vm.Machine) (*vm.Module, error) {
		mod := m.NewModule("_pvm")
		return mod.Define(m, def("__getattr__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			if err := m.LibraryOnly(); err != nil {
				return vm.None, err
			}
			name, _ := a.Values[0].Text()
			v, err := internalName(m, defs, name)
			if err == nil {
				mod.Set(m, name, v)
			}
			return v, err
		})), nil
	}}
}

// internalName makes what _pvm has under a name.
func internalName(m *vm.Machine, defs map[string]vm.Def, name string) (vm.Value, error) {
	switch name {
	case "deque":
		return dequeClass(m).Value(), nil
	case "defaultdict":
		return defaultDictClass(m).Value(), nil
	case "OrderedDict":
		return orderedDictClass(m).Value(), nil
	case "partial":
		return partialClass(m).Value(), nil
	case "cmp_to_key":
		return cmpToKey(m), nil
	case "lru_cache_wrapper":
		return lruCacheWrapper(m), nil
	case "binascii":
		return binasciiModule(m), nil
	}
	d, ok := defs[name]
	if !ok {
		return vm.None, m.RaiseText("AttributeError", "module '_pvm' has no attribute '"+name+"'")
	}
	switch name {
	case "abc_register", "abc_instancecheck", "abc_subclasscheck":
		// Bounded: by four characters.
		d.Name = strings.TrimPrefix(name, "abc_")
		return m.NewMethod(d), nil
	}
	return m.NewFunction(d), nil
}

// internalDefs are the functions of _pvm.
var internalDefs = [...]vm.Def{
	def("tuple_new", 2, 2, tupleNew),
	def("field_method", 4, 4, fieldMethod),
	def("field_init", 7, 7, fieldInit),
	def("caller", 0, 0, func(m *vm.Machine, _ vm.Args) (vm.Value, error) { return m.NewStr(m.Caller()), nil }),
	def("module_names", 1, 1, moduleNames),
	def("function_names", 1, 1, functionNames),
	def("loaded", 1, 1, loadedModule),
	def("remember", 2, 2, remember),
	def("evaluate", 2, 3, evaluateText),
	def("identity", 1, 1, identityKey),
	def("same", 2, 2, func(_ *vm.Machine, a vm.Args) (vm.Value, error) { return vm.Bool(a.Values[0].Same(a.Values[1])), nil }),
	def("own", 2, 3, ownAttribute),
	def("subclasses", 1, 1, subclasses),
	def("new_class", 4, 4, newClass),
	def("repr_guard", 1, 1, reprGuard),
	def("tuplegetter", 3, 3, tupleGetter),
	def("is_identifier", 1, 1, isIdentifier),
	def("is_keyword", 1, 1, isKeyword),
	def("count_elements", 2, 2, countElements),
	def("reduce", 2, 3, reduce),
	def("abc_nested", 0, 0, abcNested),
	def("abc_token", 0, 0, abcToken),
	def("abc_update", 1, 1, abcUpdate),
	def("abc_methods", 1, -1, abcMethods),
	keyworded(def("abc_new", 4, -1, abcNew)),
	def("abc_register", 2, 2, abcRegister),
	def("abc_instancecheck", 2, 2, abcInstanceCheck),
	def("abc_subclasscheck", 2, 2, abcSubclassCheck),
}

// ownAttribute is cls.__dict__.get(name, default) without the copy.
func ownAttribute(m *vm.Machine, a vm.Args) (vm.Value, error) {
	c, ok := a.Values[0].Class()
	name, isText := a.Values[1].Text()
	if !ok || !isText {
		return vm.None, m.TypeError("own() takes a class and a name")
	}
	m.Charge(m.Prices().DictOp)
	if v, ok := c.Own(name); ok && v.Bound() {
		return v, nil
	}
	return orNone(a, 2), nil
}

// keyworded is a native that takes keywords itself.
func keyworded(d vm.Def) vm.Def {
	d.Keywords = true
	return d
}

// moduleNames answers the names of a module, as programs see them.
func moduleNames(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if err := m.LibraryOnly(); err != nil {
		return vm.None, err
	}
	name, _ := a.Values[0].Text()
	v, _ := m.ModuleNames(name)
	return v, nil
}

// loadedModule answers a module that the machine has loaded, or None.
func loadedModule(m *vm.Machine, a vm.Args) (vm.Value, error) {
	name, _ := a.Values[0].Text()
	v, _ := m.LoadedModule(name)
	return v, nil
}

// remember binds a public name in the module that calls.
func remember(m *vm.Machine, a vm.Args) (vm.Value, error) {
	name, _ := a.Values[0].Text()
	return vm.None, m.RememberName(name, a.Values[1])
}

// functionNames answers the global names of a function, as programs see them.
func functionNames(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if err := m.LibraryOnly(); err != nil {
		return vm.None, err
	}
	v, _ := m.GlobalNames(a.Values[0])
	return v, nil
}

// identityKey returns a key for a table by identity, a wrapper that is equal only
// for the same object.
func identityKey(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if err := m.LibraryOnly(); err != nil {
		return vm.None, err
	}
	return vm.SmallInt(m.IdentityHash(a.Values[0])), nil
}

func subclasses(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if err := m.LibraryOnly(); err != nil {
		return vm.None, err
	}
	var out []vm.Value
	if c, ok := a.Values[0].Class(); ok {
		elements(m, len(c.Subclasses()))
		// Paid: by the elements above.
		for _, s := range c.Subclasses() {
			out = append(out, s.Value())
		}
	}
	return m.NewList(out), nil
}

// newClass is types.new_class(name, bases, {}, body.update), for a class of the
// module named last.
func newClass(m *vm.Machine, a vm.Args) (vm.Value, error) {
	if err := m.LibraryOnly(); err != nil {
		return vm.None, err
	}
	return m.NewProgramClass(a.Values[0], a.Values[1], a.Values[2], a.Values[3])
}

// reprGuard wraps __repr__ so that an object inside itself prints as "...".
func reprGuard(m *vm.Machine, a vm.Args) (vm.Value, error) {
	fn := a.Values[0]
	return m.Wrap(fn, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		if len(a.Values) != 1 || len(a.Names) != 0 {
			return m.CallArgs(fn, a)
		}
		var out vm.Value
		text, err := m.ReprOnce(a.Values[0], "...", func() (string, error) {
			v, err := m.Call(fn, a.Values[0])
			out = v
			if err != nil {
				return "", err
			}
			s, _ := v.Text()
			return s, nil
		})
		if err == nil && out.Bound() && out.Kind() != vm.KindStr {
			return out, nil
		}
		return text, err
	}), nil
}

// tupleGetter is the attribute of a named tuple: name, index, doc.
func tupleGetter(m *vm.Machine, a vm.Args) (vm.Value, error) {
	name, _ := a.Values[0].Text()
	at, _ := a.Values[1].Int64()
	return m.NewMember(name, m.Builtin("tuple"), func(m *vm.Machine, v vm.Value) (vm.Value, error) {
		items, _ := v.Items()
		if at >= int64(len(items)) {
			return vm.None, m.RaiseText("IndexError", "tuple index out of range")
		}
		return items[at], nil
	}, a.Values[2]), nil
}

func isIdentifier(m *vm.Machine, a vm.Args) (vm.Value, error) {
	s, ok := a.Values[0].Text()
	chars(m, len(s))
	return vm.Bool(ok && vm.Identifier(s)), nil
}

// reserved are the words that are no names.
const reserved = " False None True and as assert async await break class continue def del elif else except finally " +
	"for from global if import in is lambda nonlocal not or pass raise return try while with yield "

func isKeyword(m *vm.Machine, a vm.Args) (vm.Value, error) {
	s, ok := a.Values[0].Text()
	return vm.Bool(ok && keyword(s)), nil
}

func keyword(s string) bool {
	const longest = len("continue")
	// Bounded: by the letters of the longest keyword, and by those of all.
	return s != "" && len(s) <= longest && !strings.Contains(s, " ") && strings.Contains(reserved, " "+s+" ")
}

// countElements adds one to the count of each item: the loop of Counter.
func countElements(m *vm.Machine, a vm.Args) (vm.Value, error) {
	d, ok := a.Values[0].Dict()
	if !ok {
		return vm.None, m.TypeError("first argument must be a dict")
	}
	get, _ := m.ClassOf(a.Values[0]).Lookup(m, "get")
	set, _ := m.ClassOf(a.Values[0]).Lookup(m, "__setitem__")
	plain := m.Builtin("dict")
	plainGet, _ := plain.Lookup(m, "get")
	plainSet, _ := plain.Lookup(m, "__setitem__")
	one := vm.SmallInt(1)
	fast := get.Same(plainGet) && set.Same(plainSet)
	return vm.None, m.Each(a.Values[1], func(k vm.Value) error {
		m.ChargeEach(2, m.Prices().DictOp)
		if fast {
			n, ok, err := m.DictGet(d, k)
			if err != nil {
				return err
			}
			if !ok {
				return m.DictPut(d, k, one)
			}
			if n, err = m.Binary(vm.OpAdd, n, one); err != nil {
				return err
			}
			return m.DictPut(d, k, n)
		}
		n, err := m.Call(get, a.Values[0], k, vm.SmallInt(0))
		if err != nil {
			return err
		}
		if n, err = m.Binary(vm.OpAdd, n, one); err != nil {
			return err
		}
		return m.SetItem(a.Values[0], k, n)
	})
}
