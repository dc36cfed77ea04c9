package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/workload"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
)

type runCommand struct {
	Workload []string `placeholder:"NAME" help:"Workloads, all if none is named: ${workloads}."`
	Mode     []string `enum:"auto,seq,dag,opt" default:"seq,auto" help:"How blocks are executed, one run after the other: ${enum}."`
	Workers  int      `default:"${workers}" help:"Transactions executed at a time."`
	Genesis  string   `type:"existingfile" placeholder:"FILE" help:"Genesis template. Default: that of profiles/genesis/unbounded.json."`
	People   int      `default:"${people}" help:"Accounts that send; each has an actor."`
	Txs      int      `default:"${txs}" help:"Transactions in a block."`
	Blocks   int      `default:"${blocks}" help:"Blocks of each workload."`
	Seed     uint64   `default:"1" help:"Seed of keys and transactions."`
}

// Run is called by kong.
func (c *runCommand) Run(ctx context.Context) error {
	cfg := workload.DefaultSuiteConfig()
	if len(c.Workload) > 0 {
		cfg.Workloads = c.Workload
	}
	cfg.Modes = nil
	for _, name := range c.Mode {
		mode, err := parallel.ParseMode(name)
		if err != nil {
			return err
		}
		cfg.Modes = append(cfg.Modes, mode)
	}
	cfg.Workers, cfg.Genesis, cfg.People, cfg.Txs, cfg.Blocks, cfg.Seed = c.Workers, c.Genesis, c.People, c.Txs, c.Blocks, c.Seed
	cfg.Markets = min(cfg.Markets, c.People)
	t := tabwriter.NewWriter(os.Stdout, 0, 8, 1, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "workload\tmode\ttx/s\ttx/s/core\t")
	var none workload.Measure
	for _, stage := range none.Split.Stages() {
		fmt.Fprintf(t, "%s\t", stage.Name)
	}
	fmt.Fprint(t, "runs/tx\tagain\tmissed\t\n")
	err := workload.Suite(ctx, cfg, os.Stderr, func(mode parallel.Mode, m workload.Measure) error {
		return writeMeasure(t, mode, &m)
	})
	return errors.Join(err, t.Flush())
}

// writeMeasure writes a line: rates, then the shares of the stages, then what
// became of attempts.
func writeMeasure(w io.Writer, mode parallel.Mode, m *workload.Measure) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\t%s\t%.0f\t%.0f\t", m.Workload, mode, m.PerSecond(), m.PerCore())
	total := max(m.Split.Total(), 1)
	for _, stage := range m.Split.Stages() {
		fmt.Fprintf(&b, "%.1f%%\t", 100*float64(stage.Time)/float64(total))
	}
	if s := &m.Split; s.Txs > 0 {
		fmt.Fprintf(&b, "%.2f\t%d\t%d\t", float64(s.Executions)/float64(s.Txs), s.Reruns, s.Missed)
	} else {
		b.WriteString("1\t-\t-\t")
	}
	_, err := fmt.Fprintln(w, b.String())
	return err
}

type sleepersCommand struct {
	Dir      string `type:"existingdir" placeholder:"DIR" help:"Chain of seed-state, which goes on. Default: one is made, and thrown away at the end."`
	Without  string `type:"existingdir" placeholder:"DIR" help:"Chain of seed-state --timers 0 that was measured as often as that in --dir, and goes on. Default: one is made, and thrown away at the end."`
	Timers   int    `default:"${sleepertimers}" help:"Timers that sleep on the chain that is made."`
	Accounts int    `default:"${sleeperaccounts}" help:"Accounts with money, on both chains: as many as in --dir."`
	Actors   int    `default:"${sleeperactors}" help:"Actors on both chains, which have the timers: as many as in --dir."`
	Txs      int    `default:"${sleepertxs}" help:"Transactions in a block."`
	Blocks   int    `default:"${sleeperblocks}" help:"Blocks of each chain in a round."`
	Rounds   int    `default:"${rounds}" help:"Rounds."`
	Seed     uint64 `default:"1" help:"Seed of keys and transactions; that of the chain in --dir."`
}

// Run is called by kong.
func (c *sleepersCommand) Run(ctx context.Context) error {
	cfg := workload.DefaultSleepersConfig()
	cfg.Dir, cfg.Without, cfg.Timers, cfg.Accounts, cfg.Actors = c.Dir, c.Without, c.Timers, c.Accounts, c.Actors
	cfg.Txs, cfg.Blocks, cfg.Seed = c.Txs, c.Blocks, c.Seed
	if err := cfg.Check(); err != nil {
		return err
	}
	wd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("working folder: %w", err)
	}
	opts := bars.Options{Config: bars.DefaultConfig(), OutDir: filepath.Join(bars.RepositoryRoot(wd), "bench", "out")}
	opts.Config.Rounds = c.Rounds
	_, err = bars.Run("sleepers", []bars.Bar{workload.SleepersBar(ctx, cfg, os.Stderr)}, opts, os.Stdout)
	return err
}
