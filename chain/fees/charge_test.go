package fees_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
)

func TestCharge(t *testing.T) { // whitepaper §2.3
	f := func(name string, tx chain.Tx, base chain.FeePair, used chain.Usage, burned, tip chain.Wei) {
		t.Helper()
		gotFee, gotBurned, gotTip, err := fees.Charge(&tx, base, used)
		if err != nil || gotBurned != burned || gotTip != tip || gotFee != burned+tip {
			t.Errorf("%s: fee %d, burned %d, tip %d, %v, want burned %d, tip %d", name, gotFee, gotBurned, gotTip, err, burned, tip)
		}
	}
	base := chain.FeePair{PerCycle: 5, PerCell: 3}
	used := chain.Usage{Cycles: 21_000, Cells: 10}
	f("tip in full", chain.Tx{MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 2, TipPerCell: 1}, base, used, 105_030, 42_010)
	f("tip cut by the cap", chain.Tx{MaxFeePerCycle: 6, MaxFeePerCell: 3, TipPerCycle: 2, TipPerCell: 1}, base, used, 105_030, 21_000)
	f("cap at the base fee", chain.Tx{MaxFeePerCycle: 5, MaxFeePerCell: 3, TipPerCycle: 2, TipPerCell: 1}, base, used, 105_030, 0)
	f("no tip offered", chain.Tx{MaxFeePerCycle: 50, MaxFeePerCell: 30}, base, used, 105_030, 0)
	f("tip above the cap", chain.Tx{MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: math.MaxUint64, TipPerCell: math.MaxUint64}, base, used, 105_030, 105_070)
	f("nothing used", chain.Tx{MaxFeePerCycle: 50, MaxFeePerCell: 30, TipPerCycle: 1}, base, chain.Usage{}, 0, 0)
}

func TestChargeRefuses(t *testing.T) { // resolution 2.13
	base := chain.FeePair{PerCycle: 5, PerCell: 3}
	var low *fees.BaseFeeError
	if _, _, _, err := fees.Charge(&chain.Tx{MaxFeePerCycle: 4, MaxFeePerCell: 3}, base, chain.Usage{}); !errors.As(err, &low) || low.Meter != "cycle" {
		t.Errorf("cycle cap below the base fee: %v", err)
	}
	if _, _, _, err := fees.Charge(&chain.Tx{MaxFeePerCycle: 5, MaxFeePerCell: 2}, base, chain.Usage{}); !errors.As(err, &low) || low.Meter != "cell" {
		t.Errorf("cell cap below the base fee: %v", err)
	}
	f := func(name string, tx chain.Tx, base chain.FeePair, used chain.Usage) {
		t.Helper()
		if _, _, _, err := fees.Charge(&tx, base, used); !errors.As(err, new(*fees.OverflowError)) {
			t.Errorf("%s: %v, want an OverflowError", name, err)
		}
	}
	top := chain.Tx{MaxFeePerCycle: math.MaxUint64, MaxFeePerCell: math.MaxUint64, TipPerCycle: math.MaxUint64, TipPerCell: math.MaxUint64}
	f("cycles alone", top, chain.FeePair{PerCycle: 1 << 32, PerCell: 1}, chain.Usage{Cycles: 1 << 32})
	f("cells alone", top, chain.FeePair{PerCycle: 1, PerCell: 1 << 32}, chain.Usage{Cells: 1 << 32})
	f("the base fee alone", chain.Tx{MaxFeePerCycle: 1 << 32}, chain.FeePair{PerCycle: 1 << 32}, chain.Usage{Cycles: 1 << 32})
	f("the tip alone", top, chain.FeePair{}, chain.Usage{Cycles: 2})
	f("both together", top, chain.FeePair{PerCycle: 1 << 63, PerCell: 1 << 63}, chain.Usage{Cycles: 1, Cells: 1})
	f("base and tip together", top, chain.FeePair{PerCycle: 1 << 63, PerCell: 0}, chain.Usage{Cycles: 2})
}

func TestMaxCost(t *testing.T) { // whitepaper §2.2b, resolution 2.12
	f := func(name string, tx chain.Tx, want chain.Wei, overflows bool) {
		t.Helper()
		got, err := fees.MaxCost(&tx)
		if errors.As(err, new(*fees.OverflowError)) != overflows || got != want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, want)
		}
	}
	f("value and both meters", chain.Tx{Value: 7, CyclesLimit: 21_000, MaxFeePerCycle: 10, CellsLimit: 5, MaxFeePerCell: 2}, 210_017, false)
	f("tips are inside the caps", chain.Tx{CyclesLimit: 1, MaxFeePerCycle: 10, TipPerCycle: 99}, 10, false)
	f("largest that fits", chain.Tx{Value: math.MaxUint64 - 2, CyclesLimit: 1, MaxFeePerCycle: 2}, math.MaxUint64, false)
	f("one more", chain.Tx{Value: math.MaxUint64 - 1, CyclesLimit: 1, MaxFeePerCycle: 2}, 0, true)
	f("product", chain.Tx{CyclesLimit: 1 << 32, MaxFeePerCycle: 1 << 32}, 0, true)
	f("sum of products", chain.Tx{CyclesLimit: 1, MaxFeePerCycle: 1 << 63, CellsLimit: 1, MaxFeePerCell: 1 << 63}, 0, true)
}

// FuzzCharge compares with arithmetic that has no limits, and holds the fee to
// what was reserved for it.
func FuzzCharge(f *testing.F) {
	f.Add(uint64(10), uint64(10), uint64(2), uint64(1), uint64(5), uint64(3), uint64(21_000), uint64(10))
	f.Add(uint64(math.MaxUint64), uint64(0), uint64(math.MaxUint64), uint64(0), uint64(1), uint64(0), uint64(1), uint64(0))
	f.Fuzz(func(t *testing.T, maxCycle, maxCell, tipCycle, tipCell, baseCycle, baseCell, cycles, cells uint64) {
		tx := chain.Tx{
			CyclesLimit: chain.Cycles(cycles), CellsLimit: chain.Cells(cells),
			MaxFeePerCycle: chain.Wei(maxCycle), MaxFeePerCell: chain.Wei(maxCell),
			TipPerCycle: chain.Wei(tipCycle), TipPerCell: chain.Wei(tipCell),
		}
		base := chain.FeePair{PerCycle: chain.Wei(baseCycle), PerCell: chain.Wei(baseCell)}
		fee, burned, tip, err := fees.Charge(&tx, base, chain.Usage{Cycles: tx.CyclesLimit, Cells: tx.CellsLimit})
		if maxCycle < baseCycle || maxCell < baseCell {
			if !errors.As(err, new(*fees.BaseFeeError)) {
				t.Fatalf("cap below the base fee: %v", err)
			}
			return
		}
		product := func(a, b uint64) *big.Int {
			return new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
		}
		wantBurned := product(cycles, baseCycle)
		wantBurned.Add(wantBurned, product(cells, baseCell))
		wantTip := product(cycles, min(tipCycle, maxCycle-baseCycle))
		wantTip.Add(wantTip, product(cells, min(tipCell, maxCell-baseCell)))
		wantFee := new(big.Int).Add(wantBurned, wantTip)
		if !wantFee.IsUint64() {
			if !errors.As(err, new(*fees.OverflowError)) {
				t.Fatalf("fee of %v: %v, want an OverflowError", wantFee, err)
			}
			return
		}
		if err != nil || uint64(fee) != wantFee.Uint64() || uint64(burned) != wantBurned.Uint64() || uint64(tip) != wantTip.Uint64() {
			t.Fatalf("fee %d, burned %d, tip %d, %v, want %v, %v, %v", fee, burned, tip, err, wantFee, wantBurned, wantTip)
		}
		if reserved, err := fees.MaxCost(&tx); err == nil && fee > reserved {
			t.Fatalf("fee %d above the %d reserved", fee, reserved)
		}
	})
}
