package vm

// containerRepr is repr(v) of containers.
func (m *Machine) containerRepr(v Value) (*Str, bool, error) {
	var s *Str
	var err error
	switch o := v.ref.self.(type) {
	case *List:
		s, err = m.reprAround(v, "[...]", func(p *printer) error { return p.sequence("[", func() []Value { return o.items }, "]") })
	case *Tuple:
		s, err = m.reprAround(v, "(...)", func(p *printer) error {
			if len(o.items) == 1 {
				return p.sequence("(", func() []Value { return o.items }, ",)")
			}
			return p.sequence("(", func() []Value { return o.items }, ")")
		})
	case *Dict:
		s, err = m.reprAround(v, "{...}", func(p *printer) error { return p.dict(o) })
	case *Set:
		s, err = m.setRepr(v, o)
	case *DictView:
		s, err = m.reprAround(v, "...", func(p *printer) error {
			p.text(m.classOf(v).name + "(")
			return p.view(o)
		})
	case *Range:
		s, err = m.rangeRepr(o)
	case *Slice:
		s, err = m.reprAround(v, "slice(...)", func(p *printer) error {
			parts := []Value{o.start, o.stop, o.step}
			return p.sequence("slice(", func() []Value { return parts }, ")")
		})
	case *MappingProxy:
		s, err = m.reprAround(v, "mappingproxy(...)", func(p *printer) error {
			return p.value("mappingproxy(", o.mapping, ")")
		})
	default:
		return nil, false, nil
	}
	return s, true, err
}

// printer builds the text of one container. Each part is charged for by
// character as it is added.
type printer struct {
	m   *Machine
	out []byte
}

func (p *printer) text(s string) {
	p.m.ChargeEach(len(s), p.m.dyn.Char)
	if len(p.out)+len(s) > cap(p.out) {
		p.m.Alloc(len(p.out) + len(s))
	}
	p.out = append(p.out, s...)
}

func (p *printer) value(before string, v Value, after string) error {
	p.text(before)
	s, err := p.m.Repr(v)
	if err != nil {
		return err
	}
	p.text(s.s)
	p.text(after)
	return nil
}

// sequence prints a sequence that may change meanwhile.
func (p *printer) sequence(open string, items func() []Value, end string) error {
	p.text(open)
	// Paid: by text, a character each, and by Repr.
	for i := 0; i < len(items()); i++ {
		if i > 0 {
			p.text(", ")
		}
		if err := p.value("", items()[i], ""); err != nil {
			return err
		}
	}
	p.text(end)
	return nil
}

func (p *printer) dict(d *Dict) error {
	p.text("{")
	more := false
	// Paid: by text, a character each, and by after.
	for i := 0; ; i++ {
		at, ok := d.table.after(p.m, i)
		if !ok {
			break
		}
		i = at
		if more {
			p.text(", ")
		}
		more = true
		e := d.table.entries[at]
		if err := p.value("", e.key, ": "); err != nil {
			return err
		}
		if err := p.value("", e.value, ""); err != nil {
			return err
		}
	}
	p.text("}")
	return nil
}

func (p *printer) view(w *DictView) error {
	items, err := p.m.Collect(p.m.tableIter(w.how, &w.dict.table, w.dict.val()).val())
	if err != nil {
		return err
	}
	return p.sequence("[", func() []Value { return items }, "])")
}

// reprWork is how many names looked at the printer of a container counts as.
const reprWork = 8

// reprAround prints v, or again when v is being printed further out.
func (m *Machine) reprAround(v Value, again string, print func(*printer) error) (*Str, error) {
	m.looked(int64(reprWork + len(m.printing)))
	// Paid: by the line above.
	for _, o := range m.printing {
		if o == v.ref {
			return m.newStr(again), nil
		}
	}
	if err := m.Enter(); err != nil {
		return nil, err
	}
	m.printing = append(m.printing, v.ref)
	p := &printer{m: m}
	err := print(p)
	m.printing = m.printing[:len(m.printing)-1]
	m.Exit()
	if err != nil {
		return nil, err
	}
	return m.newStr(string(p.out)), nil
}

func (m *Machine) setRepr(v Value, o *Set) (*Str, error) {
	name := m.typeName(v)
	if o.table.live == 0 {
		return m.newStr(name + "()"), nil
	}
	return m.reprAround(v, name+"(...)", func(p *printer) error {
		items := m.setItems(o)
		if o.kind == KindSet && o.class == nil {
			return p.sequence("{", func() []Value { return items }, "}")
		}
		return p.sequence(name+"({", func() []Value { return items }, "})")
	})
}

// setItems copies the elements in order.
func (m *Machine) setItems(s *Set) []Value {
	m.ChargeEach(len(s.table.entries), m.dyn.Element)
	m.Alloc(s.table.live * valueBytes)
	out := make([]Value, 0, s.table.live)
	// Paid: by the charge for each entry above.
	for i := range s.table.entries {
		if e := &s.table.entries[i]; e.key.ref != nil {
			out = append(out, e.key)
		}
	}
	return out
}

func (m *Machine) rangeRepr(r *Range) (*Str, error) {
	p := &printer{m: m}
	parts := []Value{r.start, r.stop}
	if r.step != SmallInt(1) {
		parts = append(parts, r.step)
	}
	if err := p.sequence("range(", func() []Value { return parts }, ")"); err != nil {
		return nil, err
	}
	return m.newStr(string(p.out)), nil
}
