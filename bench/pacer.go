package bench

import (
	"context"
	"runtime"
	"time"
)

// pacer waits for points in time more exactly than the runtime's timers, whose
// wake-ups come up to a millisecond late. It sleeps on an operating system
// thread of its own and spins through the last stretch.
type pacer struct {
	start time.Time
	spin  time.Duration
}

// sleepMax bounds one sleep, so that a cancelled run ends soon.
const sleepMax = 50 * time.Millisecond

// until returns at the given time after the start, or earlier with ctx's error.
// It returns at once when the time has passed: the schedule is never shifted.
func (p *pacer) until(ctx context.Context, due time.Duration) error {
	for {
		left := due - time.Since(p.start)
		if left <= 0 {
			return ctx.Err()
		}
		if left > p.spin {
			if err := ctx.Err(); err != nil {
				return err
			}
			sleepThread(min(left-p.spin, sleepMax))
			continue
		}
		runtime.Gosched() // on few cores the senders need the processor too
	}
}
