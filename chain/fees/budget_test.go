package fees_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

func TestBudgetCascade(t *testing.T) { // resolutions 2.1-2.4, 11.14
	p := params.Default()
	cycles := func(c chain.Cycles) fees.Space { return fees.Space{Usage: chain.Usage{Cycles: c}} }
	left := func(b *fees.Budget, lane chain.LaneID, want chain.Cycles) {
		t.Helper()
		if got := b.Left(lane).Cycles; got != want {
			t.Errorf("%v lane has %d cycles left, want %d", lane, got, want)
		}
	}
	b := fees.NewBudget(&p)
	left(b, chain.LaneSystem, 500_000)
	left(b, chain.LaneTimer, 2_500_000)
	left(b, chain.LaneRunner, 5_000_000)
	left(b, chain.LaneUser, 20_000_000) // an empty block's user lane reaches the cap

	if b.Fits(chain.LaneSystem, cycles(500_001)) || !b.Fits(chain.LaneSystem, cycles(500_000)) {
		t.Error("the system lane holds exactly its share")
	}
	b.Take(chain.LaneSystem, cycles(100_000))
	left(b, chain.LaneSystem, 400_000)
	b.Take(chain.LaneRunner, cycles(4_900_000)) // its own, what System left, and all of Timer's
	left(b, chain.LaneSystem, 0)                // served lanes are closed
	if b.Fits(chain.LaneSystem, fees.Space{}) {
		t.Error("something fits a lane that was served")
	}
	b.Take(chain.LaneSystem, cycles(1)) // neither it nor a lane that is none takes anything
	b.Take(chain.NumLanes, cycles(1))
	left(b, chain.LaneSystem, 0)
	left(b, chain.LaneRunner, 0)
	left(b, chain.LaneUser, 15_000_000) // its share and the space above the target
	b.Take(chain.LaneUser, cycles(15_000_000))
	left(b, chain.LaneUser, 0)
	if b.Fits(chain.LaneUser, cycles(1)) || !b.Fits(chain.LaneUser, cycles(0)) {
		t.Error("a full block fits nothing")
	}
}

func TestBudgetReserve(t *testing.T) { // resolution 11.14: what due timers may take does not spill
	p := params.Default()
	b := fees.NewBudget(&p)
	b.Reserve(chain.LaneTimer, chain.Usage{Cycles: 300_000, Cells: 100_001})
	for lane, want := range [chain.NumLanes]chain.Usage{
		{Cycles: 500_000, Cells: 25_000},
		{Cycles: 2_200_000, Cells: 25_000},
		{Cycles: 4_700_000, Cells: 150_000},
		{Cycles: 19_700_000, Cells: 900_000},
	} {
		if got := b.Left(chain.LaneID(lane)); got.Usage != want {
			t.Errorf("%v lane has %+v left, want %+v", chain.LaneID(lane), got, want)
		}
		if l := chain.LaneID(lane); !b.Fits(l, fees.Space{Usage: want}) || b.Fits(l, fees.Space{Usage: chain.Usage{Cycles: want.Cycles + 1}}) {
			t.Errorf("%v lane does not hold exactly what is left", l)
		}
	}
}

func TestBudgetMeters(t *testing.T) { // cells have the same shares (resolution 11.14)
	p := params.Default()
	b := fees.NewBudget(&p)
	if b.Fits(chain.LaneSystem, fees.Space{Usage: chain.Usage{Cycles: 1, Cells: 25_001}}) {
		t.Error("more cells than the system lane's share fit")
	}
	if !b.Fits(chain.LaneUser, fees.Space{Usage: chain.Usage{Cycles: 20_000_000, Cells: 1_000_000}}) {
		t.Error("both caps at once do not fit the user lane")
	}
	if b.Fits(chain.NumLanes, fees.Space{}) {
		t.Error("something fits a lane that is none")
	}
}

// TestBudgetBytes: bytes have the same shares, of all that the largest header leaves
// of a block, and flow down like cycles (docs/adr/0069).
func TestBudgetBytes(t *testing.T) {
	p := params.Default()
	room := p.MaxBlockBytes - chain.MaxHeaderBytes
	bytes := func(n uint64) fees.Space { return fees.Space{Bytes: n} }
	b := fees.NewBudget(&p)
	left := func(lane chain.LaneID, want uint64) {
		t.Helper()
		if got := b.Left(lane).Bytes; got != want || !b.Fits(lane, bytes(want)) || b.Fits(lane, bytes(want+1)) {
			t.Errorf("%v lane has %d bytes left, want %d", lane, got, want)
		}
	}
	system, timer, runner := room*5/100, room*20/100, room*25/100
	left(chain.LaneSystem, system)
	left(chain.LaneRunner, system+timer+runner) // no transaction is the timer lane's
	left(chain.LaneUser, room)
	b.Take(chain.LaneRunner, bytes(system+timer+runner))
	left(chain.LaneRunner, 0)
	left(chain.LaneUser, room-system-timer-runner) // its share, whatever runners sent
	if got := fees.LaneBytes(&p, chain.LaneUser); got < p.MaxTxBytes+chain.BodyFrameBytes {
		t.Errorf("the user lane's own share is %d bytes: the largest transaction may never fit", got)
	}
}

// TestBudgetNeverExceeds fills blocks at random and holds every lane to its
// guarantee and the block to its cap. Rerun one case with
// -run 'TestBudgetNeverExceeds/seed=17'.
func TestBudgetNeverExceeds(t *testing.T) {
	p := params.Default()
	for seed := range uint64(100) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			b := fees.NewBudget(&p)
			var total fees.Space
			for lane := range chain.NumLanes {
				var took fees.Space
				if got, reserved := b.Left(lane), fees.LaneTarget(&p, lane); got.Cycles < reserved.Cycles || got.Cells < reserved.Cells || got.Bytes < fees.LaneBytes(&p, lane) {
					t.Fatalf("%v lane starts with %+v, below its share %+v", lane, got, reserved)
				}
				for range rng.IntN(40) {
					want := fees.Space{
						Usage: chain.Usage{Cycles: chain.Cycles(rng.Uint64N(3_000_000)), Cells: chain.Cells(rng.Uint64N(150_000))},
						Bytes: rng.Uint64N(p.MaxTxBytes),
					}
					if !b.Fits(lane, want) {
						continue
					}
					used := want
					used.Cycles /= chain.Cycles(1 + rng.IntN(3))
					before := b.Left(lane)
					b.Take(lane, used)
					if after := b.Left(lane); after.Cycles != before.Cycles-used.Cycles || after.Cells != before.Cells-used.Cells || after.Bytes != before.Bytes-used.Bytes {
						t.Fatalf("%v lane: %+v left after taking %+v of %+v", lane, after, used, before)
					}
					took.Cycles += used.Cycles
					took.Cells += used.Cells
					took.Bytes += used.Bytes
				}
				total.Cycles += took.Cycles
				total.Cells += took.Cells
				total.Bytes += took.Bytes
				// Below the user lane nobody reaches beyond the shares so far.
				if lane < chain.LaneUser && total.Cycles+b.Left(lane).Cycles > sharesUpTo(&p, lane).Cycles {
					t.Fatalf("%v lane reached past the shares up to it", lane)
				}
			}
			if total.Cycles > p.CyclesCap || total.Cells > p.CellsCap || total.Bytes > p.MaxBlockBytes-chain.MaxHeaderBytes {
				t.Fatalf("block used %+v, above the caps", total)
			}
		})
	}
}

func sharesUpTo(p *params.Params, lane chain.LaneID) chain.Usage {
	var sum chain.Usage
	for l := range lane + 1 {
		u := fees.LaneTarget(p, l)
		sum.Cycles += u.Cycles
		sum.Cells += u.Cells
	}
	return sum
}
