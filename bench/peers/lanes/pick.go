package main

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/txpool/txorder"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/peers/transfers"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/lanes"
)

const (
	pickSenders   = 5000
	pickPerSender = 20 // 100,000 transfers wait
)

// pickBars race the choice of 10,000 transfers for a block. Ours includes the
// order of execution by the proposer's VRF; go-ethereum's is its order by price,
// CometBFT's that of arrival.
func pickBars() []bars.Bar {
	return []bars.Bar{
		{
			Name: "pick-10k-of-100k", Peer: "go-ethereum legacypool", Must: 5, Aim: 10,
			Ops: blockTransfers, Setup: racePick,
		},
		{
			Name: "pick-comet-10k-of-100k", Peer: cometPeer, Must: 5, Aim: 10,
			Ops: blockTransfers, Setup: raceCometPick,
		},
	}
}

// packOurs is our side: the block for the next height, again and again.
func packOurs(pool *ourPool) bars.Side {
	return bars.Side{Run: func(n int) error {
		for range n {
			packed, err := pool.Pack(context.Background(), lanes.PackRequest{
				Parent: pool.view, Params: pool.params, BaseFees: evenFees(), Height: 1, MaxBytes: int(pool.params.MaxBlockBytes),
			})
			if err != nil {
				return err
			}
			if len(packed.Txs) != blockTransfers {
				return fmt.Errorf("packed %d transfers, want %d", len(packed.Txs), blockTransfers)
			}
		}
		return nil
	}}
}

func racePick() (bars.Contest, error) {
	list, err := transfers.Make(pickSenders, pickPerSender)
	if err != nil {
		return bars.Contest{}, err
	}
	mine, err := newOurPool(list)
	if err != nil {
		return bars.Contest{}, err
	}
	db, err := transfers.PeerState(list)
	if err != nil {
		return bars.Contest{}, err
	}
	theirs, err := newPeerPool(db)
	if err != nil {
		return bars.Contest{}, err
	}
	for at := 0; at < len(list); at += admitBatch {
		var ours []*chain.VerifiedTx
		var peer []*types.Transaction
		for _, t := range list[at : at+admitBatch] {
			ours, peer = append(ours, t.Ours), append(peer, t.Peer)
		}
		if err := first(append(mine.Admit(context.Background(), ours), theirs.Add(peer, false)...)); err != nil {
			return bars.Contest{}, err
		}
	}
	if err := promoted(theirs, len(list)); err != nil {
		return bars.Contest{}, err
	}
	signer := types.LatestSignerForChainID(big.NewInt(transfers.ChainID))
	return bars.Contest{
		Ours: packOurs(mine),
		Peer: bars.Side{Run: func(n int) error {
			for range n {
				pending, _ := theirs.Pending(txpool.PendingFilter{BaseFee: uint256.NewInt(1)})
				sorted := txorder.NewTransactionsByPriceAndNonce(signer, pending, big.NewInt(1))
				for i := range blockTransfers {
					lazy, _ := sorted.Peek()
					if lazy == nil || lazy.Resolve() == nil {
						return fmt.Errorf("peer's pool ends after %d transfers", i)
					}
					sorted.Shift()
				}
			}
			return nil
		}},
		Close: func() error {
			if err := mine.close(); err != nil {
				return err
			}
			return theirs.Close()
		},
	}, nil
}
