package vm

import (
	"strings"
)

// textBinary is a op b of str, bytes and bytearray: +, * and %.
func (m *Machine) textBinary(op Operator, a, b Value) (Value, bool, error) {
	ka, kb := a.Kind(), b.Kind()
	switch op {
	case OpAdd:
		if ka == KindStr {
			r, err := m.strAdd(a, b)
			return r, true, err
		}
		if ka == KindBytes || ka == KindByteArray {
			r, err := m.bytesAdd(a, b)
			return r, true, err
		}
	case OpMul:
		if isText(kb) && !isText(ka) {
			a, b, ka = b, a, kb
		}
		if isText(ka) {
			r, err := m.textRepeat(a, b)
			return r, true, err
		}
	case OpMod:
		if isText(ka) {
			r, err := m.textPercent(a, b)
			return r, true, err
		}
	}
	return unbound, false, nil
}

func isText(k Kind) bool { return k == KindStr || k == KindBytes || k == KindByteArray }

func (m *Machine) strAdd(a, b Value) (Value, error) {
	x, _ := a.str()
	y, ok := b.str()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, `can only concatenate str (not "%s") to str`, m.typeName(b))
	}
	n := len(x.s) + len(y.s)
	m.ChargeEach(n, m.dyn.Char)
	switch {
	case len(x.s) == 0 && exact(b):
		return b, nil
	case len(y.s) == 0 && exact(a):
		return a, nil
	}
	m.Alloc(strBytes + n)
	return fillStr(new(Str), nil, m.concat(x.s, y.s), x.points()+y.points()).val(), nil
}

func (m *Machine) bytesAdd(a, b Value) (Value, error) {
	if !b.isBytes() {
		return unbound, m.Raise(m.rt.classes.TypeError, "can't concat %s to %s", m.typeName(b), m.typeName(a))
	}
	m.ChargeEach(2+a.bytesLen()+b.bytesLen(), m.dyn.Char)
	x, _ := m.bytesOf(a)
	y, _ := m.bytesOf(b)
	return m.bytesLike(a, x+y), nil
}

// textRepeat is text * count.
func (m *Machine) textRepeat(a, count Value) (Value, error) {
	if !count.isInteger() && !m.classOf(count).sp(spIndex).Bound() {
		return unbound, m.Raise(m.rt.classes.TypeError, "can't multiply sequence by non-int of type '%s'", m.typeName(count))
	}
	n, err := m.repeatCount(count)
	if err != nil {
		return unbound, err
	}
	s, isStr := a.str()
	size := a.bytesLen()
	if isStr {
		size = len(s.s)
	}
	if n <= 0 || size == 0 {
		n = 0
	}
	if size > 0 && n > m.heap.limit/int64(size) {
		m.Alloc(-1) // past the limit: this aborts
	}
	total := size * int(n)
	m.Alloc(total)
	m.ChargeEach(total, m.dyn.Char)
	if isStr {
		if n == 1 && exact(a) {
			return a, nil
		}
		// Paid: by the charge for the result above.
		return m.newStr(strings.Repeat(s.s, int(n))).val(), nil
	}
	m.ChargeEach(2, m.dyn.Char) // for the bytes, which may be none
	b, _ := m.bytesOf(a)
	// Paid: by the charge for the result above.
	return m.bytesLike(a, strings.Repeat(b, int(n))), nil
}

// repeatCount is a count by which a sequence is repeated.
func (m *Machine) repeatCount(v Value) (int64, error) {
	n, err := m.index(v)
	if err != nil {
		return 0, err
	}
	if n.Big != nil {
		return 0, m.Raise(m.rt.classes.OverflowError, "cannot fit '%s' into an index-sized integer", m.typeName(v))
	}
	return n.Small, nil
}

// textCompare is a op b of two strings, under NFC, or of bytes and bytearray.
func (m *Machine) textCompare(op CompareOp, a, b Value) (Value, bool, error) {
	x, okA := a.str()
	y, okB := b.str()
	if okA && okB {
		if x == y {
			return ordered(op, 0), true, nil
		}
		if op <= CompareNe {
			return Bool(m.strEqual(x, y) == (op == CompareEq)), true, nil
		}
		m.chargeTexts(x, y)
		// Paid: by chargeTexts.
		return ordered(op, strings.Compare(m.normal(x), m.normal(y))), true, nil
	}
	if okA || okB {
		return unbound, false, nil
	}
	if !a.isBytes() || !b.isBytes() {
		return unbound, false, nil
	}
	p, _ := m.bytesOf(a)
	q, _ := m.bytesOf(b)
	m.ChargeEach(min(len(p), len(q)), m.dyn.Char)
	// Paid: by the charge for the shorter one above.
	return ordered(op, strings.Compare(p, q)), true, nil
}

// strEqual is x == y under NFC.
func (m *Machine) strEqual(x, y *Str) bool {
	if x.ascii() && y.ascii() && len(x.s) != len(y.s) {
		return false
	}
	m.chargeTexts(x, y)
	if x.s == y.s {
		return true
	}
	if x.ascii() && y.ascii() {
		return false
	}
	return m.normal(x) == m.normal(y)
}

// chargeTexts charges for a comparison of two texts: to the end of the shorter one, and
// of both when they are put in normal form for it.
func (m *Machine) chargeTexts(x, y *Str) {
	n := min(len(x.s), len(y.s))
	if !x.ascii() || !y.ascii() {
		n = max(len(x.s), len(y.s))
	}
	m.ChargeEach(n, m.dyn.Char)
}

// textContains is x in v.
func (m *Machine) textContains(v, x Value) (is, ok bool, err error) {
	if s, isStr := v.str(); isStr {
		t, is := x.str()
		if !is {
			return false, true, m.Raise(m.rt.classes.TypeError, "'in <string>' requires string as left operand, not %s", m.typeName(x))
		}
		m.ChargeEach(len(s.s), m.dyn.Char)
		return indexText(s.s, t.s) >= 0, true, nil
	}
	if k := v.Kind(); k != KindBytes && k != KindByteArray {
		return false, false, nil
	}
	sub, err := m.bytesOrByte(x, "a bytes-like object is required, not '%s'")
	if err != nil {
		return false, true, err
	}
	b, _ := m.bytesOf(v)
	m.ChargeEach(len(b), m.dyn.Char)
	return indexText(b, sub) >= 0, true, nil
}

// bytesOrByte is what bytes search for: bytes, or a byte given as an int.
func (m *Machine) bytesOrByte(x Value, text string) (string, error) {
	if b, ok := m.bytesOf(x); ok {
		return b, nil
	}
	if !x.isInteger() && !m.classOf(x).sp(spIndex).Bound() {
		return "", m.Raise(m.rt.classes.TypeError, text, m.typeName(x))
	}
	b, err := m.byteOf(x)
	return string([]byte{b}), err
}

// byteOf is an int in range(256).
func (m *Machine) byteOf(x Value) (byte, error) {
	n, err := m.index(x)
	if err != nil {
		return 0, err
	}
	if n.Big != nil || n.Small < 0 || n.Small > 255 {
		return 0, m.Raise(m.rt.classes.ValueError, "byte must be in range(0, 256)")
	}
	return byte(n.Small), nil
}

// textIter is iter(v) of str, bytes and bytearray.
func (m *Machine) textIter(v Value) (Value, bool) {
	b := &m.rt.classes
	switch o := v.Self().(type) {
	case *Str:
		it := m.newIterator(iterStr, v)
		it.unseen = int64(o.runes)
		if it.of = b.strIterator; o.ascii() {
			it.of = b.asciiIterator
		}
		return it.val(), true
	case *Bytes:
		it := m.newIterator(iterBytes, v)
		it.of = b.bytesIterator
		return it.val(), true
	case *ByteArray:
		it := m.newIterator(iterByteArray, v)
		it.of = b.byteArrayIterator
		return it.val(), true
	}
	return unbound, false
}

// textNext steps an iterator over str, bytes or bytearray.
func (m *Machine) textNext(it *Iterator) (Value, bool) {
	at := int(it.at)
	switch o := it.source.Self().(type) {
	case *Str:
		if at < len(o.s) {
			n := runeBytes(o.s[at])
			if n > 1 {
				m.Charge(2 * m.dyn.Element) // for an object; those of ASCII are there
			}
			it.at += int64(n)
			it.unseen--
			return m.newStr(o.s[at : at+n]).val(), true
		}
	case *Bytes:
		if at < len(o.b) {
			it.at++
			return SmallInt(int64(o.b[at])), true
		}
	case *ByteArray:
		if at < len(o.b) {
			it.at++
			return SmallInt(int64(o.b[at])), true
		}
	}
	it.exhaust()
	return unbound, false
}
