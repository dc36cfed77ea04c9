//go:build !linux

package store

// pages is memory of the collector.
type pages struct{}

func (p *pages) allocate(bytes int) []byte { return make([]byte, bytes) }

func (p *pages) free() {}
