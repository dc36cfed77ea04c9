package vm

// newBytes makes bytes; it announces memory and charges nothing.
func (m *Machine) newBytes(b string) *Bytes {
	m.Alloc(strBytes + len(b))
	o := &Bytes{b: b}
	o.head(KindBytes, nil, o)
	return o
}

func (b *Bytes) val() Value { return Value{ref: &b.Object} }

// newByteArray takes the slice over.
func (m *Machine) newByteArray(b []byte) *ByteArray {
	m.Alloc(strBytes + len(b))
	o := &ByteArray{b: b}
	o.head(KindByteArray, nil, o)
	return o
}

func (b *ByteArray) val() Value { return Value{ref: &b.Object} }

// bytesOf returns what bytes and bytearray hold: for a bytearray a copy, as it may
// change. The copy is paid for here, whatever of it an operation reads: the comparison
// of a long bytearray with an empty one copies it all.
func (m *Machine) bytesOf(v Value) (string, bool) {
	switch o := v.Self().(type) {
	case *Bytes:
		return o.b, true
	case *ByteArray:
		m.ChargeEach(copyUnits(len(o.b), m), m.dyn.Char)
		return string(o.b), true
	}
	return "", false
}

// isBytes tells whether v is bytes or a bytearray.
func (v Value) isBytes() bool { return v.Kind() == KindBytes || v.Kind() == KindByteArray }

// copyUnits is how many characters the copy of n bytes as a whole counts as.
func copyUnits(n int, m *Machine) int { return n / int(m.Work().KindBytes) }

// bytesLen is the length of bytes or bytearray.
func (v Value) bytesLen() int {
	switch o := v.Self().(type) {
	case *Bytes:
		return len(o.b)
	case *ByteArray:
		return len(o.b)
	}
	return 0
}

// bytesLike makes bytes, or a bytearray when v is one.
func (m *Machine) bytesLike(v Value, b string) Value {
	if v.Kind() == KindByteArray {
		return m.newByteArray([]byte(b)).val()
	}
	return m.newBytes(b).val()
}
