package format

import (
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
)

// Values are the arguments of the % operator, on the machine's side. Errors that
// its methods return are passed on as they are.
type Values interface {
	// Mapping reports whether the right operand is one: neither a tuple nor text.
	Mapping() bool
	// Key looks the key up in the mapping; the value becomes the only argument.
	Key(key string) error
	// Next makes the next argument the current one; false when there is none.
	Next() bool
	// Left reports whether arguments are left of what is no mapping.
	Left() bool

	// Star is the current argument as a width or precision; false when it is no
	// int.
	Star() (n Int, ok bool)
	// Text is the current argument for s, r, a, or b of bytes.
	Text(verb rune) (string, error)
	// Integer is it for d, i, u (a number cut to an int) or o, x, X (an int). The
	// error for anything else is NotInteger's.
	Integer(verb rune) (Int, error)
	// Real is it for e, f, g: an error for what is not real is NotReal's.
	Real() (uint64, error)
	// Char is it for c: one code point, or one byte; errors are NotChar's.
	Char() (string, error)

	// Reserve is called before as many bytes, at most, are appended.
	Reserve(bytes int64) error
}

// NotInteger is the error of an integer's verb for a value of the type.
func NotInteger(verb rune, typeName string) error {
	want := "a real number"
	if verb == 'o' || verb == 'x' || verb == 'X' {
		want = "an integer"
	}
	return &Error{TypeError, "%" + string(verb) + " format: " + want + " is required, not " + typeName}
}

// NotReal is the error of a float's verb for a value of the type.
func NotReal(typeName string, bytes bool) error {
	if bytes {
		return &Error{TypeError, "float argument required, not " + typeName}
	}
	return &Error{TypeError, "must be real number, not " + typeName}
}

// NotChar is the error of c for what is neither a character nor an integer, or
// for an integer out of range.
func NotChar(outOfRange, bytes bool) error {
	switch {
	case outOfRange && bytes:
		return &Error{OverflowError, "%c arg not in range(256)"}
	case outOfRange:
		return &Error{OverflowError, "%c arg not in range(0x110000)"}
	case bytes:
		return &Error{TypeError, "%c requires an integer in range(256) or a single byte"}
	}
	return &Error{TypeError, "%c requires int or char"}
}

// NotBytes is the error of s and b of bytes for a value of the type.
func NotBytes(typeName string) error {
	return &Error{TypeError, "%b requires a bytes-like object, or an object that implements __bytes__, not '" + typeName + "'"}
}

// AppendPercent appends format % values.
func AppendPercent(dst []byte, format string, values Values) ([]byte, error) {
	p := percent{dst: dst, format: format, values: values}
	return p.run()
}

// AppendPercentBytes appends format % values for bytes.
func AppendPercentBytes(dst []byte, format string, values Values) ([]byte, error) {
	p := percent{dst: dst, format: format, values: values, bytes: true}
	return p.run()
}

// percent runs through a format.
type percent struct {
	dst    []byte
	size   int64 // reserved so far
	format string
	at     int // of the next byte
	bytes  bool
	values Values
}

func (p *percent) run() ([]byte, error) {
	start := len(p.dst)
	// Paid: by textPercent, a character each of the format before; each round takes one.
	for p.at < len(p.format) {
		from := p.at
		// Paid: likewise.
		for p.at < len(p.format) && p.format[p.at] != '%' {
			p.at++
		}
		if err := p.reserveBytes(int64(p.at - from)); err != nil {
			return p.dst[:start], err
		}
		p.dst = append(p.dst, p.format[from:p.at]...)
		if p.at == len(p.format) {
			break
		}
		p.at++
		if err := p.one(); err != nil {
			return p.dst[:start], err
		}
	}
	if p.values.Left() && !p.values.Mapping() {
		of := "string"
		if p.bytes {
			of = "bytes"
		}
		return p.dst[:start], &Error{TypeError, "not all arguments converted during " + of + " formatting"}
	}
	return p.dst, nil
}

func (p *percent) reserveBytes(n int64) error {
	p.size = addSizes(p.size, n)
	if err := checkSize(p.size); err != nil {
		return err
	}
	return p.values.Reserve(n)
}

// read returns the next code point or byte, or -1 at the end.
func (p *percent) read() rune {
	if p.at >= len(p.format) {
		return -1
	}
	if p.bytes {
		p.at++
		return rune(p.format[p.at-1])
	}
	r, n := utf8.DecodeRuneInString(p.format[p.at:])
	p.at += n
	return r
}

// one reads a directive and writes its argument.
func (p *percent) one() error {
	if p.at < len(p.format) && p.format[p.at] == '%' {
		p.at++
		if err := p.reserveBytes(1); err != nil {
			return err
		}
		p.dst = append(p.dst, '%')
		return nil
	}
	d, verb, err := p.directive()
	if err != nil {
		return err
	}
	if err := p.formatNext(); err != nil {
		return err
	}
	switch verb {
	case 's', 'r', 'a':
		return p.text(d, verb)
	case 'b':
		if p.bytes {
			return p.text(d, verb)
		}
	case 'd', 'i', 'u', 'o', 'x', 'X':
		if p.bytes && verb == 'i' {
			verb = 'd' // as errors of bytes call it
		}
		return p.integer(d, verb)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		return p.float(d, verb)
	case 'c':
		text, err := p.values.Char()
		if err != nil {
			return err
		}
		d.zero = false
		return p.pad(d, field{body: text})
	}
	return p.unsupported(verb)
}

func (p *percent) unsupported(verb rune) error {
	shown, index := string(verb), p.at-1
	if p.bytes {
		shown = string([]byte{byte(verb)})
		if verb >= utf8.RuneSelf {
			return &Error{OverflowError, "character argument not in range(0x110000)"}
		}
	} else {
		if verb < 31 || verb > 126 {
			shown = "?"
		}
		index = utf8.RuneCountInString(p.format[:p.at]) - 1
	}
	return valueError("unsupported format character '%s' (0x%x) at index %d", shown, verb, index)
}

func (p *percent) formatNext() error {
	if !p.values.Next() {
		return &Error{TypeError, "not enough arguments for format string"}
	}
	return nil
}

// field is a value in text, before padding.
type field struct {
	numeric  bool // a sign is looked for, and zeros may pad
	negative bool
	prefix   string
	body     string
}

func (p *percent) text(d directive, verb rune) error {
	text, err := p.values.Text(verb)
	if err != nil {
		return err
	}
	if !p.bytes {
		text = cut(text, d.prec)
	} else if d.prec >= 0 && d.prec < int64(len(text)) {
		text = text[:d.prec]
	}
	return p.pad(d, field{body: text})
}

func (p *percent) integer(d directive, verb rune) error {
	n, err := p.values.Integer(verb)
	if err != nil {
		return err
	}
	if d.prec > intMax-3 {
		return &Error{OverflowError, "precision too large"}
	}
	base, prefix := baseOf(verb)
	if !d.alt {
		prefix = ""
	}
	if err := p.reserveBytes(max(digitBound(n.bitLen(), base), d.prec) + 3); err != nil {
		return err
	}
	digits, err := n.appendDigits(nil, base)
	if err != nil {
		return err
	}
	if verb == 'X' {
		upper(digits)
	}
	if zeros := d.prec - int64(len(digits)); zeros > 0 {
		digits = append(appendFill(nil, '0', zeros), digits...)
	}
	return p.pad(d, field{numeric: true, negative: n.negative(), prefix: prefix, body: string(digits)})
}

func (p *percent) float(d directive, verb rune) error {
	x, err := p.values.Real()
	if err != nil {
		return err
	}
	prec := d.prec
	if prec < 0 {
		prec = 6
	}
	if err := p.reserveBytes(prec + 330); err != nil {
		return err
	}
	text := string(appendStyled(nil, x, softfloat.Style{Verb: byte(verb), Alt: d.alt}, prec))
	f := field{numeric: true, body: text}
	if text[0] == '-' {
		f.negative, f.body = true, text[1:]
	}
	return p.pad(d, f)
}

// pad appends a value to the width.
func (p *percent) pad(d directive, f field) error {
	sign := ""
	if f.numeric {
		switch {
		case f.negative:
			sign = "-"
		case d.plus:
			sign = "+"
		case d.blank:
			sign = " "
		}
	}
	length := int64(len(f.body))
	if !p.bytes {
		length = int64(utf8.RuneCountInString(f.body))
	}
	padding := max(d.width-length-int64(len(sign)+len(f.prefix)), 0)
	if err := p.reserveBytes(addSizes(padding, int64(len(f.body)+3))); err != nil {
		return err
	}
	if !d.left && !(f.numeric && d.zero) {
		p.dst = appendFill(p.dst, ' ', padding)
	}
	p.dst = append(p.dst, sign...)
	p.dst = append(p.dst, f.prefix...)
	if !d.left && f.numeric && d.zero {
		p.dst = appendFill(p.dst, '0', padding)
	}
	p.dst = append(p.dst, f.body...)
	if d.left {
		p.dst = appendFill(p.dst, ' ', padding)
	}
	return nil
}
