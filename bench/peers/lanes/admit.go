package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/core/txpool/legacypool"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/peers/transfers"
	"github.com/cowboy-foundation/cowboy/chain"
)

const (
	admitSenders   = 1000
	admitPerSender = 20
	admitTransfers = admitSenders * admitPerSender
	admitBatch     = 50 // as one submission brings
)

// admitBars race 20,000 transfers into an empty pool until all of them can be
// packed.
func admitBars() []bars.Bar {
	made := sync.OnceValues(func() ([]transfers.Pair, error) { return transfers.Make(admitSenders, admitPerSender) })
	bar := func(name, peer string, producers int, race func([]transfers.Pair, int) bars.Contest) bars.Bar {
		return bars.Bar{
			Name: name, Peer: peer, Must: 3, Aim: 6, Ops: admitTransfers, Iterations: 1,
			Setup: func() (bars.Contest, error) {
				list, err := made()
				if err != nil {
					return bars.Contest{}, err
				}
				return race(list, producers), nil
			},
		}
	}
	var list []bars.Bar
	for _, producers := range []int{1, 2, 4, 8} {
		list = append(list, bar(fmt.Sprintf("admit-%d-producers", producers), "go-ethereum legacypool", producers, raceAdmit))
		list = append(list, bar(fmt.Sprintf("admit-comet-%d-producers", producers), cometPeer, producers, raceCometAdmit))
	}
	return list
}

// share calls submit with the batches of each producer. A producer has whole
// senders, so that nonces arrive in order.
func share(producers, count int, submit func(from, to int) error) error {
	var failed atomic.Pointer[error]
	var running sync.WaitGroup
	each := count / producers / admitPerSender * admitPerSender
	for p := range producers {
		from, to := p*each, (p+1)*each
		if p == producers-1 {
			to = count
		}
		running.Go(func() {
			for at := from; at < to; at += admitBatch {
				if err := submit(at, min(at+admitBatch, to)); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// admitOurs is our side, and what closes its last pool.
func admitOurs(list []transfers.Pair, producers int) (side bars.Side, closeLast func() error) {
	txs := make([]*chain.VerifiedTx, len(list))
	for i, t := range list {
		txs[i] = t.Ours
	}
	var pool *ourPool
	closeLast = func() error {
		if pool == nil {
			return nil
		}
		return pool.close()
	}
	return bars.Side{
		Prepare: func(int) (err error) {
			if err = closeLast(); err == nil {
				pool, err = newOurPool(list)
			}
			return err
		},
		Run: func(int) error {
			return share(producers, len(txs), func(from, to int) error {
				return first(pool.Admit(context.Background(), txs[from:to]))
			})
		},
	}, closeLast
}

func raceAdmit(list []transfers.Pair, producers int) bars.Contest {
	peer := make([]*types.Transaction, len(list))
	for i, t := range list {
		peer[i] = t.Peer
	}
	var theirs *legacypool.LegacyPool
	closeTheirs := func() error {
		if theirs == nil {
			return nil
		}
		return theirs.Close()
	}
	ours, closeOurs := admitOurs(list, producers)
	return bars.Contest{
		Ours: ours,
		Peer: bars.Side{
			Prepare: func(int) error {
				if err := closeTheirs(); err != nil {
					return err
				}
				db, err := transfers.PeerState(list)
				if err == nil {
					theirs, err = newPeerPool(db)
				}
				return err
			},
			Run: func(int) error {
				err := share(producers, len(peer), func(from, to int) error {
					return first(theirs.Add(peer[from:to], false))
				})
				if err != nil {
					return err
				}
				return promoted(theirs, len(peer))
			},
		},
		Close: func() error { return errors.Join(closeOurs(), closeTheirs()) },
	}
}

// promoted waits until the peer can pack n transfers: it moves them out of its
// queue on a goroutine of its own.
func promoted(pool *legacypool.LegacyPool, n int) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if pending, _ := pool.Stats(); pending == n {
			return nil
		}
		runtime.Gosched()
	}
	pending, queued := pool.Stats()
	return fmt.Errorf("peer's pool holds %d pending and %d queued, want %d pending", pending, queued, n)
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
