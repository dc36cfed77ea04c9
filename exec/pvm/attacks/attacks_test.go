package attacks_test

import (
	"errors"
	"flag"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/attacks"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

var (
	budget = flag.Int64("cycles", 500_000, "cycles that an attack may use; a hundred times as many when it ends by itself")
	times  = flag.Bool("times", false, "print the time per cycle and the memory of each attack, worst first")
)

// The runner's own bounds on host memory. A program may hold heapBurst limits of
// modelled heap within one native; what Go needs for it, garbage included, stays
// within hostFactor of that. Beside it a cycle may allocate bytesPerCycle.
const (
	hostFactor    = 4
	heapBurst     = 4
	bytesPerCycle = 256
	fixedBytes    = 64 << 20
)

func corpus(t testing.TB) []attacks.Attack {
	t.Helper()
	all, err := attacks.Corpus()
	if err != nil || len(all) == 0 {
		t.Fatalf("no attacks: %v", err)
	}
	return all
}

// row is what one attack used.
type row struct {
	name   string
	cycles int64
	ns     int64  // of the processor, without what collects garbage beside it
	total  uint64 // bytes allocated
	peak   uint64 // of the Go heap above what was there
	end    string
}

// run executes an attack and names its end as a verdict does.
func run(rt *vm.Runtime, a attacks.Attack) (kind attacks.Kind, text string, res vm.Result) {
	lim := pvm.DefaultLimits()
	p, err := pvm.Compile([]byte(a.Source), "attack", lim)
	if err != nil {
		return attacks.Refused, err.Error(), res
	}
	cycles := *budget
	switch a.Want.Kind {
	case attacks.Prints, attacks.Raises, attacks.Memory: // end by themselves
		cycles *= 100
	}
	res, err = pvm.NewEngine(rt, pvm.NewLRU(0), lim).Run(p, cycles, nil)
	var abort *vm.Abort
	switch {
	case errors.As(err, &abort) && abort.Code == vm.OutOfCycles:
		return attacks.Cycles, "", res
	case errors.As(err, &abort) && abort.Code == vm.OutOfMemory:
		return attacks.Memory, "", res
	case err != nil:
		return "internal", err.Error(), res
	case res.Raised != nil:
		lines := strings.Split(strings.TrimSpace(res.Traceback), "\n")
		return attacks.Raises, lines[len(lines)-1], res
	}
	lines := strings.Split(strings.TrimSpace(string(res.Output)), "\n")
	return attacks.Prints, lines[len(lines)-1], res
}

// met tells whether an end is the one that was wanted.
func met(want attacks.Verdict, kind attacks.Kind, text string) bool {
	switch {
	case kind == "internal":
		return false
	case want.Kind == attacks.Bounded:
		return true
	case kind != want.Kind:
		return false
	case want.Kind == attacks.Raises:
		return want.Text == "" || text == want.Text || strings.HasPrefix(text, want.Text+":")
	case want.Kind == attacks.Prints:
		return text == want.Text
	}
	return true
}

// TestAttacks runs the corpus.
func TestAttacks(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, a := range corpus(t) {
		t.Run(a.Name, func(t *testing.T) {
			watch := startWatch()
			kind, text, res := run(rt, a)
			r := watch.stop()
			r.name, r.cycles, r.end = a.Name, res.Cycles, string(kind)
			rows = append(rows, r)
			if !met(a.Want, kind, text) {
				t.Errorf("ended %s %q, want %s %q\n%s%s", kind, text, a.Want.Kind, a.Want.Text, tail(res.Output), res.Traceback)
			}
			if limit := uint64(res.Cycles)*bytesPerCycle + fixedBytes; r.total > limit {
				t.Errorf("%d bytes allocated for %d cycles", r.total, res.Cycles)
			}
			if limit := uint64(hostFactor * heapBurst * vm.DefaultLimits().HeapBytes); r.peak > limit {
				t.Errorf("%d bytes of host memory at the peak", r.peak)
			}
		})
	}
	if *times {
		report(t, rows)
	}
}

func tail(b []byte) string {
	if len(b) > 400 {
		b = b[len(b)-400:]
	}
	return string(b)
}

// report prints the rows, those first that take longest per cycle. A machine's
// first cycles cost a fixed part, which small runs are not blamed for.
func report(t *testing.T, rows []row) {
	const fixed = 2_000_000 // ns
	per := func(r row) float64 { return float64(max(0, r.ns-fixed)) / float64(max(1, r.cycles)) }
	sort.Slice(rows, func(i, j int) bool { return per(rows[i]) > per(rows[j]) })
	for _, r := range rows {
		t.Logf("%-44s %-8s %10d cycles %8.2f ms %8.1f ns/cycle %8.1f B/cycle peak %6.1f MiB", r.name, r.end, r.cycles,
			float64(r.ns)/1e6, per(r), float64(r.total)/float64(max(1, r.cycles)), float64(r.peak)/(1<<20))
	}
}

// watch samples the Go heap while an attack runs.
type watch struct {
	before runtime.MemStats
	start  time.Duration
	gc     int
	quit   chan struct{}
	peak   chan uint64
}

func heapObjects() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func startWatch() *watch {
	w := &watch{gc: debug.SetGCPercent(25), quit: make(chan struct{}), peak: make(chan uint64)}
	runtime.ReadMemStats(&w.before)
	runtime.LockOSThread() // its clock is read
	w.start = threadTime()
	go func() {
		most := uint64(0)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, heapObjects())
			case <-w.quit:
				w.peak <- most
				return
			}
		}
	}()
	return w
}

func (w *watch) stop() row {
	r := row{ns: (threadTime() - w.start).Nanoseconds()}
	runtime.UnlockOSThread()
	close(w.quit)
	most := <-w.peak
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	debug.SetGCPercent(w.gc)
	r.total = after.TotalAlloc - w.before.TotalAlloc
	if most > w.before.HeapAlloc {
		r.peak = most - w.before.HeapAlloc
	}
	return r
}
