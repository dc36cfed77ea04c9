package bench

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// Outcomes of jobs in a report, besides those that the chain knows.
const (
	OutcomeOpen    = "open"    // none was known at the end of the drain
	OutcomeForeign = "foreign" // another's runner was drawn: the load's answered nothing
	OutcomeRefused = "refused" // the submission stands in a block and has failed
)

// MarketReport says what became of the jobs of a load and of what its runners sent. Jobs are
// those whose submission stands in a block, and each has an outcome:
//
//	jobs     = the sum of outcomes
//	accepted = final = applied, of commitments and of results
type MarketReport struct {
	Runners     int              `json:"runners"`
	Jobs        int64            `json:"jobs"`
	Outcomes    map[string]int64 `json:"outcomes"` // as GET /job/{id} names them, or one of the constants above
	Commitments StepReport       `json:"commitments"`
	Results     StepReport       `json:"results"`    // transactions that show results, of one runner or of several
	Heartbeats  StepReport       `json:"heartbeats"` // that keep the runners healthy; what is applied is in Unheard
	Refused     map[string]int64 `json:"refused_by_reason"`
	LastError   string           `json:"last_error,omitempty"` // of a question to the node; it was asked again
}

// StepReport accounts for the transactions of one step of the runners.
type StepReport struct {
	Sent     int64   `json:"sent"` // repeats included
	Accepted int64   `json:"accepted"`
	Final    int64   `json:"finalized"`
	Applied  int64   `json:"applied"` // the job has what they brought
	Blocks   Blocks  `json:"blocks"`  // as of [KindReport]
	Latency  Latency `json:"finalized_latency"`
}

func (r *MarketReport) step(i int) *StepReport {
	return [...]*StepReport{stepCommit: &r.Commitments, stepShow: &r.Results, stepBeat: &r.Heartbeats}[i]
}

// fault says what a market that works does not have; "" for nothing. A job for which too few
// runners were free is none: their number is the load's.
func (r *MarketReport) fault() string {
	if r == nil {
		return ""
	}
	c, s, h := &r.Commitments, &r.Results, &r.Heartbeats
	if lost := c.Accepted - c.Final + s.Accepted - s.Final + h.Accepted - h.Final; lost > 0 {
		return fmt.Sprintf("%d accepted transactions of runners were lost", lost)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outcomes)) {
		if name != "ok" && name != "no_candidates" && name != OutcomeForeign {
			return fmt.Sprintf("%d of %d jobs have the outcome %s", r.Outcomes[name], r.Jobs, name)
		}
	}
	switch {
	case c.Final != c.Applied || s.Final != s.Applied:
		return fmt.Sprintf("of %d commitments and %d results in blocks %d and %d are applied", c.Final, s.Final, c.Applied, s.Applied)
	case r.Jobs > 0 && r.Outcomes["ok"] == 0:
		return "no job has the outcome ok"
	}
	return ""
}

// writeMarket adds the table of the jobs.
func (r *MarketReport) writeMarket(w io.Writer) error {
	if r == nil {
		return nil
	}
	fmt.Fprintf(w, "\n%d jobs for %d runners:", r.Jobs, r.Runners)
	names := slices.Collect(maps.Keys(r.Outcomes))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(r.Outcomes[b], r.Outcomes[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, " %d %s", r.Outcomes[name], name)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "blocks from sending\tp50\tp99\tmax\tsent\taccepted\tfinal\tapplied\t\n")
	for _, row := range []struct {
		name string
		s    *StepReport
	}{{"commitments", &r.Commitments}, {"results", &r.Results}} {
		s := row.s
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", row.name, s.Blocks.P50, s.Blocks.P99, s.Blocks.Max, s.Sent, s.Accepted, s.Final, s.Applied)
	}
	h := &r.Heartbeats
	fmt.Fprintf(t, "their heartbeats\t%d\t%d\t%d\t%d\t%d\t%d\t\t\n", h.Blocks.P50, h.Blocks.P99, h.Blocks.Max, h.Sent, h.Accepted, h.Final)
	if err := t.Flush(); err != nil {
		return err
	}
	for _, why := range slices.Sorted(maps.Keys(r.Refused)) {
		fmt.Fprintf(w, "  refused %d: %s\n", r.Refused[why], why)
	}
	if r.LastError != "" {
		fmt.Fprintf(w, "  last error: %s\n", r.LastError)
	}
	return nil
}
