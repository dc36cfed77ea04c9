package tree

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

const (
	// crowdMin is how many keys make it worth to wake other goroutines.
	crowdMin = 192
	// whaleMin is how many written slots of one actor are split by their first
	// nibble, so that one actor cannot keep all workers but one waiting.
	whaleMin = 512
	// hashSoon is how many leaves of a trie that is made at once wait to be hashed
	// while they are still in a cache.
	hashSoon = 4096
	// hashEarly is how many leaves fill the lanes well enough not to wait for
	// more.
	hashEarly = 2 * hashBatch
)

// batch is one call of Apply. The forest has one and uses it again, so that a block takes
// no memory but that of its records; Forest.mu guards it.
//
// Within a call the slices below are written by the caller's goroutine between phases, and
// within a phase by one worker at each index: entries, slots and keys in disjoint ranges,
// tries by the unit whose group has them, results at the slots that links number. each
// joins its goroutines, which orders the phases.
type batch struct {
	*Forest
	epoch   uint32
	image   *Image
	changes []state.AccountChange
	sheaves []*Sheaf     // of changes that are loaded; empty in a block
	keys    []chain.Hash // of changes
	entries []entry      // of changes, by shard, ascending
	spans   [pools + 1]int

	tries  []storageTrie
	trieOf []int32 // of changes; -1 for no storage written
	slots  []entry // of all storage tries
	groups [pools][]int32
	whales []int32
	parts  []slotPart
	facts  []fact // of changes

	results []link
	spare   []entry
}

// storageTrie is the storage of one actor that is written.
type storageTrie struct {
	change   int32
	from, to int // in slots
	spans    [pools + 1]int
	root     ref40
	hash     chain.Hash
	size     state.StorageSize
	sheaf    *Sheaf                   // nil for writes
	grown    [pools]state.StorageSize // what the writes add, by shard; all in the first of a small trie
	base     resident
}

// reserve gives the image memory that others had.
func (b *batch) reserve() {
	if n := len(b.spareRows); n > 0 {
		b.image.rows, b.spareRows = b.spareRows[n-1], b.spareRows[:n-1]
	}
	if n := len(b.spareRetired); n > 0 {
		b.image.retired, b.spareRetired = b.spareRetired[n-1], b.spareRetired[:n-1]
	}
	b.results = append(b.results[:0], make([]link, pools+1)...)
}

// releaseValues lets go of the caller's values.
func (b *batch) releaseValues() {
	clear(b.changes)
	clear(b.sheaves)
	b.image = nil
	for _, w := range b.crew {
		w.change = nil
	}
}

// each calls do for every unit below n, each in one goroutine, and then lets
// every goroutine hash what its units pushed. Pool u belongs to unit u.
//
// Units are handed out by a counter, so which worker has which differs from run to run.
// The result does not: what a unit reads was written before each began, what it writes is
// its own, records go to the pool of the unit, and a link depends on the bytes below it
// alone. Where n is above the number of pools, units must not allocate.
func (b *batch) each(n, load int, do func(w *worker, u int)) error {
	crew := b.crew
	if load < crowdMin {
		crew = crew[:1]
	}
	if crew = crew[:min(n, len(crew))]; len(crew) == 0 {
		return nil
	}
	var next atomic.Int32
	work := func(w *worker) {
		defer w.recover()
		for {
			u := int(next.Add(1)) - 1
			if u >= n {
				break
			}
			w.pool = &b.pools[u%pools]
			do(w, u)
			if len(w.leaves) >= hashEarly {
				w.hashAll() // while the records are still in the cache
			}
		}
		w.hashAll()
	}
	var others sync.WaitGroup
	for _, w := range crew[1:] {
		others.Go(func() { work(w) })
	}
	work(crew[0])
	others.Wait()
	var err error
	for _, w := range crew {
		err = errors.Join(err, w.failed)
		w.failed = nil
	}
	return err
}

// recover turns a full arena into an error. Other panics are defects and go on with their
// cause; the forest must not be used after one.
func (w *worker) recover() {
	switch cause := recover(); cause {
	case nil:
	case ErrArenaFull:
		w.failed = ErrArenaFull
		w.items, w.leaves = w.items[:0], w.leaves[:0]
		for i := range w.forks {
			w.forks[i] = w.forks[i][:0]
		}
	default:
		panic(fmt.Sprint(cause))
	}
}

// hashAddresses fills keys.
func (b *batch) hashAddresses() error {
	n := len(b.changes)
	b.keys = slices.Grow(b.keys[:0], n)[:n]
	const part = hashBatch
	return b.each((n+part-1)/part, n, func(w *worker, u int) {
		from, to := u*part, min((u+1)*part, n)
		w.msgs = w.msgs[:0]
		for i := from; i < to; i++ {
			w.msgs = append(w.msgs, b.changes[i].Address[:])
		}
		w.sums = slices.Grow(w.sums[:0], hashBatch)[:hashBatch]
		keccak.SumMany(w.msgs, w.sums[:to-from])
		w.work.Hashes += uint64(to - from)
		for i := from; i < to; i++ {
			b.keys[i] = w.sums[i-from]
		}
	})
}

// shard puts entries in order of their first nibble and notes where each
// nibble begins: a counting sort, stable, with scratch as long as es. spans[0] is the
// caller's and is where the first nibble begins.
func shard(es, scratch []entry, spans *[pools + 1]int) {
	var counts [pools]int
	for i := range es {
		counts[es[i].key[0]>>4]++
	}
	at := [pools]int{}
	for x := range pools {
		spans[x+1] = spans[x] + counts[x]
		at[x] = spans[x]
	}
	copy(scratch, es)
	for i := range es {
		x := scratch[i].key[0] >> 4
		es[at[x]] = scratch[i]
		at[x]++
	}
}

func sortEntries(es []entry) {
	slices.SortFunc(es, func(a, b entry) int { return compareKeys(&a.key, &b.key) })
}

// sortAccounts makes entries of the changes, by shard. The shards are sorted by
// their workers.
func (b *batch) sortAccounts() {
	n := len(b.changes)
	b.readFacts()
	b.entries = slices.Grow(b.entries[:0], n)[:n]
	b.spare = slices.Grow(b.spare[:0], n)[:n]
	for i := range b.entries {
		b.entries[i] = entry{key: b.keys[i], at: int32(i)}
	}
	b.spans[0] = 0
	shard(b.entries, b.spare, &b.spans)
}

// plant applies entries that are sorted by shard to the trie old, each shard by
// a worker. It returns the new root record, and its link if it changed. Its
// results lie from links on.
func (b *batch) plant(old ref40, es []entry, spans *[pools + 1]int, change *state.AccountChange, links int) (link, ref40, error) {
	t := b.split(old)
	err := b.each(pools, len(es), func(w *worker, u int) {
		w.change = change
		w.plantShard(&t, u, es[spans[u]:spans[u+1]], links)
	})
	if err != nil {
		return link{}, 0, err
	}
	return b.graft(&t, links)
}

// crown is the top of a trie that is split by the first nibble, so that sixteen units can
// work below it. Unit u reads old[u] and writes now[u]; all other fields are set by split
// before the units begin.
type crown struct {
	old, now [16]ref40
	root     ref40
	moved    bool // the root itself is under one of the nibbles
	ground   ground
}

// split takes the top off a trie.
func (b *batch) split(root ref40) (t crown) {
	t.root = root
	if root == 0 {
		return t
	}
	r := b.at(root)
	switch {
	case r[0] == kindLeaf:
		t.old[leafKey(r)[0]>>4] = root
		t.moved = true
	case r[atDepth] != 0:
		t.old[asBranch(r).key()[0]>>4] = root
		t.moved = true
	default:
		v := asBranch(r)
		for x := range t.old {
			t.old[x] = v.child(x)
		}
	}
	return t
}

// plantShard applies the entries of one shard to its subtree.
func (w *worker) plantShard(t *crown, u int, es []entry, links int) {
	w.ground = t.ground
	t.now[u] = t.old[u]
	if len(es) > 0 {
		w.sortShard(es)
		if len(es) <= warmWindow {
			w.warm(t.old[u], es)
		}
		t.now[u] = w.update(t.old[u], 1, es)
	}
	if t.now[u] != 0 && (t.moved || t.now[u] != t.old[u]) {
		w.push(t.now[u], 0, links+u, 1)
	}
}

// graft puts the top back on the subtrees. With two or more subtrees the top is a branch
// at depth 0; with one it is that subtree itself, whose record needs no change since
// records hold whole keys; with none the trie is empty. So the shape follows from the keys
// alone, whether the trie was split or not.
func (b *batch) graft(t *crown, links int) (link, ref40, error) {
	var mask uint16
	for x, kid := range t.now {
		if kid != 0 {
			mask |= 1 << x
		}
	}
	if t.now == t.old {
		return link{}, t.root, nil
	}
	var top ref40
	err := b.each(1, 1, func(w *worker, _ int) {
		w.ground = t.ground
		var was branchAt
		if !t.moved && t.root != 0 {
			was = asBranch(w.at(t.root))
			w.retire(t.root, was.b)
		}
		if mask&(mask-1) == 0 {
			if top = t.now[bits.TrailingZeros16(mask)&15]; top != 0 {
				w.push(top, 0, links+pools, 0)
			}
			return
		}
		top = w.newTop(t, was, mask, links)
		w.push(top, 0, links+pools, 0)
	})
	return b.results[links+pools], top, err
}

// newTop makes the branch that holds the subtrees.
func (w *worker) newTop(t *crown, was branchAt, mask uint16, links int) ref40 {
	r, rec := w.pool.alloc(unitsOf(branchBytes(bits.OnesCount16(mask))), w.ground)
	top := writeBranch(rec, 0, mask, w.epoch, (&key32{})[:])
	for left, rank := mask, 0; left != 0; left, rank = left&(left-1), rank+1 {
		x := bits.TrailingZeros16(left)
		top.setKid(rank, t.now[x])
		if t.moved || t.now[x] != t.old[x] {
			top.setLink(x, &w.results[links+x])
		} else {
			l := was.getLink(x)
			top.setLink(x, &l)
		}
	}
	return r
}
