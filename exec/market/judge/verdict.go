package judge

import (
	"cmp"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// Verdict judges the results of a job. As long as further results may decide it returns
// [Undecided]; what it returns else depends on the set of results alone, not on their order.
//
// Failures of a class decide as soon as threshold runners report them, and so do equal
// results in a majority_vote without a verifier; all others wait for Final (resolution
// 12.34), so that a verifier is asked once about the results of an attempt. Where one runner
// works, its result is final.
func Verdict(q *Question) *Decision {
	outputs := slices.SortedFunc(slices.Values(q.Outputs), bySeat) // Bounded: 255 seats.
	mode, threshold := q.Spec.Verification.Mode, max(1, int(q.Spec.Verification.Threshold))
	final := q.Final || len(outputs) > 0 && alone(mode)
	_, _, verified := Custom(q.Spec)
	d, failed := failures(outputs, threshold)
	if !failed && !final && (!early(mode) || verified || counted(outputs) < threshold) {
		return d
	}
	r := rulesOf(q.Spec, q.Terms)
	readings := make([]reading, 0, len(outputs))
	for i := range outputs { // Paid: by a budget for each (rules.read).
		readings = append(readings, r.readOnce(q, &outputs[i]))
		d.add(&readings[i])
	}
	if failed {
		return d
	}
	valid := slices.DeleteFunc(readings, func(x reading) bool { return !x.counts }) // Bounded: 255 seats.
	if len(valid) < threshold {
		if final {
			d.Outcome = NoAgreement
		}
		return d
	}
	alike, agreed := r.agree(d, valid, threshold)
	switch {
	case agreed:
		d.Outcome, d.Backed = Agreed, r.binds()
		r.verify(q, d)
	case final:
		d.Outcome = NoAgreement
		d.disagree(valid, alike)
	}
	return d
}

// disagree notes who has done the work where as many results count by themselves as would have
// been enough, and nothing is agreed (ADR 228): those that are alike, if they are more than half
// of these, as what else was shown may be anything then (ADR 234); else all, as nothing tells
// which of them are worth more.
func (d *Decision) disagree(valid, alike []reading) {
	if 2*len(alike) <= len(valid) {
		alike = valid
	}
	d.note(alike)
}

// Late judges results that come after a verdict, from the outcome and the key that it had:
// which of them would have been among those that agree. Only a majority_vote and failures are
// decided before all results are in; in other modes nothing is late.
func Late(q *Question, outcome Outcome, key chain.Hash) *Decision {
	d := &Decision{Outcome: outcome, Key: key}
	r := rulesOf(q.Spec, q.Terms)
	outputs := slices.SortedFunc(slices.Values(q.Outputs), bySeat) // Bounded: 255 seats.
	for i := range outputs {                                       // Paid: by a budget for each (rules.read).
		got := r.read(q, &outputs[i])
		d.add(&got)
		matches := got.counts && outcome == Agreed && early(r.spec.Verification.Mode) && got.key == key
		fails := outcome != Undecided && failureOf(&outputs[i]) == outcome
		if matches || fails {
			d.Seats = append(d.Seats, outputs[i].Seat)
		}
	}
	return d
}

func bySeat(a, b Output) int { return cmp.Compare(a.Seat, b.Seat) }

// add counts what a reading took and the fault that it found.
func (d *Decision) add(got *reading) {
	d.Steps += got.steps
	if got.panicked {
		d.Panics++
	}
	if got.fault != NoFault {
		d.Faults = append(d.Faults, Fault{got.output.Seat, got.fault})
	}
	if got.steps > 0 {
		d.Findings = append(d.Findings, SeatFinding{got.output.Seat, Finding{got.counts, got.fault, got.key}})
	}
}

// counted is how many results are ok by their own word.
func counted(outputs []Output) (n int) {
	for i := range outputs { // Bounded: 255 seats.
		if outputs[i].Result.Outcome == chain.OutcomeOK {
			n++
		}
	}
	return n
}

// failureOf is what the failure of a result is for the job, Undecided for a result that is
// ok.
func failureOf(o *Output) Outcome {
	switch o.Result.Outcome {
	case chain.OutcomeImpossible:
		return Impossible
	case chain.OutcomeActorFault:
		return ActorFault
	case chain.OutcomeExternalFault:
		return External
	}
	return Undecided
}

// failures looks for a failure that threshold runners report (resolution 12.52).
func failures(outputs []Output, threshold int) (*Decision, bool) {
	for _, class := range [...]Outcome{Impossible, ActorFault, External} { // Bounded: three classes.
		d := &Decision{Outcome: class}
		for i := range outputs { // Bounded: 255 seats.
			if failureOf(&outputs[i]) == class {
				d.Seats = append(d.Seats, outputs[i].Seat)
			}
		}
		if len(d.Seats) >= threshold {
			d.Canonical = d.Seats[0]
			return d, true
		}
	}
	return &Decision{}, false
}

// agree looks for threshold results that agree, out of at least as many that count, and writes
// them down. Where there are none it says which are alike in what must be. Readings stand by
// ascending seat.
func (r *rules) agree(d *Decision, valid []reading, threshold int) (alike []reading, ok bool) {
	if r.takesMedian() {
		return r.median(d, valid, threshold)
	}
	if !early(r.spec.Verification.Mode) && r.snapshot == chain.SnapshotLatest {
		// Bounded: 255 seats. The first of those that are alike is the one of the least seat.
		newest := slices.MaxFunc(valid, func(a, b reading) int { return cmp.Compare(a.millis, b.millis) })
		d.settle(valid, &newest)
		return valid, true
	}
	class := largest(valid)
	if len(class) < threshold {
		return class, false
	}
	centre := class[0]
	if !early(r.spec.Verification.Mode) && r.snapshot == chain.SnapshotFirstValid {
		// Bounded: 255 seats. As above.
		centre = slices.MinFunc(class, func(a, b reading) int {
			return cmp.Compare(a.output.CommittedAt, b.output.CommittedAt)
		})
	}
	d.settle(class, &centre)
	return class, true
}

// settle writes down who agrees and whose result it is.
func (d *Decision) settle(agreed []reading, canonical *reading) {
	d.note(agreed)
	d.Canonical = canonical.output.Seat
	d.Data = canonical.output.Result.Data
	d.Key = canonical.key
}

// note writes down whose results are to be marked.
func (d *Decision) note(of []reading) {
	for i := range of { // Bounded: 255 seats.
		d.Seats = append(d.Seats, of[i].output.Seat)
	}
}

// largest returns the most readings that are equal in what must be equal; of several such
// sets the one with the least seat. Equality is transitive, so each set is the star of all
// of its members (resolution 12.36).
func largest(valid []reading) (class []reading) {
	// Bounded: 255 seats, each beside each.
	for i := range valid {
		var star []reading
		for j := range valid { // Bounded: as above.
			if valid[j].key == valid[i].key {
				star = append(star, valid[j])
			}
		}
		if len(star) > len(class) {
			class = star
		}
	}
	return class
}

// verify asks the actor that the job names, if it names one. If it says no, the agreement is
// rejected. One that fails has said nothing: what the results have come to stands (ADR 221).
func (r *rules) verify(q *Question, d *Decision) {
	if _, _, named := Custom(q.Spec); !named {
		return
	}
	opinion, err := Opinion{}, ErrNoRoom
	if q.Verifier != nil {
		opinion, err = q.Verifier(d)
	}
	switch {
	case errors.Is(err, ErrNoRoom):
		d.Outcome, d.Waiting = Undecided, true
	case err != nil:
	case !opinion.Valid:
		d.Outcome, d.Data, d.Key = Rejected, nil, chain.Hash{}
	case opinion.Canonical == nil || d.replace(r, opinion.Canonical):
		d.Backed = true
	}
}

// replace takes the data of the job's verifier as the result, if it is of the job's format:
// other data is a failure of the verifier.
func (d *Decision) replace(r *rules, data []byte) bool {
	steps := strictjson.NewSteps(r.terms.JudgeSteps)
	err := steps.Spend(uint64(len(data)) / 16)
	switch {
	case len(data) > int(r.terms.ResultSchema.MaxReturnBytes):
		err = ErrTooLong
	case err == nil && r.terms.ResultSchema.DataFormat == chain.FormatJSON:
		_, err = strictjson.Read(data, steps)
	case err == nil && r.terms.ResultSchema.DataFormat == chain.FormatText && !utf8.Valid(data):
		err = ErrNotText
	}
	d.Steps += steps.Used()
	if err == nil {
		d.Data = data
	}
	return err == nil
}
