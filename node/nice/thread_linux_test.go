package nice

import (
	"runtime"
	"syscall"
	"testing"
)

// TestThread lowers the priority of one thread, and of no other.
func TestThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	nice := make(chan int)
	go func() {
		Thread()
		got, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
		if err != nil {
			t.Error(err)
		}
		nice <- 20 - got // as the kernel answers
	}()
	if got := <-nice; got < lowered {
		t.Errorf("priority %d, want %d", got, lowered)
	}
	if got, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid()); err != nil || 20-got >= lowered {
		t.Errorf("another thread has priority %d, %v", 20-got, err)
	}
}
