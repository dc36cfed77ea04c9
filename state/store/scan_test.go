package store

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// contents are the storages of some accounts, whole.
type contents map[chain.Address]map[state.StorageKey]string

func (c contents) clone() contents {
	n := contents{}
	for a, s := range c {
		n[a] = maps.Clone(s)
	}
	return n
}

func (c contents) scan(addr chain.Address, span state.Span) (list []state.Entry) {
	for _, key := range slices.Sorted(maps.Keys(c[addr])) {
		if e := (state.Entry{Key: key, Value: []byte(c[addr][key])}); key >= span.From && strings.HasPrefix(string(key), string(span.Prefix)) && (span.To == "" || key < span.To) && !span.Used() {
			list = append(list, e)
			span.Take(&e)
		}
	}
	return list
}

// scannable is a version with what it holds.
type scannable struct {
	*Version
	contents
}

func orderedKey(rng *rand.Rand) state.StorageKey {
	key := []byte{'a' + byte(rng.IntN(2)), byte(rng.IntN(5) * 51), byte(rng.IntN(256))}
	return state.NewStorageKey(byte(rng.IntN(2)), key[:1+rng.IntN(3)])
}

// after draws the writes of a block on v.
func (v scannable) after(t *testing.T, rng *rand.Rand) scannable {
	t.Helper()
	d, c := state.NewDelta(), v.clone()
	for range rng.IntN(12) {
		addr := testAddr(rng.IntN(3))
		switch {
		case rng.IntN(30) == 0:
			d.DeleteAccount(addr)
			delete(c, addr)
		case rng.IntN(4) == 0: // all within a range, and more
			for key := range c[addr] {
				if key[1] == 'a' {
					d.SetStorage(addr, key, nil)
					delete(c[addr], key)
				}
			}
		}
		for range rng.IntN(20) {
			key, value := orderedKey(rng), make([]byte, rng.IntN(40))
			d.SetStorage(addr, key, value)
			if c[addr] == nil {
				c[addr] = map[state.StorageKey]string{}
			}
			c[addr][key] = string(value)
			if rng.IntN(3) == 0 {
				key = orderedKey(rng)
				d.SetStorage(addr, key, nil)
				delete(c[addr], key)
			}
		}
	}
	next, err := v.Apply(d)
	check(t, err)
	return scannable{next, c}
}

func (v scannable) compare(rng *rand.Rand) error {
	for _, span := range []state.Span{
		{Entries: 1 << 20, Bytes: 1 << 30},
		{Prefix: orderedKey(rng)[:1], Entries: 1 + rng.IntN(30), Bytes: 1 + rng.IntN(400)},
		{Prefix: orderedKey(rng)[:2], From: orderedKey(rng), Entries: 1 + rng.IntN(9), Bytes: 1 << 20},
		{Prefix: orderedKey(rng)[:1], From: orderedKey(rng), To: orderedKey(rng), Entries: 1 + rng.IntN(30), Bytes: 1 << 20},
	} {
		addr := testAddr(rng.IntN(3))
		got, err := v.Scan(addr, span)
		if want := v.scan(addr, span); err != nil || !reflect.DeepEqual(got, want) {
			return fmt.Errorf("height %d, %+v:\n%q, %w\nwant\n%q", v.height, span, got, err, want)
		}
	}
	return nil
}

// TestScanAgainstSortedMap holds scans of the head, of older versions, of pending
// ones and of forks to whole maps, on stores that are reopened now and then, and
// while others scan the same.
func TestScanAgainstSortedMap(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 21))
			fs := vfs.NewMem()
			s := openWithGenesis(t, fs)
			head := scannable{s.Head(), contents{}}
			var known []scannable
			for height := range 60 {
				if height%25 == 24 {
					check(t, s.Close())
					s, known = openTest(t, fs), nil
					head.Version = s.Head()
				}
				next := head.after(t, rng)
				fork := head.after(t, rng).after(t, rng)
				top := next.after(t, rng).after(t, rng)
				known = append(known, next, fork, top)
				var readers sync.WaitGroup
				for range 3 {
					rng := rand.New(rand.NewPCG(rng.Uint64(), 22))
					readers.Go(func() {
						for range 4 {
							v := known[rng.IntN(len(known))]
							if err := v.compare(rng); err != nil && !errors.Is(err, ErrStale) {
								t.Error(err)
							}
						}
					})
				}
				check(t, s.Commit(next.Version, testRecord(next.height, 0)))
				readers.Wait()
				head = next
				for _, v := range []scannable{head, top} {
					check(t, v.compare(rng))
				}
				if stale := fork.Version.base().gone; stale != nil {
					t.Fatalf("a fork of the last block is %v", stale)
				}
			}
			check(t, s.Close())
			if _, err := head.Scan(testAddr(1), state.Span{Entries: 1, Bytes: 1}); !errors.Is(err, ErrClosed) {
				t.Errorf("scan after Close: %v", err)
			}
		})
	}
}

// TestScanPassesRemovedRowsOnce: where the database still keeps marks of removed
// rows, and older values of rows, a scan of the head goes over them once, also
// after blocks that write between them. Scans of versions before the removal find
// what was there.
func TestScanPassesRemovedRowsOnce(t *testing.T) {
	const slots = 3000
	opts := testOptions(vfs.NewMem())
	opts.MemTableBytes = 16 << 20 // nothing is flushed, so no compaction takes the marks away before the scan
	e := newEvictor(t, opts)
	defer func() { check(t, e.s.Close()) }()
	e.fill(slots, 1)
	full := e.s.Head()
	e.block(nil, func(o *state.Overlay) {
		for i := 1; i < slots-1; i++ {
			o.SetStorage(evicted, numbered(i), nil)
		}
	})
	owner, all := tree.AccountKey(evicted), state.Span{Prefix: "\x01slot", Entries: slots, Bytes: 1 << 20}
	wants := func(v *Version, want ...state.StorageKey) {
		t.Helper()
		list, err := v.Scan(evicted, all)
		check(t, err)
		var got []state.StorageKey
		for i := range list {
			got = append(got, list[i].Key)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	first, last := numbered(0), numbered(slots-1)
	passes := func(from, to state.StorageKey) {
		t.Helper()
		if got := e.s.removals.pass(e.s.Head().height, owner, from); got != to {
			t.Fatalf("from %q on the scan goes to %q, want %q", from, got, to)
		}
	}
	passes(numbered(1), numbered(1))
	wants(e.s.Head(), first, last)
	passes(numbered(1), last)
	middle := numbered(slots / 2)
	e.block(nil, func(o *state.Overlay) { o.SetStorage(evicted, middle, []byte{1}) })
	passes(numbered(1), middle)
	passes(middle, middle)
	wants(e.s.Head(), first, middle, last)
	if list, err := full.Scan(evicted, all); err != nil || len(list) != slots {
		t.Fatalf("before the removal: %d entries, %v", len(list), err)
	}
	e.block(nil, func(o *state.Overlay) { check(t, o.ClearStorage(evicted)) })
	passes(numbered(1), numbered(1))
	wants(e.s.Head())
}

// TestScanAcrossEras evicts an actor, restores it and fills it anew: of every
// version that is kept a scan finds the rows of its own era.
func TestScanAcrossEras(t *testing.T) {
	const slots = 100
	o := testOptions(vfs.NewMem())
	o.KeepVersions = 10
	e := newEvictor(t, o)
	defer func() { check(t, e.s.Close()) }()
	var kept []*Version
	holds := func() {
		t.Helper()
		kept = append(kept, e.s.Head())
		for _, v := range kept {
			span := state.Span{Prefix: "\x01slot", Entries: slots + 1, Bytes: 1 << 20}
			want := contents{evicted: e.content[v.height]}.scan(evicted, span)
			if got, err := v.Scan(evicted, span); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("height %d at height %d: %d entries, %v, want %d", v.height, e.s.Head().height, len(got), err, len(want))
			}
		}
	}
	content := e.fill(slots, 1)
	holds()
	e.evict()
	holds()
	e.restore(content)
	holds()
	e.evict()
	holds()
	e.fill(slots/3, 2)
	holds()
	kept = nil
	e.reopen(o)
	holds()
}
