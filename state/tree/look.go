package tree

import (
	"runtime"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// The readers below hold no lock. The image must stay in use until they return, and
// runtime.KeepAlive keeps the forest's memory, which may be the operating system's, from
// being unmapped while a slice of it is read.

// Account returns the account under the given key, and whether it exists; one
// that does not is state.NewAccount().
func (f *Forest) Account(im *Image, key chain.Hash) (state.Account, bool) {
	defer runtime.KeepAlive(f)
	leaf := f.find(im.top, &key)
	if leaf == 0 {
		return state.NewAccount(), false
	}
	a := readResident(leafPayload(f.at(leaf)))
	return a.account(), true
}

// Storage returns a copy of the value under a slot's key in the storage of an
// account, and whether there is one.
func (f *Forest) Storage(im *Image, account, slot chain.Hash) ([]byte, bool) {
	defer runtime.KeepAlive(f)
	leaf := f.find(im.top, &account)
	if leaf == 0 {
		return nil, false
	}
	if leaf = f.find(storageOf(leafPayload(f.at(leaf))), &slot); leaf == 0 {
		return nil, false
	}
	return append([]byte{}, leafPayload(f.at(leaf))...), true
}

// ProveAccount returns the nodes from the state root to an account or the place
// where it would be, as [Prove] does.
func (f *Forest) ProveAccount(im *Image, key chain.Hash) [][]byte {
	return f.prove(im.top, (*key32)(&key))
}

// ProveStorage returns the nodes from the account's storage root to a slot or
// the place where it would be. Without account the proof is empty.
func (f *Forest) ProveStorage(im *Image, account, slot chain.Hash) [][]byte {
	defer runtime.KeepAlive(f)
	leaf := f.find(im.top, &account)
	if leaf == 0 {
		return nil
	}
	return f.prove(storageOf(leafPayload(f.at(leaf))), (*key32)(&slot))
}

// prove encodes the nodes on the way to key. Those that stand inside their
// parent are not listed.
func (f *Forest) prove(root ref40, key *key32) (proof [][]byte) {
	defer runtime.KeepAlive(f)
	list := func(enc []byte, depth int) {
		if len(enc) >= hashedMin || depth == 0 {
			proof = append(proof, enc)
		}
	}
	depth := 0
	for r := root; r != 0; {
		b := f.at(r)
		if b[0] == kindLeaf {
			enc, _ := appendLeaf(nil, nil, b, depth)
			list(enc, depth)
			return proof
		}
		v := asBranch(b)
		enc := appendBranch(nil, v)
		if v.depth() > depth {
			l := link{n: linkBytes, b: keccak.Sum256(enc)}
			if len(enc) < hashedMin {
				l.n = uint8(copy(l.b[:], enc))
			}
			list(appendExtension(nil, v, depth, &l), depth)
			if sharedNibbles(key[:], v.key(), v.depth()) < v.depth() {
				return proof
			}
		}
		list(enc, v.depth())
		r = v.child(nibble(key[:], v.depth()))
		depth = v.depth() + 1
	}
	return proof
}
