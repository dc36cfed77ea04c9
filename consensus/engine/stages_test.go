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
