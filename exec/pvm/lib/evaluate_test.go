package lib_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestEvaluationIsShallow: a text within a text within a text, each a chain of alternatives
// whose first name the program looks up itself, is as deep on the Go stack as any other
// recursion of a program. It was 83,000 levels deep and took 64 MiB; 32 calls within each
// other did so on one stack, which Go ends the process for at 1 GB.
func TestEvaluationIsShallow(t *testing.T) {
	rt := runtimeOf(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // else stacks shrink meanwhile
	for _, members := range []int{20, 90, 999} {
		src := fmt.Sprintf("import typing\nT = '|'.join(['a']*%d)\n", members) +
			"class L:\n  def __getitem__(s, k): return typing.ForwardRef(T)._evaluate({'b': 0}, s, frozenset())\n" +
			"typing.ForwardRef(T)._evaluate({'b': 0}, L(), frozenset())"
		prog := compiled(t, src)
		grown := make(chan uint64)
		go func() {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res, err := rt.NewMachine().Execute(prog, 50_000_000)
			runtime.ReadMemStats(&after)
			if err != nil || !strings.Contains(res.Traceback, "Error") {
				t.Errorf("%d members: %v %v", members, res.Traceback, err)
			}
			grown <- after.StackInuse - before.StackInuse
		}()
		if n := <-grown; n > 2<<20 {
			t.Errorf("%d members: the stack grew by %d bytes", members, n)
		}
	}
}

// TestEvaluationCountsItsTree: each text that is evaluated within another counts its tree.
func TestEvaluationCountsItsTree(t *testing.T) {
	src := "import typing\nT = '(a,' + '1,' * 30_000 + ')'\n" +
		"class L:\n  def __getitem__(s, k): return typing.ForwardRef(T)._evaluate({'b': 0}, s, frozenset())\n" +
		"typing.ForwardRef(T)._evaluate({'b': 0}, L(), frozenset())"
	var abort *vm.Abort
	if _, err := execute(t, runtimeOf(t), src, 1<<32); !errors.As(err, &abort) || abort.Code != vm.OutOfMemory {
		t.Error(err)
	}
}

// TestEvaluatedTextsAreBounded: what is beyond the limits is refused as text that is none.
func TestEvaluatedTextsAreBounded(t *testing.T) {
	rt := runtimeOf(t)
	for text, want := range map[string]string{
		"'a' * 65_536":                "NameError",
		"'a' * 65_537":                "SyntaxError: Forward reference is too long\n",
		"'|'.join(['int'] * 95)":      "",
		"'|'.join(['int'] * 101)":     "SyntaxError: Forward reference is too long: too many nested operations: at most 100",
		"'[' * 300 + 'a' + ']' * 300": "SyntaxError: Forward reference is too long: too many nested",
	} {
		res, err := execute(t, rt, "import typing\ntyping.ForwardRef("+text+")._evaluate({}, {}, frozenset())", 1<<32)
		if err != nil || !strings.Contains(res.Traceback, want) || want == "" && res.Traceback != "" {
			t.Errorf("%s: %s %v", text, res.Traceback, err)
		}
	}
}

// TestEvaluationMakesNoSurrogates: a text that is evaluated may hold an escape of a surrogate.
func TestEvaluationMakesNoSurrogates(t *testing.T) { // resolution 11.48; ADR 243
	for _, text := range []string{`F["\ud800"]`, `F["\udc00" "x"]`, `F["\U0000dfff"]`, `F[f"\ud800"]`} {
		src := "import typing\nclass F:\n  def __getitem__(s, k): raise KeyError(k)\n" +
			"typing.ForwardRef(" + strconv.Quote(text) + ")._evaluate({}, {'F': F()}, frozenset())"
		if res, err := runtimeOf(t).NewMachine().Execute(compiled(t, src), 10_000_000); err != nil || !strings.Contains(res.Traceback, "SyntaxError") {
			t.Errorf("%s: %v %s", text, err, res.Traceback)
		}
	}
}
