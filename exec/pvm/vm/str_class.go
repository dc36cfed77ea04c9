package vm

import (
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// defineText builds str, bytes and bytearray.
func (rt *Runtime) defineText() {
	c := &rt.classes
	c.str = rt.newClass("str", KindStr)
	c.bytes = rt.newClass("bytes", KindBytes)
	c.bytearray = rt.newClass("bytearray", KindByteArray)
	rt.defineStr(c.str)
	// Bounded: by the source, once when the runtime is made.
	for _, k := range []*Class{c.str, c.bytes, c.bytearray} {
		rt.receiverMethods(k, sharedTextMethods()...)
		rt.compareMethods(k, func(m *Machine, op CompareOp, a, b Value) (Value, bool, error) { return m.textCompare(op, a, b) })
	}
	rt.defineBytes(c.bytes, c.bytearray)
}

func (rt *Runtime) defineStr(c *Class) {
	rt.methods(c, Def{Name: "__new__", Min: 1, Max: 4, Params: []string{"", "object", "encoding", "errors"}, Fn: strNew})
	rt.receiverMethods(
		c,
		Def{Name: "__str__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) {
			return m.unchanged(a.Values[0]), nil
		}},
		Def{Name: "__hash__", Min: 1, Max: 1, Fn: hashMethod},
		Def{Name: "__format__", Min: 2, Max: 2, Fn: formatMethod},
		caseMethod("lower", ucd.ToLower), caseMethod("upper", ucd.ToUpper), caseMethod("title", ucd.ToTitle),
		caseMethod("capitalize", ucd.Capitalize), caseMethod("casefold", ucd.Casefold), caseMethod("swapcase", ucd.SwapCase),
		testMethod("isalnum", has(ucd.Alphanumeric)), testMethod("isalpha", has(ucd.Alpha)),
		testMethod("isdecimal", has(ucd.Decimal)), testMethod("isdigit", has(ucd.Digit|ucd.Decimal)),
		testMethod("isnumeric", has(ucd.Numeric|ucd.Digit|ucd.Decimal)), testMethod("isspace", has(ucd.Space)),
		testMethod("islower", ucd.IsLower), testMethod("isupper", ucd.IsUpper), testMethod("istitle", ucd.IsTitle),
		testMethod("isascii", isASCII), testMethod("isidentifier", isIdentifier),
		testMethod("isprintable", func(s string) bool { return s == "" || ucd.All(s, ucd.Printable) }),
		Def{Name: "encode", Min: 1, Max: 3, Params: []string{"", "encoding", "errors"}, Fn: strEncode},
		Def{Name: "format", Min: 1, Max: -1, Keywords: true, Fn: strFormat},
		Def{Name: "format_map", Min: 2, Max: 2, Fn: strFormatMap},
		textMethod("translate", 1, 1, strTranslate),
	)
	rt.statics(c, Def{Name: "maketrans", Min: 1, Max: 3, Fn: strMakeTrans})
}

func has(p ucd.Property) func(string) bool {
	return func(s string) bool { return ucd.All(s, p) }
}

func isASCII(s string) bool {
	// Paid: by who asks, a character for each byte.
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isIdentifier(s string) bool {
	// Paid: by textMethod, a character for each byte.
	for i, r := range s {
		if i == 0 && !ucd.IsIdentStart(r) || !ucd.IsIdentContinue(r) {
			return false
		}
	}
	return s != ""
}

func testMethod(name string, test func(string) bool) Def {
	return textMethod(name, 0, 0, func(m *Machine, self Value, _ []Value) (Value, error) {
		return Bool(test(m.content(self))), nil
	})
}

func caseMethod(name string, fn func(string) string) Def {
	return textMethod(name, 0, 0, func(m *Machine, self Value, _ []Value) (Value, error) {
		s := m.content(self)
		m.Alloc(len(s))
		out := fn(s)
		if out == s {
			return m.unchanged(self), nil
		}
		return m.newStr(out).val(), nil
	})
}

// optional returns argument i, unbound when it is absent.
func optional(a Args, i int) Value {
	if i < len(a.Values) {
		return a.Values[i]
	}
	return unbound
}

// strNew is str(object=”, encoding=, errors=).
func strNew(m *Machine, a Args) (Value, error) {
	class, err := m.newClassArg(a.Values[0], m.rt.classes.str)
	if err != nil {
		return unbound, err
	}
	x, encoding, errors := optional(a, 1), optional(a, 2), optional(a, 3)
	var s *Str
	switch {
	case !x.Bound():
		s = m.newStr("")
	case !encoding.Bound() && !errors.Bound():
		s, err = m.Str(x)
	default:
		if _, _, err = m.codecArgs("str", encoding, errors); err != nil {
			return unbound, err
		}
		b, ok := m.bytesOf(x)
		switch {
		case ok:
			var v Value
			if v, err = m.decode("str", b, encoding, errors); err == nil {
				s, _ = v.str()
			}
		case x.Kind() == KindStr:
			err = m.Raise(m.rt.classes.TypeError, "decoding str is not supported")
		default:
			err = m.Raise(m.rt.classes.TypeError, "decoding to str: need a bytes-like object, %s found", m.typeName(x))
		}
	}
	if err != nil {
		return unbound, err
	}
	if class == nil {
		return s.val(), nil
	}
	return m.sameText(class, s).val(), nil
}

// strMakeTrans is str.maketrans.
func strMakeTrans(m *Machine, a Args) (Value, error) {
	d := m.newDict()
	if len(a.Values) == 1 {
		from, ok := a.Values[0].Self().(*Dict)
		if !ok {
			return unbound, m.Raise(m.rt.classes.TypeError, "if you give only one argument to maketrans it must be a dict")
		}
		keys, values := m.dictItems(from)
		m.ChargeEach(len(keys), m.dyn.DictOp)
		// Paid: by the charge for each key above.
		for i, k := range keys {
			if s, isStr := k.str(); isStr {
				if s.points() != 1 {
					return unbound, m.Raise(m.rt.classes.ValueError, "string keys in translate table must be of length 1")
				}
				r, _ := utf8.DecodeRuneInString(s.s)
				k = SmallInt(int64(r))
			} else if !k.isInteger() {
				return unbound, m.Raise(m.rt.classes.TypeError, "keys in translate table must be strings or integers")
			}
			if err := m.dictPut(d, k, values[i]); err != nil {
				return unbound, err
			}
		}
		return d.val(), nil
	}
	var parts [3]*Str
	// Bounded: by three.
	for i, v := range a.Values {
		s, ok := v.str()
		if !ok {
			if i == 0 {
				return unbound, m.Raise(m.rt.classes.TypeError, "first maketrans argument must be a string if there is a second argument")
			}
			return unbound, m.Raise(m.rt.classes.TypeError, "maketrans() argument %d must be str, not %s", i+1, m.typeName(v))
		}
		parts[i] = s
		m.ChargeEach(s.points(), m.dyn.DictOp)
	}
	if parts[0].points() != parts[1].points() {
		return unbound, m.Raise(m.rt.classes.ValueError, "the first two maketrans arguments must have equal length")
	}
	to := parts[1].s
	// Paid: by the charge for each code point above.
	for _, r := range parts[0].s {
		t, n := utf8.DecodeRuneInString(to)
		to = to[n:]
		if err := m.dictPut(d, SmallInt(int64(r)), SmallInt(int64(t))); err != nil {
			return unbound, err
		}
	}
	if parts[2] != nil {
		// Paid: by the charge for each code point above.
		for _, r := range parts[2].s {
			if err := m.dictPut(d, SmallInt(int64(r)), None); err != nil {
				return unbound, err
			}
		}
	}
	return d.val(), nil
}

// strTranslate is translate(table).
func strTranslate(m *Machine, self Value, args []Value) (Value, error) {
	s, _ := self.str()
	m.ChargeEach(s.points(), m.dyn.DictOp)
	var b strings.Builder
	for _, r := range s.s {
		v, found, err := m.translation(args[0], SmallInt(int64(r)))
		if err != nil {
			return unbound, err
		}
		if !found {
			b.WriteRune(r)
			continue
		}
		if v.IsNone() {
			continue
		}
		if t, ok := v.str(); ok {
			m.ChargeEach(len(t.s), m.dyn.Char)
			m.Alloc(len(t.s))
			b.WriteString(t.s)
			continue
		}
		n, ok := v.integer()
		switch {
		case !ok:
			return unbound, m.Raise(m.rt.classes.TypeError, "character mapping must return integer, None or str")
		case n.Big != nil || n.Small < 0 || n.Small > utf8.MaxRune || !utf8.ValidRune(rune(n.Small)):
			return unbound, m.Raise(m.rt.classes.ValueError, "character mapping must be in range(0x110000)")
		}
		b.WriteRune(rune(n.Small))
	}
	return m.newStr(b.String()).val(), nil
}

// translation is what a table says of a code point, false where it says nothing.
func (m *Machine) translation(table, point Value) (v Value, found bool, err error) {
	if d, ok := table.ref.self.(*Dict); ok && d.class == nil {
		return m.dictGet(d, point)
	}
	v, err = m.GetItem(table, point)
	if err == nil || !m.isRaised(err, m.rt.classes.LookupError) {
		return v, err == nil, err
	}
	m.ChargeEach(2, m.dyn.NativeCall) // for the exception
	return unbound, false, nil
}
