//spec:implements resolutions 12.D

package strictjson

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// Bounds of a path.
const (
	MaxPathBytes    = 1_024
	MaxPathSegments = 32
	maxIndex        = 1<<53 - 1 // RFC 9535 §2.1: within the integers of I-JSON
)

// Reasons for which a text is no path to one value.
var (
	ErrPath = errors.New("is not a singular JSONPath or the name of a member")
	// ErrPathBounds means a path that is too long.
	ErrPathBounds = errors.New("path is too long")
	// ErrNotSingular means a JSONPath that may lead to several values.
	ErrNotSingular = errors.New("JSONPath may lead to several values")
)

// Path leads from a value to at most one value within it (RFC 9535 §2.3.5.1): by names of
// members and places in arrays. The zero value leads to the value itself.
type Path struct{ segments []segment }

// segment is a step of a path: to a member by its name, or to an item by its place, which
// counts from the end where it is negative.
type segment struct {
	name  string
	index int64
	place bool
}

// ParseField reads how a job names a field: a singular JSONPath, the same without the `$`
// before its first `.` or `[`, or the bare name of a member of an object. A name with a
// character of paths in it could mean either and is refused.
func ParseField(text string) (Path, error) {
	switch {
	case text == "" || len(text) > MaxPathBytes || !utf8.ValidString(text):
		return Path{}, fmt.Errorf("%w: %d bytes", ErrPath, len(text))
	case text[0] == '$':
		return ParsePath(text)
	case text[0] == '.' || text[0] == '[':
		return ParsePath("$" + text)
	case strings.ContainsAny(text, ".[]*$"): // Bounded: MaxPathBytes.
		return Path{}, fmt.Errorf("%w: %q", ErrPath, text)
	}
	return Path{[]segment{{name: text}}}, nil
}

// ParsePath reads a singular JSONPath. Blanks may stand where RFC 9535 has them in a query.
func ParsePath(text string) (Path, error) {
	if len(text) > MaxPathBytes+1 {
		return Path{}, ErrPathBounds
	}
	if text == "" || text[0] != '$' || !utf8.ValidString(text) {
		return Path{}, fmt.Errorf("%w: %q", ErrPath, text)
	}
	r := pathReader{text: text, at: 1}
	var p Path
	// Bounded: each round reads a segment of MaxPathBytes.
	for {
		before := r.at
		r.blanks()
		if r.at == len(text) {
			if before != r.at {
				return Path{}, r.wrong() // blanks at the end
			}
			return p, nil
		}
		s, err := r.segment()
		if err != nil {
			return Path{}, err
		}
		if len(p.segments) == MaxPathSegments {
			return Path{}, ErrPathBounds
		}
		p.segments = append(p.segments, s)
	}
}

// Follow returns the value that the path leads to from v, if there is one.
func (p Path) Follow(v Value, steps *Steps) (found Value, ok bool, err error) {
	// Paid: by spend, before each segment.
	for _, s := range p.segments {
		if err := steps.Spend(s.cost(v)); err != nil {
			return Value{}, false, err
		}
		if s.place {
			v, ok = s.item(v)
		} else {
			v, ok = v.Member(s.name)
		}
		if !ok {
			return Value{}, false, nil
		}
	}
	return v, true, nil
}

// cost is what it takes to follow the segment: a name is compared with as many names as a
// bisection meets.
func (s segment) cost(v Value) uint64 {
	if s.place {
		return 1
	}
	return 1 + uint64(len(s.name)) + uint64(bits.Len(uint(v.Count())))
}

func (s segment) item(v Value) (Value, bool) {
	if v.Kind() != Array {
		return Value{}, false
	}
	i := s.index
	if i < 0 {
		i += int64(v.Count())
	}
	if i < 0 || i >= int64(v.Count()) {
		return Value{}, false
	}
	return v.Item(int(i)), true
}
