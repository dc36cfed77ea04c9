package cpython_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
)

func TestRun(t *testing.T) {
	out := cpython.Run(t, "import sys; print(sys.stdin.read().upper(), end='')", []byte("in"))
	if string(out) != "IN" {
		t.Errorf("printed %q", out)
	}
}

func TestDialogue(t *testing.T) {
	script := filepath.Join(t.TempDir(), "echo.py")
	program := "import sys\nfor line in sys.stdin:\n    print(len(line) - 1)\n    print(line, end='', flush=True)\n"
	if err := os.WriteFile(script, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	d := cpython.Start(t, script)
	for _, want := range []string{"one", "and two"} {
		if n, rest := d.Ask(want), d.Rest(len(want)+1); n != strconv.Itoa(len(want)) || rest != want+"\n" {
			t.Errorf("asked %q, it says %s: %q", want, n, rest)
		}
	}
}

func TestLibrary(t *testing.T) {
	folder, files := cpython.Library(t)
	if !slices.Contains(files, filepath.Join(folder, "json", "decoder.py")) {
		t.Errorf("%d files in %s, json/decoder.py is none of them", len(files), folder)
	}
}
