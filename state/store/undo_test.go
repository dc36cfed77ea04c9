package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestUndoWindow reads every place of a workload at heights inside and outside
// of the window, with other windows after reopening, and counts the records that
// are left.
func TestUndoWindow(t *testing.T) {
	fs, rng := vfs.NewMem(), rand.New(rand.NewPCG(13, 13))
	open := func(window int) *Store {
		o := testOptions(fs)
		o.UndoBlocks = window
		s, err := Open("data", o)
		check(t, err)
		check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
		return s
	}
	s := open(20)
	var c chainOf
	c.start(t, s)
	commit := func(n int) {
		for range n {
			v, rec, err := c.prepare(rng, s.Head())
			check(t, err)
			check(t, s.Commit(v, rec))
		}
	}
	readable := func(first int) {
		t.Helper()
		head, _ := s.HeadInfo()
		for h := range c.flats {
			got, err := readFlat(pastView{s, chain.Height(h)})
			if h < first && !errors.Is(err, ErrNoHistory) {
				t.Fatalf("head %d: height %d is below the window: %v", head, h, err)
			} else if h >= first && (err != nil || !reflect.DeepEqual(got, c.flats[h])) {
				t.Fatalf("head %d: height %d reads differently: %v", head, h, err)
			}
		}
		records := map[string]bool{}
		it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{tableUndo}, UpperBound: []byte{tableUndo + 1}})
		check(t, err)
		for it.First(); it.Valid(); it.Next() {
			records[string(it.Key()[:undoKeyLen])] = true
		}
		check(t, it.Close())
		if len(records) != int(head)-first {
			t.Errorf("head %d: %d undo records, %d heights can be read", head, len(records), int(head)-first)
		}
	}
	commit(15)
	readable(0)
	commit(30)
	readable(25)
	check(t, s.Close())
	s = open(5) // shorter from the next block on
	readable(25)
	commit(1)
	readable(41)
	check(t, s.Close())
	s = open(40)
	commit(10)
	readable(41)
	check(t, s.Close())
	s = open(0)
	commit(1)
	readable(57)
	check(t, s.Close())
	s = open(3)
	commit(2)
	readable(57)
	check(t, s.Close())
}

// TestUndoOfClearedStorage deletes an actor with storage, and makes it anew in
// the same block with some of its slots, more of them than one stretch holds.
func TestUndoOfClearedStorage(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	defer s.Close()
	slot := func(i int) state.StorageKey { return state.NewStorageKey(0, []byte(fmt.Sprintf("slot %03d", i))) }
	commit := func(d *state.Delta) {
		v, err := s.Head().Apply(d)
		check(t, err)
		check(t, s.Commit(v, testRecord(v.Height(), 0)))
	}
	actor := testAddr(3)
	d := state.NewDelta()
	d.SetAccount(actor, state.Account{Nonce: 1, CodeHash: d.SetCode([]byte("code")), Meta: []byte{1, 2}})
	for i := range 200 {
		if i%3 != 0 {
			d.SetStorage(actor, slot(i), bytes.Repeat([]byte{byte(i)}, 60))
		}
	}
	commit(d)
	d = state.NewDelta()
	d.DeleteAccount(actor)
	commit(d)
	d = state.NewDelta()
	d.SetAccount(actor, state.Account{Nonce: 9})
	for i := range 200 {
		d.SetStorage(actor, slot(i), []byte{1})
	}
	commit(d)
	d = state.NewDelta()
	d.DeleteAccount(actor)
	d.SetAccount(actor, state.Account{Nonce: 2})
	for i := range 200 {
		if i%2 == 0 {
			d.SetStorage(actor, slot(i), []byte{2})
		}
	}
	commit(d)
	for h, want := range map[chain.Height]func(i int) int{
		0: func(int) int { return 0 },
		1: func(i int) int { return 60 * min(1, i%3) },
		2: func(int) int { return 0 },
		3: func(int) int { return 1 },
		4: func(i int) int { return 1 - i%2 },
	} {
		for i := range 200 {
			value, err := s.StorageAt(t.Context(), h, actor, slot(i), free)
			if err != nil || len(value) != want(i) {
				t.Errorf("slot %d at height %d has %d bytes, want %d: %v", i, h, len(value), want(i), err)
			}
		}
	}
	a, ok, err := s.AccountAt(t.Context(), 1, actor, free)
	if err != nil || !ok || a.Nonce != 1 || !a.HasCode() || !a.HasStorage() || !bytes.Equal(a.Meta, []byte{1, 2}) {
		t.Errorf("account at height 1: %+v, %v, %v", a, ok, err)
	}
}

func FuzzReadStretch(f *testing.F) {
	u := undo{}
	for i := range 5 {
		u.key, u.value = fmt.Appendf(u.key[:0], "key %d", i*7), bytes.Repeat([]byte{1}, i)
		if u.add(i != 2) != nil {
			f.Fatal("stretch")
		}
	}
	f.Add(u.stretch)
	f.Add([]byte{0, 1, 'k', 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		total := 0
		err := readStretch(b, func(key, value []byte) bool { total += len(value); return true })
		if err != nil && !errors.Is(err, ErrCorrupt) || total > len(b) {
			t.Fatalf("%d bytes of values in %d: %v", total, len(b), err)
		}
	})
}

func FuzzReadSlim(f *testing.F) {
	a := state.NewAccount()
	f.Add(appendSlim(nil, &a))
	a.StorageRoot, a.CodeHash, a.Meta, a.Nonce, a.Balance = chain.Hash{1}, chain.Hash{2}, []byte{3}, 300, 1<<63
	f.Add(appendSlim(nil, &a))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := readSlim(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		again, err := readSlim(appendSlim(nil, &a))
		if err != nil || !reflect.DeepEqual(a, again) {
			t.Fatalf("%+v reads back as %+v, %v", a, again, err)
		}
	})
}
