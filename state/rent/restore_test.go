package rent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

var (
	whale    = chain.Address{0xaa}
	restorer = chain.Address{0xbb}
	stranger = chain.Address{0xcc}
)

// full returns the storage of an actor at the largest quota: 8 MiB.
func full() contents {
	c := contents{}
	for size := uint64(0); size < 8<<20; {
		key := state.NewStorageKey(state.VMNamespacePVM, binary.BigEndian.AppendUint64(nil, size))
		c[key] = string(bytes.Repeat([]byte{byte(size)}, 400))
		size += uint64(len(key) + 400)
	}
	return c
}

// with returns the version that holds an actor with the given storage.
func with(t *testing.T, c contents) version {
	v := version{forest: tree.NewForest(2, nil)}
	v.image = v.forest.EmptyImage()
	o := state.NewOverlay(v)
	o.SetAccount(whale, state.Account{Nonce: 1, Balance: 5, CodeHash: chain.Hash{1}, Meta: []byte{0x81, 1}})
	for _, key := range slices.Sorted(maps.Keys(c)) {
		o.SetStorage(whale, key, []byte(c[key]))
	}
	return v.apply(t, o)
}

// block applies do to v as a block of its own.
func block(t *testing.T, v version, do func(*state.Overlay)) version {
	t.Helper()
	o := state.NewOverlay(v)
	do(o)
	next := v.apply(t, o)
	v.forest.Retire(next.image)
	return next
}

// TestFullQuotaAndBack evicts 8 MiB and puts them back in 64 blocks and more,
// after which the state is what it was, by its root.
func TestFullQuotaAndBack(t *testing.T) {
	c := full()
	v := with(t, c)
	before := v.image.Root
	v = block(t, v, func(o *state.Overlay) {
		size, err := Evict(o, whale)
		check(t, err)
		if size != sizeOf(c) {
			t.Fatalf("evicted %+v, want %+v", size, sizeOf(c))
		}
		changes := o.Delta().Accounts()
		if len(changes) != 1 || !changes[0].Cleared || len(changes[0].Storage) != 0 {
			t.Fatalf("eviction writes %+v, want one mark whatever the size", changes)
		}
	})
	a, _, err := v.Account(whale)
	check(t, err)
	if !Dormant(&a) || a.Balance != 5 || a.CodeHash != (chain.Hash{1}) || a.HasStorage() || a.StorageSize != (state.StorageSize{}) {
		t.Fatalf("dormant account %+v", a)
	}
	s := Session{Actor: whale, By: restorer, Height: 2}
	v = block(t, v, func(o *state.Overlay) { check(t, Begin(o, s, 1000)) })
	blocks := 0
	for part := range slices.Chunk(ordered(c), 300) {
		s.Height++
		blocks++
		v = block(t, v, func(o *state.Overlay) {
			if cost, err := Cost(part); err != nil || cost.Bytes > MaxChunkBytes {
				t.Fatalf("cost %+v, %v", cost, err)
			}
			check(t, Put(o, s, part))
			if err := Commit(o, s); !errors.Is(err, ErrUnsettled) {
				t.Fatalf("commit in the block of a put: %v", err)
			}
		})
	}
	if blocks < 64 {
		t.Fatalf("%d blocks", blocks)
	}
	v = block(t, v, func(o *state.Overlay) { check(t, Commit(o, s)) })
	if v.image.Root != before {
		t.Fatalf("root %s after restoration, %s before eviction", v.image.Root, before)
	}
}

// TestHostileRestorationsLeaveNothing tries to bring each kind of wrong data
// back. However far it gets, after Abort the state has the root that eviction
// left, and the right data still comes back.
func TestHostileRestorationsLeaveNothing(t *testing.T) {
	c := contents{}
	for i := range 50 {
		c[state.NewStorageKey(1, []byte{byte(i)})] = string(bytes.Repeat([]byte{byte(i)}, 1+i))
	}
	evicted := block(t, with(t, c), func(o *state.Overlay) {
		_, err := Evict(o, whale)
		check(t, err)
	})
	clean := evicted.image.Root
	change := func(edit func(list []state.StorageChange) []state.StorageChange) []state.StorageChange {
		list := ordered(c)
		for i := range list {
			list[i].Value = bytes.Clone(list[i].Value)
		}
		return edit(list)
	}
	tests := []struct {
		name        string
		data        []state.StorageChange
		put, commit error
	}{
		{"a changed byte", change(func(l []state.StorageChange) []state.StorageChange { l[7].Value[0] ^= 1; return l }), nil, ErrRootMismatch},
		{"values of two keys exchanged", change(func(l []state.StorageChange) []state.StorageChange {
			l[7].Value, l[8].Value = l[8].Value, l[7].Value
			return l
		}), nil, ErrRootMismatch},
		{"an entry missing", change(func(l []state.StorageChange) []state.StorageChange { return l[1:] }), nil, ErrIncomplete},
		{"a value cut short", change(func(l []state.StorageChange) []state.StorageChange {
			l[9].Value = l[9].Value[:0]
			return l
		}), nil, ErrIncomplete},
		{"a value too long", change(func(l []state.StorageChange) []state.StorageChange {
			l[9].Value = append(l[9].Value, 0)
			return l
		}), ErrTooMuch, ErrIncomplete},
		{"an entry twice, in the place of a longer one", change(func(l []state.StorageChange) []state.StorageChange {
			i := 1
			for len(l[i].Value) < len(l[i-1].Value) {
				i++
			}
			l[i] = l[i-1]
			return l
		}), ErrOrder, ErrIncomplete},
		{"two entries exchanged", change(func(l []state.StorageChange) []state.StorageChange {
			l[3], l[4] = l[4], l[3]
			return l
		}), ErrOrder, ErrIncomplete},
		{"an entry without value", change(func(l []state.StorageChange) []state.StorageChange { l[3].Value = nil; return l }), ErrChunk, ErrIncomplete},
		{"an entry without key", change(func(l []state.StorageChange) []state.StorageChange { l[3].Key = ""; return l }), ErrChunk, ErrIncomplete},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			forest := evicted.forest
			s := Session{Actor: whale, By: restorer, Height: 10}
			o := state.NewOverlay(evicted)
			check(t, Begin(o, s, 20))
			if err := Put(o, s, tt.data); !errors.Is(err, tt.put) {
				t.Fatalf("put: %v, want %v", err, tt.put)
			}
			staged := evicted.apply(t, o)
			o = state.NewOverlay(staged)
			if err := Commit(o, s); !errors.Is(err, tt.commit) {
				t.Fatalf("commit: %v, want %v", err, tt.commit)
			}
			if !o.Delta().Empty() {
				t.Fatal("a refused commit wrote something")
			}
			by := s
			if by.By = stranger; !errors.Is(tt.commit, ErrRootMismatch) {
				if err := Abort(o, by); !errors.Is(err, ErrNotRestoring) {
					t.Fatalf("a stranger's abort: %v", err)
				}
				by.By = restorer
			}
			check(t, Abort(o, by)) // proved wrong: even a stranger may
			after := staged.apply(t, o)
			if after.image.Root != clean {
				t.Fatalf("root %s after abort, %s after eviction", after.image.Root, clean)
			}
			o = state.NewOverlay(after)
			check(t, Begin(o, s, 20))
			check(t, Put(o, s, ordered(c)))
			again := after.apply(t, o)
			check(t, Commit(state.NewOverlay(again), s))
			forest.Release(again.image, after.image, staged.image)
		})
	}
}

// TestOneRestorationAtATime holds a second restorer off until the deadline and
// gives way to it afterwards, with nothing of the first left.
func TestOneRestorationAtATime(t *testing.T) {
	c := contents{state.NewStorageKey(1, []byte{1}): "one", state.NewStorageKey(1, []byte{2}): "two"}
	v := block(t, with(t, c), func(o *state.Overlay) {
		_, err := Evict(o, whale)
		check(t, err)
	})
	first := Session{Actor: whale, By: restorer, Height: 10}
	second := Session{Actor: whale, By: stranger, Height: 15}
	v = block(t, v, func(o *state.Overlay) {
		check(t, Begin(o, first, 15))
		check(t, Put(o, first, ordered(c)[:1]))
	})
	refused := func(err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
	}
	o := state.NewOverlay(v)
	refused(Begin(o, second, 30), ErrRestoring)
	refused(Put(o, second, ordered(c)[1:]), ErrNotRestoring)
	refused(Commit(o, second), ErrNotRestoring)
	refused(Abort(o, second), ErrNotRestoring)
	first.Height, second.Height = 16, 16
	refused(Put(o, first, ordered(c)[1:]), ErrLate)
	refused(Commit(o, first), ErrLate)
	if !o.Delta().Empty() {
		t.Fatal("refusals wrote something")
	}
	v = block(t, v, func(o *state.Overlay) {
		check(t, Begin(o, second, 30))
		check(t, Put(o, second, ordered(c)))
	})
	v = block(t, v, func(o *state.Overlay) { check(t, Commit(o, second)) })
	a, _, err := v.Account(whale)
	check(t, err)
	if Dormant(&a) || a.StorageRoot != rootOf(t, c) || !bytes.Equal(a.Meta, []byte{0x81, 1}) {
		t.Fatalf("restored account %+v", a)
	}
}

func TestEvictRefusals(t *testing.T) {
	v := with(t, contents{state.NewStorageKey(1, nil): "x"})
	o := state.NewOverlay(v)
	if _, err := Evict(o, stranger); !errors.Is(err, ErrNoStorage) {
		t.Errorf("an account that is not there: %v", err)
	}
	o.SetAccount(whale, state.Account{Nonce: 1, Meta: make([]byte, MaxMetaBytes+1)})
	if _, err := Evict(o, whale); !errors.Is(err, ErrLongMeta) {
		t.Errorf("long metadata: %v", err)
	}
	o.SetAccount(whale, state.Account{Nonce: 1, Meta: make([]byte, MaxMetaBytes)})
	inner := state.NewOverlay(o)
	o.SetStorage(whale, "k", []byte("v"))
	if _, err := Evict(inner, whale); !errors.Is(err, ErrUnsettled) {
		t.Errorf("storage written in an overlay below: %v", err)
	}
	o = state.NewOverlay(v)
	o.SetAccount(whale, state.Account{Nonce: 1, Meta: make([]byte, MaxMetaBytes)})
	if _, err := Evict(o, whale); err != nil {
		t.Errorf("longest metadata: %v", err)
	}
	s := Session{Actor: whale, By: restorer}
	check(t, Begin(o, s, 5))
	v.apply(t, o) // within state.MaxMetaBytes
}

func TestCostBoundsChunks(t *testing.T) {
	many := make([]state.StorageChange, MaxChunkEntries+1)
	for i := range many {
		many[i] = state.StorageChange{Key: "k", Value: []byte{}}
	}
	long := []state.StorageChange{{Key: "k", Value: make([]byte, MaxChunkBytes)}}
	for name, chunk := range map[string][]state.StorageChange{"none": nil, "too many": many, "too long": long} {
		if _, err := Cost(chunk); !errors.Is(err, ErrChunk) {
			t.Errorf("%s: %v", name, err)
		}
	}
	long[0].Value = long[0].Value[1:]
	if size, err := Cost(long); err != nil || size != (state.StorageSize{Bytes: MaxChunkBytes, Entries: 1}) {
		t.Errorf("largest chunk: %+v, %v", size, err)
	}
	if size, err := Cost(many[1:]); err != nil || size.Entries != MaxChunkEntries {
		t.Errorf("longest chunk: %+v, %v", size, err)
	}
}

// TestOrderAcrossChunks: no chunk goes back to before the last key of the one before
// it, so that no entry is put twice in the place of another.
func TestOrderAcrossChunks(t *testing.T) { // whitepaper, "Storage Restoration"
	c := contents{}
	for i := range 4 {
		c[state.NewStorageKey(1, []byte{byte(i)})] = "same length"
	}
	v := block(t, with(t, c), func(o *state.Overlay) {
		_, err := Evict(o, whale)
		check(t, err)
	})
	list, s := ordered(c), Session{Actor: whale, By: restorer, Height: 10}
	for _, tt := range []struct {
		rule   string
		chunks [][]state.StorageChange
		want   error // of the last
	}{
		{"one after the other", [][]state.StorageChange{list[:2], list[2:]}, nil},
		{"the last entry again", [][]state.StorageChange{list[:2], list[1:2]}, ErrOrder},
		{"an entry before it", [][]state.StorageChange{list[1:2], list[:1]}, ErrOrder},
		{"an entry before the last chunk, after the one before that", [][]state.StorageChange{list[:1], list[2:3], list[1:2]}, ErrOrder},
	} {
		for _, settled := range []bool{false, true} {
			v, o := v, state.NewOverlay(v)
			check(t, Begin(o, s, 20))
			for i, chunk := range tt.chunks {
				if settled {
					v = v.apply(t, o)
					o = state.NewOverlay(v)
				}
				err, want := Put(o, s, chunk), error(nil)
				if i == len(tt.chunks)-1 {
					want = tt.want
				}
				if !errors.Is(err, want) || want == nil && err != nil {
					t.Errorf("%s, each in its block: %v: chunk %d: %v, want %v", tt.rule, settled, i, err, want)
				}
			}
		}
	}
}

// TestMalformedRecords: metadata that begins as a record is one, in its only form, or
// is refused.
func TestMalformedRecords(t *testing.T) {
	rec := Record{Root: chain.Hash{1}, Size: state.StorageSize{Bytes: 300, Entries: 4}}
	idle := rec.append(nil)
	rec.Restoring = &Restoring{By: restorer, Deadline: 77, Cursor: chain.Hash{9}}
	busy := rec.append(nil)
	const sizes = 2 + len(chain.Hash{}) // where they begin
	sized := func(size ...byte) []byte { return append(slices.Clone(idle[:sizes]), size...) }
	flagged := func(flags byte) []byte {
		b := slices.Clone(busy)
		b[1] = flags
		return b
	}
	for _, tt := range []struct {
		rule string
		meta []byte
		ok   bool
	}{
		{"a record", idle, true},
		{"a record of a restoration", busy, true},
		{"the tag alone", idle[:1], false},
		{"no flags of a restoration that is there", flagged(0), true}, // it is what the record hides
		{"an unknown flag", flagged(2), false},
		{"an unknown flag besides", flagged(3), false},
		{"a root cut short", idle[:sizes-1], false},
		{"no size", idle[:sizes], false},
		{"a size cut short", sized(0x80), false},
		{"no number of entries", sized(1), false},
		{"a number of entries cut short", sized(1, 0x80), false},
		{"a size of zero", sized(0, 0), true},
		{"a size that is longer than it must be", sized(0x80, 0, 0), false},
		{"a number of entries that is longer than it must be", sized(1, 0x81, 0), false},
		{"the largest size", sized(append(bytes.Repeat([]byte{0xff}, 9), 1, 0)...), true},
		{"a size beyond 64 bits", sized(append(bytes.Repeat([]byte{0xff}, 9), 2, 0)...), false},
		{"a restoration cut short", busy[:len(busy)-1], false},
		{"a restoration without anything", busy[:len(idle)], false},
	} {
		got, hidden, err := ParseMeta(tt.meta)
		if (err == nil) != tt.ok || err != nil && (!errors.Is(err, ErrRecord) || got != nil || hidden != nil) || tt.ok && got == nil {
			t.Errorf("%s: %+v, hides %x, %v", tt.rule, got, hidden, err)
		}
	}
	for n := range busy {
		if _, _, err := ParseMeta(busy[:n]); (err == nil) != (n == 0) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
	}
	o := state.NewOverlay(state.Empty{})
	o.SetAccount(whale, state.Account{Nonce: 1, Meta: idle[:1]})
	if _, err := RecordOf(o, whale); !errors.Is(err, ErrRecord) {
		t.Errorf("an account with a broken record: %v", err)
	}
}

// FuzzParseMeta holds the record to one encoding for each value.
func FuzzParseMeta(f *testing.F) {
	rec := Record{Root: chain.Hash{1}, Size: state.StorageSize{Bytes: 300, Entries: 4}}
	f.Add(withRecord(&rec, []byte("abc")))
	rec.Restoring = &Restoring{By: restorer, Deadline: 77, Cursor: chain.Hash{9}}
	f.Add(withRecord(&rec, nil))
	f.Add([]byte{0x81, 0x01})
	f.Fuzz(func(t *testing.T, meta []byte) {
		rec, hidden, err := ParseMeta(meta)
		switch {
		case err != nil:
			if !errors.Is(err, ErrRecord) {
				t.Fatal(err)
			}
		case rec == nil:
			if !bytes.Equal(hidden, meta) {
				t.Fatalf("metadata %x without record reads as %x", meta, hidden)
			}
		default:
			if again := withRecord(rec, hidden); !bytes.Equal(again, meta) {
				t.Fatalf("%x is written as %x", meta, again)
			}
			if twice, _, err := ParseMeta(meta); err != nil || !reflect.DeepEqual(rec, twice) {
				t.Fatalf("%+v, then %+v, %v", rec, twice, err)
			}
		}
	})
}
