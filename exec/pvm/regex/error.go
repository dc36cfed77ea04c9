package regex

import (
	"errors"
	"fmt"
)

// Flag is a set of the flags of Python's re, with its values. Bits that mean nothing
// are dropped.
type Flag uint32

// The flags, as re numbers them.
const (
	Template   Flag = 1
	IgnoreCase Flag = 2
	Locale     Flag = 4
	Multiline  Flag = 8
	DotAll     Flag = 16
	Unicode    Flag = 32
	Verbose    Flag = 64
	Debug      Flag = 128
	ASCII      Flag = 256

	typeFlags   = ASCII | Locale | Unicode
	globalFlags = Debug | Template
	allFlags    = typeFlags | globalFlags | IgnoreCase | Multiline | DotAll | Verbose
)

// Kind says which exception of Python an [Error] is.
type Kind uint8

// The kinds.
const (
	Syntax   Kind = iota // re.error
	Value                // ValueError
	Overflow             // OverflowError
	Index                // IndexError
	Limit                // one of [Limits] was met: RecursionError or MemoryError in CPython, if at all
	Refused              // what the machine leaves out on purpose: LOCALE, \N{...}
)

// Error is the refusal of a pattern or of a template.
type Error struct {
	Kind   Kind
	Msg    string // CPython's, without the position
	Pos    int    // code points (bytes in a bytes pattern) before the fault, -1 for none
	Lineno int    // from 1, 0 when Pos is -1
	Colno  int    // from 1, 0 when Pos is -1
	Cost   int    // what was made before the refusal, as [Program.Cost] counts it beside the characters
	lines  bool   // the pattern has more than one line
}

// Error returns the text that Python's str() gives the exception.
func (e *Error) Error() string {
	switch {
	case e.Pos < 0:
		return e.Msg
	case e.lines:
		return fmt.Sprintf("%s at position %d (line %d, column %d)", e.Msg, e.Pos, e.Lineno, e.Colno)
	}
	return fmt.Sprintf("%s at position %d", e.Msg, e.Pos)
}

// errorAt returns a syntax error with its line and column counted.
func errorAt(msg string, pattern []rune, pos int) *Error {
	e := &Error{Msg: msg, Pos: pos, Lineno: 1, Colno: pos + 1}
	// Paid: by patternOf in lib, a second character each for the line of a fault; there is one fault.
	for i, c := range pattern {
		if c != '\n' {
			continue
		}
		e.lines = true
		if i < pos {
			e.Lineno++
			e.Colno = pos - i
		}
	}
	return e
}

// The ways in which a run ends without an answer.
var (
	ErrBudget = errors.New("regex: out of steps")
	ErrStack  = errors.New("regex: out of backtracking stack")
)

// Limits bound the work of one [Compile]. Patterns come from programs, so each
// limit is met before memory is spent. They are consensus.
type Limits struct {
	Pattern      int // code points (bytes) of the pattern or template
	Nesting      int // groups within groups
	Instructions int // of the compiled program
	ClassSpans   int // ranges in all character classes together
	Groups       int // capturing groups
	Repeat       int // the largest count of a quantifier
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits {
	return Limits{
		Pattern:      1 << 16,
		Nesting:      100,
		Instructions: 1 << 17,
		ClassSpans:   1 << 17,
		Groups:       1 << 12,
		Repeat:       1 << 24,
	}
}

// Check reports the first limit that cannot work.
func (l Limits) Check() error {
	// Bounded: by six limits.
	for _, f := range []struct {
		name string
		n    int
		most int
	}{
		{"pattern", l.Pattern, 1 << 24},
		{"nesting", l.Nesting, 1 << 12}, // the parser recurses
		{"instructions", l.Instructions, 1 << 24},
		{"class spans", l.ClassSpans, 1 << 24},
		{"groups", l.Groups, 1 << 16},
		{"repeat", l.Repeat, 1 << 30},
	} {
		if f.n < 1 || f.n > f.most {
			return fmt.Errorf("limit of %s is %d, want 1 to %d", f.name, f.n, f.most)
		}
	}
	return nil
}
