package exec

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/state"
)

// transact runs one transaction: judge, reserve, run, charge, refund (whitepaper
// §2.3; resolution 2.12). The error is an [*InvalidTx] or a [*Fault].
func (b *block) transact(index int, tx *chain.VerifiedTx) error {
	sender, err := b.account(tx.Sender)
	if err != nil {
		return err
	}
	ins, err := b.judge(tx, &sender)
	if err != nil {
		if errors.As(err, new(*Fault)) {
			return err
		}
		return &InvalidTx{Index: index, Err: err}
	}
	reserved, err := fees.MaxCost(tx.Tx)
	if err != nil {
		return &Fault{"reserve for a valid transaction", err}
	}
	sender.Nonce++
	sender.Balance -= reserved // judge found it spendable
	b.state.SetAccount(tx.Sender, sender)

	used := ins.Intrinsic(&b.in.Params.Intrinsic) // all that a transfer or an instruction uses
	code, err := b.run(ins, tx)
	if err != nil {
		return err
	}
	fee, burned, tip, err := fees.Charge(tx.Tx, b.in.BaseFees[tx.Lane], used)
	if err != nil {
		return &Fault{"charge a valid transaction", err}
	}
	refund := reserved - fee
	if code == chain.CodeOK {
		refund -= tx.Tx.Value // the recipient has it
	}
	if err := b.credit(tx.Sender, refund); err != nil {
		return err
	}
	return b.settle(tx, used, code, burned, tip)
}

// judge says what the transaction is, or why it may not stand here. A [*Fault]
// says that this node cannot tell.
func (b *block) judge(tx *chain.VerifiedTx, sender *state.Account) (chain.Instruction, error) {
	if tx.Lane < b.lane {
		return chain.Instruction{}, fmt.Errorf("%w: %v after %v", ErrLaneOrder, tx.Lane, b.lane)
	}
	ins, err := fees.CheckStatic(tx, b.in.Params, b.in.ChainID) // the lane is one from here on
	if err != nil {
		return ins, err
	}
	if err := fees.CheckRole(ins, tx.Sender, b.in.Validators); err != nil {
		return ins, err
	}
	spendable, err := fees.Spendable(sender.Balance, sender.Meta, b.in.Height)
	if err != nil {
		return ins, &Fault{"read metadata of " + tx.Sender.String(), err}
	}
	if err := fees.CheckSender(tx.Tx, b.in.BaseFees[tx.Lane], sender.Nonce, spendable); err != nil {
		return ins, err
	}
	limits := chain.Usage{Cycles: tx.Tx.CyclesLimit, Cells: tx.Tx.CellsLimit}
	if !b.budget.Fits(tx.Lane, limits) {
		return ins, fmt.Errorf("%w: %+v, left %+v", ErrLaneFull, limits, b.budget.Left(tx.Lane))
	}
	target, err := b.account(*tx.Tx.To) // every executable kind has a target
	if err != nil {
		return ins, err
	}
	if ins = ins.WithCode(target.HasCode()); !ins.Executable {
		return ins, fmt.Errorf("%w: %s", fees.ErrKindUnsupported, ins.Name)
	}
	return ins, nil
}

// run does what the transaction is for and returns the receipt's code. The error
// is a [*Fault].
func (b *block) run(ins chain.Instruction, tx *chain.VerifiedTx) (uint16, error) {
	if ins.To == chain.AddrStaking && ins.Opcode == chain.OpEvidenceSubmit {
		return b.submitEvidence(tx)
	}
	return b.transfer(tx.Tx)
}

// transfer moves the value to the recipient, out of what was reserved, and
// returns the receipt's code. The error is a [*Fault].
func (b *block) transfer(tx *chain.Tx) (uint16, error) {
	if tx.Value == 0 {
		return chain.CodeOK, nil // leaves no empty account behind
	}
	to, err := b.account(*tx.To)
	if err != nil {
		return 0, err
	}
	if !add(&to.Balance, tx.Value) {
		return chain.CodeBalanceOverflow, nil
	}
	b.state.SetAccount(*tx.To, to)
	return chain.CodeOK, nil
}

// settle books what a transaction used and paid, and writes its receipt.
func (b *block) settle(tx *chain.VerifiedTx, used chain.Usage, code uint16, burned, tip chain.Wei) error {
	r := &b.result
	if !add(&r.Burned, burned) || !add(&r.Tips, tip) {
		return &Fault{"add up fees", ErrMoney}
	}
	status := chain.StatusSucceeded
	if code != chain.CodeOK {
		status = chain.StatusFailed
	}
	r.Receipts = append(r.Receipts, chain.Receipt{
		TxHash: tx.Hash, Lane: tx.Lane, Status: status, Code: code,
		CyclesUsed: used.Cycles, CellsUsed: used.Cells,
		Fee: burned + tip, Tip: tip,
	})
	b.lane = tx.Lane
	b.budget.Take(tx.Lane, used)
	r.Used[tx.Lane].Cycles += used.Cycles
	r.Used[tx.Lane].Cells += used.Cells
	return nil
}
