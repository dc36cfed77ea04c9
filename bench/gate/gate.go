package gate

import (
	"context"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
)

// Kind is what a bench measures.
type Kind string

// The kinds. The limit of a ratio is the least allowed, of all others the most.
const (
	Allocations Kind = "allocations" // heap objects an operation
	Bytes       Kind = "bytes"       // bytes of heap an operation
	Counter     Kind = "counter"     // work that an algorithm counts, an operation
	Ratio       Kind = "ratio"       // the plain way's time over the fast way's
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{Allocations, Bytes, Counter, Ratio} }

// Figure is what a bench measured.
type Figure struct {
	Value      float64 // in the unit of its kind
	Operations int     // that it was measured on; 0 is no measurement
}

// Bench is one row of the gate.
type Bench struct {
	Name    string // unique, words joined by '-'
	Kind    Kind
	Measure func(context.Context, *Ground) (Figure, error)
	// Absent says why this machine cannot run it, such as for want of a CPU feature. The
	// row is then printed and not judged.
	Absent string
}

// Row is a bench with its verdict.
type Row struct {
	Name   string
	Kind   Kind
	Figure Figure
	Limit  float64
	Red    string // why; empty if within
	Absent string // why it was not measured, which is no fault
}

// Line stands for the row.
func (r *Row) Line() string {
	relation := "at most"
	if r.Kind == Ratio {
		relation = "at least"
	}
	switch {
	case r.Absent != "":
		return fmt.Sprintf("gate %s %s not measured: %s", r.Name, r.Kind, r.Absent)
	case r.Red != "":
		return fmt.Sprintf("gate %s %s %.4g, %s %.4g RED: %s", r.Name, r.Kind, r.Figure.Value, relation, r.Limit, r.Red)
	}
	return fmt.Sprintf("gate %s %s %.4g, %s %.4g ok", r.Name, r.Kind, r.Figure.Value, relation, r.Limit)
}

// Report is all rows.
type Report struct{ Rows []Row }

// Red returns the kinds that have a red row, and how many rows are red.
func (r *Report) Red() (kinds []Kind, rows int) {
	for i := range r.Rows {
		if r.Rows[i].Red == "" {
			continue
		}
		rows++
		if !slices.Contains(kinds, r.Rows[i].Kind) {
			kinds = append(kinds, r.Rows[i].Kind)
		}
	}
	return kinds, rows
}

// Run measures the benches that only matches, nil for all, and prints each line as soon as
// it is known.
func Run(ctx context.Context, benches []Bench, limits Limits, only *regexp.Regexp, out io.Writer) (Report, error) {
	var report Report
	ground := &Ground{}
	defer ground.Close()
	for i := range benches {
		b := &benches[i]
		if only != nil && !only.MatchString(b.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return report, err
		}
		row := measure(ctx, b, limits, ground)
		report.Rows = append(report.Rows, row)
		fmt.Fprintln(out, row.Line())
	}
	if only == nil {
		for _, name := range limits.without(benches) {
			row := Row{Name: name, Kind: limits[name].Kind, Limit: limits[name].Limit, Red: "a limit without a bench: was it deleted?"}
			report.Rows = append(report.Rows, row)
			fmt.Fprintln(out, row.Line())
		}
	}
	if len(report.Rows) == 0 {
		return report, fmt.Errorf("no bench matches %s", only)
	}
	return report, nil
}

func measure(ctx context.Context, b *Bench, limits Limits, ground *Ground) Row {
	row := Row{Name: b.Name, Kind: b.Kind, Absent: b.Absent}
	if b.Absent != "" {
		return row
	}
	f, err := b.Measure(ctx, ground)
	row.Figure = f
	limit, known := limits[b.Name]
	row.Limit = limit.Limit
	switch {
	case err != nil:
		row.Red = err.Error()
	case f.Operations <= 0:
		row.Red = "it ran no operation"
	case math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || f.Value < 0:
		row.Red = "it is no figure"
	case !known:
		row.Red = "it has no limit: cowboy-bench gate --write gives it one"
	case limit.Kind != b.Kind:
		row.Red = fmt.Sprintf("its limit is of the kind %s", limit.Kind)
	case b.Kind == Ratio && f.Value < limit.Limit:
		row.Red = "the fast way is no longer fast"
	case b.Kind != Ratio && f.Value > limit.Limit:
		row.Red = "it is more work than it was"
	}
	return row
}
