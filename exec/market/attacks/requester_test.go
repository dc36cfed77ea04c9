package attacks

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// bonded is a job of one runner whose result is judged.
func bonded(checks ...chain.ObjectiveCheck) func(*chain.JobSubmit) {
	return func(q *chain.JobSubmit) {
		q.Spec.Verification.Mode = chain.VerifyEconomicBond
		q.Terms.ObjectiveChecks = checks
	}
}

func unsatisfiable(t *testing.T) end {
	// What can be seen of the job is refused with it, and its nearest neighbour is taken.
	schema := `{"not":{}}`
	for n, tt := range []struct {
		change func(*chain.JobSubmit)
		code   uint16
	}{
		{func(q *chain.JobSubmit) { q.Terms.ResultSchema.Schema = &schema }, chain.CodeBadArgument},
		{bonded(&chain.MinLengthObjective{Bytes: 65}), chain.CodeBadArgument},
		{bonded(&chain.MinLengthObjective{Bytes: 64}), chain.CodeOK},
		{bonded(&chain.EntropyObjective{MinMillibits: 6_001}), chain.CodeBadArgument},
		{bonded(&chain.EntropyObjective{MinMillibits: 6_000}), chain.CodeOK},
		{func(q *chain.JobSubmit) {
			q.Terms.NamedChecks = []chain.NamedCheck{&chain.RegexCheck{Pattern: "(a*)*b"}}
		}, chain.CodeBadArgument},
		{func(q *chain.JobSubmit) {
			bonded()(q)
			q.Terms.FreshnessReference = &chain.FreshnessReference{Reference: chain.FreshAtSubmission, ToleranceMillis: judge.MinFreshMillis - 1}
		}, chain.CodeBadArgument},
	} {
		m := newMarket(t, 2)
		m.enlist(m.people[0])
		if got := m.block(submits(m.people[1], order(1, 1, tt.change)))[0].Code; got != tt.code {
			t.Errorf("job %d: %s, want %s", n, chain.CodeName(got), chain.CodeName(tt.code))
		}
	}

	// What the page does not have is found by the runner, which asks the chain's own judge
	// before it commits, and reports that it cannot be done: it is paid. One that does not ask
	// is slashed.
	trap := bonded(&chain.EntropyObjective{MinMillibits: 6_000}, &chain.MinLengthObjective{Bytes: 1})
	var naive int64
	for _, asks := range []bool{true, false} {
		m := newMarket(t, 2)
		runner, asker := m.people[0], m.people[1]
		m.enlist(runner)
		id := m.assigned(asker, order(1, 1, trap))
		if !asks {
			m.does(reveals(runner, id, result("42")))
			m.ended(id, jobs.NoAgreement)
			naive = m.gain(runner)
			m.gains("a runner that does not ask", -int64(stake)/10, runner)
			continue
		}
		m.does(reveals(runner, id, result("", func(r *chain.RunnerResult) {
			r.Outcome, r.Data, r.Detail = chain.OutcomeImpossible, nil, &chain.ResultDetail{Done: 1, Total: 1, Text: "the page is of few letters"}
		})))
		m.ended(id, jobs.Impossible)
		m.gains("a runner that asks", pay, runner)
		m.gains("the requester", -int64(rate), asker)
		m.reputes("a runner that asks", 50, runner)
	}
	return end{cby(-int64(rate)) + ", the price of a result: it pays for what could be done", "who lets the chain's judge look before it commits has " + cby(pay) + "; who does not " + cby(naive)}
}

func movingPage(t *testing.T) end {
	m, id, runners, asker := committee(t, 3, 2)
	said := says{}
	for n, a := range runners {
		said[a] = fmt.Sprint("at ", n)
	}
	m.plays(id, said)
	m.ended(id, jobs.NoAgreement)
	m.reputes("who saw another page", 50, runners...)
	got, treasury := m.gain(runners...), m.treasury()
	m.gains("the requester", -got-treasury, asker)
	if m.burned != 0 {
		t.Errorf("%d burned", m.burned)
	}

	m, id, runners, asker = committee(t, 3, 2) // the control: a page that stands still
	m.plays(id, all("42", runners...))
	m.gains("the requester", -3*int64(rate), asker)
	return end{
		cby(-got-treasury) + " besides the fees of the submission and its judging; it reads three results that do not agree",
		"the three runners: " + cby(got) + " for their work, no stake and no reputation lost",
	}
}

func aimed(t *testing.T) end {
	const count = 10
	m := newMarket(t, 2)
	victim, asker := m.people[0], m.people[1]
	m.enlist(victim)
	var acts []act
	for n := range count {
		acts = append(acts, submits(asker, order(1, 1, func(q *chain.JobSubmit) { q.Spec.JobType.(*chain.HTTPJob).URL += fmt.Sprint(n) })))
	}
	var ids []chain.Hash
	for _, tx := range m.sent(acts) {
		ids = append(ids, chain.JobID(tx.Hash, m.height+1))
	}
	m.does(acts...)
	m.block()
	done := slices.IndexFunc(ids, func(id chain.Hash) bool { return !m.seats(id, 0)[0].Excess })
	for n, id := range ids {
		if s := m.seats(id, 0)[0]; s.Runner != victim.addr || s.Excess != (n != done) {
			t.Fatalf("job %d: %+v", n, s)
		}
	}
	m.does(reveals(victim, ids[done], result("42")))
	m.over(ids...)
	m.gains("the victim", pay, victim)
	m.gains("who aims", -int64(rate), asker)
	if m.runner(victim).Silences != 0 {
		t.Error("it was silent")
	}
	m.reputes("the victim", 51, victim)
	fees := m.fees[asker.addr]

	m = newMarket(t, 2) // the control: with one job that it has room for, silence is its own
	m.enlist(m.people[0])
	id := m.assigned(m.people[1], order(1, 1))
	m.over(id)
	m.reputes("who is silent", 42, m.people[0]) // −5, and −3 as the job fails for it
	if one := m.fees[m.people[1].addr]; fees < count*one*9/10 {
		t.Errorf("ten jobs cost %d, one %d", fees, one)
	}
	return end{cby(-int64(rate)) + " for the one job that was done, and the fees of ten", "nobody: of ten jobs it does the one that it has room for, " + cby(pay)}
}

func cancels(t *testing.T) end {
	m := newMarket(t, 2)
	runner, asker := m.people[0], m.people[1]
	m.enlist(runner)
	cancel := func(id chain.Hash) act { return ask(asker, chain.AddrJobDispatcher, 0, &chain.JobCancel{JobID: id}) }
	submit := submits(asker, order(1, 1)) // the control: in the block of the submission it is its own
	m.does(submit, cancel(chain.JobID(m.sent([]act{submit})[0].Hash, m.height+1)))
	m.gains("who cancels at once", 0, asker)

	id := m.assigned(asker, order(1, 1))
	m.codes(chain.CodeWrongState, cancel(id))
	m.does(reveals(runner, id, result("42")))
	m.codes(chain.CodeWrongState, cancel(id))
	m.over(id)
	m.codes(chain.CodeWrongState, cancel(id))
	m.gains("the runner", pay, runner)
	m.gains("who cancels", -int64(rate), asker)
	return end{cby(-int64(rate)) + ": it pays for the work", "nobody"}
}

// washed plays jobs between a requester and a runner that belong together, at a price for
// each result, and returns what both have paid in fees.
func washed(t *testing.T, count int, price chain.Wei) (m *market, runner, asker *person, fees chain.Wei) {
	m = newMarket(t, 2)
	runner, asker = m.people[0], m.people[1]
	joins := registers(runner, stake)
	joins.payload = chain.EncodeRequest(offer(price))
	m.does(joins)
	before := m.fees[runner.addr]
	for range count {
		m.washedOnce(runner, asker, price)
	}
	return m, runner, asker, m.fees[runner.addr] + m.fees[asker.addr] - before
}

func (m *market) washedOnce(runner, asker *person, price chain.Wei) {
	m.Helper()
	id := m.assigned(asker, order(1, 1, func(q *chain.JobSubmit) { q.Spec.MaxPrice = price }))
	m.does(reveals(runner, id, result("42")))
	m.over(id)
}

func washes(t *testing.T) end {
	const count = 12
	m, runner, asker, dear := washed(t, count, rate)
	cost := m.gain(runner, asker)
	m.gains("both together", -count*int64(rate)/100, runner, asker)
	if m.treasury() != count*int64(rate)/100 {
		t.Errorf("the Treasury has %d", m.treasury())
	}
	m.reputes("the washed", 50+count, runner)

	m.p.Runner.MaxReputation = 50 + count // as at the ceiling of 200
	m.washedOnce(runner, asker, rate)
	m.reputes("at the ceiling", 50+count, runner)
	m.p.Runner.ReputationHalfLifeBlocks = 20 // as in fourteen days
	m.until(m.height + 20)
	if got := m.reputation(runner); got >= 50+count {
		t.Errorf("a reputation of %d does not decay", got)
	}

	// The way around the hundredth: of a price below a hundred units it is nothing. The fees
	// are the same, whatever the price.
	m, runner, asker, cheap := washed(t, count, 1)
	m.gains("both together, at a price of 1", 0, runner, asker)
	m.reputes("the washed, at a price of 1", 50+count, runner)
	if cheap < dear*9/10 || cheap > dear*11/10 || cheap < count*200_000 {
		t.Errorf("fees of %d jobs: %d at a price of 1, %d at one of %d", count, cheap, dear, rate)
	}
	return end{
		fmt.Sprintf("%s for %d points, a hundredth of the price of each job, and the fees of %d jobs; at a price of 1 unit the fees alone", cby(cost), count, count),
		"nobody by itself: who is washed can be wrong so many times more before it is no candidate",
	}
}
