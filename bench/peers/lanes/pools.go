package main

import (
	"context"
	"fmt"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	gethstate "github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/txpool/legacypool"
	"github.com/ethereum/go-ethereum/core/types"
	gethparams "github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/trie"

	"github.com/cowboy-foundation/cowboy/bench/peers/transfers"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// blockTransfers is how many transfers the block of the pick bar holds.
const blockTransfers = 10_000

// blockParams let a block hold exactly that many transfers.
func blockParams() params.Params {
	p := params.Default()
	p.CyclesTarget = blockTransfers * transfers.Limit
	p.CyclesCap = p.CyclesTarget
	p.MaxTxCycles = p.CyclesTarget
	p.MaxBlockBytes = 64 << 20
	return p
}

func evenFees() (fees [chain.NumLanes]chain.FeePair) {
	for i := range fees {
		fees[i] = chain.FeePair{PerCycle: 1, PerCell: 1}
	}
	return fees
}

// ourPool is lanes with their goroutine.
type ourPool struct {
	*lanes.Lanes
	params *params.Params
	view   *statetest.Maps
	stop   context.CancelFunc
	ended  sync.WaitGroup
}

func newOurPool(list []transfers.Pair) (*ourPool, error) {
	p := blockParams()
	pool := &ourPool{params: &p, view: transfers.WealthOf(list)}
	var err error
	pool.Lanes, err = lanes.New(lanes.DefaultConfig(), pool.params, transfers.ChainID, lanes.FinalizedHead{View: pool.view, BaseFees: evenFees()})
	if err != nil {
		return nil, fmt.Errorf("our pool: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	pool.stop = stop
	pool.ended.Go(func() { _ = pool.Run(ctx) })
	return pool, nil
}

func (p *ourPool) close() error {
	p.stop()
	p.ended.Wait()
	return nil
}

// fixedChain is a chain that stands still, as far as a pool can see.
type fixedChain struct{ state *gethstate.StateDB }

func (c *fixedChain) Config() *gethparams.ChainConfig { return gethparams.TestChainConfig }

func (c *fixedChain) CurrentBlock() *types.Header {
	return &types.Header{Number: new(big.Int), Difficulty: common.Big0, GasLimit: 1 << 40, BaseFee: big.NewInt(1)}
}

func (c *fixedChain) GetBlock(common.Hash, uint64) *types.Block {
	return types.NewBlock(c.CurrentBlock(), nil, nil, trie.NewStackTrie(nil))
}

func (c *fixedChain) StateAt(common.Hash, *big.Int, uint64) (*gethstate.StateDB, error) {
	return c.state, nil
}

// newPeerPool returns a pool without the stock limits, which would drop most of
// the transfers: its job here is the same as ours.
func newPeerPool(db *gethstate.StateDB) (*legacypool.LegacyPool, error) {
	cfg := legacypool.DefaultConfig
	cfg.Journal, cfg.NoLocals = "", true
	cfg.AccountSlots, cfg.GlobalSlots, cfg.AccountQueue, cfg.GlobalQueue = 1<<20, 1<<20, 1<<20, 1<<20
	c := &fixedChain{state: db}
	pool := legacypool.New(cfg, c)
	if err := pool.Init(1, c.CurrentBlock(), txpool.NewReservationTracker().NewHandle(0)); err != nil {
		return nil, fmt.Errorf("peer's pool: %w", err)
	}
	return pool, nil
}
