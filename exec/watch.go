package exec

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
)

// ErrTime means a transaction that its proposer had no time for. It stands for the
// next block, and no verifier knows it.
var ErrTime = errors.New("the proposer's time for the block is over")

// Watch lets a proposer see what its transactions take and end a block before its
// time does. It decides what is left out, never what becomes of what is kept: a
// verifier has none, and the same transactions give the same block. The functions are
// the caller's, as is their clock; each may be nil.
type Watch struct {
	// Start begins to measure an execution of transaction i. What it returns is called
	// once, by the same goroutine, and says what nanoseconds that took.
	Start func(i int) func() uint64
	Over  func() bool // whether no further transaction may be taken
	// Ran is told what each execution of a transaction took. It is called by one
	// goroutine at a time.
	Ran func(i int, used chain.Usage, nanos uint64)
}

// Measure begins to measure an execution of transaction i.
func (w *Watch) Measure(i int) func() uint64 {
	if w.Start == nil {
		return unmeasured
	}
	return w.Start(i)
}

func unmeasured() uint64 { return 0 }

// IsOver reports whether the time is over.
func (w *Watch) IsOver() bool { return w.Over != nil && w.Over() }

// Note hands on what transaction i took.
func (w *Watch) Note(i int, used chain.Usage, nanos uint64) {
	if w.Ran != nil {
		w.Ran(i, used, nanos)
	}
}

// Used is what the transaction is charged for; nothing if it was refused.
func (a *Execution) Used() chain.Usage { return a.out.Used }
