// Command e2e puts transfers on whole nodes, ours and peers', one after another on the
// same machine, and holds what they make of them against the bars.
//
// A round is one run of each contestant in an order drawn from a seed, ours twice: what
// differs between the two is the noise of the machine. Each run is a new process with a
// new data folder on loopback, a load that was signed before, a warm-up and a window
// (package flood). docs/performance/end-to-end.md describes the method.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

// options are the command line.
type options struct {
	rounds   int
	window   time.Duration
	warm     time.Duration
	rate     float64
	seed     uint64
	only     string
	block    time.Duration
	stock    int
	limit    int // sent and in no block; 0 for the contestant's own
	profiles string
	root     string
	out      string
	keep     bool
	paced    bool
	long     time.Duration
	prints   *footprints // of the run in progress; nil where nobody asks
}

func main() {
	// A child gets a signal when the thread that started it ends: this one lives
	// as long as the process.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	wd, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(stderr, "working folder:", err)
		return 2
	}
	o := options{root: bars.RepositoryRoot(wd)}
	flags := flag.NewFlagSet("e2e", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.rounds, "rounds", 3, "runs of each contestant")
	flags.DurationVar(&o.window, "window", 20*time.Second, "time that is measured in a run")
	flags.DurationVar(&o.warm, "warm", 5*time.Second, "time before it")
	flags.Float64Var(&o.rate, "rate", 0, "transactions a second; 0 for as many as the node takes")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the order within the rounds")
	flags.StringVar(&o.only, "only", "", "contestants, by commas: "+strings.Join(names(contestants()), ", "))
	flags.DurationVar(&o.block, "block-time", 200*time.Millisecond, "block time of ours")
	flags.IntVar(&o.stock, "stock", 120_000, "transactions signed for each second of a run of ours")
	flags.IntVar(&o.limit, "limit", 0, "most transactions sent and in no block; 0 for each contestant's own")
	flags.StringVar(&o.profiles, "profile", "", "folder for profiles of ours: processor time and allocations of a part of the window")
	flags.StringVar(&o.out, "out", filepath.Join(o.root, "bench", "out"), "folder of the JSON file; empty writes none")
	flags.BoolVar(&o.keep, "keep", false, "keep the data folders")
	flags.DurationVar(&o.long, "long", 0, "instead of rounds: run ours at half of its rate for so long, such as 10m, and hold the end against the beginning")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	o.paced = o.only == "" && o.rate == 0
	field, err := choose(o.only)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if o.long > 0 {
		err = long(ctx, &o, stdout)
	} else {
		err = measure(ctx, &o, field, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "e2e:", err)
		return 1
	}
	return 0
}
