package vm_test

import (
	"flag"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Each expression is kept so many times, and may take so many times what is counted of it.
const (
	sizesKept   = 500
	sizesFactor = 2
)

var sizesStep = flag.Int("sizes", 3, "TestObjectsAreCounted takes one expression in so many")

// TestObjectsAreCounted: no object of any kind takes more than twice the bytes that the machine
// counts of it. What keeps a text of which it is a part may take a byte for each cycle besides,
// by which the text was paid.
func TestObjectsAreCounted(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	prologue, err := os.ReadFile("testdata/sizes/prologue.py")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("testdata/sizes/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	expressions, step := strings.Split(strings.TrimSpace(string(list)), "\n"), *sizesStep
	if testing.Short() {
		step = 7
	}
	m := rt.NewMachine()
	for i := 0; i < len(expressions); i += step {
		x, shares := strings.CutPrefix(expressions[i], "~ ")
		source := string(prologue) + "L = [None] * 501\ndef keep(a, b):\n    for i in range(a, b): L[i] = " + x + "\n"
		p, err := pvm.Compile([]byte(source), "sizes.py", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		held, counted, cycles := sizeOf(t, m, p)
		most := sizesFactor * counted
		if shares {
			most += cycles + cycles/8
		}
		if held > most {
			t.Errorf("%s: %d bytes each are held, %d are counted, for %d cycles", x, held, counted, cycles)
		}
	}
}

// sizeOf is what each value takes that a program keeps, what is counted of it, and the cycles
// that it costs.
func sizeOf(t *testing.T, m *vm.Machine, p *pvm.Program) (held, counted, cycles int64) {
	t.Helper()
	m.Reset()
	m.LimitHeap(1 << 40)
	if res, err := m.Execute(p.Code, 1<<30); err != nil || res.Raised != nil {
		t.Fatal(err, res.Traceback)
	}
	keep := func(from, to int64) {
		res, err := m.CallFunction("keep", []vm.Value{vm.SmallInt(from), vm.SmallInt(to)}, 1<<40)
		if err != nil || res.Raised != nil {
			t.Fatal(err, res.Traceback)
		}
		cycles = res.Cycles / sizesKept
	}
	keep(0, 1) // what is made once
	var before, after runtime.MemStats
	counted = -m.Measure()
	runtime.GC()
	runtime.ReadMemStats(&before)
	keep(1, sizesKept+1)
	counted += m.Measure()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(m)
	return (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / sizesKept, counted / sizesKept, cycles
}
