package main

import (
	"bytes"
	"embed"
	"fmt"
	"math"
	"runtime"
	"syscall"
	"time"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

//go:embed kernels/*
var files embed.FS

// kernels are the fourteen of the design's survey.
var kernels = []string{
	"fib", "intloop", "dictint", "dictstr", "sort", "text", "method", "closure", "generator", "json", "float", "raise", "sieve", "bigint",
}

const (
	meanMust, meanAim = 2.0, 1.2 // our time over CPython's, geometric mean
	worstMust         = 4.0      // of any kernel
	starlarkMust      = 2.0      // times faster, calls and sieve
	cycles            = 1 << 40
	tenMillion        = 10_000_000
)

func machineBars() []bars.Bar {
	var list []bars.Bar
	for _, k := range kernels {
		must, aim := 1/worstMust, 1/meanAim
		if k == "float" {
			must, aim = 1/2.5, 1/1.5 // the softfloat bar
		}
		list = append(list, bars.Bar{
			Name: "kernel-" + k, Peer: "CPython 3.11", Must: must, Aim: aim, Cores: 1, Iterations: 1,
			Setup: func() (bars.Contest, error) { return againstCPython(k) },
		})
	}
	for _, k := range []string{"fib", "sieve"} {
		list = append(list, bars.Bar{
			Name: "starlark-" + k, Peer: "starlark-go", Must: starlarkMust, Cores: 1, Iterations: 1,
			Setup: func() (bars.Contest, error) { return againstStarlark(k) },
		})
	}
	return append(list,
		bars.Bar{Name: "kernels-mean-over-cpython", Gauge: &bars.Gauge{Unit: "x", Must: meanMust, Aim: meanAim, Measure: meanOfKernels}},
		bars.Bar{Name: "cold-start", Gauge: &bars.Gauge{Unit: "us", Must: 20, Measure: coldStart}},
		bars.Bar{Name: "slowest-mix-10M-cycles", Gauge: &bars.Gauge{Unit: "ms", Must: 250, Measure: slowestMix}},
		bars.Bar{Name: "allocations-per-call", Gauge: &bars.Gauge{Unit: "allocs", Must: 1, Measure: allocationsPerCall}},
	)
}

// ours is a kernel on our machine.
type ours struct {
	engine  *pvm.Engine
	program *pvm.Program
}

func load(src []byte) (*ours, error) {
	rt, err := pvm.NewRuntime([2]uint64{7, 9})
	if err != nil {
		return nil, err
	}
	e := pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits())
	p, err := e.Program(src, "kernel.py")
	return &ours{e, p}, err
}

// run returns what the script prints and the cycles it used.
func (o *ours) run() (string, int64, error) {
	res, err := o.engine.Run(o.program, cycles, nil)
	if err != nil {
		return "", 0, err
	}
	if res.Raised != nil {
		return "", 0, fmt.Errorf("kernel: %s", res.Traceback)
	}
	return string(res.Output), res.Cycles, nil
}

func kernel(name string) ([]byte, error) { return files.ReadFile("kernels/" + name) }

func againstCPython(name string) (bars.Contest, error) {
	src, err := kernel(name + ".py")
	if err != nil {
		return bars.Contest{}, err
	}
	mine, err := load(src)
	if err != nil {
		return bars.Contest{}, err
	}
	peer, err := startPython(src)
	if err != nil {
		return bars.Contest{}, err
	}
	got, _, err := mine.run()
	if err != nil {
		return bars.Contest{}, err
	}
	want, err := peer.run()
	if err != nil {
		return bars.Contest{}, err
	}
	if got != want {
		return bars.Contest{}, fmt.Errorf("kernel %s: we print %q, CPython %q", name, got, want)
	}
	return bars.Contest{
		Ours:  bars.Side{Run: func(n int) error { return repeat(n, func() error { _, _, err := mine.run(); return err }) }},
		Peer:  bars.Side{Run: func(n int) error { return repeat(n, func() error { _, err := peer.run(); return err }) }},
		Close: peer.close,
	}, nil
}

func repeat(n int, fn func() error) error {
	for range n {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}

func againstStarlark(name string) (bars.Contest, error) {
	src, err := kernel(name + ".py")
	if err != nil {
		return bars.Contest{}, err
	}
	star, err := kernel(name + ".star")
	if err != nil {
		return bars.Contest{}, err
	}
	mine, err := load(src)
	if err != nil {
		return bars.Contest{}, err
	}
	options := &syntax.FileOptions{While: true, Recursion: true, TopLevelControl: true, GlobalReassign: true}
	_, program, err := starlark.SourceProgramOptions(options, name+".star", star, func(string) bool { return false })
	if err != nil {
		return bars.Contest{}, err
	}
	theirs := func() (string, error) {
		var out bytes.Buffer
		thread := &starlark.Thread{Print: func(_ *starlark.Thread, msg string) { out.WriteString(msg + "\n") }}
		_, err := program.Init(thread, nil)
		return out.String(), err
	}
	got, _, err := mine.run()
	if err != nil {
		return bars.Contest{}, err
	}
	if want, err := theirs(); err != nil || got != want {
		return bars.Contest{}, fmt.Errorf("kernel %s: we print %q, starlark %q (%v)", name, got, want, err)
	}
	return bars.Contest{
		Ours: bars.Side{Run: func(n int) error { return repeat(n, func() error { _, _, err := mine.run(); return err }) }},
		Peer: bars.Side{Run: func(n int) error { return repeat(n, func() error { _, err := theirs(); return err }) }},
	}, nil
}

// meanOfKernels is the geometric mean of our time over CPython's, each kernel
// run on both in turn.
func meanOfKernels(int) (float64, error) {
	runtime.GOMAXPROCS(1)
	sum := 0.0
	for _, k := range kernels {
		c, err := againstCPython(k)
		if err != nil {
			return 0, err
		}
		best := [2]time.Duration{1 << 60, 1 << 60}
		for range 3 {
			for i, side := range []bars.Side{c.Ours, c.Peer} {
				start := time.Now()
				if err := side.Run(1); err != nil {
					return 0, err
				}
				best[i] = min(best[i], time.Since(start))
			}
		}
		sum += math.Log(float64(best[0]) / float64(best[1]))
		if err := c.Close(); err != nil {
			return 0, err
		}
	}
	return math.Exp(sum / float64(len(kernels))), nil
}

// actor is a small actor: a class, two functions and a little state.
const actor = `
class Counter:
    def __init__(self):
        self.total = 0
    def add(self, n):
        self.total += n
        return self.total
counter = Counter()
def handle(message):
    return counter.add(len(message))
handle("hello")
`

// processorTime is what this process has used, its collector included: unlike
// the clock on the wall it does not count what neighbours do.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// coldStart is the processor time of one call of a cached actor - its module body and one
// handler - and of making the machine clean again: the best of five stretches.
func coldStart(int) (float64, error) {
	o, err := load([]byte(actor))
	if err != nil {
		return 0, err
	}
	const n = 500
	best := time.Duration(1 << 60)
	for range 5 {
		start := processorTime()
		if err := repeat(n, func() error { _, _, err := o.run(); return err }); err != nil {
			return 0, err
		}
		best = min(best, processorTime()-start)
	}
	return float64(best.Nanoseconds()) / 1000 / n, nil
}

// slowestMix is the processor time of ten million cycles of the kernel that takes longest
// per cycle, the best of three runs of each.
func slowestMix(int) (float64, error) {
	worst := 0.0
	for _, k := range kernels {
		src, err := kernel(k + ".py")
		if err != nil {
			return 0, err
		}
		o, err := load(src)
		if err != nil {
			return 0, err
		}
		best, used := time.Duration(1<<60), int64(0)
		for range 3 {
			start := processorTime()
			if _, used, err = o.run(); err != nil {
				return 0, err
			}
			best = min(best, processorTime()-start)
		}
		worst = max(worst, best.Seconds()*1000*tenMillion/float64(used))
	}
	return worst, nil
}

// allocationsPerCall counts heap allocations of a call of a small function.
func allocationsPerCall(int) (float64, error) {
	const calls = 200_000
	src := fmt.Sprintf("def f(a, b):\n    return a + b\nfor i in range(%d):\n    f(i, 1)\nprint(0)\n", calls)
	o, err := load([]byte(src))
	if err != nil {
		return 0, err
	}
	if _, _, err := o.run(); err != nil {
		return 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := o.run(); err != nil {
		return 0, err
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / calls, nil
}
