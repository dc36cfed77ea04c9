package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/blocklog"
	"github.com/cowboy-foundation/cowboy/state/rent"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

func numbered(i int) state.StorageKey {
	return state.NewStorageKey(state.VMNamespacePVM, fmt.Appendf(nil, "slot %06d", i))
}

// rowsOf counts the rows of a table whose keys go on with rest.
func rowsOf(t *testing.T, s *Store, table byte, rest []byte) (n int) {
	t.Helper()
	prefix := append([]byte{table}, rest...)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	check(t, err)
	for it.First(); it.Valid(); it.Next() {
		n++
	}
	check(t, it.Close())
	return n
}

// evictor is a store whose blocks evict and restore one actor.
type evictor struct {
	t       *testing.T
	s       *Store
	opts    Options
	content []map[state.StorageKey]string // of the actor, by height
}

var evicted = testAddr(77)

func newEvictor(t *testing.T, o Options) *evictor {
	e := &evictor{t: t, opts: o, content: []map[state.StorageKey]string{nil}}
	e.open()
	return e
}

func (e *evictor) open() {
	s, err := Open("data", e.opts)
	check(e.t, err)
	check(e.t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
	e.s = s
}

func (e *evictor) reopen(o Options) {
	check(e.t, e.s.Close())
	e.opts = o
	e.open()
}

// block commits what do writes, after which the actor has the content.
func (e *evictor) block(content map[state.StorageKey]string, do func(o *state.Overlay)) {
	e.t.Helper()
	o := state.NewOverlay(e.s.Head())
	do(o)
	v, err := e.s.Head().Apply(o.Delta())
	check(e.t, err)
	check(e.t, e.s.Commit(v, testRecord(v.Height(), 0)))
	e.content = append(e.content, content)
}

func (e *evictor) fill(slots int, value byte) map[state.StorageKey]string {
	content := map[state.StorageKey]string{}
	e.block(content, func(o *state.Overlay) {
		a, _, err := o.Account(evicted)
		check(e.t, err)
		a.Nonce++
		o.SetAccount(evicted, a)
		for i := range slots {
			content[numbered(i)] = string(bytes.Repeat([]byte{value}, 1+i%50))
			o.SetStorage(evicted, numbered(i), []byte(content[numbered(i)]))
		}
	})
	return content
}

func (e *evictor) evict() {
	e.block(nil, func(o *state.Overlay) {
		_, err := rent.Evict(o, evicted)
		check(e.t, err)
	})
}

func (e *evictor) idle(n int) {
	last := e.content[len(e.content)-1]
	for range n {
		e.block(last, func(*state.Overlay) {})
	}
}

// restore puts the content back with the means of package rent, in three blocks.
func (e *evictor) restore(content map[state.StorageKey]string) {
	session := func() rent.Session {
		return rent.Session{Actor: evicted, By: testAddr(1), Height: e.s.Head().Height() + 1}
	}
	e.block(nil, func(o *state.Overlay) { check(e.t, rent.Begin(o, session(), session().Height+10)) })
	var entries []state.StorageChange
	for key, value := range content {
		entries = append(entries, state.StorageChange{Key: key, Value: []byte(value)})
	}
	slices.SortFunc(entries, func(a, b state.StorageChange) int {
		x, y := tree.SlotKey(a.Key), tree.SlotKey(b.Key)
		return bytes.Compare(x[:], y[:])
	})
	e.block(content, func(o *state.Overlay) { check(e.t, rent.Put(o, session(), entries)) })
	e.block(content, func(o *state.Overlay) {
		check(e.t, rent.Commit(o, session()))
	})
}

// holds compares every height from first on with what was written.
func (e *evictor) holds(first chain.Height, slots int) {
	e.t.Helper()
	for h := first; int(h) < len(e.content); h++ {
		for i := 0; i < slots; i += 1 + slots/40 {
			got, err := e.s.StorageAt(context.Background(), h, evicted, numbered(i), free)
			want, ok := e.content[h][numbered(i)]
			if err != nil || string(got) != want || ok != (got != nil) {
				e.t.Fatalf("slot %d at height %d: %q, want %q: %v", i, h, got, want, err)
			}
		}
	}
	if _, err := e.s.VerifyHead(context.Background()); err != nil {
		e.t.Fatal(err)
	}
}

// TestClearedStorageStaysReadable evicts an actor, restores it and evicts it
// again, and reads every height that the undo records cover; when they cover the
// evictions no more, nothing of the old rows is left, and one mark.
func TestClearedStorageStaysReadable(t *testing.T) {
	const slots = 300
	o := testOptions(vfs.NewMem())
	o.UndoBlocks = 16
	e := newEvictor(t, o)
	content := e.fill(slots, 1) // 1
	e.evict()                   // 2
	e.holds(0, slots)
	e.reopen(o)
	e.holds(0, slots)
	e.restore(content) // 3, 4, 5
	e.holds(0, slots)
	owner := tree.AccountKey(evicted)
	if n := rowsOf(t, e.s, tableStorage, owner[:]); n != 2*slots {
		t.Errorf("%d rows while the undo records reach back, want both eras' %d", n, 2*slots)
	}
	e.evict() // 6
	e.fill(slots/3, 2)
	e.reopen(o)
	e.holds(0, slots)
	if n := rowsOf(t, e.s, tableEras, owner[:]); n != 2 {
		t.Errorf("%d marks of two evictions", n)
	}
	e.idle(14) // up to 21: the eviction at 2 leaves the window
	e.holds(6, slots)
	if n := rowsOf(t, e.s, tableStorage, owner[:]); n != slots+slots/3 {
		t.Errorf("%d rows, want %d without the first era", n, slots+slots/3)
	}
	e.reopen(o)
	e.idle(10)
	e.reopen(o)
	e.holds(20, slots)
	if rows, marks := rowsOf(t, e.s, tableStorage, owner[:]), rowsOf(t, e.s, tableEras, owner[:]); rows != slots/3 || marks != 1 {
		t.Errorf("%d rows and %d marks in the end, want %d and 1", rows, marks, slots/3)
	}
	if n := len(e.s.eras.over); n != 0 {
		t.Errorf("%d eras are still to be dropped", n)
	}
	check(t, e.s.Close())
}

// TestClearedStorageWithoutUndo drops the rows with the block that clears them.
func TestClearedStorageWithoutUndo(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.UndoBlocks = 0
	e := newEvictor(t, o)
	content := e.fill(100, 1)
	e.evict()
	if n := rowsOf(t, e.s, tableStorage, nil); n != 0 {
		t.Errorf("%d rows after the eviction", n)
	}
	e.restore(content)
	e.evict()
	e.restore(content)
	e.reopen(o)
	e.holds(chain.Height(len(e.content)-1), 100)
	if rows, marks := rowsOf(t, e.s, tableStorage, nil), rowsOf(t, e.s, tableEras, nil); rows != 100 || marks != 1 {
		t.Errorf("%d rows, %d marks, want 100 and 1", rows, marks)
	}
	check(t, e.s.Close())
}

// TestArchiveAcrossEvictions reads every height on an archive, and finds the old
// rows gone when it is one no more.
func TestArchiveAcrossEvictions(t *testing.T) {
	const slots = 200
	o := testOptions(vfs.NewMem())
	o.History, o.UndoBlocks = true, 4
	e := newEvictor(t, o)
	content := maps.Clone(e.fill(slots, 1))
	maps.Copy(content, e.fill(slots/2, 2))
	e.content[2] = content
	e.evict()
	e.idle(30)
	e.restore(content)
	e.evict()
	e.fill(10, 9)
	e.idle(20)
	e.holds(0, slots)
	e.reopen(o)
	e.holds(0, slots)
	x, err := e.s.Export()
	check(t, err)
	n := 0
	check(t, x.Storage(tree.AccountKey(evicted), func(state.StorageKey, []byte) error { n++; return nil }))
	check(t, x.Close())
	if n != 10 {
		t.Errorf("an export has %d storage values, want 10", n)
	}
	o.History, o.EndHistory = false, true
	e.reopen(o)
	e.idle(1)
	if rows, marks := rowsOf(t, e.s, tableStorage, nil), rowsOf(t, e.s, tableEras, nil); rows != 10 || marks != 1 {
		t.Errorf("%d rows and %d marks behind the end of the history, want 10 and 1", rows, marks)
	}
	check(t, e.s.Close())
}

// TestEvictionTakesAsMuchWhateverTheSize compares the batches of blocks that
// evict little and much, with undo records and history.
func TestEvictionTakesAsMuchWhateverTheSize(t *testing.T) {
	size := func(slots int) (n int, rows uint32) {
		o := testOptions(vfs.NewMem())
		o.History = true
		e := newEvictor(t, o)
		defer func() { check(t, e.s.Close()) }()
		e.fill(slots, 1)
		over := state.NewOverlay(e.s.Head())
		_, err := rent.Evict(over, evicted)
		check(t, err)
		v, err := e.s.Head().Apply(over.Delta())
		check(t, err)
		b := e.s.db.NewBatch()
		_, err = e.s.fill(b, v, chain.Hash{2}, nil, func(*pebble.Batch, blocklog.Place) error { return nil })
		check(t, err)
		n, rows = b.Len(), b.Count()
		check(t, b.Close())
		return n, rows
	}
	little, rows := size(1)
	much, same := size(5000)
	// Numbers of the sizes themselves take some bytes more.
	if rows != same || much-little > 32 {
		t.Errorf("evicting 1 value takes %d rows in %d bytes, 5000 take %d in %d", rows, little, same, much)
	}
}

// TestDamagedEras refuses rows that no eviction leaves.
func TestDamagedEras(t *testing.T) {
	owner := tree.AccountKey(evicted)
	f := func(name string, key, value []byte) {
		t.Run(name, func(t *testing.T) {
			e := newEvictor(t, testOptions(vfs.NewMem()))
			e.fill(5, 1)
			check(t, e.s.db.Set(key, value, pebble.Sync))
			if _, err := e.s.VerifyHead(context.Background()); err == nil {
				t.Error("the head is verified")
			}
			check(t, e.s.Close())
			if s, err := Open("data", e.opts); err == nil {
				t.Error("the store opens")
				check(t, s.Close())
			}
		})
	}
	f("row of an era that has not begun", storageKey(owner, 3, numbered(1)), []byte{1})
	f("mark that makes all rows old", eraKey(owner, 9), []byte{eraAfterRows})
	f("short mark", hashKey(tableEras, owner), []byte{eraAlone})
	f("row without an era", hashKey(tableStorage, owner), []byte{1})
	f("era in a longer form", append(hashKey(tableStorage, owner), 2, 0, 1, 5), []byte{1})
	f("row without an owner", []byte{tableStorage, 1, 2}, []byte{1})
}

func FuzzEra(f *testing.F) {
	f.Add(uint64(0), []byte{0})
	f.Add(uint64(255), []byte{1, 255, 7})
	f.Add(uint64(1<<40), []byte{9})
	f.Fuzz(func(t *testing.T, n uint64, b []byte) {
		era := chain.Height(n)
		got, rest, ok := readEra(append(appendEra(nil, era), b...))
		if !ok || got != era || !bytes.Equal(rest, b) {
			t.Fatalf("%d reads as %d with %x, %v", n, got, rest, ok)
		}
		other, rest, ok := readEra(b)
		if !ok {
			return
		}
		form := appendEra(nil, other)
		if !bytes.Equal(append(form, rest...), b) {
			t.Fatalf("%x reads as %d, whose form is %x", b, other, form)
		}
		if order := bytes.Compare(appendEra(nil, era), form); order < 0 != (era < other) {
			t.Fatalf("%d and %d sort differently", era, other)
		}
	})
}

// TestErasAtRandom clears and writes storages at random for hundreds of blocks,
// under windows that change, and holds what is on disk to what must be there. Another
// run is had with -args -seed=17.
func TestErasAtRandom(t *testing.T) {
	seed := *crashSeed
	rng := rand.New(rand.NewPCG(seed, 1))
	fs := vfs.NewMem()
	var c chainOf
	for round := range 6 {
		o := testOptions(fs)
		window := []int{0, 3, 40, 16, 5, 1}[(round+int(seed%6))%6]
		o.UndoBlocks = window
		s, err := Open("data", o)
		check(t, err)
		check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
		if round == 0 {
			c.start(t, s)
		}
		for range 50 {
			v, rec, err := c.prepare(rng, s.Head())
			check(t, err)
			check(t, s.Commit(v, rec))
		}
		head, _ := s.HeadInfo()
		check(t, c.verify(s, int(head)))
		for h := range c.flats {
			f, err := readFlat(pastView{s, chain.Height(h)})
			if errors.Is(err, ErrNoHistory) && h < int(head)-window {
				continue
			}
			if err != nil || !reflect.DeepEqual(f, c.flats[h]) {
				t.Fatalf("seed %d, window %d, head %d: height %d reads differently: %v", seed, window, head, h, err)
			}
		}
		live := 0
		for _, slots := range c.flats[head].slots {
			for _, v := range slots {
				if v != "-" {
					live++
				}
			}
		}
		if rows := rowsOf(t, s, tableStorage, nil); window == 0 && rows != live {
			t.Fatalf("seed %d: %d rows of storage, %d of them live, and nothing can be undone", seed, rows, live)
		}
		check(t, s.Close())
	}
}
