package transfers

import (
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	gethstate "github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// Wealth is a view in which every sender is rich and has sent nothing.
type Wealth map[chain.Address]state.Account

// Account implements state.View.
func (w Wealth) Account(addr chain.Address) (state.Account, bool, error) {
	a, ok := w[addr]
	if !ok {
		a = state.NewAccount()
	}
	return a, ok, nil
}

// Storage implements state.View.
func (Wealth) Storage(chain.Address, state.StorageKey) ([]byte, error) { return nil, nil }

// Scan implements state.View.
func (Wealth) Scan(chain.Address, state.Span) ([]state.Entry, error) { return nil, nil }

// Code implements state.View.
func (Wealth) Code(chain.Hash) ([]byte, error) { return nil, errors.New("no code here") }

// WealthOf returns the view for the senders of list.
func WealthOf(list []Pair) Wealth {
	w := Wealth{}
	for _, t := range list {
		a := state.NewAccount()
		a.Balance = 1 << 49
		w[t.Ours.Sender] = a
	}
	return w
}

// PeerState is the peer's state in which every sender is rich.
func PeerState(list []Pair) (*gethstate.StateDB, error) {
	db, err := gethstate.New(types.EmptyRootHash, gethstate.NewDatabaseForTesting())
	if err != nil {
		return nil, fmt.Errorf("peer's state: %w", err)
	}
	for _, t := range list {
		if t.Ours.Tx.Nonce == 0 {
			db.AddBalance(common.Address(t.Ours.Sender), uint256.NewInt(1<<49), tracing.BalanceChangeUnspecified)
		}
	}
	return db, nil
}
