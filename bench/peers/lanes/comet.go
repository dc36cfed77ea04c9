package main

import (
	"context"
	"fmt"

	abcicli "github.com/cometbft/cometbft/abci/client"
	abci "github.com/cometbft/cometbft/abci/types"
	"github.com/cometbft/cometbft/config"
	"github.com/cometbft/cometbft/mempool"
	"github.com/cometbft/cometbft/proxy"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/peers/transfers"
	"github.com/cowboy-foundation/cowboy/chain"
)

// cometPeer names the peer with what it leaves out. CometBFT's mempool knows
// neither senders nor nonces nor fees: that is the application's part, and this
// application does nothing. Ours does all of it in the time that is compared.
const cometPeer = "CometBFT CListMempool (no-op application: nothing checked, first in first out)"

// acceptAll is the application behind the peer's mempool. It wants the gas of a
// transfer, so that a block's gas bounds what is reaped as its cycles bound ours.
type acceptAll struct{ abci.BaseApplication }

// CheckTx implements abci.Application.
func (acceptAll) CheckTx(context.Context, *abci.RequestCheckTx) (*abci.ResponseCheckTx, error) {
	return &abci.ResponseCheckTx{Code: abci.CodeTypeOK, GasWanted: transfers.Limit}, nil
}

// newCometPool returns the peer's mempool over a client in this process, with
// room for count transfers and a cache of twice as many, the proportion of its
// defaults.
func newCometPool(count int) *mempool.CListMempool {
	cfg := config.DefaultMempoolConfig()
	cfg.Size, cfg.CacheSize = count, 2*count
	client := abcicli.NewLocalClient(nil, acceptAll{})
	return mempool.NewCListMempool(cfg, proxy.NewAppConnMempool(client, proxy.NopMetrics()), 0)
}

// checkAll submits bodies one by one, which is all that the peer's interface
// has. The client of this process calls back before CheckTx returns.
func checkAll(pool *mempool.CListMempool, bodies [][]byte) error {
	for _, body := range bodies {
		if err := pool.CheckTx(body, nil, mempool.TxInfo{}); err != nil {
			return err
		}
	}
	return nil
}

func bodiesOf(list []transfers.Pair) [][]byte {
	bodies := make([][]byte, len(list))
	for i, t := range list {
		bodies[i] = t.Ours.Body
	}
	return bodies
}

// raceCometAdmit gives the peer the bodies of the same transfers.
func raceCometAdmit(list []transfers.Pair, producers int) bars.Contest {
	bodies := bodiesOf(list)
	var theirs *mempool.CListMempool
	ours, closeOurs := admitOurs(list, producers)
	return bars.Contest{
		Ours: ours,
		Peer: bars.Side{
			Prepare: func(int) error {
				theirs = newCometPool(len(bodies))
				return nil
			},
			Run: func(int) error {
				err := share(producers, len(bodies), func(from, to int) error {
					return checkAll(theirs, bodies[from:to])
				})
				if err == nil && theirs.Size() != len(bodies) {
					err = fmt.Errorf("peer's mempool holds %d transfers, want %d", theirs.Size(), len(bodies))
				}
				return err
			},
		},
		Close: closeOurs,
	}
}

func raceCometPick() (bars.Contest, error) {
	list, err := transfers.Make(pickSenders, pickPerSender)
	if err != nil {
		return bars.Contest{}, err
	}
	mine, err := newOurPool(list)
	if err != nil {
		return bars.Contest{}, err
	}
	ours := make([]*chain.VerifiedTx, len(list))
	for i, t := range list {
		ours[i] = t.Ours
	}
	for at := 0; at < len(ours); at += admitBatch {
		if err := first(mine.Admit(context.Background(), ours[at:at+admitBatch])); err != nil {
			return bars.Contest{}, err
		}
	}
	theirs := newCometPool(len(list))
	if err := checkAll(theirs, bodiesOf(list)); err != nil {
		return bars.Contest{}, err
	}
	return bars.Contest{
		Ours: packOurs(mine),
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				if txs := theirs.ReapMaxBytesMaxGas(int64(mine.params.MaxBlockBytes), blockTransfers*transfers.Limit); len(txs) != blockTransfers {
					return fmt.Errorf("peer reaped %d transfers, want %d", len(txs), blockTransfers)
				}
			}
			return nil
		}},
		Close: mine.close,
	}, nil
}
