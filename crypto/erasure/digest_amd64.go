//go:build !purego

package erasure

import (
	"sync"

	sha256simd "github.com/minio/sha256-simd"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// streams digests sixteen shards at a time.
type streams struct{ server *sha256simd.Avx512Server }

func newStreams(f cpu.Features) *streams {
	if !f.AVX512F || !f.AVX512BW || !f.AVX512VL {
		return nil
	}
	return &streams{server: sha256simd.NewAvx512Server()}
}

// digest lets each shard have a goroutine of its own, because the server
// gathers streams that are open at the same time; they do nothing but wait.
func (s *streams) digest(shards [][]byte, out [][DigestSize]byte) {
	var open sync.WaitGroup
	for i, shard := range shards {
		open.Go(func() {
			h := sha256simd.NewAvx512(s.server)
			_, _ = h.Write(shard) // never fails
			h.Sum(out[i][:0])
		})
	}
	open.Wait()
}
