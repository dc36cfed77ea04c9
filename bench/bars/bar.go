package bars

import (
	"errors"
	"fmt"
	"strings"
)

// Side is one contestant of a bar.
type Side struct {
	// Prepare runs before each sample and is not timed. It may be nil.
	Prepare func(iterations int) error
	// Run does the operation iterations times.
	Run func(iterations int) error
	// Cores is GOMAXPROCS while this side runs; 0 takes the bar's.
	Cores int
}

// Contest is a bar made ready: inputs built, both sides able to run.
type Contest struct {
	Ours, Peer Side
	Close      func() error // frees what Setup took; may be nil
}

// Gauge is a quantity that is bounded rather than raced, such as allocations
// for one update. The smaller the better.
type Gauge struct {
	Unit      string
	Must, Aim float64 // largest value allowed, and wished for; Aim 0 means none
	Measure   func(round int) (float64, error)
	Close     func() error // may be nil
}

// Bar is one row of the performance table. Exactly one of Setup, Gauge and
// Absent is set.
type Bar struct {
	Name      string // unique in its suite; words joined by '-'
	Peer      string // what ours is held against
	Must, Aim float64
	Cores     int // GOMAXPROCS while it runs; 0 leaves the machine's
	Ops       int // operations in one iteration, for the time shown; 0 means 1
	// Iterations fixes the iterations of each sample; 0 lets the meter choose
	// as many as fill Config.SampleMin.
	Iterations int
	// SpinCores asks, beside each round, what a loop without memory or locks makes of
	// so many cores. Where the machine does not give them to it, a bar on cores says
	// nothing of us and is not measured. 0 does not ask.
	SpinCores int

	Setup  func() (Contest, error)
	Gauge  *Gauge
	Absent string // why this machine cannot run the bar
}

// Check reports the first thing that makes the bar meaningless.
func (b *Bar) Check() error {
	ways := 0
	for _, set := range []bool{b.Setup != nil, b.Gauge != nil, b.Absent != ""} {
		if set {
			ways++
		}
	}
	switch {
	case b.Name == "" || strings.ContainsAny(b.Name, " \t\n"):
		return fmt.Errorf("bar name %q: want one word", b.Name)
	case b.Peer == "" && b.Gauge == nil:
		return fmt.Errorf("bar %s has no peer", b.Name)
	case ways != 1:
		return fmt.Errorf("bar %s: want exactly one of Setup, Gauge and Absent", b.Name)
	case b.Gauge == nil && b.Must <= 0:
		return fmt.Errorf("bar %s: must = %g, want above 0", b.Name, b.Must)
	case b.Aim != 0 && b.Aim < b.Must:
		return fmt.Errorf("bar %s: aim %g below must %g", b.Name, b.Aim, b.Must)
	case b.Gauge != nil && (b.Gauge.Must <= 0 || b.Gauge.Measure == nil):
		return fmt.Errorf("bar %s: gauge needs a limit above 0 and a measurement", b.Name)
	case b.Gauge != nil && b.Gauge.Aim > b.Gauge.Must:
		return fmt.Errorf("bar %s: gauge aims at %g, which is worse than its limit %g", b.Name, b.Gauge.Aim, b.Gauge.Must)
	}
	return nil
}

// CheckAll checks each bar and that no name stands twice.
func CheckAll(list []Bar) error {
	if len(list) == 0 {
		return errors.New("no bars registered")
	}
	seen := map[string]bool{}
	for i := range list {
		if err := list[i].Check(); err != nil {
			return err
		}
		if seen[list[i].Name] {
			return fmt.Errorf("bar %s is registered twice", list[i].Name)
		}
		seen[list[i].Name] = true
	}
	return nil
}

// Verdicts of a bar.
const (
	VerdictOK          = "ok"
	VerdictShort       = "SHORT"
	VerdictNotMeasured = "not measured"
)

// Sample is one timed stretch of one side.
type Sample struct {
	NanosPerOp  float64 `json:"ns_per_op"`
	CPUNanos    float64 `json:"cpu_ns_per_op"` // user and system time of the process
	AllocsPerOp float64 `json:"allocs_per_op"`
}

// Round is both sides' samples, taken one after the other.
type Round struct {
	Ours      Sample  `json:"ours"`
	Peer      Sample  `json:"peer"`
	OursFirst bool    `json:"ours_first"`
	Ratio     float64 `json:"ratio"`
	Spin      float64 `json:"spin,omitempty"` // efficiency of a spin loop on SpinCores
}

// Result is what became of one bar.
type Result struct {
	Name    string `json:"name"`
	Peer    string `json:"peer"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"` // why it was not measured
	Failed  bool   `json:"failed,omitempty"` // it should have been measured here

	Must        float64 `json:"must"`
	Aim         float64 `json:"aim,omitempty"`
	Ratio       float64 `json:"ratio"` // the median; above 1 means ours is better
	RatioMin    float64 `json:"ratio_min"`
	RatioMedian float64 `json:"ratio_median"`

	Unit       string  `json:"unit"`
	OursMin    float64 `json:"ours_min"`
	OursMedian float64 `json:"ours_median"`
	PeerMin    float64 `json:"peer_min"`
	PeerMedian float64 `json:"peer_median"`

	OursIterations int     `json:"ours_iterations,omitempty"`
	PeerIterations int     `json:"peer_iterations,omitempty"`
	Rounds         []Round `json:"rounds,omitempty"`
}

// Line is the one line that stands for the result.
func (r *Result) Line() string {
	if r.Verdict == VerdictNotMeasured {
		return fmt.Sprintf("bar %s vs %s not measured: %s", r.Name, r.Peer, r.Reason)
	}
	aim := "-"
	if r.Aim != 0 {
		aim = fmt.Sprintf("%.2f", r.Aim)
	}
	return fmt.Sprintf("bar %s vs %s ratio %.2f must %.2f aim %s %s (min %.2f median %.2f; ours %s peer %s)",
		r.Name, r.Peer, r.Ratio, r.Must, aim, r.Verdict, r.RatioMin, r.RatioMedian,
		quantity(r.OursMedian, r.Unit), quantity(r.PeerMedian, r.Unit))
}

// quantity prints v with the digits that matter: three for small figures, none
// behind the point for large ones.
func quantity(v float64, unit string) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f %s", v, unit)
	case v >= 1:
		return fmt.Sprintf("%.1f %s", v, unit)
	default:
		return fmt.Sprintf("%.3f %s", v, unit)
	}
}
