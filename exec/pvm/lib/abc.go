package lib

import (
	"maps"
	"slices"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// abcState is what ABCMeta keeps for a class: registered virtual subclasses, and
// the answers that it has given. Answers that were no are void once any class
// was registered anywhere.
type abcState struct {
	registry []*vm.Class
	yes, no  map[*vm.Class]bool // looked up, never iterated
	noAt     uint64             // abcCount.n when the noes were true
}

func (s *abcState) Roots(visit func(vm.Value)) {
	// Bounded: by the registrations, each a call; measurements come after an eighth of the heap's limit was announced.
	for _, c := range s.registry {
		visit(c.Value())
	}
}

// Links are the registered classes: each lies where nothing foretells.
func (s *abcState) Links() int { return len(s.registry) }

func (s *abcState) Bytes() int { return 64 + 16*len(s.registry) + 32*(len(s.yes)+len(s.no)) }

// Forget drops the answers about classes that nothing else holds: an answer holds none.
func (s *abcState) Forget(held func(*vm.Class) bool) int {
	n := len(s.yes) + len(s.no)
	gone := func(c *vm.Class, _ bool) bool { return !held(c) }
	// Paid: by who measures, a unit for each.
	maps.DeleteFunc(s.yes, gone)
	// Paid: likewise.
	maps.DeleteFunc(s.no, gone)
	return n
}

// Keep copies what checks and registrations change.
func (s *abcState) Keep() func() {
	saved := *s
	// Bounded: by what the library's own classes were asked when they were loaded; once a call.
	s.registry, s.yes, s.no = slices.Clip(s.registry), maps.Clone(s.yes), maps.Clone(s.no)
	return func() { *s = saved }
}

// abcKey is the name of the state in the class's namespace.
const abcKey = "_abc_impl"

// patternKey is the name under which an abstract class says for which patterns its
// subclasses stand, in the flags of CPython.
const (
	patternKey   = "__abc_tpflags__"
	sequenceFlag = 1 << 5
	mappingFlag  = 1 << 6
)

func abcOf(m *vm.Machine, v vm.Value) (*vm.Class, *abcState, error) {
	c, ok := v.Class()
	if ok {
		if own, found := c.Own(abcKey); found {
			if p, _ := own.Foreign(); p != nil {
				if s, ok := p.(*abcState); ok {
					return c, s, nil
				}
			}
		}
	}
	return nil, nil, m.TypeError("'%s' object is not an abstract base class", m.TypeName(v))
}

// touchState announces a change of the state of c.
func touchState(m *vm.Machine, c *vm.Class) {
	if own, ok := c.Own(abcKey); ok {
		m.Touch(own)
	}
}

// abcNew is ABCMeta.__new__.
func abcNew(m *vm.Machine, a vm.Args) (vm.Value, error) {
	make, _ := m.Builtin("type").Lookup(m, "__new__")
	v, err := m.CallArgs(make, a)
	if err != nil {
		return vm.None, err
	}
	c, ok := v.Class()
	if !ok {
		return v, nil
	}
	defer m.Release(m.Hold(v))
	if err := computeAbstract(m, c); err != nil {
		return vm.None, err
	}
	if v, ok := c.Own(patternKey); ok {
		n, _ := v.Int64()
		switch n & (sequenceFlag | mappingFlag) {
		case sequenceFlag:
			c.SetPattern(m, vm.PatternSequence)
		case mappingFlag:
			c.SetPattern(m, vm.PatternMapping)
		}
	}
	m.SetOwn(c, abcKey, m.NewForeign(m.Builtin("object"), &abcState{}))
	return v, nil
}

// computeAbstract sets __abstractmethods__: what is abstract in the class's own
// namespace, and what it inherits abstract.
func computeAbstract(m *vm.Machine, c *vm.Class) error {
	mark := m.Interned("__isabstractmethod__")
	var names []vm.Value
	known := make(map[string]bool) // looked up, never iterated
	var failed error
	abstract := func(v vm.Value) bool {
		if failed != nil {
			return false
		}
		k := v.Kind()
		if k == vm.KindFunction { // of a short order
			m.Charge(m.Prices().Step)
		} else {
			m.Charge(m.Prices().NativeCall)
		}
		if k == vm.KindInstance || k == vm.KindList || k == vm.KindDict || k == vm.KindSet {
			m.Charge(2 * m.Prices().NativeCall) // for an exception that nobody hears of
		}
		r, ok, err := m.LookupAttr(v, mark)
		if err == nil && ok {
			ok, err = m.Truth(r)
		}
		failed = err
		return ok && err == nil
	}
	type own struct {
		name string
		v    vm.Value
	}
	var all []own
	c.EachOwn(func(name string, v vm.Value) { all = append(all, own{name, v}) })
	elements(m, 2*len(all))
	// Paid: by the elements above; what has attributes is asked for one, and pays for it.
	for _, o := range all {
		if o.v.Bound() && couldBeAbstract(o.v) && abstract(o.v) {
			names, known[o.name] = append(names, m.NewStr(o.name)), true
		}
	}
	for _, b := range c.Bases() {
		inherited, ok := b.Own("__abstractmethods__")
		if !ok {
			continue
		}
		items, err := m.Collect(inherited)
		if err != nil {
			return err
		}
		m.ChargeEach(len(items), m.Prices().NativeCall)
		// Paid: by the charge above: an attribute of the class is looked up, and what asks that for one pays for it.
		for _, item := range items {
			name, ok := item.StrObject()
			if !ok {
				continue
			}
			v, ok, err := m.LookupAttr(c.Value(), name)
			if err != nil {
				return err
			}
			if ok && abstract(v) && !known[name.String()] {
				names, known[name.String()] = append(names, item), true
			}
		}
	}
	if failed != nil {
		return failed
	}
	set, err := m.Call(m.Builtin("frozenset").Value(), m.NewTuple(names))
	if err == nil {
		m.SetOwn(c, "__abstractmethods__", set)
	}
	return err
}

// couldBeAbstract tells values that may have __isabstractmethod__ from the plain
// ones, which have not.
func couldBeAbstract(v vm.Value) bool {
	switch v.Kind() {
	case vm.KindNone, vm.KindBool, vm.KindInt, vm.KindFloat, vm.KindStr, vm.KindBytes, vm.KindTuple, vm.KindNative, vm.KindMember:
		return false
	}
	return true
}

// abcUpdate is abc.update_abstractmethods.
func abcUpdate(m *vm.Machine, a vm.Args) (vm.Value, error) {
	c, ok := a.Values[0].Class()
	if !ok {
		return a.Values[0], nil
	}
	if _, ok := c.Lookup(m, "__abstractmethods__"); !ok || c.Frozen() {
		return a.Values[0], nil
	}
	return a.Values[0], computeAbstract(m, c)
}

// abcToken is abc.get_cache_token: it changes with every registration.
func abcToken(m *vm.Machine, _ vm.Args) (vm.Value, error) {
	return vm.SmallInt(int64(m.Registrations)), nil
}

// abcMethods is what __subclasshook__ of the one-trick classes asks: has C all
// these methods?
func abcMethods(m *vm.Machine, a vm.Args) (vm.Value, error) {
	c, ok := a.Values[0].Class()
	if !ok {
		return vm.NotImplemented, nil
	}
	elements(m, len(a.Values))
	// Bounded: by the dozen names that _collections_abc asks for; an element each.
	for _, name := range a.Values[1:] {
		s, _ := name.Text()
		v, ok := c.Lookup(m, s)
		if !ok || v.IsNone() {
			return vm.NotImplemented, nil
		}
	}
	return vm.True, nil
}

// abcRegister is ABCMeta.register.
func abcRegister(m *vm.Machine, a vm.Args) (vm.Value, error) {
	c, s, err := abcOf(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	sub, ok := a.Values[1].Class()
	if !ok {
		return vm.None, m.TypeError("Can only register classes")
	}
	is, err := m.IsSubclass(sub.Value(), c.Value())
	if err != nil || is {
		return sub.Value(), err
	}
	if is, err = m.IsSubclass(c.Value(), sub.Value()); err != nil {
		return vm.None, err
	}
	if is {
		return vm.None, m.RaiseText("RuntimeError", "Refusing to create an inheritance cycle")
	}
	m.Alloc(16)
	touchState(m, c)
	s.registry = append(s.registry, sub)
	m.Registrations++
	sub.SetPattern(m, c.Pattern())
	return sub.Value(), nil
}

// abcInstanceCheck is ABCMeta.__instancecheck__.
func abcInstanceCheck(m *vm.Machine, a vm.Args) (vm.Value, error) {
	_, s, err := abcOf(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	m.ClassChecks++
	defer func() { m.ClassChecks-- }()
	c := m.ClassOf(a.Values[1])
	named, ok, err := m.LookupAttr(a.Values[1], m.Interned("__class__"))
	if err != nil {
		return vm.None, err
	}
	if k, isClass := named.Class(); ok && isClass && k != c {
		is, err := checkSubclass(m, a.Values[0], k)
		if err != nil || is {
			return vm.Bool(is), err
		}
	}
	if s.yes[c] {
		return vm.True, nil
	}
	if s.noAt == m.Registrations && s.no[c] {
		return vm.False, nil
	}
	is, err := checkSubclass(m, a.Values[0], c)
	return vm.Bool(is), err
}

// abcNested tells a __subclasshook__ whether another check by ABCMeta led to it, in
// which case a protocol declines to answer where it would refuse a program.
func abcNested(m *vm.Machine, _ vm.Args) (vm.Value, error) { return vm.Bool(m.ClassChecks > 1), nil }

// checkSubclass asks through the metaclass, which may have its own idea.
func checkSubclass(m *vm.Machine, abc vm.Value, c *vm.Class) (bool, error) {
	return m.IsSubclass(c.Value(), abc)
}

// abcSubclassCheck is ABCMeta.__subclasscheck__.
func abcSubclassCheck(m *vm.Machine, a vm.Args) (vm.Value, error) {
	c, s, err := abcOf(m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	sub, ok := a.Values[1].Class()
	if !ok {
		return vm.None, m.TypeError("issubclass() arg 1 must be a class")
	}
	if s.yes[sub] {
		return vm.True, nil
	}
	if s.noAt != m.Registrations {
		touchState(m, c)
		s.no, s.noAt = nil, m.Registrations
	} else if s.no[sub] {
		return vm.False, nil
	}
	m.ClassChecks++
	is, keep, err := decideSubclass(m, c, s, sub)
	m.ClassChecks--
	if err != nil {
		return vm.None, err
	}
	if keep {
		m.Alloc(32)
		touchState(m, c)
		table := &s.no
		if is {
			table = &s.yes
		}
		if *table == nil {
			*table = make(map[*vm.Class]bool)
		}
		(*table)[sub] = true
	}
	return vm.Bool(is), nil
}

// decideSubclass asks the hook, the MRO, the registered classes and the classes
// below, in this order.
func decideSubclass(m *vm.Machine, c *vm.Class, s *abcState, sub *vm.Class) (is, keep bool, err error) {
	hook, ok, err := m.LookupAttr(c.Value(), m.Interned("__subclasshook__"))
	if err != nil {
		return false, false, err
	}
	if ok {
		r, err := m.Call(hook, sub.Value())
		if err != nil {
			return false, false, err
		}
		if !r.Same(vm.NotImplemented) {
			is, err := m.Truth(r)
			return is, true, err
		}
	}
	if sub.SubclassOf(c) {
		return true, true, nil
	}
	// Paid: by the element in it and by IsSubclass, a call where the class has its own check.
	for i := 0; i < len(s.registry); i++ {
		elements(m, 1)
		if is, err := m.IsSubclass(sub.Value(), s.registry[i].Value()); err != nil || is {
			return is, true, err
		}
	}
	below := c.Subclasses()
	// Paid: likewise.
	for i := 0; i < len(below); i++ {
		elements(m, 1)
		if is, err := m.IsSubclass(sub.Value(), below[i].Value()); err != nil || is {
			return is, true, err
		}
	}
	return false, true, nil
}
