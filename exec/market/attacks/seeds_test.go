package attacks

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// Rounds of a game of seeds, and what somebody tries in each.
const (
	rounds = 20
	tries  = 16
	crowd  = 5 // runners, of whom one is the attacker's
)

// lottery is a market in which a fifth of all jobs goes to the attacker's runner by chance.
func lottery(t *testing.T, seed string) (m *market, runner, asker *person) {
	m = newMarket(t, crowd+1)
	m.p.Job.SelectionSeed = seed
	m.enlist(m.people[:crowd]...)
	return m, m.people[0], m.people[crowd]
}

// ticket is a job that differs from others in its page alone.
func ticket(by *person, n int) act {
	return submits(by, order(1, 1, func(q *chain.JobSubmit) { q.Spec.JobType.(*chain.HTTPJob).URL += fmt.Sprint(n) }))
}

// wins reports whether the runner has the seat of a job in the state behind a block.
func wins(t *testing.T, s *statetest.Maps, id chain.Hash, runner *person) bool {
	t.Helper()
	seats, err := jobs.ReadSeats(s, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	return len(seats) == 1 && seats[0].Runner == runner.addr
}

// ahead executes a block on a state that nobody keeps.
func (m *market) ahead(s *statetest.Maps, in exec.Inputs, txs ...*chain.VerifiedTx) *statetest.Maps {
	m.Helper()
	in.Market = nil
	r, err := exec.Apply(s, in, txs)
	if err != nil {
		m.Fatal(err)
	}
	return s.With(r.Delta)
}

// submitterGrinds lets a submitter choose among jobs by what it can execute before it signs:
// the next block, and the one behind it on a guess of a hash that nobody knows.
func submitterGrinds(t *testing.T, seed string) (won int) {
	m, runner, asker := lottery(t, seed)
	for round := range rounds {
		best := ticket(asker, 0)
		for n := range tries {
			tx := m.sent([]act{ticket(asker, n)})[0]
			in := m.inputs()
			s := m.ahead(m.state, in, tx)
			if seed != params.SelectionSeedParent {
				in.Height++
				in.ParentHash, in.ParentBeacon = keccak.Sum256([]byte("a guess")), keccak.Sum256([]byte("another"))
				s = m.ahead(s, in)
			}
			if wins(t, s, chain.JobID(tx.Hash, m.height+1), runner) {
				best = ticket(asker, n)
				break
			}
		}
		id := chain.JobID(m.sent([]act{best})[0].Hash, m.height+1)
		m.does(best)
		m.block()
		if wins(t, m.state, id, runner) {
			won++
		}
		m.retire(id)
		if round == rounds-1 {
			m.over(id)
		}
	}
	return won
}

// retire lets whoever was drawn do the job.
func (m *market) retire(id chain.Hash) {
	m.Helper()
	m.does(reveals(m.committee(id)[0], id, result("42")))
}

// proposerGrinds lets the proposer of the block of a submission choose among contents, each
// of which gives the block another hash. What the round's seed is, it does not know.
func proposerGrinds(t *testing.T, seed string) (won int) {
	m, runner, asker := lottery(t, seed)
	for round := range rounds {
		buy := ticket(asker, round)
		id := chain.JobID(m.sent([]act{buy})[0].Hash, m.height+1)
		m.does(buy)
		real := m.inputs()
		chosen := real.ParentHash
		for n := range tries {
			in := real
			in.ParentHash = keccak.Sum256([]byte(fmt.Sprint("contents ", round, n)))
			in.ParentBeacon = keccak.Sum256([]byte("a guess"))
			if wins(t, m.ahead(m.state, in), id, runner) {
				chosen = in.ParentHash
				break
			}
		}
		before := m.parent
		m.parent = func(chain.Height) chain.Hash { return chosen }
		m.block()
		m.parent = before
		if wins(t, m.state, id, runner) {
			won++
		}
		m.retire(id)
	}
	return won
}

// chance fails unless so many of the rounds are what a fifth of them may be by chance.
func chance(t *testing.T, what string, won int) {
	t.Helper()
	if won > rounds/2 {
		t.Errorf("%s: %d of %d", what, won, rounds)
	}
}

func seedOfSubmitter(t *testing.T) end {
	free := submitterGrinds(t, params.SelectionSeedParent)
	if free < rounds*3/4 {
		t.Errorf("where the seed is known before, %d of %d: there is nothing to hold up", free, rounds)
	}
	won := submitterGrinds(t, params.SelectionSeedSubmission)
	chance(t, "with the hash of its own block", won)
	return end{fmt.Sprintf("the committee that it wants in %d of %d jobs, having tried %d of each, where a fifth is chance; %d where the seed is the parent's hash (`parent-block`)", won, rounds, tries, free), "nobody"}
}

func seedOfProposer(t *testing.T) end {
	free := proposerGrinds(t, params.SelectionSeedSubmission)
	if free < rounds*3/4 {
		t.Errorf("with its own hash as the seed, %d of %d", free, rounds)
	}
	won := proposerGrinds(t, params.SelectionSeedBeacon)
	chance(t, "with the seed of the round", won)
	return end{
		fmt.Sprintf("the committee that it wants in %d of %d jobs with `submission-block`, having tried %d contents of each block; %d with `submission-beacon`, where a fifth is chance", free, rounds, tries, won),
		"under `submission-block`, who relies on committees of blocks that the attacker proposes",
	}
}
