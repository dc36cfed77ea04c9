package simtest

import (
	"strings"
	"testing"
	"time"
)

// oldDisk is a run in which the last validator comes back, after each crash,
// with a journal from earlier.
func oldDisk(seed uint64, noGuard bool) Config {
	return Config{
		Seed: seed, Validators: 4, Latency: 30 * time.Millisecond, Jitter: 200 * time.Millisecond, Loss: 0.1,
		Crash: 0.03, Rollback: 1, NoGuard: noGuard, SplitEvery: 4 * time.Second,
		Faults: 2 * time.Minute, Quiet: time.Minute,
	}
}

// TestOldDiskSignsNothingTwice is W14's restore from an old disk: the watermark
// apart from the journal keeps an honest validator from a second word. Without
// it the auditor finds one, so the test can see.
func TestOldDiskSignsNothingTwice(t *testing.T) {
	seeds := uint64(10)
	rollbacks, withheld, breaches := 0, 0, 0
	for seed := uint64(1); seed <= seeds; seed++ {
		r, err := Run(oldDisk(seed, false))
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		rollbacks += r.Rollbacks
		withheld += r.Withheld
		if _, err := Run(oldDisk(seed, true)); err != nil && strings.Contains(err.Error(), "validator 3") {
			breaches++
		}
	}
	if rollbacks == 0 || withheld == 0 || breaches == 0 {
		t.Errorf("%d rollbacks, %d votes withheld, %d of %d runs without a watermark in breach: the test tests nothing",
			rollbacks, withheld, breaches, seeds)
	}
}
