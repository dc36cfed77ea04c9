package vm

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// buildDisplay executes the instructions that make displays, functions and classes.
func (m *Machine) buildDisplay(f *frame, in code.Instr) error {
	regs := f.regs
	switch in.Op {
	case code.BuildTuple:
		regs[in.A] = Value{ref: &m.newTuple(m.copyRange(regs, in)).Object}
	case code.BuildList:
		regs[in.A] = Value{ref: &m.newList(m.copyRange(regs, in)).Object}
	case code.BuildSet:
		s := m.newSet()
		m.temp = append(m.temp, Value{ref: &s.Object})
		defer m.Release(len(m.temp) - 1)
		for _, v := range regs[in.B : int(in.B)+int(in.C)] {
			m.Charge(m.dyn.DictOp)
			if err := m.setAdd(s, v); err != nil {
				return err
			}
		}
		regs[in.A] = Value{ref: &s.Object}
	case code.BuildDict:
		return m.buildDict(regs, in)
	case code.BuildString:
		regs[in.A] = m.joinStrings(regs[in.B : int(in.B)+int(in.C)])
	case code.Format:
		return m.formatOp(regs, in)
	case code.ListToTuple:
		items := regs[in.B].ref.self.(*List).items
		m.ChargeEach(len(items), m.dyn.Element)
		regs[in.A] = Value{ref: &m.newTuple(append([]Value(nil), items...)).Object}
	case code.Unpack:
		return m.unpack(regs, in)
	case code.UnpackEx:
		return m.unpackEx(regs, in)
	case code.MakeFunction:
		a := int(in.A)
		regs[a] = m.makeFunction(f, m.child(f.unit, int(in.B)), regs[a:a+4])
	case code.BuildClass:
		regs[in.A] = m.buildClassNative()
	case code.SetAnnotations:
		return m.setAnnotations(f)
	default:
		return m.extendDisplay(regs, in)
	}
	return nil
}

// copyRange copies registers B to B+C-1.
func (m *Machine) copyRange(regs []Value, in code.Instr) []Value {
	m.ChargeEach(int(in.C), m.dyn.Element)
	if in.C == 0 {
		return nil
	}
	items := make([]Value, in.C)
	copy(items, regs[in.B:int(in.B)+int(in.C)])
	return items
}

func (m *Machine) buildDict(regs []Value, in code.Instr) error {
	d := m.newDict()
	mark := m.Hold(Value{ref: &d.Object})
	for i := range int(in.C) {
		m.Charge(m.dyn.DictOp)
		if err := m.dictPut(d, regs[int(in.B)+2*i], regs[int(in.B)+2*i+1]); err != nil {
			m.Release(mark)
			return err
		}
	}
	m.Release(mark)
	regs[in.A] = Value{ref: &d.Object}
	return nil
}

// joinStrings concatenates the parts of an f-string.
func (m *Machine) joinStrings(parts []Value) Value {
	n := 0
	// Paid: by the instruction that put each part into its register.
	for _, p := range parts {
		n += len(p.ref.self.(*Str).s)
	}
	m.ChargeEach(n, m.dyn.Char)
	m.Alloc(n)
	var b strings.Builder
	b.Grow(n)
	// Paid: as above, and by the charge for their bytes.
	for _, p := range parts {
		b.WriteString(p.ref.self.(*Str).s)
	}
	return Value{ref: &m.newStr(b.String()).Object}
}

// formatOp is the replacement field of an f-string.
func (m *Machine) formatOp(regs []Value, in code.Instr) error {
	v := regs[in.B]
	var s *Str
	var err error
	switch in.C & 3 {
	case 1:
		s, err = m.Str(v)
	case 2:
		s, err = m.Repr(v)
	case 3:
		s, err = m.ASCII(v)
	}
	if err != nil {
		return err
	}
	if s != nil {
		v = Value{ref: &s.Object}
	}
	if in.C&4 != 0 {
		spec, _ := regs[in.B+1].str()
		s, err = m.Format(v, spec)
	} else if s == nil {
		if v.Kind() == KindStr && v.ref.class == nil {
			regs[in.A] = v
			return nil
		}
		s, err = m.Format(v, m.intern(""))
	}
	if err != nil {
		return err
	}
	regs[in.A] = Value{ref: &s.Object}
	return nil
}

// unpack takes exactly C items out of R[B].
func (m *Machine) unpack(regs []Value, in code.Instr) error {
	v, want := regs[in.B], int(in.C)
	m.ChargeEach(want, m.dyn.Element)
	if items, ok := itemsOf(v); ok {
		if len(items) == want {
			copy(regs[in.A:], items)
			return nil
		}
		return m.unpackCount(len(items), want, "")
	}
	m.chargeIterator(v)
	items, more, err := m.takeItems(v, want)
	if err != nil {
		return err
	}
	if more || len(items) < want {
		return m.unpackCount(len(items)+int(Bool(more).bits), want, "")
	}
	copy(regs[in.A:], items)
	return nil
}

func (m *Machine) unpackCount(got, want int, least string) error {
	if got > want {
		return m.Raise(m.rt.classes.ValueError, "too many values to unpack (expected %d)", want)
	}
	return m.Raise(m.rt.classes.ValueError, "not enough values to unpack (expected %s%d, got %d)", least, want, got)
}

// takeItems takes up to want items, and looks whether there are more.
func (m *Machine) takeItems(v Value, want int) (items []Value, more bool, err error) {
	c := m.classOf(v)
	if !c.sp(spIter).Bound() && !c.sp(spGetitem).Bound() {
		return nil, false, m.Raise(m.rt.classes.TypeError, "cannot unpack non-iterable %s object", c.name)
	}
	it, err := m.Iter(v)
	if err != nil {
		return nil, false, err
	}
	mark := m.Hold(it)
	defer m.Release(mark)
	// Paid: by unpack, an element each, and by Next.
	for range want {
		x, ok, err := m.Next(it)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			return items, false, nil
		}
		m.Hold(x)
		items = append(items, x)
	}
	_, more, err = m.Next(it)
	return items, more, err
}

// unpackEx is unpacking with a starred target.
func (m *Machine) unpackEx(regs []Value, in code.Instr) error {
	v := regs[in.B]
	before, after := int(in.C&255), int(in.C>>8)
	if _, ok := itemsOf(v); !ok {
		if c := m.classOf(v); !c.sp(spIter).Bound() && !c.sp(spGetitem).Bound() {
			return m.Raise(m.rt.classes.TypeError, "cannot unpack non-iterable %s object", c.name)
		}
	}
	m.chargeIterator(v)
	m.ChargeEach(before+after+2, m.dyn.Element) // with a list, however few are left for it
	items, err := m.Collect(v)
	if err != nil {
		return err
	}
	if len(items) < before+after {
		return m.unpackCount(len(items), before+after, "at least ")
	}
	a := int(in.A)
	copy(regs[a:], items[:before])
	copy(regs[a+before+1:], items[len(items)-after:])
	middle := append([]Value(nil), items[before:len(items)-after]...)
	regs[a+before] = Value{ref: &m.newList(middle).Object}
	return nil
}

// setAnnotations makes __annotations__ where there is none.
func (m *Machine) setAnnotations(f *frame) error {
	name := m.intern("__annotations__")
	_, ok, err := m.fromNamespace(f, name)
	if err != nil {
		return err
	}
	if !f.ns.Bound() {
		_, ok = f.fn.globals.getStr(m, name)
	}
	if ok {
		return nil
	}
	return m.setName(f, name, Value{ref: &m.newDict().Object})
}

// buildClassNative is the function behind class statements.
func (m *Machine) buildClassNative() Value { return m.rt.buildClass.value() }

// frozenConstant makes a frozenset of constants.
func (m *Machine) frozenConstant(items []Value) Value {
	s := m.newSet()
	// Paid: as the constants that it takes.
	for _, v := range items {
		if err := m.setAdd(s, v); err != nil {
			panic(&Abort{Code: Internal, Detail: "unhashable constant"})
		}
	}
	s.kind = KindFrozenSet
	return Value{ref: &s.Object}
}
