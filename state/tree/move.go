package tree

import "encoding/binary"

// Moving records. What is written again and again in other sizes, or deleted but for one
// record here and there, leaves slabs of which little is in use, and a record's place
// cannot change: refs to it are in older versions, which readers go down without a lock. So
// the arena is tidied as it is written: an image gets copies of records, with all that is
// above them, and retires what they were copied from, as it does with what its block
// replaces. Old versions keep theirs; roots do not change, since no hash does.
//
//	round: choose the emptiest slabs ── each block: look at the next records in order of
//	  key, copy those in chosen slabs ── at the end of the keys: the round's last image
//	  ── it is retired: the chosen slabs are empty, and were given back
//
// A round begins when slabs are half as large again as the records in them, plus moveSlack,
// and chooses so many that a quarter would be left. A block looks at twice as many bytes as it
// made, so the round ends within half of the live bytes newly made. That bounds what the
// tries take by moveSlack and two and a half times the most that was live, whatever was
// written: one and a half when the round began, the copies, which are half at most, and what is
// made meanwhile. Live is here also what older versions still have; acres that are split
// between chunks and large records come on top (yard).
//
// The accounts under each first nibble of the keys have a mover, a place where it goes on and
// a share of the bytes, which go to the others when it is at its end. The workers of the
// batch share the movers. A mover makes records in the pool of its nibble alone.
//
// How far a round has come belongs to the image, since blocks are built on any. Before
// the places in moved an image has no record in a chosen slab: nothing new goes into
// one, and what is kept there was looked at. Where an image is dropped, so is its progress. None
// of this is needed for safety: a slab is given back when it has no record, not at the end
// of a round.
const (
	moveSlack = 256 << 20
	movePace  = 2       // bytes to look at, for each that is made
	moveLeast = 1 << 16 // bytes to look at in a block
	moveCrowd = 1 << 10 // of them for each key that each counts as: crowdMin for others to help
)

// moved is how far an image has come in a round, in the accounts of one nibble.
type moved struct {
	account key32 // where to go on
	slot    key32 // in the storage of account, if within
	within  bool
	all     bool
}

// progress is how far an image has come in a round, by the first nibble of accounts.
type progress [pools]moved

// left is how many nibbles are not at their end.
func (p *progress) left() (n int64) {
	for x := range p {
		if !p[x].all {
			n++
		}
	}
	return n
}

// made is how many bytes of records were made so far.
func (f *Forest) made() (sum int64) {
	for i := range f.pools {
		sum += f.pools[i].made
	}
	return sum
}

// fills is how finely choose tells slabs by what is in use of them.
const fills = 16

// choose begins a round if too much is free: it picks the emptiest slabs until what
// is in none of them is a quarter of what is live.
func (f *Forest) choose() {
	held, live := f.held()
	if held <= live+live/2+f.slack {
		return
	}
	var gains [fills]int64
	f.eachSlab(func(_ *plot, s *slab, size int) {
		gains[fill(s, size)] += int64(size - inUse(s))
	})
	need, below := held-live-live/4, 0
	for below < fills-1 && gains[below] < need {
		need -= gains[below]
		below++
	}
	f.eachSlab(func(at *plot, s *slab, size int) {
		switch x := fill(s, size); {
		case x > below || x == fills-1 || x == below && need <= 0:
			return
		case x == below:
			need -= int64(size - inUse(s))
		}
		at.markLeaving(s)
	})
	f.round++
	f.moving = true
}

// fill is how much of a slab is in use, in sixteenths.
func fill(s *slab, size int) int { return min(inUse(s)*fills/size, fills-1) }

// inUse is the bytes of a slab that are in records.
func inUse(s *slab) int {
	if s.ground == large {
		return int(s.live) * grainBytes
	}
	return int(s.live) * unitBytes
}

// eachSlab calls do with each slab that is neither open nor being emptied.
func (f *Forest) eachSlab(do func(at *plot, s *slab, size int)) {
	for i := range f.pools {
		p := &f.pools[i]
		for number := range p.slabs {
			s := &p.slabs[number]
			if at := &p.plots[s.ground]; s.ground != large && s.live > 0 && !s.leaving && number != at.open {
				do(at, s, chunkUnits*unitBytes)
			}
		}
		at := &p.plots[large]
		for number := range p.large {
			if s := &p.large[number]; s.live > 0 && !s.leaving && number != at.open {
				do(at, s, acreBytes)
			}
		}
	}
}

// move goes on with the round in the batch's image, after so many bytes were made.
func (b *batch) move(made int64) error {
	im := b.image
	if im.round != b.round {
		im.round, im.moved = b.round, progress{}
	}
	t := b.split(im.top)
	for x := range t.old {
		im.moved[x].all = im.moved[x].all || t.old[x] == 0
	}
	parts := im.moved.left()
	if parts == 0 {
		return nil
	}
	t.now = t.old
	look, before := max(movePace*made, moveLeast), b.slabsNow()
	err := b.each(pools, int(look/moveCrowd), func(w *worker, u int) {
		if from := im.moved[u]; !from.all {
			m := mover{worker: w, before: before, from: from, left: look / parts, next: moved{all: true}}
			t.now[u] = m.walk(t.old[u], &m.from.account)
			im.moved[u] = m.next
		}
	})
	if err != nil {
		return err
	}
	return b.moveTop(&t, before)
}

// moveTop puts the top back on the subtrees, and moves it.
func (b *batch) moveTop(t *crown, before *slabsOf) error {
	if t.moved {
		for x := range t.old {
			if t.old[x] == t.root {
				b.image.top = t.now[x]
			}
		}
		return nil
	}
	return b.each(1, 1, func(w *worker, _ int) {
		m := mover{worker: w, before: before}
		to, now := m.relocate(t.root, w.at(t.root), t.now != t.old)
		if v := asBranch(now); t.now != t.old {
			for x, kid := range t.now {
				if kid != t.old[x] {
					v.setKid(v.rank(x), kid)
				}
			}
		}
		b.image.top = to
	})
}

// slabsOf is the slabs of all pools when a step of a round begins. Movers look up there what is
// with the records of others' pools, whose lists may grow meanwhile: as long as the step
// takes, no slab with records in it begins to be emptied or is given back.
type slabsOf [pools]struct{ slabs, large []slab }

func (f *Forest) slabsNow() *slabsOf {
	var list slabsOf
	for i := range f.pools {
		list[i].slabs, list[i].large = f.pools[i].slabs, f.pools[i].large
	}
	return &list
}

// look tells in what ground a record is, and whether its slab is being emptied.
func (l *slabsOf) look(r ref40) (g ground, leaving bool) {
	p := &l[r.pool()]
	s := &p.slabs[r.chunk()]
	switch {
	case s.ground != large:
		return s.ground, s.leaving
	case s.where == noSlab:
		return large, false
	}
	return large, p.large[s.where>>grainBits].leaving
}

// mover is one step of a round in the accounts of a nibble. It makes records in the pool
// of its unit, copies of whatever pool's: a storage trie has records in all.
type mover struct {
	*worker
	before  *slabsOf
	from    moved
	next    moved
	left    int64 // bytes to look at
	seen    bool  // a leaf without leaves below it
	stopped bool
	account key32 // whose storage it is in
	within  bool
}

// walk looks at the subtree r from a key on, at all of it if that is nil, until the bytes
// are used up, and returns what the image has in its place. One leaf is always looked at.
// The recursion is as deep as the tries, and takes the records of the way to from again,
// which do not count.
func (m *mover) walk(r ref40, from *key32) ref40 {
	b := m.at(r)
	if b[0] == kindLeaf {
		if from != nil && compareKeys(leafKey(b), from) < 0 {
			return r
		}
		return m.leaf(r, b)
	}
	v := asBranch(b)
	x := 0
	if from != nil {
		if same := sharedNibbles(from[:], v.key(), v.depth()); same < v.depth() {
			if nibble(v.key(), same) < nibble(from[:], same) {
				return r
			}
			from = nil
		} else {
			x = nibble(from[:], v.depth())
		}
	}
	if from == nil {
		m.left -= int64(branchBytes(v.n))
	}
	var kids [16]ref40
	var changed uint16
	for ; x < 16 && !m.stopped; x++ {
		if kid := v.child(x); kid != 0 {
			if kids[x] = m.walk(kid, from); kids[x] != kid {
				changed |= 1 << x
			}
		}
		from = nil
	}
	to, now := m.relocate(r, b, changed != 0)
	for x := range kids {
		if changed>>x&1 == 1 {
			v := asBranch(now)
			v.setKid(v.rank(x), kids[x])
		}
	}
	return to
}

// leaf looks at one leaf and, if it is an account, at its storage.
func (m *mover) leaf(r ref40, b []byte) ref40 {
	key := leafKey(b)
	if m.left <= 0 && m.seen {
		m.stopBefore(key)
		return r
	}
	m.left -= int64(recordUnits(b) * unitBytes)
	if !leafIsAccount(b) || storageOf(leafPayload(b)) == 0 {
		m.seen = true
		to, _ := m.relocate(r, b, false)
		return to
	}
	var from *key32
	if m.from.within && *key == m.from.account {
		from = &m.from.slot
	}
	m.account, m.within = *key, true
	was := storageOf(leafPayload(b))
	root := m.walk(was, from)
	m.within = false
	to, now := m.relocate(r, b, root != was)
	if root != was {
		payload := leafPayload(now)
		putRef(payload[storageAt(payload):], root)
	}
	return to
}

// stopBefore ends the step before the leaf under key.
func (m *mover) stopBefore(key *key32) {
	m.stopped = true
	if m.next = (moved{account: *key}); m.within {
		m.next = moved{account: m.account, slot: *key, within: true}
	}
}

// relocate returns where the record r is to be, so that it can be changed if that is asked for:
// in place if it is of this batch, which nobody reads yet, and else in a copy, as also if
// its slab is being emptied.
func (m *mover) relocate(r ref40, b []byte, change bool) (ref40, []byte) {
	g, leaving := m.before.look(r)
	if !leaving && (!change || epochOf(b) == m.epoch) {
		return r, b
	}
	units := recordUnits(b)
	to, now := m.pool.alloc(units, g)
	copy(now[:units*unitBytes], b)
	binary.LittleEndian.PutUint32(now[atEpoch:], m.epoch)
	m.retire(r, b)
	return to, now
}
