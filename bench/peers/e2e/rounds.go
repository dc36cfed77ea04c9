package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/flood"
)

// outcome is one run.
type outcome struct {
	flood.Result
	Name   string             `json:"name"`
	Round  int                `json:"round"`
	Rate   float64            `json:"rate,omitempty"` // that was asked for; 0 is saturation
	Serial map[string]float64 `json:"serial_ns_per_tx,omitempty"`
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
	if len(r.Serial) > 0 {
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(r.Serial)) {
			parts = append(parts, fmt.Sprintf("%s %.2f", name, r.Serial[name]/1000))
		}
		line += "\n  serial us/tx: " + strings.Join(parts, ", ")
	}
	return line
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

// measure runs the rounds, prints a line for each run and then the bars.
func measure(ctx context.Context, o *options, field []contestant, stdout io.Writer) error {
	order := rand.New(rand.NewPCG(o.seed, 0x6532_65))
	var all []outcome
	for round := 1; round <= o.rounds; round++ {
		order.Shuffle(len(field), func(i, j int) { field[i], field[j] = field[j], field[i] })
		for i := range field {
			r, err := inFolder(ctx, o, &field[i], o.rate)
			if err != nil {
				return fmt.Errorf("round %d, %s: %w", round, field[i].name, err)
			}
			r.Round = round
			all = append(all, r)
			fmt.Fprintln(stdout, r.String())
		}
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
