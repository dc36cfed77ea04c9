package statesync

import (
	"flag"
	"testing"
	"testing/synctest"
	"time"
)

var dripped = flag.Int("drip", 6000, "accounts of the state that TestDrip fetches")

// TestDrip: servers that answer every request just before its time is over hardly slow
// the fetch down: it takes at most one and a half times as long as among honest ones.
func TestDrip(t *testing.T) {
	accounts := *dripped
	for _, n := range []int{4, 7} {
		f := (n - 1) / 3
		fetch := func(drippers int) (took time.Duration, asked map[int]int) {
			synctest.Test(t, func(t *testing.T) {
				h, s := village(t, n, accounts)
				h.client.cfg.RequestTimeout = DefaultClientConfig().RequestTimeout
				h.client.cfg.RestFor = DefaultClientConfig().RestFor
				h.client.cfg.StarvedAfter = DefaultClientConfig().StarvedAfter
				h.delay = func(server int, msg []byte) time.Duration {
					if server < drippers && msg[0] == tagChunk {
						return h.client.cfg.RequestTimeout * 95 / 100
					}
					return 150 * time.Millisecond
				}
				start := time.Now()
				check(t, h.client.Run(t.Context()))
				took, asked = time.Since(start), h.asked
				h.arrived(t, s)
			})
			return took, asked
		}
		honest, _ := fetch(0)
		took, asked := fetch(f)
		t.Logf("n = %d: %v, honest %v: %.2fx; asked %v", n, took, honest, took.Seconds()/honest.Seconds(), asked)
		if extra := took - honest; extra > honest/2 {
			t.Errorf("n = %d: %v with %d drippers, honest %v", n, took, f, honest)
		}
	}
}
