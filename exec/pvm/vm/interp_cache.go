package vm

// Inline caches: what an instruction has learnt about the values it met. They are
// filled once a unit is warm, are true as long as what they compare is the
// same, and change neither results nor charges.
//
// Each instruction has one entry (Deutsch and Schiffman, "Efficient Implementation of the
// Smalltalk-80 System", 1984). What an entry says follows from three things alone: the
// class, its version, which changes with every change of an attribute of the class or of one
// in its MRO, and the shape. They are compared at each use, so an entry that is outdated is
// passed over and learnt anew; nothing has to be invalidated. Entries belong to a machine
// and are emptied at each measurement, or they would keep objects alive that CPython and
// the modelled heap have let go.

// A unit gets caches once it has looked up so many attributes, and one for so many of
// its instructions: room for all of these is not made for a few look-ups.
const (
	warmLookups = 16
	warmShare   = 4
)

// roomyFields is for how many attributes an instance gets room at its first, where others
// of its class had so many: more than it comes to hold is counted by nobody.
const roomyFields = 8

// site is the cache of one instruction.
type site struct {
	class   *Class // of the object
	shape   *shape // of its attributes, nil when it has none
	next    *shape // after a store that adds an attribute
	v       Value  // what was found on the class
	version uint32 // of class
	slot    int32  // of the attribute, or what was found
	kind    Kind
	listed  bool // among those that the machine forgets
}

// What a site has found, when it is no slot.
const (
	siteEmpty int32 = -iota - 1
	siteClass       // the value is on the class and needs no binding, or is a method
	siteGrows       // the store adds an attribute
)

// slotHint is the cache of a global name.
type slotHint struct {
	dict    *Dict
	v       Value // of a builtin, when the name is not among the globals
	version uint32
	pos     int32
}

// globalAt looks name i of the unit up in the globals and the builtins.
func (m *Machine) globalAt(globals *Dict, u *unit, i int) (Value, bool) {
	name := u.names[i]
	h := &u.globals[i]
	t := &globals.table
	if pos := globals.findStr(m, name); pos >= 0 {
		if !u.cold {
			m.learnName(h, slotHint{dict: globals, version: t.version, pos: int32(pos)})
		}
		return t.entries[pos].value, true
	}
	v, ok := m.rt.builtins.get(name.s)
	if ok && !u.cold {
		m.learnName(h, slotHint{dict: globals, version: t.version, pos: -1, v: v})
	}
	return v, ok
}

// setGlobal stores a global and learns where.
func (m *Machine) setGlobal(globals *Dict, u *unit, i int, v Value) {
	h := &u.globals[i]
	if h.dict == globals && h.version == globals.table.version && h.pos >= 0 {
		globals.table.set(m, int(h.pos), v)
		return
	}
	name := u.names[i]
	globals.putStr(m, name, v)
	if u.cold {
		return
	}
	if pos := globals.findStr(m, name); pos >= 0 {
		m.learnName(h, slotHint{dict: globals, version: globals.table.version, pos: int32(pos)})
	}
}

// siteOf returns the cache of the instruction before pc, nil while the unit is
// cold.
func (m *Machine) siteOf(u *unit, pc int) *site {
	m.learnAt(u)
	if u.sites == nil {
		if u.cold {
			return nil
		}
		if u.warm++; u.warm < max(warmLookups, len(u.obj.Instrs)/warmShare) {
			return nil
		}
		u.sites = make([]site, len(u.obj.Instrs)+1)
	}
	return &u.sites[pc]
}

// learn fills a cache. What it speaks of may be of the program, and no measurement counts
// what caches hold: the machine forgets it at each.
func (m *Machine) learn(s *site, now site) {
	now.listed = true
	if !s.listed {
		m.sites = append(m.sites, s)
	}
	*s = now
}

// learnName is learn for the caches of global names: those of generated functions keep what
// such a function sees, which a program lets go with it.
func (m *Machine) learnName(h *slotHint, now slotHint) {
	if h.dict == nil && now.dict.mark < touched {
		m.hints = append(m.hints, h)
	}
	*h = now
}

// forgetSites empties the caches that were filled since the last measurement: they would
// keep alive what the program has let go, an object each.
func (m *Machine) forgetSites() {
	// Paid: by the look-ups that filled each.
	for i, s := range m.sites {
		if s.listed = false; !s.lasting() {
			*s = site{}
		}
		m.sites[i] = nil
	}
	m.sites = m.sites[:0]
	// Paid: likewise.
	for i, h := range m.hints {
		*h, m.hints[i] = slotHint{}, nil
	}
	m.hints = m.hints[:0]
}

// forgetFrames empties the frames of the pool that calls have left: they would keep alive
// the functions that ran in them.
func (m *Machine) forgetFrames() {
	// Bounded: by RecursionDepth and one.
	for i := m.used; i < len(m.pool) && m.pool[i].unit != nil; i++ {
		m.pool[i] = frame{}
	}
}

// cachedAttr answers from the cache of the instruction before pc.
func (u *unit) cachedAttr(pc int, v *Value) (Value, bool) {
	if u.sites == nil || v.ref == nil {
		return unbound, false
	}
	s := &u.sites[pc]
	o := v.ref
	if s.class == nil || o.class != s.class || s.class.version != s.version {
		return unbound, false
	}
	a := o.attrs
	if s.slot >= 0 {
		if a.shape != s.shape {
			return unbound, false
		}
		return a.values[s.slot], true
	}
	if s.slot != siteClass || a != nil && (a.shape != s.shape || a.dict != nil) {
		return unbound, false
	}
	return s.v, true
}

// cachedMethod answers the function that a method call finds on the class.
func (u *unit) cachedMethod(pc int, v *Value) (Value, bool) {
	if u.sites == nil || v.ref == nil {
		return unbound, false
	}
	s := &u.sites[pc]
	o := v.ref
	if s.slot != siteClass || o.kind != s.kind || o.class != s.class {
		return unbound, false
	}
	if s.class != nil && s.class.version != s.version {
		return unbound, false
	}
	if a := o.attrs; a != nil && (a.shape != s.shape || a.dict != nil) {
		return unbound, false
	}
	return s.v, true
}

// cachedSet stores where the cache of the instruction before pc says.
func (m *Machine) cachedSet(u *unit, pc int, v *Value, x Value) bool {
	if u.sites == nil || v.ref == nil {
		return false
	}
	s := &u.sites[pc]
	o := v.ref
	if s.class == nil || o.class != s.class || s.class.version != s.version {
		return false
	}
	a := o.attrs
	if a.shape != s.shape || a.dict != nil || a.kept {
		return false
	}
	if s.slot >= 0 {
		a.values[s.slot] = x
		return true
	}
	m.Alloc(valueBytes)
	a.shape = s.next
	if a.values == nil {
		a.values = make([]Value, 0, max(4, min(s.class.fields, roomyFields)))
	}
	a.values = append(a.values, x)
	return true
}

// plainAccess tells whether attributes of v are found in its own attributes and
// along the MRO, without hooks: it is an instance with a shape or none yet.
func (m *Machine) plainAccess(v Value, hook special) bool {
	if v.ref.kind != KindInstance || v.ref.class == nil {
		return false
	}
	h := v.ref.class.sp(hook)
	return !h.Bound() || isBuiltinNative(h, hook)
}

// getAttrAt is GetAttr that learns.
func (m *Machine) getAttrAt(u *unit, pc int, v Value, name *Str) (Value, error) {
	r, err := m.GetAttr(v, name)
	if err != nil || v.ref.kind != KindInstance || len(name.s) > longName {
		return r, err
	}
	s := m.siteOf(u, pc)
	if s == nil || !m.plainAccess(v, spGetattribute) {
		return r, nil
	}
	c, a := v.ref.class, v.ref.attrs
	if s.class != c || s.version != c.version {
		m.learn(s, site{class: c, version: c.version, slot: siteEmpty}) // to be learnt if it comes again at once
		return r, nil
	}
	f, known := c.learnable(attrKey(name))
	attr, found := f.v, f.owner != nil
	if !known || found && m.isDataDescriptor(attr) || a != nil && a.dict != nil {
		return r, nil
	}
	if a != nil && a.shape != nil {
		if i, ok := a.shape.slot(name); ok {
			m.learn(s, site{class: c, shape: a.shape, version: c.version, slot: int32(i)})
			return r, nil
		}
	}
	if found && needsNoBinding(attr) {
		m.learn(s, site{class: c, version: c.version, slot: siteClass, v: attr, kind: KindUnbound})
		if a != nil {
			s.shape = a.shape
		}
	}
	return r, nil
}

// needsNoBinding tells plain values from what becomes another by __get__.
func needsNoBinding(attr Value) bool {
	switch attr.ref.kind {
	case KindNone, KindBool, KindInt, KindFloat, KindStr, KindTuple, KindList, KindDict, KindSet, KindFrozenSet:
		return attr.ref.class == nil
	}
	return false
}

// getMethodAt is getMethod that learns.
func (m *Machine) getMethodAt(u *unit, pc int, v Value, name *Str) (fn, self Value, err error) {
	fn, self, err = m.getMethod(v, name)
	if err != nil || !self.Bound() || len(name.s) > longName {
		return fn, self, err
	}
	s := m.siteOf(u, pc)
	if s == nil {
		return fn, self, nil
	}
	c, a := v.ref.class, v.ref.attrs
	if a != nil && a.dict != nil {
		return fn, self, nil
	}
	m.learn(s, site{class: c, slot: siteClass, v: fn, kind: v.ref.kind})
	if c != nil {
		s.version = c.version
	}
	if a != nil {
		s.shape = a.shape
	}
	return fn, self, nil
}

// setAttrAt is SetAttr that learns.
func (m *Machine) setAttrAt(u *unit, pc int, v Value, name *Str, x Value) error {
	var before *shape
	a := v.ref.attrs
	if a != nil {
		before = a.shape
	}
	if err := m.SetAttr(v, name, x); err != nil || a == nil || v.ref.kind != KindInstance || len(name.s) > longName {
		return err
	}
	s := m.siteOf(u, pc)
	if s == nil || !m.plainAccess(v, spSetattr) || a.dict != nil || a.shape == nil {
		return nil
	}
	c := v.ref.class
	if f, known := c.learnable(attrKey(name)); !known || f.owner != nil && m.isDataDescriptor(f.v) {
		return nil
	}
	i, ok := a.shape.slot(name)
	switch {
	case !ok:
	case before == a.shape:
		m.learn(s, site{class: c, shape: before, version: c.version, slot: int32(i)})
	case a.shape.parent == before || before == nil && a.shape.parent == c.shape:
		m.learn(s, site{class: c, shape: before, next: a.shape, version: c.version, slot: siteGrows})
		c.fields = max(c.fields, len(a.shape.names))
	}
	return nil
}
