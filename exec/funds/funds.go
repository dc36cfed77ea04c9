// Package funds moves base units between accounts of the state: what an account
// may spend, and that no unit is made or lost on the way.
//
// In: an overlay, addresses and amounts. Out: writes on the overlay, or a verdict
// that leaves it as it was; any other error is a fault of this node.
//
// # Invariants
//
// Move keeps the sum of all balances. Debit and Credit change it by the amount,
// so every one of them has its counterpart: a fee that is burned, an escrow, a
// transfer begun elsewhere. An amount of 0 writes nothing, so that it leaves no
// empty account behind.
//
// The package is pure.
package funds

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rent"
)

// The verdicts.
var (
	// ErrShort means more than the account may spend.
	ErrShort = errors.New("balance too small")
	// ErrOverflow means a balance beyond 64 bits.
	ErrOverflow = errors.New("balance would exceed 64 bits")
)

// Balance returns the whole balance of an account.
func Balance(o *state.Overlay, addr chain.Address) (chain.Wei, error) {
	a, _, err := o.Account(addr)
	return a.Balance, err
}

// Spendable returns what an account may spend at height h: its balance less what
// is locked (whitepaper §8.3). Of an evicted actor the record is put aside first.
func Spendable(a *state.Account, h chain.Height) (chain.Wei, error) {
	_, meta, err := rent.ParseMeta(a.Meta)
	if err != nil {
		return 0, fmt.Errorf("metadata: %w", err)
	}
	return fees.Spendable(a.Balance, meta, h)
}

// Debit takes amount out of what the account may spend at height h.
func Debit(o *state.Overlay, addr chain.Address, amount chain.Wei, h chain.Height) error {
	if amount == 0 {
		return nil
	}
	a, _, err := o.Account(addr)
	if err != nil {
		return err
	}
	free, err := Spendable(&a, h)
	if err != nil {
		return err
	}
	if free < amount {
		return ErrShort
	}
	a.Balance -= amount
	o.SetAccount(addr, a)
	return nil
}

// Credit adds amount to a balance.
func Credit(o *state.Overlay, addr chain.Address, amount chain.Wei) error {
	if amount == 0 {
		return nil
	}
	fits, err := o.AddBalance(addr, amount)
	if err == nil && !fits {
		err = ErrOverflow
	}
	return err
}

// Move is Debit of one account and Credit of another, or neither.
func Move(o *state.Overlay, from, to chain.Address, amount chain.Wei, h chain.Height) error {
	mark := o.Snapshot()
	if err := Debit(o, from, amount, h); err != nil {
		return err
	}
	if err := Credit(o, to, amount); err != nil {
		o.Revert(mark)
		return err
	}
	return nil
}
