package vm

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// LibraryFile begins the file names of code objects that belong to the library.
// They may import internal modules, whose names begin with an underscore, and
// read the internal names of library modules; no program can.
const LibraryFile = "<library "

// mainModule is the name of the program's own module.
const mainModule = "__main__"

// publicNames is __dict__ of a module of the library: a proxy of what a program
// may see.
func (m *Machine) publicNames(mod *Module) Value {
	if internalName(mod.name) {
		return m.newMappingProxy(m.newDict().val())
	}
	return m.publicOf(mod.dict)
}

// publicOf is a proxy of a copy of names without those of the library's own.
func (m *Machine) publicOf(names *Dict) Value {
	d := m.newDict()
	defer m.Release(m.Hold(d.val()))
	keys, values := m.dictItems(names)
	m.ChargeEach(len(keys), m.dyn.DictOp)
	d.table.reserve(m, len(keys))
	// Paid: by the line above.
	for i, k := range keys {
		if s, ok := k.str(); ok && !internalName(s.s) {
			d.putStr(m, s, values[i])
		}
	}
	return m.newMappingProxy(d.val())
}

// ofLibrary tells whether the running function is the library's. A native counts
// as the code that called it.
func (m *Machine) ofLibrary() bool {
	// Bounded: by the prefix.
	return m.frame != nil && strings.HasPrefix(m.frame.unit.obj.File, LibraryFile)
}

// LibraryOnly refuses a native to programs that found it.
func (m *Machine) LibraryOnly() error {
	if m.ofLibrary() {
		return nil
	}
	return m.Raise(m.rt.classes.DeterminismError, "this function is internal to the library")
}

// internalName tells names of library modules that only the library sees.
func internalName(name string) bool {
	// Bounded: by two bytes.
	return strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "__")
}

// LoadLibrary runs the body of a module of the library that is written in
// Python. The module is known while its body runs, so that modules may import
// each other as in Python.
func (m *Machine) LoadLibrary(name string, o *code.Object) (*Module, error) {
	mod := m.newModule(name)
	m.modules[name] = mod
	m.loaded = append(m.loaded, mod)
	_, err := m.RunBody(o, mod.dict, name)
	if err != nil {
		delete(m.modules, name)
	}
	return mod, err
}

// RunBody runs the body of a module over globals of the library's choice; name
// is the __module__ of what it defines.
func (m *Machine) RunBody(o *code.Object, globals *Dict, name string) (Value, error) {
	fn := m.newFunction(m.newUnit(o), globals)
	fn.module = m.nameOf(o, name).val()
	return m.Call(fn.value())
}

// ImportModule returns a module of the library, loading it at its first import.
func (m *Machine) ImportModule(name string) (*Module, error) { return m.importModule(name) }

// ModuleNames returns the names of a module that is loaded: the dict itself for
// the program's own, else a proxy of what programs may see.
func (m *Machine) ModuleNames(name string) (Value, bool) {
	mod, ok := m.modules[name]
	if !ok {
		return None, false
	}
	if mod.name == mainModule {
		return mod.dict.val(), true
	}
	return m.publicNames(mod), true
}

// LoadedModule returns a module of programs that is loaded.
func (m *Machine) LoadedModule(name string) (Value, bool) {
	mod, ok := m.modules[name]
	if !ok || internalName(name) {
		return None, false
	}
	return Value{ref: &mod.Object}, true
}

// GlobalNames returns the global names that a function sees, of the library's
// functions and of generated ones only what programs may see.
func (m *Machine) GlobalNames(v Value) (Value, bool) {
	fn, ok := v.ref.self.(*Function)
	if !ok {
		return None, false
	}
	if main, ok := m.modules[mainModule]; ok && fn.globals == main.dict {
		return fn.globals.val(), true
	}
	return m.publicOf(fn.globals), true
}

// RememberName binds a public name in the library module whose function is
// running, so that its __getattr__ is asked for it once.
func (m *Machine) RememberName(name string, v Value) error {
	if err := m.LibraryOnly(); err != nil {
		return err
	}
	if !internalName(name) {
		m.Charge(m.dyn.DictOp)
		m.frame.fn.globals.putStr(m, m.intern(name), v)
	}
	return nil
}

// Caller returns the name of the module whose code is running: the first of the
// program's modules on the way out when the library's own are between.
func (m *Machine) Caller() string {
	name := m.intern("__name__")
	for f := m.frame; f != nil; f = f.back {
		m.Charge(m.dyn.DictOp)
		// Bounded: by the prefix.
		if strings.HasPrefix(f.unit.obj.File, LibraryFile) {
			continue
		}
		if v, ok := f.fn.globals.getStr(m, name); ok {
			s, _ := v.Text()
			return s
		}
	}
	return mainModule
}

// NewMethod makes a native that binds to its receiver when it is found on
// a class.
func (m *Machine) NewMethod(d Def) Value {
	n := newNative(d)
	n.method = true
	return n.value()
}

// Subclasses returns the direct subclasses that this machine made.
func (c *Class) Subclasses() []*Class { return c.subs }

// SetOwn writes into the class's own namespace, past its metaclass.
func (m *Machine) SetOwn(c *Class, name string, v Value) {
	m.touch(&c.Object)
	c.names.put(name, v)
	m.changed(c)
}

// EachOwn visits the attributes of the class's own namespace in order.
func (c *Class) EachOwn(visit func(name string, v Value)) {
	// Paid: by who visits.
	for i, key := range c.names.keys {
		if key != "" {
			visit(key, c.names.values[i])
		}
	}
}

// Frozen tells whether the class is one of the runtime.
func (c *Class) Frozen() bool { return c.builtin }

// Interned returns the one string object of this text in the machine.
func (m *Machine) Interned(s string) *Str { return m.intern(s) }

// Bases returns the class's bases.
func (c *Class) Bases() []*Class { return c.bases }

// IdentityHash returns a number of the object that no other object of this
// machine has, for as long as both live. Ints, floats and strings have none of
// their own.
func (m *Machine) IdentityHash(v Value) int64 { return m.identityHash(v) }

// NewProgramClass makes a class as a class statement does, whose body left the
// names in ns behind.
func (m *Machine) NewProgramClass(name, bases, ns, module Value) (Value, error) {
	orig, _ := bases.Items()
	resolved, changed, err := m.resolveBases(orig)
	if err != nil {
		return unbound, err
	}
	meta, _, _, err := m.metaclassOf(Args{}, resolved)
	if err != nil {
		return unbound, err
	}
	basesTuple := m.NewTuple(resolved)
	defer m.Release(m.Hold(basesTuple))
	space, err := m.prepare(meta, name, basesTuple, nil, nil)
	if err != nil {
		return unbound, err
	}
	m.Hold(space)
	if err := m.SetItem(space, m.Interned("__module__").val(), module); err != nil {
		return unbound, err
	}
	names, _ := ns.Dict()
	keys, values := m.dictItems(names)
	// Paid: by dictItems, an element each, and by what makes a class of the names.
	for i, k := range keys {
		if err := m.SetItem(space, k, values[i]); err != nil {
			return unbound, err
		}
	}
	if changed {
		if err := m.SetItem(space, m.Interned("__orig_bases__").val(), m.NewTuple(orig)); err != nil {
			return unbound, err
		}
	}
	return m.Call(meta, name, basesTuple, space)
}

// Wrap makes a method that stands for fn, which stays alive with it.
func (m *Machine) Wrap(fn Value, call NativeFunc) Value {
	name := "wrapper"
	if f, ok := fn.ref.self.(*Function); ok {
		name = f.name.s
	}
	n := newNative(Def{Name: name, Min: 0, Max: -1, Keywords: true, Fn: call})
	n.method, n.keeps = true, fn
	m.Alloc(nativeBytes)
	return n.value()
}

// RaiseText raises a builtin exception with a fixed text.
func (m *Machine) RaiseText(class, text string) error {
	return m.RaiseValue(m.Builtin(class), m.NewStr(text))
}

// Identifier tells whether name could be a variable.
func Identifier(name string) bool { return identifier(name) }

// BuiltinName returns what a name means where no module binds it.
func (m *Machine) BuiltinName(name string) (Value, bool) { return m.rt.builtins.get(name) }

// SyntaxError raises one with a fixed text.
func (m *Machine) SyntaxError(text string) error {
	return m.RaiseValue(m.rt.classes.SyntaxError, m.NewStr(text))
}

// BindMethod makes a bound method.
func (m *Machine) BindMethod(fn, recv Value) Value { return m.newMethod(fn, recv) }
