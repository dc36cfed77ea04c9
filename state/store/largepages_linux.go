package store

import "syscall"

// madvHugepage is MADV_HUGEPAGE of madvise(2).
const madvHugepage = 14

// LargePages asks the kernel to back memory with large pages. It is a hint: a
// kernel that does not know it, or has none to give, leaves things as they are.
func LargePages(b []byte) { _ = syscall.Madvise(b, madvHugepage) }
