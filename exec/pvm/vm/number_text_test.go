package vm_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestExpressions holds numbers and text to CPython: each line of the files is an
// expression, whose repr and type, or exception, must be the same. What follows
// "##" is the machine's own answer where it differs on purpose.
func TestExpressions(t *testing.T) {
	for _, name := range []string{"numbers", "text", "bytes"} {
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile("testdata/expressions/" + name + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			compareExpressions(t, string(src))
		})
	}
}

func compareExpressions(t *testing.T, list string) {
	var program strings.Builder
	var exprs, own []string
	for _, line := range strings.Split(list, "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		expr, answer, _ := strings.Cut(line, "##")
		exprs, own = append(exprs, strings.TrimSpace(expr)), append(own, strings.TrimSpace(answer))
	}
	program.WriteString("class I(int): pass\nclass S(str): pass\nclass B(bytes): pass\nclass F(float): pass\nclass A(bytearray): pass\n")
	program.WriteString("class Ix:\n    def __index__(self): return 3\n")
	for i, e := range exprs {
		fmt.Fprintf(&program, "def f%d():\n    return %s\ntry:\n    r = f%d()\n    print(ascii(r), type(r).__name__)\nexcept Exception as e:\n    print(type(e).__name__, ascii(str(e)))\n", i, e, i)
	}
	want := bytes.Split(bytes.TrimSpace(cpython.Run(t, "import warnings; warnings.simplefilter('ignore')\n"+program.String(), nil)), []byte("\n"))
	o, err := compile.Source([]byte(program.String()), "test", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	rt, err := vm.NewRuntime(vm.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	r, err := rt.NewMachine().Execute(o, code.Cycles(1)<<40)
	if err != nil {
		t.Fatalf("%v after\n%s", err, r.Output)
	}
	got := bytes.Split(bytes.TrimSpace(r.Output), []byte("\n"))
	if len(got) != len(exprs) || len(want) != len(exprs) {
		t.Fatalf("%d expressions, %d answers, CPython %d", len(exprs), len(got), len(want))
	}
	for i, e := range exprs {
		w := string(want[i])
		if own[i] != "" {
			w = own[i]
		}
		if string(got[i]) != w {
			t.Errorf("%s\n  got  %s\n  want %s", e, got[i], w)
		}
	}
}

// TestRoundToFarTens: more digits than an int64 can negate leave nothing of a number.
// CPython works out the power of ten first, which takes longer than anybody waits.
func TestRoundToFarTens(t *testing.T) {
	o, err := compile.Source([]byte("print([round(n, d) for n in (5, -7, True, 10**40) for d in (-2**63, 1 - 2**63, -2**63 - 1, -100)])\n"), "test", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	rt, err := vm.NewRuntime(vm.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	r, err := rt.NewMachine().Execute(o, code.Cycles(1)<<30)
	if want := "[" + strings.Repeat("0, ", 15) + "0]\n"; err != nil || string(r.Output) != want {
		t.Errorf("%s, %v, want %s", r.Output, err, want)
	}
}
