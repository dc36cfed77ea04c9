package attacks_test

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// machineCycles is what a program may use on each machine.
const machineCycles = 60_000

// machine is an engine that a program must not tell from another.
type machine struct {
	name  string
	times int // how often it runs a program
	*pvm.Engine
}

// differentMachines differ in what a process has of its own: the key of the hashes,
// whether there are caches, and what ran before.
func differentMachines(t *testing.T) []machine {
	t.Helper()
	var machines []machine
	for _, way := range []struct {
		name  string
		key   [2]uint64
		cold  bool
		times int
	}{
		{name: "the first key", key: [2]uint64{1, 2}, times: 1},
		{name: "another key, used again", key: [2]uint64{0xdeadbeefcafe, 0x123456789abcdef1}, times: 2},
		{name: "a third key, without caches", key: [2]uint64{0x9e3779b97f4a7c15, 77}, cold: true, times: 1},
	} {
		cfg, err := pvm.RuntimeConfig(way.key)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Cold = way.cold
		rt, err := vm.NewRuntime(cfg)
		if err != nil {
			t.Fatal(err)
		}
		machines = append(machines, machine{way.name, way.times, pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())})
	}
	return machines
}

// agree reports an error where machines do not run a program alike.
func agree(t *testing.T, machines []machine, name string, p *pvm.Program, cycles code.Cycles) {
	t.Helper()
	want := ""
	for _, m := range machines {
		for range m.times {
			res, err := m.Run(p, cycles, newSession())
			got := fmt.Sprintf("%d cycles, %d bytes, %v, %q, %q", res.Cycles, res.HeapPeak, err, res.Output, res.Traceback)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s: %s: %.200s, want %.200s", name, m.name, got, want)
			}
		}
	}
}

// TestMachinesAgree: a program comes to the same end for the same cycles and memory under
// the key of every process, without caches, and on a machine that ran others before. Where
// it does not, receipts differ between nodes (ADR 161).
func TestMachinesAgree(t *testing.T) {
	machines := differentMachines(t)
	for _, a := range corpus(t) {
		p, err := pvm.Compile([]byte(a.Source), "attack", pvm.DefaultLimits())
		if err != nil {
			continue
		}
		agree(t, machines, a.Name, p, machineCycles)
	}
}
