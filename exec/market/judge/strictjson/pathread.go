package strictjson

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// pathReader reads the segments of a path of MaxPathBytes at most.
type pathReader struct {
	text string
	at   int
}

func (r *pathReader) wrong() error {
	return fmt.Errorf("%w: %q at byte %d", ErrPath, r.text, r.at)
}

func (r *pathReader) several() error {
	return fmt.Errorf("%w: %q at byte %d", ErrNotSingular, r.text, r.at)
}

func (r *pathReader) blanks() {
	// Bounded: MaxPathBytes.
	for r.at < len(r.text) && strings.IndexByte(" \t\n\r", r.text[r.at]) >= 0 {
		r.at++
	}
}

// peek returns the byte at r, 0 at the end.
func (r *pathReader) peek() byte {
	if r.at == len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// segment reads `.name` or `[selector]`.
func (r *pathReader) segment() (segment, error) {
	switch r.peek() {
	case '.':
		r.at++
		return r.shorthand()
	case '[':
		r.at++
	default:
		return segment{}, r.wrong()
	}
	r.blanks()
	s, err := r.selector()
	if err != nil {
		return segment{}, err
	}
	r.blanks()
	switch r.peek() {
	case ']':
		r.at++
		return s, nil
	case ',', ':':
		return segment{}, r.several()
	}
	return segment{}, r.wrong()
}

// shorthand reads a name behind a dot: letters, digits not first, `_` and all beyond ASCII.
func (r *pathReader) shorthand() (segment, error) {
	if c := r.peek(); c == '*' || c == '.' {
		return segment{}, r.several()
	}
	from := r.at
	// Bounded: MaxPathBytes.
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
		if !letter && (r.at == from || c < '0' || c > '9') {
			break
		}
	}
	if r.at == from {
		return segment{}, r.wrong()
	}
	return segment{name: r.text[from:r.at]}, nil
}

// selector reads what stands in brackets.
func (r *pathReader) selector() (segment, error) {
	switch c := r.peek(); {
	case c == '\'' || c == '"':
		r.at++
		return r.quoted(c)
	case c == '-' || '0' <= c && c <= '9':
		return r.index()
	case c == '*' || c == '?' || c == ':':
		return segment{}, r.several()
	}
	return segment{}, r.wrong()
}

// index reads an integer of I-JSON in its one form.
func (r *pathReader) index() (segment, error) {
	from := r.at
	if r.peek() == '-' {
		r.at++
	}
	digits := r.at
	// Bounded: MaxPathBytes.
	for '0' <= r.peek() && r.peek() <= '9' {
		r.at++
	}
	text := r.text[digits:r.at]
	if text == "" || text[0] == '0' && (len(text) > 1 || digits > from) {
		return segment{}, r.wrong()
	}
	n, err := strconv.ParseInt(r.text[from:r.at], 10, 64)
	if err != nil || n > maxIndex || n < -maxIndex {
		return segment{}, r.wrong()
	}
	return segment{index: n, place: true}, nil
}

// quoted reads a name in quotation marks of the kind mark, the first of which was read.
func (r *pathReader) quoted(mark byte) (segment, error) {
	var name []byte
	// Bounded: MaxPathBytes.
	for {
		c := r.peek()
		switch {
		case r.at == len(r.text) || c < 0x20:
			return segment{}, r.wrong()
		case c == mark:
			r.at++
			return segment{name: string(name)}, nil
		case c != '\\':
			name = append(name, c)
			r.at++
			continue
		}
		var n int
		if name, n = appendEscaped(name, r.text[r.at:], mark); n == 0 {
			return segment{}, r.wrong()
		}
		r.at += n
	}
}
