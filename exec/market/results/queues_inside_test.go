package results

import (
	"math/rand/v2"
	"testing"
)

// TestWhatABlockTakes lets jobs come to a block in the order of its passes, each of which may
// use all that it may take, or none: together they take less than the block has and the
// largest heavy one, light ones alone no more than it has, and these always get their half.
func TestWhatABlockTakes(t *testing.T) {
	for seed := range uint64(2_000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		whole := 1 + rng.Uint64N(1<<rng.IntN(24))
		q := newQuota(whole)
		var used, largest, lights uint64
		try := func(of queue, most uint64) bool {
			if !q.lets(of, most) {
				return false
			}
			steps := most * rng.Uint64N(5) / 4
			q.use(of, min(steps, most))
			if used += min(steps, most); of == light {
				lights += min(steps, most)
			} else {
				largest = max(largest, min(steps, most))
			}
			return true
		}
		draw := func() (queue, uint64) {
			most := 1 + rng.Uint64N(1+whole/LightPart)
			if rng.IntN(2) == 0 {
				most *= 1 + rng.Uint64N(200)
			}
			return q.queueOf(most), most
		}
		for rng.IntN(40) > 0 { // those that wait, the heavy ones before the light ones
			if of, most := draw(); of == heavy {
				try(of, most)
			}
		}
		if rest := whole / LightPart; rest > 0 && !try(light, rest) {
			t.Fatalf("seed %d: no room for the first light job", seed)
		}
		for rng.IntN(40) > 0 {
			if of, most := draw(); of == light && !try(of, most) && lights+most <= whole/2 {
				t.Fatalf("seed %d: no room for %d where light ones have used %d of %d", seed, most, lights, whole)
			}
		}
		for rng.IntN(60) > 0 { // those with new results, in any order
			try(draw())
		}
		if used > whole+max(largest, 1)-1 || largest == 0 && used > whole {
			t.Fatalf("seed %d: %d of %d, the largest %d", seed, used, whole, largest)
		}
	}
}
