package pvm_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/attacks"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// goldenCycles bounds each program of the corpus.
const goldenCycles = 100_000

// program is one of the corpus.
type program struct{ name, source string }

// goldenCorpus are the scripts of the machine's and the library's tests, those of
// numbers that words of 32 bits would cut, and the hostile programs.
func goldenCorpus(t *testing.T) []program {
	t.Helper()
	var out []program
	for _, pattern := range []string{"vm/testdata/core/*.py", "lib/testdata/*.py", "lib/testdata/classes/*.py", "testdata/wide/*.py"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no scripts: %v", pattern, err)
		}
		for _, f := range files {
			src, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, program{filepath.ToSlash(f), string(src)})
		}
	}
	files, err := filepath.Glob("attacks/testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no attacks: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all, err := attacks.Parse(strings.TrimSuffix(filepath.Base(f), ".txt"), string(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			out = append(out, program{"attacks/" + strings.ReplaceAll(a.Name, " ", "-"), a.Source})
		}
	}
	return out
}

// way is one way to run a program that must not matter.
type way struct {
	name   string
	config func(*vm.Config)
	limits func(*pvm.Limits)
	key    [2]uint64
	times  int // runs on one engine, of which the last counts
}

// goldenLine is a line of the golden file: end and hash of all that is visible,
// cycles and modelled heap.
func goldenLine(engine *pvm.Engine, p program, lim pvm.Limits) string {
	program, err := pvm.Compile([]byte(p.source), "golden", lim)
	if err != nil {
		return fmt.Sprintf("%s refused %s 0 0", p.name, digest(err.Error()))
	}
	res, err := engine.Run(program, goldenCycles, nil)
	end := "returned"
	var abort *vm.Abort
	switch {
	case errors.As(err, &abort):
		end = fmt.Sprintf("aborted-%d", abort.Code)
	case res.Raised != nil:
		end = "raised"
	}
	return fmt.Sprintf("%s %s %s %d %d", p.name, end, digest(string(res.Output)+"\x00"+res.Traceback), res.Cycles, res.HeapPeak)
}

func digest(s string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return fmt.Sprintf("%016x", h.Sum64())
}

// run runs the corpus in one way.
func (w way) run(t *testing.T, corpus []program) []string {
	t.Helper()
	cfg, err := pvm.RuntimeConfig(w.key)
	if err != nil {
		t.Fatal(err)
	}
	if w.config != nil {
		w.config(&cfg)
	}
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w.runOn(rt, corpus)
}

func (w way) runOn(rt *vm.Runtime, corpus []program) []string {
	lim := pvm.DefaultLimits()
	if w.limits != nil {
		w.limits(&lim)
	}
	engine := pvm.NewEngine(rt, pvm.NewLRU(0), lim)
	out := make([]string, len(corpus))
	for range max(w.times, 1) {
		for i, p := range corpus {
			out[i] = goldenLine(engine, p, lim)
		}
	}
	return out
}

// TestGolden holds the corpus to the committed results, which are those of every
// architecture: output and traceback, cycles and modelled heap.
func TestGolden(t *testing.T) {
	got := way{key: [2]uint64{1, 2}}.run(t, goldenCorpus(t))
	text := "# program, end, hash of output and traceback, cycles, modelled heap at its peak\n" + strings.Join(got, "\n") + "\n"
	compareFile(t, "testdata/golden.txt", text)
}

// TestWays runs the corpus in every way that must not matter.
func TestWays(t *testing.T) {
	corpus := goldenCorpus(t)
	if !*long {
		corpus = everyNth(corpus[1:], 3) // TestWarmthIsFree takes others
	}
	if testing.Short() {
		corpus = everyNth(corpus, 3)
	}
	want := way{key: [2]uint64{1, 2}}.run(t, corpus)
	plain := func(l *pvm.Limits) { l.Compile.PlainBranches = true }
	for _, w := range []way{
		{name: "another key of hash tables", key: [2]uint64{0xfeed, 0xbeef}},
		{name: "comparisons not fused", limits: plain, key: [2]uint64{1, 2}},
		{name: "no inline caches", config: func(c *vm.Config) { c.Cold = true }, key: [2]uint64{1, 2}},
	} {
		t.Run(w.name, func(t *testing.T) { sameLines(t, w.run(t, corpus), want) })
	}
	t.Run("collector at every turn", func(t *testing.T) {
		defer debug.SetGCPercent(debug.SetGCPercent(1))
		some := len(corpus) / 8
		sameLines(t, way{key: [2]uint64{1, 2}}.run(t, corpus[:some]), want[:some])
	})
	t.Run("at once on one runtime", func(t *testing.T) {
		cfg, err := pvm.RuntimeConfig([2]uint64{7, 9})
		if err != nil {
			t.Fatal(err)
		}
		rt, err := vm.NewRuntime(cfg)
		if err != nil {
			t.Fatal(err)
		}
		all := make([][]string, 3)
		var wg sync.WaitGroup
		for i := range all {
			wg.Go(func() { all[i] = way{}.runOn(rt, corpus[:len(corpus)/3]) })
		}
		wg.Wait()
		for _, got := range all {
			sameLines(t, got, want[:len(corpus)/3])
		}
	})
}

func sameLines(t *testing.T, got, want []string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}
