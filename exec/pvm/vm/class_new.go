package vm

import "strings"

// buildClass is what a class statement calls: (body, name, *bases, **keywords).
func (m *Machine) buildClass(a Args) (Value, error) {
	pos := a.Positional()
	body, name, orig := pos[0], pos[1], pos[2:]
	bases, changed, err := m.resolveBases(orig)
	if err != nil {
		return unbound, err
	}
	meta, names, values, err := m.metaclassOf(a, bases)
	if err != nil {
		return unbound, err
	}
	basesTuple := m.newTuple(bases)
	mark := m.Hold(Value{ref: &basesTuple.Object})
	defer m.Release(mark)
	ns, err := m.prepare(meta, name, Value{ref: &basesTuple.Object}, names, values)
	if err != nil {
		return unbound, err
	}
	m.Hold(ns)
	cell, err := m.runClassBody(body, ns)
	if err != nil {
		return unbound, err
	}
	m.Hold(cell)
	if changed {
		t := m.newTuple(append([]Value(nil), orig...))
		if err := m.SetItem(ns, m.newStr("__orig_bases__").val(), Value{ref: &t.Object}); err != nil {
			return unbound, err
		}
	}
	args := append([]Value{name, {ref: &basesTuple.Object}, ns}, values...)
	cls, err := m.CallArgs(meta, Args{args, names})
	if err != nil {
		return unbound, err
	}
	if c, ok := cell.ref.self.(*Cell); ok && cls.isClass() {
		if !c.v.Bound() {
			return unbound, m.Raise(m.rt.classes.RuntimeError, "__class__ not set defining '%s' as %s. Was __classcell__ propagated to type.__new__?", nameText(name), m.classText(cls))
		}
		if !c.v.is(cls) {
			return unbound, m.Raise(m.rt.classes.TypeError, "__class__ set to %s defining '%s' as %s", m.classText(c.v), nameText(name), m.classText(cls))
		}
	}
	return cls, nil
}

func nameText(v Value) string {
	if s, ok := v.str(); ok {
		return s.s
	}
	return "?"
}

func (m *Machine) classText(v Value) string {
	if c, ok := v.asClass(); ok {
		return c.between("<class '", "'>")
	}
	return m.objectText(v)
}

// resolveBases replaces bases that are no classes by what their __mro_entries__
// answer (PEP 560).
func (m *Machine) resolveBases(orig []Value) (bases []Value, changed bool, err error) {
	m.elements(len(orig))
	all := m.newTuple(append([]Value(nil), orig...)) // orig lies on the stack of a caller
	for _, b := range orig {
		if b.isClass() {
			bases = append(bases, b)
			continue
		}
		m.Charge(2 * m.dyn.NativeCall) // for an exception that nobody hears of
		fn, ok, err := m.LookupAttr(b, m.newStr("__mro_entries__"))
		if err != nil {
			return nil, false, err
		}
		if !ok {
			bases = append(bases, b)
			continue
		}
		r, err := m.Call(fn, Value{ref: &all.Object})
		if err != nil {
			return nil, false, err
		}
		t, isTuple := r.ref.self.(*Tuple)
		if !isTuple {
			return nil, false, m.Raise(m.rt.classes.TypeError, "__mro_entries__ must return a tuple")
		}
		m.ChargeEach(len(t.items), m.dyn.Copy) // what is there moves as it grows
		m.Alloc(len(t.items) * valueBytes)
		bases, changed = append(bases, t.items...), true
	}
	return bases, changed, nil
}

// metaclassOf is the most derived metaclass of the keyword and the bases, and
// the keywords without it.
func (m *Machine) metaclassOf(a Args, bases []Value) (meta Value, names []*Str, values []Value, err error) {
	first := len(a.Values) - len(a.Names)
	// Paid: by the call, which put each keyword there.
	for i, n := range a.Names {
		if n.s == "metaclass" {
			meta = a.Values[first+i]
			continue
		}
		names, values = append(names, n), append(values, a.Values[first+i])
	}
	if !meta.Bound() {
		meta = m.rt.classes.type_.value()
		if len(bases) > 0 {
			meta = m.classOf(bases[0]).value()
		}
	}
	c, ok := meta.asClass()
	if !ok {
		return meta, names, values, nil // any callable makes the class
	}
	c, err = m.winner(c, bases)
	if err != nil {
		return unbound, nil, nil, err
	}
	return c.value(), names, values, nil
}

// winner is the metaclass below all metaclasses of the bases.
func (m *Machine) winner(c *Class, bases []Value) (*Class, error) {
	m.elements(len(bases))
	// Paid: by elements above, and for each metaclass within.
	for _, b := range bases {
		bc := m.classOf(b)
		if c == bc {
			continue
		}
		m.elements(len(c.mro))
		if c.subclassOf(bc) {
			continue
		}
		m.elements(len(bc.mro))
		if bc.subclassOf(c) {
			c = bc
			continue
		}
		return nil, m.Raise(m.rt.classes.TypeError, "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses of all its bases")
	}
	return c, nil
}

// prepare makes the namespace that the class body fills.
func (m *Machine) prepare(meta, name, bases Value, names []*Str, values []Value) (Value, error) {
	fn, ok, err := m.LookupAttr(meta, m.newStr("__prepare__"))
	if err != nil {
		return unbound, err
	}
	if !ok {
		d := m.newDict()
		return Value{ref: &d.Object}, nil
	}
	ns, err := m.CallArgs(fn, Args{append([]Value{name, bases}, values...), names})
	if err != nil {
		return unbound, err
	}
	if ns.ref.kind != KindDict && !m.classOf(ns).sp(spGetitem).Bound() {
		return unbound, m.Raise(m.rt.classes.TypeError, "%s.__prepare__() must return a mapping, not %s", m.metaName(meta), m.typeName(ns))
	}
	return ns, nil
}

func (m *Machine) metaName(meta Value) string {
	if c, ok := meta.asClass(); ok {
		return c.name
	}
	return "<metaclass>"
}

// typeNew is type.__new__(meta, name, bases, namespace, **keywords).
func typeNew(m *Machine, a Args) (Value, error) {
	pos := a.Positional()
	if len(pos) != 4 {
		return unbound, m.Raise(m.rt.classes.TypeError, "type.__new__() takes exactly 3 arguments (%d given)", len(pos)-1)
	}
	name, okName := pos[1].str()
	bases, okBases := pos[2].ref.self.(*Tuple)
	ns, okDict := pos[3].ref.self.(*Dict)
	switch {
	case !okName:
		return unbound, m.Raise(m.rt.classes.TypeError, "type.__new__() argument 1 must be str, not %s", m.typeName(pos[1]))
	case !okBases:
		return unbound, m.Raise(m.rt.classes.TypeError, "type.__new__() argument 2 must be tuple, not %s", m.typeName(pos[2]))
	case !okDict:
		return unbound, m.Raise(m.rt.classes.TypeError, "type.__new__() argument 3 must be dict, not %s", m.typeName(pos[3]))
	}
	m.elements(len(bases.items))
	// Paid: by elements above.
	for _, b := range bases.items {
		if b.isClass() {
			continue
		}
		m.Charge(2 * m.dyn.NativeCall) // it is asked for an attribute, and nobody hears of an exception
		if _, ok, err := m.LookupAttr(b, m.newStr("__mro_entries__")); err != nil {
			return unbound, err
		} else if ok {
			return unbound, m.Raise(m.rt.classes.TypeError, "type() doesn't support MRO entry resolution; use types.new_class()")
		}
	}
	asked, _ := pos[0].asClass()
	meta, err := m.winner(asked, bases.items)
	if err != nil {
		return unbound, err
	}
	if raw := meta.sp(spNew); meta != asked && raw != m.rt.classes.type_.sp(spNew) {
		return m.callNew(meta, Args{prepend(meta.value(), a.Values[1:]), a.Names}) // a metaclass of the bases makes its own
	}
	c, err := m.makeClass(meta, name.s, bases.items, ns)
	if err != nil {
		return unbound, err
	}
	m.nameModule(c)
	first := len(a.Values) - len(a.Names)
	if err := m.announceClass(c, a.Names, a.Values[first:]); err != nil {
		return unbound, err
	}
	return c.value(), nil
}

// nameModule gives a class whose body named no module that of the running code.
func (m *Machine) nameModule(c *Class) {
	if _, named := c.names.get("__module__"); named || m.frame == nil {
		return
	}
	if v, ok := m.frame.fn.globals.getStr(m, m.Interned("__name__")); ok {
		c.names.put("__module__", v)
		if s, isStr := v.str(); isStr {
			c.module = s.s
		}
	}
}

// makeClass builds the class itself.
func (m *Machine) makeClass(meta *Class, name string, baseValues []Value, ns *Dict) (*Class, error) {
	c := &Class{name: name, qualName: name, module: "builtins"}
	if len(baseValues) == 0 {
		baseValues = []Value{m.rt.classes.object.value()}
	}
	// Paid: by typeNew, an element each, and within for those before it.
	for _, v := range baseValues {
		b, ok := v.asClass()
		if !ok {
			return nil, m.Raise(m.rt.classes.TypeError, "bases must be types")
		}
		if b.final {
			return nil, m.Raise(m.rt.classes.TypeError, "type '%s' is not an acceptable base type", b.name)
		}
		m.elements(len(c.bases))
		// Paid: by the line above.
		for _, other := range c.bases {
			if other == b {
				return nil, m.Raise(m.rt.classes.TypeError, "duplicate base class %s", b.name)
			}
		}
		c.bases = append(c.bases, b)
	}
	m.Charge(m.Work().Class * m.dyn.NativeCall)
	m.ChargeWide(ns.table.live, 2*m.dyn.Element) // for tables that grow
	m.Alloc(classBytes)
	c.head(KindClass, m.subclassOrNil(meta.value(), m.rt.classes.type_), c)
	mro, ok := linearize(c, c.bases, m.elements)
	if !ok {
		return nil, m.mroConflict(c.bases)
	}
	if len(mro) > m.rt.limits.MROClasses {
		return nil, m.Raise(m.rt.classes.TypeError, "class '%s' has more than %d classes in its method resolution order", name, m.rt.limits.MROClasses)
	}
	m.Alloc(len(mro) * mroBytes)
	c.mro, c.version = mro, m.nextVersion()
	m.elements(c.learning())
	c.inheritPattern()
	if err := m.inheritLayout(c); err != nil {
		return nil, err
	}
	if err := m.fillNamespace(c, ns); err != nil {
		return nil, err
	}
	// Bounded: by MROClasses, 64.
	for _, b := range c.bases {
		if !b.builtin {
			m.touch(&b.Object)
			b.subs = append(b.subs, c)
		}
	}
	return c, nil
}

func (m *Machine) mroConflict(bases []*Class) error {
	names := make([]string, len(bases))
	// Paid: by the charge for each name within.
	for i, b := range bases {
		names[i] = b.name
		m.ChargeEach(len(b.name), m.dyn.Char)
	}
	// Paid: by the charge for each name above.
	text := strings.Join(names, ", ")
	return m.Raise(m.rt.classes.TypeError, "Cannot create a consistent method resolution\norder (MRO) for bases %s", text)
}

// inheritLayout takes the struct of the instances from the bases, of which at
// most one may have another than plain objects.
func (m *Machine) inheritLayout(c *Class) error {
	c.layout = KindInstance
	var from *Class
	// Bounded: by MROClasses, 64; layoutBelow pays for the slots.
	for _, b := range c.bases {
		c.hasDict = c.hasDict || b.hasDict
		if b.layout == KindInstance && len(b.slots) == 0 {
			continue
		}
		switch {
		case from == nil || m.layoutBelow(b, from):
			from = b
		case !m.layoutBelow(from, b):
			return m.Raise(m.rt.classes.TypeError, "multiple bases have instance lay-out conflict")
		}
	}
	if from != nil {
		c.layout, c.slots = from.layout, from.slots
	}
	return nil
}

// layoutBelow tells whether instances of c can stand for the layout of d: slots that are
// not the very same are compared one by one.
func (m *Machine) layoutBelow(c, d *Class) bool {
	if c.layout != d.layout && d.layout != KindInstance {
		return false
	}
	if len(c.slots) < len(d.slots) {
		return false
	}
	if len(d.slots) == 0 || &c.slots[0] == &d.slots[0] {
		return true
	}
	m.looked(int64(len(d.slots)))
	// Paid: by the line above.
	for i := range d.slots {
		if c.slots[i] != d.slots[i] {
			return false
		}
	}
	return true
}
