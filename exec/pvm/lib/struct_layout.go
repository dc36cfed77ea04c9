package lib

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// field is one item of a struct format: count values of a code, or one value of
// count bytes for s and p.
type field struct {
	code   byte
	size   int64 // of one value
	count  int64
	offset int64
}

// layout is a parsed format. Native order is that of x86-64 Linux, whatever the
// machine below.
type layout struct {
	fields []field
	size   int64
	items  int64 // values to pack
	big    bool
	native bool
}

// modelled is the size that the heap counts.
func (l *layout) modelled() int { return 64 + 32*len(l.fields) }

// structSizeMax bounds the size of a format, as that of every length.
const structSizeMax = 1<<63 - 1

// Sizes of the codes in native mode, where each is aligned to its size, and in
// standard mode; 0: there is none.
func codeSize(code byte, native bool) int64 {
	switch code {
	case 'x', 'b', 'B', 'c', 's', 'p', '?':
		return 1
	case 'h', 'H', 'e':
		return 2
	case 'i', 'I', 'f':
		return 4
	case 'l', 'L':
		if native {
			return 8
		}
		return 4
	case 'q', 'Q', 'd':
		return 8
	case 'n', 'N', 'P':
		if native {
			return 8
		}
	}
	return 0
}

// parseLayout reads a format; text is nil or CPython's of struct.error.
func parseLayout(format string) (l *layout, text string) {
	l = &layout{native: true}
	if format != "" {
		switch format[0] {
		case '<', '=':
			l.native = false
		case '>', '!':
			l.native, l.big = false, true
		}
		if l.big || !l.native || format[0] == '@' {
			format = format[1:]
		}
	}
	// Paid: by layoutOf, two characters each before.
	for i := 0; i < len(format); i++ {
		c := format[i]
		if isCSpace(c) {
			continue
		}
		count := int64(1)
		if c >= '0' && c <= '9' {
			count = 0
			// Paid: likewise; i goes on behind the digits.
			for ; i < len(format) && format[i] >= '0' && format[i] <= '9'; i++ {
				d := int64(format[i] - '0')
				if count > (structSizeMax-d)/10 {
					return nil, "total struct size too long"
				}
				count = count*10 + d
			}
			if i == len(format) {
				return nil, "repeat count given without format specifier"
			}
			c = format[i]
		}
		if text = l.add(c, count); text != "" {
			return nil, text
		}
	}
	return l, ""
}

func isCSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// add appends count times a code.
func (l *layout) add(code byte, count int64) (text string) {
	size := codeSize(code, l.native)
	if size == 0 {
		return "bad char in struct format"
	}
	if l.native {
		if l.size > structSizeMax-size {
			return "total struct size too long"
		}
		l.size = (l.size + size - 1) / size * size
	}
	if count > (structSizeMax-l.size)/size {
		return "total struct size too long"
	}
	f := field{code: code, size: size, count: count, offset: l.size}
	l.size += count * size
	switch code {
	case 'x':
		return ""
	case 's', 'p':
		l.items += min(1, structSizeMax-l.items) // a text of no bytes behind the most items there are
	default:
		if count == 0 {
			return ""
		}
		l.items += min(count, structSizeMax-l.items)
	}
	l.fields = append(l.fields, f)
	return ""
}

// layoutOf parses the format argument.
func (s *structModule) layoutOf(m *vm.Machine, v vm.Value) (*layout, string, error) {
	text, ok := v.Text()
	if ok {
		chars(m, 2*len(text))
		// Paid: by the characters above, which whatever fails pays too.
		for i := range len(text) {
			if text[i] >= 0x80 {
				return nil, "", m.Raise(m.Builtin("ValueError"), "struct format is not ASCII")
			}
		}
	} else if text, ok = m.BytesText(v); !ok {
		return nil, "", m.TypeError("Struct() argument 1 must be a str or bytes object, not %s", m.TypeName(v))
	} else {
		chars(m, 2*len(text))
	}
	l, fault := parseLayout(text)
	if fault != "" {
		return nil, "", m.RaiseValue(s.failure, m.NewStr(fault))
	}
	m.Alloc(32 * len(l.fields))
	return l, text, nil
}
