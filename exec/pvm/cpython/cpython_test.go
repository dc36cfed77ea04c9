package cpython_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
)

func TestRun(t *testing.T) {
	out := cpython.Run(t, "import sys; print(sys.stdin.read().upper(), end='')", []byte("in"))
	if string(out) != "IN" {
		t.Errorf("printed %q", out)
	}
}
