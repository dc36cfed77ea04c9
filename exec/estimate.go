package exec

import (
	"errors"
	"math"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/state"
)

// Estimation is what a transaction would have done as the first of a block.
type Estimation struct {
	actor.Outcome // Used includes what is intrinsic
	Lane          chain.LaneID
	Limits        chain.Usage // that it ran with
	Fee           chain.Wei   // at the block's base fees and the transaction's tips
	Short         chain.Wei   // what the sender lacks of value and fee; 0: it can pay
	Growth        uint64      // factor of the price of new bytes of the state, in basis points
}

// Estimate runs a transaction on a state and forgets what it wrote. Of tx it
// takes target, value, payload, limits and tips; nonce, fee caps and signature
// are not looked at, and a limit of 0 stands for the most there can be. A sender
// that is too poor is lent what it lacks. The error is an [*InvalidTx] for a
// transaction that no block takes, or a [*Fault].
func Estimate(view state.View, in Inputs, sender chain.Address, tx chain.Tx) (Estimation, error) {
	b := newBlock(view, in)
	b.explain = true
	if err := b.readMeter(); err != nil {
		return Estimation{}, err
	}
	if err := timers.Reprice(b.state, b.clock()); err != nil {
		return Estimation{}, &Fault{"price the timers", err}
	}
	from, err := b.account(sender)
	if err != nil {
		return Estimation{}, err
	}
	ins, err := tx.Classify()
	if err != nil {
		return Estimation{}, &InvalidTx{Err: err}
	}
	out := Estimation{Lane: ins.Lane, Growth: b.actors.Factor}
	if err := b.complete(&tx, ins, from.Nonce); err != nil {
		return Estimation{}, err
	}
	body := tx.Encode()
	vtx := &chain.VerifiedTx{Tx: &tx, Body: body, Hash: chain.TxHash(body), Sender: sender, Lane: ins.Lane}
	spendable, err := funds.Spendable(&from, in.Height)
	if err != nil {
		return Estimation{}, &Fault{"read metadata of " + sender.String(), err}
	}
	reserved, err := fees.MaxCost(&tx)
	if err != nil {
		return Estimation{}, &InvalidTx{Err: err}
	}
	if err := lend(view, &from, reserved, spendable); err != nil {
		return Estimation{}, err
	}
	if ins, err = b.classify(vtx, &from); err != nil {
		if errors.As(err, new(*Fault)) {
			return Estimation{}, err
		}
		return Estimation{}, &InvalidTx{Err: err}
	}
	out.Limits = chain.Usage{Cycles: tx.CyclesLimit, Cells: tx.CellsLimit}
	from.Nonce++
	from.Balance -= reserved
	b.state.SetAccount(sender, from)
	intrinsic := in.Params.Intrinsic.Of(ins)
	if out.Outcome, err = b.run(ins, vtx, intrinsic); err != nil {
		return Estimation{}, err
	}
	out.Used.Cycles += intrinsic.Cycles
	out.Used.Cells += intrinsic.Cells
	if out.Fee, _, _, err = fees.Charge(&tx, in.BaseFees[ins.Lane], out.Used); err != nil {
		return Estimation{}, &Fault{"charge an estimated transaction", err}
	}
	total, carry := bits.Add64(uint64(out.Fee), uint64(tx.Value), 0)
	if carry != 0 {
		total = math.MaxUint64
	}
	out.Short = chain.Wei(total) - min(chain.Wei(total), spendable)
	return out, nil
}

// lend gives a sender what it lacks, unless there would be more money then than 64
// bits count: no sum of balances overflows in what follows. The error is an
// [*InvalidTx] or a [*Fault].
func lend(view state.View, from *state.Account, need, spendable chain.Wei) error {
	if need <= spendable {
		return nil
	}
	supply, err := staking.ReadSupply(view)
	if err != nil {
		return &Fault{"read supply", err}
	}
	if loan := need - spendable; !funds.Add(&supply.Total, loan) || !funds.Add(&from.Balance, loan) {
		return &InvalidTx{Err: &fees.FundsError{Need: need, Spendable: spendable}}
	}
	return nil
}

// complete fills in what a sender leaves open: the chain, the nonce, fee caps at
// the base fees, and limits.
func (b *block) complete(tx *chain.Tx, ins chain.Instruction, nonce uint64) error {
	p, base := b.in.Params, b.in.BaseFees[ins.Lane]
	tx.ChainID, tx.Nonce, tx.Signature = b.in.ChainID, nonce, &chain.TxSignature{}
	tx.MaxFeePerCycle, tx.MaxFeePerCell = base.PerCycle, base.PerCell
	if !funds.Add(&tx.MaxFeePerCycle, tx.TipPerCycle) || !funds.Add(&tx.MaxFeePerCell, tx.TipPerCell) {
		return &InvalidTx{Err: funds.ErrMoney}
	}
	room := b.budget.Left(ins.Lane) // a block without other transactions
	if tx.CellsLimit == 0 {
		tx.CellsLimit = min(p.MaxTxCells, room.Cells)
	}
	if tx.CyclesLimit > 0 {
		return nil
	}
	tx.CyclesLimit = min(p.MaxTxCycles, room.Cycles)
	if tx.To == nil {
		return nil
	}
	target, err := b.account(*tx.To)
	if err != nil || !(ins.WithCode(target.HasCode()).Kind == chain.KindMessage) {
		return err
	}
	left, err := b.leftOf(*tx.To)
	if err != nil {
		return err
	}
	tx.CyclesLimit = min(tx.CyclesLimit, left+p.Intrinsic.Of(ins.WithCode(true)).Cycles)
	return nil
}
