package vm

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// codec is one of the encodings that the machine knows.
type codec uint8

const (
	codecUTF8 codec = iota
	codecASCII
	codecLatin1
)

// codecNames are the names in error messages.
var codecNames = [...]string{"utf-8", "ascii", "latin-1"}

// codecArgs reads the arguments encoding and errors.
func (m *Machine) codecArgs(fn string, encoding, errors Value) (codec, string, error) {
	names := [2]string{"utf-8", "strict"}
	for i, v := range []Value{encoding, errors} {
		if !v.Bound() {
			continue
		}
		s, ok := v.str()
		if !ok {
			return 0, "", m.Raise(m.rt.classes.TypeError, "%s() argument '%s' must be str, not %s", fn, [...]string{"encoding", "errors"}[i], m.typeName(v))
		}
		m.ChargeEach(len(s.s), m.dyn.Char)
		names[i] = s.s
	}
	switch plainCodec(names[0]) {
	case "utf-8", "utf8", "u8", "utf", "cp65001":
		return codecUTF8, names[1], nil
	case "ascii", "us-ascii", "646", "ansi-x3.4-1968", "iso646-us":
		return codecASCII, names[1], nil
	case "latin-1", "latin1", "latin", "l1", "iso-8859-1", "iso8859-1", "8859", "cp819":
		return codecLatin1, names[1], nil
	}
	return 0, "", m.Raise(m.rt.classes.LookupError, "unknown encoding: %s", names[0])
}

// plainCodec is the name of an encoding in lower case and with hyphens, "" where it is
// longer than any.
func plainCodec(name string) string {
	var plain [16]byte
	if len(name) > len(plain) {
		return ""
	}
	// Bounded: by 16 bytes.
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c == '_' || c == ' ':
			c = '-'
		}
		plain[i] = c
	}
	return string(plain[:len(name)])
}

func strEncode(m *Machine, a Args) (Value, error) {
	s, _ := a.Values[0].str()
	b, err := m.encode("encode", s, optional(a, 1), optional(a, 2))
	if err != nil {
		return unbound, err
	}
	return m.newBytes(b).val(), nil
}

// encode is s.encode(encoding, errors).
func (m *Machine) encode(fn string, s *Str, encoding, errors Value) (string, error) {
	c, handler, err := m.codecArgs(fn, encoding, errors)
	if err != nil {
		return "", err
	}
	m.ChargeEach(len(s.s), m.dyn.Char)
	if c == codecUTF8 || s.ascii() {
		return s.s, nil
	}
	limit, reason := rune(128), "ordinal not in range(128)"
	if c == codecLatin1 {
		limit, reason = 256, "ordinal not in range(256)"
	}
	m.Alloc(len(s.s))
	out := make([]byte, 0, s.points())
	at := 0
	// Paid: by the charge for each byte above.
	for i, r := range s.s {
		if r < limit {
			out = append(out, byte(r))
			at++
			continue
		}
		switch handler {
		case "ignore":
		case "replace":
			out = append(out, '?')
		case "backslashreplace":
			m.reserveText(10)
			out = append(out, escapeNonASCII(string(r))...)
		case "xmlcharrefreplace":
			m.reserveText(10)
			out = append(strconv.AppendInt(append(out, "&#"...), int64(r), 10), ';')
		case "strict":
			end := at
			// Paid: by the charge for each byte above, once: it ends with an error.
			for _, q := range s.s[i:] {
				if q < limit {
					break
				}
				end++
			}
			return "", m.RaiseValue(m.rt.classes.UnicodeEncodeError, m.newStr(codecNames[c]).val(), s.val(), SmallInt(int64(at)), SmallInt(int64(end)), m.newStr(reason).val())
		default:
			return "", m.Raise(m.rt.classes.LookupError, "unknown error handler name '%s'", handler)
		}
		at++
	}
	return string(out), nil
}

// decode is bytes.decode(encoding, errors). What would decode to a surrogate is
// an error, as in CPython.
func (m *Machine) decode(fn, b string, encoding, errors Value) (Value, error) {
	c, handler, err := m.codecArgs(fn, encoding, errors)
	if err != nil {
		return unbound, err
	}
	m.ChargeEach(len(b), m.dyn.Char)
	if isASCII(b) || c == codecUTF8 && utf8.ValidString(b) {
		return m.newStr(b).val(), nil
	}
	m.Alloc(2 * len(b))
	var out strings.Builder
	// Paid: by the charge for each byte above.
	for i := 0; i < len(b); {
		n, reason := decodeStep(c, b[i:])
		if reason == "" {
			if c == codecLatin1 {
				out.WriteRune(rune(b[i]))
			} else {
				out.WriteString(b[i : i+n])
			}
			i += n
			continue
		}
		switch handler {
		case "ignore":
		case "replace":
			m.reserveText(2)
			out.WriteRune(utf8.RuneError)
		case "backslashreplace":
			m.reserveText(int64(3 * n))
			// Bounded: by three bytes, which reserve pays for.
			for _, x := range []byte(b[i : i+n]) {
				out.WriteString(`\x` + string("0123456789abcdef"[x>>4]) + string("0123456789abcdef"[x&15]))
			}
		case "strict":
			return unbound, m.RaiseValue(m.rt.classes.UnicodeDecodeError, m.newStr(codecNames[c]).val(), m.newBytes(b).val(), SmallInt(int64(i)), SmallInt(int64(i+n)), m.newStr(reason).val())
		default:
			return unbound, m.Raise(m.rt.classes.LookupError, "unknown error handler name '%s'", handler)
		}
		i += n
	}
	return m.newStr(out.String()).val(), nil
}

// decodeStep is the length of the next code point, or of what is wrong with the
// reason.
func decodeStep(c codec, b string) (n int, reason string) {
	switch {
	case c == codecLatin1 || b[0] < utf8.RuneSelf:
		return 1, ""
	case c == codecASCII:
		return 1, "ordinal not in range(128)"
	}
	if r, n := utf8.DecodeRuneInString(b); r != utf8.RuneError || n > 1 {
		return n, ""
	}
	first := b[0]
	if first < 0xc2 || first > 0xf4 {
		return 1, "invalid start byte"
	}
	low, high := byte(0x80), byte(0xbf)
	switch first {
	case 0xe0:
		low = 0xa0
	case 0xed:
		high = 0x9f
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}
	// Bounded: by four bytes.
	for i := 1; i < runeBytes(first); i++ {
		if i == len(b) {
			return i, "unexpected end of data"
		}
		if b[i] < low || b[i] > high {
			return i, "invalid continuation byte"
		}
		low, high = 0x80, 0xbf
	}
	return 1, "invalid start byte"
}
