package vm_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// ways of running a program that must not show in what it prints and pays.
func ways() map[string]func(*compile.Limits, *vm.Machine) *vm.Profile {
	return map[string]func(*compile.Limits, *vm.Machine) *vm.Profile{
		"branches not fused": func(l *compile.Limits, _ *vm.Machine) *vm.Profile { l.PlainBranches = true; return nil },
		"profiled":           func(_ *compile.Limits, m *vm.Machine) *vm.Profile { return m.NewProfile() },
	}
}

// TestSameCyclesHoweverRun: scripts print the same and use the same cycles and
// memory with comparisons and branches fused or not, and profiled or not; a
// profile's lines add up to what was used.
func TestSameCyclesHoweverRun(t *testing.T) {
	rt := runtimeOf(t)
	files, err := filepath.Glob("testdata/core/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	sources := map[string]string{
		"garbage":     "for i in range(60000): x = [i, [i], 'a' * (i & 63)]\nprint(len(x))\n",
		"out of time": "i = 0\nwhile i < 10 ** 9: i += 1\n",
		"callbacks":   "def key(x):\n    return -x\nprint(sorted(range(50), key=key)[0])\nprint(sum(x * x for x in range(100)))\n",
		"compared":    "n = 0\nfor a in range(30):\n    for b in range(30):\n        if a < b and not a == 3 or a >= 2 * b != 7: n += 1\n    while n > 100 > a: n -= 7\nprint(n)\n",
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[file] = string(src)
	}
	const cycles = 4_000_000
	for name, src := range sources {
		plain, err := compile.Source([]byte(src), "f.py", compile.DefaultLimits())
		if err != nil {
			t.Fatal(name, err)
		}
		want, wantErr := rt.NewMachine().Execute(plain, cycles)
		for way, prepare := range ways() {
			m, lim := rt.NewMachine(), compile.DefaultLimits()
			profile := prepare(&lim, m)
			o, err := compile.Source([]byte(src), "f.py", lim)
			if err != nil {
				t.Fatal(name, err)
			}
			got, err := m.Execute(o, cycles)
			if (err == nil) != (wantErr == nil) || got.Cycles != want.Cycles || got.HeapPeak != want.HeapPeak ||
				string(got.Output) != string(want.Output) || got.Traceback != want.Traceback {
				t.Errorf("%s, %s: %d cycles, %d bytes, %v; want %d, %d, %v", name, way, got.Cycles, got.HeapPeak, err, want.Cycles, want.HeapPeak, wantErr)
			}
			if profile == nil {
				continue
			}
			sum := int64(0)
			for _, l := range profile.Lines() {
				sum += l.Cycles
			}
			if sum != got.Cycles {
				t.Errorf("%s: lines have %d cycles of %d", name, sum, got.Cycles)
			}
		}
	}
}

// TestFusedIsUsed: the two forms of the test above differ in their code.
func TestFusedIsUsed(t *testing.T) {
	src := []byte("i = 0\nwhile i < 10: i += 1\n")
	fused, err := compile.Source(src, "f.py", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	lim := compile.DefaultLimits()
	lim.PlainBranches = true
	plain, err := compile.Source(src, "f.py", lim)
	if err != nil {
		t.Fatal(err)
	}
	has := func(o *code.Object, op code.Op) bool {
		return slices.ContainsFunc(o.Instrs, func(in code.Instr) bool { return in.Op == op })
	}
	if !has(fused, code.LtJump) && !has(fused, code.GeJump) || has(plain, code.LtJump) || has(plain, code.GeJump) {
		t.Fatalf("fused:\n%s\nnot fused:\n%s", code.Disassemble(fused), code.Disassemble(plain))
	}
}

// TestProfileLines: cycles are at the lines that use them.
func TestProfileLines(t *testing.T) {
	rt := runtimeOf(t)
	src := strings.Join([]string{
		"def dear(n):",
		"    return 'x' * n", // 2: five thousand characters
		"def key(x):",
		"    return -x", // 4: called by sorted
		"dear(5000)",
		"sorted([3, 1, 2] * 20, key=key)", // 6
		"y = 1",
	}, "\n") + "\n"
	o, err := compile.Source([]byte(src), "f.py", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m := rt.NewMachine()
	p := m.NewProfile()
	if res, err := m.Execute(o, 1<<30); err != nil || res.Raised != nil {
		t.Fatal(err, res.Traceback)
	}
	at := map[int32]int64{}
	lines := p.Lines()
	for i, l := range lines {
		if i > 0 && l.Cycles > lines[i-1].Cycles {
			t.Errorf("line %d is not in order", l.Number)
		}
		at[l.Number] = l.Cycles
	}
	if lines[0].Number != 2 || lines[0].File != "f.py" || at[2] < 5000 || at[2] > 5300 {
		t.Errorf("the dearest line is %+v", lines[0])
	}
	if at[4] < 60*2 || at[6] < 60*2 || at[7] == 0 || at[7] > 10 {
		t.Errorf("lines cost %v", at)
	}
	m.Reset()
	before := p.Lines()
	if _, err := m.Execute(o, 1<<30); err != nil || len(p.Lines()) != len(before) {
		t.Errorf("a profile goes on behind Reset: %v", err)
	}
}
