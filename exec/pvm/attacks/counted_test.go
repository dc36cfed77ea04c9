package attacks_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// What a program holds may be so many times what the machine counts of it, and so much
// besides.
const (
	countedFactor = 5
	countedFixed  = 4 << 20
)

// TestWhatIsHeldIsCounted: objects that hold what another made, or many values of their
// own, are counted with them (ADR 163), and what the machine remembers keeps nothing alive
// (ADR 176).
func TestWhatIsHeldIsCounted(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{
		"defaults":                       "L = []\nwhile True:\n    def f(a=1): pass\n    f.__defaults__ = (None,) * 60000\n    L.append(f)\n",
		"a group":                        "L = []\nG = [ValueError()] * 5000\nwhile True: L.append(ExceptionGroup('a', G))\n",
		"the start of a count":           "L = []\nwhile True: L.append(enumerate((), 1 << 3000000))\n",
		"arguments, again":               "L = []\nT = (None,) * 60000\nwhile True:\n    e = ValueError()\n    e.__init__(*T)\n    L.append(e)\n",
		"answers of abstract classes":    "from collections.abc import Sequence\nwhile True: issubclass(type('C', (), {'x': [None] * 60000}), Sequence)\n",
		"answers of one's own":           "from abc import ABC\nclass A(ABC): pass\nwhile True: isinstance(type('C', (), {'x': [None] * 60000})(), A)\n",
		"caches of instructions":         "class A: x = 1\na = A()\ndef made(): return type('C', (), {'x': [None] * 60000})()\ndef f(go):\n" + strings.Repeat("    o = made() if go else a\n    o.x\n    o.x\n", 60) + "for i in range(20): f(0)\nf(1)\nf(1)\n",
		"methods found once":             "class A:\n    def x(s): pass\na = A()\ndef made(): return type('C', (A,), {'y': [None] * 60000})()\ndef f(go):\n" + strings.Repeat("    o = made() if go else a\n    o.x()\n", 60) + "for i in range(20): f(0)\nf(1)\n",
		"what long orders found":         "K = object\nfor i in range(11): K = type('K', (K,), {})\nL = []\nwhile True:\n    C = type('C', (K,), {'x': [None] * 60000})\n    C.x\n    C.x = None\n    L.append(C)\n",
		"special methods of old":         "L = []\nwhile True:\n    C = type('C', (), {'__len__': [None] * 60000})\n    bool(C) or C()\n    try: len(C())\n    except TypeError: pass\n    C.__len__ = None\n    L.append(C)\n",
		"ways to be made of old":         "L = []\ndef made():\n    def __init__(s, x=(None,) * 60000): pass\n    __init__.__defaults__ = ([None] * 60000,)\n    return __init__\nwhile True:\n    C = type('C', (), {'__init__': made()})\n    C()\n    del C.__init__\n    L.append(C)\n",
		"room for attributes":            "class A:\n    def __init__(s): s.a = 1\ndef fill(a):\n" + attributes(60) + "for i in range(60): fill(A())\nL = []\nwhile True: L.append(A())\n",
		"globals of generated code":      "import collections\nwhile True: collections.namedtuple('A', 'a b', defaults=[(None,) * 60000])(1)\n",
		"generators that are done":       "L = []\ndef made():\n    T = (None,) * 60000\n    def g():\n        yield\n        if 0: T\n    return [*g(), g()]\nwhile True:\n    g = made()[1]\n    for x in g: pass\n    L.append(g)\n",
		"frames that were left":          "def made():\n    def g(x=None): return 1\n    g.__defaults__ = ((None,) * 60000,)\n    return g\ndef f(n):\n    if n: f(n - 1)\n    made()()\nf(38)\n",
		"exceptions that were handled":   "def h(): pass\ndef f(n):\n    if n: f(n - 1)\n    try: raise ValueError((None,) * 60000)\n    except ValueError: h()\nf(38)\n",
		"short differences of long ints": "a, b = (1 << 4194304) + (1 << 100), 1 << 4194304\nL = []\nwhile True: L.append(a - b)\n",
	} {
		p, err := pvm.Compile([]byte(source), "attack", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if held, counted := heldBy(t, rt, p, 3_000_000); held > countedFactor*counted+countedFixed {
			t.Errorf("%s: %d bytes are held, %d are counted", name, held, counted)
		}
	}
}

// TestLongNamesAreCounted: so are the texts of names that classes keep, of attributes and of
// what was looked for along a long order, and those of shapes.
func TestLongNamesAreCounted(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"of attributes of a class":      "    setattr(C, 'a' * 100000 + str(i), 0)\n",
		"of a class":                    "    L.append(type('C', (), {'a' * 100000 + str(i): 0}))\n",
		"looked for along a long order": "    hasattr(C, 'a' * 100000 + str(i))\n",
		"of shapes":                     "    setattr(C(), 'a' * 100000 + str(i), 0)\n",
		"of what is abstract":           "    abc.update_abstractmethods(type('C', (), {'__abstractmethods__': (), 'a' * 100000 + str(i): f}))\n",
	} {
		source := "import abc\nL = []\nK = object\nfor i in range(11): K = type('K', (K,), {})\nclass C(K): pass\n@abc.abstractmethod\ndef f(): pass\ni = 0\nwhile True:\n    i += 1\n" + body
		p, err := pvm.Compile([]byte(source), "attack", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if held, counted := heldBy(t, rt, p, 12_000_000); held > 2*counted+countedFixed {
			t.Errorf("names %s: %d bytes are held, %d are counted", name, held, counted)
		}
	}
}

var (
	heldStep        = flag.Int("held", 3, "TestAllThatIsHeldIsCounted takes one expression in so many")
	generatedCycles = flag.Int64("generated", 40_000_000, "cycles of each program of TestGeneratedCodeGoes")
)

// TestAllThatIsHeldIsCounted goes through expressions whose value keeps much alive, by every
// way of keeping that was thought of: 40 of each hold no more than what is counted allows.
func TestAllThatIsHeldIsCounted(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	prologue, err := os.ReadFile("testdata/held/prologue.py")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("testdata/held/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	expressions, step := strings.Split(strings.TrimSpace(string(list)), "\n"), *heldStep
	if testing.Short() {
		step = 7
	}
	for i := 0; i < len(expressions); i += step {
		p, err := pvm.Compile([]byte(string(prologue)+"for i in range(40): L.append("+expressions[i]+")\n"), "held", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		held, counted := heldBy(t, rt, p, 6_000_000)
		if held > countedFactor*counted+countedFixed {
			t.Errorf("%s: %d bytes are held, %d are counted", expressions[i], held, counted)
		}
	}
}

// heldBy runs a program and returns what it holds at its end, and what is counted at its peak.
func heldBy(t *testing.T, rt *vm.Runtime, p *pvm.Program, cycles code.Cycles) (held, counted int64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	err := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()).With(nil, func(m *vm.Machine) error {
		m.Brief = true
		res, _ := m.Execute(p.Code, cycles) // the end is that of cycles or of memory
		if res.Raised != nil {
			t.Errorf("raised %s", res.Traceback)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		counted = res.HeapPeak
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return int64(after.HeapAlloc) - int64(before.HeapAlloc), counted
}

// attributes is a body that sets so many attributes of a.
func attributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "    a.f%d = 1\n", i)
	}
	return b.String()
}

// TestLookUpsArePaid: programs whose work is known pay for it.
func TestLookUpsArePaid(t *testing.T) {
	const chain = "class B: pass\nfor i in range(300): setattr(B, 'n%d' % i, 1)\nK = B\nfor i in range(57): K = type('K', (K,), {})\nclass X(K): pass\nN = ['n%d' % i for i in range(300)]\nx = X()\n"
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, source string
		least        code.Cycles
	}{
		{"names along a long order, for each version", chain + "for i in range(10):\n    X.z = 1\n    for n in N: getattr(x, n)\n", 10 * 300 * 60},
		{"a float and a large int", "x, y = 1.5e308, 1 << 1023\nfor i in range(3000): x < y\n", 3000 * 17},
	} {
		p, err := pvm.Compile([]byte(c.source), "attack", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		res, err := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()).Run(p, 10_000_000, nil)
		if err != nil || res.Raised != nil {
			t.Fatal(err, res.Traceback)
		}
		if res.Cycles < c.least {
			t.Errorf("%s: %d cycles, want %d at least", c.name, res.Cycles, c.least)
		}
	}
}

// generatedMost is what a program that makes code and lets it go may hold at its end: twice the
// limit of what is counted, and what a machine has.
const generatedMost = 2*(10<<20) + 12<<20

// TestGeneratedCodeGoes: what was compiled for a named tuple or a data class goes with it, and is
// counted while it stays. It held 0.9 to 1.3 bytes for each cycle, for good.
func TestGeneratedCodeGoes(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{
		"named tuples":      "import collections\ni = 0\nwhile True:\n    i += 1\n    collections.namedtuple('A%d' % i, 'b%d c%d' % (i, i))(1, 2)\n",
		"data classes":      "import dataclasses\ni = 0\nwhile True:\n    i += 1\n    dataclasses.make_dataclass('A%d' % i, ['b%d' % i])(1)\n",
		"annotations":       "import typing\ndef f(): pass\ni = 0\nwhile True:\n    i += 1\n    f.__annotations__ = {'a': 'int.a%d' % i}\n    try: typing.get_type_hints(f)\n    except AttributeError: pass\n",
		"named tuples kept": "import collections\nL = []\nwhile True: L.append(collections.namedtuple('A%d' % len(L), 'b%d c%d' % (len(L), len(L))))\n",
		"data classes kept": "import dataclasses\nL = []\nwhile True: L.append(dataclasses.make_dataclass('A%d' % len(L), ['b%d' % len(L)]))\n",
	} {
		p, err := pvm.Compile([]byte(source), "attack", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		if held, counted := heldBy(t, rt, p, *generatedCycles); held > generatedMost {
			t.Errorf("%s: %d bytes are held, %d are counted", name, held, counted)
		} else {
			t.Logf("%s: %d bytes are held, %d are counted", name, held, counted)
		}
	}
}
