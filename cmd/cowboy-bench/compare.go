package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/builds"
)

type compareCommand struct {
	Old     string   `arg:"" optional:"" type:"existingfile" help:"Report before the change."`
	New     string   `arg:"" optional:"" type:"existingfile" help:"Report after the change."`
	Build   []string `placeholder:"COMMIT" help:"In place of reports: measure this build; give it twice, before and after. A dot is the working tree."`
	Suite   []string `placeholder:"NAME" default:"${suites}" help:"Suites of bars to run of both builds: folders of bench/peers."`
	Bars    string   `placeholder:"REGEXP" help:"Bars of the suites to run. Default: all."`
	Rounds  int      `default:"${buildrounds}" help:"Rounds; each runs the first build twice and the second once, in an order drawn by a coin."`
	Samples int      `default:"${buildsamples}" help:"Samples of each bar in a run."`
	Seed    uint64   `default:"1" help:"Seed of the order."`
	Margin  float64  `default:"${margin}" help:"Smallest change worth a word, as a share."`
}

// Run is called by kong. It fails only for what is worse.
func (c *compareCommand) Run(ctx context.Context) error {
	var list []bars.Comparison
	var err error
	switch {
	case len(c.Build) == 2 && c.Old == "":
		list, err = c.builds(ctx)
	case len(c.Build) == 0 && c.New != "":
		list, err = c.reports()
	default:
		return errors.New("name two reports, or --build twice (cowboy-bench compare --build main --build .)")
	}
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Verdict == bars.Worse {
			return notPassed(1)
		}
	}
	return nil
}

func (c *compareCommand) builds(ctx context.Context) ([]bars.Comparison, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("working folder: %w", err)
	}
	return builds.Compare(ctx, builds.Config{
		Repository: bars.RepositoryRoot(wd), A: c.Build[0], B: c.Build[1], Suites: c.Suite, Bars: c.Bars,
		Rounds: c.Rounds, Samples: c.Samples, Margin: c.Margin, Seed: c.Seed,
	}, os.Stdout, os.Stderr)
}

func (c *compareCommand) reports() ([]bars.Comparison, error) {
	before, err := bars.ReadReport(c.Old)
	if err != nil {
		return nil, err
	}
	after, err := bars.ReadReport(c.New)
	if err != nil {
		return nil, err
	}
	list, err := bars.Compare(before, after, c.Margin)
	if err != nil {
		return nil, err
	}
	return list, bars.PrintComparison(os.Stdout, before, after, list)
}
