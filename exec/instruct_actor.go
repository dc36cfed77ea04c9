package exec

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
)

// fundActor runs the instruction actor_fund: the value goes to an actor whose
// code does not run. The error is a [*Fault].
func (b *block) fundActor(tx *chain.Tx) (uint16, error) {
	var to chain.Address
	args, err := arguments(tx.Payload)
	if err == nil {
		err = args.BytesInto(to[:])
	}
	if err != nil {
		return 0, &Fault{"read arguments of a classified instruction", err}
	}
	a, err := b.account(to)
	switch {
	case err != nil:
		return 0, err
	case !a.HasCode():
		return chain.CodeNoCode, nil
	case tx.Value == 0:
		return chain.CodeBadArgument, nil
	}
	return b.payActor(to, tx.Value)
}

// payActor credits an actor with what a transaction has reserved, without a
// message. One that may not hold a balance gets none (resolution 11.25). The error
// is a [*Fault].
func (b *block) payActor(to chain.Address, value chain.Wei) (uint16, error) {
	if value == 0 {
		return chain.CodeOK, nil
	}
	if b.in.Params.Actor.EnforceHoldBalance {
		may, err := actor.MayHold(b.state, to)
		if err != nil {
			return 0, &Fault{"read manifest of " + to.String(), err}
		}
		if !may {
			return chain.CodeBalanceHeld, nil
		}
	}
	err := funds.Credit(b.state, to, value)
	if errors.Is(err, funds.ErrOverflow) {
		return chain.CodeBalanceOverflow, nil
	}
	return chain.CodeOK, fault("fund "+to.String(), err)
}

// upgradeActor runs the instruction actor_upgrade. The error is a [*Fault].
func (b *block) upgradeActor(tx *chain.VerifiedTx, intrinsic chain.Usage) (actor.Outcome, error) {
	if tx.Tx.Value != 0 {
		return actor.Outcome{Code: chain.CodeBadArgument, Detail: errValue.Error()}, nil
	}
	p := actor.Replacement{By: tx.Sender}
	args, err := arguments(tx.Tx.Payload)
	if err == nil {
		err = args.BytesInto(p.Actor[:])
	}
	if err == nil {
		p.Source, err = args.Bytes(chain.MaxTxBytes)
	}
	if err != nil {
		return actor.Outcome{}, &Fault{"read arguments of a classified instruction", err}
	}
	r, err := b.start(tx, intrinsic)
	if err != nil {
		return actor.Outcome{}, err
	}
	out, err := r.Replace(&p)
	return out, fault("upgrade "+p.Actor.String(), err)
}
