package exec

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/roles"
)

// transact runs one transaction and books it. The error is an [*InvalidTx] or a
// [*Fault].
func (b *block) transact(index int, tx *chain.VerifiedTx) error {
	if p, ok := b.payable(tx, b.state); ok {
		return b.takePayment(tx, p)
	}
	return b.transactByRule(index, tx)
}

// transactByRule is transact without the short way of payments, beside which it stands.
func (b *block) transactByRule(index int, tx *chain.VerifiedTx) error {
	a, err := b.execute(index, tx)
	if err != nil {
		return err
	}
	return b.commit(tx, &a)
}

// Execution is what became of a transaction, besides its writes.
type Execution struct {
	out         actor.Outcome
	burned, tip chain.Wei
}

// execute does what depends on the state alone: classify, reserve, run, charge, refund
// (whitepaper §2.3; resolution 2.12). The error is an [*InvalidTx] or a [*Fault].
//
// Money is conserved: the highest cost leaves the sender's balance before anything runs, so
// no program can spend it; of that, fee is split into burned and tip, which commit books,
// the value goes to the recipient if the run succeeded, and the rest comes back. fee <=
// reserved, since what is used is within the limits and prices are capped at the fee caps.
func (b *block) execute(index int, tx *chain.VerifiedTx) (a Execution, err error) {
	sender, err := b.account(tx.Sender)
	if err != nil {
		return a, err
	}
	ins, err := b.classify(tx, &sender)
	if err != nil {
		if errors.As(err, new(*Fault)) {
			return a, err
		}
		return a, &InvalidTx{Index: index, Err: err}
	}
	reserved, err := fees.MaxCost(tx.Tx)
	if err != nil {
		return a, &Fault{"reserve for a valid transaction", err}
	}
	sender.Nonce++
	sender.Balance -= reserved // classify found it spendable
	b.state.SetAccount(tx.Sender, sender)

	intrinsic := b.in.Params.Intrinsic.Of(ins)
	if a.out, err = b.run(ins, tx, intrinsic); err != nil {
		return a, err
	}
	used := chain.Usage{Cycles: intrinsic.Cycles + a.out.Used.Cycles, Cells: intrinsic.Cells + a.out.Used.Cells}
	fee, burned, tip, err := fees.Charge(tx.Tx, b.in.BaseFees[tx.Lane], used)
	if err != nil {
		return a, &Fault{"charge a valid transaction", err}
	}
	refund := reserved - fee
	if a.out.Code == chain.CodeOK {
		refund -= tx.Tx.Value // the recipient has it
	}
	a.out.Used, a.burned, a.tip = used, burned, tip
	return a, b.credit(tx.Sender, refund)
}

// classify says what the transaction is, or why it may not stand here. A [*Fault]
// says that this node cannot tell.
func (b *block) classify(tx *chain.VerifiedTx, sender *state.Account) (chain.Instruction, error) {
	ins, err := b.judge(tx, sender, b)
	if err != nil || ins.Kind != chain.KindMessage {
		return ins, err
	}
	return ins, b.judgeActor(ins, tx)
}

// judge is classify for all but the actor of a message.
func (b *block) judge(tx *chain.VerifiedTx, sender *state.Account, at fees.Place) (chain.Instruction, error) {
	if b.budget != nil && tx.Lane < b.lane {
		return chain.Instruction{}, fmt.Errorf("%w: %v after %v", ErrLaneOrder, tx.Lane, b.lane)
	}
	spendable, err := funds.Spendable(sender, b.in.Height)
	if err != nil {
		return chain.Instruction{}, &Fault{"read metadata of " + tx.Sender.String(), err}
	}
	rule := fees.Validity{
		Params: b.in.Params, ChainID: b.in.ChainID,
		Roles: fees.RolesOf(b.in.Validators, b.in.Params),
	}
	ins, _, err := rule.Judge(tx, fees.Standing{Nonce: sender.Nonce, Spendable: spendable}, at)
	return ins, err
}

// Base implements [fees.Place].
func (b *block) Base(_ *params.Params, lane chain.LaneID) chain.FeePair { return b.in.BaseFees[lane] }

// Room implements [fees.Place].
func (b *block) Room(_ *params.Params, tx *chain.VerifiedTx) error {
	if need := needOf(tx); b.budget != nil && !b.budget.Fits(tx.Lane, need) {
		return fmt.Errorf("%w: %+v, left %+v", ErrLaneFull, need, b.budget.Left(tx.Lane))
	}
	return nil
}

// Target implements [fees.Place].
func (b *block) Target(tx *chain.Tx) (fees.Target, error) {
	target, err := b.state.CodeAndMeta(*tx.To)
	if err != nil {
		return fees.Target{}, &Fault{"read account " + tx.To.String(), err}
	}
	return fees.Target{HasCode: target.HasCode()}, nil
}

// IsRunner implements [fees.Place].
func (b *block) IsRunner(sender chain.Address) (bool, error) {
	is, err := roles.IsRunner(b.state, sender)
	if err != nil {
		err = &Fault{"read the role of " + sender.String(), err}
	}
	return is, err
}

// IsAssigned implements [fees.Place].
func (b *block) IsAssigned(job chain.Hash, sender chain.Address) (bool, error) {
	is, err := roles.IsAssigned(b.state, job, sender)
	if err != nil {
		err = &Fault{"read the seat of " + sender.String(), err}
	}
	return is, err
}

// judgeActor says whether a message may start: its actor has cycles left in this block
// (resolution 11.22).
func (b *block) judgeActor(ins chain.Instruction, tx *chain.VerifiedTx) error {
	left, err := b.leftOf(*tx.Tx.To)
	if err != nil {
		return err
	}
	need := b.in.Params.Intrinsic.Of(ins)
	if tx.Tx.CyclesLimit-need.Cycles > left-min(left, b.reserved) {
		return fmt.Errorf("%w: %d cycles left, %d of them reserved", ErrActorBusy, left, b.reserved)
	}
	return nil
}

// leftOf returns what cycles an actor has left in this block (resolution 11.22), those
// that are held back for its due timers apart. The error is a [*Fault].
func (b *block) leftOf(a chain.Address) (chain.Cycles, error) {
	l, err := actor.ReadQuota(b.state, a)
	if err != nil {
		return 0, &Fault{"read the quota of " + a.String(), err}
	}
	return l.Left(&b.in.Params.Actor, b.in.Height), nil
}

func limitsOf(tx *chain.VerifiedTx) chain.Usage {
	return chain.Usage{Cycles: tx.Tx.CyclesLimit, Cells: tx.Tx.CellsLimit}
}

// needOf is what a lane must have left for a transaction to start.
func needOf(tx *chain.VerifiedTx) fees.Space {
	return fees.Space{Usage: limitsOf(tx), Bytes: fees.TxBytes(tx)}
}

// limitsLeft is what the transaction's limits leave besides what is intrinsic, which fits
// into them.
func limitsLeft(tx *chain.VerifiedTx, intrinsic chain.Usage) chain.Usage {
	limits := limitsOf(tx)
	return chain.Usage{Cycles: limits.Cycles - intrinsic.Cycles, Cells: limits.Cells - intrinsic.Cells}
}

// run does what the transaction is for, within its limits less what is intrinsic.
// The error is a [*Fault].
func (b *block) run(ins chain.Instruction, tx *chain.VerifiedTx, intrinsic chain.Usage) (actor.Outcome, error) {
	limit := limitsLeft(tx, intrinsic)
	switch ins.Kind {
	case chain.KindTransfer:
		return b.transfer(ins, tx.Tx, limit)
	case chain.KindDeploy:
		return b.deploy(tx, limit)
	case chain.KindMessage:
		return b.message(tx, limit)
	}
	return b.instruct(ins, tx, limit)
}

// startRun begins a run for a transaction.
func (b *block) startRun(tx *chain.VerifiedTx, limit chain.Usage) *actor.Run {
	return actor.NewRun(b.actors, b.state, b.in.Engine, actor.Start{
		Origin: tx.Sender, ID: tx.Hash, Cycles: limit.Cycles, Cells: limit.Cells, Warm: b.warm, Explain: b.explain,
	})
}

// deploy makes an actor.
func (b *block) deploy(tx *chain.VerifiedTx, limit chain.Usage) (actor.Outcome, error) {
	d, err := actor.ParsePayload(tx.Tx.Payload)
	if err != nil {
		return actor.Outcome{}, &Fault{"read a payload that was judged", err}
	}
	d.Creator, d.Value = tx.Sender, tx.Tx.Value
	out, err := b.startRun(tx, limit).Deploy(&d)
	return out, fault("deploy", err)
}

// message hands the transaction to its target's handler.
func (b *block) message(tx *chain.VerifiedTx, limit chain.Usage) (actor.Outcome, error) {
	handler, arg, err := chain.ParseMessage(tx.Tx.Payload)
	if err != nil {
		return actor.Outcome{}, &Fault{"read a payload that was judged", err}
	}
	out, err := b.startRun(tx, limit).First(actor.Envelope{From: tx.Sender, To: *tx.Tx.To, Handler: handler, Payload: arg, Value: tx.Tx.Value})
	return out, fault("run a message", err)
}

// fault wraps what package actor could not do.
func fault(doing string, err error) error {
	if err == nil {
		return nil
	}
	return &Fault{doing, err}
}

// transfer moves the value to the recipient, out of what was reserved. The error is a
// [*Fault].
func (b *block) transfer(ins chain.Instruction, tx *chain.Tx, limit chain.Usage) (actor.Outcome, error) {
	if ins.HasCode {
		code, err := actor.Endow(b.state, b.in.Params, *tx.To, tx.Value)
		return actor.Outcome{Code: code}, fault("fund "+tx.To.String(), err)
	}
	cells, err := b.founding(*tx.To, tx.Value)
	switch {
	case err != nil:
		return actor.Outcome{}, err
	case cells > limit.Cells:
		used := chain.Usage{Cells: limit.Cells}
		return actor.Outcome{Code: chain.CodeCellsExhausted, Detail: "cells limit reached", Used: used}, nil
	}
	fits, err := b.state.AddBalance(*tx.To, tx.Value)
	if err != nil {
		return actor.Outcome{}, &Fault{"read account " + tx.To.String(), err}
	}
	if !fits {
		return actor.Outcome{Code: chain.CodeBalanceOverflow}, nil
	}
	return actor.Outcome{Used: chain.Usage{Cells: cells}}, nil
}

// commit books what a transaction used and paid. Nothing takes back what was written so
// far.
func (b *block) commit(tx *chain.VerifiedTx, a *Execution) error {
	b.state.Keep()
	b.lane = tx.Lane
	bytes := fees.TxBytes(tx)
	b.budget.Take(tx.Lane, fees.Space{Usage: a.out.Used, Bytes: bytes})
	if tx.Lane == chain.LaneRunner {
		b.runnerBytes += bytes
	}
	b.use(tx.Lane, a.out.Used)
	return b.write(tx.Hash, tx.Lane, &a.out, a.burned, a.tip)
}

// write books a run of whatever kind in the block's result, with the parts of its
// fee, and writes its receipt. The error is a [*Fault].
func (b *block) write(id chain.Hash, lane chain.LaneID, out *actor.Outcome, burned, tip chain.Wei) error {
	r := &b.result
	if !funds.Add(&r.Burned, burned) || !funds.Add(&r.Burned, out.Burned) || !funds.Add(&r.Tips, tip) {
		return &Fault{"add up fees", funds.ErrMoney}
	}
	status := chain.StatusSucceeded
	if out.Code != chain.CodeOK {
		status = chain.StatusFailed
	}
	r.Receipts = append(r.Receipts, chain.Receipt{
		TxHash: id, Lane: lane, Status: status, Code: out.Code,
		CyclesUsed: out.Used.Cycles, CellsUsed: out.Used.Cells, Fee: burned + tip, Tip: tip,
		Output: out.Output, Events: out.Events, Trace: out.Trace,
	})
	r.Defects = append(r.Defects, out.Defects...)
	return nil
}

// use adds to what a lane used and was paid for in the block, on which its base fees move.
func (b *block) use(lane chain.LaneID, used chain.Usage) {
	u := &b.result.Used[lane]
	u.Cycles += used.Cycles
	u.Cells += used.Cells
}
