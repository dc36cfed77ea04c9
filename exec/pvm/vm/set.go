package vm

// newSet returns an empty set.
func (m *Machine) newSet() *Set { return m.newSetOf(KindSet) }

func (m *Machine) newSetOf(kind Kind) *Set {
	m.Alloc(setBytes)
	s := &Set{}
	s.head(kind, nil, s)
	return s
}

func (s *Set) val() Value { return Value{ref: &s.Object} }

// setAdd adds x; an equal element that is there stays.
func (m *Machine) setAdd(s *Set, x Value) error {
	hash, err := m.keyHash(x)
	if err != nil {
		return err
	}
	return m.setAddHashed(s, x, hash)
}

func (m *Machine) setAddHashed(s *Set, x Value, hash uint64) error {
	i, err := s.table.find(m, x, hash)
	if err != nil || i >= 0 {
		return err
	}
	s.table.add(m, x, unbound, hash)
	return nil
}

// setHas tells whether x is in s. A set that is looked for in a set is taken as
// a frozenset.
func (m *Machine) setHas(s *Set, x Value) (bool, error) {
	i, _, err := m.setFind(s, x)
	return i >= 0, err
}

func (m *Machine) setFind(s *Set, x Value) (int, uint64, error) {
	hash, err := m.keyHash(x)
	if err != nil {
		o, ok := x.ref.self.(*Set)
		if !ok || o.kind != KindSet || !m.isRaised(err, m.rt.classes.TypeError) {
			return -1, 0, err
		}
		hash = m.rt.spread(m.setHash(o))
	}
	i, err := s.table.find(m, x, hash)
	return i, hash, err
}
