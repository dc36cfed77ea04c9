package transfers

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	gethstate "github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// WealthOf returns a state in which every sender of list is rich and has sent
// nothing.
func WealthOf(list []Pair) *statetest.Maps {
	m := statetest.NewMaps(nil)
	for _, t := range list {
		a := state.NewAccount()
		a.Balance = 1 << 49
		m.Accounts[t.Ours.Sender] = a
	}
	return m
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
