package lib_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/lib"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func runtimeOf(t testing.TB) *vm.Runtime {
	t.Helper()
	cfg := vm.DefaultConfig()
	cfg.HashKey = [2]uint64{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03}
	cfg.Modules = lib.Modules()
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// execute runs a program with so many cycles.
func execute(t testing.TB, rt *vm.Runtime, src string, cycles int64) (vm.Result, error) {
	t.Helper()
	return rt.NewMachine().Execute(compiled(t, src), cycles)
}

func compiled(t testing.TB, src string) *code.Object {
	t.Helper()
	o, err := compile.Source([]byte(src), "<string>", compile.DefaultLimits())
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return o
}

// oracle makes CPython do what the machine does on purpose: json in its
// canonical form.
const oracle = `import json as _j, functools as _f
_dumps = _j.dumps
def _canonical(obj, **kw):
    for k, v in (("sort_keys", True), ("separators", (",", ":")), ("ensure_ascii", False)):
        kw.setdefault(k, v)
    return _dumps(obj, **kw)
_j.dumps = _canonical
_init = _j.JSONEncoder.__init__
def _canonical_init(self, **kw):
    kw.update(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    _init(self, **kw)
_j.JSONEncoder.__init__ = _canonical_init
`

// TestScripts holds the library to what CPython prints for the scripts in
// testdata.
func TestScripts(t *testing.T) {
	rt := runtimeOf(t)
	files, err := filepath.Glob("testdata/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".py"), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			res, err := execute(t, rt, string(src), 1<<32)
			if err != nil {
				t.Fatalf("%v\n%s", err, res.Output)
			}
			want := string(cpython.Run(t, oracle+string(src), nil))
			if got := string(res.Output) + res.Traceback; got != want {
				t.Error(firstDifferences(got, want))
			}
		})
	}
}

// firstDifferences lists lines that differ, at most a dozen.
func firstDifferences(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	var out strings.Builder
	n := 0
	for i := 0; i < max(len(g), len(w)) && n < 12; i++ {
		a, b := "<end>", "<end>"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			out.WriteString("\n got: " + a + "\nwant: " + b)
			n++
		}
	}
	return out.String()
}
