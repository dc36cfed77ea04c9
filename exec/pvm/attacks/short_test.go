package attacks_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/attacks"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// A short run: what it may use, and what it may allocate besides bytesPerCycle. What is
// bounded for a run, and free, is free again in each of a block's thousands.
const (
	shortCycles = 10_000
	shortFixed  = 128 << 10
)

// TestShortRuns: a run that is over after a few thousand cycles allocates in proportion to
// them as well: a machine makes nothing ready that a program has not paid for.
func TestShortRuns(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	all := append(corpus(t), shortRuns()...)
	e := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())
	for _, a := range all {
		p, err := pvm.Compile([]byte(a.Source), "attack", pvm.DefaultLimits())
		if err != nil {
			continue
		}
		var before, after runtime.MemStats
		least, cycles := ^uint64(0), code.Cycles(0)
		for range 3 { // the first makes what lasts
			runtime.ReadMemStats(&before)
			err := e.With(nil, func(m *vm.Machine) error {
				m.Brief = true // as in a block
				res, _ := m.Execute(p.Code, shortCycles)
				cycles = res.Cycles
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		cycles += 8 * code.Cycles(p.Items) // as a call of an actor pays for names and constants
		if least > uint64(cycles)*bytesPerCycle+shortFixed {
			t.Errorf("%s: %d bytes allocated for %d cycles", a.Name, least, cycles)
		}
	}
}

// shortRuns are programs that once had a machine make much ready for little.
func shortRuns() []attacks.Attack {
	return []attacks.Attack{
		{Name: "inline caches of a large function", Source: "class A: a = 1\na = A()\ndef f(x=0):\n    for i in range(20): a.a\n    if not x: return\n" +
			strings.Repeat("    "+strings.Repeat("~", 150)+"x\n", 380) + "f()\n"},
	}
}
