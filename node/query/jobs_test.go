package query

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestJobsInPages holds pages of every size, in both directions, to the list of all jobs: each
// once, in order, with pages cut anywhere, also within a block.
func TestJobsInPages(t *testing.T) {
	one, two := chain.Address{1: 1}, chain.Address{1: 2}
	opts := store.DefaultOptions()
	opts.FS = vfs.NewMem()
	db, err := store.Open("data", opts)
	holds(t, err)
	defer db.Close()
	holds(t, db.Init(store.GenesisRecord{Hash: chain.Hash{9}, Delta: state.NewDelta()}))
	blocks := make([][]rpc.ListedJob, 201) // one's
	for h := chain.Height(1); h <= 200; h++ {
		v, err := db.Head().Apply(nil)
		holds(t, err)
		rec := store.BlockRecord{Height: h, Digest: keccak.Sum256([]byte(fmt.Sprint(h)))}
		var ids []chain.Hash
		for i := range int(h) % 5 * 20 { // none, or more than are read at a time
			ids = append(ids, chain.Hash{byte(h), byte(i)})
			blocks[h] = append(blocks[h], rpc.ListedJob{JobPlace: rpc.JobPlace{Height: h, Index: i}, ID: ids[i]})
		}
		if ids != nil {
			rec.Jobs = []store.JobsOf{{Side: store.Works, Of: one, IDs: ids}, {Side: store.Submits, Of: two, IDs: ids[:1]}}
		}
		holds(t, db.Commit(v, rec))
	}
	s := &Source{cfg: Config{Blocks: db}, head: func() chain.Height { return 190 }} // readers see the head alone
	for _, oldest := range []bool{false, true} {
		var want []rpc.ListedJob
		for i := range 190 {
			h := 190 - i
			if oldest {
				h = 1 + i
			}
			want = append(want, blocks[h]...)
		}
		for _, size := range []int{1, 7, 63, 64, 100, 5_000, 10_000} {
			q := rpc.JobsQuery{Of: one, Works: true, OldestFirst: oldest, Limit: size}
			n := 0
			for pages := 0; pages == 0 || q.After != nil; pages++ {
				page, err := s.JobsOf(t.Context(), &q)
				holds(t, err)
				if len(page.Jobs) > size || page.Next != nil && len(page.Jobs) != size || page.Height != 190 || page.Since != 1 {
					t.Fatalf("a page of %d jobs, next %v, height %d, since %d", len(page.Jobs), page.Next, page.Height, page.Since)
				}
				for _, j := range page.Jobs {
					if n >= len(want) || j != want[n] {
						t.Fatalf("oldest first %t, pages of %d: job %d is %+v", oldest, size, n, j)
					}
					n++
				}
				q.After = page.Next
			}
			if n != len(want) {
				t.Errorf("oldest first %t, pages of %d: %d jobs, want %d", oldest, size, n, len(want))
			}
		}
	}
	for _, tt := range []struct {
		q    rpc.JobsQuery
		want int
	}{
		{rpc.JobsQuery{Of: two, Limit: 1_000}, 152},
		{rpc.JobsQuery{Of: two, Works: true, Limit: 1_000}, 0},
		{rpc.JobsQuery{Of: one, Limit: 1_000}, 0},
		{rpc.JobsQuery{Of: two, Limit: 1_000, After: &rpc.JobPlace{}}, 0},
		{rpc.JobsQuery{Of: two, Limit: 1_000, After: &rpc.JobPlace{Height: 1<<64 - 1}, OldestFirst: true}, 0},
		{rpc.JobsQuery{Of: two, Limit: 1_000, After: &rpc.JobPlace{Height: 1<<64 - 1}}, 152},
	} {
		if page, err := s.JobsOf(t.Context(), &tt.q); err != nil || len(page.Jobs) != tt.want || page.Next != nil {
			t.Errorf("%+v: %d jobs, %v, want %d", tt.q, len(page.Jobs), err, tt.want)
		}
	}
}

// begun is the blocks of a node that began with the state of a later block.
type begun struct {
	Blocks
	base chain.Height
	in   store.Stretch // that was asked for last
}

func (b *begun) Base() chain.Height { return b.base }

func (b *begun) JobsOf(_ store.Side, _ chain.Address, in store.Stretch, _ int) ([]store.JobsAt, error) {
	b.in = in
	return nil, nil
}

// TestJobsSinceTheFirstBlock: a node that began with a snapshot says from which block on it
// knows the jobs, and looks at none before.
func TestJobsSinceTheFirstBlock(t *testing.T) {
	blocks := &begun{base: 120}
	s := &Source{cfg: Config{Blocks: blocks}, head: func() chain.Height { return 190 }}
	for _, oldest := range []bool{false, true} {
		page, err := s.JobsOf(t.Context(), &rpc.JobsQuery{Limit: 1, OldestFirst: oldest, After: &rpc.JobPlace{Height: 150}})
		if err != nil || page.Since != 121 || page.Height != 190 || len(page.Jobs) != 0 {
			t.Errorf("%+v, %v", page, err)
		}
		want := store.Stretch{From: 121, To: 150}
		if oldest {
			want = store.Stretch{From: 150, To: 190, OldestFirst: true}
		}
		if blocks.in != want {
			t.Errorf("blocks %+v were looked at, want %+v", blocks.in, want)
		}
	}
}
