package judge

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// rules are what the results of a job are held to.
type rules struct {
	spec     *chain.JobSpec
	terms    *chain.JobTerms
	snapshot chain.SnapshotMode // of several runners
	names    []string           // of fields, as the job writes them
	fields   []strictjson.Path  // the same, read
	sound    bool               // whether Check would have taken the job
	setup    uint64             // steps that each result takes besides what is in it
}

// setupSteps is what a result takes before a byte of it is read.
const setupSteps = 64

// rulesOf reads the rules of a job that Check has taken. No result counts for another one.
func rulesOf(spec *chain.JobSpec, terms *chain.JobTerms) *rules {
	v := &spec.Verification
	r := &rules{spec: spec, terms: terms, snapshot: snapshotOf(terms), names: fieldsOf(v, terms), sound: true, setup: setupSteps}
	if int(v.Mode) >= len(modes) || modes[v.Mode].least == 0 {
		r.sound = false
	}
	r.fields = make([]strictjson.Path, 0, len(r.names))
	// Paid: in setup.
	for _, name := range r.names {
		p, err := strictjson.ParseField(name)
		if err != nil {
			r.sound = false
			return r
		}
		r.fields = append(r.fields, p)
		r.setup += 4 + uint64(len(name))/2
	}
	return r
}

// compares reports whether results must be equal in something.
func (r *rules) compares() bool {
	v := &r.spec.Verification
	if alone(v.Mode) || r.takesMedian() || v.Mode == chain.VerifyStructured && r.snapshot == chain.SnapshotLatest {
		return false
	}
	return v.Mode == chain.VerifyMajorityVote || len(r.fields) > 0
}

// wholeE6 is as far from a median as the median is from nothing.
const wholeE6 = 1_000_000

// binds reports whether a result that agrees says something that others say too: it equals
// theirs in what must be equal, or is a number that lies by theirs.
func (r *rules) binds() bool {
	return r.compares() || r.takesMedian() && r.outlier() > 0 && r.outlier() < wholeE6
}

// takesMedian reports whether the result is the median of numbers.
func (r *rules) takesMedian() bool {
	return r.spec.Verification.Mode == chain.VerifyStructured && r.snapshot == chain.SnapshotMedian
}

// early reports whether in a mode enough results decide before all are in (resolution 12.34).
func early(m chain.VerificationMode) bool { return alone(m) || m == chain.VerifyMajorityVote }

// StepsBound returns how many steps the results of a job take at most, each judged once: what
// its submitter pays for, so that none has more. It is 0 where there is nothing to judge.
func StepsBound(spec *chain.JobSpec, terms *chain.JobTerms) uint64 {
	if spec.Verification.Mode == chain.VerifyNone && terms.ResultSchema.DataFormat == chain.FormatBytes {
		return 0
	}
	texts := uint64(spec.Verification.Runners)
	if _, _, named := Custom(spec); named {
		texts++ // what the verifier says
	}
	return texts * terms.JudgeSteps
}
