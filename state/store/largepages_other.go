//go:build !linux

package store

// LargePages does nothing on this system.
func LargePages([]byte) {}
