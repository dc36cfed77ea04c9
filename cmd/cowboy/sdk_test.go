package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
)

const pythonSDK = "../../sdk/python"

// TestSDKMirror holds the module of the Python package to that of the machine, but
// for where the calls of the chain come from.
func TestSDKMirror(t *testing.T) {
	source, err := os.ReadFile("../../exec/pvm/sdk/python/cowboy_sdk.py")
	if err != nil {
		t.Fatal(err)
	}
	want := "# Made of exec/pvm/sdk/python/cowboy_sdk.py by make generate: do not edit.\n" + strings.NewReplacer(
		"import _cowboy as _host\n", "from . import _cowboy as _host\n", "from _cowboy import (", "from ._cowboy import (",
	).Replace(string(source))
	path := pythonSDK + "/cowboy_sdk/_module.py"
	if *rewrite {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, []byte(want)) {
		t.Errorf("%s is not the module of the machine (%v): -rewrite copies it", path, err)
	}
}

// TestSDKPython runs the tests of the package: the chain in memory, the names of
// docs/sdk.md, and the examples on it.
func TestSDKPython(t *testing.T) {
	python := cpython.Path(t)
	cmd := exec.Command(python, "-B", "-m", "unittest", "discover", "-s", "tests")
	cmd.Dir = pythonSDK
	cmd.Env = append(os.Environ(), "PYTHONPATH=.")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
