package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/peers/transfers"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
)

const (
	efficiencySenders   = 800 // 16,000 transfers: 1,000 for each of 16 cores
	efficiencyTransfers = efficiencySenders * pipelinePerSender
)

// efficiencyBars hold the signature pipeline on n cores against itself on one.
// Ours does the work n times over while the peer does it once, so that the
// ratio is the efficiency t1/(n·tn): 1 if n cores are n times as fast. The bar
// of one core races equals and shows the noise of the machine.
func efficiencyBars() []bars.Bar {
	made := sync.OnceValues(func() ([]transfers.Pair, error) { return transfers.Make(efficiencySenders, pipelinePerSender) })
	var list []bars.Bar
	for _, cores := range []int{1, 2, 4, 8, 16} {
		b := bars.Bar{
			Name: fmt.Sprintf("sigverify-efficiency-%d-cores", cores), Peer: "itself on one core",
			Must: 0.8, Ops: efficiencyTransfers, Iterations: 1, SpinCores: cores,
		}
		if have := runtime.NumCPU(); have < cores {
			b.Absent = fmt.Sprintf("this machine has %d cores", have)
		} else {
			b.Setup = func() (bars.Contest, error) {
				list, err := made()
				if err != nil {
					return bars.Contest{}, err
				}
				return raceEfficiency(list, cores), nil
			}
		}
		list = append(list, b)
	}
	return list
}

func raceEfficiency(list []transfers.Pair, cores int) bars.Contest {
	bodies := bodiesOf(list)
	var running pipelines
	side := func(cores, times int) bars.Side {
		return bars.Side{
			Cores:   cores,
			Prepare: func(int) error { return running.restart(cores, times) },
			Run: func(int) error {
				for _, p := range running.list {
					if err := submitAll(p, bodies, list); err != nil {
						return err
					}
				}
				return nil
			},
		}
	}
	return bars.Contest{Ours: side(cores, cores), Peer: side(1, 1), Close: running.halt}
}

// pipelines run side by side, all but one of them idle: a pipeline remembers
// what it verified, so each can do the work only once.
type pipelines struct {
	list  []*sigverify.Pipeline
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// restart replaces those that run by count new ones.
func (p *pipelines) restart(cores, count int) error {
	err := p.halt()
	ctx, stop := context.WithCancel(context.Background())
	p.list, p.stop = nil, stop
	for range count {
		cfg := sigverify.DefaultConfig(cores)
		cfg.QueueTxs = 2 * efficiencyTransfers // one source may fill half
		next, newErr := sigverify.New(cfg, open{})
		if newErr != nil {
			return errors.Join(err, newErr)
		}
		p.list = append(p.list, next)
		p.ended.Go(func() { _ = next.Run(ctx) })
	}
	return err
}

func (p *pipelines) halt() error {
	if p.stop != nil {
		p.stop()
	}
	p.ended.Wait()
	return nil
}
