package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	gethstate "github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	gethparams "github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/peers/transfers"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

const (
	senders   = 1000
	perSender = 10
)

// proposer receives the tips on both sides.
var proposer = chain.Address{0: 9, 19: 9}

// transferBars race one block of 10,000 transfers. The specification sets no
// figure for plain transfers, which both sides are bound by maps and arithmetic
// on; not to be slower is the least.
func transferBars() []bars.Bar {
	return []bars.Bar{{
		Name: "block-10k-transfers", Peer: "go-ethereum core.ApplyTransactionWithEVM", Must: 1, Aim: 2,
		Cores: 1, Ops: senders * perSender, Iterations: 1, Setup: raceBlock,
	}}
}

func raceBlock() (bars.Contest, error) {
	list, err := transfers.Make(senders, perSender)
	if err != nil {
		return bars.Contest{}, err
	}
	txs := make([]*chain.VerifiedTx, len(list))
	for i, t := range list {
		txs[i] = t.Ours
	}
	db, err := transfers.PeerState(list)
	if err != nil {
		return bars.Contest{}, err
	}
	view, in := transfers.WealthOf(list), inputs(len(list))
	withSupply(view, 1_000_000_000*chain.WeiPerCBY)
	var mine exec.Result
	var theirs []*types.Receipt
	var after *gethstate.StateDB
	c := bars.Contest{
		Ours: bars.Side{Run: func(n int) (err error) {
			for range n {
				if mine, err = exec.Apply(view, in, txs); err != nil {
					return err
				}
			}
			return nil
		}},
		Peer: bars.Side{
			Prepare: func(int) error { after = db.Copy(); return nil }, // the parent's state stays as it is
			Run: func(int) (err error) {
				theirs, err = applyAll(after, list)
				return err
			},
		},
	}
	if err := errors.Join(c.Ours.Run(1), c.Peer.Prepare(1), c.Peer.Run(1)); err != nil {
		return c, err
	}
	return c, agree(mine, theirs, after)
}

// withSupply writes the record that every chain has in its Treasury.
func withSupply(m *statetest.Maps, total chain.Wei) {
	record := cbor.AppendUints(nil, uint64(total), 0, 0, 0, uint64(total)) // issued, burned, year, total at its start
	d := state.NewDelta()
	d.SetStorage(chain.AddrTreasury, state.NewStorageKey(state.VMNamespaceSystem, []byte("supply")), record)
	m.Write(d)
}

// inputs are those of a block that can hold n transfers.
func inputs(n int) exec.Inputs {
	p := params.Default()
	p.CyclesTarget = chain.Cycles(n) * transfers.Limit
	p.CyclesCap, p.MaxTxCycles = p.CyclesTarget, p.CyclesTarget
	in := exec.Inputs{
		Params: &p, ChainID: transfers.ChainID, Height: 1, TimestampMillis: 1, Proposer: proposer,
		Validators: []chain.Validator{{Stake: p.Staking.MinValidatorStake, RewardAddress: proposer}},
	}
	for i := range in.BaseFees {
		in.BaseFees[i] = chain.FeePair{PerCycle: 1, PerCell: 1}
	}
	return in
}

// applyAll is the peer's block: what its processor does for each transaction.
func applyAll(db *gethstate.StateDB, list []transfers.Pair) ([]*types.Receipt, error) {
	header := &types.Header{Number: big.NewInt(1), GasLimit: 1 << 40, BaseFee: big.NewInt(1), Difficulty: new(big.Int)}
	random := common.Hash{}
	evm := vm.NewEVM(vm.BlockContext{
		CanTransfer: core.CanTransfer, Transfer: core.Transfer,
		GetHash:  func(uint64) common.Hash { return common.Hash{} },
		Coinbase: common.Address(proposer), GasLimit: header.GasLimit, BlockNumber: header.Number,
		BaseFee: header.BaseFee, BlobBaseFee: big.NewInt(1), Difficulty: header.Difficulty, Random: &random,
	}, db, gethparams.MergedTestChainConfig, vm.Config{})
	gas, hash := core.NewGasPool(header.GasLimit), header.Hash()
	signer := types.MakeSigner(gethparams.MergedTestChainConfig, header.Number, header.Time)
	receipts := make([]*types.Receipt, 0, len(list))
	for i, t := range list {
		db.SetTxContext(t.Peer.Hash(), i, uint32(i))
		msg, err := core.TransactionToMessage(t.Peer, signer, header.BaseFee)
		if err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, err)
		}
		receipt, _, err := core.ApplyTransactionWithEVM(context.Background(), msg, gas, db, header.Number, hash, header.Time, t.Peer, evm)
		if err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, err)
		}
		receipts = append(receipts, receipt)
	}
	return receipts, nil
}

// agree compares what both blocks did: every transfer succeeded and cost the
// same, and the receiver has the same money.
func agree(mine exec.Result, theirs []*types.Receipt, after *gethstate.StateDB) error {
	if len(mine.Receipts) != len(theirs) {
		return fmt.Errorf("%d receipts, peer has %d", len(mine.Receipts), len(theirs))
	}
	for i, r := range mine.Receipts {
		if r.Status != chain.StatusSucceeded || theirs[i].Status != types.ReceiptStatusSuccessful || uint64(r.CyclesUsed) != theirs[i].GasUsed {
			return fmt.Errorf("transfer %d: status %d and %d cycles, peer %d and %d gas", i, r.Status, r.CyclesUsed, theirs[i].Status, theirs[i].GasUsed)
		}
	}
	for _, a := range mine.Delta.Accounts() {
		if a.Address == transfers.Receiver && !after.GetBalance(common.Address(a.Address)).Eq(uint256.NewInt(uint64(a.Account.Balance))) {
			return fmt.Errorf("receiver has %d, peer's %s", a.Account.Balance, after.GetBalance(common.Address(a.Address)))
		}
	}
	return nil
}
