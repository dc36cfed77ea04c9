package bench

import (
	"syscall"
	"time"
)

// sleepThread sleeps in the kernel, past the runtime's coarser timers. An early
// return on a signal is harmless: the caller looks at the clock again.
func sleepThread(d time.Duration) {
	ts := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&ts, nil)
}
