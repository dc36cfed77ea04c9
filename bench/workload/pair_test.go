package workload_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/bench/workload"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/crypto/erasure"
)

// fourShards is the code of four validators.
func fourShards(tb testing.TB) *shards.Code {
	code, err := shards.NewCode(4, shards.Limits{WholeMax: 64 << 10, BodyMax: 64 << 20, HeadMax: shards.HeadMax}, erasure.NewDigester(cpu.Chosen()))
	if err != nil {
		tb.Fatal(err)
	}
	return code
}

func newPair(tb testing.TB, code *shards.Code, people int) *workload.Pair {
	cfg := solo.DefaultConfig()
	cfg.Shards = code
	p, err := workload.NewPair(tb.Context(), cfg, people)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// follow is what one block took who followed it.
type follow struct {
	gossip         time.Duration // processor time of taking its transactions into the pool before
	wall, cpu      time.Duration
	objects, bytes uint64
	recovered      uint64
	split          solo.Split
}

// next makes a block of transfers and has it followed, by a chain whose pool has them or
// has not.
func (f *follow) next(ctx context.Context, tb testing.TB, p *workload.Pair, txs int, pooled bool) solo.Block {
	tb.Helper()
	bodies := p.Transfers(txs)
	if pooled {
		began := bars.ProcessCPU()
		if err := p.Gossip(ctx, bodies); err != nil {
			tb.Fatal(err)
		}
		f.gossip += bars.ProcessCPU() - began
	}
	sealed, err := p.Lead(ctx, bodies)
	if err != nil {
		tb.Fatal(err)
	}
	recovered := p.Follows.Senders().Recovered.Load()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, spent := time.Now(), bars.ProcessCPU()
	block, err := p.Follows.Follow(ctx, sealed)
	f.wall += time.Since(began)
	f.cpu += bars.ProcessCPU() - spent
	if err != nil {
		tb.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	f.objects += after.Mallocs - before.Mallocs
	f.bytes += after.TotalAlloc - before.TotalAlloc
	f.recovered += p.Follows.Senders().Recovered.Load() - recovered
	f.split.Add(&block.Split)
	return block
}

// TestFollow has a chain follow another, whole and in shards, with the transactions in its
// pool and without, and holds the two to the same state.
func TestFollow(t *testing.T) {
	for _, code := range []*shards.Code{nil, fourShards(t)} {
		p := newPair(t, code, 50)
		for _, pooled := range []bool{true, false} {
			const txs = 1000
			var f follow
			b := f.next(t.Context(), t, p, txs, pooled)
			if len(b.Txs) != txs || p.Follows.Head().State.Root() != p.Leads.Head().State.Root() {
				t.Fatalf("pooled %t: %d transactions followed, heads %d and %d", pooled, len(b.Txs), p.Leads.Head().Height(), p.Follows.Head().Height())
			}
			if want := uint64(txs); pooled && f.recovered != 0 || !pooled && f.recovered != want {
				t.Errorf("pooled %t: %d senders recovered of %d", pooled, f.recovered, txs)
			}
		}
	}
}

// BenchmarkFollow is what a block of transfers costs a validator that did not propose it,
// from the bytes, or the shards, to the disk and the pool's new head.
func BenchmarkFollow(b *testing.B) {
	const people, txs = 1000, 5000
	for _, of := range []struct {
		name   string
		pooled bool
		code   *shards.Code
	}{{"pooled", true, nil}, {"pooled-shards", true, fourShards(b)}, {"unknown", false, nil}} {
		b.Run(of.name, func(b *testing.B) {
			p := newPair(b, of.code, people)
			var f follow
			for b.Loop() {
				f.next(b.Context(), b, p, txs, of.pooled)
			}
			all := float64(txs * b.N)
			per := func(v uint64, unit string) { b.ReportMetric(float64(v)/all, unit) }
			per(uint64(f.wall), "wall-ns/tx")
			per(uint64(f.cpu), "cpu-ns/tx")
			per(uint64(f.gossip), "gossip-cpu-ns/tx")
			per(f.objects, "allocs/tx")
			per(f.bytes, "B/tx")
			per(f.recovered, "recoveries/tx")
			for _, s := range f.split.Stages() {
				if s.Time > 0 {
					per(uint64(s.Time), s.Name+"-ns/tx")
				}
			}
		})
	}
}
