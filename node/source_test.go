package node

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

func TestHealthNoticesAStall(t *testing.T) {
	p := params.Default() // leader timeout 2 s
	now := time.UnixMilli(1_000_000)
	for age, want := range map[int64]int{-5_000: 0, 1_000: 0, 20_000: 0, 21_000: 1} {
		if got := stalled(uint64(now.UnixMilli()-age), now, &p); len(got) != want {
			t.Errorf("head %d ms old: %q", age, got)
		}
	}
}

// TestNotReadyBeforeTheJournalIsRead: a load balancer must not send clients to
// a validator that still replays.
func TestNotReadyBeforeTheJournalIsRead(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{})
	deadline := time.Now().Add(time.Minute)
	for !r.engine.Stats.Resumed.Load() {
		if time.Now().After(deadline) {
			t.Fatal("the journal of a new chain is not read in a minute")
		}
		time.Sleep(time.Millisecond)
	}
	if h := r.answers.Health(); !h.Ready {
		t.Errorf("after the replay: %+v", h)
	}
	r.engine.Stats.Resumed.Store(false)
	if h := r.answers.Health(); h.Ready || h.Status != "starting" {
		t.Errorf("before the replay: %+v", h)
	}
}
