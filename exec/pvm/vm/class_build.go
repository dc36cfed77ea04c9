package vm

import (
	"maps"
	"slices"
	"strings"
)

// namespace holds the attributes of a class in the order of definition. Keys are
// in NFC. Builtin classes share theirs between machines and never write it.
type namespace struct {
	keys     []string // "" where deleted
	values   []Value
	index    map[string]int // looked up, never iterated
	specials []specialAt    // those of its names that are special methods
	holes    int
	shared   bool // with a note of how it was: copied before it changes
}

// specialAt says where in a namespace a special method stands.
type specialAt struct {
	method special
	at     int
}

func (n *namespace) get(key string) (Value, bool) {
	i, ok := n.index[key]
	if !ok {
		return unbound, false
	}
	return n.values[i], true
}

// own makes a shared namespace one of its own.
func (n *namespace) own() {
	if n.shared {
		// Bounded: by the names of a class of the library, once a call.
		*n = namespace{slices.Clone(n.keys), slices.Clone(n.values), maps.Clone(n.index), slices.Clone(n.specials), n.holes, false}
	}
}

func (n *namespace) put(key string, v Value) {
	n.own()
	if i, ok := n.index[key]; ok {
		n.values[i] = v
		return
	}
	if n.index == nil {
		n.index = make(map[string]int)
	}
	n.add(key, v)
}

// add puts a name that is not there behind the others.
func (n *namespace) add(key string, v Value) {
	if sp, ok := specialIndex(key); ok {
		n.specials = append(n.specials, specialAt{sp, len(n.keys)})
	}
	n.index[key] = len(n.keys)
	n.keys = append(n.keys, key)
	n.values = append(n.values, v)
}

// longText is how many bytes those names have that are too long to count as a name alone.
func (n *namespace) longText() int {
	size := 0
	// Paid: by traceClass, which counts as many values by seen.
	for _, key := range n.keys {
		size += longText(key)
	}
	return size
}

// longText is how many bytes a name has beyond those that count as a name alone.
func longText(key string) int {
	if len(key) > longName {
		return len(key)
	}
	return 0
}

// compact closes the holes.
func (n *namespace) compact() {
	keys, values := n.keys, n.values
	n.keys, n.values, n.specials, n.holes = nil, nil, nil, 0
	// Paid: by the deletions since the last time, as many as half of the names.
	for i, key := range keys {
		if values[i].Bound() {
			n.add(key, values[i])
		}
	}
}

func (n *namespace) del(key string) bool {
	i, ok := n.index[key]
	if !ok {
		return false
	}
	n.own()
	delete(n.index, key)
	n.keys[i], n.values[i] = "", unbound
	if _, ok := specialIndex(key); ok {
		// Bounded: by numSpecials.
		n.specials = slices.DeleteFunc(n.specials, func(s specialAt) bool { return s.at == i })
	}
	if n.holes++; n.holes > len(n.keys)/2 {
		n.compact()
	}
	return true
}

// head makes an object header for a struct of the given kind. Callers set the
// header once, in place, as its address is the value.
func (o *Object) head(kind Kind, class *Class, self any) Value {
	o.kind, o.class, o.self = kind, class, self
	return Value{ref: o}
}

// newClass makes a builtin class. Without bases it is below object.
func (rt *Runtime) newClass(name string, layout Kind, bases ...*Class) *Class {
	if len(bases) == 0 && rt.classes.object != nil {
		bases = []*Class{rt.classes.object}
	}
	c := &Class{name: name, qualName: name, module: "builtins", bases: bases, layout: layout, builtin: true}
	c.head(KindClass, nil, c)
	// Bounded: by the source, once when the runtime is made.
	for _, b := range bases {
		c.hasDict = c.hasDict || b.hasDict
	}
	c.mro, _ = linearize(c, bases, func(int) {})
	rt.all = append(rt.all, c)
	return c
}

// NewClass makes a class for the library, whose instances are [Foreign] objects
// made by its __new__, unless it is below a builtin class with a layout of its
// own. It belongs to the machine that loads the module.
func (m *Machine) NewClass(module, name string, bases ...*Class) *Class {
	if len(bases) == 0 {
		bases = []*Class{m.rt.classes.object}
	}
	c := &Class{name: name, qualName: name, module: module, bases: bases, layout: KindForeign, version: m.nextVersion()}
	// Bounded: by the source of the library, whose classes these are.
	for _, b := range bases {
		if b.layout != KindInstance {
			c.layout = b.layout
		}
	}
	c.head(KindClass, nil, c)
	c.mro, _ = linearize(c, bases, m.elements)
	c.inheritPattern()
	m.Alloc(classBytes + len(c.mro)*mroBytes)
	if m.loading != nil {
		m.loading.made = append(m.loading.made, c)
	}
	return c
}

// Define adds natives to a class of the library before any program sees it.
func (c *Class) Define(defs ...Def) *Class {
	defineMethods(c, defs)
	c.filled = 0
	return c
}

// methods adds natives whose receiver is an instance; "__new__" receives the
// class and is static.
func (rt *Runtime) methods(c *Class, defs ...Def) { defineMethods(c, defs) }

func defineMethods(c *Class, defs []Def) {
	// Bounded: by the source, once when the runtime is made.
	for _, d := range defs {
		n := newNative(d)
		n.owner = c
		n.method = d.Name != "__new__" && d.Name != "__class_getitem__" && d.Name != "__init_subclass__"
		if n.method && c.layout != KindInstance && c.layout != KindForeign {
			n.takes = c.layout
		}
		n.checked = d.Name == "__new__" || n.method && c.layout == KindForeign
		v := n.value()
		switch d.Name {
		case "__class_getitem__", "__init_subclass__":
			n.method, n.checked = true, false
			v = newClassMethod(v)
		}
		c.names.put(d.Name, v)
	}
}

// statics adds static methods.
func (rt *Runtime) statics(c *Class, defs ...Def) {
	// Bounded: by the source, once when the runtime is made.
	for _, d := range defs {
		n := newNative(d)
		n.owner = c
		s := &StaticMethod{fn: n.value()}
		c.names.put(d.Name, s.head(KindStaticMethod, nil, s))
	}
}

// classMethods adds class methods; the receiver is the class.
func (rt *Runtime) classMethods(c *Class, defs ...Def) { defineClassMethods(c, defs) }

// DefineClass adds class methods to a class of the library.
func (c *Class) DefineClass(defs ...Def) *Class {
	defineClassMethods(c, defs)
	return c
}

func defineClassMethods(c *Class, defs []Def) {
	// Bounded: by the source, once when the runtime is made.
	for _, d := range defs {
		n := newNative(d)
		n.owner, n.method = c, true
		c.names.put(d.Name, newClassMethod(n.value()))
	}
}

// getters adds a computed attribute; set nil makes it read-only.
func (rt *Runtime) getters(c *Class, name string, get func(*Machine, Value) (Value, error), set func(m *Machine, obj, v Value) error) {
	c.Getter(name, get, set)
}

// Getter adds a computed attribute to a class of the library; set nil makes it
// read-only, and is called with an unbound value to delete.
func (c *Class) Getter(name string, get func(*Machine, Value) (Value, error), set func(m *Machine, obj, v Value) error) *Class {
	d := &Member{name: name, owner: c, get: get, set: set}
	c.names.put(name, d.head(KindMember, nil, d))
	return c
}

// Constant adds a plain attribute.
func (c *Class) Constant(name string, v Value) *Class {
	c.names.put(name, v)
	return c
}

func newNative(d Def) *Native {
	n := &Native{name: d.Name, min: d.Min, max: d.Max, params: d.Params, keywords: d.Keywords, fn: d.Fn}
	n.head(KindNative, nil, n)
	return n
}

func (n *Native) value() Value { return Value{ref: &n.Object} }

func newClassMethod(fn Value) Value {
	c := &ClassMethod{fn: fn}
	return c.head(KindClassMethod, nil, c)
}

// value is the class as a value.
func (c *Class) value() Value { return Value{ref: &c.Object} }

// Value returns the class as a Python value.
func (c *Class) Value() Value { return c.value() }

// linearize is the C3 order of a class with these bases (Python 2.3 MRO; Barrett et al.,
// "A Monotonic Superclass Linearization for Dylan", 1996); false when there is none. Each
// step takes the first head of a list that is in no list's tail, and removes it from all.
// tails counts in how many tails a class is, so a step looks at the heads alone; every
// class is taken once, so there are at most as many steps as MROClasses allows. work is told
// of the elements before they are looked at.
func linearize(c *Class, bases []*Class, work func(lists int)) ([]*Class, bool) {
	if len(bases) == 0 {
		return []*Class{c}, true
	}
	if len(bases) == 1 {
		return append([]*Class{c}, bases[0].mro...), true
	}
	lists := make([][]*Class, 0, len(bases)+1)
	// Paid: by makeClass, which compares each base with those before.
	for _, b := range bases {
		lists = append(lists, b.mro)
	}
	lists = append(lists, bases)
	tails := make(map[*Class]int) // in how many tails a class is; looked up, never iterated
	// Paid: by work, an element each.
	for _, l := range lists {
		work(len(l))
		// Paid: by the line above.
		for _, k := range l[1:] {
			tails[k]++
		}
	}
	out := []*Class{c}
	// Paid: by work, an element for each list.
	for {
		work(len(lists))
		next, left := nextInMRO(lists, tails)
		if !left {
			return out, true
		}
		if next == nil {
			return nil, false
		}
		out = append(out, next)
		// Paid: by work above.
		for i, l := range lists {
			if len(l) > 0 && l[0] == next {
				if lists[i] = l[1:]; len(l) > 1 {
					tails[l[1]]--
				}
			}
		}
	}
}

// nextInMRO picks the first head that is in no tail.
func nextInMRO(lists [][]*Class, tails map[*Class]int) (next *Class, left bool) {
	// Paid: by linearize, an element for each list.
	for _, l := range lists {
		if len(l) == 0 {
			continue
		}
		left = true
		if tails[l[0]] == 0 {
			return l[0], true
		}
	}
	return nil, left
}

// specialIndex is the position of a name among the special methods.
func specialIndex(name string) (special, bool) {
	// Bounded: by two bytes.
	if len(name) < 5 || !strings.HasPrefix(name, "__") {
		return 0, false
	}
	i, ok := specialNumbers[name]
	return i, ok
}

// specialNumbers inverts specialNames; looked up, never iterated.
var specialNumbers = func() map[string]special {
	out := make(map[string]special, numSpecials)
	// Bounded: by numSpecials, once at start.
	for i, name := range specialNames {
		out[name] = special(i)
	}
	return out
}()

// fillSpecials computes the table of special methods from the namespaces along
// the MRO.
func (c *Class) fillSpecials() {
	c.filled = c.version + 1
	if c.plain() {
		base := c.bases[0]
		base.sp(0)
		c.special, c.borrows = base.special, true
		return
	}
	if c.special == nil || c.borrows || c.mark >= touched { // a note of a kept class holds the old ones
		c.special, c.borrows = new(specials), false
	} else {
		*c.special = specials{} // who borrows it is older than the class, and fills its own anew
	}
	// Paid: by elements(learning()), where the class is made or changes.
	for i := len(c.mro) - 1; i >= 0; i-- {
		names := &c.mro[i].names
		// Paid: by elements(learning()), where the class is made or changes.
		for _, s := range names.specials {
			c.special[s.method] = names.values[s.at]
		}
	}
}

// plain tells whether a class has the special methods of its only base.
func (c *Class) plain() bool { return len(c.bases) == 1 && len(c.names.specials) == 0 }

// sp returns the special method of the class, unbound when there is none.
func (c *Class) sp(s special) Value {
	if c.filled != c.version+1 {
		c.fillSpecials()
	}
	return c.special[s]
}

// seal fills the tables of all builtin classes, which are read only from here.
func (rt *Runtime) seal() {
	// Bounded: by the source, once when the runtime is made.
	for _, c := range rt.all {
		c.fillSpecials()
	}
}

// changed gives the class and all below it a new version.
func (m *Machine) changed(c *Class) {
	if c.builtin {
		return
	}
	first := m.nextVersion()
	m.touch(&c.Object)
	c.version = first
	// Paid: by the charges within, for each class below.
	for queue := []*Class{c}; len(queue) > 0; {
		k := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		m.elements(2 * k.learning()) // what is known of the class is found anew, and put into a new table
		for _, s := range k.subs {
			m.Charge(m.dyn.Element)
			if s.version < first {
				m.touch(&s.Object)
				s.version = m.nextVersion()
				queue = append(queue, s)
			}
		}
	}
}

// learning is how many classes and special methods of the program are looked at
// to find what is known of a class anew.
func (c *Class) learning() int {
	n := len(c.mro)
	// Bounded: by MROClasses, 64.
	for _, k := range c.mro {
		if !k.builtin {
			n += len(k.names.specials)
		}
	}
	return n
}

// elements charges for n elements.
func (m *Machine) elements(n int) { m.ChargeEach(n, m.dyn.Element) }

func (m *Machine) nextVersion() uint32 {
	m.versions++
	return m.versions
}

// subclassOf tells whether c is other or below it, by the MRO alone.
func (c *Class) subclassOf(other *Class) bool {
	// Bounded: by MROClasses, 64; who asks for many pays by below.
	for _, k := range c.mro {
		if k == other {
			return true
		}
	}
	return false
}

// below is subclassOf for who asks it again and again at the price of an element: of a
// class with a long order that is more than one.
func (m *Machine) below(c, other *Class) bool {
	m.ChargeEach(len(c.mro)/int(m.Work().KindBytes), m.dyn.Element)
	return c.subclassOf(other)
}

// lookupMRO looks a name up along the MRO.
func (m *Machine) lookupMRO(c *Class, key string) (Value, *Class, bool) {
	if c.far() {
		f, ok := c.remembered(key)
		if !ok {
			f = m.findFar(c, key)
		}
		return f.v, f.owner, f.owner != nil
	}
	f := c.along(key)
	return f.v, f.owner, f.owner != nil
}

// learnable is find for the caches of the interpreter: it charges nothing, and answers
// false where that takes a look-up which nobody has paid for.
func (c *Class) learnable(key string) (f finding, ok bool) {
	if c.far() {
		return c.remembered(key)
	}
	return c.along(key), true
}

// shortMRO is how long an MRO is that is looked along each time. Classes of the program
// with a longer one remember what they found.
const shortMRO = 4

// findingBytes is the modelled size of what a class remembers of a name.
const findingBytes = 64

// finding is what a look-up found, owner nil: nothing.
type finding struct {
	v     Value
	owner *Class
}

// far tells whether a class remembers: none of the library does, where the longest order
// has nine classes, as what one call has asked it must not make the next cheaper.
func (c *Class) far() bool { return len(c.mro) > shortMRO && c.mark < touched }

// along looks at each class in order.
func (c *Class) along(key string) finding {
	// Bounded: by shortMRO, 4, for each look-up, and nine classes in the library; else findFar has paid for it.
	for _, k := range c.mro {
		if v, ok := k.names.get(key); ok {
			return finding{v, k}
		}
	}
	return finding{}
}

// remembered is what the class has found in its present version.
func (c *Class) remembered(key string) (finding, bool) {
	if c.foundAt != c.version {
		return finding{}, false
	}
	f, ok := c.found[key]
	return f, ok
}

// findFar looks along a long MRO, which is paid for once for each name and version of the
// class: it is as many tables as there are classes, and the price of an instruction is
// that of a few.
func (m *Machine) findFar(c *Class, key string) finding {
	m.elements(len(c.mro))
	m.Alloc(findingBytes + len(key))
	if c.foundAt != c.version {
		c.found, c.foundText, c.foundAt = make(map[string]finding), 0, c.version
	}
	f := c.along(key)
	c.found[key] = f
	c.foundText += len(key)
	return f
}

// forgetOld lets go of what was known of the class in an older version, which would keep
// alive what its namespaces have lost: nobody reads it, and no measurement counts it.
func (c *Class) forgetOld() {
	if c.foundAt != c.version {
		c.found, c.foundText = nil, 0
	}
	if c.filled != 0 && c.filled != c.version+1 {
		c.special, c.filled = nil, 0
	}
	if c.ready != 0 && c.ready != c.version+1 {
		c.ways, c.ready = ways{}, 0
	}
}

// builtin adds a name that every module sees.
func (rt *Runtime) builtin(name string, v Value) { rt.builtins.put(name, v) }
