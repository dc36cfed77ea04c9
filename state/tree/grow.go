package tree

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// entry is one key to be written: an account, or a storage value.
type entry struct {
	key key32
	at  int32 // of the account among the batch's changes, or of the value in Storage
}

// twig is a leaf that a new branch is to hold.
type twig struct {
	key  key32
	leaf ref40
}

// job asks for the link of a node whose descendants all have theirs.
type job struct {
	child  ref40
	parent ref40  // where the link goes; 0 for the batch's links
	slot   uint32 // nibble in the parent, or number of the batch's link
	depth  uint32 // nibbles of the key above the node
}

// worker is what one goroutine of a batch works with. It belongs to that goroutine for the
// time of a phase, and to Forest.mu between; nobody else reads it. pool, ground, change and
// grown are of the unit at hand; leaves and forks gather jobs of several units.
type worker struct {
	*batch
	pool   *pool
	ground ground               // of what it makes
	change *state.AccountChange // whose storage is being written; nil for accounts
	grown  state.StorageSize    // what has been added to it
	items  []twig
	leaves []job
	forks  [keyNibbles][]job // branches, by depth
	encoder
	account []byte // payload under construction
	sorter
	failed error
	work   Work // so far; owner: the goroutine that the batch gave this worker to
}

// update applies entries, ascending and with the first depth nibbles in common,
// to the subtree old at that depth. It returns the new subtree, which is old
// itself if nothing changed. Whoever takes in a changed subtree has to push a
// job for its link.
//
// The result is canonical: a subtree of no keys is 0, of one key its leaf, and of more a
// branch at the first nibble in which they differ, with a child for each value of it. By
// induction over depth, each of the functions below keeps that: updateBranch drops a branch
// that one child is left of, diverge and join make a branch only above two. Hence the trie,
// and with it the root, is a function of the set of entries, as the yellow paper (appendix
// D) has it, and neither the order of blocks nor the number of workers shows.
//
// Work: each entry is compared once at each branch on its way, and each branch on the way
// to a change is copied once for the batch, however many entries go through it. The
// recursion ends within keyNibbles levels, since depth rises.
func (w *worker) update(old ref40, depth int, es []entry) ref40 {
	if old == 0 {
		return w.build(depth, es, 0)
	}
	b := w.at(old)
	if b[0] == kindLeaf {
		if len(es) == 1 && *leafKey(b) == es[0].key {
			return w.resolveLeaf(&es[0], old)
		}
		return w.build(depth, es, old)
	}
	v := asBranch(b)
	if v.depth() > depth {
		k := v.key()
		same := sharedNibbles(es[0].key[:], k, v.depth())
		same = min(same, sharedNibbles(es[len(es)-1].key[:], k, v.depth()))
		if same < v.depth() {
			return w.diverge(old, v, depth, same, es)
		}
	}
	return w.updateBranch(old, v, es)
}

// run returns how many entries from the start agree in nibble at, and that nibble. The
// entries ascend and agree in all nibbles before, so it is enough to look at the last one
// to know that all agree, which is the rule deep in the trie.
func run(es []entry, at int) (n, x int) {
	x = nibble(es[0].key[:], at)
	if nibble(es[len(es)-1].key[:], at) == x {
		return len(es), x
	}
	for n = 1; nibble(es[n].key[:], at) == x; n++ {
	}
	return n, x
}

// updateBranch applies entries that all go through the branch old.
//
// A child that is left alone takes the branch's place as it is: a record holds its whole
// key, so what changes is only the path in its encoding, and that is made when the caller's
// job for its link is hashed.
func (w *worker) updateBranch(old ref40, v branchAt, es []entry) ref40 {
	depth, mask := v.depth(), v.mask()
	var kids [16]ref40
	var changed uint16
	for len(es) > 0 {
		n, x := run(es, depth)
		was := v.child(x)
		if n <= warmWindow && len(es) > warmWindow {
			w.warm(was, es[:n])
		}
		if now := w.update(was, depth+1, es[:n]); now != was {
			kids[x] = now
			changed |= 1 << x
			if now == 0 {
				mask &^= 1 << x
			} else {
				mask |= 1 << x
			}
		}
		es = es[n:]
	}
	if changed == 0 {
		return old
	}
	if mask&(mask-1) == 0 { // one child or none: no branch
		var only ref40
		if x := bits.TrailingZeros16(mask); x < 16 {
			if only = kids[x]; changed>>x&1 == 0 {
				only = v.child(x)
			}
		}
		w.retire(old, v.b)
		return only
	}
	r, b := w.pool.alloc(unitsOf(branchBytes(bits.OnesCount16(mask))), w.ground)
	now := writeBranch(b, depth, mask, w.epoch, v.key())
	now.setEmbedded(v.embedded() & mask &^ changed)
	w.copyKids(r, now, v, &kids, changed)
	w.retire(old, v.b)
	return r
}

// copyKids fills a branch with the kids of an older one, but for those changed.
func (w *worker) copyKids(r ref40, now, was branchAt, kids *[16]ref40, changed uint16) {
	depth := now.depth() + 1
	if now.mask() == was.mask() {
		copy(now.b[branchHeader:branchHeader+now.n*slotBytes], was.b[branchHeader:])
		for left := changed; left != 0; left &= left - 1 {
			x := bits.TrailingZeros16(left)
			now.setKid(now.rank(x), kids[x])
			w.push(kids[x], r, x, depth)
		}
		return
	}
	rank := 0
	for left := now.mask(); left != 0; left &= left - 1 {
		x := bits.TrailingZeros16(left)
		if changed>>x&1 == 1 {
			now.setKid(rank, kids[x])
			w.push(kids[x], r, x, depth)
		} else {
			from := was.rank(x)
			now.setKid(rank, was.kid(from))
			copy(now.link(rank), was.link(from))
		}
		rank++
	}
}

// diverge applies entries to the branch old of which some leave its path at
// nibble at, before it divides. In the encoding that is an extension which is split: the
// new branch stands at nibble at, old below it with a shorter path, as one child. If all
// other entries delete what is not there, old is returned as it was, maybe updated.
func (w *worker) diverge(old ref40, v branchAt, depth, at int, es []entry) ref40 {
	var kids [16]ref40
	var mask uint16
	own := nibble(v.key(), at)
	kids[own] = old
	for len(es) > 0 {
		n, x := run(es, at)
		kids[x] = w.update(kids[x], at+1, es[:n])
		es = es[n:]
	}
	for x, kid := range kids {
		if kid != 0 {
			mask |= 1 << x
		}
	}
	if mask&(mask-1) == 0 { // all others were deletions of what is not there
		return kids[bits.TrailingZeros16(mask)&15]
	}
	r, b := w.pool.alloc(unitsOf(branchBytes(bits.OnesCount16(mask))), w.ground)
	now := writeBranch(b, at, mask, w.epoch, v.key())
	for left, rank := mask, 0; left != 0; left, rank = left&(left-1), rank+1 {
		x := bits.TrailingZeros16(left)
		now.setKid(rank, kids[x])
		w.push(kids[x], r, x, at+1)
	}
	return r
}

// build makes a subtree of entries and, if leaf is not 0, an existing leaf: it merges both
// in the order of keys, since an entry may also write or delete the leaf, and joins what is
// left. items is used as a stack; what lies above start is this call's.
func (w *worker) build(depth int, es []entry, leaf ref40) ref40 {
	start := len(w.items)
	var key *key32
	if leaf != 0 {
		key = leafKey(w.at(leaf))
	}
	for i := range es {
		was := ref40(0)
		if key != nil {
			if c := compareKeys(key, &es[i].key); c < 0 {
				w.items = append(w.items, twig{*key, leaf})
				key = nil
			} else if c == 0 {
				was, key = leaf, nil
			}
		}
		if now := w.resolveLeaf(&es[i], was); now != 0 {
			w.items = append(w.items, twig{es[i].key, now})
		}
	}
	if key != nil {
		w.items = append(w.items, twig{*key, leaf})
	}
	r := w.join(depth, w.items[start:])
	w.items = w.items[:start]
	return r
}

// join makes a subtree of leaves in ascending order. The first and the last key tell how
// far all agree, since those between lie between them. A child's job is pushed after those
// of everything below it; hashing in the middle is therefore safe: see hashAll.
func (w *worker) join(depth int, items []twig) ref40 {
	switch len(items) {
	case 0:
		return 0
	case 1:
		return items[0].leaf
	}
	last := &items[len(items)-1].key
	at := sharedNibbles(items[0].key[:], last[:], keyNibbles)
	var mask uint16
	var ends [16]int
	for i := range items {
		x := nibble(items[i].key[:], at)
		mask |= 1 << x
		ends[x] = i + 1
	}
	r, b := w.pool.alloc(unitsOf(branchBytes(bits.OnesCount16(mask))), w.ground)
	now := writeBranch(b, at, mask, w.epoch, last[:])
	from := 0
	for left, rank := mask, 0; left != 0; left, rank = left&(left-1), rank+1 {
		x := bits.TrailingZeros16(left)
		kid := w.join(at+1, items[from:ends[x]])
		from = ends[x]
		now.setKid(rank, kid)
		w.push(kid, r, x, at+1)
		if len(w.leaves) >= hashSoon {
			w.hashAll() // all below what was pushed was pushed before it
		}
	}
	return r
}

// push asks for the link of a child.
func (w *worker) push(child, parent ref40, slot, depth int) {
	j := job{child: child, parent: parent, slot: uint32(slot), depth: uint32(depth)}
	if b := w.at(child); b[0] == kindLeaf {
		w.leaves = append(w.leaves, j)
	} else {
		w.forks[b[atDepth]] = append(w.forks[b[atDepth]], j)
	}
}

// retire takes a record out of the new version. One of this batch is free at
// once; others are still in use by older versions. A record of this batch lies in the pool
// of the unit that made it, and only that unit comes upon it in the same phase, so the
// release needs no lock.
func (w *worker) retire(r ref40, b []byte) {
	units := recordUnits(b)
	if epochOf(b) == w.epoch {
		w.pools[r.pool()].release(r, units)
		return
	}
	list := &w.image.retired[w.pool.number]
	*list = append(*list, retired{r, uint32(units)})
}

// retireTrie takes a whole storage trie out of the new version.
func (w *worker) retireTrie(root ref40) {
	list := &w.image.retired[w.pool.number]
	*list = append(*list, retired{root, wholeTrie})
}

// resolveLeaf returns the leaf that an entry leaves in the place of old: old itself
// if it does not change, 0 if there is none.
func (w *worker) resolveLeaf(e *entry, old ref40) ref40 {
	if w.change != nil {
		return w.valueLeaf(e, old)
	}
	return w.accountLeaf(e, old)
}

// valueLeaf writes or deletes one storage value, and counts what the storage grew by.
func (w *worker) valueLeaf(e *entry, old ref40) ref40 {
	key, value := w.change.Storage[e.at].Key, w.change.Storage[e.at].Value
	if old != 0 {
		b := w.at(old)
		was := leafPayload(b)
		if value != nil && string(was) == string(value) {
			return old
		}
		w.grown = w.grown.Sub(state.SizeOf(key, was))
		w.retire(old, b)
	}
	if value == nil {
		return 0
	}
	w.grown = w.grown.Add(state.SizeOf(key, value))
	return w.newLeaf(&e.key, value, 0)
}

// newLeaf makes the record of a leaf; account is 1 for one of the trie of accounts.
func (w *worker) newLeaf(key *key32, payload []byte, account byte) ref40 {
	r, b := w.pool.alloc(unitsOf(atPayload+len(payload)), w.ground)
	b[0], b[atAccount] = kindLeaf, account
	binary.LittleEndian.PutUint32(b[atLength:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[atEpoch:], w.epoch)
	copy(b[leafHeader:], key[:])
	copy(b[atPayload:], payload)
	return r
}

// accountLeaf merges what is written of an account with what it was, and
// notes the row that the account leaves. The order is that of [state.AccountChange]:
// cleared, then the fields, then the storage, whose trie was brought up to date in an
// earlier phase. An account of which nothing is left has no leaf (EIP-161).
func (w *worker) accountLeaf(e *entry, old ref40) ref40 {
	fact := &w.facts[e.at]
	row := Row{Key: e.key}
	var a resident
	var was []byte
	if old != 0 {
		was = leafPayload(w.at(old))
		a = readResident(was)
	}
	if fact.has&factCleared != 0 {
		if a.storage != 0 {
			w.retireTrie(a.storage)
			row.Cleared = true
		}
		a = resident{}
	}
	if fact.has&factAccount != 0 {
		a.nonce, a.balance, a.code, a.meta = fact.nonce, fact.balance, chain.Hash{}, nil
		if fact.has&factMore != 0 {
			a.set(w.changes[e.at].Account)
		}
	}
	if fact.has&factStorage != 0 {
		t := &w.tries[w.trieOf[e.at]]
		row.Storage, a.storage, a.root = w.changes[e.at].Storage, t.root, t.hash
		a.size = t.size
	}
	now := ref40(0)
	if !a.empty() {
		w.account = appendResident(w.account[:0], &a)
		if old != 0 && string(w.account) == string(was) {
			now = old
		} else {
			now = w.newLeaf(&e.key, w.account, 1)
		}
	}
	if old != 0 && now != old {
		w.retire(old, w.at(old))
	}
	if now == old && !row.Cleared && row.Storage == nil {
		return old
	}
	list := &w.image.rows[w.pool.number]
	if now != 0 {
		row.from = len(list.bytes)
		list.bytes = a.appendRLP(list.bytes)
		row.to = len(list.bytes)
	}
	list.rows = append(list.rows, row)
	return now
}

// set takes over code and metadata of an account.
func (a *resident) set(to *state.Account) {
	a.meta = to.Meta
	if to.HasCode() {
		a.code = to.CodeHash
	}
}

// fact is what is written of an account as far as most changes go. Changes are
// read once in the order in which they lie in memory; after that, in the order
// of their hashes, these few bytes of each will do.
type fact struct {
	nonce, balance uint64
	has            uint8
}

const (
	factAccount = 1 << iota // the fields are set
	factMore                // there is code or metadata
	factStorage
	factCleared
)

func (b *batch) readFacts() {
	b.facts = slices.Grow(b.facts[:0], len(b.changes))[:len(b.changes)]
	for i := range b.changes {
		c, f := &b.changes[i], fact{}
		if c.Account != nil {
			f.nonce, f.balance, f.has = c.Account.Nonce, uint64(c.Account.Balance), factAccount
			if c.Account.HasCode() || len(c.Account.Meta) > 0 {
				f.has |= factMore
			}
		}
		if c.Cleared {
			f.has |= factCleared
		}
		if b.trieOf[i] >= 0 {
			f.has |= factStorage
		}
		b.facts[i] = f
	}
}
