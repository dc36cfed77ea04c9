package state

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Delta is a set of writes, ordered by address and key when it is read. The
// last write to a place wins. The zero value is not usable; see [NewDelta].
//
// A Delta copies what it is given and is not safe for concurrent use while it
// is written.
type Delta struct {
	accounts map[chain.Address]*writes
	order    []*writes // as they came; in memory they lie likewise
	slab     []writes  // of which the next are taken
	codes    map[chain.Hash][]byte
}

// writes are the changes of one address.
type writes struct {
	addr    chain.Address
	dropped bool               // replaced or taken back: no longer among the accounts
	account *Account           // as last set; nil if the account's own fields are not written
	room    Account            // where it stands, unless it was taken from another overlay
	credit  chain.Wei          // to add to a balance that was not read; 0 once account is set
	cleared bool               // account and storage were dropped before the rest of the writes
	places  map[StorageKey]int // in slots
	slots   []StorageChange    // as they came

	// What is known of the slots: what they were in the parent, and what those of them of
	// which that is known together add to its size. All of the first weighed are known; a
	// slot behind the end of were is not.
	were    []was
	weighed int
	grown   StorageSize

	before existence // of the account in the parent
	below  rooted    // what the parent says of the storage

	// The look of Overlay.EachGrown that has last met the account, and each of the
	// first slots. They are of the overlay that the writes were made in.
	looked      uint64
	slotsLooked []uint64

	walk *walk // of Overlay.Scan; nil until the first
}

// AccountChange is everything a Delta says about one address. It is applied in
// this order: Cleared, Account, Storage.
type AccountChange struct {
	Address chain.Address
	Cleared bool     // drop the account and all of its storage first
	Account *Account // new fields, of which those of the storage are meaningless; nil leaves them as they are
	Storage []StorageChange
}

// StorageChange is one storage write.
type StorageChange struct {
	Key   StorageKey
	Value []byte // nil removes the key
}

// CodeChange is code that became known.
type CodeChange struct {
	Hash chain.Hash
	Code []byte
}

// NewDelta returns an empty set of writes.
func NewDelta() *Delta {
	return &Delta{accounts: map[chain.Address]*writes{}, codes: map[chain.Hash][]byte{}}
}

// SetAccount sets the fields of an account, except StorageRoot and StorageSize,
// which follow from the storage. Setting nonce 0, balance 0, no code and no metadata removes
// an account that has no storage.
func (d *Delta) SetAccount(addr chain.Address, a Account) {
	a = normal(a)
	d.at(addr).setAccount(&a)
}

func (w *writes) setAccount(a *Account) {
	w.room = *a
	w.account = &w.room
}

// DeleteAccount removes an account with all of its storage. Later writes to
// the same address start from nothing.
func (d *Delta) DeleteAccount(addr chain.Address) {
	if old := d.accounts[addr]; old != nil {
		old.dropped = true
	}
	w := d.next()
	w.addr, w.cleared = addr, true
	d.put(w)
}

// SetStorage sets a storage value, or removes it if value is nil.
func (d *Delta) SetStorage(addr chain.Address, key StorageKey, value []byte) {
	d.at(addr).set(key, bytes.Clone(value))
}

// was is what a slot was in the parent, if that is known.
type was struct {
	size  StorageSize
	known bool
}

// setWas tells the slot at a place, of which it is not known yet, what it was.
func (w *writes) setWas(at int, size StorageSize) {
	if n := at + 1 - len(w.were); n > 0 {
		w.were = append(w.were, make([]was, n)...)
	}
	w.were[at] = was{size, true}
	w.grown = w.grown.Add(sizeOf(w.slots[at].Key, w.slots[at].Value)).Sub(size)
}

// slot returns what is written under a storage key, and whether anything is.
func (w *writes) slot(key StorageKey) (value []byte, ok bool) {
	i, ok := w.places[key]
	if !ok {
		return nil, false
	}
	return w.slots[i].Value, true
}

func (w *writes) set(key StorageKey, value []byte) {
	if w.walk != nil {
		w.walk.wrote(key, value)
	}
	if i, ok := w.places[key]; ok {
		if i < len(w.were) && w.were[i].known {
			w.grown = w.grown.Add(sizeOf(key, value)).Sub(sizeOf(key, w.slots[i].Value))
		}
		w.slots[i].Value = value
		return
	}
	if w.places == nil {
		w.places = map[StorageKey]int{}
	}
	w.places[key] = len(w.slots)
	w.slots = append(w.slots, StorageChange{Key: key, Value: value})
}

// unset takes back the newest key that is written.
func (w *writes) unset(key StorageKey) {
	last := len(w.slots) - 1
	if len(w.were) > last {
		if was := &w.were[last]; was.known {
			w.grown = w.grown.Sub(sizeOf(key, w.slots[last].Value)).Add(was.size)
		}
		w.were = w.were[:last]
	}
	w.weighed = min(w.weighed, last)
	if w.walk != nil {
		w.walk.unwrote(key)
	}
	delete(w.places, key)
	w.slots[last] = StorageChange{}
	w.slots = w.slots[:last]
}

// sizeOf is SizeOf, but for nil, which is no entry.
func sizeOf(key StorageKey, value []byte) StorageSize {
	if value == nil {
		return StorageSize{}
	}
	return SizeOf(key, value)
}

// SetCode stores code under its hash, which it returns for the account that
// runs it. Code is never removed: its hash says all about it.
func (d *Delta) SetCode(code []byte) chain.Hash {
	hash := chain.Hash(keccak.Sum256(code))
	if len(code) != 0 {
		d.codes[hash] = bytes.Clone(code)
	}
	return hash
}

// Change returns everything that the Delta says about one address, in one step
// however much that is: shared with the Delta, keys in the order of their first
// writes. It is false if nothing is said.
func (d *Delta) Change(addr chain.Address) (AccountChange, bool) {
	w := d.accounts[addr]
	if w == nil {
		return AccountChange{}, false
	}
	return AccountChange{Address: w.addr, Cleared: w.cleared, Account: w.account, Storage: w.slots}, true
}

// Empty reports whether nothing was written.
func (d *Delta) Empty() bool { return len(d.accounts) == 0 && len(d.codes) == 0 }

// Bytes is about what the writes take in memory: what they say, and what Go adds.
func (d *Delta) Bytes() int {
	const account, slot = 512, 128
	n := 0
	for _, w := range d.order {
		n += account
		for i := range w.slots {
			n += slot + len(w.slots[i].Key) + len(w.slots[i].Value)
		}
	}
	for _, code := range d.codes { // a sum: in any order
		n += slot + len(code)
	}
	return n
}

func (d *Delta) at(addr chain.Address) *writes {
	w := d.accounts[addr]
	if w == nil {
		w = d.next()
		w.addr = addr
		d.put(w)
	}
	return w
}

// slabMost is how many writes are made at once at most.
const slabMost = 64

// next returns room for the writes of an address.
func (d *Delta) next() *writes {
	if len(d.slab) == cap(d.slab) {
		d.slab = make([]writes, 0, min(max(4, len(d.order)), slabMost))
	}
	d.slab = d.slab[:len(d.slab)+1]
	return &d.slab[len(d.slab)-1]
}

func (d *Delta) reset() {
	clear(d.accounts)
	clear(d.codes)
	clear(d.order)
	d.order = d.order[:0]
}

func (d *Delta) put(w *writes) {
	d.accounts[w.addr] = w
	d.order = append(d.order, w)
}

// Accounts returns the changed accounts in ascending order of address, each
// with its storage writes in ascending order of key. The values are shared with
// the Delta and must not be changed.
func (d *Delta) Accounts() []AccountChange {
	changes := d.AppendChanges(make([]AccountChange, 0, len(d.accounts)))
	slices.SortFunc(changes, func(a, b AccountChange) int { return bytes.Compare(a.Address[:], b.Address[:]) })
	for i := range changes {
		slices.SortFunc(changes[i].Storage, func(a, b StorageChange) int { return cmp.Compare(a.Key, b.Key) })
	}
	return changes
}

// Codes returns the code written, in ascending order of hash, shared as in
// [Delta.Accounts].
func (d *Delta) Codes() []CodeChange {
	changes := make([]CodeChange, 0, len(d.codes))
	for hash, code := range d.codes {
		changes = append(changes, CodeChange{Hash: hash, Code: code})
	}
	slices.SortFunc(changes, func(a, b CodeChange) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
	return changes
}

// AppendChanges appends the changed accounts to list, each with its storage
// writes, the values shared as in [Delta.Accounts]. Accounts and keys are in the
// order of their first writes: it is for callers that sort them by their hashes.
func (d *Delta) AppendChanges(list []AccountChange) []AccountChange {
	for _, w := range d.order {
		if !w.dropped {
			list = append(list, AccountChange{Address: w.addr, Cleared: w.cleared, Account: w.account, Storage: slices.Clone(w.slots)})
		}
	}
	return list
}
