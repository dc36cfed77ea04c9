package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// brokenMachine is the machine of the protocol with a native that fails.
func brokenMachine(key [2]uint64) (*vm.Runtime, error) {
	cfg, err := pvm.RuntimeConfig(key)
	if err != nil {
		return nil, err
	}
	cfg.Globals = append(cfg.Globals, vm.Def{Name: "break_machine", Fn: func(*vm.Machine, vm.Args) (vm.Value, error) {
		var none *pvm.Program
		return vm.SmallInt(int64(none.Bytes)), nil
	}})
	return vm.NewRuntime(cfg)
}

// TestDefectIsKept: a run that a defect ends leaves a file that runs again.
func TestDefectIsKept(t *testing.T) {
	dir := t.TempDir()
	file := script(t, "print('before')\nbreak_machine()\n")
	ask := func(args ...string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		w := world{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(string) string { return "" }, machine: brokenMachine}
		if code := run(t.Context(), append([]string{"pvm", "run"}, args...), w); code != exitFailed {
			t.Fatalf("exit %d: %s", code, errs.String())
		}
		return out.String(), errs.String()
	}
	out, errs := ask(file, "--dump-dir", dir)
	found, err := filepath.Glob(filepath.Join(dir, "pvm-internal-*.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files %v, %v; %s", found, err, errs)
	}
	if out != "before\n" || !strings.Contains(errs, "--replay "+found[0]) || !strings.Contains(errs, "defect in the machine") {
		t.Errorf("printed %q and %q", out, errs)
	}
	out, errs = ask("--replay", found[0], "--dump-dir", filepath.Join(dir, "none"))
	if out != "before\n" || !strings.Contains(errs, "nil pointer") || !strings.Contains(errs, "pvm_dump_test.go") {
		t.Errorf("again, printed %q and %q", out, errs)
	}
}

// TestReplayRefuses: a run has one input.
func TestReplayRefuses(t *testing.T) {
	file := script(t, "pass\n")
	for _, args := range [][]string{{}, {file, "--replay", file}, {"--replay", file}, {"--replay", file + ".none"}} {
		var out, errs bytes.Buffer
		w := world{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, env: func(string) string { return "" }}
		if code := run(t.Context(), append([]string{"pvm", "run"}, args...), w); code == exitDone || errs.Len() == 0 {
			t.Errorf("%v: exit %d, %q", args, code, errs.String())
		}
	}
}
