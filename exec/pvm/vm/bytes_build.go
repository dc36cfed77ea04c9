package vm

// bytesFromIterable is the bytes of an iterable of ints.
func (m *Machine) bytesFromIterable(v Value) ([]byte, error) {
	var out []byte
	err := m.Each(v, func(item Value) error {
		n, err := m.index(item)
		if err != nil {
			return err
		}
		if n.Big != nil || n.Small < 0 || n.Small > 255 {
			what := "bytes"
			return m.Raise(m.rt.classes.ValueError, "%s must be in range(0, 256)", what)
		}
		m.Alloc(1)
		out = append(out, byte(n.Small))
		return nil
	})
	return out, err
}

// bytesOfObject is the bytes of a bytes-like object, of __bytes__, or of an
// iterable of ints, as PyObject_Bytes.
func (m *Machine) bytesOfObject(v Value) (string, error) {
	if exact(v) {
		if b, ok := m.bytesOf(v); ok {
			return b, nil
		}
	}
	r, ok, err := m.callSpecial(v, spBytes)
	if err != nil {
		return "", err
	}
	if ok {
		b, isBytes := r.Self().(*Bytes)
		if !isBytes {
			return "", m.Raise(m.rt.classes.TypeError, "__bytes__ returned non-bytes (type %s)", m.typeName(r))
		}
		return b.b, nil
	}
	if b, ok := m.bytesOf(v); ok {
		return b, nil
	}
	c := m.classOf(v)
	if v.Kind() == KindStr || !c.sp(spIter).Bound() && !c.sp(spGetitem).Bound() {
		return "", m.Raise(m.rt.classes.TypeError, "cannot convert '%s' object to bytes", m.typeName(v))
	}
	b, err := m.bytesFromIterable(v)
	return string(b), err
}
