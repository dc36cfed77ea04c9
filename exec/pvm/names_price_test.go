package pvm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestLongTextsArePaid: what reads a long name or text, or takes memory for one, costs in
// proportion to it, though it keeps nothing and raises nothing (ADR 141).
func TestLongTextsArePaid(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	costs := code.DefaultCosts()
	const long = 320_000
	perKey := costs.Dynamic.Char * long / costs.Work.KeyBytes
	var keywordOnly strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&keywordOnly, "a%d=0,", i)
	}
	locals := strings.ReplaceAll(keywordOnly.String(), ",", ";")
	for _, tt := range []struct {
		setup, body string
		least       code.Cycles
	}{
		{"", "hasattr(object, NAME)", perKey},
		{"", "getattr(object, NAME, None)", perKey},
		{"", "hasattr(1, NAME)", perKey},
		{"class A:\n    def __getattr__(self, n): return 1\na = A()\n", "getattr(a, NAME)", perKey},
		{"class A:\n    def __getattribute__(self, n): return 1\na = A()\n", "getattr(a, NAME)", perKey},
		{"class A: pass\na = A()\nsetattr(a, NAME, 1)\n", "setattr(a, NAME, 2)", perKey},
		{"class A: __match_args__ = (NAME,)\na = A()\nsetattr(a, NAME, 1)\ndef f():\n    match a:\n        case A(1): pass\n", "f()", perKey},
		{"import operator\nclass A: pass\na = A()\nsetattr(a, NAME, 1)\nget = operator.attrgetter(NAME)\n", "get(a)", perKey},
		{"class A: pass\na = A()\nsetattr(a, NAME, 1)\n", "object.__getattribute__(a, NAME)", perKey},
		{"class A: pass\na = A()\nsetattr(a, NAME, 1)\n", "object.__setattr__(a, NAME, 1)", perKey},
		{"C = type(NAME, (), {})\n", "repr(C)", perKey},
		{"C = type(NAME, (), {})\nc = C()\n", "str(c)", perKey},
		{"class S(str): pass\n", "S(NAME)", perKey},
		{"e = ExceptionGroup(NAME, [ValueError()])\n", "str(e)", perKey},
		{"C = type(NAME, (), {})\nl = list[C, C]\n", "repr(l)", 2 * long * costs.Dynamic.Char},
		{"import functools\nC = type(NAME, (), {})\np = functools.partial(C)\n", "repr(p)", long * costs.Dynamic.Char},
		{"e = '\\u00e9' * 1000\n", "ascii(e)", 2000 * costs.Dynamic.Char},
		{"d = {i: i for i in range(2000)}\n", "str.maketrans(d)", 2000 * costs.Dynamic.DictOp},
		{"class S(str): pass\nW = 'a\\u0323\\u0301' * 8000\n", "S(W) == '\\u00e9'", 64_000 * costs.Dynamic.Char},
		{"A = type('A', (), {'__slots__': ['a%d' % i for i in range(2000)]})\nclass B(A): __slots__ = ()\nclass C(A): __slots__ = ()\nx = B()\n", "x.__class__ = C; x.__class__ = B", 0},
		{"A = type('A', (), {'__slots__': ['a%d' % i for i in range(2000)]})\n", "type('B', (A,), {'__slots__': 'x'})", 2000 / costs.Work.TokenBytes},
		{"T = (1,) * 2000\n", "try: type('B', T, {})\n    except TypeError: pass", 2000 * costs.Dynamic.NativeCall},
		{"f = lambda *a: None\nT = (1,) * 2000\nfor i in range(50): f = staticmethod(f)\n", "f(*T)", 50 * 2000 * 2 * costs.Dynamic.Element},
		{"class A: pass\nfor i in range(40): setattr(A, '%0900d' % i, i)\n", "A.__dict__", 40 * 900 / costs.Work.TokenBytes},
		{"def f(**kw): pass\nK = {'a%d' % i: i for i in range(500)}\n", "f(**K)", 500 * 3 * costs.Dynamic.DictOp},
		{"def f(a=1, b=1, c=1, d=1, e=1, **kw): pass\nK = {NAME: 1}\n", "f(**K)", 5 * perKey},
		{"def f(a=1, b=1, c=1, d=1, e=1, /): pass\nK = {NAME: 1}\n", "try: f(**K)\n    except TypeError: pass", 5 * perKey},
		{"b = bytearray(64 * 1024)\n", "b.copy()", 64 << 10 / costs.Work.RoomBytes},
		{"S = (NAME,)\n", "type('T', (), {'__slots__': S})", long * costs.Dynamic.Char},
		{"", "type('T', (), {NAME: 1})", perKey},
		{"C = 'x' * 320000\n", "type(C, (), {'__slots__': ('__a', '__b')})", 2 * perKey},
		{"A = 1 << 640000\nB = A - 1\n", "range(A, B)", 10_000 * costs.Dynamic.LimbWork},
		{"A = 1 << 640000\nr = range(A)\n", "try: r[A]\n    except IndexError: pass", 10_000 * costs.Dynamic.LimbWork},
		{"A = 1 << 640000\ns = slice(0, 0, -1)\n", "s.indices(A)", 10_000 * costs.Dynamic.LimbWork},
		{"T = ('',) * 20000\n", "'a'.startswith(T, 2)", 20_000 / costs.Work.TokenBytes},
		{"T = ((),) * 20000\ns = set()\n", "s.union(*T)", 19_900 * costs.Dynamic.NativeCall},
		{"T = ((),) * 10000\n", "zip(*T)", 9_900 * costs.Dynamic.NativeCall},
		{"from itertools import zip_longest\nT = ((),) * 10000\n", "zip_longest(*T)", 9_900 * costs.Dynamic.NativeCall},
		{"import re\nm = re.compile(''.join('(?P<a%d>b)?' % k for k in range(2000))).match('')\n", "m.groupdict()", 2_000 * costs.Dynamic.NativeCall},
		{"def f(n):\n    if n: f(n - 1)\n    return\n    " + locals + "\n", "f(50)", 25 * 2_500 * costs.Dynamic.Element},
		{"async def f():\n    " + locals + "\n", "f().close()", 3_000 * costs.Dynamic.Element},
		{"def f(*, " + keywordOnly.String() + "): yield\n", "try: f(1)\n    except TypeError: pass", 3_000 * costs.Dynamic.Element},
		{"d = {'k%d' % i: i for i in range(5000)}\n", "'{k0}{k1}'.format(**d)", 2 * 5000 / costs.Work.TokenBytes},
		{"class A: __slots__ = ('__eq__',)\nL = [A() for i in range(500)]\na = A()\na in L\n", "a in L", 2 * 500 * 2 * costs.Dynamic.NativeCall},
		{"class A: __class__ = property()\nT = (int,) * 500\na = A()\n", "isinstance(a, T)", 500 * 2 * costs.Dynamic.NativeCall},
		{"import abc\nclass S: __slots__ = ('__isabstractmethod__',)\nd = {'a%d' % i: S() for i in range(500)}\nabc.ABCMeta('T', (), d)\n", "abc.ABCMeta('T', (), d)", 500 * 2 * costs.Dynamic.NativeCall},
		{"class S: __slots__ = ('__mro_entries__',)\nT = (S(),) * 500\ntry: S().__mro_entries__\nexcept AttributeError: pass\n", "try:\n        class C(*T): pass\n    except TypeError: pass", 500 * 2 * costs.Dynamic.NativeCall},
		{"import struct\nT = (1,) * 2000\n", "struct.unpack('2000c', struct.pack('2000b', *T))", 2 * 3 * 1_990 * costs.Dynamic.Element},
		{"from operator import attrgetter\nT = ('a',) * 2000\n", "attrgetter(*T)", 1_990 * costs.Dynamic.NativeCall},
		{"import re\nm = re.match('(a)', 'a')\nT = (1,) * 2000\n", "m.group(*T)", 3 * 1_990 * costs.Dynamic.Element},
		{"import re\nm = re.match('(\u00e9)' * 2000, '\u00e9' * 2000)\n", "m.groups()", 2000*costs.Dynamic.Char + 3*1_990*costs.Dynamic.Element},
		{"T = ((),) * 2000\ns = set()\n", "s.difference(*T)", 2 * 1_990 * costs.Dynamic.NativeCall},
		{"from itertools import product\nT = ((),) * 2000\n", "product(*T)", 2 * 1_900 * costs.Dynamic.NativeCall},
		{"b = b'\\n' * 2000\n", "b.splitlines()", 6 * 1_990 * costs.Dynamic.Element},
		{"s = ' a' * 2000\n", "s.split()", 2000*2*costs.Dynamic.Char + 3*1_990*costs.Dynamic.Element},
		{"import re\nm = re.compile('(?:a|' + '()' * 2000 + 'b)').match('a')\n", "m.regs", 2_001 * costs.Dynamic.NativeCall},
		{"import re\np = re.compile('(?:a|' + '()' * 2000 + 'b)')\n", "p.split('a')", 1_990 * 6 * costs.Dynamic.Element},
		{"class A: pass\nA.__match_args__ = tuple(['a%d' % i for i in range(1000)])\n", "match A():\n        case A(" + strings.Repeat("_,", 1000) + "): pass", 990 * costs.Dynamic.DictOp},
		{"d = {i: i for i in range(1000)}\n", "match d:\n        case {" + numbered(1000) + "}: pass", 990 * 3 * costs.Dynamic.DictOp},
		{"t, u = [], []\nfor i in range(150): t, u = [t], [u]\n", "t == u", 150 * (costs.Dynamic.Element + costs.Dynamic.DictOp)},
		{"a, b = [{}.keys() for i in range(500)], [{}.keys() for i in range(500)]\n", "a == b", 500 * 2 * costs.Dynamic.NativeCall},
		{"a, b = [{} for i in range(500)], [{} for i in range(500)]\n", "a == b", 500 * (costs.Dynamic.Element + costs.Dynamic.DictOp)},
		{"a, b = [range(i) for i in range(500)], [range(i) for i in range(500)]\n", "a == b", 500 * (costs.Dynamic.Element + costs.Dynamic.DictOp)},
		{"v, w = {}.keys(), {}.items()\n", "v & w; v - w; v ^ w", 3 * 4 * costs.Dynamic.NativeCall},
		{"S = ['a%d' % i for i in range(2000)]\n", "type('T', (), {'__slots__': S})", 2000 * (costs.Dynamic.Element + costs.Dynamic.NativeCall)},
		{"class S(str): pass\ns = S('\\u00e9' * 2000)\n", "str(s) in {}", 4000 * costs.Dynamic.Char},
		{"s = '\\u00e9' * 2000\n", "s == '\\u00e8'", 4000 * costs.Dynamic.Char},
		{"C = type('\\u00e9' * 480, (), {})\n", "f'{C!r}'", 960 / costs.Work.KindBytes * costs.Dynamic.Char},
		{"C = type('x' * 900, (), {})\nc = C()\n", "f'{c!r}'", 900 / costs.Work.KindBytes * costs.Dynamic.Char},
		{"class S(str): pass\ns = S('x' * 900)\n", "f'{s}'", 900 / costs.Work.KindBytes * costs.Dynamic.Char},
		{"x = -(1 << 62)\n", "f'{x}'", 20 * costs.Dynamic.Char},
		{"class C: pass\nm = type(C).__dict__['__name__']\n", "int.__module__; C.__qualname__; len.__name__", 3 * costs.Dynamic.NativeCall},
		{"e = ValueError(*range(2000))\n", "e.args", 2000 * costs.Dynamic.Element},
		{"s, T = '{}' * 1000, (1,) * 1000\n", "s.format(*T)", 1000 * (costs.Dynamic.Step + 3*costs.Dynamic.Char)},
		{"from itertools import groupby\nT = tuple(range(1000))\n", "list(groupby(T))", 1000 * (costs.Dynamic.NativeCall + 2*costs.Dynamic.Step)},
		{"import string\ns = '{}' * 1000\n", "list(string.Formatter().parse(s))", 1000 * (costs.Dynamic.NativeCall + 4*costs.Dynamic.Char)},
		{"class A: pass\ndef made():\n    a = A()\n" + attributes(60) + "    return a\nL = [made() for i in range(9)]\n", "L.pop().__dict__", 60 * costs.Dynamic.DictOp},
		{"L = ['ab'] * 1000\n", "dict(L)", 1000 * 2 * costs.Dynamic.NativeCall},
		{"v = ''\n", "[] = v; [*a] = v", 20 + 2*costs.Dynamic.NativeCall},
		{"v = {}\n", "[] = v; [*a] = v", 20 + 2*costs.Dynamic.NativeCall},
		{"v, L = b'', []\n", "global L; L += v; L[:] = v", 30 + 2*costs.Dynamic.NativeCall},
		{"v, L = {}.keys(), []\n", "global L; L += v; L[:] = v", 30 + 2*costs.Dynamic.NativeCall},
		{"v = {}\ndef f(): pass\n", "f(*v); f(*v); f(*v); f(*v)", 4*12 + 4*costs.Dynamic.NativeCall},
		{"v = ''\ndef f(): pass\n", "f(*v); f(*v); f(*v); f(*v)", 4*12 + 4*costs.Dynamic.NativeCall},
		{"v = range(1 << 70, 1 << 70)\n", "for i in v: pass", 15 + costs.Dynamic.NativeCall},
		{"v, w = set(), {}\n", "v | v; v & v; w | w", 30 + 3*2*costs.Dynamic.DictOp},
		{"v, l = (), []\n", "v + v; v + v; l + l; l + l", 36 + 4*2*costs.Dynamic.Element},
		{"v = b''\n", "v + v; v + v; v + v; v + v", 36 + 4*2*costs.Dynamic.Char},
		{"v = ()\n", "[*a] = v; [*a] = v; [*a] = v; [*a] = v", 30 + 4*2*costs.Dynamic.Element},
		{"v, l = (), []\n", "{*v}; {*v}; {*l}; {*l}", 28 + 4*costs.Dynamic.NativeCall},
		{"v, b = (), bytearray()\n", "b[:] = v; b[:] = v; b[:] = v; b[:] = v", 68 + 4*costs.Dynamic.NativeCall},
		{"v, l = (), []\n", "v * 2; l * 2; l * 0; 2 * v", 32 + 4*2*costs.Dynamic.Element},
		{"v = b''\nb = bytearray()\n", "v * 2; b * 2; b * 0; 2 * v", 32 + 4*2*costs.Dynamic.Char},
	} {
		src := "NAME = 'x' * 320000\n" + tt.setup + "def once():\n    " + tt.body + "\ndef never():\n    if NAME: return\n    " + tt.body + "\n"
		if used := costOnce(t, rt, src, tt.body); used < tt.least {
			t.Errorf("%s costs %d, want at least %d", tt.body, used, tt.least)
		}
	}
}

// costOnce is what the function once of a source costs, the first time as the third, when
// its sites know what they can.
func costOnce(t *testing.T, rt *vm.Runtime, src, name string) code.Cycles {
	t.Helper()
	p, err := pvm.Compile([]byte(src), "x.py", pvm.DefaultLimits())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var used [3]code.Cycles
	err = pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()).With(nil, func(m *vm.Machine) error {
		if res, err := m.Execute(p.Code, 1<<30); err != nil || res.Raised != nil {
			t.Fatalf("%s: %v %s", name, err, res.Traceback)
		}
		for i := range used {
			res, err := m.CallFunction("once", nil, 1<<40)
			if err != nil || res.Raised != nil {
				t.Fatalf("%s: %v %s", name, err, res.Traceback)
			}
			used[i] = res.Cycles
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if used[0] != used[2] || used[1] != used[2] {
		t.Errorf("%s costs %v", name, used)
	}
	return used[0]
}

// attributes are statements that set n attributes of a.
func attributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "    a.f%d = 1\n", i)
	}
	return b.String()
}

// numbered are n keys of a mapping pattern.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d:_,", i)
	}
	return b.String()
}

// TestLongNamesInCodeCostTheSame: the charge for a long name does not depend on what the
// site of an instruction has learnt.
func TestLongNamesInCodeCostTheSame(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("n", 3000)
	src := "class A:\n    def " + name + "m(self): pass\na = A()\na." + name + " = 1\ndef once():\n    a." + name + "\n    a." + name + " = 2\n    a." + name + "m()\n"
	p, err := pvm.Compile([]byte(src), "x.py", pvm.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	err = pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()).With(nil, func(m *vm.Machine) error {
		if res, err := m.Execute(p.Code, 1<<30); err != nil || res.Raised != nil {
			t.Fatal(err, res.Traceback)
		}
		first := code.Cycles(0)
		for i := range 20 {
			res, err := m.CallFunction("once", nil, 1<<30)
			if err != nil || res.Raised != nil {
				t.Fatal(err, res.Traceback)
			}
			if i == 0 {
				first = res.Cycles
			}
			if res.Cycles != first || first < 3*3000/code.DefaultCosts().Work.KeyBytes {
				t.Fatalf("call %d costs %d, the first %d", i, res.Cycles, first)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGroupMethodsOfOthers: all exceptions have one layout, so a method of groups may be
// asked of one that is none, or of a group without its message. That is an exception of
// the program, no defect of the machine.
func TestGroupMethodsOfOthers(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{
		"ExceptionGroup.__str__(ValueError())",
		"ExceptionGroup.derive(ValueError(), [ValueError()])",
		"ExceptionGroup.message.__get__(ValueError())",
		"ExceptionGroup.exceptions.__get__(ValueError('a'))",
		"g = ExceptionGroup('x', [ValueError()])\ng.args = ()\nstr(g)",
		"g = ExceptionGroup('x', [ValueError()])\ng.args = ()\ng.message",
		"g = ExceptionGroup('x', [ValueError(), KeyError()])\ng.args = ()\ng.split(KeyError)",
	} {
		src := "try:\n    " + strings.ReplaceAll(body, "\n", "\n    ") + "\nexcept TypeError as e:\n    print(e)\n"
		p, err := pvm.Compile([]byte(src), "x.py", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		res, err := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()).Run(p, 1<<20, nil)
		if err != nil || res.Raised != nil || !strings.HasPrefix(string(res.Output), "descriptor '") {
			t.Errorf("%s: %v %s %s", body, err, res.Traceback, res.Output)
		}
	}
}

// TestKeywordsOfPartials: keywords of a call win over those given before, in the order of
// both, and thousands of each take no more than their number.
func TestKeywordsOfPartials(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	src := "import functools\np = functools.partial(lambda **k: k, a=1, b=2, c=3)\nprint(p(d=4, b=5, a=6), p())\n"
	p, err := pvm.Compile([]byte(src), "x.py", pvm.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	res, err := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()).Run(p, 1<<20, nil)
	if want := "{'a': 6, 'b': 5, 'c': 3, 'd': 4} {'a': 1, 'b': 2, 'c': 3}\n"; err != nil || string(res.Output) != want {
		t.Errorf("%v %s, want %s", err, res.Output, want)
	}
}

// TestManyClassesArePaid: who looks at many classes, or attributes, pays for each, and for
// the classes that it is found after.
func TestManyClassesArePaid(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	const many = 3000
	d := code.DefaultCosts().Dynamic
	attributes := new(strings.Builder)
	attributes.WriteString("o = A()")
	for i := range 64 {
		fmt.Fprintf(attributes, "\n    o.a%d = 1", i)
	}
	deep := "class A: pass\nK, E, M = A, ValueError, type\nfor i in range(55): K, E, M = type('K', (K,), {}), type('E', (E,), {}), type('M', (M,), {})\n"
	for _, tt := range []struct {
		setup, body string
		least       code.Cycles
	}{
		{"T = (int,) * 3000\n", "try: type('T', T, {})\n    except TypeError: pass", many * d.Element},
		{deep + "T = (int,) * 3000\n", "try: M('T', T, {})\n    except TypeError: pass", 50 * many * d.Element},
		{deep + "T = (int,) * 3000\nk = K()\n", "isinstance(k, T)", 2 * many * d.Element},
		{"from collections.abc import Sequence\n", "Sequence.own = 1", 2*d.NativeCall + 10*d.Element},
		{deep + "T = (int,) * 3000\n", "issubclass(K, T)", 2 * many * d.Element},
		{deep + "T = (E,) * 3000\n", "try: raise ValueError\n    except T: pass\n    except: pass", 2 * many * d.Element},
		{deep + "T = (KeyError,) * 3000\n", "try: raise E\n    except T: pass\n    except: pass", 2 * many * d.Element},
		{"class A: pass\n", attributes.String(), 64 * d.NativeCall},
		{
			"A = type('A', (), {'__slots__': tuple('s%d' % i for i in range(4000))})\nB = type('B', (A,), {'__slots__': ('x',)})\nC = type('C', (A,), {'__slots__': ('x',)})\nb = B()\n",
			"try: b.__class__ = C\n    except TypeError: pass", 1000 * d.Element,
		},
		{"A = type('A', (), {'__slots__': tuple('s%d' % i for i in range(4000))})\n", "type('B', (A,), {'__slots__': ('x',)})", 1000 * d.Element},
		{
			"import abc\nA = abc.ABCMeta('A', (), {'m%d' % i: abc.abstractmethod(lambda self: 1) for i in range(1000)})\n",
			"abc.ABCMeta('B', (A,), {})", 2000 * d.DictOp,
		},
		{deep + "g = ExceptionGroup('', [KeyError()])\nT = (E,) * 3000\n", "g.split(T)", 4 * many * d.Element},
		{
			"class A: __match_args__ = tuple('x%d' % i for i in range(1000))\na = A()\nfor n in A.__match_args__: setattr(a, n, 1)\n",
			"match a:\n        case A(" + strings.Repeat("_,", 1000) + "): pass", 2000 * d.DictOp,
		},
	} {
		src := tt.setup + "def once():\n    " + tt.body + "\n"
		p, err := pvm.Compile([]byte(src), "x.py", pvm.DefaultLimits())
		if err != nil {
			t.Fatalf("%.40s: %v", tt.body, err)
		}
		err = pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()).With(nil, func(m *vm.Machine) error {
			if res, err := m.Execute(p.Code, 1<<30); err != nil || res.Raised != nil {
				t.Fatalf("%.40s: %v %s", tt.body, err, res.Traceback)
			}
			res, err := m.CallFunction("once", nil, 1<<30)
			if err != nil || res.Raised != nil {
				t.Fatalf("%.40s: %v %s", tt.body, err, res.Traceback)
			}
			if res.Cycles < tt.least {
				t.Errorf("%.40s costs %d, want at least %d", tt.body, res.Cycles, tt.least)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongTracebacksEnd: what nobody caught is printed up to a bound, however long its strings
// are and however often they are in it.
func TestLongTracebacksEnd(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{
		"notes":  "big = 'x' * 100000\ne = ValueError()\ne.__notes__ = [big] * 20000\nraise e\n",
		"causes": "big = '\\n' * 100000\ne = None\nfor i in range(2000):\n    n = ValueError(big)\n    n.__cause__ = e\n    e = n\nraise e\n",
		"groups": "g = ValueError('x' * 5000)\nfor i in range(10):\n    g = ExceptionGroup('x' * 5000, [g] * 15)\nraise g\n",
	} {
		p, err := pvm.Compile([]byte(source), "x.py", pvm.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		res, err := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits()).Run(p, 100_000_000, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(res.Traceback); res.Raised == nil || n < 8<<10 || n > 128<<10 {
			t.Errorf("%s: a text of %d bytes", name, n)
		}
	}
}
