package lanes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestArrivalsMergeAllShards holds the merge against a plain sort, for levels
// that hold everything that arrived or one in many, spread evenly or not.
// Rerun one case with -run 'TestArrivalsMergeAllShards/seed=17'.
func TestArrivalsMergeAllShards(t *testing.T) { // whitepaper §6.4: first in, first out within a tier
	const lane, at = chain.LaneUser, levelTier0 + 3
	longest := 0
	var a arrivals // used again and again, as the scheduler does
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			s := newBare(validatorConfig(), 10).pool
			ops := []int{0, 1, 50, 3_000, 30_000}[rng.IntN(5)]
			gap := []uint64{1, 2, 100, 1 << 30}[rng.IntN(4)]
			steps := 1 + rng.IntN(3)
			shards := 1 + rng.IntN(numShards)
			var want []*entry
			op := rng.Uint64N(1 << 40)
			for range ops {
				op += 1 + rng.Uint64N(gap)
				shard := rng.IntN(shards)
				if rng.IntN(2) == 0 {
					shard = 0 // a busy one
				}
				for step := range 1 + rng.IntN(steps) {
					e := &entry{seq: op<<stepBits + uint64(step) + 1}
					s.shards[shard].lanes[lane].turns[at].add(e)
					want = append(want, e)
				}
			}
			var got []*entry
			a.gather(s, lane, at)
			for some := a.stretch(); len(some) > 0; some = a.stretch() {
				longest = max(longest, len(some))
				for _, x := range some {
					if x.seq != x.e.seq {
						t.Fatalf("place %d, entry at %d", x.seq, x.e.seq)
					}
					got = append(got, x.e)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %d of %d entries, or out of order", seed, len(got), len(want))
			}
			a.clearEntries()
			if slices.ContainsFunc(a.drawn[:cap(a.drawn)], func(x arrival) bool { return x.e != nil }) ||
				slices.ContainsFunc(a.sorted[:cap(a.sorted)], func(x arrival) bool { return x.e != nil }) {
				t.Error("the merge keeps entries alive")
			}
		})
	}
	if longest < stretchEnough {
		t.Errorf("the longest stretch has %d entries: counting was not tried", longest)
	}
}
