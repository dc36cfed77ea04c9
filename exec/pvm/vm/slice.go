package vm

// newSlice returns slice(start, stop, step).
func (m *Machine) newSlice(start, stop, step Value) Value {
	m.Alloc(smallBytes)
	s := &Slice{start: start, stop: stop, step: step}
	return s.head(KindSlice, nil, s)
}

// asIndex returns v as an int where it is one or has __index__; false when it is
// neither.
func (m *Machine) asIndex(v Value) (Value, bool, error) {
	switch v.ref.kind {
	case KindInt:
		return v, true, nil
	case KindBool:
		return SmallInt(int64(v.bits)), true, nil
	}
	r, ok, err := m.callSpecial(v, spIndex)
	if !ok || err != nil {
		return unbound, ok, err
	}
	switch r.ref.kind {
	case KindInt:
		return r, true, nil
	case KindBool:
		return SmallInt(int64(r.bits)), true, nil
	}
	return unbound, true, m.Raise(m.rt.classes.TypeError, "__index__ returned non-int (type %s)", m.typeName(r))
}

// clamped is an int, cut to the ends of 64 bits.
func clamped(v Value) int64 {
	if n, ok := v.smallInt(); ok {
		return n
	}
	n, _ := v.BigInt()
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return minInt64
	}
	return maxInt64
}

// sliceIndex reads one part of a slice.
func (m *Machine) sliceIndex(v Value, absent int64) (int64, error) {
	if n, ok := v.smallInt(); ok {
		return n, nil
	}
	if v.IsNone() {
		return absent, nil
	}
	n, ok, err := m.asIndex(v)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, m.Raise(m.rt.classes.TypeError, "slice indices must be integers or None or have an __index__ method")
	}
	return clamped(n), nil
}

// The ends of 64 bits; package math is none of a machine without floats.
const (
	maxInt64 = 1<<63 - 1
	minInt64 = -1 << 63
)

// bounds are the positions start, start+step, ... that a slice picks; count of
// them.
type bounds struct{ start, stop, step, count int64 }

// sliceParts reads the three parts, as PySlice_Unpack.
func (m *Machine) sliceParts(s *Slice) (bounds, error) {
	var b bounds
	var err error
	if b.step, err = m.sliceIndex(s.step, 1); err != nil {
		return b, err
	}
	if b.step == 0 {
		return b, m.Raise(m.rt.classes.ValueError, "slice step cannot be zero")
	}
	b.step = max(b.step, -maxInt64)
	first, last := int64(0), int64(maxInt64)
	if b.step < 0 {
		first, last = maxInt64, minInt64
	}
	if b.start, err = m.sliceIndex(s.start, first); err != nil {
		return b, err
	}
	b.stop, err = m.sliceIndex(s.stop, last)
	return b, err
}

// fit cuts the bounds to a sequence of n items, as PySlice_AdjustIndices.
func (b *bounds) fit(n int64) {
	low, high := int64(0), n
	if b.step < 0 {
		low, high = -1, n-1
	}
	cut := func(i int64) int64 {
		if i < 0 {
			i += n
		}
		return min(max(i, low), high)
	}
	b.start, b.stop = cut(b.start), cut(b.stop)
	b.count = 0
	switch {
	case b.step < 0 && b.stop < b.start:
		b.count = (b.start-b.stop-1)/-b.step + 1
	case b.step > 0 && b.start < b.stop:
		b.count = (b.stop-b.start-1)/b.step + 1
	}
}

// sliceBounds is what s picks of n items. Reading the parts may call Python code,
// so of a list the length is read by the caller afterwards; see sliceParts.
func (m *Machine) sliceBounds(s *Slice, n int) (bounds, error) {
	b, err := m.sliceParts(s)
	if err == nil {
		b.fit(int64(n))
	}
	return b, err
}

// pick copies what the bounds select of items.
func (m *Machine) pick(items []Value, b bounds) []Value {
	m.ChargeEach(int(b.count), m.dyn.Element)
	m.Alloc(int(b.count) * valueBytes)
	out := make([]Value, b.count)
	if b.step == 1 {
		copy(out, items[b.start:])
		return out
	}
	// Paid: by the charge for each item above.
	for i := range out {
		out[i] = items[b.start+int64(i)*b.step]
	}
	return out
}
