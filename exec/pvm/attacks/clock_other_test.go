//go:build !linux

package attacks_test

import "time"

// started is when the tests began.
var started = time.Now()

// threadTime is the time since the tests began, where there is no clock of a thread.
func threadTime() time.Duration { return time.Since(started) }
