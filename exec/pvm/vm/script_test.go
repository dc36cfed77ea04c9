package vm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func runtimeOf(t testing.TB) *vm.Runtime {
	t.Helper()
	cfg := vm.DefaultConfig()
	cfg.HashKey = [2]uint64{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03}
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// execute runs a program with so many cycles.
func execute(t testing.TB, rt *vm.Runtime, src string, cycles int64) (vm.Result, error) {
	t.Helper()
	o, err := compile.Source([]byte(src), "<string>", compile.DefaultLimits())
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return rt.NewMachine().Execute(o, cycles)
}

// A script that begins with this comment ends with an exception; CPython is made
// to print it on standard output, without source lines as there is no file.
const (
	uncaught      = "# not caught\n"
	printUncaught = "import sys, os, traceback; sys.excepthook = lambda t, v, b: (traceback.print_exception(t, v, b, file=sys.stdout), sys.stdout.flush(), os._exit(0))\n"
)

// TestScripts holds the machine to what CPython prints for the scripts in
// testdata.
func TestScripts(t *testing.T) {
	rt := runtimeOf(t)
	files, err := filepath.Glob("testdata/core/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			res, err := execute(t, rt, string(src), 1<<32)
			if err != nil {
				t.Fatalf("%v\n%s", err, res.Output)
			}
			want := string(cpython.Run(t, strings.Replace(string(src), uncaught, printUncaught, 1), nil))
			got := string(res.Output) + res.Traceback
			if got != want {
				t.Fatal(firstDifference(got, want))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "<end>", "<end>"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return "line " + strings.TrimSpace(b) + "\n got: " + a + "\nwant: " + b + "\nall:\n" + got
		}
	}
	return ""
}
