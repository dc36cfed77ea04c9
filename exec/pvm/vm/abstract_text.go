package vm

import "strings"

// specialOf returns the special method of v's class, not bound.
func (m *Machine) specialOf(v Value, sp special) (Value, bool) {
	raw := m.classOf(v).sp(sp)
	return raw, raw.Bound()
}

// callSpecial calls a special method of v; false when its class has none.
func (m *Machine) callSpecial(v Value, sp special, args ...Value) (Value, bool, error) {
	c := m.classOf(v)
	raw := c.sp(sp)
	if !raw.Bound() {
		return unbound, false, nil
	}
	if err := m.Enter(); err != nil {
		return unbound, true, err
	}
	r, err := m.callBound(raw, v, c, args...)
	m.Exit()
	return r, true, err
}

// Hash is hash(v).
func (m *Machine) Hash(v Value) (int64, error) {
	if exact(v) {
		if h, ok := m.textHash(v); ok {
			return h, nil
		}
		if h, ok := m.numberHash(v); ok {
			return h, nil
		}
		if h, ok, err := m.containerHash(v); ok || err != nil {
			return h, err
		}
	}
	c := m.classOf(v)
	raw := c.sp(spHash)
	if !raw.Bound() || raw.IsNone() {
		return 0, m.Raise(m.rt.classes.TypeError, "unhashable type: '%s'", c.name)
	}
	if n, ok := raw.ref.self.(*Native); ok && n == m.rt.objectHash {
		return m.identityHash(v), nil
	}
	r, _, err := m.callSpecial(v, spHash)
	if err != nil {
		return 0, err
	}
	if r.Kind() != KindInt && r.Kind() != KindBool {
		return 0, m.Raise(m.rt.classes.TypeError, "__hash__ method should return an integer")
	}
	if n, ok := r.smallInt(); ok {
		if n == -1 {
			n = -2
		}
		return n, nil
	}
	h, _ := m.numberHash(r)
	return h, nil
}

// identityHash is the hash of objects that compare by identity: their position
// among those asked, as an address would differ between nodes.
func (m *Machine) identityHash(v Value) int64 {
	if v.ref.self == nil {
		return int64(v.ref.kind) + 1
	}
	if v.ref.order == 0 { // never of what the runtime shares: freeze gave those theirs
		m.orders++
		v.ref.order = m.orders
	}
	return int64(v.ref.order) << 12
}

// Repr is repr(v).
func (m *Machine) Repr(v Value) (*Str, error) {
	if exact(v) {
		if s, ok, err := m.numberRepr(v); ok {
			return s, err
		}
		if s, ok := m.textRepr(v); ok {
			return s, nil
		}
		if s, ok, err := m.containerRepr(v); ok || err != nil {
			return s, err
		}
		if s, ok, err := m.plainRepr(v); ok || err != nil {
			return s, err
		}
	}
	return m.textBySpecial(v, spRepr, "__repr__")
}

func (m *Machine) textBySpecial(v Value, sp special, name string) (*Str, error) {
	r, ok, err := m.callSpecial(v, sp)
	if err != nil {
		return nil, err
	}
	if !ok {
		return m.newStr(m.objectText(v)), nil
	}
	s, isStr := r.str()
	if !isStr {
		return nil, m.Raise(m.rt.classes.TypeError, "%s returned non-string (type %s)", name, m.typeName(r))
	}
	return s, nil
}

// objectText is object.__repr__: CPython's without the address, which would
// differ between nodes.
func (m *Machine) objectText(v Value) string {
	return m.classOf(v).between("<", " object>")
}

// fullName is the class's name with its module, unless that is builtins.
func (c *Class) fullName() string { return c.between("", "") }

// between is fullName between two texts, made at once: a name may be long.
func (c *Class) between(before, after string) string {
	if c.module == "builtins" || c.module == "" {
		return before + c.qualName + after
	}
	return before + c.module + "." + c.qualName + after
}

// plainRepr is the repr of the kinds of this area.
func (m *Machine) plainRepr(v Value) (*Str, bool, error) {
	switch v.ref.kind {
	case KindNone:
		return m.newStr("None"), true, nil
	case KindEllipsis:
		return m.newStr("Ellipsis"), true, nil
	case KindNotImplemented:
		return m.newStr("NotImplemented"), true, nil
	}
	switch o := v.ref.self.(type) {
	case *Class:
		return m.newStr(o.between("<class '", "'>")), true, nil
	case *Native:
		if o.method && o.owner != nil {
			return m.newStr("<method '" + o.name + "' of '" + o.owner.name + "' objects>"), true, nil
		}
		return m.newStr("<built-in function " + o.name + ">"), true, nil
	case *Module:
		return m.newStr("<module '" + o.name + "'>"), true, nil
	case *Method:
		s, err := m.methodRepr(o)
		return s, true, err
	}
	return nil, false, nil
}

func (m *Machine) methodRepr(o *Method) (*Str, error) {
	if n, ok := o.fn.ref.self.(*Native); ok {
		return m.newStr("<built-in method " + n.name + " of " + m.typeName(o.recv) + " object>"), nil
	}
	name := "?"
	if q, ok, err := m.LookupAttr(o.fn, m.newStr("__qualname__")); err == nil && ok {
		if s, isStr := q.str(); isStr {
			name = s.s
		}
	}
	if err := m.Enter(); err != nil {
		return nil, err
	}
	defer m.Exit()
	m.Charge(m.dyn.NativeCall)
	r, err := m.Repr(o.recv)
	if err != nil {
		return nil, err
	}
	m.ChargeEach(len(r.s)/int(m.Work().KeyBytes), m.dyn.Char) // each level writes that of the one below
	return m.newStr("<bound method " + name + " of " + r.s + ">"), nil
}

// Str is str(v).
func (m *Machine) Str(v Value) (*Str, error) {
	if exact(v) {
		if s, ok := v.str(); ok {
			return s, nil
		}
		if v.ref.kind != KindException && v.ref.kind != KindInstance && v.ref.kind != KindForeign && v.ref.kind != KindMappingProxy {
			return m.Repr(v)
		}
	}
	return m.textBySpecial(v, spStr, "__str__")
}

// ASCII is ascii(v).
func (m *Machine) ASCII(v Value) (*Str, error) {
	s, err := m.Repr(v)
	if err != nil {
		return nil, err
	}
	m.ChargeEach(len(s.s), m.dyn.Char)
	return m.newStr(escapeNonASCII(s.s)), nil
}

func escapeNonASCII(s string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	// Paid: by who asks, a character for each byte.
	for _, r := range s {
		n, lead := 0, ""
		switch {
		case r < 0x80:
			b.WriteByte(byte(r))
			continue
		case r < 0x100:
			n, lead = 2, `\x`
		case r < 0x10000:
			n, lead = 4, `\u`
		default:
			n, lead = 8, `\U`
		}
		b.WriteString(lead)
		// Bounded: by 8 digits.
		for n--; n >= 0; n-- {
			b.WriteByte(digits[r>>(4*n)&15])
		}
	}
	return b.String()
}

// Format is format(v, spec).
func (m *Machine) Format(v Value, spec *Str) (*Str, error) {
	if exact(v) {
		if s, ok, err := m.builtinFormat(v, spec); ok || err != nil {
			return s, err
		}
	}
	r, _, err := m.callSpecial(v, spFormat, spec.val())
	if err != nil {
		return nil, err
	}
	s, ok := r.str()
	if !ok {
		return nil, m.Raise(m.rt.classes.TypeError, "__format__ must return a str, not %s", m.typeName(r))
	}
	return s, nil
}
