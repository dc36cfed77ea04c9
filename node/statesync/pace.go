package statesync

import (
	"context"
	"time"
)

// pace keeps the making of a checkpoint to half a core: all validators cut at the
// same height, so what it takes from consensus it takes from all of them at once.
// More rest would hold the state, and the memory of every later version, longer.
type pace struct {
	ctx    context.Context // of one checkpoint
	resume time.Time
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
}

// restMax is how long one rest lasts at most: the work between two rests is about
// a millisecond, and a long one was spent waiting for a disk.
const restMax = 250 * time.Millisecond

func newPace(ctx context.Context) *pace {
	return &pace{ctx: ctx, resume: time.Now(), now: time.Now, sleep: sleep}
}

// rest waits as long as was worked since the last rest.
func (p *pace) rest() error {
	err := p.sleep(p.ctx, min(p.now().Sub(p.resume), restMax))
	p.resume = p.now()
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ctx.Err()
	}
}
