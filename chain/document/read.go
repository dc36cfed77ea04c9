package document

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds on a document: more than a genesis nests, which keeps recursion short,
// and more values than one with 300,000 allocations, which keeps a hostile file
// of a few bytes per value from taking many times its size.
const (
	depthMax  = 16
	valuesMax = 4 << 20
)

// errNotJSON means text outside the grammar of RFC 8259.
var errNotJSON = errors.New("not JSON")

// Read reads one JSON document of any shape. It is our own: what governance
// sets is read by it in the state transition, so that what is a document must not
// follow from the release of a library (ADR 87). It takes RFC 8259 without null, without a second
// member of one name, without names that no field of ours has, and without text that
// is no UTF-8.
func Read(text []byte) (*Value, error) {
	r := reader{text: text, valuesLeft: valuesMax}
	doc, err := r.value(depthMax)
	if err != nil {
		return nil, err
	}
	if r.space(); r.pos != len(text) {
		return nil, fmt.Errorf("text follows the document at byte %d", r.pos)
	}
	return doc, nil
}

type reader struct {
	text       []byte
	pos        int
	valuesLeft int
}

// space skips white space.
func (r *reader) space() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// peek returns the byte in front of the reader, 0 at the end.
func (r *reader) peek() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

// accept skips space and then c, if it stands there.
func (r *reader) accept(c byte) bool {
	r.space()
	if r.peek() != c {
		return false
	}
	r.pos++
	return true
}

// bad reports what stands in front of the reader.
func (r *reader) bad() error {
	if r.pos >= len(r.text) {
		return &PlaceError{Err: fmt.Errorf("%w: it ends too early", errNotJSON)}
	}
	return &PlaceError{Err: fmt.Errorf("%w: %q at byte %d", errNotJSON, r.text[r.pos], r.pos)}
}

func (r *reader) value(depthLeft int) (*Value, error) {
	if r.valuesLeft--; r.valuesLeft < 0 {
		return nil, &PlaceError{Err: fmt.Errorf("more than %d values", valuesMax)}
	}
	r.space()
	switch c := r.peek(); {
	case c == '"':
		text, err := r.str()
		return &Value{Kind: Text, Text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		text, err := r.number()
		return &Value{Kind: Number, Text: text}, err
	case c == '[' || c == '{':
		if depthLeft == 0 {
			return nil, &PlaceError{Err: fmt.Errorf("nested deeper than %d", depthMax)}
		}
		r.pos++
		if c == '[' {
			return r.elements(depthLeft - 1)
		}
		return r.object(depthLeft - 1)
	case r.word("true"):
		return &Value{Kind: Bool, Bool: true}, nil
	case r.word("false"):
		return &Value{Kind: Bool}, nil
	case r.word("null"):
		return nil, &PlaceError{Err: errors.New("null is no value here")}
	}
	return nil, r.bad()
}

// word takes a literal.
func (r *reader) word(w string) bool {
	if len(r.text)-r.pos < len(w) || string(r.text[r.pos:r.pos+len(w)]) != w {
		return false
	}
	r.pos += len(w)
	return true
}

func (r *reader) elements(depthLeft int) (*Value, error) {
	doc := &Value{Kind: List}
	if r.accept(']') {
		return doc, nil
	}
	for {
		item, err := r.value(depthLeft)
		if err != nil {
			return nil, withinItem(len(doc.Items), err)
		}
		doc.Items = append(doc.Items, item)
		switch {
		case r.accept(']'):
			return doc, nil
		case !r.accept(','):
			return nil, r.bad()
		}
	}
}

func (r *reader) object(depthLeft int) (*Value, error) {
	doc := &Value{Kind: Object, Members: map[string]*Value{}}
	if r.accept('}') {
		return doc, nil
	}
	for {
		if r.space(); r.peek() != '"' {
			return nil, r.bad()
		}
		name, err := r.str()
		switch _, twice := doc.Members[name]; {
		case err != nil:
			return nil, err
		case !fieldName(name):
			return nil, within(name, errors.New("unknown field"))
		case twice:
			return nil, within(name, errors.New("field stands twice"))
		case !r.accept(':'):
			return nil, r.bad()
		}
		if doc.Members[name], err = r.value(depthLeft); err != nil {
			return nil, within(name, err)
		}
		switch {
		case r.accept('}'):
			return doc, nil
		case !r.accept(','):
			return nil, r.bad()
		}
	}
}

// number takes the text of a number: what it is worth says the field it is for.
func (r *reader) number() (string, error) {
	start := r.pos
	if r.peek() == '-' {
		r.pos++
	}
	if r.peek() == '0' {
		r.pos++
	} else if err := r.digits(); err != nil {
		return "", err
	}
	if r.peek() == '.' {
		r.pos++
		if err := r.digits(); err != nil {
			return "", err
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		r.pos++
		if c := r.peek(); c == '+' || c == '-' {
			r.pos++
		}
		if err := r.digits(); err != nil {
			return "", err
		}
	}
	return string(r.text[start:r.pos]), nil
}

// digits takes one or more.
func (r *reader) digits() error {
	start := r.pos
	for c := r.peek(); c >= '0' && c <= '9'; c = r.peek() {
		r.pos++
	}
	if r.pos == start {
		return r.bad()
	}
	return nil
}

// str takes a string, whose quote stands in front of the reader.
func (r *reader) str() (string, error) {
	r.pos++
	start := r.pos
	for c := r.peek(); c != '"' && c != '\\' && c >= ' '; c = r.peek() {
		r.pos++
	}
	if r.peek() == '"' { // the ordinary one: nothing to undo
		r.pos++
		return r.checked(r.text[start : r.pos-1])
	}
	out := append([]byte(nil), r.text[start:r.pos]...)
	for {
		switch c := r.peek(); {
		case c == '"':
			r.pos++
			return r.checked(out)
		case c < ' ':
			return "", r.bad()
		case c != '\\':
			out = append(out, c)
			r.pos++
		default:
			char, err := r.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, char)
		}
	}
}

func (r *reader) checked(text []byte) (string, error) {
	if !utf8.Valid(text) {
		return "", &PlaceError{Err: fmt.Errorf("%w: a string before byte %d is no UTF-8", errNotJSON, r.pos)}
	}
	return string(text), nil
}

// escape takes a backslash and what it escapes. Halves of a pair of surrogates stand
// only together.
func (r *reader) escape() (rune, error) {
	r.pos++
	switch c := r.peek(); c {
	case '"', '\\', '/':
		r.pos++
		return rune(c), nil
	case 'b', 'f', 'n', 'r', 't':
		r.pos++
		return map[byte]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}[c], nil
	case 'u':
		first, err := r.unit()
		if err != nil || !utf16.IsSurrogate(first) {
			return first, err
		}
		if r.peek() == '\\' {
			r.pos++
			if r.peek() == 'u' {
				second, err := r.unit()
				if char := utf16.DecodeRune(first, second); err == nil && char != utf8.RuneError {
					return char, nil
				}
			}
		}
		return 0, &PlaceError{Err: fmt.Errorf("%w: half a pair of surrogates before byte %d", errNotJSON, r.pos)}
	}
	return 0, r.bad()
}

// unit takes u and four hex digits.
func (r *reader) unit() (rune, error) {
	if r.pos++; len(r.text)-r.pos < 4 {
		r.pos = len(r.text)
		return 0, r.bad()
	}
	v, err := strconv.ParseUint(string(r.text[r.pos:r.pos+4]), 16, 16)
	if err != nil {
		return 0, r.bad()
	}
	r.pos += 4
	return rune(v), nil
}
