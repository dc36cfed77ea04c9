package statesync

import (
	"runtime"
	"syscall"
	"testing"
)

// TestYieldThread lowers the priority of one thread, and of no other.
func TestYieldThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	nice := make(chan int)
	go func() {
		yieldThread()
		got, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid())
		if err != nil {
			t.Error(err)
		}
		nice <- 20 - got // as the kernel answers
	}()
	if got := <-nice; got < yieldedNice {
		t.Errorf("priority %d, want %d", got, yieldedNice)
	}
	if got, err := syscall.Getpriority(syscall.PRIO_PROCESS, syscall.Gettid()); err != nil || 20-got >= yieldedNice {
		t.Errorf("another thread has priority %d, %v", 20-got, err)
	}
}
