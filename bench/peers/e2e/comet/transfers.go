package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"sync"

	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// chainID is that of go-ethereum's development chains, so that both peers get the same
// transfers.
const chainID = 1337

// startBalance is what every account has.
const startBalance = 1 << 60

// transfers is an application of signed transfers in Ethereum's encoding. The signer of
// each is recovered once, by libsecp256k1, when the pool checks it, and remembered until
// it is in a block. Nonces and balances are in maps; there is no root, and nothing is
// written to disk.
type transfers struct {
	abci.BaseApplication
	signer types.Signer

	mu       sync.Mutex
	accounts map[common.Address]*account
	known    map[string]*transfer // by its bytes
	applied  int
	height   int64
}

type account struct {
	nonce   uint64 // applied
	next    uint64 // checked
	balance uint64
}

type transfer struct {
	from, to common.Address
	nonce    uint64
	value    uint64
}

func newTransfers() *transfers {
	return &transfers{
		signer:   types.NewLondonSigner(big.NewInt(chainID)),
		accounts: map[common.Address]*account{}, known: map[string]*transfer{},
	}
}

var errTransfer = errors.New("not a plain transfer")

// read decodes a transfer and recovers who signed it.
func (a *transfers) read(raw []byte) (*transfer, error) {
	var tx types.Transaction
	if err := tx.UnmarshalBinary(raw); err != nil {
		return nil, err
	}
	if tx.To() == nil || !tx.Value().IsUint64() {
		return nil, errTransfer
	}
	from, err := types.Sender(a.signer, &tx)
	if err != nil {
		return nil, err
	}
	return &transfer{from: from, to: *tx.To(), nonce: tx.Nonce(), value: tx.Value().Uint64()}, nil
}

func (a *transfers) account(of common.Address) *account {
	acc := a.accounts[of]
	if acc == nil {
		acc = &account{balance: startBalance}
		a.accounts[of] = acc
	}
	return acc
}

// CheckTx implements abci.Application. A transaction that is checked again behind a block
// is looked up.
func (a *transfers) CheckTx(_ context.Context, r *abci.RequestCheckTx) (*abci.ResponseCheckTx, error) {
	if r.Type == abci.CheckTxType_Recheck {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.known[string(r.Tx)] == nil {
			return &abci.ResponseCheckTx{Code: 3, Log: "unknown"}, nil
		}
		return &abci.ResponseCheckTx{}, nil
	}
	t, err := a.read(r.Tx) // outside the lock
	if err != nil {
		return &abci.ResponseCheckTx{Code: 1, Log: err.Error()}, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	from := a.account(t.from)
	if t.nonce != from.next || t.value > from.balance {
		return &abci.ResponseCheckTx{Code: 2, Log: fmt.Sprintf("nonce %d, want %d; balance %d", t.nonce, from.next, from.balance)}, nil
	}
	from.next++
	a.known[string(r.Tx)] = t
	return &abci.ResponseCheckTx{}, nil
}

// FinalizeBlock implements abci.Application.
func (a *transfers) FinalizeBlock(_ context.Context, r *abci.RequestFinalizeBlock) (*abci.ResponseFinalizeBlock, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	reply := &abci.ResponseFinalizeBlock{TxResults: make([]*abci.ExecTxResult, len(r.Txs))}
	for i, raw := range r.Txs {
		reply.TxResults[i] = &abci.ExecTxResult{Code: a.apply(raw)}
	}
	a.height = r.Height
	reply.AppHash = binary.BigEndian.AppendUint64(nil, uint64(a.applied))
	return reply, nil
}

// apply moves the money and returns 0, or why not.
func (a *transfers) apply(raw []byte) uint32 {
	t := a.known[string(raw)]
	if t == nil {
		var err error
		if t, err = a.read(raw); err != nil {
			return 1
		}
	}
	delete(a.known, string(raw))
	from, to := a.account(t.from), a.account(t.to)
	if t.nonce != from.nonce || t.value > from.balance {
		return 2
	}
	from.nonce++
	from.balance -= t.value
	to.balance += t.value
	a.applied++
	return 0
}

// Info implements abci.Application, with the number of transfers as the kvstore has it.
func (a *transfers) Info(context.Context, *abci.RequestInfo) (*abci.ResponseInfo, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &abci.ResponseInfo{
		Data: fmt.Sprintf("{\"size\":%d}", a.applied), LastBlockHeight: a.height,
		LastBlockAppHash: binary.BigEndian.AppendUint64(nil, uint64(a.applied)),
	}, nil
}
