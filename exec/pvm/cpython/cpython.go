// Package cpython finds CPython 3.11 on this machine and runs programs on it:
// the oracle that the PVM's tests are held to. It is a test kit: only tests
// import it, and nothing of CPython is part of this repository.
//
// In flow a program and its standard input, out flows its standard output, all of it
// ([Run]) or an answer at a time ([Start]). [Library] lists what CPython brings along. The
// interpreter is the one that PYTHON311 names, or python3.11 or python3 on the
// path when it is a 3.11. A test without one is skipped loudly, and fails with
// CI=true.
package cpython

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Path returns the interpreter.
func Path(t testing.TB) string {
	t.Helper()
	names := []string{"python3.11", "python3"}
	if name := os.Getenv("PYTHON311"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		out, err := exec.Command(name, "-c", "import sys; print(sys.implementation.name, *sys.version_info[:2])").Output()
		if err == nil && strings.TrimSpace(string(out)) == "cpython 3 11" {
			return name
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("CPython 3.11 is required in CI (set PYTHON311)")
	}
	t.Skip("SKIPPED, there is no CPython 3.11 on this machine (set PYTHON311)")
	return ""
}

// Run executes a program with hash seed 0 and returns what it prints.
func Run(t testing.TB, program string, stdin []byte) []byte {
	t.Helper()
	cmd := exec.Command(Path(t), "-I", "-c", program)
	cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0")
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("CPython: %v\n%s", err, stderr.Bytes())
	}
	return out
}
