package vm_test

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestHuge asks for results far beyond the heap: each ends the call before
// anything of the size is made.
func TestHuge(t *testing.T) {
	rt, err := vm.NewRuntime(vm.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{
		"n = 10**9\nx = 2**n", "n = 10**12\nx = 1 << n", "n = 10**12\nx = 'a' * n", "n = 10**12\nx = b'ab' * n",
		"n = 10**12\nx = 'a'.ljust(n)", "n = 10**12\nx = bytes(n)",
		"n = 10**12\nx = f'{1:{n}}'", "n = 10**12\nx = (5).to_bytes(n, 'big')", "n = 10**12\nx = 'a\\tb'.expandtabs(2**31-1)",
		"x = 3\nwhile True:\n    x = x * x",
	} {
		o, err := compile.Source([]byte(src), "test", compile.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		_, err = rt.NewMachine().Execute(o, 1<<30)
		var abort *vm.Abort
		if !errors.As(err, &abort) || abort.Code != vm.OutOfMemory && abort.Code != vm.OutOfCycles {
			t.Errorf("%s: %v", src, err)
		}
	}
}
