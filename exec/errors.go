package exec

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// InvalidTx means that a transaction may not stand where it does, so the block
// is invalid on every node. A proposer leaves the transaction out and builds
// again; Err says what else follows (see package chain/fees).
type InvalidTx struct {
	Index int // in the block
	Err   error
}

func (e *InvalidTx) Error() string { return fmt.Sprintf("transaction %d: %v", e.Index, e.Err) }
func (e *InvalidTx) Unwrap() error { return e.Err }

// Reasons of an [InvalidTx] that are about its place in the block; those about
// the transaction itself are package chain/fees'.
var (
	// ErrLaneOrder means a transaction of a lane whose segment has ended.
	ErrLaneOrder = errors.New("transaction of an earlier lane")
	// ErrLaneFull means limits or bytes above what is left of the transaction's
	// lane (resolution 11.14).
	ErrLaneFull = errors.New("limits or bytes exceed what is left of the lane")
	// ErrActorBusy means a limit above what the actor may use in this block
	// (resolution 11.22). The transaction may wait.
	ErrActorBusy = errors.New("limit exceeds what the actor may use in this block")
)

// Fault means that this node cannot execute: its state could not be read, or
// holds what no execution wrote. It is no verdict on the block.
type Fault struct {
	Doing string
	Err   error
}

func (e *Fault) Error() string { return "fault: " + e.Doing + ": " + e.Err.Error() }
func (e *Fault) Unwrap() error { return e.Err }

// Panicked makes a [*Fault] of what a transaction panicked with, outside the guard of
// the Python machine. It is called where the panic is recovered.
func Panicked(cause any) *Fault {
	return &Fault{"run a transaction", &Panic{Cause: fmt.Sprint(cause), Stack: string(debug.Stack())}}
}

// Panic is the reason of a [Fault]: a defect of this program.
type Panic struct {
	Cause string
	Stack string // of the goroutine, for the log
}

func (p *Panic) Error() string { return "panic: " + p.Cause }

// Contradictions in the state, met only as the Err of a [Fault].
var (
	// ErrMeterRecord means a meter of another length.
	ErrMeterRecord = errors.New("meter of the state is malformed")
	// ErrHeight means a block at height 0, where the genesis stands.
	ErrHeight = errors.New("height 0 is the genesis")
)
