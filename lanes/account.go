package lanes

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
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

// readAccount reads what the block after the one at height may take from an
// account: its next nonce, and its balance without what vesting still locks
// then (whitepaper §8.3). The error is a *ReadError.
func readAccount(view state.View, addr chain.Address, height chain.Height) (account, error) {
	a, _, err := view.Account(addr)
	if err != nil {
		return account{}, &ReadError{Address: addr, Err: err}
	}
	spendable, err := fees.Spendable(a.Balance, a.Meta, height+1)
	if err != nil {
		return account{}, &ReadError{Address: addr, Err: err}
	}
	return account{nonce: a.Nonce, spendable: spendable, height: height}, nil
}

// validate holds a transaction against the protocol's rules at the head, except
// the order of nonces, which is the pool's. It may wait for a lower base fee,
// but not for one below the floor.
func (l *Lanes) validate(tx *chain.VerifiedTx, at account) error {
	if _, err := fees.CheckStatic(tx, l.params, l.chainID); err != nil {
		return err
	}
	floor := chain.FeePair{PerCycle: l.params.MinBaseFee, PerCell: l.params.MinBaseFee}
	return fees.CheckSender(tx.Tx, floor, tx.Tx.Nonce, at.spendable)
}
