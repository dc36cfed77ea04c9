package statesync

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestPace works for given times: each rest is as long as the work before it, and
// bounded; the end of the context ends it.
func TestPace(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	now, slept := time.Unix(1, 0), time.Duration(0)
	p := &pace{ctx: ctx, resume: now, now: func() time.Time { return now }, sleep: func(ctx context.Context, d time.Duration) error {
		slept, now = d, now.Add(d)
		return ctx.Err()
	}}
	for _, tt := range []struct{ worked, rested time.Duration }{
		{time.Millisecond, time.Millisecond}, {0, 0}, {40 * time.Millisecond, 40 * time.Millisecond}, {time.Minute, restMax},
	} {
		now = now.Add(tt.worked)
		if err := p.rest(); err != nil || slept != tt.rested {
			t.Errorf("after %v of work: %v of rest, %v, want %v", tt.worked, slept, err, tt.rested)
		}
	}
	cancel()
	if err := newPace(ctx).rest(); !errors.Is(err, context.Canceled) {
		t.Errorf("a rest in an ended context: %v", err)
	}
}
