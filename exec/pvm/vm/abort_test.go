package vm_test

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestAborts: what ends a call passes every handler of the program, and the
// machine serves again after Reset.
func TestAborts(t *testing.T) {
	rt := runtimeOf(t)
	for _, tt := range []struct {
		name, src string
		cycles    int64
		want      vm.Code
	}{
		{"cycles in a loop", "try:\n    while True: pass\nexcept BaseException: print('no')\nfinally: print('no')\n", 10000, vm.OutOfCycles},
		{"cycles in a generator", "def g():\n    try:\n        while True: yield\n    finally: print('no')\nfor x in g(): pass\n", 10000, vm.OutOfCycles},
		{"cycles within a native", "class A:\n    def __lt__(s, o):\n        while True: pass\ntry: sorted([A(), A()])\nexcept BaseException: print('no')\n", 10000, vm.OutOfCycles},
		{"memory of a list", "l = []\ntry:\n    while True: l.append([])\nexcept BaseException: print('no')\n", 1 << 32, vm.OutOfMemory},
		{"memory at once", "try: x = [0] * 10 ** 9\nexcept BaseException: print('no')\n", 1 << 40, vm.OutOfMemory},
		{"memory of a text", "s = 'x'\ntry:\n    while True: s += s\nexcept BaseException: print('no')\n", 1 << 40, vm.OutOfMemory},
		{"memory of instances", "class A: pass\na = A()\nwhile True:\n    b = A()\n    b.prev = a\n    a = b\n", 1 << 40, vm.OutOfMemory},
		{"memory of generators", "def g():\n    yield\nl = []\nwhile True: l.append(g())\n", 1 << 40, vm.OutOfMemory},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := execute(t, rt, tt.src, tt.cycles)
			var abort *vm.Abort
			if !errors.As(err, &abort) || abort.Code != tt.want {
				t.Fatalf("ended with %v, %s", err, res.Traceback)
			}
			if len(res.Output) != 0 {
				t.Fatalf("the program saw it: %s", res.Output)
			}
			if limit := vm.DefaultLimits().HeapBytes; res.HeapPeak > limit {
				t.Errorf("peak %d counts what was refused: the limit is %d", res.HeapPeak, limit)
			}
		})
	}
}

// TestGarbage: memory that is not reachable does not count, cycles included.
func TestGarbage(t *testing.T) {
	rt := runtimeOf(t)
	for _, src := range []string{
		"for i in range(300000): x = [i, i]\n",
		"class A: pass\nfor i in range(100000):\n    a = A()\n    a.me = a\n",
		"def f():\n    return 'x' * 1000000\nfor i in range(100): f()\n",
		"def f():\n    x = [0] * 500000\n    return None\nf()\ny = [0] * 500000\n",
		"for i in range(100000):\n    try: raise ValueError\n    except ValueError: pass\n",
	} {
		res, err := execute(t, rt, src, 1<<32)
		if err != nil || res.Raised != nil {
			t.Errorf("%q: %v %s", src, err, res.Traceback)
		}
		if limit := vm.DefaultLimits().HeapBytes; res.HeapPeak > limit {
			t.Errorf("%q: peak %d", src, res.HeapPeak)
		}
	}
}

// TestAttributesCount: attributes hold memory whatever object they are of.
func TestAttributesCount(t *testing.T) {
	rt := runtimeOf(t)
	for _, made := range []string{"lambda: 0", "staticmethod(len)", "classmethod(len)", "Own()", "Error()", "type('New', (), {})", "Text()"} {
		src := "class Own: pass\nclass Error(Exception): pass\nclass Text(str): pass\nkept = []\n" +
			"for i in range(30):\n    x = " + made + "\n    x.more = 'a' * (1 << 19)\n    kept.append(x)\n"
		res, err := execute(t, rt, src, 1<<32)
		var abort *vm.Abort
		if !errors.As(err, &abort) || abort.Code != vm.OutOfMemory {
			t.Errorf("%s: ended with %v, %s", made, err, res.Traceback)
		}
	}
}

// TestReuse: a machine that was reset counts as a fresh one does, whatever ran on
// it before and however that ended.
func TestReuse(t *testing.T) {
	rt := runtimeOf(t)
	used := rt.NewMachine()
	programs := []string{
		"class A:\n    def __init__(s, x): s.x = x\n    def m(s): return s.x\nt = 0\nfor i in range(100): t += A(i).m()\nprint(t)\n",
		"def g(n):\n    for i in range(n): yield [i]\nfor x in g(300000): pass\nprint('ok')\n",
		"def f(n): return f(n + 1)\nf(0)\n",
		"l = []\nwhile True: l.append([])\n",
		"print(undefined)\n",
	}
	for round := range 2 {
		for _, src := range programs {
			o, err := compile.Source([]byte(src), "<string>", compile.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			used.Reset()
			got, gotErr := used.Execute(o, 50_000_000)
			want, wantErr := rt.NewMachine().Execute(o, 50_000_000)
			if got.Cycles != want.Cycles || got.HeapPeak != want.HeapPeak || string(got.Output) != string(want.Output) ||
				got.Traceback != want.Traceback || (gotErr == nil) != (wantErr == nil) {
				t.Errorf("round %d: %q: %d cycles, %d bytes, %v; fresh %d, %d, %v", round, src, got.Cycles, got.HeapPeak, gotErr, want.Cycles, want.HeapPeak, wantErr)
			}
		}
	}
}

// TestCallFunction: functions of the main module are called after it ran, and
// async ones run to their end.
func TestCallFunction(t *testing.T) {
	rt := runtimeOf(t)
	o, err := compile.Source([]byte("n = 0\ndef add(k):\n    global n\n    n += k\n    return n\nasync def later(k): return await inner(k)\nasync def inner(k): return k * 2\ndef fail(): raise ValueError('no')\n"), "<string>", compile.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m := rt.NewMachine()
	if res, err := m.Execute(o, 1<<20); err != nil || res.Raised != nil {
		t.Fatal(err, res.Traceback)
	}
	for i, tt := range []struct {
		name string
		want int64
	}{{"add", 5}, {"add", 10}, {"later", 10}} {
		res, err := m.CallFunction(tt.name, []vm.Value{vm.SmallInt(5)}, 1<<20)
		if err != nil || res.Raised != nil || res.Value != vm.SmallInt(tt.want) {
			t.Errorf("call %d: %v %v %s", i, res.Value, err, res.Traceback)
		}
	}
	res, err := m.CallFunction("fail", nil, 1<<20)
	if err != nil || res.Traceback != "Traceback (most recent call last):\n  File \"<string>\", line 8, in fail\nValueError: no\n" {
		t.Errorf("fail: %v %q", err, res.Traceback)
	}
}
