package simtest

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

var (
	seedCount = flag.Uint64("seeds", 40, "number of seeds that TestSim plays")
	oneSeed   = flag.Uint64("seed", 0, "play this seed only")
)

// TestSim plays seeds 1 to -seeds and checks every invariant of the package.
// A failure names the command that plays its seed again.
func TestSim(t *testing.T) {
	first, last := uint64(1), *seedCount
	if *oneSeed != 0 {
		first, last = *oneSeed, *oneSeed
	}
	var sum Report
	players := map[string]int{}
	real, sharded, began := 0, 0, time.Now()
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := Draw(seed)
			r, err := Run(cfg)
			if err != nil {
				t.Fatalf("%v\n%v\n%+v\nplay again: go test ./consensus/simtest -run 'TestSim$' -seed=%d", err, cfg, r, seed)
			}
			if testing.Verbose() {
				t.Logf("%v: %d blocks in %d views, margin %v", cfg, r.Blocks, r.Views, r.Margin)
			}
			sum.add(r)
			if cfg.RealKeys {
				real++
			}
			if cfg.Sharded {
				sharded++
			}
			if cfg.Player != nil {
				players[cfg.Player.Name]++
			}
		})
	}
	t.Logf("%d seeds, %d of them with real keys: %.1f validator-hours in %v, %d blocks", last-first+1, real, sum.Hours, time.Since(began).Round(time.Second), sum.Blocks)
	t.Logf("faults: %d of %d messages lost, %d cut off, %d repeated; %d crashes, %d old disks, %d partitions",
		sum.Lost, sum.Messages, sum.Cut, sum.Repeated, sum.Crashes, sum.Rollbacks, sum.Partitions)
	for _, name := range slices.Sorted(maps.Keys(players)) {
		t.Logf("player %q in %d runs", name, players[name])
	}
	t.Logf("rare: %d views both notarized and nullified, %d contradictions, %d proofs, %d bans, %d votes withheld, %d timeouts, %d blocks fetched with %d requests",
		sum.BothEnds, sum.Equivocations, sum.Evidence, sum.Bans, sum.Withheld, sum.Timeouts, sum.BlocksFetched, sum.Fetches)
	t.Logf("shards: %d runs, %d blocks rebuilt, %d shards refused, %d times no codeword", sharded, sum.BlocksRebuilt, sum.ShardsRefused, sum.NotCodeword)
	t.Logf("smallest activation margin (resolution 11.17): %v", sum.Margin)
	if last-first >= 100 && (sum.BothEnds == 0 || sum.Equivocations == 0 || sum.Withheld == 0 || sum.Rollbacks == 0 ||
		sum.BlocksRebuilt == 0 || sum.ShardsRefused == 0 || sum.NotCodeword == 0 || real*50 < int(last-first)) {
		t.Error("a rare state was never reached: the simulation does not test what it should")
	}
}

// TestSameSeedSameRun is what makes a failure worth reporting: the same seed
// gives the same run, another seed another.
func TestSameSeedSameRun(t *testing.T) {
	seen := map[[32]byte]uint64{}
	for seed := uint64(8); seed <= 15; seed++ {
		first, err1 := Run(Draw(seed))
		second, err2 := Run(Draw(seed))
		if first != second || fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Errorf("seed %d: %x, then %x", seed, first.Audit, second.Audit)
		}
		if other, twice := seen[first.Audit]; twice {
			t.Errorf("seeds %d and %d are one run", other, seed)
		}
		seen[first.Audit] = seed
	}
}
