package erasure

import (
	"runtime"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// TestDigestLeavesNoGoroutine: nothing may look for work after the last shard is
// summed, for as long as a validator lives (ADR 11).
func TestDigestLeavesNoGoroutine(t *testing.T) {
	shards := make([][]byte, 2*sharedShardsMin)
	for i := range shards {
		shards[i] = make([]byte, sharedWidthMin)
	}
	before := runtime.NumGoroutine()
	NewDigester(cpu.Detect()).Digest(shards, make([][DigestSize]byte, len(shards)))
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines after the digest, %d before", runtime.NumGoroutine(), before)
}
