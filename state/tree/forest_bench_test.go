package tree

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// BenchmarkForest applies blocks of changed accounts, half of them new; ns/op
// is for one account. The making of a block's delta is not timed.
func BenchmarkForest(b *testing.B) {
	for _, accounts := range []int{100_000, 1_000_000} {
		for _, updates := range []int{10_000, 50_000} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("accounts=%d/updates=%d/workers=%d", accounts, updates, workers), func(b *testing.B) {
					benchmarkForest(b, accounts, updates, workers)
				})
			}
		}
	}
}

func benchmarkForest(b *testing.B, accounts, updates, workers int) {
	rng, known := rand.New(rand.NewPCG(1, 1)), uint64(1)
	block := func(n, fresh int) *state.Delta {
		d := state.NewDelta()
		for i := range n {
			k := rng.Uint64N(known)
			if i < fresh {
				k, known = known, known+1
			}
			var addr chain.Address
			binary.BigEndian.PutUint64(addr[:], k)
			d.SetAccount(addr, state.Account{Nonce: 1, Balance: chain.Wei(rng.Uint64())})
		}
		return d
	}
	f := NewForest(workers, func(b []byte) { _ = syscall.Madvise(b, 14) })
	im := f.Empty()
	apply := func(d *state.Delta) {
		next, err := f.Apply(im, d)
		if err != nil {
			b.Fatal(err)
		}
		im = next
	}
	apply(block(accounts, accounts))
	b.ResetTimer()
	for done := 0; done < b.N; done += updates {
		b.StopTimer()
		d := block(updates, updates/2)
		b.StartTimer()
		apply(d)
		b.StopTimer()
		f.Retire(im)
		b.StartTimer()
	}
	total := f.Footprint()
	b.ReportMetric(float64(total.Bytes)/float64(known), "B/account")
}
