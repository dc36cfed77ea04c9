package vm

import "math/bits"

// hashTable is the table of dicts and sets: entries in the order of insertion,
// and an index over them by open addressing.
//
// The index is spread by a key of the process, so nobody can choose keys that
// meet in it (resolution 11.39). Nothing that a program sees or pays depends on
// where a key lies: capacity, compaction and positions follow from the sequence
// of insertions and deletions alone, and keys whose hash() is equal - which a
// program can choose - meet in the order of insertion on every node, because
// they form a chain in that order, whose first the index holds. Each such meeting
// that is not the key looked for is charged as one comparison. Slots of the index
// whose chain became empty are used again where a key meets one; the index is made anew
// by the count of chains that began in it, which does not ask where.
//
// Position i of a key stays valid, and absent keys stay absent, as long as
// version is the same; values may be read and replaced in entries[i] meanwhile.
// The interpreter's caches of global names rest on that.
type hashTable struct {
	entries []hashEntry
	index   []uint32 // 0 empty, deadSlot, else position+1 of the first with its hash; nil while entries are few
	live    int      // entries not deleted
	first   int      // no live entry before it
	begun   int      // chains entered into index since it was made: no fewer than its slots that are not empty
	version uint32   // changes when a key comes or goes or moves
	kept    bool     // of a kept object, not yet changed
}

// hashEntry is one entry; its key is unbound where deleted. Sets leave value
// unbound.
type hashEntry struct {
	key, value Value
	hash       uint64 // hash() of the key under the key of the process
	next       uint32 // position+1 of the next entry with the same hash, 0: none
}

const (
	deadSlot   = ^uint32(0)
	tableSmall = 8  // up to so many entries are searched one by one
	tableLeast = 4  // least capacity
	shortKey   = 31 // bytes of a key that is too short for a charge of its own
)

// spread mixes hash() with the key of the process, one to one.
func (rt *Runtime) spread(h int64) uint64 {
	x := (uint64(h) ^ rt.hashKey[0]) * (rt.hashKey[1] | 1)
	x ^= x >> 32
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// hashModulus is the prime of numeric hashes.
const hashModulus = 1<<61 - 1

// keyHash is the hash of a key in tables; TypeError when it has none.
func (m *Machine) keyHash(key Value) (uint64, error) {
	if key.ref == &intTag {
		n := int64(key.bits)
		if n < hashModulus && n > -hashModulus && n != -1 {
			return m.rt.spread(n), nil
		}
	} else if s, ok := key.ref.self.(*Str); ok && s.class == nil {
		if len(s.s) > shortKey {
			m.chargeKey(s) // what the table compares it with may be as long
		}
		return m.strHash(s), nil
	}
	h, err := m.Hash(key)
	if err != nil {
		return 0, err
	}
	return m.rt.spread(h), nil
}

// chargeKey charges for a long text that is looked for: what is not ASCII is put in its
// normal form before it is hashed, once for each object, and each look-up pays as if it
// were the first.
func (m *Machine) chargeKey(s *Str) {
	n := len(s.s)
	if s.ascii() {
		n /= int(m.Work().KeyBytes)
	}
	m.ChargeEach(n, m.dyn.Char)
}

// strHash is keyHash of an exact string, remembered in it.
func (m *Machine) strHash(s *Str) uint64 {
	if s.hash == 0 {
		s.hash = m.rt.spread(m.strDigest(s)) // not charged: whether it is known is not the program's to see
	}
	return s.hash
}

// sameText compares two exact strings as == does.
func sameText(a, b *Str) bool {
	return a == b || a.s == b.s || (a.nfc != 1 || b.nfc != 1) && nfcText(a) == nfcText(b)
}

// probe walks the positions of entries with the given hash.
type probe struct {
	slot, step, mask uint32
	at               int    // next position of a small table
	chain            uint32 // position+1 of the next with the hash, once the first is found
	found            bool
}

func (t *hashTable) probe(hash uint64) probe {
	mask := uint32(len(t.index) - 1)
	return probe{slot: uint32(hash) & mask, step: uint32(hash>>32) | 1, mask: mask, at: t.first}
}

// next returns the next position whose entry has the hash, -1 at the end.
func (p *probe) next(t *hashTable, hash uint64) int {
	if t.index == nil {
		// Bounded: by tableSmall, 8: a table of more has an index.
		for i := p.at; i < len(t.entries); i++ {
			if t.entries[i].hash == hash && t.entries[i].key.ref != nil {
				p.at = i + 1
				return i
			}
		}
		return -1
	}
	if !p.found {
		p.found, p.chain = true, 0
		// Bounded: by a few slots on average: a quarter and more is empty (add), and nobody knows the key that spreads them.
		for {
			s := t.index[p.slot&p.mask]
			if s == 0 {
				return -1
			}
			if s != deadSlot && t.entries[s-1].hash == hash {
				p.chain = s
				break
			}
			p.slot += p.step
		}
	}
	if p.chain == 0 {
		return -1
	}
	i := int(p.chain - 1)
	p.chain = t.entries[i].next
	return i
}

// find returns the position of key, -1 when absent. It may call __eq__; when the
// table changes meanwhile it begins again, as CPython does.
func (t *hashTable) find(m *Machine, key Value, hash uint64) (int, error) {
	if key.ref == &intTag {
		// most often the first entry with the hash is the key
		p := t.probe(hash)
		i := p.next(t, hash)
		if i < 0 {
			return -1, nil
		}
		if t.entries[i].key == key {
			return i, nil
		}
		return t.findEqual(m, key, hash)
	}
	if s, ok := key.ref.self.(*Str); ok && s.class == nil {
		return t.findText(m, key, s, hash)
	}
	return t.findEqual(m, key, hash)
}

func (t *hashTable) findText(m *Machine, key Value, s *Str, hash uint64) (int, error) {
	p := t.probe(hash)
	i := p.next(t, hash)
	if i < 0 {
		return -1, nil
	}
	k := t.entries[i].key
	if k == key {
		return i, nil
	}
	if o, ok := k.ref.self.(*Str); ok && o.class == nil && sameText(o, s) {
		return i, nil
	}
	return t.findEqual(m, key, hash)
}

// findEqual is find for any key.
func (t *hashTable) findEqual(m *Machine, key Value, hash uint64) (int, error) {
again:
	p := t.probe(hash)
	for {
		i := p.next(t, hash)
		if i < 0 {
			return -1, nil
		}
		k := t.entries[i].key
		if k == key {
			return i, nil
		}
		m.Charge(m.dyn.Compare)
		version := t.version
		eq, err := m.CompareBool(CompareEq, k, key)
		if err != nil {
			return -1, err
		}
		if t.version != version {
			goto again
		}
		if eq {
			return i, nil
		}
	}
}

// findStr is find for a string in a table of names; it never calls Python code. Keys
// of the same hash that are no strings pay as any meeting does.
func (t *hashTable) findStr(m *Machine, s *Str, hash uint64) int {
	p := t.probe(hash)
	for {
		i := p.next(t, hash)
		if i < 0 {
			return -1
		}
		k := t.entries[i].key
		if k.ref == &s.Object {
			return i
		}
		if o, ok := k.ref.self.(*Str); ok && sameText(o, s) {
			return i
		}
		m.Charge(m.dyn.Compare)
	}
}

// add appends a key that is not there.
func (t *hashTable) add(m *Machine, key, v Value, hash uint64) {
	t.own(m)
	if len(t.entries) == cap(t.entries) || t.index != nil && t.begun >= len(t.index)/4*3 {
		t.rebuild(m, tableCapacity(t.live+1))
	}
	t.version++
	t.entries = append(t.entries, hashEntry{key: key, value: v, hash: hash})
	t.live++
	if t.index == nil {
		return
	}
	slot, head := t.slotOf(hash)
	number := uint32(len(t.entries))
	if head == 0 {
		t.occupy(slot, number)
		return
	}
	for t.entries[head-1].next != 0 {
		head = t.entries[head-1].next
		m.Charge(m.dyn.Element)
	}
	t.entries[head-1].next = number
}

// slotOf returns the slot of a hash with position+1 of its first entry, or the
// slot to use and 0.
func (t *hashTable) slotOf(hash uint64) (slot, head uint32) {
	mask := uint32(len(t.index) - 1)
	at, step := uint32(hash), uint32(hash>>32)|1
	dead := deadSlot
	// Bounded: by a few slots on average, as in next.
	for {
		s := t.index[at&mask]
		switch {
		case s == 0 && dead != deadSlot:
			return dead, 0
		case s == 0:
			return at & mask, 0
		case s == deadSlot:
			if dead == deadSlot {
				dead = at & mask
			}
		case t.entries[s-1].hash == hash:
			return at & mask, s
		}
		at += step
	}
}

// occupy enters the first entry of a hash. A chain that begins counts whatever the slot
// was: whether it is one that was used before follows from the key of the process, and
// when the index is made anew, and paid for, must not.
func (t *hashTable) occupy(slot, number uint32) {
	if s := t.index[slot]; s == 0 || s == deadSlot {
		t.begun++
	}
	t.index[slot] = number
}

// fill makes the index anew, from the last entry on so that chains grow at their
// front.
func (t *hashTable) fill(slots int) {
	t.index, t.begun = make([]uint32, slots), 0
	// Paid: by who makes the table anew: rebuild or copyFrom.
	for i := len(t.entries); i > 0; i-- {
		e := &t.entries[i-1]
		slot, head := t.slotOf(e.hash)
		e.next = head
		t.occupy(slot, uint32(i))
	}
}

// unlink takes the entry at position i out of the index, charging for those of
// its hash that come before it.
func (t *hashTable) unlink(m *Machine, i int) {
	e := &t.entries[i]
	slot, head := t.slotOf(e.hash)
	if head == uint32(i+1) {
		if t.index[slot] = e.next; e.next == 0 {
			t.index[slot] = deadSlot
		}
		return
	}
	passed := 1
	// Paid: by elements below, for each passed.
	for t.entries[head-1].next != uint32(i+1) {
		head = t.entries[head-1].next
		passed++
	}
	t.entries[head-1].next = e.next
	m.elements(passed)
}

// tableCapacity is the number of entries that a table gets room for when it must
// hold n: the power of two from n + n/2 on, at least 4. It is the growth rule of
// dicts and sets for the heap limit.
func tableCapacity(n int) int {
	if n <= tableLeast {
		return tableLeast
	}
	return 1 << bits.Len(uint(n+n/2-1))
}

// rebuild moves the live entries into a table for capacity entries.
func (t *hashTable) rebuild(m *Machine, capacity int) {
	t.own(m)
	m.Alloc(capacity * dictEntryBytes)
	old := t.entries
	t.entries = make([]hashEntry, 0, capacity)
	t.version++
	t.first, t.begun, t.index = 0, 0, nil
	// Paid: by the additions since the last time: there is room for half as many more as stay; and by Alloc above.
	for i := range old {
		if old[i].key.ref != nil {
			t.entries = append(t.entries, old[i])
		}
	}
	if capacity <= tableSmall {
		return
	}
	t.fill(2 * capacity)
}

// reserve makes room for n entries more.
func (t *hashTable) reserve(m *Machine, n int) {
	if len(t.entries)+n > cap(t.entries) {
		t.rebuild(m, tableCapacity(t.live+n))
	}
}

// remove deletes the entry at position i.
func (t *hashTable) remove(m *Machine, i int) {
	t.own(m)
	if t.index != nil {
		t.unlink(m, i)
	}
	t.entries[i] = hashEntry{}
	t.live--
	t.version++
	t.trim()
}

// removeKeepingRoom is remove that keeps the room of the last entry, as CPython's dicts do: an
// iterator that is past it sees that a key came back.
func (t *hashTable) removeKeepingRoom(m *Machine, i int) {
	t.own(m)
	if t.index != nil {
		t.unlink(m, i)
	}
	t.entries[i] = hashEntry{}
	t.live--
	t.version++
	// Paid: by the removals, each of which is passed once, or by toFront, which brought them behind the first.
	for t.first < len(t.entries) && t.entries[t.first].key.ref == nil {
		t.first++
	}
}

// toFront makes the entry at position i the first. All that were before it move.
func (t *hashTable) toFront(m *Machine, i int) {
	m.ChargeEach(max(0, len(t.index)/2-2*len(t.entries)), m.dyn.Element) // the index is as large as the table ever was
	t.own(m)
	if t.index != nil {
		t.unlink(m, i)
	}
	t.version++
	e := t.entries[i]
	copy(t.entries[1:i+1], t.entries[:i])
	t.entries[0], t.first = e, 0
	if t.index == nil {
		t.trim()
		return
	}
	// Paid: by the charge for each slot above.
	for at, s := range t.index {
		if s != 0 && s <= uint32(i) {
			t.index[at]++
		}
	}
	// Paid: by MoveToEnd, a copy for each entry.
	for at := range t.entries {
		if n := &t.entries[at].next; *n != 0 && *n <= uint32(i) {
			*n++
		}
	}
	slot, head := t.slotOf(e.hash)
	t.entries[0].next = head
	t.occupy(slot, 1)
	t.trim()
}

// last returns the position of the last live entry and gives the room behind it
// back; false when there is none.
func (t *hashTable) last(m *Machine) (int, bool) {
	t.own(m)
	i, ok := t.before(m, len(t.entries)-1)
	t.trim()
	return i, ok
}

// trim drops deleted entries at the end.
func (t *hashTable) trim() {
	n := len(t.entries)
	// Paid: by the removals, each of which is dropped once.
	for n > 0 && t.entries[n-1].key.ref == nil {
		n--
	}
	t.entries = t.entries[:n]
	// Paid: as in take.
	for t.first < n && t.entries[t.first].key.ref == nil {
		t.first++
	}
	if n == 0 {
		t.first = 0
	}
}

// clear empties the table and gives its room back.
func (t *hashTable) clear(m *Machine) {
	t.own(m)
	*t = hashTable{version: t.version + 1}
}

// own is called before every change.
func (t *hashTable) own(m *Machine) {
	if t.kept {
		m.noteTable(t)
	}
}

// set replaces the value at position i.
func (t *hashTable) set(m *Machine, i int, v Value) {
	t.own(m)
	t.entries[i].value = v
}

// after returns the position of the first live entry from i on, charging for the
// deleted ones that it passes; false at the end.
func (t *hashTable) after(m *Machine, i int) (int, bool) {
	if i < t.first {
		i = t.first
	}
	from := i
	// Paid: by the charge below, for each passed.
	for i < len(t.entries) && t.entries[i].key.ref == nil {
		i++
	}
	if i > from {
		m.ChargeEach(i-from, m.dyn.Element)
	}
	return i, i < len(t.entries)
}

// roots visits keys and values, for the heap measurement.
func (t *hashTable) roots(visit func(Value)) {
	// Paid: by the tracer, which counts twice the entries before.
	for i := range t.entries {
		if e := &t.entries[i]; e.key.ref != nil {
			visit(e.key)
			if e.value.ref != nil {
				visit(e.value)
			}
		}
	}
}

// capacity is the number of entries that there is room for: it follows from the
// insertions and deletions alone, by tableCapacity.
func (t *hashTable) capacity() int { return cap(t.entries) }

// copyFrom makes t, which is empty, a table with the entries of o.
func (t *hashTable) copyFrom(m *Machine, o *hashTable) {
	if o.live == 0 {
		return
	}
	t.own(m)
	capacity := tableCapacity(o.live)
	m.Alloc(capacity * dictEntryBytes)
	version := t.version + 1
	*t = hashTable{entries: o.entries, version: version, live: o.live}
	t.compactInto(capacity)
}

// compactInto replaces entries, which belong to somebody else, by a compact copy.
func (t *hashTable) compactInto(capacity int) {
	from := t.entries
	t.entries = make([]hashEntry, 0, capacity)
	// Paid: by who copies, a copy for each entry.
	for i := range from {
		if from[i].key.ref != nil {
			t.entries = append(t.entries, from[i])
		}
	}
	if capacity > tableSmall {
		t.fill(2 * capacity)
	}
}

// before is after, backwards from i on.
func (t *hashTable) before(m *Machine, i int) (int, bool) {
	i = min(i, len(t.entries)-1)
	from := i
	// Paid: by the charge below, for each passed.
	for i >= t.first && t.entries[i].key.ref == nil {
		i--
	}
	if i < from {
		m.ChargeEach(from-i, m.dyn.Element)
	}
	return i, i >= t.first && i >= 0
}

// unspread undoes spread.
func (rt *Runtime) unspread(x uint64) int64 {
	x ^= x>>29 ^ x>>58
	x *= inverse(0x9e3779b97f4a7c15)
	x ^= x >> 32
	return int64(x*inverse(rt.hashKey[1]|1) ^ rt.hashKey[0])
}

// inverse is the inverse of an odd number modulo 2^64, by Newton's steps.
func inverse(n uint64) uint64 {
	x := n
	for range 5 {
		x *= 2 - n*x
	}
	return x
}
