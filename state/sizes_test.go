package state

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// lookups counts the slots that are read below an overlay.
type lookups struct {
	View
	slots int
}

func (l *lookups) Storage(addr chain.Address, key StorageKey) ([]byte, error) {
	l.slots++
	return l.View.Storage(addr, key)
}

// TestSizesOfSlotsThatWereReadAreKnown: what a slot was that was read before it was written
// is not looked up again, whatever was written between without having been read, also behind
// writes that were taken back and in an overlay that takes the writes of another.
func TestSizesOfSlotsThatWereReadAreKnown(t *testing.T) {
	addr, key := chain.Address{1}, func(i byte) StorageKey { return StorageKey([]byte{1, i}) }
	model := newNaive()
	for i := range byte(6) {
		model.setStorage(addr, key(i), make([]byte, i))
	}
	below := &lookups{View: model}
	base := NewOverlay(below)
	o := NewOverlay(base)
	write := func(i byte, value []byte, read bool) {
		if read {
			_, err := o.Storage(addr, key(i))
			check(t, err)
		}
		o.SetStorage(addr, key(i), value)
	}
	o.SetStorage(addr, key(0), nil) // taken back
	o.Revert(0)
	write(0, nil, false)
	write(1, []byte("longer than it was"), true)
	write(2, nil, false)
	mark := o.Snapshot()
	_, err := o.Storage(addr, key(3))
	check(t, err)
	o.SetStorage(addr, key(3), []byte("taken back"))
	o.Revert(mark)
	write(3, nil, true)
	write(9, []byte{1}, true) // was not there
	grown := func(o *Overlay, looks int) {
		t.Helper()
		below.slots = 0
		g, err := o.Growth()
		check(t, err)
		want := StorageSize{}.Sub(SizeOf(key(0), nil)).Sub(SizeOf(key(2), make([]byte, 2))).Sub(SizeOf(key(3), make([]byte, 3))).
			Sub(SizeOf(key(1), make([]byte, 1))).Add(SizeOf(key(1), []byte("longer than it was"))).Add(SizeOf(key(9), []byte{1}))
		if g.Storage != want || below.slots != looks {
			t.Errorf("grown by %+v with %d lookups, want %+v with %d", g.Storage, below.slots, want, looks)
		}
	}
	grown(o, 2)
	grown(o, 0)
	check(t, base.Absorb(o))
	grown(base, 0)
}
