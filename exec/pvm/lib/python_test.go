package lib_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func runScript(t testing.TB, rt *vm.Runtime, src string) string {
	t.Helper()
	res, err := execute(t, rt, src, 1<<32)
	if err != nil {
		t.Fatalf("%v\n%s", err, res.Output)
	}
	return string(res.Output) + res.Traceback
}

// TestClassModules holds the modules that make classes to what CPython prints for
// the scripts in testdata.
func TestClassModules(t *testing.T) {
	rt := runtimeOf(t)
	files, err := filepath.Glob("testdata/classes/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Split(string(cpython.Run(t, string(src), nil)), "\n")
			got := strings.Split(runScript(t, rt, string(src)), "\n")
			for i := range max(len(got), len(want)) {
				g, w := "<end>", "<end>"
				if i < len(got) {
					g = got[i]
				}
				if i < len(want) {
					w = want[i]
				}
				if g != w {
					t.Fatalf("line %d of the output\n got: %s\nwant: %s\nfollowed by:\n%s", i+1, g, w, strings.Join(got[min(i, len(got)):min(i+12, len(got))], "\n"))
				}
			}
		})
	}
}

// TestStrictFlags holds flags to what CPython 3.11.7 prints. Debian 12 has
// 3.11.2, which drops bits without a name and is no oracle here.
func TestStrictFlags(t *testing.T) {
	const script = `from enum import Flag, auto
class P(Flag):
    R=auto(); W=auto(); X=auto()
    RW=R|W
try: P(16)
except ValueError as e: print(e)
`
	const want = "<flag 'P'> invalid value 16\n    given 0b0 10000\n  allowed 0b0 00111\n"
	if got := runScript(t, runtimeOf(t), script); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
