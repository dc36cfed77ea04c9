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
