package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/exec/timers"
)

// SleepersConfig says how a chain whose timers sleep is held against one without.
type SleepersConfig struct {
	Dir    string // a seeded chain; empty: one is made, and thrown away at the end
	Timers int    // of the chain that is made
	Seed   uint64
	// Without is a chain seeded like that in Dir but for its timers, and then measured
	// as often: measuring leaves accounts behind. Empty: one is made, likewise.
	Without string

	// Of both chains, so that they differ in their timers alone; a chain in Dir is
	// to have as many.
	Accounts, Actors int

	People int // who send, of the accounts
	Txs    int // in a block: the workload lane-mix, whose timers fire
	Blocks int // of each chain in a round, less what makes no lap
}

// DefaultSleepersConfig holds a million timers against none.
func DefaultSleepersConfig() SleepersConfig {
	return SleepersConfig{Timers: 1_000_000, Accounts: 1000, Actors: 1000, People: 1000, Txs: 1000, Blocks: 30, Seed: 1}
}

// Check reports the first setting that measures nothing.
func (c *SleepersConfig) Check() error {
	if c.People < 1 || c.People > c.Accounts || c.Txs < 20 || c.Txs > 100_000 || c.Blocks < blocksALap {
		return fmt.Errorf("%d blocks of %d transactions by %d people of %d, want %d blocks of 20 to 100,000 of them by somebody", c.Blocks, c.Txs, c.People, c.Accounts, blocksALap)
	}
	s := SeedConfig{Accounts: c.Accounts, Actors: c.Actors, Timers: c.Timers}
	return s.Check()
}

// SleepersBar bounds what a block takes beside timers that sleep, against the same
// block with an empty queue: packing, execution, root and commit, of blocks in
// turns. In the end it tells log what each stage took.
func SleepersBar(ctx context.Context, cfg SleepersConfig, log io.Writer) bars.Bar {
	var r *sleepersRace
	return bars.Bar{Name: "block-time-beside-sleeping-timers", Gauge: &bars.Gauge{
		Unit: "% of the block time without them", Must: 105,
		Measure: func(int) (float64, error) {
			if r == nil {
				var err error
				if r, err = newSleepersRace(ctx, cfg, log); err != nil {
					return 0, err
				}
			}
			return r.round(ctx)
		},
		Close: func() error { return r.close() },
	}}
}

// sleepersRace is both chains, that with sleepers first.
type sleepersRace struct {
	cfg    SleepersConfig
	log    io.Writer
	temp   string
	chains [2]*solo.Chain
	towns  [2]*Town
	spent  [2]Measure // in all rounds
}

func newSleepersRace(ctx context.Context, cfg SleepersConfig, log io.Writer) (*sleepersRace, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	r := &sleepersRace{cfg: cfg, log: log}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *sleepersRace) open(ctx context.Context) (err error) {
	if r.temp, err = os.MkdirTemp("", "cowboy-sleepers-"); err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	seed := SeedConfig{Accounts: r.cfg.Accounts, Actors: r.cfg.Actors, Seed: r.cfg.Seed, BlockTime: time.Millisecond}
	for i, dir := range [2]string{r.cfg.Dir, r.cfg.Without} {
		if dir == "" {
			dir = filepath.Join(r.temp, fmt.Sprint(i+1))
			seed.Dir, seed.Timers = dir, [2]int{r.cfg.Timers, 0}[i]
			if _, err := Seed(ctx, seed, r.log); err != nil {
				return err
			}
		}
		if r.chains[i], err = solo.Open(dir, solo.DefaultConfig()); err != nil {
			return err
		}
		seed.BlockTime = time.Duration(r.chains[i].Head().Force.Params.BlockTimeMillis) * time.Millisecond
		town := TownConfig{Seed: r.cfg.Seed, People: r.cfg.People, Markets: 1}
		if r.towns[i], err = NewTown(ctx, r.chains[i], town); err != nil {
			return err
		}
		head := r.chains[i].Head()
		queue, err := timers.ReadHead(head.State, head.Force.Params)
		if err != nil {
			return err
		}
		fmt.Fprintf(r.log, "chain %d: %d timers sleep at block %d\n", i+1, queue.Depth, head.Height())
	}
	return nil
}

// round makes blocks of both chains in turns and returns the ratio of what they
// took, in hundredths: the median of those of single laps.
func (r *sleepersRace) round(ctx context.Context) (float64, error) {
	ratios := make([]float64, r.cfg.Blocks/blocksALap)
	for i := range ratios {
		var err error
		if ratios[i], err = r.lap(ctx); err != nil {
			return 0, err
		}
	}
	slices.Sort(ratios)
	n := len(ratios)
	return 100 * (ratios[n/2] + ratios[(n-1)/2]) / 2, nil
}

// blocksALap is how many blocks each chain makes in a lap.
const blocksALap = 2

// lap makes a block of one chain, two of the other and one more of the first:
// neither a machine that gets slower or faster meanwhile nor what comes behind a
// block of the other chain favours one of them.
func (r *sleepersRace) lap(ctx context.Context) (float64, error) {
	w, _ := Find("lane-mix")
	var took [2]time.Duration
	for _, i := range [2 * blocksALap]int{0, 1, 1, 0} {
		var m Measure
		if err := r.towns[i].measureBlock(ctx, w, r.cfg.Txs, &m); err != nil {
			return 0, err
		}
		s := &m.Split
		took[i] += s.Pack + s.Apply + s.Root + s.Commit
		r.spent[i].Blocks++
		r.spent[i].CPU += m.CPU
		r.spent[i].Split.Add(s)
	}
	return float64(took[0]) / float64(took[1]), nil
}

func (r *sleepersRace) close() error {
	if r == nil {
		return nil
	}
	var err error
	for i, c := range r.chains {
		if c == nil {
			continue
		}
		if n := time.Duration(r.spent[i].Blocks); n > 0 {
			s := &r.spent[i].Split
			fmt.Fprintf(r.log, "chain %d: pack %v, execution %v, root %v, commit %v a block; %v of processor time\n",
				i+1, s.Pack/n, s.Apply/n, s.Root/n, s.Commit/n, r.spent[i].CPU/n)
		}
		err = errors.Join(err, c.Close())
	}
	return errors.Join(err, os.RemoveAll(r.temp))
}
