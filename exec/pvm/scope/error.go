package scope

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Error is a refusal with its place. It wraps [syntax.ErrSyntax] where Python
// 3.11 raises SyntaxError with the same message, and [syntax.ErrLimit] where
// only our limits refuse.
type Error struct {
	syntax.Pos
	Msg  string
	kind error

	// What was made before the refusal, which is to be paid for as in a table.
	Scopes, Symbols int
}

// Error returns the text in the shape of Python's last traceback line.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: SyntaxError: %s", e.Line, e.Col+1, e.Msg)
}

// Unwrap returns the kind of refusal.
func (e *Error) Unwrap() error { return e.kind }
