package ledger

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// threadTime begins to measure the processor time of what the goroutine does, which
// stays on its thread until it asks.
func threadTime() func() uint64 {
	runtime.LockOSThread()
	began := threadNanos()
	return func() uint64 {
		defer runtime.UnlockOSThread()
		return threadNanos() - began
	}
}

func threadNanos() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0 // then nothing takes long
	}
	return uint64(t.Nano())
}
