package gate

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/bench/workload"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
)

// Ground is the chains that benches of whole blocks share, thrown away and made at the
// first need: one with people and actors, and one that another follows. It serves one
// goroutine.
type Ground struct {
	pair *workload.Pair

	dir   string
	chain *solo.Chain
	town  *workload.Town
	exec  parallel.Config // that the chain was opened with
}

// How the ground is peopled, and how large the measured blocks are. More people than
// transactions in a block, so that everybody sends at most once.
const (
	groundPeople = 600
	groundMarket = 10
	blockTxs     = 500
	groundSeed   = 1
)

// open returns the town of the ground on a chain that executes as exec says.
func (g *Ground) open(ctx context.Context, exec parallel.Config) (*workload.Town, *solo.Chain, error) {
	if g.chain != nil && g.exec.Mode == exec.Mode && g.exec.Workers == exec.Workers {
		return g.town, g.chain, nil
	}
	if g.chain != nil {
		err := g.chain.Close()
		g.chain = nil
		if err != nil {
			return nil, nil, fmt.Errorf("close the ground: %w", err)
		}
	}
	if g.dir == "" {
		dir, err := os.MkdirTemp("", "cowboy-gate-")
		if err != nil {
			return nil, nil, fmt.Errorf("folder of the ground: %w", err)
		}
		g.dir = dir
		if _, err := workload.PrepareChain(dir, "", 0); err != nil {
			return nil, nil, err
		}
	}
	cfg := solo.DefaultConfig()
	cfg.Exec = exec
	c, err := solo.Open(g.dir, cfg)
	if err != nil {
		return nil, nil, err
	}
	g.chain, g.exec = c, exec
	if g.town == nil {
		if g.town, err = workload.NewTown(ctx, c, workload.TownConfig{Seed: groundSeed, People: groundPeople, Markets: groundMarket}); err != nil {
			return nil, nil, err
		}
	}
	g.town.On(c)
	return g.town, c, nil
}

// openPair returns a chain and who follows it.
func (g *Ground) openPair(ctx context.Context) (*workload.Pair, error) {
	if g.pair != nil {
		return g.pair, nil
	}
	cfg := solo.DefaultConfig()
	cfg.Exec = sequential()
	p, err := workload.NewPair(ctx, cfg, followPeople)
	if err != nil {
		return nil, fmt.Errorf("two chains: %w", err)
	}
	g.pair = p
	return p, nil
}

// Close removes the ground.
func (g *Ground) Close() error {
	var err error
	if g.pair != nil {
		err = g.pair.Close()
		g.pair = nil
	}
	if g.chain != nil {
		err = errors.Join(err, g.chain.Close())
		g.chain = nil
	}
	if g.dir != "" {
		err = errors.Join(err, os.RemoveAll(g.dir))
	}
	return err
}
