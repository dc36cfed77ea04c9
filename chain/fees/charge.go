//spec:implements whitepaper 2.1-2.4, 8.4

package fees

import (
	"fmt"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// OverflowError means that an amount a transaction stands for does not fit 64
// bits. Since the whole supply does, nobody can pay it: the transaction is
// invalid.
type OverflowError struct{ Amount string }

func (e *OverflowError) Error() string { return e.Amount + " exceeds 64 bits" }

// EffectiveTip returns what the proposer gets per unit: the tip offered, as far
// as the fee cap leaves room for it above the base fee (whitepaper §2.3). It is
// 0 where the cap is below the base fee, but such a transaction cannot stand in
// a block at all.
func EffectiveTip(tx *chain.Tx, base chain.FeePair) chain.FeePair {
	return bidOf(tx).EffectiveTip(base)
}

// EffectiveTip is [EffectiveTip] of a bid.
func (b Bid) EffectiveTip(base chain.FeePair) chain.FeePair {
	return chain.FeePair{
		PerCycle: min(b.Tip.PerCycle, over(b.Most.PerCycle, base.PerCycle)),
		PerCell:  min(b.Tip.PerCell, over(b.Most.PerCell, base.PerCell)),
	}
}

// over returns a-b, or 0 if that is negative.
func over(a, b chain.Wei) chain.Wei {
	if a < b {
		return 0
	}
	return a - b
}

// MaxCost returns the most that a transaction can take from its sender: its
// value and its limits at its fee caps. That much is reserved before it runs
// (resolution 2.12). The error is an [*OverflowError].
func MaxCost(tx *chain.Tx) (chain.Wei, error) {
	reserve, ok := cost(chain.Usage{Cycles: tx.CyclesLimit, Cells: tx.CellsLimit}, tx.FeeCaps())
	total, carry := bits.Add64(uint64(reserve), uint64(tx.Value), 0)
	if !ok || carry != 0 {
		return 0, &OverflowError{"value and limits at the fee caps"}
	}
	return chain.Wei(total), nil
}

// Charge returns what a transaction pays for what it used (whitepaper §2.3):
// burned is the base fee of it all, tip goes to the proposer, and fee is their
// sum. It needs fee caps that are not below base and used within the limits;
// then fee does not exceed the limits at the fee caps. The errors are
// [*BaseFeeError] and [*OverflowError].
func Charge(tx *chain.Tx, base chain.FeePair, used chain.Usage) (fee, burned, tip chain.Wei, err error) {
	return bidOf(tx).Charge(base, used)
}

// Bid is what somebody offers for use: a transaction, or a timer that fires.
type Bid struct {
	Most chain.FeePair // fee caps
	Tip  chain.FeePair
}

func bidOf(tx *chain.Tx) Bid {
	return Bid{
		Most: tx.FeeCaps(),
		Tip:  chain.FeePair{PerCycle: tx.TipPerCycle, PerCell: tx.TipPerCell},
	}
}

// Charge is [Charge] of what was used under the bid.
func (b Bid) Charge(base chain.FeePair, used chain.Usage) (fee, burned, tip chain.Wei, err error) {
	if err := b.checkAgainst(base); err != nil {
		return 0, 0, 0, err
	}
	burned, okBurned := cost(used, base)
	tip, okTip := cost(used, b.EffectiveTip(base))
	sum, carry := bits.Add64(uint64(burned), uint64(tip), 0)
	if !okBurned || !okTip || carry != 0 {
		return 0, 0, 0, &OverflowError{"fee"}
	}
	return chain.Wei(sum), burned, tip, nil
}

// cost returns used at the given prices; ok is false when it does not fit.
func cost(used chain.Usage, price chain.FeePair) (total chain.Wei, ok bool) {
	hiCycles, cycles := bits.Mul64(uint64(used.Cycles), uint64(price.PerCycle))
	hiCells, cells := bits.Mul64(uint64(used.Cells), uint64(price.PerCell))
	sum, carry := bits.Add64(cycles, cells, 0)
	return chain.Wei(sum), hiCycles == 0 && hiCells == 0 && carry == 0
}

// BaseFeeError means that a transaction's fee cap is below the base fee
// (resolution 2.13). The proposer leaves it in the pool, where it waits for the
// fee to fall; a block that holds it is invalid.
type BaseFeeError struct {
	Meter     string // as the cap's name in a transaction ends
	Cap, Base chain.Wei
}

func (e *BaseFeeError) Error() string {
	return fmt.Sprintf("max_fee_per_%s %d below the base fee %d", e.Meter, e.Cap, e.Base)
}

func (b Bid) checkAgainst(base chain.FeePair) error {
	switch {
	case b.Most.Covers(base):
		return nil
	case b.Most.PerCycle < base.PerCycle:
		return &BaseFeeError{"cycle", b.Most.PerCycle, base.PerCycle}
	default:
		return &BaseFeeError{"cell", b.Most.PerCell, base.PerCell}
	}
}
