package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestEmissions asks for events in both directions, over a restart.
func TestEmissions(t *testing.T) {
	disk := vfs.NewMem()
	s := openWithGenesis(t, disk)
	one, two := testAddr(1), testAddr(2)
	for h := chain.Height(1); h <= 20; h++ {
		v, err := s.Head().Apply(nil)
		check(t, err)
		rec := testRecord(h, 0)
		rec.Emitters = nil
		if h%3 == 0 {
			rec.Emitters = []Emitter{{one, []int{0, 1, int(h) * 1000}}}
		}
		if h == 9 {
			rec.Emitters = append(rec.Emitters, Emitter{two, []int{7}})
		}
		check(t, s.Commit(v, rec))
	}
	check(t, s.Close())
	s = openTest(t, disk)
	defer s.Close()
	for _, tt := range []struct {
		a    chain.Address
		in   Stretch
		most int
		want []chain.Height
	}{
		{one, Stretch{From: 1, To: 20}, 10, []chain.Height{18, 15, 12, 9, 6, 3}},
		{one, Stretch{From: 1, To: 20, OldestFirst: true}, 10, []chain.Height{3, 6, 9, 12, 15, 18}},
		{one, Stretch{From: 6, To: 15}, 2, []chain.Height{15, 12}},
		{one, Stretch{From: 6, To: 15, OldestFirst: true}, 2, []chain.Height{6, 9}},
		{one, Stretch{From: 7, To: 8}, 2, nil},
		{one, Stretch{From: 9, To: 8}, 2, nil},
		{one, Stretch{To: 1<<64 - 1}, 1, []chain.Height{18}},
		{two, Stretch{From: 1, To: 20}, 10, []chain.Height{9}},
		{testAddr(3), Stretch{From: 1, To: 20}, 10, nil},
		{one, Stretch{From: 1, To: 20}, 0, nil},
	} {
		list, err := s.Emissions(tt.a, tt.in, tt.most)
		var got []chain.Height
		for _, e := range list {
			got = append(got, e.Height)
			if want := []int{0, 1, int(e.Height) * 1000}; tt.a == one && !slices.Equal(e.Slots, want) {
				t.Errorf("block %d: %v", e.Height, e.Slots)
			}
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%+v, at most %d: %v, %v", tt.in, tt.most, got, err)
		}
	}
}

func TestDamagedEmissions(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	defer s.Close()
	for _, row := range [][]byte{{}, {0x80}, {1, 0}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
		check(t, s.db.Set(emitterKey(testAddr(1), 5), row, nil))
		if list, err := s.Emissions(testAddr(1), Stretch{To: 9}, 1); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: %+v, %v", row, list, err)
		}
	}
}

func FuzzSlots(f *testing.F) {
	f.Add([]byte{0, 1, 0x80, 1})
	f.Fuzz(func(t *testing.T, row []byte) {
		slots, err := readSlots(row)
		if err != nil {
			return
		}
		for i := range slots {
			if i > 0 && slots[i] <= slots[i-1] || slots[i] < 0 {
				t.Errorf("%x: %v", row, slots)
			}
		}
	})
}
