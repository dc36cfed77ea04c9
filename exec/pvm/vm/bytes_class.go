package vm

import (
	"encoding/hex"
	"strings"
)

// defineBytes gives bytes and bytearray what they have beside the shared methods.
func (rt *Runtime) defineBytes(b, array *Class) {
	rt.methods(b, Def{Name: "__new__", Min: 1, Max: 4, Params: []string{"", "source", "encoding", "errors"}, Fn: bytesNew})
	rt.receiverMethods(b, Def{Name: "__hash__", Min: 1, Max: 1, Fn: hashMethod},
		Def{Name: "__bytes__", Min: 1, Max: 1, Fn: func(m *Machine, a Args) (Value, error) { return m.unchanged(a.Values[0]), nil }})
	// Bounded: by the source, once when the runtime is made.
	for _, c := range []*Class{b, array} {
		rt.receiverMethods(c, bytesMethods()...)
		rt.classMethods(c, Def{Name: "fromhex", Min: 2, Max: 2, Fn: bytesFromHex})
		rt.statics(c, Def{Name: "maketrans", Min: 2, Max: 2, Fn: bytesMakeTrans})
	}
	rt.defineByteArray(array)
}

func bytesMethods() []Def {
	return []Def{
		byteCase("lower", func(s string, i int) byte { return lowerByte(s[i]) }),
		byteCase("upper", func(s string, i int) byte { return upperByte(s[i]) }),
		byteCase("swapcase", func(s string, i int) byte {
			if isLowerByte(s[i]) {
				return upperByte(s[i])
			}
			return lowerByte(s[i])
		}),
		byteCase("capitalize", func(s string, i int) byte {
			if i == 0 {
				return upperByte(s[i])
			}
			return lowerByte(s[i])
		}),
		byteCase("title", func(s string, i int) byte {
			if i == 0 || !isAlphaByte(s[i-1]) {
				return upperByte(s[i])
			}
			return lowerByte(s[i])
		}),
		testMethod("isalnum", allBytes(func(c byte) bool { return isAlphaByte(c) || isDigitByte(c) })),
		testMethod("isalpha", allBytes(isAlphaByte)), testMethod("isdigit", allBytes(isDigitByte)),
		testMethod("isspace", allBytes(func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' })),
		testMethod("isascii", isASCII),
		// Paid: by textMethod, a character for each byte.
		testMethod("islower", func(s string) bool { return strings.IndexFunc(s, asByte(isLowerByte)) >= 0 && !anyByte(s, isUpperByte) }),
		// Paid: by textMethod, a character for each byte.
		testMethod("isupper", func(s string) bool { return strings.IndexFunc(s, asByte(isUpperByte)) >= 0 && !anyByte(s, isLowerByte) }),
		testMethod("istitle", isTitleBytes),
		{Name: "decode", Min: 1, Max: 3, Params: []string{"", "encoding", "errors"}, Fn: func(m *Machine, a Args) (Value, error) {
			return m.decode("decode", m.content(a.Values[0]), optional(a, 1), optional(a, 2))
		}},
		{Name: "hex", Min: 1, Max: 3, Params: []string{"", "sep", "bytes_per_sep"}, Fn: bytesHex},
		{Name: "translate", Min: 2, Max: 3, Params: []string{"", "", "delete"}, Fn: bytesTranslate},
	}
}

func isLowerByte(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpperByte(c byte) bool { return c >= 'A' && c <= 'Z' }
func isAlphaByte(c byte) bool { return isLowerByte(c | 0x20) }
func isDigitByte(c byte) bool { return c >= '0' && c <= '9' }

func lowerByte(c byte) byte {
	if isUpperByte(c) {
		return c + 32
	}
	return c
}

func upperByte(c byte) byte {
	if isLowerByte(c) {
		return c - 32
	}
	return c
}

func asByte(is func(byte) bool) func(rune) bool {
	return func(r rune) bool { return r < 0x80 && is(byte(r)) }
}

func anyByte(s string, is func(byte) bool) bool {
	// Paid: by textMethod, a character for each byte.
	for i := range len(s) {
		if is(s[i]) {
			return true
		}
	}
	return false
}

func allBytes(is func(byte) bool) func(string) bool {
	return func(s string) bool { return s != "" && !anyByte(s, func(c byte) bool { return !is(c) }) }
}

func isTitleBytes(s string) bool {
	inWord, found := false, false
	// Paid: by textMethod, a character for each byte.
	for i := range len(s) {
		switch c := s[i]; {
		case isUpperByte(c):
			if inWord {
				return false
			}
			inWord, found = true, true
		case isLowerByte(c):
			if !inWord {
				return false
			}
		default:
			inWord = false
		}
	}
	return found
}

func byteCase(name string, fn func(s string, i int) byte) Def {
	return textMethod(name, 0, 0, func(m *Machine, self Value, _ []Value) (Value, error) {
		s := m.content(self)
		m.Alloc(len(s))
		out := make([]byte, len(s))
		// Paid: by textMethod, a character for each byte.
		for i := range out {
			out[i] = fn(s, i)
		}
		return m.bytesLike(self, string(out)), nil
	})
}

// bytesNew is bytes(source, encoding, errors).
func bytesNew(m *Machine, a Args) (Value, error) {
	class, err := m.newClassArg(a.Values[0], m.rt.classes.bytes)
	if err != nil {
		return unbound, err
	}
	b, err := m.bytesSource("bytes", optional(a, 1), optional(a, 2), optional(a, 3))
	if err != nil {
		return unbound, err
	}
	if x := optional(a, 1); class == nil && x.Bound() && exact(x) && x.Kind() == KindBytes {
		return x, nil
	}
	o := m.newBytes(b)
	o.class = class
	return o.val(), nil
}

// bytesSource is the bytes that a constructor is called for.
func (m *Machine) bytesSource(fn string, x, encoding, errors Value) (string, error) {
	if s, ok := x.str(); ok && x.Bound() && (encoding.Bound() || errors.Bound() || fn != "bytes" || !m.classOf(x).sp(spBytes).Bound()) {
		if !encoding.Bound() {
			if errors.Bound() {
				return m.encode(fn, s, unbound, errors)
			}
			return "", m.Raise(m.rt.classes.TypeError, "string argument without an encoding")
		}
		return m.encode(fn, s, encoding, errors)
	}
	if encoding.Bound() || errors.Bound() {
		what := "encoding"
		if !encoding.Bound() {
			what = "errors"
		}
		if _, _, err := m.codecArgs(fn, encoding, errors); err != nil && m.isRaised(err, m.rt.classes.TypeError) {
			return "", err
		}
		return "", m.Raise(m.rt.classes.TypeError, "%s without a string argument", what)
	}
	if !x.Bound() {
		return "", nil
	}
	if !x.isInteger() && (isText(x.Kind()) || !m.classOf(x).sp(spIndex).Bound() || m.classOf(x).sp(spBytes).Bound()) {
		return m.bytesOfObject(x)
	}
	n, err := m.repeatCount(x)
	if err != nil {
		return "", err
	}
	if n < 0 {
		return "", m.Raise(m.rt.classes.ValueError, "negative count")
	}
	m.reserveText(n)
	// Paid: by reserve.
	return strings.Repeat("\x00", int(n)), nil
}

func bytesFromHex(m *Machine, a Args) (Value, error) {
	s, ok := a.Values[1].str()
	if !ok {
		return unbound, m.Raise(m.rt.classes.TypeError, "fromhex() argument must be str, not %s", m.typeName(a.Values[1]))
	}
	m.ChargeEach(len(s.s), m.dyn.Char)
	m.Alloc(len(s.s) / 2)
	out := make([]byte, 0, len(s.s)/2)
	// Paid: by the charge for each byte above.
	for i := 0; i < len(s.s); {
		if c := s.s[i]; c == ' ' || c >= '\t' && c <= '\r' {
			i++
			continue
		}
		var one [1]byte
		end := min(i+2, len(s.s))
		if _, err := hex.Decode(one[:], []byte(s.s[i:end])); err != nil {
			if hexDigit(s.s[i]) {
				i++
			}
			return unbound, m.Raise(m.rt.classes.ValueError, "non-hexadecimal number found in fromhex() arg at position %d", s.position(i))
		}
		out = append(out, one[0])
		i += 2
	}
	c, _ := a.Values[0].asClass()
	switch c {
	case m.rt.classes.bytes:
		return m.newBytes(string(out)).val(), nil
	case m.rt.classes.bytearray:
		return m.newByteArray(out).val(), nil
	}
	return m.Call(a.Values[0], m.newBytes(string(out)).val())
}

func hexDigit(c byte) bool { return isDigitByte(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// bytesHex is hex(sep, bytes_per_sep=1).
func bytesHex(m *Machine, a Args) (Value, error) {
	b := m.content(a.Values[0])
	m.ChargeEach(len(b), m.dyn.Char)
	sep, group := "", int64(1)
	if x := optional(a, 1); x.Bound() {
		n, err := m.Len(x)
		if err != nil {
			return unbound, err
		}
		if n != 1 {
			return unbound, m.Raise(m.rt.classes.ValueError, "sep must be length 1.")
		}
		if !isText(x.Kind()) {
			return unbound, m.Raise(m.rt.classes.TypeError, "sep must be str or bytes.")
		}
		sep = m.content(x)
		if !isASCII(sep[:min(len(sep), 4)]) { // one character at most: a str's class may answer len() itself
			return unbound, m.Raise(m.rt.classes.ValueError, "sep must be ASCII.")
		}
		if len(sep) != 1 {
			return unbound, m.Raise(m.rt.classes.ValueError, "sep must be length 1.")
		}
	}
	if x := optional(a, 2); x.Bound() {
		var err error
		if group, err = m.Index(x); err != nil {
			return unbound, err
		}
	}
	m.reserveText(3 * int64(len(b)))
	if sep == "" || group == 0 {
		return m.newStr(hex.EncodeToString([]byte(b))).val(), nil
	}
	n := int64(len(b))
	size, first := group, int64(0)
	if group > 0 {
		first = n % size // groups are counted from the right
	} else {
		size = -group
	}
	var out strings.Builder
	// Paid: by the charges above, four characters for each byte.
	for i := range n {
		if i > 0 && (i-first)%size == 0 {
			out.WriteString(sep)
		}
		out.WriteString(hex.EncodeToString([]byte{b[i]}))
	}
	return m.newStr(out.String()).val(), nil
}

func bytesMakeTrans(m *Machine, a Args) (Value, error) {
	from, err := m.textArg(None, a.Values[0], "")
	if err != nil {
		return unbound, err
	}
	to, err := m.textArg(None, a.Values[1], "")
	if err != nil {
		return unbound, err
	}
	if len(from) != len(to) {
		return unbound, m.Raise(m.rt.classes.ValueError, "maketrans arguments must have same length")
	}
	m.ChargeEach(len(from), m.dyn.Char)
	m.Charge(m.Work().ByteTable * m.dyn.Char)
	var table [256]byte
	// Bounded: by 256, which ByteTable pays for.
	for i := range table {
		table[i] = byte(i)
	}
	// Paid: by the charge for each byte above.
	for i := range len(from) {
		table[from[i]] = to[i]
	}
	return m.newBytes(string(table[:])).val(), nil
}

// bytesTranslate is translate(table, /, delete=b”).
func bytesTranslate(m *Machine, a Args) (Value, error) {
	self := a.Values[0]
	table := ""
	if !a.Values[1].IsNone() {
		t, err := m.textArg(self, a.Values[1], "")
		if err != nil {
			return unbound, err
		}
		if len(t) != 256 {
			return unbound, m.Raise(m.rt.classes.ValueError, "translation table must be 256 characters long")
		}
		table = t
	}
	var gone [256]bool
	if x := optional(a, 2); x.Bound() {
		d, err := m.textArg(self, x, "")
		if err != nil {
			return unbound, err
		}
		m.ChargeEach(len(d), m.dyn.Char)
		// Paid: by the line above.
		for i := range len(d) {
			gone[d[i]] = true
		}
	}
	b := m.content(self)
	m.ChargeEach(len(b), m.dyn.Char)
	m.Alloc(len(b))
	out := make([]byte, 0, len(b))
	// Paid: by the charge for each byte above.
	for i := range len(b) {
		switch {
		case gone[b[i]]:
		case table != "":
			out = append(out, table[b[i]])
		default:
			out = append(out, b[i])
		}
	}
	return m.bytesLike(self, string(out)), nil
}
