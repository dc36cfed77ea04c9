package format

import "fmt"

// Kind is the class of the exception that Python raises.
type Kind uint8

// The classes.
const (
	ValueError Kind = iota
	TypeError
	OverflowError
	IndexError
	MemoryError
)

// String is the name of the class.
func (k Kind) String() string {
	return [...]string{"ValueError", "TypeError", "OverflowError", "IndexError", "MemoryError"}[k]
}

// Error is an exception with CPython's text.
type Error struct {
	Kind Kind
	Text string
}

func (e *Error) Error() string { return e.Kind.String() + ": " + e.Text }

func valueError(format string, args ...any) error {
	return &Error{ValueError, fmt.Sprintf(format, args...)}
}

// MaxSize bounds what a call appends, in bytes. It is beyond what fits the heap
// of the machine, so that a program meets it only when its charge was wrong.
const MaxSize = 1 << 26

func checkSize(bound int64) error {
	if bound > MaxSize {
		return &Error{Kind: MemoryError}
	}
	return nil
}

// Limits of C that show in results.
const (
	ssizeMax = 1<<63 - 1
	intMax   = 1<<31 - 1
)

// addSizes adds sizes, none negative, and stays at the limit.
func addSizes(sizes ...int64) int64 {
	var sum int64
	// Bounded: by the two sizes that callers give.
	for _, n := range sizes {
		if sum += n; sum < 0 {
			return ssizeMax
		}
	}
	return sum
}
