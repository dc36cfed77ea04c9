package vm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrLibrary is wrapped when the modules that machines keep cannot be loaded.
var ErrLibrary = errors.New("library of the Python machine")

// library is what a runtime knows of the modules that its machines keep. A
// runtime finds it out by loading them once; every machine that loads them
// comes to the same.
type library struct {
	kept    []ModuleDef
	entries map[string]*entry // looked up, never iterated
	start   counters          // of a machine before its first instruction
}

// entry is what the import of a kept module means to a call.
type entry struct {
	needs []string // imported by its body, in order, and the package that it is in
	binds bool     // its import makes it an attribute of its package, whose own does not
}

// counters are those that go on from the library's objects to a program's.
type counters struct {
	versions, orders uint32
	shapes           int
	registrations    uint64
}

// loading is what a machine notes while it loads the library.
type loading struct {
	entries map[string]*entry
	into    *entry   // whose body runs
	made    []*Class // by natives, which may hold them where nobody sees them
}

// addImport adds a module to what the running body needs.
func (l *loading) addImport(name string) {
	// Bounded: by the source of the library, once when a machine loads it.
	if l.into != nil && !slices.Contains(l.into.needs, name) {
		l.into.needs = append(l.into.needs, name)
	}
}

// runBody runs a body and notes what it imports.
func (l *loading) runBody(m *Machine, def ModuleDef) (*Module, error) {
	if !def.Kept {
		return nil, fmt.Errorf("%w: %s is imported by a kept module, but not kept itself", ErrLibrary, def.Name)
	}
	e := &entry{}
	l.entries[def.Name] = e
	// Bounded: by the source of the library, once when a machine loads it.
	if dot := strings.LastIndexByte(def.Name, '.'); dot >= 0 {
		e.needs = append(e.needs, def.Name[:dot])
	}
	outer := l.into
	l.into = e
	mod, err := def.Load(m)
	l.into = outer
	return mod, err
}

// loadLibrary loads the kept modules once, to know what they import and where the
// counters of machines begin.
func (rt *Runtime) loadLibrary(defs []ModuleDef) error {
	// Bounded: by the source, once when the runtime is made.
	for _, def := range defs {
		if def.Kept {
			rt.library.kept = append(rt.library.kept, def)
		}
	}
	rt.library.start.orders = rt.orders
	m, err := rt.loadedMachine()
	if err != nil {
		return err
	}
	rt.library.entries = m.loading.entries
	rt.library.start = counters{versions: m.versions, orders: m.orders, shapes: m.shapes, registrations: m.Registrations}
	return nil
}

// loadedMachine is a machine that has loaded the kept modules and nothing else.
// Everything in them counts as kept.
func (rt *Runtime) loadedMachine() (*Machine, error) {
	m := rt.NewMachine()
	m.loading = &loading{entries: make(map[string]*entry)}
	m.versions, m.orders, m.shapes, m.Registrations = 0, rt.orders, 0, 0
	m.heap.threshold = 1 << 62 // the library is no program's to pay for
	res, err := m.Do(1<<50, func(m *Machine) (Value, error) {
		// Bounded: by the source of the library, once when a machine loads it.
		for _, def := range rt.library.kept {
			if _, err := m.importModule(def.Name); err != nil {
				return None, err
			}
		}
		return None, nil
	})
	if err == nil && res.Raised != nil {
		err = fmt.Errorf("%w: %s", ErrLibrary, res.Traceback)
	}
	if err != nil {
		return m, err
	}
	// Bounded: by the source of the library, once when a machine loads it.
	for _, def := range rt.library.kept {
		m.unbind(def.Name)
	}
	return m, m.markKept()
}

// unbind takes a module that the import of its package alone does not load out of
// the package's attributes.
func (m *Machine) unbind(name string) {
	// Bounded: by the source of the library, once when a machine loads it.
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || m.loading.reaches(name[:dot], name, make(map[string]bool)) {
		return
	}
	m.loading.entries[name].binds = true
	t := &m.modules[name[:dot]].dict.table
	key := m.intern(name[dot+1:])
	if i := t.findStr(m, key, m.strHash(key)); i >= 0 {
		t.remove(m, i)
	}
}

// reaches tells whether the import of from imports name.
func (l *loading) reaches(from, name string, met map[string]bool) bool {
	if from == name || met[from] {
		return from == name
	}
	met[from] = true
	// Bounded: by the source of the library, once when a machine loads it.
	return slices.ContainsFunc(l.entries[from].needs, func(n string) bool { return l.reaches(n, name, met) })
}

// Library returns a kept module whether or not it was imported, nil when there is
// none of that name.
func (m *Machine) Library(name string) *Module {
	if m.loading != nil {
		return m.modules[name]
	}
	if m.kept == nil {
		m.loadKept()
	}
	return m.kept[name]
}

// loadKept loads the kept modules for this and all later calls. That is the
// host's work: no call sees whether it was done in it.
func (m *Machine) loadKept() {
	from, err := m.rt.loadedMachine()
	if err != nil {
		panic(&Abort{Code: Internal, Detail: err.Error()})
	}
	m.kept = from.modules
}

// importKept imports a kept module and what its body imports. The price is the same
// in every call.
func (m *Machine) importKept(def ModuleDef) (*Module, error) {
	if mod, ok := m.modules[def.Name]; ok {
		return mod, nil
	}
	if err := m.Enter(); err != nil {
		return nil, err
	}
	defer m.Exit()
	if def.Admit != nil {
		if err := def.Admit(m); err != nil {
			return nil, err
		}
	}
	mod := m.Library(def.Name)
	e := m.rt.library.entries[def.Name]
	m.Charge(m.Work().Import)
	m.modules[def.Name] = mod
	// Paid: by Import for each, once a call.
	for _, name := range e.needs {
		if _, err := m.importKept(m.rt.modules[name]); err != nil {
			delete(m.modules, def.Name)
			return nil, err
		}
	}
	if e.binds {
		// Bounded: by the name of a module of the library.
		dot := strings.LastIndexByte(def.Name, '.')
		m.modules[def.Name[:dot]].dict.putStr(m, m.intern(def.Name[dot+1:]), Value{ref: &mod.Object})
	}
	return mod, nil
}

// markKept marks everything that the loaded modules hold. Measurements do not visit
// it, its identity is fixed, and what a call changes of it is noted so that
// Reset can take it back.
func (m *Machine) markKept() error {
	t := &tracer{epoch: kept}
	t.visit = t.push
	// Bounded: by the source of the library, once when a machine loads it.
	for _, mod := range m.loaded {
		t.push(Value{ref: &mod.Object})
	}
	// Bounded: by the source of the library, once when a machine loads it.
	for _, c := range m.loading.made {
		t.push(c.value())
	}
	// Bounded: by the source of the library, once when a machine loads it.
	for len(t.queue) > 0 {
		v := t.queue[len(t.queue)-1]
		t.queue = t.queue[:len(t.queue)-1]
		if v.ref.order == 0 {
			m.orders++
			v.ref.order = m.orders
		}
		t.scan(v.ref)
		if a := v.ref.attrs; a != nil {
			a.kept = true
			t.attrs(a)
			t.keepShapes(a.shape)
		}
		if err := m.keepPart(t, v.ref.self); err != nil {
			return err
		}
	}
	return nil
}

// keepPart prepares an object for keeping by its kind.
func (m *Machine) keepPart(t *tracer, self any) error {
	switch x := self.(type) {
	case *Class:
		if x.shape == nil {
			x.shape = &shape{}
		}
		t.keepShapes(x.shape)
		x.found, x.foundText, x.foundAt = nil, 0, 0 // a kept class remembers nothing, and is measured as such when a call changes it
		// Bounded: by the source of the library, once when a machine loads it.
		for _, s := range x.subs {
			t.push(s.value())
		}
	case *Function:
		t.push(x.name.val())
		t.push(x.qualName.val())
		m.keepUnit(t, x.unit)
	case *Dict:
		x.table.kept = true
	case *Set:
		x.table.kept = true
	case *Instance:
		x.Attrs.kept = true
		t.keepShapes(x.Attrs.shape)
	case *Foreign:
		switch p := x.Payload.(type) {
		case *alias, *union, Keeper:
		default:
			return fmt.Errorf("%w: a %T cannot be kept", ErrLibrary, p)
		}
	case *Str, *Bytes, *Int, *Float, *Tuple, *List, *Cell, *Native, *Method, *Module, *Range, *Slice,
		*StaticMethod, *ClassMethod, *Property, *MappingProxy, *Member:
	default:
		return fmt.Errorf("%w: a %T cannot be kept", ErrLibrary, x)
	}
	return nil
}

// keepUnit makes the code of a function ready with all within, so that no call
// announces memory for it.
func (m *Machine) keepUnit(t *tracer, u *unit) {
	if u.kept {
		return
	}
	u.kept = true
	t.pushAll(u.consts)
	// Bounded: by the source of the library, once when a machine loads it.
	for _, names := range [][]*Str{u.names, m.freeNames(u)} {
		// Bounded: by the source of the library, once when a machine loads it.
		for _, s := range names {
			t.push(s.val())
		}
	}
	// Bounded: by the source of the library, once when a machine loads it.
	for i := range u.obj.Args + u.obj.KwOnly {
		t.push(m.paramName(u, i).val())
	}
	// Bounded: by the source of the library, once when a machine loads it.
	for i := range u.codes {
		m.keepUnit(t, m.child(u, i))
	}
}

// keepShapes marks the tree of shapes that s belongs to.
func (t *tracer) keepShapes(s *shape) {
	if s == nil || s.kept {
		return
	}
	// Bounded: by the source of the library, once when a machine loads it.
	for s.parent != nil {
		s = s.parent
	}
	// Bounded: by the source of the library, once when a machine loads it.
	for queue := []*shape{s}; len(queue) > 0; {
		k := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		k.kept = true
		// Bounded: by the source of the library, once when a machine loads it.
		for _, name := range k.names {
			t.push(name.val())
		}
		if k.first != nil {
			queue = append(queue, k.first)
		}
		// Bounded: by the source of the library, once when a machine loads it.
		for _, name := range slices.Sorted(maps.Keys(k.next)) {
			queue = append(queue, k.next[name])
		}
	}
}
