package vm

// shapeNames bounds the attributes that a shape describes and the shapes that
// follow one; instances beyond it keep theirs in a dict.
const shapeNames = 64

// shapeStride is after how many names a shape makes an index anew: each with one of its
// own would take as long as all the names before it.
const shapeStride = 8

// shapesMax bounds the shapes of one machine, which the modelled heap leaves out.
const shapesMax = 4096

// rootShape is the shape of a fresh instance of c.
func (m *Machine) rootShape(c *Class) *shape {
	if c.builtin {
		return &m.emptyShape
	}
	if c.shape == nil {
		c.shape = &shape{}
	}
	return c.shape
}

// slot looks a name up: in the index those of whole strides, one by one those after it.
func (s *shape) slot(name *Str) (int, bool) {
	// Bounded: by shapeStride, 8.
	for i := len(s.index); i < len(s.names); i++ {
		if k := s.names[i]; k == name || k.s == name.s {
			return i, true
		}
	}
	i, ok := s.index[name.s]
	return i, ok
}

// follower is the shape with one more attribute that there is already, nil: none.
func (s *shape) follower(name *Str) *shape {
	if f := s.first; f != nil && f.names[len(s.names)].s == name.s {
		return f
	}
	return s.next[name.s]
}

// withAttr is the shape with one more attribute, nil when there are too many or its name is
// long: shapes stay until the call ends, and nothing counts their text.
func (s *shape) withAttr(m *Machine, name *Str) *shape {
	if n := s.follower(name); n != nil {
		return n
	}
	if len(s.names) >= shapeNames || len(s.next) >= shapeNames || m.shapes >= shapesMax || len(name.s) > longName {
		return nil
	}
	m.shapes++
	m.Charge(m.dyn.NativeCall)
	n := &shape{names: append(s.names[:len(s.names):len(s.names)], name), index: s.index, parent: s}
	if len(n.names)%shapeStride == 0 {
		n.index = make(map[string]int, len(n.names))
		// Paid: by the native call above, for each shapeStride names; there are shapeNames at most.
		for i, k := range n.names {
			n.index[k.s] = i
		}
	}
	s.addSuccessor(m, n, name.s)
	return n
}

// addSuccessor notes that n follows.
func (s *shape) addSuccessor(m *Machine, n *shape, name string) {
	if s.first == nil {
		s.first = n
		if s.kept {
			m.recordUndo(func() { s.first = nil }, nil)
		}
		return
	}
	if s.next == nil {
		s.next = make(map[string]*shape)
	}
	if s.kept {
		m.recordUndo(func() { delete(s.next, name) }, nil)
	}
	s.next[name] = n
}

// get reads an attribute of an instance.
func (a *Attrs) get(m *Machine, name *Str) (Value, bool) {
	if a.dict != nil {
		return a.dict.getStr(m, name)
	}
	if a.shape == nil {
		return unbound, false
	}
	i, ok := a.shape.slot(name)
	if !ok {
		return unbound, false
	}
	return a.values[i], true
}

// put writes an attribute of an instance of class c.
func (a *Attrs) put(m *Machine, c *Class, name *Str, v Value) {
	if a.dict != nil {
		a.dict.putStr(m, name, v)
		return
	}
	if a.kept {
		m.noteAttrs(a)
	}
	if a.shape == nil {
		a.shape = m.rootShape(c)
	}
	if i, ok := a.shape.slot(name); ok {
		a.values[i] = v
		return
	}
	if next := a.shape.withAttr(m, name); next != nil {
		m.Alloc(valueBytes)
		a.shape = next
		a.values = append(a.values, v)
		return
	}
	a.asDict(m).putStr(m, name, v)
}

// del removes an attribute, false when there is none.
func (a *Attrs) del(m *Machine, name *Str) (bool, error) {
	if _, ok := a.get(m, name); !ok {
		return false, nil
	}
	return m.dictDel(a.asDict(m), Value{ref: &name.Object})
}

// asDict moves the attributes to a dict, which is the instance's __dict__.
func (a *Attrs) asDict(m *Machine) *Dict {
	if a.dict != nil {
		return a.dict
	}
	if a.kept {
		m.noteAttrs(a)
	}
	m.ChargeEach(1+len(a.values), m.dyn.DictOp)
	d := m.newDict()
	if a.shape != nil && len(a.values) > 0 {
		d.table.reserve(m, len(a.values))
		// Bounded: by shapeNames, 64, once an instance.
		for i, name := range a.shape.names {
			d.putStr(m, name, a.values[i])
		}
	}
	a.dict, a.shape, a.values = d, nil, nil
	return d
}

// attrsOf returns the attributes of v, nil when it has none; create makes them
// where the class allows.
func (m *Machine) attrsOf(v Value, create bool) *Attrs {
	if v.ref == nil {
		return nil
	}
	if v.ref.attrs != nil || !create {
		return v.ref.attrs
	}
	if v.ref.self == nil || !m.classOf(v).hasDict {
		return nil
	}
	m.Alloc(attrsBytes)
	m.touch(v.ref)
	v.ref.attrs = &Attrs{}
	return v.ref.attrs
}
