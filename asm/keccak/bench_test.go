package keccak

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

func BenchmarkSum(b *testing.B) {
	for _, k := range Kernels(cpu.Detect()) {
		for _, size := range []int{32, 64, 136, 532} {
			b.Run(fmt.Sprintf("kernel=%s/bytes=%d", k, size), func(b *testing.B) {
				msgs, out := make([][]byte, k.Lanes()), make([][Size]byte, k.Lanes())
				for i := range msgs {
					msgs[i] = make([]byte, size)
				}
				b.SetBytes(int64(size * len(msgs)))
				b.ReportAllocs()
				for b.Loop() {
					k.Sum(msgs, out)
				}
				b.ReportMetric(float64(len(msgs))*float64(b.N)/b.Elapsed().Seconds(), "hashes/s")
			})
		}
	}
}
