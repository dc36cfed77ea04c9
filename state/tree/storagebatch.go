package tree

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// storage brings the storage tries of the batch up to date, before their
// accounts, whose leaves hold the roots. Small tries are one unit's as a whole, by the first
// nibble of their account, which is also the unit that writes the account later; a trie
// with whaleMin writes or more is split, so that the time of a block is bounded by its
// writes divided by the workers, not by its largest actor.
func (b *batch) storage(base *Image) error {
	b.listTries()
	if len(b.tries) == 0 {
		return nil
	}
	n := len(b.slots)
	for i := range b.tries {
		if s := b.tries[i].sheaf; s != nil {
			n += s.entries()
		}
	}
	err := b.each(len(b.tries), n, func(w *worker, u int) { w.readyTrie(base, &b.tries[u]) })
	if err == nil {
		err = b.each(len(b.parts), n, func(w *worker, u int) { w.readySlots(&b.parts[u]) })
	}
	if err != nil {
		return err
	}
	b.results = slices.Grow(b.results, len(b.tries)+(pools+1)*len(b.whales))
	b.results = b.results[:pools+1+len(b.tries)+(pools+1)*len(b.whales)]
	crowns := make([]crown, len(b.whales))
	for i, t := range b.whales {
		b.shardWhale(&b.tries[t])
		crowns[i] = b.split(b.tries[t].root)
		crowns[i].ground = b.tries[t].ground()
	}
	err = b.each(pools, n, func(w *worker, u int) {
		for _, t := range b.groups[u] {
			w.plantSmall(&b.tries[t], int(t))
		}
		for i, t := range b.whales {
			t := &b.tries[t]
			if t.sheaf != nil {
				w.bind(&crowns[i], u, t.sheaf, b.whaleLinks(i))
				t.grown[u] = t.sheaf.sizes[u]
				continue
			}
			w.change = &b.changes[t.change]
			w.grown = state.StorageSize{}
			w.plantShard(&crowns[i], u, b.slots[t.from+t.spans[u]:t.from+t.spans[u+1]], b.whaleLinks(i))
			t.grown[u] = w.grown
		}
		w.change = nil
	})
	if err != nil {
		return err
	}
	for i, t := range b.whales {
		l, root, err := b.graft(&crowns[i], b.whaleLinks(i))
		if err != nil {
			return err
		}
		b.tries[t].finish(root, &l)
	}
	for _, group := range b.groups {
		for _, t := range group {
			t := &b.tries[t]
			t.finish(t.root, &b.results[pools+1+int(b.trieOf[t.change])])
		}
	}
	return nil
}

// whaleLinks is where the results of a split storage trie begin.
func (b *batch) whaleLinks(i int) int { return pools + 1 + len(b.tries) + i*(pools+1) }

// ground is where new records of the trie go. What is written counts as added:
// a vast trie that is loaded begins with large parts.
func (t *storageTrie) ground() ground {
	if t.sheaf != nil || t.base.size.Entries+uint64(t.to-t.from) >= vastMin {
		return vast
	}
	return common
}

// finish notes what became of a trie.
func (t *storageTrie) finish(root ref40, l *link) {
	t.root, t.size = root, t.base.size
	for _, grown := range t.grown {
		t.size = t.size.Add(grown)
	}
	if root == t.base.storage {
		t.hash = t.base.root
	} else {
		t.hash = l.hash()
	}
}

// listTries finds the actors whose storage is written.
func (b *batch) listTries() {
	b.tries, b.whales, b.parts = b.tries[:0], b.whales[:0], b.parts[:0]
	for i := range b.groups {
		b.groups[i] = b.groups[i][:0]
	}
	b.trieOf = slices.Grow(b.trieOf[:0], len(b.changes))[:len(b.changes)]
	n := 0
	for i := range b.changes {
		b.trieOf[i] = -1
		slots := len(b.changes[i].Storage)
		var sheaf *Sheaf
		if len(b.sheaves) > 0 {
			sheaf = b.sheaves[i]
		}
		if slots == 0 && sheaf == nil {
			continue
		}
		t := int32(len(b.tries))
		b.trieOf[i] = t
		b.tries = append(b.tries, storageTrie{change: int32(i), from: n, to: n + slots, sheaf: sheaf})
		for from := n; from < n+slots; from += slotsPart {
			b.parts = append(b.parts, slotPart{t, from, min(from+slotsPart, n+slots)})
		}
		n += slots
		if slots >= whaleMin || sheaf != nil {
			b.whales = append(b.whales, t)
		} else {
			group := &b.groups[b.keys[i][0]>>4]
			*group = append(*group, t)
		}
	}
	b.slots = slices.Grow(b.slots[:0], n)[:n]
}

// slotPart is a part of the written slots of one trie, small enough that the
// hashing of a whale's keys can be shared.
type slotPart struct {
	trie     int32
	from, to int // in slots
}

const slotsPart = 1024

// readyTrie finds the trie of an actor.
func (w *worker) readyTrie(base *Image, t *storageTrie) {
	if w.changes[t.change].Cleared {
		return
	}
	if leaf := w.find(base.top, &w.keys[t.change]); leaf != 0 {
		t.base = readResident(leafPayload(w.at(leaf)))
		t.root = t.base.storage
	}
}

// readySlots hashes the keys to be written, and sorts those of a small trie.
func (w *worker) readySlots(p *slotPart) {
	t := &w.tries[p.trie]
	writes := w.changes[t.change].Storage[p.from-t.from : p.to-t.from]
	es := w.slots[p.from:p.to]
	w.sums = slices.Grow(w.sums[:0], hashBatch)[:hashBatch]
	for from := 0; from < len(es); from += hashBatch {
		part := writes[from:min(from+hashBatch, len(es))]
		w.buf, w.ends, w.msgs = w.buf[:0], w.ends[:0], w.msgs[:0]
		for i := range part {
			w.buf = append(w.buf, part[i].Key...)
			w.ends = append(w.ends, len(w.buf))
		}
		start := 0
		for _, end := range w.ends {
			w.msgs = append(w.msgs, w.buf[start:end])
			start = end
		}
		keccak.SumMany(w.msgs, w.sums[:len(part)])
		w.work.Hashes += uint64(len(part))
		for i := range part {
			es[from+i] = entry{key: w.sums[i], at: int32(p.from - t.from + from + i)}
		}
	}
	w.buf, w.ends = w.buf[:0], w.ends[:0]
	if t.to-t.from < whaleMin {
		sortEntries(es)
	}
}

// shardWhale puts the slots of a large trie in order of their first nibble.
func (b *batch) shardWhale(t *storageTrie) {
	es := b.slots[t.from:t.to]
	b.spare = slices.Grow(b.spare[:0], len(es))[:len(es)]
	shard(es, b.spare, &t.spans)
}

// plantSmall applies the writes of an actor that one worker does alone.
func (w *worker) plantSmall(t *storageTrie, number int) {
	w.change = &w.changes[t.change]
	w.grown, w.ground = state.StorageSize{}, t.ground()
	w.warm(t.root, w.slots[t.from:t.to])
	t.root = w.update(t.root, 0, w.slots[t.from:t.to])
	t.grown[0] = w.grown
	if t.root != 0 && t.root != t.base.storage {
		w.push(t.root, 0, pools+1+number, 0)
	}
}

// find returns the leaf under key in the trie root, or 0.
func (f *Forest) find(root ref40, key *chain.Hash) ref40 {
	for r := root; r != 0; {
		b := f.at(r)
		if b[0] == kindLeaf {
			if *leafKey(b) == *key {
				return r
			}
			return 0
		}
		v := asBranch(b)
		r = v.child(nibble(key[:], v.depth()))
	}
	return 0
}
