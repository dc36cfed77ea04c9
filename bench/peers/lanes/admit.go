package main

import (
	"context"
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
	var list []bars.Bar
	for _, producers := range []int{1, 2, 4, 8} {
		list = append(list, bars.Bar{
			Name: fmt.Sprintf("admit-%d-producers", producers), Peer: "go-ethereum legacypool",
			Must: 3, Aim: 6, Ops: admitTransfers, Iterations: 1,
			Setup: func() (bars.Contest, error) {
				list, err := made()
				if err != nil {
					return bars.Contest{}, err
				}
				return raceAdmit(list, producers), nil
			},
		})
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

func raceAdmit(list []transfers.Pair, producers int) bars.Contest {
	ours, peer := make([]*chain.VerifiedTx, len(list)), make([]*types.Transaction, len(list))
	for i, t := range list {
		ours[i], peer[i] = t.Ours, t.Peer
	}
	var mine *ourPool
	var theirs *legacypool.LegacyPool
	closeMine := func() error {
		if mine == nil {
			return nil
		}
		return mine.close()
	}
	closeTheirs := func() error {
		if theirs == nil {
			return nil
		}
		return theirs.Close()
	}
	return bars.Contest{
		Ours: bars.Side{
			Prepare: func(int) (err error) {
				if err = closeMine(); err == nil {
					mine, err = newOurPool(list)
				}
				return err
			},
			Run: func(int) error {
				return share(producers, len(ours), func(from, to int) error {
					return first(mine.Admit(context.Background(), ours[from:to]))
				})
			},
		},
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
		Close: func() error {
			if err := closeMine(); err != nil {
				return err
			}
			return closeTheirs()
		},
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
