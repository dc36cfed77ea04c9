package fees_test

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// rule is the genesis's with another floor.
func rule(floor chain.Wei) fees.Rule {
	p := params.Default()
	return fees.Rule{Alpha: p.BaseFeeAlpha, DeltaBasisPoints: p.BaseFeeDeltaBasisPoints, Floor: floor}
}

func TestNextBase(t *testing.T) { // whitepaper §4.2, resolution 2.6
	f := func(base chain.Wei, used, target uint64, want chain.Wei) {
		t.Helper()
		if got := rule(1).NextFee(base, used, target); got != want {
			t.Errorf("NextBase(%d, %d, %d) = %d, want %d", base, used, target, got, want)
		}
	}
	f(800, 10, 10, 800)                   // at target: unchanged
	f(1, 20, 10, 2)                       // a rise is at least 1
	f(1, 11, 10, 2)                       // however small the excess
	f(800, 20, 10, 900)                   // twice the target: +12.5 %
	f(800, 1000, 10, 900)                 // far above, as the user lane can be: still +12.5 %
	f(800, 0, 10, 700)                    // empty: -12.5 %
	f(800, 5, 10, 750)                    // half: half the step
	f(7, 0, 10, 7)                        // a fall is rounded down, so small fees rest
	f(1, 0, 10, 1)                        // never below 1
	f(1<<63, 0, 10, 7<<60)                // the product needs 128 bits
	f(1<<63, 20, 10, 9<<60)               // and the sum still fits
	f(math.MaxUint64, 20, 10, 1<<64-1)    // a sum that does not stops at the top
	f(1<<63, 1<<62+1, 1<<62, 1<<63+1)     // targets may be huge, too
	f(1_000_000, 0, 2_000_000, 875_000)   // the timer lane's share
	f(1_000_000, 10, 0xffffffff, 875_001) // rounding is downwards in both divisions
	if got := rule(95).NextFee(100, 0, 10); got != 95 {
		t.Errorf("NextBase with floor 95 = %d", got)
	}
	if got := rule(95).NextFee(90, 10, 10); got != 95 {
		t.Errorf("NextBase of a fee below a raised floor = %d, want 95", got)
	}
	wide := fees.Rule{Alpha: 8, DeltaBasisPoints: 5_000, Floor: 1} // resolution 14.3: delta is no 1/alpha
	for _, tt := range []struct{ used, want uint64 }{{20, 900}, {30, 1000}, {50, 1200}, {90, 1200}, {0, 700}} {
		if got := wide.NextFee(800, tt.used, 10); got != chain.Wei(tt.want) {
			t.Errorf("with delta 0.5, %d of 10 used: %d, want %d", tt.used, got, tt.want)
		}
	}
	if got := (fees.Rule{Alpha: 8, DeltaBasisPoints: 100, Floor: 1}).NextFee(800, 90, 10); got != 808 {
		t.Errorf("with delta 0.01: %d, want 808", got)
	}
}

// TestNextBaseIsEthereums replays base fees of Ethereum's test chains: the rule
// is EIP-1559's with another floor (resolution 2.6).
func TestNextBaseIsEthereums(t *testing.T) {
	var pairs []struct {
		Parent string `json:"parent_base_fee"`
		Used   uint64 `json:"parent_gas_used"`
		Limit  uint64 `json:"parent_gas_limit"`
		Want   string `json:"base_fee"`
		Source string `json:"source"`
	}
	vectors.Decode(t, "eip1559/basefee_pairs.json", &pairs)
	if len(pairs) < 40 {
		t.Fatalf("only %d pairs", len(pairs))
	}
	for _, v := range pairs {
		parent, err := strconv.ParseUint(v.Parent, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		got := rule(0).NextFee(chain.Wei(parent), v.Used, v.Limit/2)
		if strconv.FormatUint(uint64(got), 10) != v.Want {
			t.Errorf("%s: base fee after %d with %d of %d used = %d, want %s", v.Source, parent, v.Used, v.Limit, got, v.Want)
		}
	}
}

// FuzzNextBase holds the bounds of whitepaper §4.2 and the exact value of
// resolution 2.6, computed without limits of size.
func FuzzNextBase(f *testing.F) {
	f.Add(uint64(800), uint64(20), uint64(10), uint64(8), uint64(1_250), uint64(1))
	f.Add(uint64(math.MaxUint64), uint64(math.MaxUint64), uint64(1), uint64(1), uint64(10_000), uint64(1))
	f.Add(uint64(1), uint64(0), uint64(math.MaxUint64), uint64(8), uint64(1), uint64(1))
	f.Fuzz(func(t *testing.T, base, used, target, alpha, delta, floor uint64) {
		if target == 0 || alpha == 0 || delta == 0 || delta > params.BasisPoints {
			return // Params.Check refuses them (TestParamsCheck)
		}
		got := uint64(fees.Rule{Alpha: alpha, DeltaBasisPoints: delta, Floor: chain.Wei(floor)}.NextFee(chain.Wei(base), used, target))
		if got < floor {
			t.Errorf("%d is below the floor %d", got, floor)
		}
		big64 := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
		gap := new(big.Int).Sub(big64(used), big64(target))
		up := gap.Sign() > 0
		step := gap.Abs(gap)
		step.Mul(step, big64(base)).Div(step, big64(target)).Div(step, big64(alpha))
		most := big64(base)
		if most.Mul(most, big64(delta)).Div(most, big64(params.BasisPoints)); step.Cmp(most) > 0 {
			step = most
		}
		want := big64(base)
		switch {
		case up && step.Sign() == 0:
			want.Add(want, big64(1))
		case up:
			want.Add(want, step)
		case used < target:
			want.Sub(want, step)
		}
		if want.Cmp(big64(floor)) < 0 {
			want = big64(floor)
		}
		if want.Cmp(big64(math.MaxUint64)) > 0 {
			want = big64(math.MaxUint64)
		}
		if want.Uint64() != got {
			t.Errorf("Next(%d, %d, %d, %d, %d, %d) = %d, want %v", base, used, target, alpha, delta, floor, got, want)
		}
	})
}

func TestLaneTargets(t *testing.T) { // resolutions 2.1, 2.4, 11.14
	p := params.Default()
	want := [chain.NumLanes]chain.Usage{{Cycles: 500_000, Cells: 25_000}, {Cycles: 2_000_000, Cells: 100_000}, {Cycles: 2_500_000, Cells: 125_000}, {Cycles: 5_000_000, Cells: 250_000}}
	for lane := range chain.NumLanes {
		if got := fees.LaneTarget(&p, lane); got != want[lane] {
			t.Errorf("%v lane: target %+v, want %+v", lane, got, want[lane])
		}
	}
	p.CyclesTarget, p.CellsTarget = 10_000_019, 500_003 // not divisible
	var sum chain.Usage
	for lane := range chain.NumLanes {
		u := fees.LaneTarget(&p, lane)
		sum.Cycles += u.Cycles
		sum.Cells += u.Cells
	}
	if sum.Cycles != p.CyclesTarget || sum.Cells != p.CellsTarget {
		t.Errorf("lane targets add up to %+v, want the target", sum)
	}
}

func TestNextBaseFees(t *testing.T) { // resolution 11.26
	p := params.Default()
	h := &chain.Header{}
	for lane := range chain.NumLanes {
		h.BaseFees[lane] = chain.FeePair{PerCycle: 800, PerCell: 80}
	}
	h.Used[chain.LaneUser] = chain.Usage{Cycles: 10_000_000, Cells: 250_000} // twice the share; just the share
	h.Used[chain.LaneRunner] = chain.Usage{Cycles: 2_500_000}
	got := fees.NextBaseFees(&p, h)
	want := [chain.NumLanes]chain.FeePair{
		chain.LaneSystem: {PerCycle: 700, PerCell: 70},
		chain.LaneTimer:  {PerCycle: 700, PerCell: 70},
		chain.LaneRunner: {PerCycle: 800, PerCell: 70},
		chain.LaneUser:   {PerCycle: 900, PerCell: 80},
	}
	if got != want {
		t.Errorf("per lane: %+v, want %+v", got, want)
	}

	h.Used[chain.LaneTimer] = fees.LaneTarget(&p, chain.LaneTimer) // all that it can use
	if got := fees.NextBaseFees(&p, h)[chain.LaneTimer]; got != (chain.FeePair{PerCycle: 900, PerCell: 90}) {
		t.Errorf("a full timer lane: %+v", got)
	}
	for _, tt := range []struct {
		use  chain.Usage
		want chain.FeePair
	}{ // both fees move on the fuller meter
		{chain.Usage{Cycles: 750_000, Cells: 37_500}, chain.FeePair{PerCycle: 800, PerCell: 80}},
		{chain.Usage{Cycles: 750_000}, chain.FeePair{PerCycle: 800, PerCell: 80}},
		{chain.Usage{Cells: 37_500}, chain.FeePair{PerCycle: 800, PerCell: 80}},
		{chain.Usage{Cycles: 1_000_000, Cells: 64}, chain.FeePair{PerCycle: 833, PerCell: 83}},
		{chain.Usage{Cycles: 2_000, Cells: 50_000}, chain.FeePair{PerCycle: 833, PerCell: 83}},
		{chain.Usage{Cycles: 375_000, Cells: 9_000}, chain.FeePair{PerCycle: 750, PerCell: 75}},
		{chain.Usage{Cycles: math.MaxUint64, Cells: 1}, chain.FeePair{PerCycle: 900, PerCell: 90}},
	} {
		h.Used[chain.LaneTimer] = tt.use
		if got := fees.NextBaseFees(&p, h)[chain.LaneTimer]; got != tt.want {
			t.Errorf("a timer lane that used %+v: %+v, want %+v", tt.use, got, tt.want)
		}
	}
	h.Used[chain.LaneTimer] = chain.Usage{}

	p.BaseFeePerLane = false // the one-fee form of whitepaper §17.8
	got = fees.NextBaseFees(&p, h)
	for lane, pair := range got {
		if pair != (chain.FeePair{PerCycle: 825, PerCell: 75}) { // 12.5M of 10M cycles, half the cells
			t.Errorf("one fee: lane %v has %+v", chain.LaneID(lane), pair)
		}
	}
}
