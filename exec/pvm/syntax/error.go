package syntax

import (
	"errors"
	"fmt"
)

// The kinds of refusal, for errors.Is. Every error of this package is an
// [*Error] and wraps exactly one of them.
var (
	// ErrSyntax means that Python 3.11 refuses the source too.
	ErrSyntax = errors.New("syntax error")
	// ErrUnsupported means that Python 3.11 takes the source, and the PVM does
	// not: complex literals, other encodings, named escapes, lone surrogates.
	ErrUnsupported = errors.New("unsupported syntax")
	// ErrLimit means that the source exceeds one of the [Limits].
	ErrLimit = errors.New("source exceeds limit")
)

// Class is the name of the exception that Python would raise.
type Class uint8

// The exceptions of Python's front end.
const (
	SyntaxError Class = iota
	IndentationError
	TabError
)

// String returns the exception's name.
func (c Class) String() string {
	switch c {
	case IndentationError:
		return "IndentationError"
	case TabError:
		return "TabError"
	default:
		return "SyntaxError"
	}
}

// Error is a refusal with its place. Line counts from 1, Col from 0 in bytes,
// as in the positions of the tree.
type Error struct {
	Pos
	Class Class
	Msg   string
	kind  error
}

// Error returns the text in the shape of Python's last traceback line.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s: %s", e.Line, e.Col+1, e.Class, e.Msg)
}

// Unwrap returns the kind of refusal.
func (e *Error) Unwrap() error { return e.kind }

func syntaxErrorf(at Pos, format string, args ...any) *Error {
	return &Error{Pos: at, Msg: fmt.Sprintf(format, args...), kind: ErrSyntax}
}

func unsupportedf(at Pos, format string, args ...any) *Error {
	return &Error{Pos: at, Msg: fmt.Sprintf(format, args...), kind: ErrUnsupported}
}

func limitf(at Pos, format string, args ...any) *Error {
	return &Error{Pos: at, Msg: fmt.Sprintf(format, args...), kind: ErrLimit}
}
