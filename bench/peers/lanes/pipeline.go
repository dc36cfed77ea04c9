package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/core/types"
	"golang.org/x/sync/errgroup"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/peers/transfers"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
)

const (
	pipelineSenders   = 100
	pipelinePerSender = 20
	pipelineTransfers = pipelineSenders * pipelinePerSender
	pipelineBatch     = 50
)

// pipelineBars race bytes to verified senders on two cores: decoding, hashing
// and recovery, none of it remembered from the round before.
func pipelineBars() []bars.Bar {
	b := bars.Bar{
		Name: "sigverify-2-cores", Peer: "go-ethereum decode and recover in an errgroup", Must: 4, Aim: 5.5,
		Cores: 2, Ops: pipelineTransfers, Iterations: 1, Setup: racePipeline,
	}
	if runtime.NumCPU() < b.Cores {
		b.Setup, b.Absent = nil, fmt.Sprintf("needs %d cores, has %d", b.Cores, runtime.NumCPU())
	}
	return []bars.Bar{b}
}

// open admits everything.
type open struct{}

// Admit implements sigverify.Lanes.
func (open) Admit(_ context.Context, txs []*chain.VerifiedTx) []error {
	return make([]error, len(txs))
}

// FillWaiting implements sigverify.Lanes: what was admitted is not kept.
func (open) FillWaiting([][32]byte, []*chain.VerifiedTx) int { return 0 }

func racePipeline() (bars.Contest, error) {
	list, err := transfers.Make(pipelineSenders, pipelinePerSender)
	if err != nil {
		return bars.Contest{}, err
	}
	ours, peer := make([][]byte, len(list)), make([][]byte, len(list))
	for i, t := range list {
		ours[i] = t.Ours.Body
		if peer[i], err = t.Peer.MarshalBinary(); err != nil {
			return bars.Contest{}, fmt.Errorf("encode for the peer: %w", err)
		}
	}
	var (
		pipeline *sigverify.Pipeline
		stop     = func() {}
		ended    sync.WaitGroup
	)
	halt := func() error {
		stop()
		ended.Wait()
		return nil
	}
	return bars.Contest{
		Ours: bars.Side{
			Prepare: func(int) (err error) {
				if err = halt(); err != nil {
					return err
				}
				if pipeline, err = sigverify.New(sigverify.DefaultConfig(2), open{}); err != nil {
					return err
				}
				ctx, cancel := context.WithCancel(context.Background())
				stop = cancel
				ended.Go(func() { _ = pipeline.Run(ctx) })
				return nil
			},
			Run: func(int) error { return submitAll(pipeline, ours, list) },
		},
		Peer:  bars.Side{Run: func(int) error { return recoverAll(peer, list) }},
		Close: halt,
	}, nil
}

func submitAll(p *sigverify.Pipeline, bodies [][]byte, want []transfers.Pair) error {
	var wrong atomic.Int64
	var open sync.WaitGroup
	for at := 0; at < len(bodies); at += pipelineBatch {
		open.Add(1)
		err := p.Submit(bodies[at:at+pipelineBatch], func(verdicts []sigverify.Verdict) {
			for i, v := range verdicts {
				if v.Err != nil || v.Tx.Sender != want[at+i].Ours.Sender {
					wrong.Add(1)
				}
			}
			open.Done()
		})
		if err != nil {
			return err
		}
	}
	open.Wait()
	if n := wrong.Load(); n > 0 {
		return fmt.Errorf("%d transfers were refused or have another sender", n)
	}
	return nil
}

var errWrongSender = errors.New("peer recovered another sender")

func recoverAll(encoded [][]byte, want []transfers.Pair) error {
	signer := types.LatestSignerForChainID(big.NewInt(transfers.ChainID))
	var group errgroup.Group
	group.SetLimit(2)
	for at := 0; at < len(encoded); at += pipelineBatch {
		group.Go(func() error {
			for i := at; i < at+pipelineBatch; i++ {
				var tx types.Transaction
				if err := tx.UnmarshalBinary(encoded[i]); err != nil {
					return err
				}
				tx.Hash() // ours computes it too: pools are keyed by it
				from, err := types.Sender(signer, &tx)
				if err != nil {
					return err
				}
				if chain.Address(from) != want[i].Ours.Sender {
					return errWrongSender
				}
			}
			return nil
		})
	}
	return group.Wait()
}
