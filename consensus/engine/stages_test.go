package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// Each duration is in the one bucket whose bound it does not pass.
func TestDurationsFallIntoTheirBuckets(t *testing.T) {
	for i := range DurationBuckets - 1 {
		var d Durations
		d.add(BucketBound(i))
		d.add(BucketBound(i) + 1)
		got := d.Counts()
		if got[i] != 1 || got[i+1] != 1 || d.Sum() != 2*BucketBound(i)+1 {
			t.Errorf("bound of bucket %d: counts %v, sum %v", i, got, d.Sum())
		}
	}
	var d Durations
	d.add(-time.Second) // a clock that went back
	d.add(time.Hour)
	if got := d.Counts(); got[0] != 1 || got[DurationBuckets-1] != 1 {
		t.Errorf("counts %v, want the extremes in the outer buckets", got)
	}
}

// A view's time runs from its first proposal; views long gone do not count.
func TestSightings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sightings
		var d Durations
		s.see(7)
		time.Sleep(time.Second)
		s.see(7)
		s.since(7, &d)
		if d.Sum() != time.Second {
			t.Errorf("%v since the first sight, want 1s", d.Sum())
		}
		s.see(7 + 64)
		s.see(7)
		s.since(7, &d)
		s.since(8, &d)
		if d.Sum() != time.Second {
			t.Errorf("%v counted for views that are not remembered", d.Sum()-time.Second)
		}
	})
}

// slowGuard takes its time for each sync.
type slowGuard struct {
	memory
	syncs int
}

const slowSync = 10 * time.Millisecond

func (g *slowGuard) Sync() error {
	g.syncs++
	time.Sleep(slowSync)
	return nil
}

// The loop's own time is what it works and syncs, not what it waits.
func TestOwnTimeOfTheLoop(t *testing.T) {
	g := new(slowGuard)
	playWith(t, func(cfg *Config) { cfg.Guard = g }, func(s *scene) {
		time.Sleep(time.Hour)
		synctest.Wait()
		// Time stands still but for sleeps. The replay of the journal syncs before the loop.
		want := time.Duration(g.syncs-1) * slowSync
		if got := time.Duration(s.engine.Stats.OwnerNanos.Load()); g.syncs < 2 || got != want && got != want-slowSync {
			t.Errorf("the loop worked for %v of an hour, %d syncs took %v", got, g.syncs, want)
		}
	})
}
