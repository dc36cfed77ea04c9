//go:build !linux

package nice

// Thread does nothing where threads have no priorities of their own.
func Thread() {}
