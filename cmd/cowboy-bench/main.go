// Command cowboy-bench puts load on a running node, makes chains with a large
// state, measures workloads without a network and compares measurements.
//
//	cowboy-bench load --rate 500 --duration 30s   # against a devnet
//	cowboy-bench load --mix profiles/workload/lanes-saturated.json --rate 5000
//	cowboy-bench seed-state --dir big --timers 1000000 --actors 1000
//	cowboy-bench run --workload lane-mix          # in this process
//	cowboy-bench sleepers --dir big               # block time beside sleeping timers
//	cowboy-bench compare --build main --build .   # two builds, in turns
//	cowboy-bench compare old.json new.json        # two files of bench/out
//	cowboy-bench gate                             # work that does not depend on the clock
//
// The work is in package bench and below; the files here read flags and print.
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/cowboy-foundation/cowboy/bench"
	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/builds"
	"github.com/cowboy-foundation/cowboy/bench/workload"
)

type commands struct {
	Load      loadCommand      `cmd:"" help:"Send signed transactions at a given rate and account for every one of them."`
	SeedState seedStateCommand `cmd:"" help:"Make a development chain with a large state, by ordinary transactions."`
	Run       runCommand       `cmd:"" help:"Put named workloads through a chain in this process: rates, and the share of each stage."`
	Sleepers  sleepersCommand  `cmd:"" help:"Hold the block time beside sleeping timers against that without."`
	Compare   compareCommand   `cmd:"" help:"Compare two builds, run in turns, or two bar reports: better, worse, same or inconclusive."`
	Gate      gateCommand      `cmd:"" help:"Hold allocations, counted work and ratios of this build to committed limits."`
}

type loadCommand struct {
	RPC         string        `name:"rpc" env:"COWBOY_RPC_URL" default:"${rpc}" help:"Base URL of the node."`
	Mix         string        `type:"existingfile" placeholder:"FILE" help:"What to send, such as profiles/workload/lane-mix-40-30-20-10.json. Default: transfers."`
	Rate        float64       `default:"${rate}" help:"Transactions due per second."`
	Duration    time.Duration `default:"${duration}" help:"Length of the schedule."`
	Accounts    int           `default:"${accounts}" help:"Sending accounts; funded first where needed."`
	Arrival     string        `enum:"constant,poisson" default:"constant" help:"Spread of the send times: ${enum}."`
	Seed        uint64        `default:"1" help:"Seed of the accounts' keys and of the schedule."`
	Connections int           `default:"${connections}" help:"HTTP connections; an account stays on one."`
	Batch       int           `default:"${batch}" help:"Transfers in one request, 1 to 50, due together."`
	FundKey     string        `name:"fund-key" env:"COWBOY_PRIVATE_KEY" placeholder:"HEX" help:"Private key that funds the accounts; a devnet prints some. Not needed where all have money, as after seed-state with the same seed."`
	FeeHeadroom uint64        `default:"${headroom}" help:"Largest base fee accepted, in multiples of today's."`
	MaxInFlight int           `default:"${inflight}" help:"Unanswered transfers above which slots are skipped."`
	Drain       time.Duration `default:"${drain}" help:"Wait for finalization after the last answer."`
	LatenessMax time.Duration `default:"${lateness}" help:"Largest p99 lateness of the generator in a valid run."`
	Spin        time.Duration `default:"${spin}" help:"Last part of each wait that is spun through."`
	JSON        bool          `name:"json" help:"Print the report as JSON instead of a table."`
	Out         string        `placeholder:"FILE" help:"Also write the report as JSON to this file."`
}

// notPassed carries the exit code of a run that worked but did not pass.
type notPassed int

func (e notPassed) Error() string { return "the run did not pass" }

// Run is called by kong.
func (c *loadCommand) Run(ctx context.Context) error {
	cfg := bench.DefaultLoadConfig()
	cfg.RPC, cfg.Rate, cfg.Duration, cfg.Accounts = c.RPC, c.Rate, c.Duration, c.Accounts
	cfg.Arrival, cfg.Seed, cfg.Connections, cfg.Batch = bench.Arrival(c.Arrival), c.Seed, c.Connections, c.Batch
	cfg.FeeHeadroom, cfg.MaxInFlight, cfg.Drain = c.FeeHeadroom, c.MaxInFlight, c.Drain
	cfg.LatenessMax, cfg.SpinWindow = c.LatenessMax, c.Spin
	if c.FundKey != "" {
		key, err := hex.DecodeString(strings.TrimPrefix(c.FundKey, "0x"))
		if err != nil || len(key) != len(cfg.FundKey) {
			return errors.New("fund key: want 64 hex digits")
		}
		copy(cfg.FundKey[:], key)
	}
	if c.Mix != "" {
		var err error
		if cfg.Mix, err = readMix(c.Mix); err != nil {
			return err
		}
	}
	wd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("working folder: %w", err)
	}
	report, err := bench.Run(ctx, cfg, bars.RepositoryRoot(wd), os.Stderr)
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := writeFile(c.Out, report.WriteJSON); err != nil {
			return err
		}
	}
	write := report.WriteTable
	if c.JSON {
		write = report.WriteJSON
	}
	if err := write(os.Stdout); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	if code := report.ExitCode(); code != 0 {
		return notPassed(code)
	}
	return nil
}

func readMix(path string) (bench.Mix, error) {
	f, err := os.Open(path)
	if err != nil {
		return bench.Mix{}, fmt.Errorf("mix: %w", err)
	}
	defer f.Close()
	m, err := bench.ReadMix(f)
	if err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("report file: %w", err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// defaults are the tools' own, so that help and library cannot differ.
func defaults() kong.Vars {
	d, seed, suite, sleep := bench.DefaultLoadConfig(), workload.DefaultSeedConfig(), workload.DefaultSuiteConfig(), workload.DefaultSleepersConfig()
	two := builds.DefaultConfig()
	return kong.Vars{
		"rpc": d.RPC, "rate": fmt.Sprint(d.Rate), "duration": d.Duration.String(), "accounts": fmt.Sprint(d.Accounts),
		"connections": fmt.Sprint(d.Connections), "batch": fmt.Sprint(d.Batch), "headroom": fmt.Sprint(d.FeeHeadroom),
		"inflight": fmt.Sprint(d.MaxInFlight), "drain": d.Drain.String(), "lateness": d.LatenessMax.String(), "spin": d.SpinWindow.String(),
		"seedaccounts": fmt.Sprint(seed.Accounts), "seedactors": fmt.Sprint(seed.Actors), "seedtimers": fmt.Sprint(seed.Timers),
		"workloads": strings.Join(workload.Names(), ", "), "workers": fmt.Sprint(suite.Workers), "people": fmt.Sprint(suite.People),
		"txs": fmt.Sprint(suite.Txs), "blocks": fmt.Sprint(suite.Blocks),
		"sleepertimers": fmt.Sprint(sleep.Timers), "sleeperaccounts": fmt.Sprint(sleep.Accounts), "sleeperactors": fmt.Sprint(sleep.Actors), "sleepertxs": fmt.Sprint(sleep.Txs),
		"sleeperblocks": fmt.Sprint(sleep.Blocks), "rounds": fmt.Sprint(bars.DefaultConfig().Rounds),
		"suites": strings.Join(two.Suites, ","), "buildrounds": fmt.Sprint(two.Rounds), "buildsamples": fmt.Sprint(two.Samples), "margin": fmt.Sprint(two.Margin),
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends a stop that hangs
	var cmds commands
	k := kong.Parse(&cmds,
		kong.Name("cowboy-bench"),
		kong.Description("Load and measure a Cowboy node."),
		kong.UsageOnError(), defaults(),
	)
	k.BindTo(ctx, (*context.Context)(nil))
	err := k.Run()
	var verdict notPassed
	if errors.As(err, &verdict) {
		stop()
		os.Exit(int(verdict))
	}
	k.FatalIfErrorf(err)
}
