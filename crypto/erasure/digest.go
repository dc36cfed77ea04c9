package erasure

import (
	"crypto/sha256"
	"sync"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// DigestSize is the length of a shard's digest in bytes.
const DigestSize = sha256.Size

// Below these bounds handing shards over costs more than it gains.
const (
	sharedShardsMin = 32
	sharedWidthMin  = 32 << 10
	digestWorkers   = 8
)

// Digester computes digests of shards. It has no state and no goroutine that
// outlives a call: the vector server of the library that it uses would sum sixteen
// shards at a time, and poll for ever after (ADR 11).
type Digester struct{}

// NewDigester returns a digester. The library finds the processor's SHA extensions
// by itself.
func NewDigester(cpu.Features) *Digester { return &Digester{} }

// Digest sets out[i] to the SHA-256 of shards[i]. It panics if the lengths
// differ, which is a fault of the caller. It is safe for concurrent use.
func (d *Digester) Digest(shards [][]byte, out [][DigestSize]byte) {
	if len(shards) != len(out) {
		panic("erasure: Digest needs one output per shard")
	}
	if len(shards) < sharedShardsMin || len(shards[0]) < sharedWidthMin {
		digestEach(shards, out)
		return
	}
	var open sync.WaitGroup
	part := (len(shards) + digestWorkers - 1) / digestWorkers
	for from := 0; from < len(shards); from += part {
		to := min(from+part, len(shards))
		open.Go(func() { digestEach(shards[from:to], out[from:to]) })
	}
	open.Wait()
}

func digestEach(shards [][]byte, out [][DigestSize]byte) {
	for i, s := range shards {
		out[i] = sum(s)
	}
}
