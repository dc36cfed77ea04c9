package attacks

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
)

// crowdOf are jobs of an attacker for whom nobody works.
const crowdOf = 40

// crowded is a market of three runners with an honest job that all of them have committed to,
// in whose last block so many jobs of an attacker fall due, and at most two events are come to
// in a block.
func crowded(t *testing.T, count int) (m *market, id chain.Hash, runners []*person, others []chain.Hash) {
	m = newMarket(t, 5)
	m.p.Job.DuePerBlock = 2
	runners = byAddress(m.people[:3])
	m.enlist(runners...)
	var acts []act
	for n := range count {
		acts = append(acts, ticket(m.people[4], n))
	}
	for _, tx := range m.sent(acts) {
		others = append(others, chain.JobID(tx.Hash, m.height+1))
	}
	id = m.submitted(m.people[3], order(3, 2), acts...)
	m.block()
	m.promise(id, all("42", runners...))
	m.until(m.job(id).GatherUntil)
	return m, id, runners, others
}

func overfillsPasses(t *testing.T) end {
	var settled [2]chain.Height
	for n, count := range []int{0, crowdOf} {
		m, id, runners, others := crowded(t, count)
		deadline := m.job(id).Deadline
		m.does(reveals(runners[0], id, result("42")), reveals(runners[1], id, result("42")))
		m.until(deadline - 1)
		m.does(reveals(runners[2], id, result("42"))) // in the last block
		late, before := 0, 1<<20
		for m.job(id).Phase != jobs.Ended {
			m.block()
			due, _, err := books.Waiting(m.state, m.height-1, 1_000)
			if err != nil {
				t.Fatal(err)
			}
			if due > 0 {
				late++
			}
			if count > 0 && before-due > int(m.p.Job.DuePerBlock) && before < 1<<20 {
				t.Errorf("block %d comes to %d events", m.height, before-due)
			}
			before = due
		}
		if (late > 0) != (count > 0) {
			t.Errorf("%d jobs: %d blocks with a backlog", count, late)
		}
		settled[n] = m.height
		m.found(id, "42")
		m.gains("the honest", 3*pay, runners...)
		m.over(others...)
		m.gains("the attacker", 0, m.people[4])
	}
	m, id, runners, _ := crowded(t, crowdOf) // the same backlog gives nobody time
	m.does(reveals(runners[0], id, result("42")), reveals(runners[1], id, result("42")))
	m.until(m.job(id).Deadline)
	m.codes(chain.CodeWrongState, reveals(runners[2], id, result("42")))
	m.over(id)
	m.gains("who comes behind the deadline", -int64(stake)/5, runners[2])
	if settled[1] < settled[0] || settled[1] > settled[0]+4*crowdOf {
		t.Errorf("settled at %d, and at %d beside a crowd", settled[0], settled[1])
	}
	return end{
		fmt.Sprintf("0 CBY and the fees of %d jobs, all of which end: here a block comes to two events", crowdOf),
		fmt.Sprintf("the honest wait for their %s, here by %d blocks, and lose nothing: rights go by heights", cby(3*pay), settled[1]-settled[0]),
	}
}

// stored is what the dispatcher keeps in the state, keys and rows.
func (m *market) stored() (bytes, rows int) {
	for k, v := range m.state.Storages[chain.AddrJobDispatcher] {
		bytes += len(k) + len(v)
		rows++
	}
	return bytes, rows
}

func overfillsState(t *testing.T) end {
	m := newMarket(t, 5)
	m.enlist(m.people[:4]...)
	attacker := m.people[4]
	var acts []act
	for n := range 20 {
		acts = append(acts, submits(attacker, order(3, 2, func(q *chain.JobSubmit) {
			q.Spec.JobType.(*chain.HTTPJob).Body = make([]byte, 1_000*n)
		})))
	}
	cells := chain.Cells(0)
	for _, r := range m.does(acts...)[:len(acts)] {
		cells += r.CellsUsed
	}
	most := 0
	for range 3*45 + m.p.Job.KeepBlocks { // three attempts, and the time for which rows outlast a job
		m.block()
		bytes, _ := m.stored()
		most = max(most, bytes)
	}
	if most < 20_000 || uint64(most) > uint64(cells) {
		t.Errorf("%d bytes are kept at most, %d cells are paid", most, cells)
	}
	if _, rows := m.stored(); rows != 0 {
		for k := range m.state.Storages[chain.AddrJobDispatcher] {
			t.Errorf("left: %q", k)
		}
	}
	m.gains("the attacker", 0, attacker)
	pages, err := m.state.Scan(chain.AddrRunnerRegistry, state.Span{Prefix: state.NewStorageKey(state.VMNamespaceSystem, []byte("was/")), Entries: 9, Bytes: 1 << 10})
	if err != nil || len(pages) != 0 {
		t.Errorf("%d pages are left, %v", len(pages), err)
	}
	return end{"0 CBY, and the cells of every byte that is kept for its jobs at any time", "nobody: behind `job.keep_blocks` no row of them is left"}
}
