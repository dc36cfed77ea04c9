package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// kindTally is what became of the transactions of one kind.
type kindTally struct {
	latency *hdrhistogram.Histogram
	blocks  *hdrhistogram.Histogram
}

func newKindTallies(n int) []kindTally {
	list := make([]kindTally, n)
	for i := range list {
		list[i] = kindTally{newHistogram(), newBlockHistogram()}
	}
	return list
}

func (k *kindTally) record(latency time.Duration, blocks uint64) {
	record(k.latency, latency)
	_ = k.blocks.RecordValue(int64(min(blocks, blocksMax))) // in range by construction
}

// newBlockHistogram takes numbers of blocks, exact up to a thousand.
func newBlockHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, blocksMax, 3) }

const blocksMax = 1 << 30

// Blocks is a distribution of numbers of blocks.
type Blocks struct {
	Count int64 `json:"count"`
	P50   int64 `json:"p50"`
	P99   int64 `json:"p99"`
	Max   int64 `json:"max"`
}

func blocksOf(h *hdrhistogram.Histogram) Blocks {
	return Blocks{Count: h.TotalCount(), P50: h.ValueAtPercentile(50), P99: h.ValueAtPercentile(99), Max: h.Max()}
}

// KindReport accounts for one kind of a mix.
type KindReport struct {
	Kind     string `json:"kind"`
	Lane     string `json:"lane"`
	Sent     int64  `json:"sent"` // without repeats
	Accepted int64  `json:"accepted"`
	// Blocks counts from the newest final block that was known when a transaction
	// was sent to the one that holds it: 1 is the next.
	Blocks  Blocks  `json:"blocks"`
	Latency Latency `json:"finalized_latency"`
}

func (l *load) kindReports() []KindReport {
	t := l.tally
	list := make([]KindReport, len(t.plan.kinds))
	for i := range t.fates {
		k := &list[t.plan.kind(int32(i))]
		switch t.fates[i].Load() {
		case fateUnsent:
		case fateAccepted:
			k.Accepted++
			fallthrough
		default:
			k.Sent++
		}
	}
	for i := range list {
		kind, seen := &t.plan.kinds[i], &l.watcher.kinds[i]
		list[i].Kind, list[i].Lane = kind.Kind, kind.lane().String()
		list[i].Blocks, list[i].Latency = blocksOf(seen.blocks), latencyOf(seen.latency)
	}
	return list
}

// writeKinds adds latencies in blocks to the table: they do not depend on how fast
// the machine is.
func (r *LoadReport) writeKinds(w io.Writer) error {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "blocks from sending\tlane\tp50\tp99\tmax\tfinal\tof accepted\t\n")
	for _, k := range r.Kinds {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n", k.Kind, k.Lane, k.Blocks.P50, k.Blocks.P99, k.Blocks.Max, k.Blocks.Count, k.Accepted)
	}
	if r.Timers != nil {
		fmt.Fprintf(t, "timers, after their block\ttimer\t%d\t%d\t%d\t%d\t\t\n", r.Timers.Late.P50, r.Timers.Late.P99, r.Timers.Late.Max, r.Timers.Firings)
	}
	return t.Flush()
}
