package vm

// What the containers of the library need of those of the machine.

// DictDel deletes a key and returns its value; it may call Python code.
func (m *Machine) DictDel(d *Dict, key Value) (Value, bool, error) { return m.dictTake(d, key) }

// Len returns the number of items.
func (d *Dict) Len() int { return d.table.live }

// DictEdge returns the first or the last item.
func (m *Machine) DictEdge(d *Dict, last bool) (key, v Value, ok bool) {
	var i int
	if last {
		i, ok = d.table.last(m)
	} else {
		i, ok = d.table.after(m, 0)
	}
	if !ok {
		return unbound, unbound, false
	}
	e := &d.table.entries[i]
	return e.key, e.value, true
}

// DictMove puts the item of a key to one end, false when there is none. To the
// front every item moves, and is charged for.
func (m *Machine) DictMove(d *Dict, key Value, last bool) (bool, error) {
	hash, err := m.keyHash(key)
	if err != nil {
		return false, err
	}
	i, err := d.table.find(m, key, hash)
	if err != nil || i < 0 {
		return false, err
	}
	if last {
		e := d.table.entries[i]
		d.table.remove(m, i)
		d.table.add(m, e.key, e.value, e.hash)
		return true, nil
	}
	m.ChargeEach(len(d.table.entries), m.dyn.Copy)
	d.table.toFront(m, i)
	return true, nil
}

// ReprOnce prints v by fn, or as again when v is being printed further out.
func (m *Machine) ReprOnce(v Value, again string, fn func() (string, error)) (Value, error) {
	s, err := m.reprAround(v, again, func(p *printer) error {
		text, err := fn()
		p.text(text)
		return err
	})
	if err != nil {
		return unbound, err
	}
	return s.val(), nil
}

// NewMember makes a read-only computed attribute for instances of owner and of
// classes below it.
func (m *Machine) NewMember(name string, owner *Class, get func(*Machine, Value) (Value, error), doc Value) Value {
	m.Alloc(smallBytes)
	d := &Member{name: name, owner: owner, get: get, doc: doc, set: func(m *Machine, obj, _ Value) error {
		return m.raiseAttribute(obj, m.newStr(name), "can't set attribute")
	}}
	return d.head(KindMember, nil, d)
}

func (d *Member) roots(visit func(Value)) {
	if d.owner != nil {
		visit(d.owner.value())
	}
	if d.doc.Bound() {
		visit(d.doc)
	}
}
