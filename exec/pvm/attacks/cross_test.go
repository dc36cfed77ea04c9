package attacks_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

var (
	crossCalls = flag.Int("cross", 3_000, "calls of TestCross")
	crossSeed  = flag.Uint64("cross-seed", 1, "what they are chosen by")
	crossNanos = flag.Float64("cross-ns", 0, "print calls that take more ns a cycle than this, on a machine that does nothing else; 0: none")
)

// Bounds of one call of TestCross: what it may allocate for each cycle, and besides.
const (
	crossPerCycle = 512
	crossFixed    = 64 << 10
	crossCycles   = 20_000
	crossSession  = 3_000 // calls before all values are made anew
)

// named is a value with the text that makes it.
type named struct {
	text string
	v    vm.Value
}

// crossList calls a function of the program that returns a list of pairs.
func crossList(t *testing.T, m *vm.Machine, function string) (out []named) {
	t.Helper()
	res, err := m.CallFunction(function, nil, 1<<40)
	if err != nil || res.Raised != nil {
		t.Fatalf("%s: %v %s", function, err, res.Traceback)
	}
	items, _ := res.Value.Items()
	for _, item := range items {
		pair, _ := item.Items()
		text, _ := pair[0].Text()
		out = append(out, named{text, pair[1]})
	}
	return out
}

// TestCross calls everything that the machine has with one to three of two hundred values,
// large and strange ones among them, and puts what comes of it among these. No call is a
// defect, and none allocates more than its cycles allow: work for nothing that nobody
// thought of shows here (ADR 141).
func TestCross(t *testing.T) {
	source, err := os.ReadFile("testdata/cross.py")
	if err != nil {
		t.Fatal(err)
	}
	p, err := pvm.Compile(source, "cross.py", pvm.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	x := &cross{t: t, rng: rand.New(rand.NewPCG(*crossSeed, 1)), left: *crossCalls}
	if testing.Short() {
		x.left /= 3
	}
	e := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())
	for x.left > 0 {
		err := e.With(nil, func(m *vm.Machine) error {
			m.Brief = true
			m.LimitHeap(1 << 30) // the values are held by this test, and not measured
			if res, err := m.Execute(p.Code, 1<<40); err != nil || res.Raised != nil {
				t.Fatal(err, res.Traceback)
			}
			x.session(m)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

type cross struct {
	t     *testing.T
	rng   *rand.Rand
	left  int
	calls []named
	pool  []named
}

func (x *cross) session(m *vm.Machine) {
	x.calls, x.pool = crossList(x.t, m, "calls"), crossList(x.t, m, "pool")
	if len(x.calls) < 1_500 || len(x.pool) < 150 {
		x.t.Fatalf("%d callables and %d values", len(x.calls), len(x.pool))
	}
	for range min(x.left, crossSession) {
		x.left--
		fn := x.calls[x.rng.IntN(len(x.calls))]
		args := make([]vm.Value, 1+x.rng.IntN(3))
		texts := make([]string, len(args))
		for i := range args {
			a := x.pool[x.rng.IntN(len(x.pool))]
			args[i], texts[i] = a.v, a.text
		}
		text := fn.text + "(" + strings.Join(texts, ", ") + ")"
		if v := x.call(m, text, fn.v, args); v.Bound() && x.rng.IntN(4) == 0 && len(text) < 300 {
			x.pool[x.rng.IntN(len(x.pool))] = named{text, v}
		}
	}
}

// call makes one call, again where it took more than it may: the first use of something
// fills what lasts.
func (x *cross) call(m *vm.Machine, text string, fn vm.Value, args []vm.Value) vm.Value {
	var before, after runtime.MemStats
	for again := 0; ; again++ {
		runtime.ReadMemStats(&before)
		start := time.Now()
		res, err := m.Do(crossCycles, func(m *vm.Machine) (vm.Value, error) { return m.Call(fn, args...) })
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		var abort *vm.Abort
		if errors.As(err, &abort) && abort.Code == vm.Internal {
			x.t.Errorf("%s: %v", text, err)
			return vm.Value{}
		}
		total := after.TotalAlloc - before.TotalAlloc
		most := uint64(res.Cycles)*crossPerCycle + crossFixed
		slow := *crossNanos > 0 && took > 50*time.Microsecond && float64(took.Nanoseconds()) > *crossNanos*float64(res.Cycles)
		switch {
		case total <= most && !slow:
			return res.Value
		case again < 2:
			continue
		case slow:
			x.t.Logf("%s: %v for %d cycles", text, took, res.Cycles)
		}
		if total > most {
			x.t.Errorf("%s: %d bytes allocated for %d cycles", text, total, res.Cycles)
		}
		return res.Value
	}
}
