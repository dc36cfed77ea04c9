package tree

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// Sheaf is the whole storage of an account on its way into [Forest.Load], for one
// that is too large to be held as values at once. Its leaves are made as it is
// gathered; the branches over them when it is loaded, each once and with all its
// children, where parts loaded one after the other would copy and hash them anew
// for each part. It is of one forest and loaded once.
//
// Owner: who fills it, one goroutine at a time; Gather and Load hold Forest.mu. Between
// the two its leaves are in no image: those of a sheaf that is given up are not freed.
type Sheaf struct {
	leaves [pools][]ref40
	sizes  [pools]state.StorageSize
}

// Gather adds entries to a sheaf. Their keys must be new to it, and their values
// not nil.
func (f *Forest) Gather(s *Sheaf, entries []state.StorageChange) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &f.scratch
	f.epoch++
	b.epoch = f.epoch
	b.changes = append(b.changes[:0], state.AccountChange{Storage: entries})
	b.keys = append(b.keys[:0], chain.Hash{})
	b.sheaves = b.sheaves[:0]
	defer b.releaseValues()
	b.listTries()
	if len(b.tries) == 0 {
		return nil
	}
	if err := b.each(len(b.parts), len(entries), func(w *worker, u int) { w.readySlots(&b.parts[u]) }); err != nil {
		return err
	}
	t := &b.tries[0]
	b.shardWhale(t)
	return b.each(pools, len(entries), func(w *worker, u int) {
		w.ground = vast
		for _, e := range b.slots[t.spans[u]:t.spans[u+1]] {
			c := &entries[e.at]
			s.leaves[u] = append(s.leaves[u], w.newLeaf(&e.key, c.Value, 0))
			s.sizes[u] = s.sizes[u].Add(state.SizeOf(c.Key, c.Value))
		}
	})
}

// entries is how many a sheaf has.
func (s *Sheaf) entries() (n int) {
	for i := range s.leaves {
		n += len(s.leaves[i])
	}
	return n
}

// bind makes the subtree of a shard of a sheaf.
func (w *worker) bind(t *crown, u int, s *Sheaf, links int) {
	w.ground = t.ground
	leaves := s.leaves[u]
	es := make([]entry, len(leaves))
	for i, leaf := range leaves {
		es[i] = entry{key: *leafKey(w.at(leaf)), at: int32(i)}
	}
	s.leaves[u] = nil
	w.sortShard(es)
	items := make([]twig, len(es))
	for i := range es {
		items[i] = twig{key: es[i].key, leaf: leaves[es[i].at]}
	}
	w.spareEntries = nil // as large as the state, maybe
	if t.now[u] = w.join(1, items); t.now[u] != 0 {
		w.push(t.now[u], 0, links+u, 1)
	}
}
