//spec:implements resolutions 12.D

package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Bounds of a text (resolution 12.41).
const (
	MaxBytes    = 64 << 10
	MaxDepth    = 64  // arrays and objects within each other
	MaxDigits   = 400 // of a number as it is written, before its exponent
	MaxExponent = 400 // of a number as it is written, in absolute value
)

// Reasons for which a text is not JSON, inside an [*Error].
var (
	ErrTooLong   = errors.New("text is too long")
	ErrEncoding  = errors.New("text is not UTF-8")
	ErrSyntax    = errors.New("text is not JSON")
	ErrDepth     = errors.New("arrays and objects nest too deep")
	ErrString    = errors.New("string has a control character or an escape sequence that means none")
	ErrNumber    = errors.New("number has too many digits or too great an exponent")
	ErrDuplicate = errors.New("object has a name twice")
)

// Error says at which byte of a text what is wrong.
type Error struct {
	Offset int
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %v", e.Offset, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Read reads a text that is one value, whole. The document aliases text. The error is
// [ErrSteps] or an [*Error].
func Read(text []byte, steps *Steps) (Value, error) {
	if len(text) > MaxBytes {
		return Value{}, &Error{MaxBytes, ErrTooLong}
	}
	if err := steps.Spend(uint64(len(text)+15) / 16); err != nil {
		return Value{}, err
	}
	if !utf8.Valid(text) {
		return Value{}, &Error{0, ErrEncoding}
	}
	r := reader{in: text, doc: &document{text: text[:len(text):len(text)]}, steps: steps}
	if err := r.value(); err != nil {
		return Value{}, err
	}
	r.blanks()
	if r.at != len(text) {
		return Value{}, r.wrong(ErrSyntax)
	}
	return Value{r.doc, r.open[0]}, nil
}

// reader reads a text from its start to its end. Each value it has read waits in open until
// the array or object around it ends, and moves to the document with its neighbours then, so
// that the values in one stand in a row.
type reader struct {
	in    []byte
	at    int
	depth int
	open  []node
	doc   *document
	steps *Steps
}

func (r *reader) wrong(err error) error { return &Error{r.at, err} }

// peek returns the byte at r, 0 at the end: no value begins with that one.
func (r *reader) peek() byte {
	if r.at == len(r.in) {
		return 0
	}
	return r.in[r.at]
}

func (r *reader) blanks() {
	// Paid: with the bytes of the text.
	for r.at < len(r.in) {
		switch r.in[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// value reads a value, with blanks before it, and leaves it in open.
func (r *reader) value() error {
	if err := r.steps.Spend(1); err != nil {
		return err
	}
	r.blanks()
	switch c := r.peek(); {
	case c == '{':
		return r.container(Object, '}')
	case c == '[':
		return r.container(Array, ']')
	case c == '"':
		s, err := r.text()
		r.open = append(r.open, node{kind: String, at: s})
		return err
	case c == '-' || '0' <= c && c <= '9':
		return r.numeral()
	case c == 't':
		return r.literal("true", True)
	case c == 'f':
		return r.literal("false", False)
	case c == 'n':
		return r.literal("null", Null)
	}
	return r.wrong(ErrSyntax)
}

func (r *reader) literal(word string, kind Kind) error {
	if len(r.in)-r.at < len(word) || string(r.in[r.at:r.at+len(word)]) != word {
		return r.wrong(ErrSyntax)
	}
	r.at += len(word)
	r.open = append(r.open, node{kind: kind})
	return nil
}

// container reads an array or an object, which ends with the byte end.
func (r *reader) container(kind Kind, end byte) error {
	if r.depth == MaxDepth {
		return r.wrong(ErrDepth)
	}
	r.depth++
	base := len(r.open)
	r.at++
	r.blanks()
	// Paid: by spend, for each value in it.
	for first := true; r.peek() != end; first = false {
		if !first {
			if r.peek() != ',' {
				return r.wrong(ErrSyntax)
			}
			r.at++
		}
		if err := r.item(kind); err != nil {
			return err
		}
		r.blanks()
	}
	r.at++
	r.depth--
	in := span{uint32(len(r.doc.nodes)), uint32(len(r.open) - base)}
	r.doc.nodes = append(r.doc.nodes, r.open[base:]...)
	r.open = append(r.open[:base], node{kind: kind, at: in})
	if kind == Object {
		return r.sort(r.doc.nodes[in.from:])
	}
	return nil
}

// item reads a value of a container, with its name in an object.
func (r *reader) item(kind Kind) error {
	if kind == Array {
		return r.value()
	}
	r.blanks()
	if r.peek() != '"' {
		return r.wrong(ErrSyntax)
	}
	name, err := r.text()
	if err != nil {
		return err
	}
	if r.blanks(); r.peek() != ':' {
		return r.wrong(ErrSyntax)
	}
	r.at++
	if err := r.value(); err != nil {
		return err
	}
	r.open[len(r.open)-1].name = name
	return nil
}

// sort puts members in the order of their names, of which none may stand twice.
func (r *reader) sort(members []node) error {
	if len(members) < 2 {
		return nil
	}
	if err := r.steps.Spend(sortSteps(len(members))); err != nil {
		return err
	}
	doc := r.doc
	// Paid: by sortSteps.
	slices.SortFunc(members, func(a, b node) int { return bytes.Compare(doc.in(a.name), doc.in(b.name)) })
	// Paid: by sortSteps.
	for i := range members[1:] {
		if bytes.Equal(doc.in(members[i].name), doc.in(members[i+1].name)) { // Paid: as above.
			return r.wrong(ErrDuplicate)
		}
	}
	return nil
}

// sortSteps is what it takes to sort n names.
func sortSteps(n int) uint64 { return uint64(n) * uint64(bits.Len(uint(n))) }

// text reads a string and returns where its characters stand in the document.
func (r *reader) text() (span, error) {
	r.at++
	from := r.at
	// Paid: with the bytes of the text.
	for ; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; {
		case c == '"':
			r.at++
			return span{uint32(from), uint32(r.at - 1 - from)}, nil
		case c == '\\':
			return r.escaped(from)
		case c < 0x20:
			return span{}, r.wrong(ErrString)
		}
	}
	return span{}, r.wrong(ErrSyntax)
}

// escaped reads on a string that began at from, at its first escape sequence.
func (r *reader) escaped(from int) (span, error) {
	text := r.doc.text
	begin := len(text)
	text = append(text, r.in[from:r.at]...)
	// Paid: with the bytes of the text.
	for r.at < len(r.in) {
		switch c := r.in[r.at]; {
		case c == '"':
			r.at++
			r.doc.text = text
			return span{uint32(begin), uint32(len(text) - begin)}, nil
		case c < 0x20:
			return span{}, r.wrong(ErrString)
		case c != '\\':
			text = append(text, c)
			r.at++
			continue
		}
		var n int
		if text, n = appendEscaped(text, r.in[r.at:], '"'); n == 0 {
			return span{}, r.wrong(ErrString)
		}
		r.at += n
	}
	return span{}, r.wrong(ErrSyntax)
}

// numeral reads a number and holds it to its bounds; what it amounts to is for
// [Value.Number].
func (r *reader) numeral() error {
	from := r.at
	if r.peek() == '-' {
		r.at++
	}
	whole, first := r.digits(), r.at
	if whole == 0 || whole > 1 && r.in[first-whole] == '0' {
		return r.wrong(ErrSyntax)
	}
	if r.peek() == '.' {
		r.at++
		fraction := r.digits()
		if fraction == 0 {
			return r.wrong(ErrSyntax)
		}
		whole += fraction
	}
	if whole > MaxDigits {
		return r.wrong(ErrNumber)
	}
	if r.peek()|0x20 == 'e' {
		if err := r.exponent(); err != nil {
			return err
		}
	}
	r.open = append(r.open, node{kind: Number, at: span{uint32(from), uint32(r.at - from)}})
	return nil
}

func (r *reader) exponent() error {
	r.at++
	if c := r.peek(); c == '+' || c == '-' {
		r.at++
	}
	n := r.digits()
	if n == 0 {
		return r.wrong(ErrSyntax)
	}
	if exponentOf(r.in[r.at-n:r.at]) > MaxExponent {
		return r.wrong(ErrNumber)
	}
	return nil
}

// exponentOf reads digits as a number, and takes one that is too great for an exponent as
// MaxExponent+1.
func exponentOf(digits []byte) int {
	e := 0
	// Paid: with the bytes of the text.
	for _, c := range digits {
		e = min(e*10+int(c-'0'), MaxExponent+1)
	}
	return e
}

// digits passes over decimal digits and returns how many there are.
func (r *reader) digits() int {
	from := r.at
	// Paid: with the bytes of the text.
	for r.at < len(r.in) && '0' <= r.in[r.at] && r.in[r.at] <= '9' {
		r.at++
	}
	return r.at - from
}
