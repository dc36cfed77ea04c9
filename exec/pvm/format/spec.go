package format

import (
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

// Target is the type of value that a specification is for.
type Target uint8

// The targets.
const (
	Text    Target = iota // str
	Integer               // int and bool
	Real                  // float
)

// Spec is a format specification. The zero of Type means that none was given to
// a float.
type Spec struct {
	Fill      rune
	Align     byte // one of < > = ^
	Sign      byte // one of + - blank, or 0
	NoNegZero bool // z
	Alt       bool // #
	Width     int64
	Group     byte  // one of , _ or 0
	Precision int64 // -1 for none
	Type      rune
}

// ParseSpec reads a specification, and refuses what the type cannot be written
// with: typeName is the name of it in errors, as "bool". An empty specification
// is for the caller to take as str(value).
func ParseSpec(text string, target Target, typeName string) (Spec, error) {
	s := Spec{Fill: ' ', Align: '>', Precision: -1, Width: -1}
	switch target {
	case Text:
		s.Align, s.Type = '<', 's'
	case Integer:
		s.Type = 'd'
	}
	in := cursor{text}
	if err := s.parse(&in); err != nil {
		return Spec{}, err
	}
	if in.rest != "" {
		r := in.nextRune()
		if in.rest != "" {
			return Spec{}, valueError("Invalid format specifier '%s' for object of type '%s'", text, typeName)
		}
		s.Type = r
	}
	if s.Group != 0 {
		// Bounded: by nine characters.
		grouped := strings.ContainsRune("defgEG%F\x00", s.Type)
		// Bounded: by four characters.
		if !grouped && (s.Group != '_' || !strings.ContainsRune("boxX", s.Type)) {
			return Spec{}, valueError("Cannot specify '%c' with '%s'.", s.Group, showCode(s.Type))
		}
	}
	return s, s.checkTarget(target, typeName)
}

// cursor is text that is read from the front.
type cursor struct{ rest string }

// peek returns the next code point, or -1.
func (c *cursor) peek() rune {
	if c.rest == "" {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(c.rest)
	return r
}

func (c *cursor) nextRune() rune {
	r, n := utf8.DecodeRuneInString(c.rest)
	c.rest = c.rest[n:]
	return r
}

// accept passes r if it is next.
func (c *cursor) accept(r rune) bool {
	if c.peek() != r {
		return false
	}
	c.nextRune()
	return true
}

func isAlign(r rune) bool { return r == '<' || r == '>' || r == '=' || r == '^' }

// parse reads everything before the type.
func (s *Spec) parse(in *cursor) error {
	filled, aligned := false, false
	if first, n := utf8.DecodeRuneInString(in.rest); n > 0 {
		after := cursor{in.rest[n:]}
		switch second := after.peek(); {
		case isAlign(second):
			s.Fill, s.Align, filled, aligned = first, byte(second), true, true
			after.nextRune()
			*in = after
		case isAlign(first):
			s.Align, aligned = byte(first), true
			*in = after
		}
	}
	if r := in.peek(); r == ' ' || r == '+' || r == '-' {
		s.Sign = byte(in.nextRune())
	}
	s.NoNegZero = in.accept('z')
	s.Alt = in.accept('#')
	if !filled && in.accept('0') {
		s.Fill = '0'
		if !aligned && s.Align == '>' {
			s.Align = '='
		}
	}
	var err error
	if s.Width, err = in.integer(); err != nil {
		return err
	}
	if in.accept(',') {
		s.Group = ','
	}
	if in.accept('_') {
		if s.Group != 0 {
			return valueError("Cannot specify both ',' and '_'.")
		}
		s.Group = '_'
	}
	if s.Group == '_' && in.peek() == ',' {
		return valueError("Cannot specify both ',' and '_'.")
	}
	if in.accept('.') {
		if s.Precision, err = in.integer(); err != nil {
			return err
		}
		if s.Precision < 0 {
			return valueError("Format specifier missing precision")
		}
	}
	return nil
}

// integer reads decimal digits of any script; -1 when there are none.
func (c *cursor) integer() (int64, error) {
	n := int64(-1)
	// Paid: by the characters of the text, which the caller charged for; a number beyond 64 bits ends it, zeros before it do not.
	for c.rest != "" {
		d := int64(ucd.DecimalValue(c.peek()))
		if d < 0 {
			break
		}
		c.nextRune()
		n = max(n, 0)
		if n > (ssizeMax-d)/10 {
			return 0, valueError("Too many decimal digits in format string")
		}
		n = n*10 + d
	}
	return n, nil
}

// showCode is a type as errors show it.
func showCode(r rune) string {
	if r > ' ' && r < 0x80 {
		return string(r)
	}
	return `\x` + hexDigits(uint64(r), 0)
}

func (s *Spec) checkTarget(target Target, typeName string) error {
	known := [...]string{Text: "s", Integer: "bcdoxXneEfFgG%", Real: "\x00eEfFgGn%"}[target]
	// Bounded: by 14 characters.
	if !strings.ContainsRune(known, s.Type) {
		return valueError("Unknown format code '%s' for object of type '%s'", showCode(s.Type), typeName)
	}
	switch {
	case target == Text:
		return s.checkText()
	case target == Integer && !s.floating():
		return s.checkInteger()
	case s.Precision > intMax:
		return valueError("precision too big")
	}
	return nil
}

// floating reports whether an integer is written as a float.
// Bounded: by seven characters.
func (s *Spec) floating() bool { return strings.ContainsRune("eEfFgG%", s.Type) }

func (s *Spec) checkText() error {
	switch {
	case s.Sign == ' ':
		return valueError("Space not allowed in string format specifier")
	case s.Sign != 0:
		return valueError("Sign not allowed in string format specifier")
	case s.NoNegZero:
		return valueError("Negative zero coercion (z) not allowed in string format specifier")
	case s.Alt:
		return valueError("Alternate form (#) not allowed in string format specifier")
	case s.Align == '=':
		return valueError("'=' alignment not allowed in string format specifier")
	}
	return nil
}

func (s *Spec) checkInteger() error {
	switch {
	case s.Precision >= 0:
		return valueError("Precision not allowed in integer format specifier")
	case s.NoNegZero:
		return valueError("Negative zero coercion (z) not allowed in integer format specifier")
	case s.Type == 'c' && s.Sign != 0:
		return valueError("Sign not allowed with integer format specifier 'c'")
	case s.Type == 'c' && s.Alt:
		return valueError("Alternate form (#) not allowed with integer format specifier 'c'")
	}
	return nil
}
