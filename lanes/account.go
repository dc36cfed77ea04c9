package lanes

import (
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/lanes/sched"
	"github.com/cowboy-foundation/cowboy/state"
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
func accountsAt(view state.View, height chain.Height) func(chain.Address) (sched.Account, error) {
	return func(addr chain.Address) (sched.Account, error) {
		a, _, err := view.Account(addr)
		if err != nil {
			return sched.Account{}, &ReadError{Address: addr, Err: err}
		}
		spendable, err := fees.Spendable(a.Balance, a.Meta, height+1)
		if err != nil {
			return sched.Account{}, &ReadError{Address: addr, Err: err}
		}
		return sched.Account{Nonce: a.Nonce, Spendable: spendable, Height: height}, nil
	}
}

// offer judges what will not change while a transaction waits, before any lock is
// taken: what follows from it and the protocol's rules alone, and of its target
// whether that has code. It may wait for a lower base fee, but not for one below
// the floor. The order of nonces and what the sender can spend are the pool's to
// judge.
func (l *Lanes) offer(tx *chain.VerifiedTx) sched.Offer {
	return l.offerUnder(tx, l.params.Load())
}

func (l *Lanes) offerUnder(tx *chain.VerifiedTx, params *chain.Params) sched.Offer {
	o := sched.Offer{Tx: tx}
	if l.shunned.has(tx.Hash) {
		o.Err = ErrShunned
		return o
	}
	ins, err := fees.CheckStatic(tx, params, l.chainID)
	if err != nil {
		o.Err = err
		return o
	}
	if o.Err = checkRoom(tx, params); o.Err != nil {
		return o
	}
	if o.Err = fees.CheckRole(ins, tx.Sender, fees.Roles{Validators: l.validators, Governors: params.Governance.Members}); o.Err != nil {
		return o
	}
	if ins.Kind == chain.KindTransfer && ins.PayloadBytes > 0 {
		if ins, o.MayCall, o.Err = l.checkTarget(ins, tx.Tx, params); o.Err != nil {
			return o
		}
	}
	if ins.Kind == chain.KindMessage {
		o.Calls = sched.Call{Actor: tx.Tx.To, Most: tx.Tx.CyclesLimit - ins.Intrinsic(&params.Intrinsic).Cycles}
	}
	if ins.Kind == chain.KindTransfer { // without a payload, or to nobody's code: it runs nothing, and its cost is known
		uses := ins.Intrinsic(&params.Intrinsic)
		o.Spare = chain.Usage{Cycles: tx.Tx.CyclesLimit - uses.Cycles, Cells: tx.Tx.CellsLimit - uses.Cells}
	} else if o.Key = l.uses.keyOf(tx); o.Key != 0 {
		o.Least = ins.Intrinsic(&params.Intrinsic)
		if u, ok := l.uses.expect(o.Key); ok {
			o.Expected = chain.Usage{Cycles: min(u.Cycles, tx.Tx.CyclesLimit), Cells: min(u.Cells, tx.Tx.CellsLimit)}
			if o.Calls.Actor != nil {
				o.Calls.Likely = o.Expected.Cycles
			}
		}
	}
	floor := chain.FeePair{PerCycle: params.MinBaseFee, PerCell: params.MinBaseFee}
	if o.Err = fees.CheckSender(tx.Tx, floor, tx.Tx.Nonce, math.MaxUint64); o.Err == nil {
		o.Cost, o.Err = fees.MaxCost(tx.Tx)
	}
	return o
}

// checkRoom refuses limits that no block has the room for in the lane: nothing that waits
// for such a transaction would ever run.
func checkRoom(tx *chain.VerifiedTx, p *chain.Params) error {
	room := laneRoom(p, tx.Lane)
	switch {
	case tx.Tx.CyclesLimit > room.Cycles:
		return &fees.LimitError{What: "cycles_limit in the " + tx.Lane.String() + " lane", Got: uint64(tx.Tx.CyclesLimit), Max: uint64(room.Cycles)}
	case tx.Tx.CellsLimit > room.Cells:
		return &fees.LimitError{What: "cells_limit in the " + tx.Lane.String() + " lane", Got: uint64(tx.Tx.CellsLimit), Max: uint64(room.Cells)}
	}
	return nil
}

// checkTarget holds a transaction that may be a message to its target in the last
// head, and reports whether it is none and may become one: nothing is deployed where
// somebody has signed a transaction. The error may be a *ReadError.
func (l *Lanes) checkTarget(ins chain.Instruction, tx *chain.Tx, p *chain.Params) (_ chain.Instruction, mayCall bool, err error) {
	for {
		view := l.view.Load()
		target, _, err := (*view).Account(*tx.To)
		switch {
		case err == nil:
			ins, err = fees.CheckTarget(ins, tx, target.HasCode(), p)
			return ins, !target.HasCode() && target.Nonce == 0, err
		case l.view.Load() == view: // else a head came, and the one before may be gone
			return ins, false, &ReadError{Address: *tx.To, Err: err}
		}
	}
}
