package vm

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
)

// TestSlabIsClear: whatever ran and however it ended, the registers above the
// last frame are clear, as a frame expects its own to be and Reset leaves them.
func TestSlabIsClear(t *testing.T) {
	rt, err := NewRuntime(DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/core/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	sources := map[string]string{
		"deep":      "def f(n, *a): return f(n + 1, *a, n)\nf(0)\n",
		"wide":      "def f(" + "a=1, " + "*r): return [a, [a, [a, [a, [a, r]]]]]\nprint(f(*range(5000)))\n",
		"endless":   "def g():\n    while True: yield 1\nfor x in g(): y = x\n",
		"generator": "def g():\n    x = yield 1\n    raise ValueError(x)\ni = g()\nnext(i)\ni.send(2)\n",
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[file] = string(src)
	}
	m := rt.NewMachine()
	for _, name := range slices.Sorted(maps.Keys(sources)) { // one machine runs them all
		o, err := compile.Source([]byte(sources[name]), "<string>", compile.DefaultLimits())
		if err != nil {
			t.Fatal(name, err)
		}
		_, _ = m.Execute(o, 20_000_000) // most ends are welcome
		for i, v := range m.slab[:cap(m.slab)] {
			if v != unbound {
				t.Fatalf("%s leaves register %d", name, i)
			}
		}
		for i, v := range m.spare[:cap(m.spare)] {
			if v != unbound {
				t.Fatalf("%s leaves register %d of a chunk", name, i)
			}
		}
		m.Reset()
		for i := range m.pool {
			if m.pool[i].unit != nil || m.pool[i].regs != nil || m.pool[i].back != nil {
				t.Fatalf("%s leaves frame %d", name, i)
			}
		}
		if m.frame != nil || m.used != 0 || len(m.interned)+len(m.modules) != 0 {
			t.Fatalf("%s leaves something", name)
		}
	}
}

// TestResetKeepsNoRoom: what a call made a machine make room for is not kept for the calls
// to come: every machine of a node would hold the most that any call ever held.
func TestResetKeepsNoRoom(t *testing.T) {
	m := testMachine(t, [2]uint64{1, 2})
	mark := m.Hold(None)
	for range 1 << 18 {
		m.Hold(None)
	}
	m.Release(mark)
	for range 1 << 14 {
		m.recordUndo(func() {}, nil)
	}
	m.Reset()
	if n := cap(m.temp); n > keptValues {
		t.Errorf("room for %d values that natives hold", n)
	}
	if n := cap(m.changes); n > keptEntries {
		t.Errorf("room for %d changes", n)
	}
}
