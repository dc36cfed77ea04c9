package ledger

import (
	"math"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

func TestDrift(t *testing.T) {
	var d Drift
	if _, ok := d.Of(chain.PeerKey{1}); ok {
		t.Error("known before its first proposal")
	}
	f := func(timestamp, now uint64, want time.Duration) {
		t.Helper()
		d.observe(chain.PeerKey{1}, timestamp, now)
		if got, ok := d.Of(chain.PeerKey{1}); !ok || got != want {
			t.Errorf("timestamp %d at %d: %v, want %v", timestamp, now, got, want)
		}
	}
	f(5000, 5000, 0)
	f(5250, 5000, 250*time.Millisecond)
	f(4980, 5000, -20*time.Millisecond)
	f(math.MaxUint64, 0, driftMax)
	f(0, math.MaxUint64, -driftMax)
	f(math.MaxUint64, math.MaxUint64-1, time.Millisecond)
}
