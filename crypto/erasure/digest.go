package erasure

import (
	"crypto/sha256"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// DigestSize is the length of a shard's digest in bytes.
const DigestSize = sha256.Size

// Bounds of ADR 11: from here on sixteen streams in vectors beat one after the
// other. Below, handing the streams over costs more than it gains.
const (
	vectorShardsMin = 32
	vectorWidthMin  = 32 << 10
)

// Digester computes digests of shards. One is enough for a process: with
// AVX-512 it owns a goroutine that serves all callers; it starts with the first
// shards wide enough for it and lives as long as the process does.
type Digester struct {
	streams *streams // nil where the processor has no vectors for it
}

// NewDigester returns a digester for a CPU with features f.
func NewDigester(f cpu.Features) *Digester { return &Digester{streams: newStreams(f)} }

// Digest sets out[i] to the SHA-256 of shards[i]. It panics if the lengths
// differ, which is a fault of the caller. It is safe for concurrent use.
func (d *Digester) Digest(shards [][]byte, out [][DigestSize]byte) {
	if len(shards) != len(out) {
		panic("erasure: Digest needs one output per shard")
	}
	if d.streams != nil && len(shards) >= vectorShardsMin && len(shards[0]) >= vectorWidthMin {
		d.streams.digest(shards, out)
		return
	}
	for i, s := range shards {
		out[i] = sha256.Sum256(s)
	}
}
