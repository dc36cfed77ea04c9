package bars

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Change says how a bar moved between two reports.
type Change string

// The four answers. Inconclusive is an answer: the rounds scatter so much that
// neither a change nor its absence is shown.
const (
	Better       Change = "better"
	Worse        Change = "worse"
	Same         Change = "same"
	Inconclusive Change = "inconclusive"
	Missing      Change = "missing" // measured in only one of the reports
)

// Comparison is one bar of two reports.
type Comparison struct {
	Name      string
	Old, New  float64 // median ratios
	Change    float64 // New/Old; above 1 is better
	Low, High float64 // 95 % interval of Change
	Floor     float64 // what the old one differs from itself by, as a share; 0 where that was not measured
	Verdict   Change
}

// Compare holds two reports of the same suite against each other, bar by bar.
// It compares the ratios to the peer, not the times: the peer ran beside ours
// in both, so a slower machine or a busy neighbour cancels out.
//
// margin is the smallest change worth a word, such as 0.05. A bar is better or
// worse when the whole interval lies on one side of no change and the change
// itself exceeds the margin; it is the same when the interval stays within the
// margin; otherwise the spread is too large to tell.
func Compare(before, after *Report, margin float64) ([]Comparison, error) {
	if before.Suite != after.Suite {
		return nil, fmt.Errorf("reports are of different suites: %s and %s", before.Suite, after.Suite)
	}
	if margin <= 0 || margin >= 1 {
		return nil, fmt.Errorf("margin = %g, want between 0 and 1", margin)
	}
	if len(before.Results) == 0 && len(after.Results) == 0 {
		return nil, errors.New("neither report holds a bar")
	}
	var all []Comparison
	for _, o := range before.Results {
		i := slices.IndexFunc(after.Results, func(r Result) bool { return r.Name == o.Name })
		if i < 0 || len(o.Rounds) == 0 || len(after.Results[i].Rounds) == 0 {
			all = append(all, Comparison{Name: o.Name, Verdict: Missing})
			continue
		}
		all = append(all, compareBar(o, after.Results[i], margin))
	}
	for _, n := range after.Results {
		if !slices.ContainsFunc(before.Results, func(r Result) bool { return r.Name == n.Name }) {
			all = append(all, Comparison{Name: n.Name, Verdict: Missing})
		}
	}
	return all, nil
}

func compareBar(o, n Result, margin float64) Comparison {
	change, sure := medianChange(ratios(o), ratios(n), hashName(o.Name))
	c := Comparison{Name: o.Name, Old: o.RatioMedian, New: n.RatioMedian, Change: change, Low: sure.Low, High: sure.High}
	c.judge(margin)
	return c
}

// CompareRuns compares the ratios of runs of two builds, one figure a run, where the first
// build ran twice in each round. What it differs from itself by is the floor, which the
// whole interval must clear.
func CompareRuns(name string, first, again, second []float64, margin float64) Comparison {
	before := slices.Concat(first, again)
	floor, _ := medianChange(first, again, hashName(name))
	change, sure := medianChange(before, second, hashName(name))
	c := Comparison{
		Name: name, Old: median(before), New: median(second), Change: change, Low: sure.Low, High: sure.High,
		Floor: max(floor, 1/floor) - 1,
	}
	c.judge(margin)
	return c
}

// judge gives the verdict.
func (c *Comparison) judge(margin float64) {
	same := max(margin, c.Floor)
	switch {
	case c.Low > 1+c.Floor && c.Change > 1+margin:
		c.Verdict = Better
	case c.High < 1/(1+c.Floor) && c.Change < 1/(1+margin):
		c.Verdict = Worse
	case c.Floor <= margin && c.Low >= 1/(1+same) && c.High <= 1+same:
		c.Verdict = Same
	default:
		c.Verdict = Inconclusive
	}
}

// Line stands for the comparison.
func (c *Comparison) Line() string {
	if c.Verdict == Missing {
		return fmt.Sprintf("compare %s %s: measured on only one of the sides, or on neither", c.Name, c.Verdict)
	}
	line := fmt.Sprintf("compare %s %s ratio %.2f -> %.2f change %+.1f %% (95 %% between %+.1f %% and %+.1f %%)",
		c.Name, c.Verdict, c.Old, c.New, 100*(c.Change-1), 100*(c.Low-1), 100*(c.High-1))
	if c.Floor > 0 {
		line += fmt.Sprintf(", the same build by %.1f %%", 100*c.Floor)
	}
	return line
}

func ratios(r Result) []float64 {
	v := make([]float64, len(r.Rounds))
	for i := range r.Rounds {
		v[i] = r.Rounds[i].Ratio
	}
	return v
}

// PrintComparison writes one line for each bar, after warnings about what
// differs between the two machines.
func PrintComparison(out io.Writer, before, after *Report, list []Comparison) error {
	w := new(bytes.Buffer)
	o, n := before.Environment, after.Environment
	for _, d := range []struct{ what, before, after string }{
		{"CPU", o.CPU, n.CPU},
		{"forced code path", o.Forced, n.Forced},
		{"Go", o.Go, n.Go},
		{"GOMAXPROCS", fmt.Sprint(o.GOMAXPROCS), fmt.Sprint(n.GOMAXPROCS)},
	} {
		if d.before != d.after {
			fmt.Fprintf(w, "warning: %s differs: %q and %q\n", d.what, d.before, d.after)
		}
	}
	for _, c := range list {
		fmt.Fprintln(w, c.Line())
	}
	_, err := out.Write(w.Bytes())
	return err
}
