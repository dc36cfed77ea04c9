//go:build !linux

package statesync

// yieldThread does nothing where threads have no priorities of their own.
func yieldThread() {}
