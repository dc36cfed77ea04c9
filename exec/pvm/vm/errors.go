package vm

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// Raised is a Python exception on its way up, as a Go error.
type Raised struct{ Exc *Exception }

// Error returns the class and, where it is plain text, the message.
func (r *Raised) Error() string {
	if len(r.Exc.args) == 1 {
		if s, ok := r.Exc.args[0].str(); ok {
			return r.Exc.class.name + ": " + s.s
		}
	}
	return r.Exc.class.name
}

// Exception is an instance of BaseException or of a class below it.
type Exception struct {
	Object
	args     []Value
	cause    Value // None or exception, unbound when never set
	context  Value
	suppress bool // __suppress_context__
	trace    []TraceEntry
	group    []Value // exceptions of a group
	value    Value   // StopIteration.value, SystemExit.code, KeyError and the like keep args
	slots    []Value // of __slots__ of a subclass
	raised   Raised  // the exception on its way, made with it
	first    [1]Value
	place    [1]TraceEntry // where args and trace begin
}

// ClassName is the name of the exception's class.
func (e *Exception) ClassName() string { return e.class.name }

// setArgs makes a copy of args the arguments.
func (e *Exception) setArgs(args []Value) {
	if len(args) == 1 && e.first[0].ref == nil {
		e.first[0] = args[0]
		e.args = e.first[:1:1]
		return
	}
	e.args = append([]Value(nil), args...)
}

// passes adds a place to the traceback.
func (e *Exception) passes(t TraceEntry) {
	if e.trace == nil && e.place[0].Code == nil {
		e.trace = e.place[:0:1]
	}
	e.trace = append(e.trace, t)
}

// onItsWay returns the exception as an error.
func (e *Exception) onItsWay() *Raised {
	e.raised.Exc = e
	return &e.raised
}

// TraceEntry is a place that an exception passed, innermost first.
type TraceEntry struct {
	Code *code.Object
	Line int32
}

// Code is why a call ended without a result that Python code could see.
type Code uint8

// The codes of an [Abort].
const (
	OutOfCycles Code = iota + 1
	OutOfMemory
	Internal // a defect of ours: nil dereference, index out of range, failed assertion
	HostStop // the host interface ended the call
)

// Abort ends a call past every handler of the program.
type Abort struct {
	Code   Code
	Detail string // for the log, never consensus
	Stack  string // of Go, where Internal happened; likewise
	Err    error  // of HostStop
}

// Error names the reason.
func (a *Abort) Error() string {
	switch a.Code {
	case OutOfCycles:
		return "out of cycles"
	case OutOfMemory:
		return "heap limit exceeded"
	case HostStop:
		return fmt.Sprintf("stopped by the host: %v", a.Err)
	default:
		return "defect in the machine: " + a.Detail
	}
}

// Unwrap returns the host's error.
func (a *Abort) Unwrap() error { return a.Err }

// ErrDepth is wrapped by the RecursionError of the one limit.
var ErrDepth = errors.New("recursion limit")
