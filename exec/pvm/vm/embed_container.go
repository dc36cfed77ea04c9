package vm

// What the containers of the library need of those of the machine.

// ListBuilder makes a list of at most so many values, which may not come. The machine holds it
// until it releases the mark.
type ListBuilder struct {
	m    *Machine
	list *List
	most int
}

// NewListBuilder begins a list with room for some of its values.
func (m *Machine) NewListBuilder(room, most int) ListBuilder {
	b := ListBuilder{m, m.listTaken(nil), most}
	m.Hold(b.list.val())
	b.widen(room)
	return b
}

// widen makes room for so many values, or for as many as there will be.
func (b ListBuilder) widen(room int) {
	if room = min(room, b.most); room == 0 {
		return
	}
	old := b.list.items
	b.m.Alloc((room - cap(old)) * valueBytes)
	b.list.items = make([]Value, len(old), room)
	copy(b.list.items, old)
}

// Add puts a value at the end.
func (b ListBuilder) Add(v Value) {
	if l := b.list; len(l.items) == cap(l.items) {
		b.widen(2 * cap(l.items))
	}
	b.list.items = append(b.list.items, v)
}

// List is the list, when all its values are there: room that is left is no part of it.
func (b ListBuilder) List() Value {
	n := len(b.list.items)
	b.list.items = b.list.items[:n:n]
	return b.list.val()
}

// Items are its values.
func (b ListBuilder) Items() []Value { return b.list.items }

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
