package vm

import "strconv"

// Function is a function of the program.
type Function struct {
	Object
	unit     *unit
	globals  *Dict
	name     *Str
	qualName *Str
	doc      Value
	module   Value
	defaults []Value // of the last positional parameters
	kwDefs   *Dict   // may be nil
	notes    Value   // __annotations__, unbound until asked for
	closure  []*Cell
	plain    int // unit.plain
}

func (fn *Function) value() Value { return Value{ref: &fn.Object} }

// newFunction makes a function of u over the globals.
func (m *Machine) newFunction(u *unit, globals *Dict) *Function {
	m.Alloc(functionBytes)
	m.nameWork(len(u.obj.QualName) + len(u.obj.Doc))
	fn := &Function{unit: u, globals: globals, plain: u.plain, doc: None, module: None}
	fn.head(KindFunction, nil, fn)
	fn.name, fn.qualName = m.nameOf(u.obj, u.obj.Name), m.nameOf(u.obj, u.obj.QualName)
	if u.obj.HasDoc {
		fn.doc = Value{ref: &m.nameOf(u.obj, u.obj.Doc).Object}
	}
	return fn
}

// makeFunction is the instruction MakeFunction; at holds defaults, keyword
// defaults, annotations and cells.
func (m *Machine) makeFunction(f *frame, u *unit, at []Value) Value {
	fn := m.newFunction(u, f.fn.globals)
	fn.module = f.fn.module
	if at[0].Bound() {
		fn.defaults = at[0].ref.self.(*Tuple).items
	}
	if at[1].Bound() {
		fn.kwDefs = at[1].ref.self.(*Dict)
	}
	fn.notes = at[2]
	if at[3].Bound() {
		items := at[3].ref.self.(*Tuple).items
		m.Alloc(len(items) * cellRefBytes)
		fn.closure = make([]*Cell, len(items))
		// Paid: by the instructions that put each cell there.
		for i, c := range items {
			fn.closure[i] = c.ref.self.(*Cell)
		}
	}
	return fn.value()
}

// callerClass finds what super() without arguments means in the running frame: the
// class in the cell __class__ and the first argument.
func (m *Machine) callerClass() (*Class, Value, error) {
	f := m.frame
	if f == nil || f.unit.obj.Args == 0 && len(f.unit.obj.Locals) == 0 {
		return nil, unbound, m.Raise(m.rt.classes.RuntimeError, "super(): no arguments")
	}
	obj := f.regs[0]
	if obj.Kind() == KindCell {
		obj = obj.ref.self.(*Cell).v
	}
	if !obj.Bound() {
		return nil, unbound, m.Raise(m.rt.classes.RuntimeError, "super(): arg[0] deleted")
	}
	m.looked(int64(len(f.unit.obj.Free)))
	// Paid: by the line above.
	for i, name := range f.unit.obj.Free {
		if name != "__class__" || i >= len(f.fn.closure) {
			continue
		}
		v := f.fn.closure[i].v
		if !v.Bound() {
			return nil, unbound, m.Raise(m.rt.classes.RuntimeError, "super(): empty __class__ cell")
		}
		if v.Kind() != KindClass {
			return nil, unbound, m.Raise(m.rt.classes.RuntimeError, "super(): __class__ is not a type (%s)", m.classOf(v).name)
		}
		return v.ref.self.(*Class), obj, nil
	}
	return nil, unbound, m.Raise(m.rt.classes.RuntimeError, "super(): __class__ cell not found")
}

// defineFunctions builds the class of functions.
func (rt *Runtime) defineFunctions() {
	c := rt.newClass("function", KindFunction)
	c.hasDict, c.final = true, true
	rt.classes.function = c
	rt.buildClass = newNative(Def{Name: "__build_class__", Min: 2, Max: -1, Keywords: true, Fn: func(m *Machine, a Args) (Value, error) {
		return m.buildClass(a)
	}})
	rt.methods(c,
		Def{Name: "__get__", Min: 2, Max: 3, Fn: descriptorGet},
		Def{Name: "__call__", Min: 1, Max: -1, Keywords: true, Fn: func(m *Machine, a Args) (Value, error) {
			return m.CallArgs(a.Values[0], Args{Values: a.Values[1:], Names: a.Names})
		}},
	)
	self := func(v Value) *Function { return v.ref.self.(*Function) }
	text := func(name string, field func(*Function) **Str) {
		rt.getters(c, name, func(_ *Machine, v Value) (Value, error) {
			return Value{ref: &(*field(self(v))).Object}, nil
		}, func(m *Machine, v, x Value) error {
			s, ok := x.str()
			if !x.Bound() || !ok {
				return m.Raise(m.rt.classes.TypeError, "%s must be set to a string object", name)
			}
			m.touch(v.ref)
			*field(self(v)) = s
			return nil
		})
	}
	text("__name__", func(fn *Function) **Str { return &fn.name })
	text("__qualname__", func(fn *Function) **Str { return &fn.qualName })
	plain := func(name string, field func(*Function) *Value) {
		rt.getters(c, name, func(_ *Machine, v Value) (Value, error) {
			return *field(self(v)), nil
		}, func(m *Machine, v, x Value) error {
			if !x.Bound() {
				x = None
			}
			m.touch(v.ref)
			*field(self(v)) = x
			return nil
		})
	}
	plain("__doc__", func(fn *Function) *Value { return &fn.doc })
	plain("__module__", func(fn *Function) *Value { return &fn.module })
	rt.getters(c, "__defaults__", getDefaults, setDefaults)
	rt.getters(c, "__kwdefaults__", getKwDefaults, setKwDefaults)
	rt.getters(c, "__annotations__", getAnnotations, setAnnotations)
	rt.getters(c, "__closure__", func(m *Machine, v Value) (Value, error) {
		fn := self(v)
		if len(fn.closure) == 0 {
			return None, nil
		}
		m.Alloc(tupleBytes + len(fn.closure)*valueBytes)
		items := make([]Value, len(fn.closure))
		// Paid: by the memory announced above; there are 4,096 at most.
		for i, c := range fn.closure {
			items[i] = c.value()
		}
		return Value{ref: &m.newTuple(items).Object}, nil
	}, nil)
}

func getDefaults(m *Machine, v Value) (Value, error) {
	fn := v.ref.self.(*Function)
	if fn.defaults == nil {
		return None, nil
	}
	return Value{ref: &m.newTuple(fn.defaults).Object}, nil
}

func setDefaults(m *Machine, v, x Value) error {
	fn := v.ref.self.(*Function)
	if !x.Bound() || x.IsNone() {
		m.touch(v.ref)
		fn.defaults = nil
		return nil
	}
	t, ok := x.ref.self.(*Tuple)
	if !ok {
		return m.Raise(m.rt.classes.TypeError, "__defaults__ must be set to a tuple object")
	}
	m.touch(v.ref)
	fn.defaults = t.items
	return nil
}

func getKwDefaults(_ *Machine, v Value) (Value, error) {
	fn := v.ref.self.(*Function)
	if fn.kwDefs == nil {
		return None, nil
	}
	return Value{ref: &fn.kwDefs.Object}, nil
}

func setKwDefaults(m *Machine, v, x Value) error {
	fn := v.ref.self.(*Function)
	if !x.Bound() || x.IsNone() {
		m.touch(v.ref)
		fn.kwDefs = nil
		return nil
	}
	d, ok := x.ref.self.(*Dict)
	if !ok {
		return m.Raise(m.rt.classes.TypeError, "__kwdefaults__ must be set to a dict object")
	}
	m.touch(v.ref)
	fn.kwDefs = d
	return nil
}

func getAnnotations(m *Machine, v Value) (Value, error) {
	fn := v.ref.self.(*Function)
	if !fn.notes.Bound() {
		m.touch(v.ref)
		fn.notes = Value{ref: &m.newDict().Object}
	}
	return fn.notes, nil
}

func setAnnotations(m *Machine, v, x Value) error {
	fn := v.ref.self.(*Function)
	if !x.Bound() || x.IsNone() {
		m.touch(v.ref)
		fn.notes = unbound
		return nil
	}
	if _, ok := x.ref.self.(*Dict); !ok {
		return m.Raise(m.rt.classes.TypeError, "__annotations__ must be set to a dict object")
	}
	m.touch(v.ref)
	fn.notes = x
	return nil
}

func (c *Cell) value() Value { return Value{ref: &c.Object} }

// newCell makes a cell that holds v.
func (m *Machine) newCell(v Value) Value {
	m.Alloc(cellBytes)
	c := &Cell{v: v}
	return c.head(KindCell, nil, c)
}

// decimalText is n in decimal.
func decimalText(n int) string { return strconv.Itoa(n) }
