package store

import "syscall"

// Advice of madvise(2).
const (
	madvHugepage = 14
	madvCollapse = 25
)

// LargePages asks the kernel to back memory with large pages. It is a hint: a
// kernel that does not know it, or has none to give, leaves things as they are.
// Memory that the process used before has small pages already, which the first
// advice does not change: they are put together at once.
func LargePages(b []byte) {
	_ = syscall.Madvise(b, madvHugepage)
	_ = syscall.Madvise(b, madvCollapse)
}
