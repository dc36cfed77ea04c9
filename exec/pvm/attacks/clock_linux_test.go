package attacks_test

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is the processor time of the running thread: other work of the machine is not
// in it.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
