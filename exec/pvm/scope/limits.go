package scope

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// Limits bound the work of one [Analyze]. They are consensus: a program that one
// node takes, every node takes.
type Limits struct {
	Scopes       int // the module's included
	Symbols      int // of all scopes, those included that only pass through
	MangledBytes int // of all distinct private names in their long form; and of long names that pass through scopes
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits {
	return Limits{
		Scopes:       1 << 15,
		Symbols:      1 << 15, // twice what 64 KiB of names have
		MangledBytes: syntax.MangledBytes,
	}
}

// Check reports the first limit that cannot work.
func (l Limits) Check() error {
	// Bounded: by the limits there are.
	for _, f := range []struct {
		name string
		n    int
	}{
		{"scopes", l.Scopes},
		{"symbols", l.Symbols},
		{"mangled bytes", l.MangledBytes},
	} {
		if f.n < 1 {
			return fmt.Errorf("limit of %s is %d, want at least 1", f.name, f.n)
		}
	}
	return nil
}
