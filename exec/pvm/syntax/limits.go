package syntax

import "fmt"

// Limits bound the work of one [Parse]. The source comes from whoever deploys an
// actor, so each of them is met before memory is spent. They are consensus: a
// source that one node takes, every node takes.
type Limits struct {
	SourceBytes int // bytes of source
	Tokens      int // tokens, those inside f-strings included
	Depth       int // nested expressions, patterns and blocks while parsing
	TreeHeight  int // nodes from the module down to any leaf
	Constants   int // literals in the tree
	IntDigits   int // digits of one decimal integer literal, as in Python
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits {
	return Limits{
		SourceBytes: 1 << 20,
		Tokens:      1 << 18,
		Depth:       200,  // CPython's limit of nested brackets
		TreeHeight:  1000, // long chains of operators nest to the left
		Constants:   1 << 16,
		IntDigits:   4300, // CPython's: the conversion is quadratic
	}
}

// Check reports the first limit that cannot work.
func (l Limits) Check() error {
	const most = 1 << 30 // offsets and lines are 32 bits wide
	// Bounded: by the limits there are.
	for _, f := range []struct {
		name string
		n    int
	}{
		{"source bytes", l.SourceBytes},
		{"tokens", l.Tokens},
		{"depth", l.Depth},
		{"tree height", l.TreeHeight},
		{"constants", l.Constants},
		{"integer digits", l.IntDigits},
	} {
		if f.n < 1 || f.n > most {
			return fmt.Errorf("limit of %s is %d, want 1 to %d", f.name, f.n, most)
		}
	}
	return nil
}
