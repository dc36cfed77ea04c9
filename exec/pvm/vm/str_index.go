package vm

import (
	"strings"
	"unicode/utf8"
)

// textGetItem is v[key] of str, bytes and bytearray.
func (m *Machine) textGetItem(v, key Value) (Value, bool, error) {
	if !isText(v.Kind()) {
		return unbound, false, nil
	}
	if s, ok := key.Self().(*Slice); ok {
		r, err := m.textSlice(v, s)
		return r, true, err
	}
	s, isStr := v.str()
	if !key.isInteger() && !m.classOf(key).sp(spIndex).Bound() {
		return unbound, true, m.textKeyError(v, key)
	}
	n, err := m.repeatCount(key)
	if err != nil {
		if m.isRaised(err, m.rt.classes.OverflowError) {
			err = m.Raise(m.rt.classes.IndexError, "cannot fit '%s' into an index-sized integer", m.typeName(key))
		}
		return unbound, true, err
	}
	size := v.bytesLen()
	if isStr {
		size = s.points()
	}
	if n < 0 {
		n += int64(size)
	}
	if n < 0 || n >= int64(size) {
		return unbound, true, m.textRangeError(v)
	}
	switch o := v.Self().(type) {
	case *Bytes:
		return SmallInt(int64(o.b[n])), true, nil
	case *ByteArray:
		return SmallInt(int64(o.b[n])), true, nil
	}
	at := s.offset(int(n))
	return m.newStr(s.s[at : at+runeBytes(s.s[at])]).val(), true, nil
}

func (m *Machine) textKeyError(v, key Value) error {
	t := m.rt.classes.TypeError
	switch v.Kind() {
	case KindStr:
		return m.Raise(t, "string indices must be integers, not '%s'", m.typeName(key))
	case KindBytes:
		return m.Raise(t, "byte indices must be integers or slices, not %s", m.typeName(key))
	}
	return m.Raise(t, "bytearray indices must be integers or slices, not %s", m.typeName(key))
}

func (m *Machine) textRangeError(v Value) error {
	c := m.rt.classes.IndexError
	switch v.Kind() {
	case KindStr:
		return m.Raise(c, "string index out of range")
	case KindBytes:
		return m.Raise(c, "index out of range")
	}
	return m.Raise(c, "bytearray index out of range")
}

// span is a slice of a sequence: count items from first, step apart.
type span struct{ first, step, count int }

// sliceSpan resolves a slice for a length, as slice.indices does.
// length is asked after the slice's parts, whose __index__ may change a bytearray.
func (m *Machine) sliceSpan(s *Slice, length func() int) (span, error) {
	b, err := m.sliceParts(s)
	if err != nil {
		return span{}, err
	}
	b.fit(int64(length()))
	if b.count <= 1 {
		b.step = min(max(b.step, -2), 2) // no second item: only whether it is 1 matters
	}
	return span{int(b.start), int(b.step), int(b.count)}, nil
}

// textSlice is v[start:stop:step].
func (m *Machine) textSlice(v Value, sl *Slice) (Value, error) {
	s, isStr := v.str()
	sp, err := m.sliceSpan(sl, func() int {
		if isStr {
			return s.points()
		}
		return v.bytesLen()
	})
	if err != nil {
		return unbound, err
	}
	m.ChargeEach(sp.count, m.dyn.Char)
	switch {
	case isStr && sp.step == 1:
		if sp.count == s.points() && exact(v) {
			return v, nil
		}
		return m.newStr(part(s.sub(sp.first, sp.first+sp.count), len(s.s))).val(), nil
	case isStr && s.ascii():
		m.Alloc(sp.count)
		return m.newStr(string(pick(s.s, sp))).val(), nil
	case isStr:
		m.Alloc(4 * sp.count)
		m.ChargeEach(s.points(), m.dyn.Char)
		runes := []rune(s.s)
		out := make([]byte, 0, sp.count)
		// Paid: by the charge for each item above.
		for i := range sp.count {
			out = utf8.AppendRune(out, runes[sp.first+i*sp.step])
		}
		return m.newStr(string(out)).val(), nil
	}
	if o, ok := v.Self().(*ByteArray); ok {
		return m.newByteArray(pick(o.b, sp)).val(), nil
	}
	b, _ := m.bytesOf(v)
	if sp.step == 1 {
		return m.newBytes(part(b[sp.first:sp.first+sp.count], len(b))).val(), nil
	}
	return m.newBytes(string(pick(b, sp))).val(), nil
}

// part is a text out of one of whole bytes: a text of its own where it is short, or less
// than half of the other, which it would keep whole while only its own length is counted.
// The copy is paid as the slice is, a character each.
func part(s string, whole int) string {
	const long, short = 1 << 10, 64 << 10
	if whole < long || len(s) == whole || len(s) > short && 2*len(s) >= whole {
		return s
	}
	// Paid: by textSlice, a character each.
	return strings.Clone(s)
}

func pick[T string | []byte](b T, sp span) []byte {
	out := make([]byte, sp.count)
	// Paid: by textSlice, a character for each item.
	for i := range out {
		out[i] = b[sp.first+i*sp.step]
	}
	return out
}

// textSetItem is v[key] = x of bytearray; x unbound deletes.
func (m *Machine) textSetItem(v, key, x Value) (bool, error) {
	o, ok := v.Self().(*ByteArray)
	if !ok {
		return false, nil
	}
	if s, ok := key.Self().(*Slice); ok {
		return true, m.byteArraySetSlice(o, s, x)
	}
	if !key.isInteger() && !m.classOf(key).sp(spIndex).Bound() {
		return true, m.textKeyError(v, key)
	}
	n, err := m.repeatCount(key)
	if err != nil {
		if m.isRaised(err, m.rt.classes.OverflowError) {
			err = m.Raise(m.rt.classes.IndexError, "cannot fit '%s' into an index-sized integer", m.typeName(key))
		}
		return true, err
	}
	var b byte
	if x.Bound() {
		if b, err = m.byteOf(x); err != nil {
			return true, err
		}
	}
	if n < 0 {
		n += int64(len(o.b))
	}
	if n < 0 || n >= int64(len(o.b)) {
		return true, m.textRangeError(v)
	}
	if x.Bound() {
		o.b[n] = b
		return true, nil
	}
	m.ChargeEach(len(o.b)-int(n), m.dyn.Char)
	o.b = append(o.b[:n], o.b[n+1:]...)
	return true, nil
}

// byteArraySetSlice is b[slice] = x; x unbound deletes.
func (m *Machine) byteArraySetSlice(o *ByteArray, sl *Slice, x Value) error {
	put := ""
	if x.Bound() {
		b, ok := m.bytesOf(x)
		if !ok {
			if x.Kind() == KindStr || x.isInteger() {
				return m.Raise(m.rt.classes.TypeError, "can assign only bytes, buffers, or iterables of ints in range(0, 256)")
			}
			m.Charge(m.dyn.NativeCall) // for its iterator
			items, err := m.bytesFromIterable(x)
			if err != nil {
				return err
			}
			b = string(items)
		}
		put = b
	}
	sp, err := m.sliceSpan(sl, func() int { return len(o.b) })
	if err != nil {
		return err
	}
	m.ChargeEach(len(o.b)+len(put), m.dyn.Char)
	m.Alloc(len(put))
	switch {
	case sp.step == 1:
		out := append([]byte(nil), o.b[:sp.first]...)
		out = append(out, put...)
		o.b = append(out, o.b[sp.first+sp.count:]...)
		return nil
	case !x.Bound():
		gone := make([]bool, len(o.b))
		// Paid: by the charge for each byte above.
		for i := range sp.count {
			gone[sp.first+i*sp.step] = true
		}
		kept := o.b[:0]
		// Paid: by the charge for each byte above.
		for i, c := range o.b {
			if !gone[i] {
				kept = append(kept, c)
			}
		}
		o.b = kept
		return nil
	case len(put) != sp.count:
		return m.Raise(m.rt.classes.ValueError, "attempt to assign bytes of size %d to extended slice of size %d", len(put), sp.count)
	}
	// Paid: by the charge for each byte above.
	for i := range sp.count {
		o.b[sp.first+i*sp.step] = put[i]
	}
	return nil
}
