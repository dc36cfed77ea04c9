package store

import (
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// grownBy is a store of so many blocks that write one account, and keep one way or other what
// was before them.
func grownBy(t *testing.T, blocks int, keep func(o *Options)) *Store {
	t.Helper()
	o := testOptions(vfs.NewMem())
	keep(&o)
	s, err := Open("data", o)
	check(t, err)
	check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
	for n := range blocks {
		d := state.NewDelta()
		d.SetAccount(testAddr(1), state.Account{Nonce: uint64(n) + 100})
		v, err := s.Head().Apply(d)
		check(t, err)
		check(t, s.Commit(v, testRecord(v.Height(), 0)))
	}
	return s
}

// TestReadsOfThePastArePaidBefore: who reads at an old height is told how many undo records
// that takes before they are read, and nothing where there is a history.
func TestReadsOfThePastArePaidBefore(t *testing.T) {
	const blocks = 200
	undo := grownBy(t, blocks, func(o *Options) { o.UndoBlocks = 2 * blocks })
	defer func() { check(t, undo.Close()) }()
	history := grownBy(t, blocks, func(o *Options) { o.UndoBlocks, o.History = 0, true })
	defer func() { check(t, history.Close()) }()
	for _, tt := range []struct {
		s    *Store
		at   chain.Height
		want int // -1: not told
	}{{undo, 0, blocks}, {undo, 150, 50}, {undo, blocks, -1}, {history, 0, -1}, {history, blocks, -1}} {
		paid := -1
		pay := func(n int) error {
			paid = n
			return nil
		}
		if _, _, err := tt.s.AccountAt(t.Context(), tt.at, testAddr(2), pay); err != nil || paid != tt.want {
			t.Errorf("account at %d: told of %d records, want %d: %v", tt.at, paid, tt.want, err)
		}
		paid = -1
		if _, err := tt.s.StorageAt(t.Context(), tt.at, testAddr(2), "key", pay); err != nil || paid != tt.want {
			t.Errorf("storage at %d: told of %d records, want %d: %v", tt.at, paid, tt.want, err)
		}
	}
	poor := errors.New("nothing left")
	looks := &countedContext{Context: t.Context(), most: 1 << 20}
	if _, _, err := undo.AccountAt(looks, 0, testAddr(2), func(int) error { return poor }); !errors.Is(err, poor) || looks.asked > 0 {
		t.Errorf("%d looks at records for who cannot pay: %v", looks.asked, err)
	}
}

// countedContext counts how often it is asked, and ends then.
type countedContext struct {
	context.Context
	asked, most int
}

func (c *countedContext) Err() error {
	if c.asked++; c.asked > c.most {
		return context.Canceled
	}
	return nil
}

// TestReadsOfThePastEndWithTheirReader: a look at many undo records asks again and again
// whether the reader is there, and ends within so many records when he is not.
func TestReadsOfThePastEndWithTheirReader(t *testing.T) {
	const blocks = 200
	s := grownBy(t, blocks, func(o *Options) { o.UndoBlocks = 2 * blocks })
	defer func() { check(t, s.Close()) }()
	const looks = (blocks + undoneAtOnce - 1) / undoneAtOnce
	whole := &countedContext{Context: t.Context(), most: looks}
	if _, _, err := s.AccountAt(whole, 0, testAddr(2), free); err != nil || whole.asked != looks {
		t.Errorf("asked %d times, want %d: %v", whole.asked, looks, err)
	}
	for most := range looks {
		left := &countedContext{Context: t.Context(), most: most}
		if _, _, err := s.AccountAt(left, 0, testAddr(2), free); !errors.Is(err, context.Canceled) || left.asked != most+1 {
			t.Errorf("who left at the look %d: asked %d times, %v", most, left.asked, err)
		}
	}
	first := &countedContext{Context: t.Context(), most: 1} // it stands in the first record above
	if a, ok, err := s.AccountAt(first, 5, testAddr(1), free); err != nil || !ok || a.Nonce != 104 {
		t.Errorf("account at 5: %+v, %v, %v", a, ok, err)
	}
}
