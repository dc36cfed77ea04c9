package vm

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// Pattern says for which patterns of a match statement the instances of a class
// stand (PEP 634). A class takes it from the first class of its MRO that has one.
type Pattern uint8

// The patterns.
const (
	PatternNone Pattern = iota
	PatternSequence
	PatternMapping
)

// inheritPattern takes the pattern of the classes above.
func (c *Class) inheritPattern() {
	// Bounded: by MROClasses, 64.
	for _, k := range c.mro[1:] {
		if k.pattern != PatternNone {
			c.pattern = k.pattern
			return
		}
	}
}

// SetPattern gives a class of the library or of the program its pattern, and the
// classes below it that have none.
func (c *Class) SetPattern(m *Machine, p Pattern) {
	if p == PatternNone || c.builtin || c.pattern != PatternNone {
		return
	}
	m.touch(&c.Object)
	c.pattern = p
	for _, s := range c.subs {
		m.Charge(m.dyn.Element)
		s.SetPattern(m, p)
	}
}

// Pattern returns the pattern of the class.
func (c *Class) Pattern() Pattern { return c.pattern }

// setPatterns gives the builtin classes theirs.
func (rt *Runtime) setPatterns() {
	b := &rt.classes
	b.tuple.pattern, b.list.pattern, b.range_.pattern = PatternSequence, PatternSequence, PatternSequence
	b.dict.pattern, b.mappingProxy.pattern = PatternMapping, PatternMapping
}

// matchOp executes the instructions of match statements.
func (m *Machine) matchOp(f *frame, in code.Instr) error {
	regs := f.regs
	switch in.Op {
	case code.MatchSeq:
		regs[in.A] = Bool(m.isPatternSequence(regs[in.B]))
	case code.MatchMap:
		regs[in.A] = Bool(m.isPatternMapping(regs[in.B]))
	case code.MatchIs:
		regs[in.A] = Bool(regs[in.B].is(regs[in.C]))
	case code.Len:
		n, err := m.Len(regs[in.B])
		if err != nil {
			return err
		}
		regs[in.A] = SmallInt(n)
	case code.MatchKeys:
		v, err := m.matchKeys(regs[in.B], regs[in.C].ref.self.(*Tuple).items)
		if err != nil {
			return err
		}
		regs[in.A] = v
	case code.DictRest:
		v, err := m.dictRest(regs[in.B], regs[in.C].ref.self.(*Tuple).items)
		if err != nil {
			return err
		}
		regs[in.A] = v
	default:
		v, err := m.matchClass(regs[in.B], regs[in.B+1], regs[in.B+2].ref.self.(*Tuple).items, int(in.C))
		if err != nil {
			return err
		}
		regs[in.A] = v
	}
	return nil
}

func (m *Machine) isPatternSequence(v Value) bool {
	return m.classOf(v).pattern == PatternSequence
}

func (m *Machine) isPatternMapping(v Value) bool {
	return m.classOf(v).pattern == PatternMapping
}

// matchKeys returns the values at the keys as a tuple, None when one is absent.
func (m *Machine) matchKeys(v Value, keys []Value) (Value, error) {
	m.ChargeEach(len(keys), m.dyn.DictOp)
	m.ChargeWide(len(keys), 2*m.dyn.DictOp) // for the table of those seen
	seen := m.newDict()
	mark := m.Hold(Value{ref: &seen.Object})
	defer m.Release(mark)
	values := make([]Value, 0, len(keys))
	// Paid: by the charge for each key above.
	for _, k := range keys {
		_, dup, err := m.dictGet(seen, k)
		if err != nil {
			return unbound, err
		}
		if dup {
			s, err := m.Repr(k)
			if err != nil {
				return unbound, err
			}
			return unbound, m.Raise(m.rt.classes.ValueError, "mapping pattern checks duplicate key (%s)", s.s)
		}
		if err := m.dictPut(seen, k, None); err != nil {
			return unbound, err
		}
		x, ok, err := m.keyOf(v, k)
		if err != nil || !ok {
			return None, err
		}
		m.Hold(x)
		values = append(values, x)
	}
	return Value{ref: &m.newTuple(values).Object}, nil
}

// keyOf is v.get(k) that tells absence.
func (m *Machine) keyOf(v, k Value) (Value, bool, error) {
	if d, ok := v.ref.self.(*Dict); ok && v.ref.class == nil {
		return m.dictGet(d, k)
	}
	get, err := m.GetAttr(v, m.intern("get"))
	if err != nil {
		return unbound, false, err
	}
	absent := m.newList(nil)
	x, err := m.Call(get, k, Value{ref: &absent.Object})
	return x, err == nil && x.ref != &absent.Object, err
}

// dictRest is the mapping without the keys, as a dict.
func (m *Machine) dictRest(v Value, keys []Value) (Value, error) {
	d := m.newDict()
	mark := m.Hold(Value{ref: &d.Object})
	defer m.Release(mark)
	if err := m.mergeMapping(d, v, unbound); err != nil {
		return unbound, err
	}
	for _, k := range keys {
		m.Charge(m.dyn.DictOp)
		if _, err := m.dictDel(d, k); err != nil {
			return unbound, err
		}
	}
	return Value{ref: &d.Object}, nil
}

// matchClass returns the attributes that a class pattern asks for as a tuple, None
// when the subject does not match.
func (m *Machine) matchClass(v, class Value, names []Value, positional int) (Value, error) {
	c, ok := class.asClass()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "called match pattern must be a class")
	}
	is, err := m.IsInstance(v, class)
	if err != nil || !is {
		return None, err
	}
	n := positional + len(names)
	m.ChargeWide(n, m.dyn.DictOp) // for the table of those seen
	values := make([]Value, 0, n)
	seen := make(map[string]bool, n) // looked up, never iterated
	mark := len(m.temp)
	defer m.Release(mark)
	take := func(name *Str) (bool, error) {
		m.Charge(2 * m.dyn.DictOp) // it is looked for among those before, and looked up
		m.chargeOrder(m.classOf(v))
		m.nameWork(len(name.s))
		if seen[name.s] {
			return false, m.Raise(m.rt.classes.TypeError, "%s() got multiple sub-patterns for attribute '%s'", c.name, name.s)
		}
		seen[name.s] = true
		x, ok, err := m.LookupAttr(v, name)
		if ok {
			m.Hold(x)
			values = append(values, x)
		}
		return ok, err
	}
	if positional > 0 {
		self, args, err := m.matchArgs(c, positional)
		if err != nil {
			return unbound, err
		}
		if self {
			values = append(values, v)
		}
		// Paid: by take, for each name.
		for _, name := range args {
			if ok, err := take(name); !ok {
				return None, err
			}
		}
	}
	// Paid: by take, for each name.
	for _, n := range names {
		name, _ := n.str()
		if ok, err := take(name); !ok {
			return None, err
		}
	}
	return Value{ref: &m.newTuple(values).Object}, nil
}

// matchArgs returns the attributes behind positional sub-patterns, or self when
// the one pattern is for the subject itself.
func (m *Machine) matchArgs(c *Class, positional int) (self bool, args []*Str, err error) {
	v, ok, err := m.LookupAttr(c.value(), m.intern("__match_args__"))
	if err != nil {
		return false, nil, err
	}
	allowed := 0
	var items []Value
	switch {
	case ok:
		t, isTuple := v.ref.self.(*Tuple)
		if !isTuple {
			return false, nil, m.Raise(m.rt.classes.TypeError, "%s.__match_args__ must be a tuple (got %s)", c.name, m.classOf(v).name)
		}
		items, allowed = t.items, len(t.items)
	case matchesSelf(c):
		self, allowed = true, 1
	}
	if allowed < positional {
		return false, nil, m.Raise(m.rt.classes.TypeError, "%s() accepts %d positional sub-pattern%s (%d given)", c.name, allowed, plural(allowed), positional)
	}
	if self {
		return true, nil, nil
	}
	m.ChargeEach(positional, m.dyn.Element)
	args = make([]*Str, 0, positional)
	// Paid: by the charge for each above, and by take.
	for _, item := range items[:positional] {
		s, ok := item.str()
		if !ok {
			return false, nil, m.Raise(m.rt.classes.TypeError, "__match_args__ elements must be strings (got %s)", m.classOf(item).name)
		}
		args = append(args, s)
	}
	return false, args, nil
}

// matchesSelf tells builtin classes, and those below them, whose one positional
// sub-pattern is for the whole subject. Their layout tells: each has one of its own, which
// the classes below it inherit, however long their order of resolution.
func matchesSelf(c *Class) bool {
	switch c.layout {
	case KindBool, KindByteArray, KindBytes, KindDict, KindFloat, KindFrozenSet, KindInt, KindList, KindSet, KindStr, KindTuple:
		return true
	}
	return false
}
