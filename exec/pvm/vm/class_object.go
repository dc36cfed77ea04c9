package vm

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/gate"
)

// forbiddenName tells names that no program may reach, however it spells them.
func forbiddenName(name string) bool { return gate.ForbiddenAttribute(name) }

// longName is how many bytes a name has that is looked up for the price of the
// instruction. A longer one is read whole by each table that it is looked for in, and no
// site remembers what was found, so that the charge is the same whatever a site knows.
const longName = 64

// forbidden is forbiddenName of an attribute about to be looked up, which a long name
// pays for.
func (m *Machine) forbidden(name *Str) bool {
	m.chargeName(name)
	return forbiddenName(name.s)
}

// nameWork charges for a name of n bytes that tables are about to read.
func (m *Machine) nameWork(n int) {
	if n > longName {
		m.ChargeEach(n/int(m.Work().KeyBytes), m.dyn.Char)
	}
}

// defineObject builds object, whose class the caller has made.
func (rt *Runtime) defineObject() {
	c := rt.classes.object
	rt.methods(c,
		Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: objectNew},
		Def{Name: "__init__", Min: 1, Max: -1, Keywords: true, Fn: objectInit},
		Def{Name: "__getattribute__", Min: 2, Max: 2, Fn: objectGetattribute},
		Def{Name: "__setattr__", Min: 3, Max: 3, Fn: notOnClasses("__setattr__")},
		Def{Name: "__delattr__", Min: 2, Max: 2, Fn: notOnClasses("__delattr__")},
		Def{Name: "__repr__", Min: 1, Max: 1, Fn: objectRepr},
		Def{Name: "__str__", Min: 1, Max: 1, Fn: objectStr},
		Def{Name: "__format__", Min: 2, Max: 2, Fn: objectFormat},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: objectHash},
		Def{Name: "__eq__", Min: 2, Max: 2, Fn: objectEq},
		Def{Name: "__ne__", Min: 2, Max: 2, Fn: objectNe},
		Def{Name: "__lt__", Min: 2, Max: 2, Fn: notImplemented},
		Def{Name: "__le__", Min: 2, Max: 2, Fn: notImplemented},
		Def{Name: "__gt__", Min: 2, Max: 2, Fn: notImplemented},
		Def{Name: "__ge__", Min: 2, Max: 2, Fn: notImplemented},
		Def{Name: "__dir__", Min: 1, Max: 1, Fn: objectDir},
		Def{Name: "__init_subclass__", Min: 1, Max: 1, Fn: ignoreInit},
	)
	rt.classMethods(c, Def{Name: "__subclasshook__", Min: 1, Max: -1, Fn: notImplemented})
	rt.getters(c, "__class__", func(m *Machine, v Value) (Value, error) { return m.classOf(v).value(), nil }, setClass)
	rt.getters(c, "__doc__", func(*Machine, Value) (Value, error) { return None, nil }, nil)
	rt.getters(c, "__dict__", instanceDict, setInstanceDict)
	hash, _ := c.names.get("__hash__")
	rt.objectHash = hash.ref.self.(*Native)
	init, _ := c.names.get("__init__")
	rt.objectInit = init.ref.self.(*Native)
}

func notImplemented(*Machine, Args) (Value, error) { return NotImplemented, nil }

// objectNew is object.__new__: a bare instance of the class.
func objectNew(m *Machine, a Args) (Value, error) {
	c, ok := a.Values[0].asClass()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "object.__new__(X): X is not a type object (%s)", m.typeName(a.Values[0]))
	}
	if c.layout != KindInstance {
		return unbound, m.Raise(m.rt.classes.TypeError, "object.__new__(%s) is not safe, use %s.__new__()", c.name, c.name)
	}
	if len(a.Values) > 1 {
		if !m.isObjects(c, spNew) {
			return unbound, m.Raise(m.rt.classes.TypeError, "object.__new__() takes exactly one argument (the type to instantiate)")
		}
		if m.isObjects(c, spInit) {
			return unbound, m.Raise(m.rt.classes.TypeError, "%s() takes no arguments", c.name)
		}
	}
	if err := m.checkAbstract(c); err != nil {
		return unbound, err
	}
	return m.newInstance(c), nil
}

// isObjects tells whether the class takes a special method from object.
func (m *Machine) isObjects(c *Class, sp special) bool {
	return c.sp(sp) == m.rt.classes.object.sp(sp)
}

// roomyInstance is an instance with room for a few attributes beside it, which
// spares an allocation where instances of the class were seen to need it.
type roomyInstance struct {
	Instance
	room [roomFields]Value
}

// narrowInstance is one for a class whose instances need less room.
type narrowInstance struct {
	Instance
	room [narrowFields]Value
}

const (
	roomFields   = 4
	narrowFields = 2
)

// newInstance makes a bare instance of a class over object.
func (m *Machine) newInstance(c *Class) Value {
	m.Alloc(instanceBytes + len(c.slots)*valueBytes)
	var o *Instance
	switch {
	case c.fields > 0 && c.fields <= narrowFields:
		r := &narrowInstance{}
		o = &r.Instance
		o.values = r.room[:0:narrowFields]
	case c.fields > 0 && c.fields <= roomFields:
		r := &roomyInstance{}
		o = &r.Instance
		o.values = r.room[:0:roomFields]
	default:
		o = &Instance{}
	}
	v := o.head(KindInstance, c, o)
	if c.hasDict {
		o.Object.attrs = &o.Attrs
	}
	if len(c.slots) > 0 {
		m.chargeMake(len(c.slots))
		o.slots = make([]Value, len(c.slots))
	}
	return v
}

// checkAbstract refuses instances of classes with abstract methods.
func (m *Machine) checkAbstract(c *Class) error {
	if c.builtin {
		return nil
	}
	abstract, _, ok := m.lookupMRO(c, "__abstractmethods__")
	if !ok {
		return nil
	}
	items, err := m.Collect(abstract)
	if err != nil || len(items) == 0 {
		return err
	}
	list := m.newList(items)
	if err := m.sortValues(list.items); err != nil {
		return err
	}
	names, plural := make([]string, len(list.items)), ""
	for i, item := range list.items {
		names[i] = nameText(item)
		m.ChargeEach(len(names[i]), m.dyn.Char)
	}
	if len(names) > 1 {
		plural = "s"
	}
	// Paid: by the charge for each name above.
	text := strings.Join(names, ", ")
	return m.Raise(m.rt.classes.TypeError, "Can't instantiate abstract class %s with abstract method%s %s", c.name, plural, text)
}

func objectInit(m *Machine, a Args) (Value, error) {
	if len(a.Values) > 1 {
		c := m.classOf(a.Values[0])
		if !m.isObjects(c, spInit) {
			return unbound, m.Raise(m.rt.classes.TypeError, "object.__init__() takes exactly one argument (the instance to initialize)")
		}
		if m.isObjects(c, spNew) {
			return unbound, m.Raise(m.rt.classes.TypeError, "%s.__init__() takes exactly one argument (the instance to initialize)", c.name)
		}
	}
	return None, nil
}

func objectGetattribute(m *Machine, a Args) (Value, error) {
	name, ok := a.Values[1].str()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "attribute name must be string, not '%s'", m.typeName(a.Values[1]))
	}
	if m.forbidden(name) {
		return unbound, m.Raise(m.rt.classes.DeterminismError, "attribute '%s' is forbidden", name.s)
	}
	v := a.Values[0]
	r, found, err := m.plainGet(v, m.classOf(v), name)
	if err == nil && !found {
		err = m.noAttribute(v, name)
	}
	return r, err
}

// notOnClasses is __setattr__ and __delattr__ of object, which classes of the
// program may not use to get past those of their metaclass.
func notOnClasses(name string) NativeFunc {
	return func(m *Machine, a Args) (Value, error) {
		if a.Values[0].isClass() {
			return unbound, m.Raise(m.rt.classes.TypeError, "can't apply this %s to %s object", name, m.typeName(a.Values[0]))
		}
		return objectSetattr(m, a)
	}
}

func objectSetattr(m *Machine, a Args) (Value, error) {
	name, ok := a.Values[1].str()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "attribute name must be string, not '%s'", m.typeName(a.Values[1]))
	}
	if m.forbidden(name) {
		return unbound, m.Raise(m.rt.classes.DeterminismError, "attribute '%s' is forbidden", name.s)
	}
	x := unbound
	if len(a.Values) == 3 {
		x = a.Values[2]
	}
	v := a.Values[0]
	return None, m.plainSet(v, m.classOf(v), name, x)
}

func objectRepr(m *Machine, a Args) (Value, error) {
	s, ok, err := m.plainRepr(a.Values[0])
	if err != nil {
		return unbound, err
	}
	if ok {
		return s.val(), nil
	}
	return m.newStr(m.objectText(a.Values[0])).val(), nil
}

func objectStr(m *Machine, a Args) (Value, error) {
	s, err := m.Repr(a.Values[0])
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

func objectFormat(m *Machine, a Args) (Value, error) {
	spec, ok := a.Values[1].str()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "__format__() argument must be str, not %s", m.typeName(a.Values[1]))
	}
	if spec.s != "" {
		return unbound, m.Raise(m.rt.classes.TypeError, "unsupported format string passed to %s.__format__", m.typeName(a.Values[0]))
	}
	return m.strOf(a.Values[0])
}

func objectHash(m *Machine, a Args) (Value, error) { return SmallInt(m.identityHash(a.Values[0])), nil }

func objectEq(_ *Machine, a Args) (Value, error) {
	if a.Values[0].is(a.Values[1]) {
		return True, nil
	}
	return NotImplemented, nil
}

// objectNe is the opposite of __eq__, unless that is NotImplemented.
func objectNe(m *Machine, a Args) (Value, error) {
	r, ok, err := m.callSpecial(a.Values[0], spEq, a.Values[1])
	if err != nil || !ok || r == NotImplemented {
		return NotImplemented, err
	}
	t, err := m.Truth(r)
	return Bool(!t), err
}

// setClass is assignment to __class__, between classes of the program with equal
// layouts.
func setClass(m *Machine, v, x Value) error {
	if !x.Bound() {
		return m.Raise(m.rt.classes.TypeError, "can't delete __class__ attribute")
	}
	c, ok := x.asClass()
	if !ok {
		return m.Raise(m.rt.classes.TypeError, "__class__ must be set to a class, not '%s' object", m.typeName(x))
	}
	o, isInstance := v.ref.self.(*Instance)
	old := m.classOf(v)
	if !isInstance || c.builtin || old.builtin {
		return m.Raise(m.rt.classes.TypeError, "__class__ assignment only supported for mutable types or ModuleType subclasses")
	}
	if c.layout != old.layout || c.hasDict != old.hasDict || !m.layoutBelow(c, old) || !m.layoutBelow(old, c) {
		return m.Raise(m.rt.classes.TypeError, "__class__ assignment: '%s' object layout differs from '%s'", c.name, old.name)
	}
	if o.Object.attrs != nil {
		o.asDict(m)
	}
	m.touch(v.ref)
	v.ref.class = c
	return nil
}

// objectDir lists attribute names, sorted.
func objectDir(m *Machine, a Args) (Value, error) {
	v := a.Values[0]
	seen := m.newDict()
	c := m.classOf(v)
	if mod, ok := v.module(); ok {
		keys, _ := m.dictItems(mod.dict)
		return m.sortedNames(keys)
	}
	if k, ok := v.asClass(); ok {
		c = k
	}
	at := v.ref.attrs
	if b, ok := v.ref.self.(*Method); ok {
		at = b.fn.ref.attrs
	}
	if at != nil {
		keys, _ := m.dictItems(at.asDict(m))
		// Paid: by dictItems, an element each, and by the sort.
		for _, k := range keys {
			if name, ok := k.str(); ok {
				seen.putStr(m, name, None)
			}
		}
	}
	for _, k := range c.mro {
		m.ChargeEach(len(k.names.keys), m.dyn.Element)
		// Paid: by the line above, and for each name within.
		for _, key := range k.names.keys {
			if key != "" && !forbiddenName(key) {
				m.Charge(m.dyn.DictOp)
				m.looked(int64(len(key)))
				seen.putStr(m, m.newStr(key), None)
			}
		}
	}
	keys, _ := m.dictItems(seen)
	return m.sortedNames(keys)
}

func (m *Machine) sortedNames(keys []Value) (Value, error) {
	l := m.newList(append([]Value(nil), keys...))
	err := m.sortValues(l.items)
	return Value{ref: &l.Object}, err
}

// instanceDict is __dict__ of everything but classes and modules.
func instanceDict(m *Machine, v Value) (Value, error) {
	a := m.attrsOf(v, true)
	if a == nil {
		return unbound, m.noAttribute(v, m.newStr("__dict__"))
	}
	return Value{ref: &a.asDict(m).Object}, nil
}

func setInstanceDict(m *Machine, v, x Value) error {
	a := m.attrsOf(v, true)
	if a == nil {
		return m.noAttribute(v, m.newStr("__dict__"))
	}
	d, ok := x.Dict()
	if !ok {
		return m.Raise(m.rt.classes.TypeError, "__dict__ must be set to a dictionary, not a '%s'", m.typeName(orNone(x)))
	}
	if a.kept {
		m.noteAttrs(a)
	}
	a.dict, a.shape, a.values = d, nil, nil
	return nil
}
