package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowboy-foundation/cowboy/bench/bars"
)

// KindLoad marks a report of a load run among other JSON files.
const KindLoad = "load"

// Verdicts of a load run.
const (
	VerdictPass    = "PASS"    // everything accepted was finalized
	VerdictFail    = "FAIL"    // the node lost transfers, or took none
	VerdictInvalid = "INVALID" // the generator was too late for its figures to mean anything
)

// LoadReport accounts for every transfer of a run. Counts are of sends: a
// transfer that was refused and sent again counts once for each time.
type LoadReport struct {
	Kind        string           `json:"kind"` // "load"
	Verdict     string           `json:"verdict"`
	Reason      string           `json:"reason"`
	Config      ReportedConfig   `json:"config"`
	Environment bars.Environment `json:"environment"`
	Ceiling     *Ceiling         `json:"ceiling"` // null: the node does not tell

	Scheduled  int64            `json:"scheduled"`
	Sent       int64            `json:"sent"`
	Late       int64            `json:"late"`    // of those sent
	Skipped    int64            `json:"skipped"` // too many unanswered
	Unsent     int64            `json:"unsent"`  // nothing left to send on the connection
	Accepted   int64            `json:"accepted"`
	Rejected   int64            `json:"rejected"`
	Reasons    map[string]int64 `json:"rejected_by_reason"`
	Unanswered int64            `json:"unanswered"`
	Included   int64            `json:"included"`  // seen in a block
	Finalized  int64            `json:"finalized"` // the stream announces final blocks only, so equal to included
	Waiting    int64            `json:"waiting"`   // of kinds that may wait: accepted and not final at the end of the drain
	Lost       int64            `json:"lost"`      // accepted and not final at the end of the drain
	LostHashes []string         `json:"lost_examples,omitempty"`

	SendSeconds     float64 `json:"send_seconds"`
	TotalSeconds    float64 `json:"total_seconds"`
	AcceptedPerSec  float64 `json:"accepted_per_second"`
	FinalizedPerSec float64 `json:"finalized_per_second"` // from the start to the last final transfer
	FinalizedEach   []int64 `json:"finalized_each_second"`
	Backfills       int     `json:"blocks_not_from_stream"`

	Lateness         Latency `json:"pacer_lateness"`
	Ack              Latency `json:"ack"`
	FinalizedLatency Latency `json:"finalized_latency"`

	Kinds  []KindReport `json:"kinds"`
	Timers *TimerReport `json:"timers"` // null: the mix has none

	Market  *MarketReport `json:"market"`  // null: the mix has no jobs
	Unheard int64         `json:"unheard"` // runners whose last heartbeat in a block was not applied
}

// ReportedConfig is what of the configuration a reader needs; never the key.
type ReportedConfig struct {
	RPC         string  `json:"rpc"`
	Mix         string  `json:"mix"`
	Rate        float64 `json:"rate"`
	Seconds     float64 `json:"seconds"`
	Accounts    int     `json:"accounts"`
	Arrival     Arrival `json:"arrival"`
	Seed        uint64  `json:"seed"`
	Connections int     `json:"connections"`
	Batch       int     `json:"batch"`
	MaxInFlight int     `json:"max_in_flight"`
}

func reportedConfig(c *LoadConfig) ReportedConfig {
	return ReportedConfig{
		RPC: c.RPC, Mix: c.Mix.Name, Rate: c.Rate, Seconds: c.Duration.Seconds(), Accounts: c.Accounts, Arrival: c.Arrival,
		Seed: c.Seed, Connections: c.Connections, Batch: c.Batch, MaxInFlight: c.MaxInFlight,
	}
}

// Latency is a distribution of times in milliseconds. Histogram is the whole of
// it as HdrHistogram's compressed text, for merging and plotting.
type Latency struct {
	Count     int64   `json:"count"`
	P50       float64 `json:"p50_ms"`
	P90       float64 `json:"p90_ms"`
	P99       float64 `json:"p99_ms"`
	P999      float64 `json:"p99_9_ms"`
	Max       float64 `json:"max_ms"`
	Histogram string  `json:"histogram_us"`
}

func latencyOf(h *hdrhistogram.Histogram) Latency {
	at := func(p float64) float64 { return float64(h.ValueAtPercentile(p)) / 1000 }
	l := Latency{Count: h.TotalCount(), P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: float64(h.Max()) / 1000}
	if b, err := h.EncodeV2(); err == nil {
		l.Histogram = string(b)
	}
	return l
}

// fill turns the finished run into its report.
func (l *load) fill() {
	r, t := l.report, l.tally
	r.Environment.Finish()
	r.Scheduled, r.Sent, r.Late, r.Skipped = t.scheduled.Load(), t.sent.Load(), t.late.Load(), t.skipped.Load()
	r.Unsent = r.Scheduled - r.Sent - r.Skipped
	r.Accepted, r.Rejected, r.Unanswered = t.accepted.Load(), t.rejections.Load(), t.unanswered.Load()
	r.Reasons = t.reasons
	r.Finalized = t.finals.Load()
	r.Included = r.Finalized
	for i := range t.fates {
		if !t.open(i) {
			continue
		}
		if t.plan.kinds[t.plan.kind(int32(i))].MayWait {
			r.Waiting++
			continue
		}
		if r.Lost++; len(r.LostHashes) < lostExamples {
			r.LostHashes = append(r.LostHashes, t.plan.txs[i].hash.String())
		}
	}
	ack := newHistogram()
	for _, s := range l.senders {
		ack.Merge(s.ack)
	}
	r.Ack, r.FinalizedLatency, r.Lateness = latencyOf(ack), latencyOf(l.watcher.finalized), latencyOf(l.lateness)
	r.Kinds, r.Market = l.kindReports(), l.market.closeReport()
	r.FinalizedEach, r.Backfills = l.watcher.perSecond, l.watcher.backfills
	r.SendSeconds, r.TotalSeconds = l.sendTime.Seconds(), l.fullTime.Seconds()
	r.AcceptedPerSec = float64(r.Accepted) / r.SendSeconds
	if l.watcher.lastFinal > 0 {
		r.FinalizedPerSec = float64(r.Finalized) / l.watcher.lastFinal.Seconds()
	}
	r.Verdict, r.Reason = verdict(r, l.cfg.LatenessMax)
}

const lostExamples = 10

// verdict judges the run: what was lost first, because that is wrong however
// late the generator was.
func verdict(r *LoadReport, latenessMax time.Duration) (word, reason string) {
	bound := float64(latenessMax) / float64(time.Millisecond)
	switch {
	case r.Lost > 0:
		return VerdictFail, fmt.Sprintf("%d accepted transfers were lost", r.Lost)
	case r.Market.fault() != "":
		return VerdictFail, r.Market.fault()
	case r.Unheard > 0:
		return VerdictFail, fmt.Sprintf("%d runners were not heard, though their heartbeats stand in blocks", r.Unheard)
	case r.Accepted == 0:
		return VerdictFail, "the node accepted nothing"
	case r.Lateness.P99 > bound:
		return VerdictInvalid, fmt.Sprintf("0 lost transactions, but the pacer's p99 lateness of %.1f ms exceeds %.1f ms: fewer connections, larger batches or a quieter machine", r.Lateness.P99, bound)
	}
	return VerdictPass, "0 lost transactions"
}

// ExitCode is 0 for a pass, 1 for a failure and 3 for an invalid run.
func (r *LoadReport) ExitCode() int {
	switch r.Verdict {
	case VerdictPass:
		return 0
	case VerdictInvalid:
		return 3
	default:
		return 1
	}
}

// WriteJSON writes the report as indented JSON.
func (r *LoadReport) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteTable writes the report for people.
func (r *LoadReport) WriteTable(w io.Writer) error {
	c := r.Config
	fmt.Fprintf(w, "load %s %g/s %s for %gs from %d accounts over %d connections in batches of %d, seed %d\n",
		c.Mix, c.Rate, c.Arrival, c.Seconds, c.Accounts, c.Connections, c.Batch, c.Seed)
	fmt.Fprintf(w, "on %s, %d cores, load %.1f before and %.1f after, commit %.12s\n",
		r.Environment.CPU, r.Environment.GOMAXPROCS, r.Environment.LoadBefore[0], r.Environment.LoadAfter[0], r.Environment.Commit)
	fmt.Fprintf(w, "ceiling: %s\n\n", r.Ceiling)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range []struct {
		name  string
		count int64
		note  string
	}{
		{"scheduled", r.Scheduled, ""},
		{"skipped", r.Skipped, "too many unanswered"},
		{"unsent", r.Unsent, "nothing left to send"},
		{"sent", r.Sent, ""},
		{"late", r.Late, "of those sent"},
		{"accepted", r.Accepted, fmt.Sprintf("%.1f/s", r.AcceptedPerSec)},
		{"rejected", r.Rejected, ""},
		{"unanswered", r.Unanswered, "connection failed"},
		{"included", r.Included, ""},
		{"finalized", r.Finalized, fmt.Sprintf("%.1f/s", r.FinalizedPerSec)},
		{"waiting", r.Waiting, "accepted, more than blocks take"},
		{"lost", r.Lost, "accepted, never final"},
	} {
		fmt.Fprintf(t, "%s\t%d\t%s\t\n", row.name, row.count, row.note)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	reasons := make([]string, 0, len(r.Reasons))
	for reason := range r.Reasons {
		reasons = append(reasons, reason)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Reasons[b], r.Reasons[a]), cmp.Compare(a, b))
	})
	for _, reason := range reasons {
		fmt.Fprintf(w, "  rejected %d: %s\n", r.Reasons[reason], reason)
	}
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "ms from the scheduled time\tp50\tp90\tp99\tp99.9\tmax\tcount\t\n")
	for _, row := range []struct {
		name string
		l    Latency
	}{{"handed out", r.Lateness}, {"ack", r.Ack}, {"finalized", r.FinalizedLatency}} {
		fmt.Fprintf(t, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%d\t\n", row.name, row.l.P50, row.l.P90, row.l.P99, row.l.P999, row.l.Max, row.l.Count)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := r.writeKinds(w); err != nil {
		return err
	}
	if err := r.Market.writeMarket(w); err != nil {
		return err
	}
	for _, hash := range r.LostHashes {
		fmt.Fprintf(w, "lost: %s\n", hash)
	}
	_, err := fmt.Fprintf(w, "\n%s: %s\n", r.Verdict, r.Reason)
	return err
}
