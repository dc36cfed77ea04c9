package nice

import (
	"runtime"
	"syscall"
)

// lowered is their priority: beside other work on a busy core they get about a
// tenth of it.
const lowered = 10

// Thread gives the calling goroutine a thread of low priority until it ends,
// and the thread with it: a thread cannot get its priority back.
func Thread() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), lowered) // else it works as others do
}
