package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/gate"
)

type gateCommand struct {
	Limits  string `placeholder:"FILE" help:"Limits. Default: profiles/baselines/gate.json of the repository."`
	Only    string `placeholder:"REGEXP" help:"Benches to run."`
	Write   bool   `help:"Write the limits that follow from what was measured, in place of judging."`
	Planted bool   `help:"For a build with -tags plant: succeed if and only if a bench of every kind is red."`
}

// Run is called by kong.
func (c *gateCommand) Run(ctx context.Context) error {
	var only *regexp.Regexp
	if c.Only != "" {
		var err error
		if only, err = regexp.Compile(c.Only); err != nil {
			return fmt.Errorf("--only: %w", err)
		}
	}
	path := c.Limits
	if path == "" {
		wd, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("working folder: %w", err)
		}
		path = filepath.Join(bars.RepositoryRoot(wd), "profiles", "baselines", "gate.json")
	}
	limits, err := gate.ReadLimits(path)
	if c.Write && errors.Is(err, fs.ErrNotExist) {
		limits, err = gate.Limits{}, nil
	}
	if err != nil {
		return err
	}
	report, err := gate.Run(ctx, gate.Benches(), limits, only, os.Stdout)
	if err != nil {
		return err
	}
	if c.Write {
		return writeLimits(&report, limits, path, only != nil)
	}
	kinds, rows := report.Red()
	switch {
	case c.Planted && len(kinds) == len(gate.Kinds()):
		fmt.Printf("gate: planted slow code turned %d benches of every kind red, as it should\n", rows)
		return nil
	case c.Planted:
		return fmt.Errorf("planted slow code turned only %v red: the gate sees nothing of the other kinds (was this built with -tags plant?)", kinds)
	case rows > 0:
		fmt.Printf("gate: %d of %d benches RED. If more work is what you want, say why in the commit and run: cowboy-bench gate --write --only NAME\n", rows, len(report.Rows))
		return notPassed(1)
	}
	fmt.Printf("gate: %d benches ok\n", len(report.Rows))
	return nil
}

// writeLimits writes the limits of a report, beside the old ones if only some benches ran.
func writeLimits(report *gate.Report, old gate.Limits, path string, some bool) error {
	written, err := gate.Of(report)
	if err != nil {
		return err
	}
	for i := range report.Rows {
		r := &report.Rows[i]
		if l, known := old[r.Name]; known && r.Absent != "" {
			written[r.Name] = l // another machine has what it needs
		}
	}
	for name, l := range old {
		if _, known := written[name]; some && !known {
			written[name] = l
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("folder of the limits: %w", err)
	}
	return written.Write(path)
}
