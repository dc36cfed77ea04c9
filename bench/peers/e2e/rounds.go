package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/bench/flood"
)

// outcome is one run.
type outcome struct {
	flood.Result
	Name   string             `json:"name"`
	Round  int                `json:"round"`
	Rate   float64            `json:"rate,omitempty"`   // that was asked for; 0 is saturation
	Inside map[string]float64 `json:"inside,omitempty"` // of a transaction: nanoseconds of owners and stages, allocations
}

// micros is the node's processor time for a transaction.
func (r *outcome) micros() float64 {
	return float64(r.NodeCPU) / float64(max(1, r.InBlocks)) / float64(time.Microsecond)
}

// String is the line of a run.
func (r *outcome) String() string {
	rate := "flood"
	if r.Rate > 0 {
		rate = fmt.Sprintf("%.0f/s", r.Rate)
	}
	line := fmt.Sprintf("round %d %-16s %-9s %7.0f included/s  cpu %5.1f us/tx (generator %.1f, foreign %.2f cores)  included p50 %s p99 %s  answers p50 %s p99 %s max %s  memory %d MB",
		r.Round, r.Name, rate, r.PerSecond, r.micros(), float64(r.OwnCPU)/float64(max(1, r.InBlocks))/float64(time.Microsecond), r.Foreign,
		ms(r.Inclusion.P50), ms(r.Inclusion.P99), ms(r.Answer.P50), ms(r.Answer.P99), ms(r.Answer.Max), r.PeakBytes>>20)
	if len(r.Inside) > 0 {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(r.Inside)) {
			switch name {
			case insideAllocations, insideBytes:
				parts = append(parts, fmt.Sprintf("%.0f %s", r.Inside[name], name))
			default:
				parts = append(parts, fmt.Sprintf("%s %.2f us", name, r.Inside[name]/1000))
			}
		}
		line += "\n  of a transaction: " + strings.Join(parts, ", ")
	}
	return line
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

// serial is the work of the busiest owner for a transaction, in microseconds. A node that
// does not count by owner has one that does all stages.
func (r *outcome) serial() float64 {
	most, stages := 0.0, 0.0
	for name, nanos := range r.Inside {
		switch {
		case strings.HasPrefix(name, ownerPrefix):
			most = max(most, nanos)
		case strings.HasPrefix(name, stagePrefix):
			stages += nanos
		}
	}
	if most == 0 {
		most = stages
	}
	return most / 1000
}

// measure runs the rounds, prints a line for each run and then the bars. A run that
// fails is an error at the end: the others are not lost.
func measure(ctx context.Context, o *options, field []contestant, stdout io.Writer) error {
	environment := bars.Observe(o.root)
	order := rand.New(rand.NewPCG(o.seed, 0x653265))
	var all runs
	var failed []error
	run := func(round int, c *contestant, rate float64) {
		if ctx.Err() != nil {
			return
		}
		r, err := inFolder(ctx, o, c, rate)
		if err != nil {
			failed = append(failed, fmt.Errorf("round %d, %s: %w", round, c.name, err))
			fmt.Fprintf(stdout, "round %d %s: %v\n", round, c.name, err)
			return
		}
		r.Round = round
		all = append(all, r)
		fmt.Fprintln(stdout, r.String())
	}
	for round := 1; round <= o.rounds; round++ {
		order.Shuffle(len(field), func(i, j int) { field[i], field[j] = field[j], field[i] })
		for i := range field {
			run(round, &field[i], cmp.Or(o.rate, field[i].rate))
		}
		ours := slices.IndexFunc(field, func(c contestant) bool { return c.name == nameOurs })
		if flooded := all.of(nameOurs, false); o.paced && ours >= 0 && len(flooded) > 0 {
			run(round, &field[ours], paced*middle(pick(flooded, func(r *outcome) float64 { return r.PerSecond })))
		}
	}
	if failed = append(failed, ctx.Err()); o.paced && len(all) > 0 {
		results := all.judged()
		all.print(stdout, results)
		failed = append(failed, all.write(o, environment, results))
	}
	return errors.Join(failed...)
}

// write keeps the bars as other suites do, and all runs beside them.
func (all runs) write(o *options, environment bars.Environment, results []bars.Result) error {
	if o.out == "" {
		return nil
	}
	environment.Finish()
	report := bars.Report{Kind: bars.KindBars, Suite: "e2e", Seed: o.seed, SampleMinMS: float64(o.window.Milliseconds()), Environment: environment, Results: results}
	if err := report.Write(filepath.Join(o.out, "e2e.json")); err != nil {
		return err
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode runs: %w", err)
	}
	if err := os.WriteFile(filepath.Join(o.out, "e2e-runs.json"), append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write runs: %w", err)
	}
	return nil
}

// inFolder runs a contestant in a new folder.
func inFolder(ctx context.Context, o *options, c *contestant, rate float64) (outcome, error) {
	dir, err := os.MkdirTemp("", "cowboy-e2e-"+c.name+"-")
	if err != nil {
		return outcome{}, fmt.Errorf("data folder: %w", err)
	}
	if !o.keep {
		defer os.RemoveAll(dir)
	}
	return runOnce(ctx, o, c, dir, rate)
}
