package vm

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// The names by which the library makes and reads values.

// NewStr returns a string; s is valid UTF-8.
func (m *Machine) NewStr(s string) Value { return m.newStr(s).val() }

// NewNormalStr returns the NFC form of a text in UTF-8, which it copies, as [Machine.NFC] does.
func (m *Machine) NewNormalStr(text []byte) Value { return m.newStr(m.NFC(m.copyText(text))).val() }

// CopyText is string(p), in room that short texts share.
func (m *Machine) CopyText(p []byte) string { return m.copyText(p) }

// Name returns a string object for use as an attribute name.
func (m *Machine) Name(s string) *Str { return m.newStr(s) }

// NewBytes returns bytes.
func (m *Machine) NewBytes(b string) Value { return Value{ref: &m.newBytes(b).Object} }

// NewInt returns an int of any size; n is not changed afterwards by anybody.
func (m *Machine) NewInt(n *big.Int) Value { return m.newInt(n) }

// NewTuple returns a tuple that takes items over.
func (m *Machine) NewTuple(items []Value) Value { return Value{ref: &m.newTuple(items).Object} }

// NewList returns a list that takes items over.
func (m *Machine) NewList(items []Value) Value { return Value{ref: &m.newList(items).Object} }

// NewDict returns an empty dict.
func (m *Machine) NewDict() *Dict { return m.newDict() }

// Value returns the dict as a value.
func (d *Dict) Value() Value { return Value{ref: &d.Object} }

// DictGet looks a key up; it may call Python code.
func (m *Machine) DictGet(d *Dict, key Value) (Value, bool, error) { return m.dictGet(d, key) }

// DictPut stores under a key; it may call Python code.
func (m *Machine) DictPut(d *Dict, key, v Value) error { return m.dictPut(d, key, v) }

// DictItems returns what the dict holds now, in order. The caller charges for it.
func (m *Machine) DictItems(d *Dict) (keys, values []Value) { return m.dictItems(d) }

// DictPairs is DictItems as tuples of key and value.
func (m *Machine) DictPairs(d *Dict) []Value { return m.dictPairs(d) }

// Text returns the text of a str or of an instance of a subclass.
func (v Value) Text() (string, bool) {
	s, ok := v.str()
	if !ok {
		return "", false
	}
	return s.s, true
}

// StrObject returns v as a string object.
func (v Value) StrObject() (*Str, bool) { return v.str() }

// String returns the text.
func (s *Str) String() string { return s.s }

// Value returns the string as a value.
func (s *Str) Value() Value { return s.val() }

// Runes returns the number of code points.
func (s *Str) Runes() int { return s.points() }

// BytesText returns the content of bytes or bytearray, and charges for the copy that
// the latter takes.
func (m *Machine) BytesText(v Value) (string, bool) { return m.bytesOf(v) }

// IsBytes tells whether v is bytes or a bytearray.
func (v Value) IsBytes() bool { return v.isBytes() }

// BytesLen is the length of bytes or a bytearray, 0 of anything else.
func (v Value) BytesLen() int { return v.bytesLen() }

// BytesPart is what bytes or a bytearray hold from one place to another, both within
// them: of a bytearray no more is copied.
func (v Value) BytesPart(from, to int) string {
	switch o := v.Self().(type) {
	case *Bytes:
		return o.b[from:to]
	case *ByteArray:
		return string(o.b[from:to])
	}
	return ""
}

// Int64 returns an int or bool of at most 64 bits.
func (v Value) Int64() (int64, bool) {
	switch {
	case v.ref == &intTag, v.ref == &boolTag:
		return int64(v.bits), true
	}
	n, ok := v.BigInt()
	if !ok || !n.IsInt64() {
		return 0, false
	}
	return n.Int64(), true
}

// BigInt returns an int or bool; the number is not to be changed.
func (v Value) BigInt() (*big.Int, bool) {
	switch {
	case v.ref == &intTag, v.ref == &boolTag:
		return big.NewInt(int64(v.bits)), true
	case v.ref == nil:
		return nil, false
	}
	o, ok := v.ref.self.(*Int)
	if !ok {
		return nil, false
	}
	return o.big, true
}

// FloatEncoding returns the binary64 encoding of a float.
func (v Value) FloatEncoding() (uint64, bool) {
	if v.ref == &floatTag {
		return v.bits, true
	}
	if v.ref == nil {
		return 0, false
	}
	o, ok := v.ref.self.(*Float)
	if !ok {
		return 0, false
	}
	return o.bits, true
}

// Items returns the items of a tuple or list as they are now; the slice belongs
// to the object.
func (v Value) Items() ([]Value, bool) {
	if v.ref == nil {
		return nil, false
	}
	switch o := v.ref.self.(type) {
	case *Tuple:
		return o.items, true
	case *List:
		return o.items, true
	}
	return nil, false
}

// Dict returns v as a dict.
func (v Value) Dict() (*Dict, bool) {
	if v.ref == nil {
		return nil, false
	}
	d, ok := v.ref.self.(*Dict)
	return d, ok
}

// Class returns v as a class.
func (v Value) Class() (*Class, bool) { return v.asClass() }

// Name returns the class's __name__.
func (c *Class) Name() string { return c.name }

// SubclassOf tells whether other is along the class's MRO.
func (c *Class) SubclassOf(other *Class) bool { return c.subclassOf(other) }

// Lookup finds an attribute along the MRO without binding it.
func (c *Class) Lookup(m *Machine, name string) (Value, bool) {
	v, _, ok := m.lookupMRO(c, name)
	return v, ok
}

// Own returns an attribute of the class's own namespace without binding it.
func (c *Class) Own(name string) (Value, bool) { return c.names.get(name) }

// MRO returns the method resolution order, the class first.
func (c *Class) MRO() []*Class { return c.mro }

// Builtin returns a builtin class by its name, nil when there is none.
func (m *Machine) Builtin(name string) *Class {
	v, _ := m.rt.builtins.get(name)
	c, _ := v.asClass()
	return c
}

// TypeName returns the name of v's class.
func (m *Machine) TypeName(v Value) string { return m.typeName(v) }

// TypeError raises one; format is a literal, as for Raise.
func (m *Machine) TypeError(format string, args ...any) error {
	return m.Raise(m.rt.classes.TypeError, format, args...)
}

// ValueError raises one; format is a literal, as for Raise.
func (m *Machine) ValueError(format string, args ...any) error {
	return m.Raise(m.rt.classes.ValueError, format, args...)
}

// IsRaised tells whether err is an exception of a builtin class or below it.
func (m *Machine) IsRaised(err error, builtin string) bool {
	c := m.Builtin(builtin)
	return c != nil && m.isRaised(err, c)
}

// NewModule makes a module of the library.
func (m *Machine) NewModule(name string) *Module {
	mod := &Module{name: name, dict: m.newDict()}
	mod.head(KindModule, nil, mod)
	mod.dict.putStr(m, m.newStr("__name__"), m.newStr(name).val())
	return mod
}

// Set gives the module an attribute.
func (mod *Module) Set(m *Machine, name string, v Value) *Module {
	mod.dict.putStr(m, m.newStr(name), v)
	return mod
}

// Get returns a name of the module.
func (mod *Module) Get(m *Machine, name string) (Value, bool) {
	return mod.dict.getStr(m, m.newStr(name))
}

// Define adds functions to the module.
func (mod *Module) Define(m *Machine, defs ...Def) *Module {
	// Bounded: by the source of a module of the library.
	for _, d := range defs {
		n := newNative(d)
		n.home = mod.name
		mod.Set(m, d.Name, n.value())
	}
	return mod
}

// NewFunction makes a builtin function, such as a closure of the library. roots
// of what fn captures are the caller's duty: a closure keeps values in
// a [Foreign] object instead.
func (m *Machine) NewFunction(d Def) Value { return newNative(d).value() }

// NewIterator makes a native iterator. next answers false when exhausted; roots
// visits what it keeps alive.
func (m *Machine) NewIterator(next func(m *Machine) (Value, bool, error), roots func(visit func(Value))) Value {
	m.Alloc(stepperBytes)
	it := &Iterator{next: next, roots: roots}
	return it.head(KindIterator, nil, it)
}

// NewExceptionClass makes an exception class for the library; bases are
// exception classes.
func (m *Machine) NewExceptionClass(module, name string, bases ...*Class) *Class {
	c := m.NewClass(module, name, bases...)
	c.layout, c.hasDict = KindException, true
	return c
}

// Dotted makes error messages name the class with its module, as they do for
// CPython's own classes in C.
func (c *Class) Dotted() *Class {
	c.dotted = true
	return c
}

// WithDict gives instances of a class of the library attributes of their own.
func (c *Class) WithDict() *Class {
	c.hasDict = true
	return c
}

// Prices returns what work that depends on sizes costs.
func (m *Machine) Prices() *code.Dynamic { return &m.dyn }

// Work returns how much work natives count where sizes do not tell. Nobody
// changes it.
func (m *Machine) Work() *code.Work { return &m.rt.costs.Work }

// Limits returns the limits of the runtime.
func (m *Machine) Limits() Limits { return m.rt.limits }

// Exception returns the exception that a Go error of this package carries.
func (r *Raised) Exception() *Exception { return r.Exc }

// Same is Python's identity.
func (v Value) Same(w Value) bool { return v.is(w) }

// MutableBytes returns the content of a bytearray; the slice belongs to the
// object and is valid until Python code runs.
func (v Value) MutableBytes() ([]byte, bool) {
	if v.ref == nil {
		return nil, false
	}
	b, ok := v.ref.self.(*ByteArray)
	if !ok {
		return nil, false
	}
	return b.b, true
}

// Throw makes the error that raises an exception instance or class of Python.
func (m *Machine) Throw(v Value) error {
	e, err := m.exceptionFrom(v)
	if err != nil {
		return err
	}
	return m.raise(e)
}

// Callable tells whether v can be called.
func (m *Machine) Callable(v Value) bool { return m.callable(v) }

// NewMappingProxy makes a read-only view of a mapping.
func (m *Machine) NewMappingProxy(mapping Value) Value { return m.newMappingProxy(mapping) }

// Sort sorts in place by <, stably, charging for comparisons.
func (m *Machine) Sort(items []Value) error { return m.sortValues(items) }

// Import imports a module by its dotted name.
func (m *Machine) Import(name string) (*Module, error) { return m.importModule(name) }

// Value returns the module as a value.
func (mod *Module) Value() Value { return Value{ref: &mod.Object} }
