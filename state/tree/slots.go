package tree

import (
	"runtime"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Slots is the storage of one account in one image, for many reads.
type Slots struct {
	forest *Forest
	root   ref40
}

// Slots returns the storage of an account; without account it is empty.
func (f *Forest) Slots(im *Image, account chain.Hash) Slots {
	defer runtime.KeepAlive(f)
	s := Slots{forest: f}
	if leaf := f.find(im.top, &account); leaf != 0 {
		s.root = storageOf(leafPayload(f.at(leaf)))
	}
	return s
}

// Empty says whether there is no value at all.
func (s Slots) Empty() bool { return s.root == 0 }

// Append appends the value under a slot's key to dst and says whether there is
// one.
func (s Slots) Append(dst []byte, slot chain.Hash) ([]byte, bool) {
	defer runtime.KeepAlive(s.forest)
	leaf := s.forest.find(s.root, &slot)
	if leaf == 0 {
		return dst, false
	}
	return append(dst, leafPayload(s.forest.at(leaf))...), true
}
