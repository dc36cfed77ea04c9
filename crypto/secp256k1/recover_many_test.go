package secp256k1

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
)

// recoverers returns one for each path that the machine has.
func recoverers() []*Recoverer {
	fast, portable := NewRecoverer(cpu.Detect()), NewRecoverer(cpu.Features{})
	if fast.Name() == portable.Name() {
		return []*Recoverer{portable}
	}
	return []*Recoverer{fast, portable}
}

func BenchmarkRecoverMany(b *testing.B) {
	for _, r := range recoverers() {
		for _, n := range []int{1, 8, 16, 32, 64, 256} {
			b.Run(fmt.Sprintf("kernel=%s/n=%d", r.Name(), n), func(b *testing.B) {
				hashes, sigs, out := make([][32]byte, n), make([]Signature, n), make([]Recovered, n)
				for i := range n {
					hashes[i] = [32]byte{byte(i)}
					sigs[i] = testKey(b, uint64(i)).Sign(hashes[i])
				}
				b.ReportAllocs()
				for b.Loop() {
					r.RecoverMany(hashes, sigs, out)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "recovers/s")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/float64(b.N), "ns/recover")
			})
		}
	}
}
