package vm

// newDict returns an empty dict.
func (m *Machine) newDict() *Dict {
	m.Alloc(dictBytes)
	d := &Dict{}
	d.head(KindDict, nil, d)
	return d
}

func (d *Dict) val() Value { return Value{ref: &d.Object} }

// dictGet looks key up. It may call __hash__ and __eq__. Like all functions on
// tables it charges nothing but comparisons of keys with equal hashes: the flat
// price of a look-up is the caller's.
func (m *Machine) dictGet(d *Dict, key Value) (Value, bool, error) {
	hash, err := m.keyHash(key)
	if err != nil {
		return unbound, false, err
	}
	i, err := d.table.find(m, key, hash)
	if err != nil || i < 0 {
		return unbound, false, err
	}
	return d.table.entries[i].value, true, nil
}

// dictPut is d[key] = v; a key that is there stays as it is, in its place.
func (m *Machine) dictPut(d *Dict, key, v Value) error {
	hash, err := m.keyHash(key)
	if err != nil {
		return err
	}
	return m.dictPutHashed(d, key, hash, v)
}

func (m *Machine) dictPutHashed(d *Dict, key Value, hash uint64, v Value) error {
	i, err := d.table.find(m, key, hash)
	if err != nil {
		return err
	}
	if i >= 0 {
		d.table.set(m, i, v)
		return nil
	}
	d.table.add(m, key, v, hash)
	return nil
}

// dictDel deletes key; false when it is not there.
func (m *Machine) dictDel(d *Dict, key Value) (bool, error) {
	_, ok, err := m.dictTake(d, key)
	return ok, err
}

// dictTake deletes key and returns its value.
func (m *Machine) dictTake(d *Dict, key Value) (Value, bool, error) {
	hash, err := m.keyHash(key)
	if err != nil {
		return unbound, false, err
	}
	i, err := d.table.find(m, key, hash)
	if err != nil || i < 0 {
		return unbound, false, err
	}
	v := d.table.entries[i].value
	d.table.removeKeepingRoom(m, i)
	return v, true, nil
}

// getStr looks a name up. It never calls Python code: keys that are no strings
// are not met.
func (d *Dict) getStr(m *Machine, key *Str) (Value, bool) {
	i := d.table.findStr(m, key, m.strHash(key))
	if i < 0 {
		return unbound, false
	}
	return d.table.entries[i].value, true
}

// findStr returns the position of a name for the caches of the interpreter, -1
// when absent; valid as long as table.version is the same.
func (d *Dict) findStr(m *Machine, key *Str) int {
	return d.table.findStr(m, key, m.strHash(key))
}

// putStr sets a name.
func (d *Dict) putStr(m *Machine, key *Str, v Value) {
	hash := m.strHash(key)
	if i := d.table.findStr(m, key, hash); i >= 0 {
		d.table.set(m, i, v)
		return
	}
	d.table.add(m, Value{ref: &key.Object}, v, hash)
}

// dictItems returns copies of the keys and values in order.
func (m *Machine) dictItems(d *Dict) (keys, values []Value) {
	n := d.table.live
	m.ChargeEach(len(d.table.entries), m.dyn.Element)
	m.Alloc(2 * n * valueBytes)
	keys, values = make([]Value, 0, n), make([]Value, 0, n)
	// Paid: by the charge for each entry above.
	for i := range d.table.entries {
		if e := &d.table.entries[i]; e.key.ref != nil {
			keys, values = append(keys, e.key), append(values, e.value)
		}
	}
	return keys, values
}

// dictPairs is dictItems as tuples.
func (m *Machine) dictPairs(d *Dict) []Value {
	n := d.table.live
	m.ChargeEach(len(d.table.entries), m.dyn.Element)
	m.Alloc(n * valueBytes)
	pairs := make([]Value, 0, n)
	// Paid: by the charge for each entry above.
	for i := range d.table.entries {
		if e := &d.table.entries[i]; e.key.ref != nil {
			pairs = append(pairs, m.newPair(e.key, e.value))
		}
	}
	return pairs
}

// dictCopy returns a plain dict with the same items.
func (m *Machine) dictCopy(d *Dict) *Dict {
	m.ChargeEach(len(d.table.entries), m.dyn.Copy)
	out := m.newDict()
	out.table.copyFrom(m, &d.table)
	return out
}

// dictAbsorb puts all items of from into d, as update does with a dict.
func (m *Machine) dictAbsorb(d, from *Dict) error {
	if d == from {
		return nil
	}
	if d.table.live == 0 && d.table.entries == nil {
		m.ChargeEach(len(from.table.entries), m.dyn.Copy)
		d.table.copyFrom(m, &from.table)
		return nil
	}
	live := from.table.live
	for i := 0; i < len(from.table.entries); i++ {
		e := from.table.entries[i]
		if e.key.ref == nil {
			m.Charge(m.dyn.Element)
			continue
		}
		m.Charge(m.dyn.DictOp)
		at, err := d.table.find(m, e.key, e.hash)
		if err != nil {
			return err
		}
		if at >= 0 {
			d.table.set(m, at, e.value)
		} else {
			d.table.add(m, e.key, e.value, e.hash)
		}
		if from.table.live != live {
			return m.Raise(m.rt.classes.RuntimeError, "dict mutated during update")
		}
	}
	return nil
}

// dictEqual compares two dicts without regard to order.
func (m *Machine) dictEqual(a, b *Dict) (bool, error) {
	if a.table.live != b.table.live {
		return false, nil
	}
	if err := m.Enter(); err != nil {
		return false, err
	}
	defer m.Exit()
	m.Charge(m.dyn.DictOp) // as compareItems
	for i := 0; i < len(a.table.entries); i++ {
		e := a.table.entries[i]
		if e.key.ref == nil {
			m.Charge(m.dyn.Element)
			continue
		}
		m.Charge(m.dyn.DictOp)
		at, err := b.table.find(m, e.key, e.hash)
		if err != nil || at < 0 {
			return false, err
		}
		eq, err := m.CompareBool(CompareEq, e.value, b.table.entries[at].value)
		if err != nil || !eq {
			return false, err
		}
	}
	return true, nil
}

// dictItem is d[key], with __missing__ for subclasses.
func (m *Machine) dictItem(d *Dict, key Value) (Value, error) {
	v, ok, err := m.dictGet(d, key)
	if ok || err != nil {
		return v, err
	}
	if d.class != nil {
		if v, ok, err = m.callSpecial(d.val(), spMissing, key); ok || err != nil {
			return v, err
		}
	}
	return unbound, m.RaiseValue(m.rt.classes.KeyError, key)
}
