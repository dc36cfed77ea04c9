package store

import (
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// TestPagesPassRemovedRowsOnce: a page of a storage goes over marks of removed rows once,
// those behind its last row too, and ends with its reader.
func TestPagesPassRemovedRowsOnce(t *testing.T) {
	const slots = 3000
	opts := testOptions(vfs.NewMem())
	opts.MemTableBytes = 16 << 20 // nothing is flushed, so no compaction takes the marks away before
	e := newEvictor(t, opts)
	defer func() { check(t, e.s.Close()) }()
	e.fill(slots, 1)
	e.block(nil, func(o *state.Overlay) {
		for i := range slots {
			if i != 0 && i != slots/2 {
				o.SetStorage(evicted, numbered(i), nil)
			}
		}
	})
	x, err := e.s.Export()
	check(t, err)
	defer func() { check(t, x.Close()) }()
	owner := tree.AccountKey(evicted)
	passes := func(from, to state.StorageKey) {
		t.Helper()
		if got := e.s.removals.pass(e.s.Head().height, owner, from); got != to {
			t.Errorf("from %q on it goes to %q, want %q", from, got, to)
		}
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if err := x.StorageFrom(left, owner, numbered(0), func(state.StorageKey, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	passes(numbered(1), numbered(1))
	for range 2 { // as the first time, so the second
		var got []state.StorageKey
		check(t, x.StorageFrom(t.Context(), owner, numbered(1), func(key state.StorageKey, _ []byte) error {
			got = append(got, key)
			return nil
		}))
		if len(got) != 1 || got[0] != numbered(slots/2) {
			t.Errorf("%q, want %q", got, numbered(slots/2))
		}
		passes(numbered(1), numbered(slots/2))
		passes(numbered(slots/2+1), behindAll)
	}
}
