package store

import (
	"sync"
	"syscall"
)

// pages is memory taken from the operating system.
type pages struct {
	mu     sync.Mutex
	pieces [][]byte
}

// Advice of madvise(2).
const (
	madvHugepage = 14
	madvCollapse = 25
)

// allocate returns memory with zeros: from the collector, if the system has none to
// map. Large pages are a hint: a kernel that does not know it, or has none to
// give, leaves things as they are.
func (p *pages) allocate(bytes int) []byte {
	b, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return make([]byte, bytes)
	}
	if bytes >= largePagesMin {
		_ = syscall.Madvise(b, madvHugepage)
		_ = syscall.Madvise(b, madvCollapse)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pieces = append(p.pieces, b)
	return b
}

// free gives all of it back.
func (p *pages) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.pieces {
		_ = syscall.Munmap(b)
	}
	p.pieces = nil
}
