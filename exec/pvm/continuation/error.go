package continuation

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// ErrRefused is wrapped by every [Error].
var ErrRefused = errors.New("continuation refused")

// Error says why a handler cannot be turned into message passing, and where.
type Error struct {
	syntax.Pos
	Msg string
}

// Error returns place and reason.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col+1, e.Msg)
}

// Unwrap returns [ErrRefused].
func (e *Error) Unwrap() error { return ErrRefused }

// refuse ends the transformation; [Transform] recovers it.
func refuse(at syntax.Node, format string, args ...any) {
	panic(&Error{Pos: at.Position(), Msg: fmt.Sprintf(format, args...)})
}

// Limits bound a transformation. They are consensus.
type Limits struct {
	Awaits     int // in one handler
	Statements int // that the lowering of one handler makes
	Variables  int // of one handler
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits { return Limits{Awaits: 8, Statements: 20_000, Variables: 256} }
