package parallel

import (
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/state"
)

// execution is one speculative execution of a transaction, on an overlay of its own. It
// serves one transaction after the other, so that its memory is not made anew.
type execution struct {
	view      view
	over      *state.Overlay // on view
	warm      *actor.Warm    // code that it takes for used before it, and what it has paid for
	result    exec.Execution
	succeeded bool   // it ended with a result
	refused   bool   // it did not get the machines for its deep calls
	nanos     uint64 // that its last run took, by a proposer's clock
}

// mostRecycled bounds the reads of an execution that is used again, and with them its
// writes: emptying it takes time for all that it has ever held.
const mostRecycled = 64

// newExecution returns an execution on the kind of overlay that over makes.
func (r *run) newExecution(over func(state.View) *state.Overlay) *execution {
	a := &execution{warm: actor.NewWarm(nil), view: view{committed: r.committed, shake: r.shake, reads: make([]read, 0, linear)}}
	a.over = over(&a.view)
	return a
}

// fresh returns an execution that is empty.
func (w *worker) fresh() *execution {
	n := len(w.free)
	if n == 0 {
		return w.run.newExecution(state.NewDeltaOverlay)
	}
	a := w.free[n-1]
	w.free = w.free[:n-1]
	a.view.committed, a.view.shake = w.run.committed, w.run.shake
	return a
}

// recycle puts a committed execution by for the next transaction, if that is worth it. A
// worker may commit far more than it executes, block after block, so it keeps no more than
// its part of what can be under way.
func (w *worker) recycle(a *execution) {
	if len(a.view.reads) > mostRecycled || len(w.free) == windowPlanned {
		return
	}
	a.reset()
	a.view.committed = nil
	w.free = append(w.free, a)
}

// reset empties an execution.
func (a *execution) reset() {
	a.over.Reset()
	a.view.reset()
	a.warm.Reset(nil)
	a.result, a.succeeded, a.refused = exec.Execution{}, false, false
}
