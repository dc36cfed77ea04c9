package pvm_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// sources are small actors that use different parts of the machine.
func sources() [][]byte {
	var out [][]byte
	for i := range 12 {
		out = append(out, fmt.Appendf(nil, `
import json
class Actor:
    def __init__(self):
        self.seen = {}
    def handle(self, n):
        self.seen[str(n)] = n * %d
        return json.dumps(self.seen)
actor = Actor()
for n in range(%d):
    text = actor.handle(n)
print(len(text), sorted({"a", "b", "%d"}))
`, i+1, 10+i, i))
	}
	// hash() of what all machines share, asked in different orders.
	out = append(out,
		[]byte("print(hash(str.upper), hash(len), hash(abs), hash(property), hash(dict.__dict__['fromkeys']))\n"),
		[]byte("print(hash(list.append), hash(str.upper), hash(object()), hash(list.append) == hash(str.upper))\n"))
	return append(out, []byte("print(1 // 0)\n"), []byte("x = [0] * 10**9\n"), []byte("while True: pass\n"))
}

// outcome is everything about a run that consensus could see.
func outcome(e *pvm.Engine, src []byte) string {
	p, err := e.Program(src, "actor.py")
	if err != nil {
		return "refused: " + err.Error()
	}
	res, err := e.Run(p, 200_000, nil)
	return fmt.Sprintf("%d %s %d %d %q %v", p.CompileCycles, res.Output, res.Cycles, res.HeapPeak, res.Traceback, err)
}

func newEngine(t testing.TB, key [2]uint64, room int) *pvm.Engine {
	t.Helper()
	rt, err := pvm.NewRuntime(key)
	if err != nil {
		t.Fatal(err)
	}
	return pvm.NewEngine(rt, pvm.NewLRU(room), pvm.DefaultLimits())
}

// Caches of sizes 0, 1 and unlimited give equal results, in any order of
// programs and on machines that others used before.
func TestCacheChangesNothing(t *testing.T) {
	list := sources()
	var want []string
	for _, src := range list {
		want = append(want, outcome(newEngine(t, [2]uint64{1, 1}, 0), src))
	}
	for _, room := range []int{0, len(list[0]), 1 << 20} {
		e := newEngine(t, [2]uint64{uint64(room), 99}, room)
		for round := range 3 {
			for i := range list {
				at := (i*7 + round) % len(list)
				if got := outcome(e, list[at]); got != want[at] {
					t.Fatalf("cache of %d bytes, round %d, program %d:\n got %s\nwant %s", room, round, at, got, want[at])
				}
			}
		}
	}
}

// Machines on one runtime do not touch each other.
func TestEnginesSideBySide(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{4, 2})
	if err != nil {
		t.Fatal(err)
	}
	list := sources()
	var want []string
	one := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())
	for _, src := range list {
		want = append(want, outcome(one, src))
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			e := pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits())
			for i := range 2 * len(list) {
				at := (i + 3*w) % len(list)
				if got := outcome(e, list[at]); got != want[at] {
					t.Errorf("worker %d, program %d:\n got %s\nwant %s", w, at, got, want[at])
				}
			}
		})
	}
	wg.Wait()
}

func TestLRUKeepsWithinItsRoom(t *testing.T) {
	c := pvm.NewLRU(100)
	program := func(n byte, bytes int) *pvm.Program { return &pvm.Program{Hash: pvm.Hash{n}, Bytes: bytes} }
	c.Put(program(1, 40))
	c.Put(program(2, 40))
	if _, ok := c.Get(pvm.Hash{1}); !ok {
		t.Fatal("the first program is gone")
	}
	c.Put(program(3, 40))
	if _, ok := c.Get(pvm.Hash{2}); ok {
		t.Error("the program used least recently stayed")
	}
	if _, ok := c.Get(pvm.Hash{1}); !ok {
		t.Error("the program used last is gone")
	}
	c.Put(program(4, 101))
	if _, ok := c.Get(pvm.Hash{4}); ok || c.Len() != 2 {
		t.Errorf("a program larger than the room is kept, or pushed others out: %d left", c.Len())
	}
}

func TestCompileRefusesWithAPlace(t *testing.T) {
	for _, row := range []struct{ rule, src string }{
		{"forbidden import", "x = 1\nimport random\n"},
		{"syntax", "def f(:\n"},
		{"symbols", "def f(a, a): pass\n"},
	} {
		_, err := pvm.Compile([]byte(row.src), "actor.py", pvm.DefaultLimits())
		if err == nil {
			t.Errorf("%s: compiled", row.rule)
		}
		var refused *pvm.Refusal
		if row.rule == "forbidden import" && (!errors.As(err, &refused) || refused.Report.Findings[0].Line != 2) {
			t.Errorf("%s: got %v, want a refusal on line 2", row.rule, err)
		}
	}
}

// Out of cycles and out of memory are nothing a program can catch.
func TestAbortsAreNotCaught(t *testing.T) {
	for _, row := range []struct {
		src  string
		code vm.Code
	}{
		{"try:\n    while True: pass\nexcept BaseException:\n    print('caught')\nfinally:\n    print('finally')\n", vm.OutOfCycles},
		{"try:\n    x = 'x' * 10**8\nexcept BaseException:\n    print('caught')\n", vm.OutOfMemory},
		{"try:\n    x = [0] * 3000000\nexcept BaseException:\n    print('caught')\n", vm.OutOfMemory},
	} {
		e := newEngine(t, [2]uint64{}, 0)
		p, err := e.Program([]byte(row.src), "actor.py")
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.Run(p, 10_000_000, nil)
		var abort *vm.Abort
		if !errors.As(err, &abort) || abort.Code != row.code || len(res.Output) > 0 {
			t.Errorf("%q: got %v, output %q, want code %d and no output", row.src, err, res.Output, row.code)
		}
	}
}
