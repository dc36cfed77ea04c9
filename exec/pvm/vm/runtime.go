package vm

import "github.com/cowboy-foundation/cowboy/exec/pvm/code"

// ModuleDef is a module of the library. Load runs once per machine, at the
// first import.
type ModuleDef struct {
	Name string // dotted
	Load func(m *Machine) (*Module, error)
}

// Runtime is what all machines share: builtin classes and functions, library,
// costs and limits. It is immutable once made and safe for any number of
// machines at once.
type Runtime struct {
	costs                  code.Costs
	limits                 Limits
	hashKey                [2]uint64 // of internal tables; per process, never observable
	classes                builtinClasses
	byKind                 [KindForeign + 1]*Class
	builtins               namespace            // names that every module sees
	modules                map[string]ModuleDef // looked up, never iterated
	objectHash, objectInit *Native              // of object
	all                    []*Class             // builtin classes, in order of creation
}

// Limits bound one call. They are consensus.
type Limits struct {
	HeapBytes      int64 // modelled, 10 MiB (whitepaper §3.2)
	RecursionDepth int   // 256 for Python frames and natives together
	OutputBytes    int   // of print, the rest is dropped
	IntDigits      int   // of int-str conversions, as Python's 4300
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits {
	return Limits{HeapBytes: 10 << 20, RecursionDepth: 256, OutputBytes: 1 << 20, IntDigits: 4300}
}
