package parallel

import (
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/exec"
)

// builder skips transactions of a run, for a proposer; a nil one skips none.
type builder struct {
	*exec.Builder
	sel   *order.Selection
	watch exec.Watch
}

// overcommitted reports whether a transaction runs at its commit index alone.
func (v *builder) overcommitted(i int) bool { return v != nil && v.sel.IsOvercommitted(i) }

// late reports whether the proposer's time is over.
func (v *builder) late() bool { return v != nil && v.watch.IsOver() }

// measure begins to measure what an execution takes.
func (v *builder) measure(i int) func() uint64 {
	if v == nil {
		return func() uint64 { return 0 }
	}
	return v.watch.Measure(i)
}

// measured tells the proposer what transaction i took.
func (v *builder) measured(i int, a *execution) {
	if v != nil {
		v.watch.Note(i, a.result.Used(), a.nanos)
	}
}

// leaveOutRest leaves out what is not committed when time is over. What of it was executed all the
// same has taken its time, too. Nobody works any more.
func (r *run) leaveOutRest() {
	for i := r.commitIndex; i < len(r.txs); i++ {
		if r.jobs[i].by != nil {
			r.builder.measured(i, r.jobs[i].execution)
		}
	}
	r.builder.CutFrom(r.commitIndex)
}

// mayCommit reports whether the transaction at the commit index may be committed.
func (v *builder) mayCommit(i int) bool { return v == nil || v.Admit(i) }

// recordCommitted books what was committed.
func (v *builder) recordCommitted(i int) {
	if v != nil {
		v.Keep(i)
	}
}

// skip leaves out transaction i, at the commit index, after an error, or returns that.
func (v *builder) skip(i int, err error) error {
	if v == nil || err == nil {
		return err
	}
	return v.Skip(i, err)
}
