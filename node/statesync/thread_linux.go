package statesync

import (
	"runtime"
	"syscall"
)

// yieldedNice is the priority of threads that yield: beside a busy core's other
// work they get about a tenth of it.
const yieldedNice = 10

// yieldThread gives the calling goroutine a thread of low priority until it ends,
// and the thread with it: a thread cannot get its priority back.
func yieldThread() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), yieldedNice) // else it works as others do
}
