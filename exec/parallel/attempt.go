package parallel

import (
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/state"
)

// attempt is one run of a transaction, on an overlay of its own. It serves one
// transaction after the other, so that what it has grown to is not made anew.
type attempt struct {
	view   view
	over   *state.Overlay // on view
	warm   *actor.Warm    // code that it takes for used before it, and what it has paid for
	result exec.Attempt
	good   bool   // it ended with a result
	nanos  uint64 // that its last run took, by a proposer's clock
}

// mostKept bounds the reads of an attempt that is used again, and with them its
// writes: emptying it takes time for all that it has ever held.
const mostKept = 64

// newAttempt returns an attempt, over saying which kind of overlay.
func (r *run) newAttempt(over func(state.View) *state.Overlay) *attempt {
	a := &attempt{warm: actor.NewWarm(nil), view: view{from: r.settled, shake: r.shake, reads: make([]read, 0, linear)}}
	a.over = over(&a.view)
	return a
}

// unused returns an attempt without traces.
func (w *worker) unused() *attempt {
	n := len(w.spare)
	if n == 0 {
		return w.run.newAttempt(state.NewBlindOverlay)
	}
	a := w.spare[n-1]
	w.spare = w.spare[:n-1]
	a.view.from, a.view.shake = w.run.settled, w.run.shake
	return a
}

// keep makes a settled attempt one that is to be used again, if that is worth it.
func (w *worker) keep(a *attempt) {
	if len(a.view.reads) > mostKept {
		return
	}
	a.renew()
	a.view.from = nil
	w.spare = append(w.spare, a)
}

// renew takes away the traces of a run.
func (a *attempt) renew() {
	a.over.Reset()
	a.view.reset()
	a.warm.Reset(nil)
	a.result, a.good = exec.Attempt{}, false
}
