package parallel

import "github.com/cowboy-foundation/cowboy/exec"

// sieve leaves transactions out of a run; a nil one leaves out none.
type sieve struct {
	*exec.Sieve
	sel *exec.Selection
}

// spare reports whether a transaction runs at the frontier alone.
func (v *sieve) spare(i int) bool { return v != nil && v.sel.IsSpare(i) }

// late reports whether the proposer's time is over.
func (v *sieve) late() bool { return v != nil && v.sel.Watch.IsOver() }

// measure begins to measure what an execution takes.
func (v *sieve) measure(i int) func() uint64 {
	if v == nil {
		return func() uint64 { return 0 }
	}
	return v.sel.Watch.Measure(i)
}

// note tells the proposer what transaction i took.
func (v *sieve) note(i int, a *attempt) {
	if v != nil {
		v.sel.Watch.Note(i, a.result.Used(), a.nanos)
	}
}

// leave leaves out what is not settled when time is over. What of it was run all the
// same has taken its time, too. Nobody works any more.
func (r *run) leave() {
	for i := r.frontier; i < len(r.txs); i++ {
		if r.jobs[i].by != nil {
			r.sieve.note(i, r.jobs[i].try)
		}
	}
	r.sieve.LeaveFrom(r.frontier)
}

// admit reports whether the transaction at the frontier may be settled.
func (v *sieve) admit(i int) bool { return v == nil || v.Admit(i) }

// keep books what was settled.
func (v *sieve) keep(i int) {
	if v != nil {
		v.Keep(i)
	}
}

// refuse leaves out transaction i, at the frontier, after an error, or returns that.
func (v *sieve) refuse(i int, err error) error {
	if v == nil || err == nil {
		return err
	}
	return v.Refuse(i, err)
}
