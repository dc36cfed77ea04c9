package vm

import (
	"slices"
	"strings"
)

// defineByteArray gives bytearray what changes it.
func (rt *Runtime) defineByteArray(c *Class) {
	rt.methods(c, Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: byteArrayNew})
	c.Constant("__hash__", None)
	rt.receiverMethods(
		c,
		Def{Name: "__init__", Min: 1, Max: 4, Params: []string{"", "source", "encoding", "errors"}, Fn: byteArrayInit},
		Def{Name: "__setitem__", Min: 3, Max: 3, Fn: func(m *Machine, a Args) (Value, error) {
			_, err := m.textSetItem(a.Values[0], a.Values[1], a.Values[2])
			return None, err
		}},
		Def{Name: "__delitem__", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			_, err := m.textSetItem(a.Values[0], a.Values[1], unbound)
			return None, err
		}},
		Def{Name: "__iadd__", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			b, ok := m.bytesOf(a.Values[1])
			if !ok {
				return unbound, m.Raise(m.rt.classes.TypeError, "can't concat %s to bytearray", m.typeName(a.Values[1]))
			}
			arrayOf(a).extend(m, b)
			return a.Values[0], nil
		}},
		Def{Name: "__imul__", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			if !m.isIndex(a.Values[1]) {
				return unbound, m.notAnInteger(a.Values[1])
			}
			r, err := m.textRepeat(a.Values[0], a.Values[1])
			if err != nil {
				return unbound, err
			}
			arrayOf(a).b = r.Self().(*ByteArray).b
			return a.Values[0], nil
		}},
		Def{Name: "append", Min: 2, Max: 2, Fn: func(m *Machine, a Args) (Value, error) {
			b, err := m.byteOf(a.Values[1])
			if err == nil {
				arrayOf(a).extend(m, string([]byte{b}))
			}
			return None, err
		}},
		Def{Name: "extend", Min: 2, Max: 2, Fn: byteArrayExtend},
		Def{Name: "insert", Min: 3, Max: 3, Fn: byteArrayInsert},
		Def{Name: "pop", Min: 1, Max: 2, Fn: byteArrayPop},
		Def{Name: "remove", Min: 2, Max: 2, Fn: byteArrayRemove},
		Def{Name: "reverse", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			o := arrayOf(a)
			m.ChargeEach(len(o.b), m.dyn.Char)
			// Paid: by the line above.
			slices.Reverse(o.b)
			return None, nil
		}},
		Def{Name: "clear", Min: 1, Max: 1, Fn: func(_ *Machine, a Args) (Value, error) {
			arrayOf(a).b = nil
			return None, nil
		}},
		Def{Name: "copy", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			o := arrayOf(a)
			m.ChargeEach(len(o.b), m.dyn.Char)
			// Paid: by the line above.
			return m.newByteArray(slices.Clone(o.b)).val(), nil
		}},
	)
}

func arrayOf(a Args) *ByteArray { return a.Values[0].ref.self.(*ByteArray) }

// extend adds bytes at the end.
func (o *ByteArray) extend(m *Machine, b string) {
	m.ChargeEach(len(b), m.dyn.Char)
	m.Alloc(len(b))
	o.b = append(o.b, b...)
}

func byteArrayNew(m *Machine, a Args) (Value, error) {
	class, err := m.newClassArg(a.Values[0], m.rt.classes.bytearray)
	if err != nil {
		return unbound, err
	}
	o := m.newByteArray(nil)
	o.class = class
	return o.val(), nil
}

func byteArrayInit(m *Machine, a Args) (Value, error) {
	b, err := m.bytesSource("bytearray", optional(a, 1), optional(a, 2), optional(a, 3))
	if err != nil {
		return unbound, err
	}
	o := arrayOf(a)
	o.b = nil
	o.extend(m, b)
	return None, nil
}

func byteArrayExtend(m *Machine, a Args) (Value, error) {
	x := a.Values[1]
	if b, ok := m.bytesOf(x); ok {
		arrayOf(a).extend(m, b)
		return None, nil
	}
	if c := m.classOf(x); !c.sp(spIter).Bound() && !c.sp(spGetitem).Bound() {
		return unbound, m.Raise(m.rt.classes.TypeError, "can't extend bytearray with %s", m.typeName(x))
	}
	var out []byte
	err := m.Each(x, func(item Value) error {
		b, err := m.byteOf(item)
		m.Alloc(1)
		out = append(out, b)
		return err
	})
	if err == nil {
		arrayOf(a).extend(m, string(out))
	}
	return None, err
}

func byteArrayInsert(m *Machine, a Args) (Value, error) {
	i, err := m.Index(a.Values[1])
	if err != nil {
		return unbound, err
	}
	b, err := m.byteOf(a.Values[2])
	if err != nil {
		return unbound, err
	}
	o := arrayOf(a)
	n := int64(len(o.b))
	if i < 0 {
		i = max(i+n, 0)
	}
	i = min(i, n)
	m.ChargeEach(int(n-i)+1, m.dyn.Char)
	m.Alloc(1)
	// Paid: by the charge for the bytes behind it.
	o.b = slices.Insert(o.b, int(i), b)
	return None, nil
}

func byteArrayPop(m *Machine, a Args) (Value, error) {
	i := int64(-1)
	var err error
	if len(a.Values) > 1 {
		if i, err = m.Index(a.Values[1]); err != nil {
			return unbound, err
		}
	}
	o := arrayOf(a)
	if len(o.b) == 0 {
		return unbound, m.Raise(m.rt.classes.IndexError, "pop from empty bytearray")
	}
	at, ok := position(i, len(o.b))
	if !ok {
		return unbound, m.Raise(m.rt.classes.IndexError, "pop index out of range")
	}
	m.ChargeEach(len(o.b)-at, m.dyn.Char)
	b := o.b[at]
	// Paid: by the charge for the bytes behind it.
	o.b = slices.Delete(o.b, at, at+1)
	return SmallInt(int64(b)), nil
}

func byteArrayRemove(m *Machine, a Args) (Value, error) {
	b, err := m.byteOf(a.Values[1])
	if err != nil {
		return unbound, err
	}
	o := arrayOf(a)
	m.ChargeEach(len(o.b), m.dyn.Char)
	// Paid: by the line above, as the copy.
	at := strings.IndexByte(string(o.b), b)
	if at < 0 {
		return unbound, m.Raise(m.rt.classes.ValueError, "value not found in bytearray")
	}
	// Paid: by the charge for all bytes above.
	o.b = slices.Delete(o.b, at, at+1)
	return None, nil
}
