//go:build !linux

package bench

import "time"

func sleepThread(d time.Duration) { time.Sleep(d) }
