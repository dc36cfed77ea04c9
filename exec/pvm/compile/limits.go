package compile

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Limits bound the work of one [Source] or [Compile]. They are consensus: a
// program that one node takes, every node takes.
type Limits struct {
	Syntax syntax.Limits
	Scope  scope.Limits

	Registers    int // of one code object
	Constants    int // of one code object
	Names        int // of one code object
	Instructions int // of the program
	Codes        int // code objects of the program
	Handlers     int // rows of exception tables of the program
	NameBytes    int // of all qualified names

	// PlainBranches leaves comparisons and the branches on them apart. It is for
	// tests: results and cycles are the same with it.
	PlainBranches bool
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits {
	return Limits{
		Syntax:       syntax.DefaultLimits(),
		Scope:        scope.DefaultLimits(),
		Registers:    4096,
		Constants:    1 << 16,
		Names:        1 << 16,
		Instructions: 1 << 17, // twice what 64 KiB of expressions have
		Codes:        1 << 15,
		Handlers:     1 << 16,
		NameBytes:    1 << 22,
	}
}

// Check reports the first limit that cannot work.
func (l Limits) Check() error {
	// Bounded: by the limits there are.
	for _, f := range []struct {
		name    string
		n, most int
	}{
		{"registers", l.Registers, 1 << 15},
		{"constants", l.Constants, 1 << 16},
		{"names", l.Names, 1 << 16},
		{"instructions", l.Instructions, 1 << 30},
		{"code objects", l.Codes, 1 << 16},
		{"handlers", l.Handlers, 1 << 30},
		{"name bytes", l.NameBytes, 1 << 30},
	} {
		if f.n < 1 || f.n > f.most {
			return fmt.Errorf("limit of %s is %d, want 1 to %d", f.name, f.n, f.most)
		}
	}
	return nil
}
