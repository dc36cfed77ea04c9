//spec:implements CIP-2 4
//spec:implements CIP-11 9.1, 9.2
//spec:implements resolutions 12.B

package jobs

import (
	"bytes"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// scanStep is how many rows of a table a pass reads at a time.
const scanStep = 256

// at calls do for the jobs of a table at one height, ascending by id, with their rows. do
// may change the table.
func (b *Book) at(table string, h chain.Height, do func(id chain.Hash) error) error {
	span := state.Span{Prefix: key(table, be8(h))}
	// Paid: by who submitted the jobs.
	for {
		span.Entries, span.Bytes = scanStep, 1<<20
		rows, err := b.State.Scan(chain.AddrJobDispatcher, span)
		if err != nil {
			return err
		}
		// Bounded: by scanStep, 256.
		for i := range rows {
			_, id, ok := SplitAt(table, rows[i].Key)
			if !ok {
				return ErrRecord
			}
			if err := do(id); err != nil {
				return err
			}
			span.From = rows[i].Key.Next()
		}
		if len(rows) < scanStep {
			return nil
		}
	}
}

// SubmittedWithin implements [runners.Waiting].
func (b *Book) SubmittedWithin(from, before chain.Height) (bool, error) {
	span := state.Span{Prefix: key(TableLive), From: key(TableLive, be8(from)), Entries: 1, Bytes: 1}
	rows, err := b.State.Scan(chain.AddrJobDispatcher, span)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	h, _, ok := SplitAt(TableLive, rows[0].Key)
	if !ok {
		return false, ErrRecord
	}
	return h < before, nil
}

// Snapshot finds the candidates of the jobs that were submitted in the block, behind all
// else that changes a runner in it, and behind [runners.Book.Fold]: a bitmap of those who
// pass the filters over the active list, the root of their tree, and the number of the
// configuration that weighs them. Jobs that want the same share the work. The error is a
// fault.
func (d *Dispatch) Snapshot() error {
	var c *class
	return d.Book.at(TableFresh, d.Book.Height, func(id chain.Hash) (err error) {
		if c == nil { // a block without jobs reads no runner
			if c, err = d.newClass(); err != nil {
				return err
			}
		}
		j, err := d.Book.job(id)
		if err != nil {
			return err
		}
		found, err := c.candidates(id, j)
		if err != nil {
			return err
		}
		j.CandidatesRoot, j.ReputationConfig = found.root, c.number
		d.Book.set(EligibleKey(id), found.eligible)
		d.Book.Put(id, j)
		return nil
	})
}

// class finds candidates at the end of a block.
type class struct {
	d       *Dispatch
	number  uint32 // of config
	config  *selection.Config
	runners []selection.Runner
	known   map[chain.Address]*runners.Known
	order   []uint32
	grants  map[chain.Hash]Requester // by their manifests
	wanted  map[selection.Wanted]*found
	bitmaps map[string]*found

	provides map[requirement]bool // what was asked before
	joined   map[membership]bool
}

// requirement is a manifest and what a runner has to meet it with.
type requirement struct {
	manifest chain.Hash
	offer    *runners.Known // nil: it attests nothing
}

// membership is a pool and a runner.
type membership struct {
	pool   string
	runner chain.Address
}

// found are the candidates of jobs that want the same.
type found struct {
	eligible selection.Bitmap
	root     chain.Hash
}

func (d *Dispatch) newClass() (*class, error) {
	number, config, err := d.Runners.Configure()
	if err != nil {
		return nil, err
	}
	all, known, err := d.Runners.Registered(d.Memo.offers)
	if err != nil {
		return nil, err
	}
	c := &class{
		d: d, number: number, config: config, runners: all, known: map[chain.Address]*runners.Known{}, order: d.Memo.byAddress(all),
		grants: map[chain.Hash]Requester{}, wanted: map[selection.Wanted]*found{}, bitmaps: map[string]*found{},
		provides: map[requirement]bool{}, joined: map[membership]bool{},
	}
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for i, k := range known {
		if k != nil && k.Attested != nil {
			c.known[all[i].Address] = k
		}
	}
	return c, nil
}

func (c *class) candidates(id chain.Hash, j *Job) (*found, error) {
	spec, terms, err := c.d.Book.asked(id)
	if err != nil {
		return nil, err
	}
	r, err := c.d.Requesters.Requester(j.Submitter)
	if err != nil {
		return nil, err
	}
	w := wantedOf(j, spec, terms)
	w.Manifest = r.Manifest
	c.grants[r.Manifest] = r
	if f := c.wanted[w]; f != nil {
		return f, nil
	}
	eligible, err := selection.Eligible(c.runners, &w, c.config, c)
	if err != nil {
		return nil, err
	}
	f := c.bitmaps[string(eligible)]
	if f == nil { // the tree depends on who they are alone
		s := selection.Take(c.config.Weigh(c.runners, c.order, eligible))
		c.d.Memo.keep(s)
		f = &found{eligible, s.CandidatesRoot()}
		c.bitmaps[string(eligible)] = f
	}
	c.wanted[w] = f
	return f, nil
}

// Provides implements [selection.Ask]. Jobs of a block under one manifest ask once.
func (c *class) Provides(manifest chain.Hash, runner chain.Address) (bool, error) {
	k := c.known[runner]
	asked := requirement{manifest, k}
	ok, known := c.provides[asked]
	if !known {
		if k == nil {
			k = &runners.Known{} // attests nothing
		}
		ok = k.Provides(c.grants[manifest].Required, c.d.Book.Params, c.d.Book.Height)
		c.provides[asked] = ok
	}
	return ok, nil
}

// JoinedPool implements [selection.Ask]. Jobs of a block in one pool ask once.
func (c *class) JoinedPool(pool string, runner chain.Address) (bool, error) {
	asked := membership{pool, runner}
	if ok, known := c.joined[asked]; known {
		return ok, nil
	}
	ok, err := c.d.Requesters.JoinedPool(pool, runner)
	if err == nil {
		c.joined[asked] = ok
	}
	return ok, err
}

// job returns the row of a job that a row of a table names.
func (b *Book) job(id chain.Hash) (*Job, error) {
	j, err := Read(b.State, id)
	if err == nil && j == nil {
		err = ErrRecord
	}
	return j, err
}

// asked returns what a job that has a row asks for.
func (b *Book) asked(id chain.Hash) (*chain.JobSpec, *chain.JobTerms, error) {
	spec, err := ReadSpec(b.State, id)
	if err != nil {
		return nil, nil, err
	}
	terms, err := ReadTerms(b.State, id)
	if err != nil {
		return nil, nil, err
	}
	if spec == nil || terms == nil {
		return nil, nil, ErrRecord
	}
	return spec, terms, nil
}

// Candidates makes the snapshot of a job again, out of any state from the end of its
// submission on in which it may still be drawn for: for retries, and for who wants proofs
// (CIP-2 §4). False before that, and once nobody is drawn for it any more. Another error is
// a fault: the root is compared with the job's.
func Candidates(view runners.View, id chain.Hash, j *Job) (*selection.Snapshot, bool, error) {
	eligible, err := view.Storage(chain.AddrJobDispatcher, EligibleKey(id))
	if err != nil || eligible == nil {
		return nil, false, err
	}
	config, err := runners.ReadConfig(view, j.ReputationConfig)
	if err != nil {
		return nil, false, err
	}
	weighed, err := runners.WeighedAt(view, j.SubmittedAt, eligible)
	if err != nil {
		return nil, false, err
	}
	list := make([]chain.Candidate, len(weighed))
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for i := range weighed {
		w := &weighed[i]
		reputation := w.Standing.At(j.SubmittedAt, config.HalfLifeBlocks)
		list[i] = chain.Candidate{
			Runner: w.Address, EffectiveStake: w.Stake, ReputationX1e9: reputation, BaseWeight: config.Weight(w.Stake, reputation),
		}
	}
	// Paid: as above.
	slices.SortFunc(list, func(a, b chain.Candidate) int {
		// Bounded: by 20 bytes.
		return bytes.Compare(a.Runner[:], b.Runner[:])
	})
	s := selection.Take(list)
	if s.CandidatesRoot() != j.CandidatesRoot {
		return nil, false, ErrRecord
	}
	return s, true, nil
}

// snapshotOf returns the candidates of a job, made before or made again.
func (d *Dispatch) snapshotOf(id chain.Hash, j *Job) (*selection.Snapshot, error) {
	if s := d.Memo.snapshot(j.CandidatesRoot); s != nil {
		return s, nil
	}
	s, ok, err := Candidates(d.Book.State, id, j)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrRecord
	}
	d.Memo.keep(s)
	return s, nil
}
