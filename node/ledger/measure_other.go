//go:build !linux

package ledger

import "time"

// threadTime measures real time where threads have no clock of their own.
func threadTime() func() uint64 {
	began := time.Now()
	return func() uint64 { return uint64(time.Since(began)) }
}
