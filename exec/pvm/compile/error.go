package compile

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Error is a refusal with its place. It wraps [syntax.ErrSyntax] where Python
// 3.11 refuses too, [syntax.ErrUnsupported] where only the PVM does, and
// [syntax.ErrLimit] for the [Limits].
type Error struct {
	syntax.Pos
	Msg  string
	kind error

	Instructions int // made before the refusal, which are to be paid for
}

// Error returns the text in the shape of Python's last traceback line.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: SyntaxError: %s", e.Line, e.Col+1, e.Msg)
}

// Unwrap returns the kind of refusal.
func (e *Error) Unwrap() error { return e.kind }

// Refusals leave the walk as a panic with an *Error, which Compile catches.

func failf(at syntax.Pos, format string, args ...any) {
	panic(&Error{Pos: at, Msg: fmt.Sprintf(format, args...), kind: syntax.ErrSyntax})
}

func unsupportedf(at syntax.Pos, format string, args ...any) {
	panic(&Error{Pos: at, Msg: fmt.Sprintf(format, args...), kind: syntax.ErrUnsupported})
}

func limit(at syntax.Pos, n, most int, what string) {
	if n > most {
		panic(&Error{Pos: at, Msg: fmt.Sprintf("more than %d %s", most, what), kind: syntax.ErrLimit})
	}
}
