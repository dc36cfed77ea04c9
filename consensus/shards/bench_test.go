package shards_test

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/crypto/erasure"
)

// BenchmarkBody is what a body of ten thousand transfers costs who encodes it, which is
// also what it costs to hold a body that came whole to its root, and who puts it together
// from the shards that are not the body itself.
func BenchmarkBody(b *testing.B) {
	body := make([]byte, 10_000*113)
	for i := range body {
		body[i] = byte(i * i >> 3)
	}
	for _, n := range []int{4, 100} {
		code, err := shards.NewCode(n, shards.Limits{WholeMax: 1, BodyMax: 1 << 24, HeadMax: 1024}, erasure.NewDigester(cpu.Chosen()))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("encode=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := code.Root(body); err != nil {
					b.Fatal(err)
				}
			}
		})
		w, err := code.Encode(body)
		if err != nil {
			b.Fatal(err)
		}
		pieces := make([][]byte, n)
		for i := n - code.Needed(); i < n; i++ {
			pieces[i] = w.Shard(i).Bytes
		}
		b.Run(fmt.Sprintf("rebuild=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := code.Rebuild(w.Opening, pieces); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
