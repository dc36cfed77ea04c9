package market_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
)

const benchRunners = 5_000

// benchWorld is a registry of 5,000 runners that all pass.
func benchWorld(b *testing.B) *world {
	w := newWorld(b)
	w.p.Runner.MaxRegistered = benchRunners
	rng := rand.New(rand.NewPCG(1, 19))
	w.block(chain.Hash{}, func(d *jobs.Dispatch) {
		for n := range benchRunners {
			var a chain.Address
			for i := range a {
				a[i] = byte(rng.Uint32())
			}
			enlist(b, d, a, w.p.Runner.StakeFloor*chain.Wei(1+rng.IntN(100)), chain.RateCard{HTTPRequestBase: chain.Wei(n)}, 8)
		}
	})
	return w
}

// BenchmarkPasses are the passes of the market with one job of nine among 5,000 runners: the
// end of its submission block with all offers known and with none, and the draw of the next
// block. The state is in maps, so that reading it is next to nothing.
func BenchmarkPasses(b *testing.B) {
	w := benchWorld(b)
	id := chain.Hash{7}
	nine := order{by: chain.Address{9}, runners: 9, agree: 5, timeout: 100}
	end := func(memo *jobs.Memo) (time.Duration, *state.Overlay) {
		o := state.NewOverlay(w.maps)
		d := w.dispatch(o, chain.Hash{1}, memo)
		submit(b, d, id, nine)
		began := time.Now()
		if err := d.Snapshot(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began), o
	}
	least := func(run func() time.Duration) float64 {
		best := time.Hour
		for range 5 {
			best = min(best, run())
		}
		return float64(best.Microseconds())
	}
	known := jobs.NewMemo()
	_, o := end(known)
	begin := func(memo *jobs.Memo) time.Duration {
		next := state.NewOverlay(o)
		w.height++
		d := w.dispatch(next, chain.Hash{1}, memo)
		w.height--
		began := time.Now()
		if err := d.Assign(d.Book.Height - 1); err != nil {
			b.Fatal(err)
		}
		if seats, err := jobs.ReadSeats(next, id, 0); err != nil || len(seats) != 9 {
			b.Fatalf("%d seats, %v", len(seats), err)
		}
		return time.Since(began)
	}
	for b.Loop() {
		b.ReportMetric(least(func() time.Duration { took, _ := end(known); return took }), "µs-snapshot")
		b.ReportMetric(least(func() time.Duration { took, _ := end(jobs.NewMemo()); return took }), "µs-snapshot-cold")
		b.ReportMetric(least(func() time.Duration { return begin(known) }), "µs-draw")
	}
}
