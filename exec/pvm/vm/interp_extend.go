package vm

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// extendDisplay executes the instructions that add to a display.
func (m *Machine) extendDisplay(regs []Value, in code.Instr) error {
	switch in.Op {
	case code.ListExtend:
		l := regs[in.A].ref.self.(*List)
		m.chargeIterator(regs[in.B])
		items, err := m.Collect(regs[in.B])
		if err != nil {
			return m.notIterableStar(regs[in.B], err)
		}
		l.extend(m, items)
	case code.SetAdd:
		return m.setAdd(regs[in.A].ref.self.(*Set), regs[in.B])
	case code.SetUpdate:
		s := regs[in.A].ref.self.(*Set)
		m.Charge(m.dyn.NativeCall) // for its iterator, which a plain list or tuple has here too
		return m.Each(regs[in.B], func(v Value) error {
			m.Charge(m.dyn.DictOp)
			return m.setAdd(s, v)
		})
	case code.DictPut:
		return m.dictPut(regs[in.A].ref.self.(*Dict), regs[in.B], regs[in.C])
	case code.DictUpdate:
		return m.mergeMapping(regs[in.A].ref.self.(*Dict), regs[in.B], unbound)
	case code.DictMerge:
		return m.mergeMapping(regs[in.A].ref.self.(*Dict), regs[in.B], regs[in.C])
	default:
		panic(&Abort{Code: Internal, Detail: "unknown instruction " + decimalText(int(in.Op))})
	}
	return nil
}

func (m *Machine) notIterableStar(v Value, err error) error {
	c := m.classOf(v)
	if !m.isRaised(err, m.rt.classes.TypeError) || c.sp(spIter).Bound() || c.sp(spGetitem).Bound() {
		return err
	}
	return m.Raise(m.rt.classes.TypeError, "Value after * must be an iterable, not %s", c.name)
}

// mergeMapping adds the entries of a mapping to d. With fn, the callable that they
// are keywords for, duplicates raise; keys that are no strings do so at the call.
func (m *Machine) mergeMapping(d *Dict, mapping, fn Value) error {
	put := func(k, v Value) error {
		m.Charge(m.dyn.DictOp)
		if fn.Bound() {
			_, dup, err := m.dictGet(d, k)
			if err != nil {
				return err
			}
			if dup {
				name, err := m.Str(k)
				if err != nil {
					return err
				}
				return m.Raise(m.rt.classes.TypeError, "%s got multiple values for keyword argument '%s'", m.callableText(fn), name.s)
			}
		}
		return m.dictPut(d, k, v)
	}
	if src, ok := mapping.ref.self.(*Dict); ok {
		if d.table.live == 0 && d.table.entries == nil && d != src {
			return m.dictAbsorb(d, src) // as a whole, at the same price
		}
		return m.eachEntry(src, put)
	}
	keys, ok, err := m.LookupAttr(mapping, m.intern("keys"))
	if err != nil {
		return err
	}
	if !ok {
		if fn.Bound() {
			return m.Raise(m.rt.classes.TypeError, "%s argument after ** must be a mapping, not %s", m.callableText(fn), m.classOf(mapping).name)
		}
		return m.Raise(m.rt.classes.TypeError, "'%s' object is not a mapping", m.classOf(mapping).name)
	}
	list, err := m.Call(keys)
	if err != nil {
		return err
	}
	return m.Each(list, func(k Value) error {
		v, err := m.GetItem(mapping, k)
		if err != nil {
			return err
		}
		return put(k, v)
	})
}

// eachEntry calls fn with the entries that d has now.
func (m *Machine) eachEntry(d *Dict, fn func(k, v Value) error) error {
	keys, values := m.dictItems(d)
	mark := len(m.temp)
	m.temp = append(append(m.temp, keys...), values...)
	defer m.releaseOnReturn(mark)
	// Paid: by dictItems, an element for each entry, and by fn.
	for i, k := range keys {
		if err := fn(k, values[i]); err != nil {
			return err
		}
	}
	return nil
}
