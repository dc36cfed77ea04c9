package attacks

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// committee is a market with runners who are all drawn for a job of theirs, and a requester.
func committee(t *testing.T, runners, threshold uint8) (m *market, id chain.Hash, all []*person, asker *person) {
	t.Helper()
	m = newMarket(t, int(runners)+1)
	all, asker = m.people[:runners], m.people[runners]
	m.enlist(all...)
	id = m.assigned(asker, order(runners, threshold))
	if got := len(m.seats(id, 0)); got != len(all) {
		t.Fatalf("%d are drawn of %d", got, len(all))
	}
	return m, id, all, asker
}

// found fails unless a job ended well with this data.
func (m *market) found(id chain.Hash, data string) {
	m.Helper()
	m.ended(id, jobs.OK)
	if m.job(id).DataHash != keccak.Sum256([]byte(data)) {
		m.Errorf("the verdict is not %q", data)
	}
}

// reputes fails unless people have so many points.
func (m *market) reputes(what string, want uint64, all ...*person) {
	m.Helper()
	for _, a := range all {
		if got := m.reputation(a); got != want {
			m.Errorf("%s: a reputation of %d, want %d", what, got, want)
		}
	}
}

// shunned fails unless somebody is no candidate for the next job of a committee.
func (m *market) shunned(a, asker *person, runners, threshold uint8) {
	m.Helper()
	id := m.assigned(asker, order(runners, threshold))
	if m.drawn(id, 0, a) {
		m.Error("it is drawn for the next job")
	}
}

func lyingMinority(t *testing.T) end {
	for _, lies := range []bool{false, true} {
		m, id, runners, asker := committee(t, 5, 3)
		liar, honest := runners[0], runners[1:]
		said := all("42", runners...)
		if lies {
			said[liar] = "43"
		}
		m.plays(id, said)
		m.found(id, "42")
		for _, a := range honest {
			m.gains("an honest one", pay, a)
		}
		m.reputes("the honest", 51, honest...)
		if !lies {
			m.gains("one that might lie", pay, liar)
			m.gains("the requester", -5*int64(rate), asker)
			continue
		}
		m.gains("the liar", 0, liar)
		m.gains("the requester", -4*int64(rate), asker)
		m.reputes("the liar", 49, liar)
		m.shunned(liar, asker, 5, 3)
	}
	return end{"0 CBY, where an honest result is paid with " + cby(pay) + "; a reputation of 49, and no further job", "nobody: the others are paid, the requester has its answer and pays for four"}
}

func lyingMajority(t *testing.T) end {
	for _, threshold := range []uint8{3, 4} {
		m, id, runners, asker := committee(t, 5, threshold)
		liars, honest := runners[:3], runners[3:]
		said := all("43", liars...)
		for _, a := range honest {
			said[a] = "42"
		}
		m.plays(id, said)
		if threshold == 4 { // the control: a requester that asks for more than they are
			m.ended(id, jobs.NoAgreement)
			if m.gain(liars...) >= 3*pay {
				t.Error("three liars of five are paid in full where four must agree")
			}
			continue
		}
		m.found(id, "43")
		m.gains("the liars", 3*pay, liars...)
		m.gains("the honest", 0, honest...)
		m.gains("the requester", -3*int64(rate), asker)
		m.reputes("the honest", 49, honest...)
	}
	return end{cby(3*pay) + " for three: the verdict is theirs", "the honest two: unpaid, a reputation of 49; the requester: has the lie and pays for it"}
}

func noise(t *testing.T) end {
	var together [2]int64 // what the honest have, without the noise and with it
	for n, spoils := range []bool{false, true} {
		m, id, runners, asker := committee(t, 3, 3)
		spoiler, honest := runners[2], runners[:2]
		said := all("42", runners...)
		if spoils {
			said[spoiler] = "noise"
		}
		m.plays(id, said)
		together[n] = m.gain(honest...)
		if !spoils { // the control
			m.found(id, "42")
			m.gains("one that might spoil it", pay, spoiler)
			continue
		}
		m.ended(id, jobs.NoAgreement)
		m.gains("the noise", 0, spoiler)
		m.gains("the requester", -2*int64(rate)/2, asker)
		m.reputes("all", 50, runners...)
	}
	return end{
		"0 CBY, where what others agree with is paid with " + cby(pay) + "; no stake and no reputation lost",
		"the honest two: " + cby(together[1]) + " instead of " + cby(together[0]) + "; the requester pays that and has no answer",
	}
}

// thief is a market of three in which the third commits to something else than its work.
func thief(t *testing.T, steals func(id chain.Hash, a, victim *person) act) (m *market, id chain.Hash, a, victim *person) {
	t.Helper()
	m, id, runners, _ := committee(t, 3, 2)
	runners = byAddress(runners)
	victim, a = runners[0], runners[2]
	m.does(commits(victim, id, result("42")), commits(runners[1], id, result("42")), steals(id, a, victim))
	return m, id, a, victim
}

func copiedCommitment(t *testing.T) end {
	m, id, a, victim := thief(t, func(id chain.Hash, a, victim *person) act {
		taken := commits(victim, id, result("42"))
		taken.by = a
		return taken
	})
	seen := signed(victim, id, result("42"))
	m.until(m.job(id).GatherUntil)
	m.does(shows(victim, id, seen))
	m.codes(chain.CodeBadProof, shows(a, id, seen)) // what opens it is under the victim's key
	m.codes(chain.CodeBadProof, reveals(a, id, result("42")))
	rest := byAddress(m.people[:3])[1]
	m.does(reveals(rest, id, result("42")))
	m.over(id)
	m.found(id, "42")
	m.gains("the thief", -int64(stake)/5, a)
	m.gains("who was copied", pay, victim)
	if m.burned != stake/5 {
		t.Errorf("%d burned", m.burned)
	}

	m, id, a, victim = thief(t, func(id chain.Hash, a, _ *person) act { return commits(a, id, result("guess")) })
	said := all("42", byAddress(m.people[:3])[:2]...)
	said[a] = "guess"
	m.show(id, said)
	m.over(id)
	m.found(id, "42")
	m.gains("who guesses", 0, a)
	m.reputes("who guesses", 49, a)
	m.gains("who works", pay, victim)
	return end{cby(-int64(stake)/5) + " with another's commitment, a fifth of its stake; with a guess 0 CBY and a reputation of 49", "nobody"}
}

func copiedReveal(t *testing.T) end {
	m, id, runners, asker := committee(t, 3, 2)
	copier, honest := byAddress(runners)[2], byAddress(runners)[:2]
	said := all("42", honest...)
	m.promise(id, said)
	// There is nothing to copy as long as it may commit: who has worked cannot show it yet.
	m.codes(chain.CodeWrongState, reveals(honest[0], id, result("42")))
	m.until(m.job(id).CommitBy)
	m.codes(chain.CodeWrongState, commits(copier, id, result("42")))
	m.until(m.job(id).GatherUntil)
	seen := signed(honest[0], id, result("42"))
	m.does(shows(honest[0], id, seen))
	m.codes(chain.CodeWrongState, shows(copier, id, seen))
	m.codes(chain.CodeWrongState, reveals(copier, id, result("42")))
	if _, err := m.try(shows(asker, id, seen)); !errors.Is(err, fees.ErrRole) {
		t.Errorf("a copy by who was not drawn: %v", err)
	}
	m.does(reveals(honest[1], id, result("42")))
	m.over(id)
	m.found(id, "42")
	m.gains("the copier", 0, copier)
	m.reputes("the copier", 45, copier)
	m.gains("who was copied", pay, honest[0])

	// The control: with a commitment in its time the same result is paid.
	m, id, runners, _ = committee(t, 3, 2)
	m.plays(id, all("42", runners...))
	m.gains("all three", 3*pay, runners...)
	return end{"0 CBY; a reputation of 45, for silence", "nobody"}
}

func silent(t *testing.T) end {
	const count = 3 // jobs at a time, as one silence ends it
	var lost int64
	for _, works := range []bool{true, false} {
		m := newMarket(t, 4)
		m.p.Runner.ProbationSuccesses = 0
		m.enlist(m.people[:3]...)
		sleeper, asker := m.people[0], m.people[3]
		var acts []act
		for n := range count {
			acts = append(acts, submits(asker, order(3, 2, func(q *chain.JobSubmit) { q.Spec.JobType.(*chain.HTTPJob).URL += fmt.Sprint(n) })))
		}
		var ids []chain.Hash
		for _, tx := range m.sent(acts) {
			ids = append(ids, chain.JobID(tx.Hash, m.height+1))
		}
		m.does(acts...)
		m.block()
		said := all("42", m.people[1:3]...)
		if works {
			said[sleeper] = "42"
		}
		for _, id := range ids {
			m.promise(id, said)
		}
		for _, id := range ids {
			m.show(id, said)
		}
		m.over(ids...)
		for _, id := range ids {
			m.found(id, "42")
		}
		m.gains("who works", count*pay, m.people[1])
		if works {
			m.gains("who might sleep", count*pay, sleeper)
			continue
		}
		lost = m.gain(sleeper)
		m.gains("who sleeps", -int64(stake)/20, sleeper)
		m.reputes("who sleeps", 50-5*count, sleeper)
		m.gains("the requester", -2*count*int64(rate), asker)
		m.shunned(sleeper, asker, 3, 2)
	}
	otherInstead(t)
	return end{cby(lost) + " at the third time in a row, a twentieth of its stake; −5 points each time, and no further job", "nobody: others do the work"}
}

// otherInstead: a job of one runner that is silent goes to another one, and never back.
func otherInstead(t *testing.T) {
	m := newMarket(t, 3)
	m.enlist(m.people[:2]...)
	id := m.assigned(m.people[2], order(1, 1))
	sleeper := m.committee(id)[0]
	m.until(m.job(id).Deadline + 1)
	other := m.committee(id)[0]
	if m.job(id).Attempt != 1 || other == sleeper {
		t.Fatalf("attempt %d, the same runner: %v", m.job(id).Attempt, other == sleeper)
	}
	m.does(reveals(other, id, result("42", func(r *chain.RunnerResult) { r.Attempt = 1 })))
	m.found(id, "42")
	m.gains("who is silent", 0, sleeper)
	m.gains("who works", pay, other)
	m.gains("the requester", -int64(rate), m.people[2])
}

func withholds(t *testing.T) end {
	m, id, runners, asker := committee(t, 3, 2)
	waiter, honest := byAddress(runners)[2], byAddress(runners)[:2]
	m.promise(id, all("42", runners...))
	m.show(id, all("42", honest...))
	m.found(id, "42")
	m.gains("who waits", -int64(stake)/5, waiter)
	m.gains("the honest", 2*pay, honest...)
	m.gains("the requester", -2*int64(rate), asker)

	// Where all must agree, it can keep the others from their pay, for as long as it likes to
	// burn a fifth of what it has left.
	m, id, runners, asker = committee(t, 3, 3)
	waiter, honest = byAddress(runners)[2], byAddress(runners)[:2]
	for attempt := range uint8(3) {
		of := func(r *chain.RunnerResult) { r.Attempt = attempt }
		var promised, shown []act
		for _, a := range runners {
			promised = append(promised, commits(a, id, result("42", of)))
		}
		for _, a := range honest {
			shown = append(shown, reveals(a, id, result("42", of)))
		}
		m.does(promised...)
		m.until(m.job(id).GatherUntil)
		m.does(shown...)
		for m.job(id).Phase == jobs.Assigned && m.job(id).Attempt == attempt {
			m.block()
		}
	}
	m.ended(id, jobs.Timeout)
	worst := m.gain(waiter)
	if left := int64(stake) * 64 * 8 / 1_000; worst != left-int64(stake) {
		t.Errorf("three times withheld: %s", cby(worst))
	}
	m.gains("the honest", 0, honest...)
	m.gains("the requester", 0, asker)
	return end{
		cby(-int64(stake)/5) + ", a fifth of its stake; " + cby(worst) + " if it does so in all three attempts",
		"nobody, unless the requester wants all to agree: then the honest work in vain, and the requester has its money back",
	}
}

func late(t *testing.T) end {
	for _, behind := range []bool{false, true} {
		m, id, runners, _ := committee(t, 3, 2)
		tardy, honest := byAddress(runners)[2], byAddress(runners)[:2]
		m.promise(id, all("42", runners...))
		m.show(id, all("42", honest...))
		if m.job(id).Phase != jobs.Closing {
			t.Fatal("no verdict of two")
		}
		deadline := m.job(id).Deadline
		if behind {
			m.until(deadline)
			m.codes(chain.CodeWrongState, reveals(tardy, id, result("42")))
			m.over(id)
			m.gains("behind the deadline", -int64(stake)/5, tardy)
			continue
		}
		m.until(deadline - 1)
		m.does(reveals(tardy, id, result("42")))
		m.over(id)
		m.gains("at the deadline", pay, tardy)
		m.reputes("at the deadline", 51, tardy)
	}
	return end{cby(pay) + " by the deadline, as all who agree; a block later " + cby(-int64(stake)/5), "nobody"}
}
