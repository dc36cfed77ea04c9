package pvm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

// TestCompilingPaysForWhatItMakes: what makes more work than its tokens say costs more.
func TestCompilingPaysForWhatItMakes(t *testing.T) {
	price := func(src string) code.Cycles {
		t.Helper()
		p, spent, err := pvm.CompileWithin([]byte(src), "actor.py", pvm.DefaultLimits(), 0)
		if err != nil || spent != p.CompileCycles {
			t.Fatalf("%d, %v", spent, err)
		}
		return p.CompileCycles
	}
	d := code.DefaultCosts().Dynamic
	plain := price("def f(a):\n return a\n")
	if more := price("def f(a):\n return lambda: a\n") - plain; more < 2*d.Token+d.Scope+d.Symbol {
		t.Errorf("a lambda costs %d", more)
	}
	names := "a0,a1,a2,a3,a4,a5,a6,a7,a8,a9"
	nested := func(depth int) code.Cycles {
		return price("def f(" + names + "):\n return " + strings.Repeat("lambda:", depth) + "[" + names + "]\n")
	}
	if more := nested(9) - nested(8); more < 10*d.Symbol {
		t.Errorf("ten names that pass through one more lambda cost %d", more)
	}
	waits := price("from cowboy_sdk import actor, runner\n@actor\nclass A:\n @runner.continuation\n async def f(self, a):\n  b = await runner.llm(a)\n  return b\n")
	if waits < 40*d.Token {
		t.Errorf("a handler that waits costs %d", waits)
	}
}

// TestCompilingStopsAtItsPrice: every amount that is too small ends alike, whether the
// program is kept or not.
func TestCompilingStopsAtItsPrice(t *testing.T) {
	src := []byte("def f(a):\n return [b for b in a]\n")
	e := newEngine(t, [2]uint64{1, 2}, 1<<20)
	_, all, err := e.ProgramWithin(src, "actor.py", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []code.Cycles{1, all / 2, all - 1} {
		if _, _, err := e.ProgramWithin(src, "actor.py", most); !errors.Is(err, pvm.ErrCycles) {
			t.Errorf("kept, %d cycles: %v", most, err)
		}
		if _, _, err := pvm.CompileWithin(src, "actor.py", pvm.DefaultLimits(), most); !errors.Is(err, pvm.ErrCycles) {
			t.Errorf("%d cycles: %v", most, err)
		}
	}
	if _, spent, err := e.ProgramWithin(src, "actor.py", all); err != nil || spent != all {
		t.Errorf("%d cycles, %v", spent, err)
	}
}
