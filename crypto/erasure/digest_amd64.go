//go:build !purego

package erasure

import (
	"sync"

	sha256simd "github.com/minio/sha256-simd"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// streams digests sixteen shards at a time.
//
// The server starts with the first shards that are worth it. From then on its
// goroutine looks for work every microsecond, as long as the process lives: some
// per cent of a core that nodes of small committees and small blocks, which never
// need it, do not pay.
type streams struct {
	server func() *sha256simd.Avx512Server
}

func newStreams(f cpu.Features) *streams {
	if !f.AVX512F || !f.AVX512BW || !f.AVX512VL {
		return nil
	}
	return &streams{server: sync.OnceValue(sha256simd.NewAvx512Server)}
}

// digest lets each shard have a goroutine of its own, because the server
// gathers streams that are open at the same time; they do nothing but wait.
func (s *streams) digest(shards [][]byte, out [][DigestSize]byte) {
	server := s.server()
	var open sync.WaitGroup
	for i, shard := range shards {
		open.Go(func() {
			h := sha256simd.NewAvx512(server)
			_, _ = h.Write(shard) // never fails
			h.Sum(out[i][:0])
		})
	}
	open.Wait()
}
