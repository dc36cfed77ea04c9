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
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rent"
)

// The verdicts.
var (
	// ErrShort means more than the account may spend.
	ErrShort = verdict.New(verdict.Funds, "balance too small")
	// ErrOverflow means a balance beyond 64 bits.
	ErrOverflow = verdict.New(verdict.Overflow, "balance would exceed 64 bits")
)

// ErrMoney means balances that add up to more than 64 bits: a contradiction in the state.
var ErrMoney = errors.New("balances exceed the supply")

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

// Purse moves the money of a run, which watches what its actors hold, or of a block.
type Purse interface {
	// Debit takes what the account may spend, its reserve for rent included.
	Debit(from chain.Address, amount chain.Wei) error
	// Withheld reports whether an actor has the amount only with what rent alone may use.
	Withheld(of chain.Address, amount chain.Wei) (bool, error)
	Credit(to chain.Address, amount chain.Wei) error
	// PutAside notes that an actor has paid a deposit or an escrow, and GiveBack credits
	// one, which it may keep (resolution 11.25).
	PutAside(of chain.Address, amount chain.Wei)
	GiveBack(to chain.Address, amount chain.Wei) error
	// Burn books what was debited and nobody gets.
	Burn(amount chain.Wei) error
}

// Issue adds to a balance money that was taken elsewhere or is new, which therefore
// fits: [ErrMoney] is a fault.
func Issue(o *state.Overlay, addr chain.Address, amount chain.Wei) error {
	if amount == 0 {
		return nil // leaves no empty account behind
	}
	fits, err := o.AddBalance(addr, amount)
	if err == nil && !fits {
		err = ErrMoney
	}
	return err
}

// Add adds amount to total and reports whether the sum fits; if not, total stays as it
// was.
func Add(total *chain.Wei, amount chain.Wei) bool {
	sum, carry := bits.Add64(uint64(*total), uint64(amount), 0)
	if carry != 0 {
		return false
	}
	*total = chain.Wei(sum)
	return true
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
