package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
)

// SuiteConfig says which workloads are measured, and how.
type SuiteConfig struct {
	Genesis   string // template; empty: that of profiles/genesis/unbounded.json
	Workloads []string
	Modes     []parallel.Mode
	Workers   int // that execute
	People    int
	Markets   int
	Txs       int // in a block
	Blocks    int // of each workload, beside one that is not counted
	Seed      uint64
}

// DefaultSuiteConfig measures every workload, one transaction after the other and
// as a node does.
func DefaultSuiteConfig() SuiteConfig {
	return SuiteConfig{
		Workloads: Names(), Modes: []parallel.Mode{parallel.Sequential, parallel.Auto},
		Workers: solo.DefaultConfig().Exec.Workers, People: 1000, Markets: 100, Txs: 1000, Blocks: 5, Seed: 1,
	}
}

// Check reports the first setting that measures nothing.
func (c *SuiteConfig) Check() error {
	for _, name := range c.Workloads {
		if _, ok := Find(name); !ok {
			return fmt.Errorf("workload %q is none of %s", name, strings.Join(Names(), ", "))
		}
	}
	switch {
	case len(c.Workloads) == 0 || len(c.Modes) == 0:
		return errors.New("no workload, or no mode")
	case c.People < 1 || c.People > 100_000 || c.Markets < 1 || c.Markets > c.People:
		return fmt.Errorf("%d people and %d markets, want 1 to 100,000, and no more markets than people", c.People, c.Markets)
	case c.Txs < 1 || c.Txs > 100_000 || c.Blocks < 1:
		return fmt.Errorf("%d blocks of %d transactions, want 1 to 100,000 of them", c.Blocks, c.Txs)
	}
	exec := parallel.Config{Workers: c.Workers}
	return exec.Check()
}

// Suite makes a town on a chain that is thrown away at the end, and measures the
// workloads, each in all modes. Each is given to done as soon as it is known.
func Suite(ctx context.Context, cfg SuiteConfig, log io.Writer, done func(parallel.Mode, Measure) error) (err error) {
	if err := cfg.Check(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cowboy-run-")
	if err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	g, err := PrepareChain(dir, cfg.Genesis, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "genesis %s: %d people, %d transactions a block\n", g.Name, cfg.People, cfg.Txs)
	var town *Town
	for _, name := range cfg.Workloads {
		w, _ := Find(name) // as checked
		for _, mode := range cfg.Modes {
			// Opened anew: what an executor has learned is of this workload alone.
			err := onChain(dir, parallel.Config{Mode: mode, Workers: cfg.Workers}, func(c *solo.Chain) (err error) {
				if town == nil {
					if town, err = NewTown(ctx, c, TownConfig{Seed: cfg.Seed, People: cfg.People, Markets: cfg.Markets}); err != nil {
						return err
					}
				}
				town.On(c)
				m, err := town.Measure(ctx, w, cfg.Txs, cfg.Blocks)
				if err != nil {
					return err
				}
				fmt.Fprintf(log, "%s %s: %d transactions in %v\n", name, mode, m.Txs, m.Wall.Round(time.Millisecond))
				return done(mode, m)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// onChain opens the chain of a folder for do.
func onChain(dir string, exec parallel.Config, do func(*solo.Chain) error) error {
	cfg := solo.DefaultConfig()
	cfg.Exec = exec
	c, err := solo.Open(dir, cfg)
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close())
}
