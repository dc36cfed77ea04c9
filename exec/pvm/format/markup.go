package format

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxNesting is how deep replacement fields nest: a field, and the fields in its
// specification.
const MaxNesting = 2

// NestingError is for a field deeper than that.
func NestingError() error { return valueError("Max string recursion exceeded") }

// Part is a piece of a format string: literal text, then perhaps a field.
type Part struct {
	Literal string
	Field   bool

	Name       string // as written: see Numbering.Split
	Conversion rune   // what follows "!", 0 for none: see CheckConversion
	Spec       string
	Nested     bool // Spec has fields of its own, and is a format string
}

// Markup is what is left of a format string of str.format.
type Markup struct{ rest string }

// NewMarkup starts at the front.
func NewMarkup(format string) Markup { return Markup{format} }

// Next returns the next part; more is false at the end, which is behind an error too:
// what is left is looked at once, however often somebody asks.
func (m *Markup) Next() (p Part, more bool, err error) {
	if m.rest == "" {
		return Part{}, false, nil
	}
	if p, err = m.part(); err != nil {
		m.rest = ""
	}
	return p, err == nil, err
}

func (m *Markup) part() (p Part, err error) {
	// Paid: by markup in vm and formatterParser in lib, a character each before; what is left is looked at once.
	i := strings.IndexAny(m.rest, "{}")
	if i < 0 {
		p.Literal, m.rest = m.rest, ""
		return p, nil
	}
	brace := m.rest[i]
	doubled := i+1 < len(m.rest) && m.rest[i+1] == brace
	switch {
	case doubled:
		p.Literal, m.rest = m.rest[:i+1], m.rest[i+2:]
		return p, nil
	case brace == '}':
		return Part{}, valueError("Single '}' encountered in format string")
	case i+1 == len(m.rest):
		return Part{}, valueError("Single '{' encountered in format string")
	}
	p.Literal, m.rest = m.rest[:i], m.rest[i+1:]
	p.Field = true
	if err := m.field(&p); err != nil {
		return Part{}, err
	}
	return p, nil
}

// field reads up to the brace that closes.
func (m *Markup) field(p *Part) error {
	end, err := nameEnd(m.rest)
	if err != nil {
		return err
	}
	p.Name = m.rest[:end]
	stop := m.rest[end]
	m.rest = m.rest[end+1:]
	if stop == '}' {
		return nil
	}
	if stop == '!' {
		if m.rest == "" {
			return valueError("end of string while looking for conversion specifier")
		}
		var n int
		p.Conversion, n = utf8.DecodeRuneInString(m.rest)
		m.rest = m.rest[n:]
		if m.rest != "" {
			c := m.rest[0]
			switch {
			case c == '}':
				m.rest = m.rest[1:]
				return nil
			case c != ':':
				return valueError("expected ':' after conversion specifier")
			}
			m.rest = m.rest[1:]
		}
	}
	depth := 1
	// Paid: likewise.
	for i := range len(m.rest) {
		switch m.rest[i] {
		case '{':
			p.Nested = true
			depth++
		case '}':
			if depth--; depth == 0 {
				p.Spec, m.rest = m.rest[:i], m.rest[i+1:]
				return nil
			}
		}
	}
	return valueError("unmatched '{' in format spec")
}

// nameEnd finds the end of a field's name: } : or ! outside brackets.
func nameEnd(text string) (int, error) {
	// Paid: likewise.
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			return 0, valueError("unexpected '{' in field name")
		case '[':
			// Paid: likewise.
			for i < len(text) && text[i] != ']' {
				i++
			}
		case '}', ':', '!':
			return i, nil
		}
	}
	return 0, valueError("expected '}' before end of string")
}

// CheckConversion refuses conversions other than r, s, a and none.
func CheckConversion(c rune) error {
	switch {
	case c == 0 || c == 'r' || c == 's' || c == 'a':
		return nil
	case c > ' ' && c < 0x7F:
		return valueError("Unknown conversion specifier %c", c)
	}
	return valueError(`Unknown conversion specifier \x%x`, c)
}

// Numbering is the state of automatic numbering over a format string and what
// is nested in it. The zero value is the start.
type Numbering struct {
	state numbering
	next  int64
}

type numbering uint8

const (
	undecided numbering = iota
	automatic
	manual
)

// Split divides a field's name into the argument, an index or when that is -1 a
// key, and the path from there.
func (n *Numbering) Split(name string) (index int64, key string, path Path, err error) {
	if index, key, path, err = SplitName(name); err != nil {
		return 0, "", path, err
	}
	if key != "" && index < 0 {
		return -1, key, path, nil
	}
	want := manual
	if key == "" {
		want = automatic
	}
	if n.state == undecided {
		n.state = want
	}
	switch {
	case n.state == want:
	case want == automatic:
		return 0, "", path, valueError("cannot switch from manual field specification to automatic field numbering")
	default:
		return 0, "", path, valueError("cannot switch from automatic field numbering to manual field specification")
	}
	if key == "" {
		index = n.next
		n.next++
	}
	return index, "", path, nil
}

// SplitName divides a field's name into its first part, whose index is -1 unless it is
// a number, and the path from there.
func SplitName(name string) (index int64, first string, path Path, err error) {
	// Paid: likewise; a name is looked at once here.
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	index, err = wholeInteger(name[:end])
	return index, name[:end], Path{name[end:]}, err
}

// OutOfRange is for an index that no positional argument has.
func OutOfRange(index int64) error {
	return &Error{IndexError, "Replacement index " + strconv.FormatInt(index, 10) + " out of range for positional args tuple"}
}

// wholeInteger returns the value of text that is all decimal digits, or -1. As
// in CPython, too many digits are an error whatever follows them.
func wholeInteger(text string) (int64, error) {
	if text == "" {
		return -1, nil
	}
	in := cursor{text}
	n, err := in.integer()
	if err != nil {
		return 0, err
	}
	if in.rest != "" {
		return -1, nil
	}
	return n, nil
}

// Path is what is left of the way from an argument to a value.
type Path struct{ rest string }

// Step is an attribute or an item; the item's key is Index unless that is -1.
type Step struct {
	Attribute bool
	Name      string
	Index     int64
}

// Next returns the next step; more is false at the end, which is behind an error too.
// Errors come only when the steps before were taken, as in Python.
func (p *Path) Next() (s Step, more bool, err error) {
	if p.rest == "" {
		return Step{}, false, nil
	}
	if s, err = p.step(); err != nil {
		p.rest = ""
	}
	return s, err == nil, err
}

func (p *Path) step() (s Step, err error) {
	switch p.rest[0] {
	case '.':
		// Paid: likewise; a path is looked at once.
		end := strings.IndexAny(p.rest[1:], ".[")
		if end < 0 {
			end = len(p.rest) - 1
		}
		s = Step{true, p.rest[1 : 1+end], -1}
		p.rest = p.rest[1+end:]
	case '[':
		// Paid: likewise.
		end := strings.IndexByte(p.rest, ']')
		if end < 0 {
			return Step{}, valueError("Missing ']' in format string")
		}
		s = Step{false, p.rest[1:end], -1}
		if s.Index, err = wholeInteger(s.Name); err != nil {
			return Step{}, err
		}
		p.rest = p.rest[end+1:]
	default:
		return Step{}, valueError("Only '.' or '[' may follow ']' in format field specifier")
	}
	if s.Name == "" {
		return Step{}, valueError("Empty attribute in format string")
	}
	return s, nil
}
