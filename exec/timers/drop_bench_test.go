package timers

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// BenchmarkDrop ends the timers of two actors, of 1,023 and 1,024, as the evictions of one
// block do at most, out of an overflow tree of so many others.
func BenchmarkDrop(b *testing.B) {
	for _, row := range []struct {
		name   string
		others int
		ahead  chain.Height
	}{{"far", 60_000, 4_000_000}, {"near", 60_000, 20}} {
		b.Run(row.name, func(b *testing.B) {
			p := testParams(b, func(t *params.Timer) { t.MaxPerActor = 1 << 20 })
			o := state.NewOverlay(state.Empty{})
			c := Clock{Params: p, Height: 10, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
			at := uint64(1)
			set := func(actor byte, n int) {
				for range n {
					at = at*6364136223846793005 + 1442695040888963407
					if _, _, err := Set(o, c, spec(actor, 11+row.ahead+chain.Height(at>>33)%1_000_000)); err != nil {
						b.Fatal(err)
					}
				}
			}
			set(3, row.others)
			set(1, 1_023)
			set(2, 1_024)
			before := o.Snapshot()
			for b.Loop() {
				for actor := byte(1); actor <= 2; actor++ {
					if _, _, err := DropAll(o, c, spec(actor, 0).Actor, 1_024); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				o.Revert(before)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/2_047, "µs/timer")
		})
	}
}
