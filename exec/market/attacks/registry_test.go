package attacks

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// toRegistry is an instruction to the registry.
func toRegistry(a *person, q chain.Request) act { return ask(a, chain.AddrRunnerRegistry, 0, q) }

func sybil(t *testing.T) end {
	const count = 10 // runners on each side
	m := newMarket(t, 2*count+2)
	asker, honest := m.people[2*count], m.people[:count]
	m.codes(chain.CodeStakeTooLow, registers(m.people[2*count+1], stake-1))
	m.enlist(honest...)
	got := map[bool]int{}
	for _, split := range []bool{false, true} {
		if split {
			m = newMarket(t, 2*count+2)
			asker, honest = m.people[2*count], m.people[:count]
			m.enlist(honest...)
			m.enlist(m.people[count : 2*count]...)
		} else {
			m.does(registers(m.people[count], count*stake))
		}
		got[split] = m.firstPlaces(asker, 100, m.people[count:2*count]...)
	}
	// By weight 4 of 24 and 20 of 40: of 100 draws 17 and 50.
	if one, many := got[false], got[true]; one < 5 || one > 30 || many < 35 || many > 65 {
		t.Errorf("of 100 draws %d with one stake, %d with ten", one, many)
	}
	// None of them takes a second job before it has done ten.
	id := m.submitted(asker, order(1, 1))
	m.block()
	if s := m.seats(id, 0); len(s) == 1 && m.runner(m.committee(id)[0]).Active > 1 && !s[0].Excess {
		t.Error("a new runner has room for two jobs")
	}
	m.p.Runner.MaxRegistered = 2 * count // as there are 65,536 places
	m.codes(chain.CodeLimitReached, registers(m.people[2*count+1], stake))
	if locked := m.books.Stakes; locked != 2*count*stake {
		t.Errorf("%d at stake", locked)
	}
	return end{
		fmt.Sprintf("0 CBY; it locks 10000 CBY for each name, and is drawn by weight: %d of 100 seats with ten names beside ten others, %d with all of it under one name", got[true], got[false]),
		"nobody; who is drawn is paid for right results alone",
	}
}

// firstPlaces lets a block of so many jobs of one runner be drawn for, and counts those that
// go to certain people.
func (m *market) firstPlaces(asker *person, count int, whose ...*person) (n int) {
	m.Helper()
	var acts []act
	for i := range count {
		acts = append(acts, submits(asker, order(1, 1, func(q *chain.JobSubmit) { q.Spec.JobType.(*chain.HTTPJob).URL += fmt.Sprint(i) })))
	}
	txs := m.sent(acts)
	m.does(acts...)
	m.block()
	for _, tx := range txs {
		if slices.Contains(whose, m.committee(chain.JobID(tx.Hash, m.height-1))[0]) {
			n++
		}
	}
	return n
}

func stakeLeaves(t *testing.T) end {
	var lost int64
	for _, leaves := range []bool{false, true} {
		m, id, runners, asker := committee(t, 3, 2)
		liar, honest := byAddress(runners)[2], byAddress(runners)[:2]
		m.promise(id, all("42", runners...))
		if leaves {
			if r := m.block(toRegistry(liar, &chain.RunnerDeregister{}))[0]; r.Code != chain.CodeWrongState {
				t.Errorf("deregistered at work: %s", chain.CodeName(r.Code))
			}
			m.codes(chain.CodeStakeTooLow, toRegistry(liar, &chain.RunnerUnstake{Amount: stake}))
			m.does(toRegistry(liar, &chain.RunnerPause{Paused: true}), toRegistry(liar, &chain.RunnerUnstake{Amount: stake}))
			if m.runner(liar).Stake != 0 {
				t.Fatal("its stake is still there")
			}
			m.codes(chain.CodeWrongState, toRegistry(liar, &chain.RunnerWithdraw{}))
		}
		m.show(id, all("42", honest...))
		m.found(id, "42")
		if lost = m.gain(liar); lost != -int64(stake)/5 {
			t.Errorf("left: %v: %s", leaves, cby(lost))
		}
		if !leaves {
			continue
		}
		// What is left goes out behind the time in which a fault can be found, which no job may
		// stretch.
		m.codes(chain.CodeBadArgument, submits(asker, order(3, 2, func(q *chain.JobSubmit) {
			q.Spec.Verification.DisputeWindowBlocks = m.p.Runner.UnbondingBlocks + 1
		})))
		m.until(m.height + chain.Height(m.p.Runner.UnbondingBlocks))
		m.does(toRegistry(liar, &chain.RunnerWithdraw{}))
		m.gains("who left", lost, liar)
	}
	return end{cby(lost) + ", as much as who stays: what unbonds is slashed, too", "nobody"}
}

func frontRuns(t *testing.T) end {
	m := newMarket(t, 5)
	asker := m.people[4]
	m.enlist(m.people[0])
	// The control: in the block of the submission it is a candidate as all others.
	id := m.submitted(asker, order(1, 1), registers(m.people[2], stake))
	m.block()
	s, ok, err := jobs.Candidates(m.state, id, m.job(id))
	if err != nil || !ok || len(s.Candidates()) != 2 {
		t.Fatalf("candidates %+v, %v", s, err)
	}
	m.over(id)

	m = newMarket(t, 5)
	late, asker := m.people[1], m.people[4]
	m.enlist(m.people[0])
	id = m.submitted(asker, order(1, 1))
	m.does(registers(late, stake)) // in the block of the draw
	s, ok, err = jobs.Candidates(m.state, id, m.job(id))
	if err != nil || !ok || len(s.Candidates()) != 1 || m.drawn(id, 0, late) {
		t.Fatalf("candidates %+v, %v", s, err)
	}
	m.ended(id, jobs.Timeout) // nor is it drawn when the first is silent, though nobody else is there
	m.gains("who came late", 0, late)
	m.gains("the requester", 0, asker)
	return end{"0 CBY: it has a stake locked, and no seat, in no attempt of the job", "nobody"}
}

func fillsTheLane(t *testing.T) end {
	m := newMarket(t, 3)
	runner, stranger, honest := m.people[0], m.people[1], m.people[2]
	m.enlist(runner)
	p := params.Default() // with blocks of the ordinary size
	m.p = &p
	if _, err := m.try(heartbeat(stranger)); !errors.Is(err, fees.ErrRole) {
		t.Errorf("a heartbeat of nobody: %v", err)
	}
	lane := chain.Cycles(0) // its own share, and what the lanes before it leave
	for _, l := range []chain.LaneID{chain.LaneSystem, chain.LaneTimer, chain.LaneRunner} {
		lane += fees.LaneTarget(&p, l).Cycles
	}
	var beats []act
	for range int(lane / 5_000) {
		beats = append(beats, heartbeat(runner))
	}
	if _, err := m.try(append(slices.Clone(beats), heartbeat(runner))...); !errors.Is(err, exec.ErrLaneFull) {
		t.Errorf("one more than its lane has room for: %v", err)
	}
	// Payments of others have their own room beside them.
	room := int(fees.LaneTarget(&p, chain.LaneUser).Cycles / 21_000)
	mixed := slices.Clone(beats)
	for range room {
		mixed = append(mixed, act{by: honest, to: to(stranger.addr), value: 1, cycles: 21_000, cells: 1})
	}
	r, err := m.try(mixed...)
	if err != nil {
		t.Fatal(err)
	}
	const fee = chain.Wei(1_000_000)
	next := fees.NextBaseFees(&p, &chain.Header{Used: r.Used, BaseFees: [chain.NumLanes]chain.FeePair{chain.LaneUser: {PerCycle: fee}, chain.LaneRunner: {PerCycle: fee}}})
	if next[chain.LaneRunner].PerCycle <= fee || next[chain.LaneUser].PerCycle > fee {
		t.Errorf("behind a full lane the fees are %+v", next)
	}
	before, counted := m.fees[runner.addr], 0
	for i, r := range m.block(mixed...) {
		want := chain.CodeOK
		if i > 0 && i < len(beats) {
			want = chain.CodeWrongState
		}
		if i < len(mixed) && r.Code != want {
			t.Fatalf("transaction %d: %s", i, chain.CodeName(r.Code))
		}
		if i < len(beats) && r.Code == chain.CodeOK {
			counted++
		}
	}
	paid := m.fees[runner.addr] - before
	if counted != 1 || paid != 5_000*chain.Wei(len(beats))+chain.Wei(2*len(beats)) {
		t.Errorf("%d of %d heartbeats count, for %d", counted, len(beats), paid)
	}
	if got := m.state.Balance(stranger.addr); got != wealth+chain.Wei(room) {
		t.Errorf("%d payments of %d", got-wealth, room)
	}
	return end{
		fmt.Sprintf("the fees of %d heartbeats in each block, of which one counts; each such block makes the next dearer, in this lane alone", len(beats)),
		fmt.Sprintf("other runners, who have to offer more; nobody else: all %d payments of the block are in it", room),
	}
}

func votesMidJob(t *testing.T) end {
	terms := func(j *jobs.Job) string {
		return fmt.Sprintln(j.AssignedAt, j.Deadline, j.CommitBy, j.GatherUntil, j.Attempts, j.CandidatesRoot, j.Runners, j.Threshold, j.MaxPrice, j.Spared)
	}
	var before, rows [2]string
	var paid [2]int64
	for n, votes := range []bool{false, true} {
		m, id, runners, _ := committee(t, 5, 3)
		before[n] = terms(m.job(id))
		if votes {
			j, r := &m.p.Job, &m.p.Runner
			j.CommitDeadlineBasisPoints, j.AggregatorWindowBasisPoints, j.MinWindowBlocks = 100, 9_000, 1_000
			j.TreasuryBasisPoints, j.AggregatorBonusBasisPoints = 5_000, 5_000
			j.MaxRetries, j.MaxRunners, j.MaxTimeoutBlocks, j.DefaultThreshold = 1, 3, 20, 5
			r.ReputationHalfLifeBlocks, r.MinReputation, r.StakeFloor, r.ProbationSuccesses = 1, 150, 10*stake, 1_000
			m.does(toRegistry(runners[4], &chain.RunnerUpdate{RateCard: &chain.RateCard{HTTPRequestBase: 1}})) // a runner's own rates
		}
		said := all("42", runners...)
		m.promise(id, said)
		m.show(id, said)
		if rows[n] = terms(m.job(id)); rows[n] != before[n] {
			t.Errorf("votes: %v: %swas %s", votes, rows[n], before[n])
		}
		m.found(id, "42")
		paid[n] = m.gain(runners...)
	}
	if rows[0] != rows[1] {
		t.Errorf("with votes %swithout %s", rows[1], rows[0])
	}
	if paid[0] != 5*pay || paid[1] != 5*pay {
		t.Errorf("with votes %s, without %s", cby(paid[1]), cby(paid[0]))
	}
	return end{"nothing of the jobs under way: seats, rates, windows, attempts, candidates and how a price is divided are those of the draw or of the submission", "nobody: five runners have " + cby(paid[1]) + " with the votes and without, as when half of what they earn is voted to the Treasury"}
}
