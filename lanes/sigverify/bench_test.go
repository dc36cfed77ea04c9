package sigverify

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// BenchmarkPipeline sends new transactions through a running pipeline and shows
// where the time of the workers goes. There are no more workers than cores, beside two.
func BenchmarkPipeline(b *testing.B) {
	for _, workers := range []int{1, 2, 4, 8, 16} {
		if workers > max(2, runtime.GOMAXPROCS(0)) {
			break
		}
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			const n, part = 2_000, 50
			bodies := make([][]byte, n)
			for i := range bodies {
				bodies[i] = signed(b, byte(i%50), uint64(i/50))
			}
			var parse, recover, gather uint64
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				p, err := New(DefaultConfig(workers), &taker{})
				if err != nil {
					b.Fatal(err)
				}
				ctx, cancel := context.WithCancel(b.Context())
				done := make(chan struct{})
				go func() { p.Run(ctx); close(done) }()
				var open sync.WaitGroup
				b.StartTimer()
				for at := 0; at < n; at += part {
					open.Add(1)
					if err := p.Submit(bodies[at:at+part], func([]Verdict) { open.Done() }); err != nil {
						b.Fatal(err)
					}
				}
				open.Wait()
				b.StopTimer()
				cancel()
				<-done
				parse, recover, gather = parse+p.Stats.ParseNanos.Load(), recover+p.Stats.RecoverNanos.Load(), gather+p.Stats.GatherNanos.Load()
				b.StartTimer()
			}
			txs := float64(n * b.N)
			b.ReportMetric(txs/b.Elapsed().Seconds(), "txs/s")
			b.ReportMetric(float64(parse)/txs, "parse-ns/tx")
			b.ReportMetric(float64(recover)/txs, "recover-ns/tx")
			b.ReportMetric(float64(gather)/txs, "gather-ns/tx")
		})
	}
}

// BenchmarkKnown is what a transaction costs in a proposed block that admission
// has seen: one hash and one lookup.
func BenchmarkKnown(b *testing.B) {
	p, err := New(DefaultConfig(1), &taker{})
	if err != nil {
		b.Fatal(err)
	}
	bodies := make([][]byte, 1_000)
	for i := range bodies {
		bodies[i] = signed(b, byte(i%50), uint64(i/50))
	}
	for b.Loop() {
		if _, err := p.VerifyBlock(b.Context(), bodies); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(bodies)*b.N)/b.Elapsed().Seconds(), "txs/s")
}
