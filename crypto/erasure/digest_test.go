package erasure

import (
	"runtime"
	"testing"
	"time"

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
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) { // some may still be on their way out
		if time.Now().After(end) {
			t.Fatalf("%d goroutines after the digest, %d before", runtime.NumGoroutine(), before)
		}
	}
}
