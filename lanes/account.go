package lanes

import (
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/roles"
)

// ReadError is a fault of this node: an account could not be read. It says
// nothing about any transaction.
type ReadError struct {
	Address chain.Address
	Err     error
}

func (e *ReadError) Error() string { return fmt.Sprintf("read account %s: %v", e.Address, e.Err) }

func (e *ReadError) Unwrap() error { return e.Err }

// accountsAt returns how to read, from the state at a height, what the block
// after it may take from an account: its next nonce, and its balance without
// what vesting still locks then (whitepaper §8.3). The errors are *ReadErrors.
func accountsAt(view state.View, height chain.Height) func(chain.Address) (account, error) {
	return func(addr chain.Address) (account, error) {
		a, _, err := view.Account(addr)
		if err != nil {
			return account{}, &ReadError{Address: addr, Err: err}
		}
		spendable, err := fees.Spendable(a.Balance, a.Meta, height+1)
		if err != nil {
			return account{}, &ReadError{Address: addr, Err: err}
		}
		return account{Nonce: a.Nonce, Spendable: spendable, Height: height}, nil
	}
}

// seatsAt returns how to read from a state whether who sends a transaction was drawn for the
// job that it names. The errors are *ReadErrors.
func seatsAt(view state.View) func(*chain.VerifiedTx) (bool, error) {
	return func(tx *chain.VerifiedTx) (bool, error) {
		job, err := tx.Tx.Job()
		if err != nil {
			return false, nil // no block takes it
		}
		is, err := roles.IsAssigned(view, job, tx.Sender)
		if err != nil {
			return false, &ReadError{Address: tx.Sender, Err: err}
		}
		return is, nil
	}
}

// offer judges what will not change while a transaction waits, before any lock is
// taken: what follows from it and the protocol's rules alone, and of its target
// whether that has code. It may wait for a lower base fee, but not for one below
// the floor. The order of nonces and what the sender can spend are the pool's to
// judge.
func (l *Lanes) offer(tx *chain.VerifiedTx) offer {
	return l.offerUnder(tx, l.params.Load())
}

func (l *Lanes) offerUnder(tx *chain.VerifiedTx, params *params.Params) offer {
	o := offer{Tx: tx}
	if l.shunned.has(tx.Hash) {
		o.Err = ErrShunned
		return o
	}
	rule := fees.Validity{Params: params, ChainID: l.chainID, Roles: fees.RolesOf(l.validators(), params)}
	ins, target, err := rule.Judge(tx, fees.Standing{Nonce: tx.Tx.Nonce, Spendable: math.MaxUint64}, (*admission)(l))
	if err != nil {
		o.Err = err
		return o
	}
	o.MayCall, o.Needs, o.Drains = target.MayGetIt, ins.Needs(), ins.Drains
	o.Seated = ins.Sender == chain.SenderAssignedRunner
	if ins.Kind == chain.KindMessage {
		o.Calls = call{Actor: tx.Tx.To, Most: tx.Tx.CyclesLimit - params.Intrinsic.Of(ins).Cycles}
	}
	if ins.Kind == chain.KindTransfer { // without a payload, or to nobody's code: it runs nothing, and its cost is known
		uses := params.Intrinsic.Of(ins)
		o.Unused = chain.Usage{Cycles: tx.Tx.CyclesLimit - uses.Cycles, Cells: tx.Tx.CellsLimit - uses.Cells}
	} else if o.Key = l.uses.keyOf(tx); o.Key != 0 {
		o.Least = params.Intrinsic.Of(ins)
		if u, ok := l.uses.expect(o.Key); ok {
			o.Expected = chain.Usage{Cycles: min(u.Cycles, tx.Tx.CyclesLimit), Cells: min(u.Cells, tx.Tx.CellsLimit)}
			if o.Calls.Actor != nil {
				o.Calls.Likely = o.Expected.Cycles
			}
		}
	}
	o.Cost, o.Err = fees.MaxCost(tx.Tx)
	return o
}

// admission is the place of a transaction that is to wait: [fees.Place].
type admission Lanes

// Base implements [fees.Place]: a transaction may wait for a lower base fee, but not for
// one below the floor.
func (a *admission) Base(p *params.Params, _ chain.LaneID) chain.FeePair {
	return chain.FeePair{PerCycle: p.MinBaseFee, PerCell: p.MinBaseFee}
}

// Room implements [fees.Place]: it refuses limits that no block has the room for in the
// lane. Nothing that waits for such a transaction would ever run.
func (a *admission) Room(p *params.Params, tx *chain.VerifiedTx) error {
	room := (*Lanes)(a).roomUnder(p)[tx.Lane]
	switch {
	case tx.Tx.CyclesLimit > room.Cycles:
		return &fees.LimitError{What: "cycles_limit in the " + tx.Lane.String() + " lane", Got: uint64(tx.Tx.CyclesLimit), Max: uint64(room.Cycles)}
	case tx.Tx.CellsLimit > room.Cells:
		return &fees.LimitError{What: "cells_limit in the " + tx.Lane.String() + " lane", Got: uint64(tx.Tx.CellsLimit), Max: uint64(room.Cells)}
	}
	return nil
}

// Target implements [fees.Place]: it looks at the last head. What has no payload runs
// nothing, so nothing is read for it. The error is a *ReadError.
func (a *admission) Target(tx *chain.Tx) (t fees.Target, err error) {
	if len(tx.Payload) == 0 {
		return t, nil
	}
	err = a.atHead(*tx.To, func(view state.View) error {
		target, _, err := view.Account(*tx.To)
		// Nothing is deployed where somebody has signed a transaction.
		t = fees.Target{HasCode: target.HasCode(), MayGetIt: !target.HasCode() && target.Nonce == 0}
		return err
	})
	return t, err
}

// IsRunner implements [fees.Place]: it looks at the last head. The error is a *ReadError.
func (a *admission) IsRunner(sender chain.Address) (is bool, err error) {
	err = a.atHead(sender, func(view state.View) error {
		is, err = roles.IsRunner(view, sender)
		return err
	})
	return is, err
}

// IsAssigned implements [fees.Place]: it looks at the last head. The error is a *ReadError.
func (a *admission) IsAssigned(job chain.Hash, sender chain.Address) (is bool, err error) {
	err = a.atHead(sender, func(view state.View) error {
		is, err = roles.IsAssigned(view, job, sender)
		return err
	})
	return is, err
}

// atHead reads from the state of the last head; once more where that has gone meanwhile
// because another came. The error is a *ReadError about addr.
func (a *admission) atHead(addr chain.Address, read func(state.View) error) error {
	for {
		view := a.view.Load()
		err := read(*view)
		if err == nil {
			return nil
		}
		if a.view.Load() == view {
			return &ReadError{Address: addr, Err: err}
		}
	}
}
