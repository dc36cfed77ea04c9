package simtest

import (
	"flag"
	"fmt"
	"testing"
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
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			cfg := Draw(seed)
			r, err := Run(cfg)
			if err != nil {
				t.Fatalf("%v\n%v\n%+v\nplay again: go test ./consensus/simtest -run TestSim -seed=%d", err, cfg, r, seed)
			}
			if testing.Verbose() {
				t.Logf("%v: %d blocks in %d views", cfg, r.Blocks, r.Views)
			}
			sum.add(r)
		})
	}
	t.Logf("%.1f validator-hours, %d blocks; %d messages, %d lost, %d cut off, %d repeated; %d crashes, %d partitions, "+
		"%d timeouts; rare: %d equivocations, %d bans, %d blocks fetched, %d views both notarized and nullified",
		sum.Hours, sum.Blocks, sum.Messages, sum.Lost, sum.Cut, sum.Repeated, sum.Crashes, sum.Partitions,
		sum.Timeouts, sum.Equivocations, sum.Bans, sum.BlocksFetched, sum.BothEnds)
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
