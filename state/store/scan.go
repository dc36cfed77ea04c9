package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Scan implements [state.View]. The resident tries have their slots in the order
// of hashes, so a scan walks the rows of the committed version below v, as they
// were in the database when it was committed, and over them what the pending
// blocks between the two have written.
func (v *Version) Scan(addr chain.Address, span state.Span) ([]state.Entry, error) {
	for {
		p := v.place.Load()
		var list []state.Entry
		var err error
		if p.kept != nil {
			list, err = v.store.scanRows(p.kept, v.height, tree.AccountKey(addr), span)
		} else {
			list, err = p.written.scan(addr, span)
		}
		switch {
		case err == nil:
			return list, nil
		case v.place.Load() == p: // else v has been committed meanwhile
			return nil, fmt.Errorf("scan storage of %s: %w", addr, err)
		}
	}
}

// written is what a pending block has written, to be scanned.
type written struct {
	parent *Version
	delta  *state.Delta // only read

	mu   sync.Mutex
	over *state.Overlay // on parent: the addresses that were scanned so far
	has  map[chain.Address]bool
}

func (w *written) scan(addr chain.Address, span state.Span) ([]state.Entry, error) {
	c, ok := w.delta.Change(addr)
	if !ok || len(c.Storage) == 0 && !c.Cleared {
		return w.parent.Scan(addr, span)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over == nil {
		w.over, w.has = state.NewOverlay(w.parent), map[chain.Address]bool{}
	}
	if !w.has[addr] {
		c.Account = nil
		if err := w.over.Take(&state.Change{AccountChange: c}); err != nil {
			return nil, err
		}
		w.has[addr] = true
	}
	return w.over.Scan(addr, span)
}

// scanRows walks the rows of a committed version, that of height h.
func (s *Store) scanRows(k *kept, h chain.Height, owner chain.Hash, span state.Span) (list []state.Entry, err error) {
	end, bounded := span.End()
	if bounded && span.First() >= end {
		return nil, nil
	}
	if err := k.hold(); err != nil {
		return nil, err
	}
	defer k.letGo()
	era, err := eraAt(k.rows, owner, h)
	if err != nil {
		return nil, err
	}
	prefix := storagePrefix(owner, era)
	bounds := pebble.IterOptions{LowerBound: slices.Concat(prefix, []byte(span.First())), UpperBound: after(prefix)}
	if bounded {
		bounds.UpperBound = slices.Concat(prefix, []byte(end))
	}
	it, err := k.rows.NewIter(&bounds)
	if err != nil {
		return nil, damage(err)
	}
	defer func() { err = damage(errors.Join(err, it.Error(), it.Close())) }()
	w := scan{it: it, removals: &s.removals, height: h, owner: owner, prefix: prefix, at: span.First()}
	for !span.Used() {
		if !w.next() {
			if bounded && it.Error() == nil {
				w.passed(end)
			}
			return list, nil
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, err
		}
		e := state.Entry{Key: w.key, Value: append([]byte{}, value...)}
		list = append(list, e)
		span.Take(&e)
	}
	return list, nil
}

// scan is a walk over the rows of a storage in one era.
type scan struct {
	it       *pebble.Iterator
	removals *removals
	height   chain.Height
	owner    chain.Hash
	prefix   []byte

	key    state.StorageKey // of the row it stands at
	at     state.StorageKey // behind that row; no row is between it and the next
	seek   []byte
	steps  int // the database has made up to here
	walked bool
}

// next goes to the next row, false if there is none.
func (w *scan) next() bool {
	from, found := w.removals.pass(w.height, w.owner, w.at), false
	if from == w.at && w.walked {
		found = w.it.Next()
	} else {
		w.seek = append(append(w.seek[:0], w.prefix...), from...)
		found = w.it.SeekGE(w.seek)
	}
	w.walked = true
	if !found {
		return false
	}
	w.key = state.StorageKey(w.it.Key()[len(w.prefix):])
	w.passed(w.key)
	w.at = w.key.Next()
	return true
}

// passed remembers that there are no rows up to a key, if to find that out took
// the database many steps: over rows that are removed, or over older values of one.
func (w *scan) passed(key state.StorageKey) {
	stats := w.it.Stats()
	steps := stats.ForwardStepCount[pebble.InternalIterCall]
	if steps-w.steps >= state.WorthAGap {
		w.removals.add(w.height, w.owner, w.at, key)
	}
	w.steps = steps
}

// removals remembers where the rows of storages at the head have long been
// removed, but not yet by the database, which keeps a mark for each until it
// compacts them: a walk over many of them is made once.
type removals struct {
	mu     sync.Mutex
	height chain.Height               // of the head
	gaps   map[chain.Hash]*state.Gaps // by owner
}

// mostRemovals bounds of how many storages gaps are known.
const mostRemovals = 1024

// pass is [state.Gaps.Pass] at a height; only the gaps of the head are known.
func (r *removals) pass(h chain.Height, owner chain.Hash, key state.StorageKey) state.StorageKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	if g := r.gaps[owner]; g != nil && h == r.height {
		return g.Pass(key)
	}
	return key
}

// add is [state.Gaps.Add] at a height.
func (r *removals) add(h chain.Height, owner chain.Hash, from, below state.StorageKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h != r.height {
		return
	}
	if r.gaps == nil || len(r.gaps) == mostRemovals && r.gaps[owner] == nil {
		r.gaps = map[chain.Hash]*state.Gaps{}
	}
	g := r.gaps[owner]
	if g == nil {
		g = &state.Gaps{}
		r.gaps[owner] = g
	}
	g.Add(from, below)
}

// moveTo goes on to a head, whose block has written rows.
func (r *removals) moveTo(h chain.Height, image *tree.Image) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.height = h
	if len(r.gaps) == 0 {
		return
	}
	_ = image.EachRow(func(row *tree.Row, _ []byte) error {
		g := r.gaps[row.Key]
		if g == nil {
			return nil
		}
		if row.Cleared {
			delete(r.gaps, row.Key) // they are of another era
			return nil
		}
		for i := range row.Storage {
			if row.Storage[i].Value != nil {
				g.Fill(row.Storage[i].Key)
			}
		}
		return nil
	})
}
