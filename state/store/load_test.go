package store

import (
	"encoding/binary"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/state"
)

// TestOpenWithLargeStorages opens a state with storages of fewer entries than are
// handed over at once, of as many, of more: Open finds their root, sizes are as
// they were, and the next block gets the root that it would have got without
// closing.
func TestOpenWithLargeStorages(t *testing.T) {
	fs := vfs.NewMem()
	s := openWithGenesis(t, fs)
	d := state.NewDelta()
	for i, n := range []int{loadSlots - 1, 3, loadSlots, loadSlots + 3} {
		for k := range n {
			d.SetStorage(testAddr(i), state.NewStorageKey(1, binary.BigEndian.AppendUint32(nil, uint32(k))), []byte{byte(k), byte(i), 1})
		}
	}
	v, err := s.Head().Apply(d)
	check(t, err)
	check(t, s.Commit(v, testRecord(1, 0)))
	next := state.NewDelta()
	for i := range 4 {
		next.SetStorage(testAddr(i), state.NewStorageKey(1, []byte{0, 0, 0, 1}), nil)
		next.SetStorage(testAddr(i), state.NewStorageKey(1, []byte{7}), []byte{7})
	}
	want, err := s.Head().Apply(next)
	check(t, err)
	before := make([]state.Account, 4)
	for i := range before {
		before[i], _, err = s.Head().Account(testAddr(i))
		check(t, err)
	}
	check(t, s.Close())
	s = openTest(t, fs)
	defer s.Close()
	for i := range before {
		a, _, err := s.Head().Account(testAddr(i))
		check(t, err)
		if a.StorageSize != before[i].StorageSize || a.StorageRoot != before[i].StorageRoot {
			t.Errorf("account %d has storage %+v under %s, had %+v under %s", i, a.StorageSize, a.StorageRoot, before[i].StorageSize, before[i].StorageRoot)
		}
	}
	got, err := s.Head().Apply(next)
	check(t, err)
	if got.Root() != want.Root() {
		t.Errorf("root %s after opening, %s before", got.Root(), want.Root())
	}
}
