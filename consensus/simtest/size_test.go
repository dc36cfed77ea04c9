package simtest

import (
	"testing"
	"time"
)

// Thirty-two validators with real signatures agree in one process. What it
// prints, divided by the number of validators and views, is what one of them
// spends, with the checks of the auditor: all run on this machine, one after the
// other.
func TestThirtyTwoWithRealKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of pairings: left out of -short runs, runs in make test")
	}
	const n, blocks = 32, 8
	began := time.Now()
	w := enact(t, Config{Validators: n, RealKeys: true, Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond})
	dealt := time.Since(began)
	w.all(blocks, time.Minute)
	took := time.Since(began) - dealt
	views := int(w.viewsNow()[0])
	t.Logf("%d validators, %d views in %v: %v for each validator and view; dealing took %v",
		n, views, took.Round(time.Millisecond), (took / time.Duration(n*views)).Round(10*time.Microsecond), dealt.Round(time.Millisecond))
	w.clean()
}
