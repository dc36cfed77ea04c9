package exec

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
)

// transact runs one transaction and books it. The error is an [*InvalidTx] or a
// [*Fault].
func (b *block) transact(index int, tx *chain.VerifiedTx) error {
	a, err := b.attempt(index, tx)
	if err != nil {
		return err
	}
	return b.settle(tx, &a)
}

// Attempt is what became of a transaction, besides its writes.
type Attempt struct {
	out         actor.Outcome
	burned, tip chain.Wei
}

// attempt does what depends on the state alone: judge, reserve, run, charge, refund
// (whitepaper §2.3; resolution 2.12). The error is an [*InvalidTx] or a [*Fault].
func (b *block) attempt(index int, tx *chain.VerifiedTx) (a Attempt, err error) {
	sender, err := b.account(tx.Sender)
	if err != nil {
		return a, err
	}
	ins, err := b.judge(tx, &sender)
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
	sender.Balance -= reserved // judge found it spendable
	b.state.SetAccount(tx.Sender, sender)

	intrinsic := ins.Intrinsic(&b.in.Params.Intrinsic)
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

// judge says what the transaction is, or why it may not stand here. A [*Fault]
// says that this node cannot tell.
func (b *block) judge(tx *chain.VerifiedTx, sender *state.Account) (chain.Instruction, error) {
	if b.budget != nil && tx.Lane < b.lane {
		return chain.Instruction{}, fmt.Errorf("%w: %v after %v", ErrLaneOrder, tx.Lane, b.lane)
	}
	ins, err := fees.CheckStatic(tx, b.in.Params, b.in.ChainID) // the lane is one from here on
	if err != nil {
		return ins, err
	}
	if err := fees.CheckRole(ins, tx.Sender, fees.Roles{Validators: b.in.Validators, Governors: b.in.Params.Governance.Members}); err != nil {
		return ins, err
	}
	spendable, err := funds.Spendable(sender, b.in.Height)
	if err != nil {
		return ins, &Fault{"read metadata of " + tx.Sender.String(), err}
	}
	if err := fees.CheckSender(tx.Tx, b.in.BaseFees[tx.Lane], sender.Nonce, spendable); err != nil {
		return ins, err
	}
	if need := needOf(tx); b.budget != nil && !b.budget.Fits(tx.Lane, need) {
		return ins, fmt.Errorf("%w: %+v, left %+v", ErrLaneFull, need, b.budget.Left(tx.Lane))
	}
	return b.judgeTarget(ins, tx)
}

// judgeTarget says whether a plain target has code, and if so whether the message
// may start: it is one, and the actor has cycles left in this block (resolution
// 11.22).
func (b *block) judgeTarget(ins chain.Instruction, tx *chain.VerifiedTx) (chain.Instruction, error) {
	if ins.Kind != chain.KindTransfer {
		return ins, nil
	}
	target, err := b.state.Traits(*tx.Tx.To)
	if err != nil {
		return ins, &Fault{"read account " + tx.Tx.To.String(), err}
	}
	ins, err = fees.CheckTarget(ins, tx.Tx, target.HasCode(), b.in.Params)
	if err != nil || ins.Kind != chain.KindMessage {
		return ins, err
	}
	l, err := actor.ReadLedger(b.state, *tx.Tx.To)
	if err != nil {
		return ins, &Fault{"read ledger of " + tx.Tx.To.String(), err}
	}
	need := ins.Intrinsic(&b.in.Params.Intrinsic)
	left := l.Left(&b.in.Params.Actor, b.in.Height)
	if tx.Tx.CyclesLimit-need.Cycles > left-min(left, b.promised) {
		return ins, fmt.Errorf("%w: %d cycles left, %d of them promised", ErrActorBusy, left, b.promised)
	}
	return ins, nil
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
	switch {
	case ins.Kind == chain.KindDeploy:
		return b.deploy(tx, intrinsic)
	case ins.Kind == chain.KindMessage:
		return b.message(tx, intrinsic)
	case ins.To == chain.AddrStaking && ins.Opcode == chain.OpEvidenceSubmit:
		code, err := b.submitEvidence(tx)
		return actor.Outcome{Code: code}, err
	case ins.To == chain.AddrRent:
		return b.paysGrowth(limitsLeft(tx, intrinsic), func(limit chain.Usage) (actor.Outcome, error) { return b.instructRent(ins, tx, limit) })
	case ins.To == chain.AddrRunnerRegistry && ins.Opcode == chain.OpRunnerRehearsal:
		return b.paysGrowth(limitsLeft(tx, intrinsic), func(limit chain.Usage) (actor.Outcome, error) { return b.rehearse(tx, limit) })
	case ins.To == chain.AddrTokens:
		return b.instructToken(ins, tx, intrinsic)
	case ins.To == chain.AddrActors && ins.Opcode == chain.OpActorFund:
		code, err := b.fundActor(tx.Tx)
		return actor.Outcome{Code: code}, err
	case ins.To == chain.AddrActors && ins.Opcode == chain.OpActorUpgrade:
		return b.upgradeActor(tx, intrinsic)
	case ins.To == chain.AddrActors && (ins.Opcode >= chain.OpTimerCancel && ins.Opcode <= chain.OpTimerExtend || ins.Opcode == chain.OpTimerSchedule):
		return b.orderTimer(ins, tx, intrinsic)
	case ins.To == chain.AddrEntitlements:
		return b.paysGrowth(limitsLeft(tx, intrinsic), func(limit chain.Usage) (actor.Outcome, error) { return b.instructRegistry(ins, tx, limit) })
	case ins.To == chain.AddrGovernance:
		return b.instructGovernance(ins, tx, limitsLeft(tx, intrinsic))
	}
	return b.transfer(ins, tx.Tx, limitsLeft(tx, intrinsic))
}

// start begins a run for a transaction.
func (b *block) start(tx *chain.VerifiedTx, intrinsic chain.Usage) (*actor.Run, error) {
	if b.in.Engine == nil {
		return nil, &Fault{"run an actor", ErrNoEngine}
	}
	limit := limitsLeft(tx, intrinsic)
	return actor.NewRun(b.actors, b.state, b.in.Engine, actor.Start{
		Origin: tx.Sender, ID: tx.Hash, Cycles: limit.Cycles, Cells: limit.Cells, Warm: b.warm, Explain: b.explain,
	}), nil
}

// deploy makes an actor.
func (b *block) deploy(tx *chain.VerifiedTx, intrinsic chain.Usage) (actor.Outcome, error) {
	d, err := actor.ParsePayload(tx.Tx.Payload)
	if err != nil {
		return actor.Outcome{}, &Fault{"read a payload that was judged", err}
	}
	d.Creator, d.Value = tx.Sender, tx.Tx.Value
	r, err := b.start(tx, intrinsic)
	if err != nil {
		return actor.Outcome{}, err
	}
	out, err := r.Deploy(&d)
	return out, fault("deploy", err)
}

// message hands the transaction to its target's handler.
func (b *block) message(tx *chain.VerifiedTx, intrinsic chain.Usage) (actor.Outcome, error) {
	handler, arg, err := chain.ParseMessage(tx.Tx.Payload)
	if err != nil {
		return actor.Outcome{}, &Fault{"read a payload that was judged", err}
	}
	r, err := b.start(tx, intrinsic)
	if err != nil {
		return actor.Outcome{}, err
	}
	out, err := r.First(actor.Envelope{From: tx.Sender, To: *tx.Tx.To, Handler: handler, Payload: arg, Value: tx.Tx.Value})
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
		code, err := b.payActor(*tx.To, tx.Value)
		return actor.Outcome{Code: code}, err
	}
	cells, err := b.founding(*tx.To, tx.Value)
	switch {
	case err != nil:
		return actor.Outcome{}, err
	case cells > limit.Cells:
		used := chain.Usage{Cells: limit.Cells}
		return actor.Outcome{Code: chain.CodeCellsExhausted, Detail: errCells.Error(), Used: used}, nil
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

// settle books what a transaction used and paid.
func (b *block) settle(tx *chain.VerifiedTx, a *Attempt) error {
	b.lane = tx.Lane
	b.budget.Take(tx.Lane, fees.Space{Usage: a.out.Used, Bytes: fees.TxBytes(tx)})
	b.use(tx.Lane, a.out.Used)
	return b.write(tx.Hash, tx.Lane, &a.out, a.burned, a.tip)
}

// write books a run of whatever kind in the block's result, with the parts of its
// fee, and writes its receipt. The error is a [*Fault].
func (b *block) write(id chain.Hash, lane chain.LaneID, out *actor.Outcome, burned, tip chain.Wei) error {
	r := &b.result
	if !add(&r.Burned, burned) || !add(&r.Burned, out.Burned) || !add(&r.Tips, tip) {
		return &Fault{"add up fees", ErrMoney}
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
