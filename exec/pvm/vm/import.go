package vm

// Modules: import.go finds one, library.go keeps those that were loaded before for every
// call, embed*.go has the exported names by which lib and sdk make and read values.

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// importModule returns the module of a dotted name, loading it and the packages
// that it is in at their first import.
func (m *Machine) importModule(name string) (*Module, error) {
	if m.loading != nil {
		m.loading.addImport(name)
	}
	if mod, ok := m.modules[name]; ok {
		return mod, nil
	}
	def, ok := m.rt.modules[name]
	if !ok {
		return nil, m.Raise(m.rt.classes.DeterminismError, "module '%s' cannot be imported: it is not part of the library", name)
	}
	if def.Kept && m.loading == nil {
		return m.importKept(def)
	}
	var parent *Module
	// Bounded: by the name of a module of the library.
	dot := strings.LastIndexByte(name, '.')
	if dot >= 0 {
		p, err := m.importModule(name[:dot])
		if err != nil {
			return nil, err
		}
		parent = p
	}
	if mod, ok := m.modules[name]; ok {
		return mod, nil
	}
	if err := m.Enter(); err != nil {
		return nil, err
	}
	var mod *Module
	var err error
	if m.loading != nil {
		mod, err = m.loading.runBody(m, def)
	} else {
		mod, err = def.Load(m)
	}
	m.Exit()
	if err != nil {
		return nil, err
	}
	if m.modules[name] != mod {
		m.modules[name] = mod
		m.loaded = append(m.loaded, mod)
	}
	if parent != nil {
		parent.dict.putStr(m, m.intern(name[dot+1:]), Value{ref: &mod.Object})
	}
	return mod, nil
}

// importOp executes the instructions of import statements.
func (m *Machine) importOp(f *frame, in code.Instr) error {
	regs := f.regs
	switch in.Op {
	case code.ImportName:
		name := f.unit.obj.Names[in.B]
		if err := m.mayImport(name); err != nil {
			return err
		}
		mod, err := m.importModule(name)
		if err != nil {
			return err
		}
		// Bounded: by the name of a module that there is.
		if top, _, dotted := strings.Cut(name, "."); dotted && in.C == 0 {
			mod = m.modules[top]
		}
		regs[in.A] = Value{ref: &mod.Object}
	case code.ImportFrom:
		v, err := m.importFrom(regs[in.B], f.unit.names[in.C])
		if err != nil {
			return err
		}
		regs[in.A] = v
	default:
		return m.importStar(f, regs[in.A])
	}
	return nil
}

// mayImport refuses programs what is internal to the library, and what their chain
// does not list.
func (m *Machine) mayImport(name string) error {
	if m.ofLibrary() {
		return nil
	}
	if internalName(name) {
		return m.Raise(m.rt.classes.DeterminismError, "module '%s' cannot be imported: it is not part of the library", name)
	}
	// Paid: by the error that takes the name, unless it is that of a module.
	top, _, _ := strings.Cut(name, ".")
	if _, known := m.rt.modules[name]; known && m.Imports != nil && !m.Imports[top] {
		return m.Raise(m.rt.classes.DeterminismError, "module '%s' cannot be imported: this chain does not list it", name)
	}
	return nil
}

func (m *Machine) importFrom(v Value, name *Str) (Value, error) {
	if mod, ok := v.module(); ok && internalName(name.s) && m.ofLibrary() {
		if x, ok := mod.dict.getStr(m, name); ok {
			return x, nil
		}
	}
	x, ok, err := m.LookupAttr(v, name)
	if ok || err != nil {
		return x, err
	}
	mod, isModule := v.module()
	if !isModule {
		return unbound, m.Raise(m.rt.classes.ImportError, "cannot import name '%s'", name.s)
	}
	full := mod.name + "." + name.s
	if _, ok := m.rt.modules[full]; ok {
		sub, err := m.importModule(full)
		if err != nil {
			return unbound, err
		}
		return Value{ref: &sub.Object}, nil
	}
	return unbound, m.Raise(m.rt.classes.ImportError, "cannot import name '%s' from '%s' (unknown location)", name.s, mod.name)
}

// importStar copies public names into the globals: those of __all__, or all
// without a leading underscore.
func (m *Machine) importStar(f *frame, v Value) error {
	mod, ok := v.module()
	if !ok {
		return m.Raise(m.rt.classes.ImportError, "from-import-* object has no __dict__")
	}
	if all, ok := mod.dict.getStr(m, m.intern("__all__")); ok {
		return m.Each(all, func(k Value) error {
			name, isStr := k.str()
			if !isStr {
				return m.Raise(m.rt.classes.TypeError, "Item in %s.__all__ must be str, not %s", mod.name, m.classOf(k).name)
			}
			x, err := m.GetAttr(v, name)
			if err == nil {
				err = m.setName(f, name, x)
			}
			return err
		})
	}
	return m.eachEntry(mod.dict, func(k, x Value) error {
		m.Charge(m.dyn.DictOp)
		name, isStr := k.str()
		// Bounded: by one byte.
		if !isStr || strings.HasPrefix(name.s, "_") {
			return nil
		}
		return m.setName(f, name, x)
	})
}
