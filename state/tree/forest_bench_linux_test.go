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
	f := NewForest(workers, func(bytes int) []byte {
		piece := make([]byte, bytes)
		_ = syscall.Madvise(piece, 14) // large pages
		return piece
	})
	im := f.EmptyImage()
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
		f.ForgetRows(im)
		b.StartTimer()
	}
	total := f.Footprint()
	b.ReportMetric(float64(total.Bytes)/float64(known), "B/account")
}

// BenchmarkForestMoving applies blocks of 40,000 changed accounts of a million, without rounds
// and with one always under way; ns/op is for one block.
func BenchmarkForestMoving(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, moving := range []bool{false, true} {
			b.Run(fmt.Sprintf("workers=%d/moving=%v", workers, moving), func(b *testing.B) {
				const accounts, updates = 1_000_000, 40_000
				f := NewForest(workers, nil)
				im := f.EmptyImage()
				block := func(n int, nonce uint64, pick func(int) uint64) {
					b.StopTimer()
					d := state.NewDelta()
					for i := range n {
						var addr chain.Address
						binary.BigEndian.PutUint64(addr[:], pick(i))
						d.SetAccount(addr, state.Account{Nonce: nonce, Balance: 1})
					}
					b.StartTimer()
					next, err := f.Apply(im, d)
					b.StopTimer()
					if err != nil {
						b.Fatal(err)
					}
					f.Retire(next)
					f.ForgetRows(next)
					im = next
					b.StartTimer()
				}
				block(accounts, 1, func(i int) uint64 { return uint64(i) })
				if moving {
					f.slack = -1 << 40
				}
				rng := rand.New(rand.NewPCG(1, 1))
				b.ResetTimer()
				for i := range b.N {
					block(updates, uint64(i)+2, func(int) uint64 { return rng.Uint64N(accounts) })
				}
			})
		}
	}
}

// BenchmarkForestWhale writes 50,000 slots of one actor a block, half of them
// new; ns/op is for one slot.
func BenchmarkForestWhale(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			f := NewForest(workers, nil)
			im, from := f.EmptyImage(), 0
			block := func(n, fresh int) {
				b.StopTimer()
				d := state.NewDelta()
				for i := range n {
					key := from + i
					if i >= fresh {
						key = (i * 7919) % from
					}
					text := binary.BigEndian.AppendUint64(make([]byte, 24), uint64(key))
					d.SetStorage(chain.Address{1}, state.NewStorageKey(1, text), binary.BigEndian.AppendUint64(make([]byte, 24), uint64(i+1)*0x9e3779b97f4a7c15))
				}
				from += fresh
				b.StartTimer()
				next, err := f.Apply(im, d)
				b.StopTimer()
				if err != nil {
					b.Fatal(err)
				}
				f.Retire(next)
				f.ForgetRows(next)
				im = next
				b.StartTimer()
			}
			block(200_000, 200_000)
			b.ResetTimer()
			for done := 0; done < b.N; done += 50_000 {
				block(50_000, 25_000)
			}
		})
	}
}
