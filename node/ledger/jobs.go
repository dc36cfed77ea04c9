package ledger

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/roles"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// jobsOf says whose jobs a block begins, from what it wrote: who asked for one, and who was
// drawn for an attempt; after is the state behind it. These rows are written once for each
// whatever else becomes of the job in the same block: live/ has the height of the submission
// in its key, and who/ stands until the job is forgotten.
func jobsOf(delta *state.Delta, after *store.Version) (list []store.JobsOf, err error) {
	if delta == nil {
		return nil, nil
	}
	change, ok := delta.Change(chain.AddrJobDispatcher)
	if !ok {
		return nil, nil
	}
	all := jobLists{}
	for i := range change.Storage {
		c := &change.Storage[i]
		if h, id, ok := jobs.SplitAt(jobs.TableLive, c.Key); ok && h == after.Height() {
			j, err := jobs.Read(after, id)
			if err != nil {
				return nil, err
			}
			if j != nil {
				all.add(store.Submits, j.Submitter, id)
			}
		} else if id, runner, ok := roles.SplitSeat(c.Key); ok && c.Value != nil {
			all.add(store.Works, runner, id)
		}
	}
	return all.sorted(), nil
}

// party is an account on one side of jobs.
type party struct {
	side store.Side
	of   chain.Address
}

type jobLists map[party][]chain.Hash

func (l jobLists) add(side store.Side, of chain.Address, id chain.Hash) {
	p := party{side, of}
	l[p] = append(l[p], id)
}

// sorted returns the lists by side and address, the jobs in each ascending.
func (l jobLists) sorted() []store.JobsOf {
	all := make([]store.JobsOf, 0, len(l))
	for p, ids := range l { // sorted below
		slices.SortFunc(ids, func(a, b chain.Hash) int { return bytes.Compare(a[:], b[:]) })
		all = append(all, store.JobsOf{Side: p.side, Of: p.of, IDs: ids})
	}
	slices.SortFunc(all, func(a, b store.JobsOf) int {
		return cmp.Or(cmp.Compare(a.Side, b.Side), bytes.Compare(a.Of[:], b.Of[:]))
	})
	return all
}
