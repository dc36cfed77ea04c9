package parallel

import "github.com/cowboy-foundation/cowboy/exec"

// sieve leaves transactions out of a run; a nil one leaves out none.
type sieve struct {
	*exec.Sieve
	sel *exec.Selection
}

// spare reports whether a transaction runs at the frontier alone.
func (v *sieve) spare(i int) bool { return v != nil && v.sel.IsSpare(i) }

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
