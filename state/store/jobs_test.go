package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestJobsOf asks for jobs in both directions, over a restart.
func TestJobsOf(t *testing.T) {
	disk := vfs.NewMem()
	s := openWithGenesis(t, disk)
	one, two := testAddr(1), testAddr(2)
	ids := func(h chain.Height, n int) (all []chain.Hash) {
		for i := range n {
			all = append(all, chain.Hash{byte(h), byte(i)})
		}
		return all
	}
	for h := chain.Height(1); h <= 20; h++ {
		v, err := s.Head().Apply(nil)
		check(t, err)
		rec := testRecord(h, 0)
		if h%3 == 0 {
			rec.Jobs = []JobsOf{{Submits, one, ids(h, int(h/3))}, {Works, one, ids(h, 1)}}
		}
		if h == 9 {
			rec.Jobs = append(rec.Jobs, JobsOf{Works, two, ids(h, 2)})
		}
		check(t, s.Commit(v, rec))
	}
	check(t, s.Close())
	s = openTest(t, disk)
	defer s.Close()
	for _, tt := range []struct {
		side Side
		a    chain.Address
		in   Stretch
		most int
		want []chain.Height
	}{
		{Works, one, Stretch{From: 1, To: 20}, 10, []chain.Height{18, 15, 12, 9, 6, 3}},
		{Works, one, Stretch{From: 1, To: 20, OldestFirst: true}, 10, []chain.Height{3, 6, 9, 12, 15, 18}},
		{Works, one, Stretch{From: 6, To: 15}, 2, []chain.Height{15, 12}},
		{Works, one, Stretch{From: 6, To: 15, OldestFirst: true}, 2, []chain.Height{6, 9}},
		{Submits, one, Stretch{From: 1, To: 20, OldestFirst: true}, 3, []chain.Height{3, 6}},
		{Submits, one, Stretch{From: 1, To: 20, OldestFirst: true}, 4, []chain.Height{3, 6, 9}},
		{Submits, one, Stretch{From: 1, To: 20}, 1, []chain.Height{18}},
		{Works, one, Stretch{From: 7, To: 8}, 2, nil},
		{Works, one, Stretch{From: 9, To: 8}, 2, nil},
		{Works, one, Stretch{To: 1<<64 - 1}, 1, []chain.Height{18}},
		{Works, two, Stretch{From: 1, To: 20}, 10, []chain.Height{9}},
		{Submits, two, Stretch{From: 1, To: 20}, 10, nil},
		{Works, testAddr(3), Stretch{From: 1, To: 20}, 10, nil},
		{Works, one, Stretch{From: 1, To: 20}, 0, nil},
	} {
		list, err := s.JobsOf(tt.side, tt.a, tt.in, tt.most)
		var got []chain.Height
		for _, at := range list {
			got = append(got, at.Height)
			n := 1
			if tt.side == Submits {
				n = int(at.Height / 3)
			} else if tt.a == two {
				n = 2
			}
			if !slices.Equal(at.IDs, ids(at.Height, n)) {
				t.Errorf("block %d: %v", at.Height, at.IDs)
			}
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%c %+v, at most %d: %v, %v", tt.side, tt.in, tt.most, got, err)
		}
	}
}

func TestDamagedJobs(t *testing.T) {
	s := openWithGenesis(t, vfs.NewMem())
	defer s.Close()
	for _, row := range [][]byte{{}, {1}, make([]byte, 31), make([]byte, 33)} {
		check(t, s.db.Set(jobsKey(Works, testAddr(1), 5), row, nil))
		if list, err := s.JobsOf(Works, testAddr(1), Stretch{To: 9}, 1); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: %+v, %v", row, list, err)
		}
	}
}

func FuzzJobs(f *testing.F) {
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, row []byte) {
		ids, err := readJobs(row)
		if err != nil {
			return
		}
		var again []byte
		for i := range ids {
			again = append(again, ids[i][:]...)
		}
		if !slices.Equal(again, row) {
			t.Errorf("%x: %v", row, ids)
		}
	})
}
