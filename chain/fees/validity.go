package fees

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// Validity is what makes a transaction valid on a chain (whitepaper §2.2; resolutions 2.13,
// 11.13, 11.43). Who admits transactions and who executes them ask the same rule, which
// looks at things in one order; they differ in the place that they ask for.
type Validity struct {
	Params  *params.Params
	ChainID uint64
	Roles   Roles
}

// Standing is what a sender has in the place: its next nonce, and what its balance leaves
// free at the block's height.
type Standing struct {
	Nonce     uint64
	Spendable chain.Wei
}

// Covers says whether the sender can pay so much: nil or a [*FundsError].
func (s Standing) Covers(need chain.Wei) error {
	if need > s.Spendable {
		return &FundsError{Need: need, Spendable: s.Spendable}
	}
	return nil
}

// Target is an account that a transaction names which may be a message.
type Target struct {
	HasCode  bool
	MayGetIt bool // it has none and was never used: it may be deployed yet
}

// Place is where a transaction asks to stand: next in a block, or among those that wait,
// under the parameters of the rule.
type Place interface {
	// Base is the fee pair of a lane, or the least that it may become.
	Base(p *params.Params, lane chain.LaneID) chain.FeePair
	// Room says whether the transaction's lane has room for its limits and bytes.
	Room(p *params.Params, tx *chain.VerifiedTx) error
	// Target looks at the account that a plain transaction names.
	Target(tx *chain.Tx) (Target, error)
	// IsRunner looks whether a sender is a registered runner.
	IsRunner(sender chain.Address) (bool, error)
	// IsAssigned looks whether a sender was drawn for a job.
	IsAssigned(job chain.Hash, sender chain.Address) (bool, error)
}

// Judge returns what a transaction is, or why it may not stand in a place; an error of the
// place is handed on. What can never change is looked at first: form, limits and sender's
// role; then what the sender has, then the room, and last what has to be read: whether a
// runner is registered or was drawn for the job, and the target's account.
func (r *Validity) Judge(tx *chain.VerifiedTx, s Standing, at Place) (chain.Instruction, Target, error) {
	ins, err := CheckStatic(tx, r.Params, r.ChainID)
	if err != nil {
		return ins, Target{}, err
	}
	if err := CheckRole(ins, tx.Sender, r.Roles); err != nil {
		return ins, Target{}, err
	}
	if err := CheckSender(tx.Tx, at.Base(r.Params, tx.Lane), s.Nonce, s.Spendable); err != nil { // the lane is one: it is the instruction's
		return ins, Target{}, err
	}
	if err := at.Room(r.Params, tx); err != nil {
		return ins, Target{}, err
	}
	if is, read, err := roleIn(at, ins, tx); read {
		if err == nil && !is {
			err = needs(ins)
		}
		return ins, Target{}, err
	}
	if ins.Kind != chain.KindTransfer {
		return ins, Target{}, nil
	}
	target, err := at.Target(tx.Tx)
	if err != nil {
		return ins, target, err
	}
	ins, err = CheckTarget(ins, tx.Tx, target.HasCode, r.Params)
	return ins, target, err
}

// roleIn looks whether the sender has a role that stands in the state; read is false for an
// instruction that asks for none of these.
func roleIn(at Place, ins chain.Instruction, tx *chain.VerifiedTx) (is, read bool, err error) {
	switch ins.Sender {
	case chain.SenderRunner:
		is, err = at.IsRunner(tx.Sender)
		return is, true, err
	case chain.SenderAssignedRunner:
		job, err := tx.Tx.Job()
		if err != nil {
			return false, true, err
		}
		is, err = at.IsAssigned(job, tx.Sender)
		return is, true, err
	}
	return false, false, nil
}
