package attacks

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// gathering is a committee of five, all of whom have committed to the same; the first by
// address aggregates, as all have the same reputation.
func gathering(t *testing.T) (m *market, id chain.Hash, aggregator *person, others []*person) {
	t.Helper()
	m, id, runners, _ := committee(t, 5, 3)
	m.promise(id, all("42", runners...))
	runners = byAddress(runners)
	return m, id, runners[0], runners[1:]
}

// gathered are results of people in the order of their seats.
func (m *market) gathered(id chain.Hash, data string, from ...*person) (shown []chain.Reveal) {
	m.Helper()
	for _, a := range m.committee(id) {
		for _, b := range from {
			if a == b {
				shown = append(shown, signed(a, id, result(data)))
			}
		}
	}
	return shown
}

// bonus is what an aggregator gets of each result that is paid.
const bonus = int64(rate) * 150 / 10_000

func aggregatorOmits(t *testing.T) end {
	// The control: it shows all, and has the bonus of five results, its own among them.
	m, id, aggregator, others := gathering(t)
	m.does(gathers(aggregator, id, m.gathered(id, "42", m.people[:5]...)...))
	m.found(id, "42")
	honest := m.gain(aggregator)
	m.gains("an honest aggregator", pay+4*bonus, aggregator)
	m.gains("those for whom it shows", 4*(pay-bonus), others...)

	// It omits one, which shows its own: that is paid as if it had been shown.
	m, id, aggregator, others = gathering(t)
	victim := others[3]
	m.does(gathers(aggregator, id, m.gathered(id, "42", append(others[:3:3], aggregator)...)...))
	m.until(m.job(id).GatherUntil)
	m.does(reveals(victim, id, result("42")))
	m.found(id, "42")
	if got := m.gain(aggregator); got > honest {
		t.Errorf("it has %s of leaving one out, and %s of showing all", cby(got), cby(honest))
	}
	m.gains("who was left out", pay-bonus, victim)

	// It puts them into another order: nothing is shown.
	m, id, aggregator, _ = gathering(t)
	shown := m.gathered(id, "42", m.people[:5]...)
	shown[0], shown[1] = shown[1], shown[0]
	m.codes(chain.CodeBadArgument, gathers(aggregator, id, shown...))
	if m.job(id).Phase != jobs.Assigned {
		t.Error("results in another order decide")
	}

	// It shows none, its own neither: the others do, and it is slashed. Showing theirs behind
	// its time, as a copy of what waits in the pool, earns nothing.
	m, id, aggregator, others = gathering(t)
	m.until(m.job(id).GatherUntil)
	m.does(gathers(aggregator, id, m.gathered(id, "42", append(others[:2:2], aggregator)...)...))
	m.show(id, all("42", others[2:]...))
	m.found(id, "42")
	m.gains("an aggregator that copies", pay, aggregator)
	m, id, aggregator, others = gathering(t)
	m.show(id, all("42", others...))
	m.found(id, "42")
	m.gains("an aggregator that shows nothing", -int64(stake)/5, aggregator)
	m.gains("those whose results it has", 4*pay, others...)
	steersTheMedian(t)
	return end{
		cby(honest) + " when it leaves one out, as when it shows all; " + cby(pay) + " when it copies what the others show; " + cby(-int64(stake)/5) + " when it withholds its own, too",
		"nobody: who is left out shows its own and is paid the same",
	}
}

// median is a job that takes the median of numbers.
func median(q *chain.JobSubmit) {
	q.Spec.Verification.Mode = chain.VerifyStructured
	q.Spec.Verification.Checks = []chain.VerifierCheck{&chain.FieldsCheck{Fields: []string{"a"}}}
	q.Terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: 10_000_000}
	q.Terms.ResultSchema.DataFormat = chain.FormatJSON
}

// steersTheMedian: an aggregator that shows low numbers alone gets no verdict of these.
func steersTheMedian(t *testing.T) {
	for _, omits := range []bool{false, true} {
		m := newMarket(t, 4)
		m.enlist(m.people[:3]...)
		id := m.assigned(m.people[3], order(3, 2, median))
		runners := byAddress(m.people[:3])
		says := says{runners[0]: `{"a":10}`, runners[1]: `{"a":20}`, runners[2]: `{"a":90}`}
		m.promise(id, says)
		var shown []chain.Reveal
		for _, a := range m.committee(id) {
			if a != runners[2] || !omits {
				shown = append(shown, signed(a, id, result(says[a])))
			}
		}
		m.does(gathers(runners[0], id, shown...))
		if omits {
			if m.job(id).Phase != jobs.Assigned {
				t.Fatal("a median of those that the aggregator has chosen")
			}
			m.until(m.job(id).GatherUntil)
			m.does(reveals(runners[2], id, result(says[runners[2]])))
		}
		m.found(id, `{"a":20}`)
	}
}

func aggregatorForges(t *testing.T) end {
	m, id, aggregator, others := gathering(t)
	for _, forged := range []func(*chain.Reveal){
		func(r *chain.Reveal) { r.Result = result("43") },
		func(r *chain.Reveal) { r.RunnerSig[10] ^= 1 },
		func(r *chain.Reveal) { // the same under its own key
			own := signed(aggregator, id, r.Result)
			r.RunnerSig = own.RunnerSig
		},
		func(r *chain.Reveal) { // a lie under its own key
			own := signed(aggregator, id, result("43"))
			r.Result, r.RunnerSig = own.Result, own.RunnerSig
		},
	} {
		shown := m.gathered(id, "42", m.people[:5]...)
		for i := range shown {
			if shown[i].Runner == others[1].addr {
				forged(&shown[i])
			}
		}
		m.codes(chain.CodeBadProof, gathers(aggregator, id, shown...))
		for n, s := range m.seats(id, 0) {
			if s.Reveal != nil {
				t.Errorf("seat %d is shown beside a forgery", n)
			}
		}
	}
	before := m.fees[aggregator.addr]
	m.does(gathers(aggregator, id, m.gathered(id, "42", m.people[:5]...)...)) // the control
	if once := m.fees[aggregator.addr] - before; before < 2*once {
		t.Errorf("four forgeries cost %d, an honest submission %d", before, once)
	}
	m.found(id, "42")
	for n, s := range m.seats(id, 0) {
		if s.Mark != jobs.Agrees {
			t.Errorf("seat %d: %+v", n, s)
		}
	}
	m.gains("those for whom it shows", 4*(pay-bonus), others...)
	return end{"0 CBY by a forgery, and the fees of what it tried to submit", "nobody: nothing is shown of such a submission"}
}
