package jobs

import (
	"container/list"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// Names of the events, all by [chain.AddrJobDispatcher].
const (
	EventAssigned = "job_assigned"   // [job, attempt, the last height for its results, seats]
	EventRetried  = "job_retried"    // [job, the attempt that is drawn for next]
	EventFailed   = "job_failed"     // [job, outcome]
	EventSlashed  = "runner_slashed" // [runner, amount], by the registry
)

// Dispatch is what the Job Dispatcher does by itself in one block: it finds the candidates
// of jobs, draws committees, and comes to what falls due (CIP-2 §4-§6).
type Dispatch struct {
	Book       Book
	Runners    *runners.Book
	Requesters Requesters
	Results    Results

	// Seed is what no submitter knew when it signed a job of the block before: that block's
	// hash, or the randomness of its round (resolutions 11.9, 12.83). Under
	// parent-block it is drawn with in the block of the submission itself.
	Seed chain.Hash

	// Used is what the transactions of runners have used, at the end of the block.
	Used fees.Space

	Memo   *Memo
	Events []chain.Event // to announce
}

// Requester is who submits a job, as the service of actors knows it.
type Requester struct {
	Executable bool            // an account is; an actor, while its manifest is in force
	Manifest   chain.Hash      // of Required; zero where nothing is
	Required   manifest.Grants // that runners must attest (resolution 5.20)
}

// Requesters answers what other services know. An error is a state that cannot be read.
type Requesters interface {
	Requester(a chain.Address) (Requester, error)
	// JoinedPool reports whether a runner holds RunnerJoinPool of a pool (CIP-2 §7.3).
	JoinedPool(pool string, runner chain.Address) (bool, error)
}

// Results is what becomes of a job behind the work of its runners (package
// exec/market/results). The errors are faults.
type Results interface {
	// AtDeadline comes at the end of an attempt, or of the time in which results are paid.
	// It reports whether the attempt has failed and another committee is wanted.
	AtDeadline(id chain.Hash) (retry bool, err error)
	// Settle comes when no challenge can come any more.
	Settle(id chain.Hash) error
	// Failed tells who waits for the job that it has ended without a result.
	Failed(id chain.Hash, j *Job) error
}

func (d *Dispatch) announce(emitter chain.Address, name string, fields int, data func(dst []byte) []byte) {
	d.Events = append(d.Events, chain.Event{Emitter: emitter, Name: name, Data: data(cbor.AppendArray(nil, fields))})
}

// snapshotsRoom is how many candidates [Memo] keeps.
const snapshotsRoom = 1 << 18

// Memo is what was made before of rows: offers, and snapshots under their roots. Nothing
// depends on what is there. It belongs to one goroutine.
type Memo struct {
	offers    *runners.Offers
	snapshots map[chain.Hash]*list.Element // of latest
	latest    *list.List                   // of *selection.Snapshot, the one last used in front
	used      int                          // candidates in them

	active []chain.Address // an active list, and
	order  []uint32        // its places by address
}

// NewMemo returns an empty one.
func NewMemo() *Memo {
	return &Memo{offers: runners.NewOffers(), snapshots: map[chain.Hash]*list.Element{}, latest: list.New()}
}

// snapshot returns the snapshot under a root, nil where it is not there.
func (m *Memo) snapshot(root chain.Hash) *selection.Snapshot {
	e := m.snapshots[root]
	if e == nil {
		return nil
	}
	m.latest.MoveToFront(e)
	return e.Value.(*selection.Snapshot)
}

// keep keeps a snapshot, and drops those that were not used for longest where room is short.
func (m *Memo) keep(s *selection.Snapshot) {
	root := s.CandidatesRoot()
	if m.snapshot(root) != nil {
		return
	}
	m.snapshots[root] = m.latest.PushFront(s)
	m.used += roomOf(len(s.Candidates()))
	// Paid: by who submitted the jobs of the snapshots, which each are dropped once.
	for m.used > snapshotsRoom && m.latest.Len() > 1 {
		last := m.latest.Remove(m.latest.Back()).(*selection.Snapshot)
		delete(m.snapshots, last.CandidatesRoot())
		m.used -= roomOf(len(last.Candidates()))
	}
}

// byAddress returns the places of an active list by address. The list only grows, so that of
// the block before is mostly the same.
func (m *Memo) byAddress(all []selection.Runner) []uint32 {
	same := len(all) == len(m.active)
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for i := 0; same && i < len(all); i++ {
		same = all[i].Address == m.active[i]
	}
	if same {
		return m.order
	}
	m.active = make([]chain.Address, len(all))
	// Paid: as above.
	for i := range all {
		m.active[i] = all[i].Address
	}
	m.order = selection.ByAddress(all)
	return m.order
}
