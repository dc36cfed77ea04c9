package scope

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

func parse(t testing.TB, src string) *syntax.Module {
	t.Helper()
	mod, err := syntax.Parse([]byte(src), syntax.DefaultLimits())
	if err != nil {
		t.Fatalf("%.80q: %v", src, err)
	}
	return mod
}

func analyze(t testing.TB, src string) (*Table, error) {
	t.Helper()
	return Analyze(parse(t, src), DefaultLimits())
}

// programs are compared with CPython's tables by TestTablesAreCPythons.
var programs = []string{
	"",
	"x = 1\ndef f(a, b=x, *c, d, e=1, **g): return a, x, y",
	"def f(a, /, b, *, c): pass",
	"def f():\n x = 1\n def g():\n  def h(): return x\n  return h\n return g",
	"def f():\n x = 1\n class C:\n  def g(self): return x\n return C",
	"def f():\n x = 1\n class C:\n  x = x\n  def g(self): return x\n return C",
	"def f():\n x = 1\n class C:\n  global x\n  def g(self): return x\n return C",
	"def f():\n x = 1\n class C:\n  nonlocal x\n  x = 2\n  def g(self): return x\n return C",
	"def f():\n x = 1\n def g():\n  global x\n  def h(): return x\n return x",
	"class C:\n def f(self): return super().f()",
	"class C:\n def f(self): return __class__",
	"class C:\n def f(self): return lambda: [super for a in b]",
	"class C:\n x = super\n y = __class__",
	"class C:\n def f(self):\n  class D:\n   def g(self): super()\n  super()",
	"class C:\n def f(self):\n  class D:\n   y = __class__\n   def g(self): return __class__",
	"class C:\n def f(): nonlocal __class__",
	"class C:\n def f(self):\n  __class__ = 1\n  return lambda: __class__",
	"class __C:\n def f(self, __a): return self.__b, __c, __d__\n class D:\n  __e = 1",
	"class __:\n __a = 1\n def f(): return __a",
	"class C:\n class __:\n  __a = 1",
	"class C:\n from __a import __b\n import __c.d, e.f as __g",
	"class C:\n def f(self):\n  try: pass\n  except E as __e: pass\n  global __h\n  __h = 1\n  def __i(): nonlocal __e",
	"[a for a in a]",
	"def f(b): return [a + b for a in b if a if b for c in a]",
	"class C:\n x = 1\n y = [x for z in x]",
	"{a: b for a, b in c}; {a for a in b}; (a for a in b)",
	"[[a for a in b] for b in c]",
	"[lambda: a for a in b]",
	"[a for x[i] in b]",
	"def f(): return [y := x for x in z], y",
	"def f(): return [[y := x for x in w] for w in z]",
	"def f():\n global y\n return [y := x for x in z]",
	"[y := x for x in z]",
	"def f():\n [lambda: (y := x) for x in z]",
	"def f():\n y = 1\n def g():\n  nonlocal y\n  [y := x for x in z]",
	"async def f():\n return [a async for a in b], (a async for a in b), [await a for a in b]",
	"async def f():\n yield 1",
	"async def f(): return [[await a for a in b] for b in c]",
	"def f(): yield\ndef g(): x = yield from f()\nlambda: (yield)",
	"def f():\n if 0: yield",
	"@d(lambda: a)\ndef f(x: (lambda: b) = (lambda: c), *y: e, z: g, **w: h) -> (lambda: i): pass",
	"from __future__ import annotations\ndef f(x: (lambda: b), y: [a for a in c]) -> d:\n z: e = 1\n return lambda: z",
	"'doc'\nfrom __future__ import annotations\nclass C:\n a: [b for b in c]\n def f(self: super) -> __class__: pass",
	"def f():\n a: int\n (b): int = 1\n c.d: int\n e[0]: int = 1\n return lambda: a",
	"def f():\n global x\n import x",
	"def f():\n import x\n global x",
	"def f():\n for x in y: pass\n else: z = lambda: x\n with a as b, c as (d, *e): pass\n del x, b",
	"def f():\n try: a = lambda: 1\n except E as e: c = lambda: e\n else: b = lambda: 2\n finally: d = lambda: 3",
	"def f(m):\n match m:\n  case [a, *b] if a: pass\n  case {'k': c, **d}: pass\n  case P(e, x=g) | P(g, x=e): pass\n  case (1 | 2) as h: pass\n  case Q.r: pass\n  case [*_]: pass\n return lambda: (a, b, c, d, e, g, h)",
	"def f(x):\n return f'{x!r:{y}} {(lambda: x)}'",
	"def f():\n from m import a, b as c\n return lambda: (a, c)",
	"from m import *",
	"def f():\n x += 1\n return lambda: x",
	"def f(*, a): return lambda *b, **c: a",
	"def f():\n def g():\n  class C:\n   def h():\n    nonlocal x\n    x = 1\n x = 2",
	"def f():\n def g(): return x, y\n def h(): return x\n x = y = 1",
}

// refusals are what CPython's symbol table refuses; the places are compared by
// TestTablesAreCPythons.
var refusals = []struct{ src, msg string }{
	{"def f(a, a): pass", "duplicate argument 'a' in function definition"},
	{"class C:\n def f(__a, *, __a): pass", "duplicate argument '__a' in function definition"},
	{"x = lambda a, *a: 1", "duplicate argument 'a' in function definition"},
	{"def f(a): global a", "name 'a' is parameter and global"},
	{"def f(a): nonlocal a", "name 'a' is parameter and nonlocal"},
	{"def f():\n a\n global a", "name 'a' is used prior to global declaration"},
	{"def f():\n def g():\n  a\n  nonlocal a\n a = 1", "name 'a' is used prior to nonlocal declaration"},
	{"def f():\n a = 1\n global a", "name 'a' is assigned to before global declaration"},
	{"def f():\n def g():\n  a = 1\n  nonlocal a\n a = 1", "name 'a' is assigned to before nonlocal declaration"},
	{"def f():\n a: int\n global a", "annotated name 'a' can't be global"},
	{"def f():\n def g():\n  a: int\n  nonlocal a\n a = 1", "annotated name 'a' can't be nonlocal"},
	{"def f():\n global a\n  \n a: int", "annotated name 'a' can't be global"},
	{"def f():\n def g():\n  nonlocal a\n  a: int\n a = 1", "annotated name 'a' can't be nonlocal"},
	{"x = 1\nnonlocal y", "nonlocal declaration not allowed at module level"},
	{"def f():\n x\n nonlocal b, a", "no binding for nonlocal 'b' found"},
	{"a = 1\ndef f():\n nonlocal a", "no binding for nonlocal 'a' found"},
	{"class C:\n a = 1\n def f(self):\n  nonlocal a", "no binding for nonlocal 'a' found"},
	{"class C:\n def f(self):\n  nonlocal __a", "no binding for nonlocal '_C__a' found"},
	{"def f():\n global a\n def g():\n  nonlocal a", "no binding for nonlocal 'a' found"},
	{"def g():\n a = 1\n def f():\n  global a\n  nonlocal a", "name 'a' is nonlocal and global"},
	{"def f():\n pass; from a import *", "import * only allowed at module level"},
	{"class C: from a import *", "import * only allowed at module level"},
	{"x = [(a := 1) for a in b]", "assignment expression cannot rebind comprehension iteration variable 'a'"},
	{"[b for b in c if (z := 0) for c[(z := 1)] in d]", "comprehension inner loop cannot rebind assignment expression target 'z'"},
	{"[[(a := b) for a in c] for b in d]", "assignment expression cannot rebind comprehension iteration variable 'a'"},
	{"[a for a in (b := c)]", "assignment expression cannot be used in a comprehension iterable expression"},
	{"[a for a in (lambda: (b := c))]", "assignment expression cannot be used in a comprehension iterable expression"},
	{"[a for a in b for c in (d := e)]", "assignment expression cannot be used in a comprehension iterable expression"},
	{"class C: [(a := b) for b in c]", "assignment expression within a comprehension cannot be used in a class body"},
	{"[b for b in c if (a := b) for a in d]", "comprehension inner loop cannot rebind assignment expression target 'a'"},
	{"def f(): [(yield) for a in b]", "'yield' inside list comprehension"},
	{"def f(): {(yield) for a in b}", "'yield' inside set comprehension"},
	{"def f(): {a: (yield) for a in b}", "'yield' inside dict comprehension"},
	{"def f(): ((yield from a) for a in b)", "'yield' inside generator expression"},
	{"from __future__ import annotations\ndef f(a: (b := 1)): pass", "'named expression' can not be used within an annotation"},
	{"from __future__ import annotations\ndef f() -> (yield): pass", "'yield expression' can not be used within an annotation"},
	{"from __future__ import annotations\nasync def f():\n a: (await b)", "'await expression' can not be used within an annotation"},
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		_, err := analyze(t, c.src)
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, syntax.ErrSyntax) || e.Msg != c.msg {
			t.Errorf("%q: %v, want %q", c.src, err, c.msg)
		}
	}
}

// describe finds a name in the scope at the end of a dotted path of names.
func describe(t *testing.T, table *Table, path, name string) string {
	t.Helper()
	s := table.Module
	for step := range strings.SplitSeq(path, ".") {
		if step == "" {
			continue
		}
		var next *Scope
		for _, c := range s.Children {
			if c.Name == step {
				next = c
			}
		}
		if next == nil {
			t.Fatalf("no scope %q in %s", step, s.Name)
		}
		s = next
	}
	sym := s.Lookup(name)
	if sym == nil {
		return "absent"
	}
	out := [...]string{"", "local", "explicit", "implicit", "free", "cell"}[sym.Resolution]
	if sym.Owner != nil {
		out += " of " + sym.Owner.Name
	}
	return out
}

// TestResolutions asks where a name is, and whose cell it reads.
func TestResolutions(t *testing.T) {
	const nest = "def f():\n x = 1\n def g():\n  def h(): return x\n"
	for _, c := range []struct{ src, path, name, want string }{
		{nest, "f", "x", "cell"},
		{nest, "f.g", "x", "free of f"},
		{nest, "f.g.h", "x", "free of f"},
		{nest, "", "x", "absent"},
		{nest, "", "f", "local"},
		{"def f():\n x = 1\n class C:\n  x = 2\n  def g(self): return x", "f.C", "x", "local of f"},
		{"def f():\n x = 1\n class C:\n  x = 2\n  def g(self): return x", "f.C.g", "x", "free of f"},
		{"class C:\n x = 1\n def f(self): return x", "C.f", "x", "implicit"},
		{"class C:\n def f(self): super()", "C.f", "__class__", "free of C"},
		{"class C:\n def f(self): super()", "C", "__class__", "absent"},
		{"class C:\n def f(self): self.x = __x", "C.f", "_C__x", "implicit"},
		{"def f():\n global x\n x = 1", "f", "x", "explicit"},
		{"def f():\n global x\n x = 1", "", "x", "explicit"},
		{"def f(): return [y := a for a in b]", "f", "y", "cell"},
		{"def f(): return [y := a for a in b]", "f.listcomp", "y", "free of f"},
		{"[y := a for a in b]", "listcomp", "y", "explicit"},
	} {
		table, err := analyze(t, c.src)
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if got := describe(t, table, c.path, c.name); got != c.want {
			t.Errorf("%q: %s in %q is %s, want %s", c.src, c.name, c.path, got, c.want)
		}
	}
}

// TestScopesAreFound looks up every node that introduces a scope.
func TestScopesAreFound(t *testing.T) {
	mod := parse(t, "class C:\n async def f(self): return [a for a in (lambda: {b for b in c})()]\ndef g(): {a: b for a in c}; (a for a in b)")
	table, err := Analyze(mod, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	var visit func(syntax.Node)
	visit = func(n syntax.Node) {
		if s := table.Scope(n); s != nil {
			found[s.Name] = true
			if s.Node != n {
				t.Errorf("the scope %s knows another node than its own", s.Name)
			}
		}
		syntax.Children(n, visit)
	}
	for _, s := range mod.Body {
		visit(s)
	}
	for _, name := range []string{"C", "f", "listcomp", "lambda", "setcomp", "g", "dictcomp", "genexpr"} {
		if !found[name] {
			t.Errorf("no node has the scope %s", name)
		}
	}
	method := table.Scope(mod.Body[0].(*syntax.ClassDef).Body[0])
	for name, want := range map[string]string{"__a": "_C__a", "__a__": "__a__", "a": "a"} {
		if got := table.Mangle(method, name); got != want {
			t.Errorf("%s in a method is %s, want %s", name, got, want)
		}
	}
}

// TestLimits meets each limit with a program that would make memory grow faster
// than its source.
func TestLimits(t *testing.T) {
	var through, private strings.Builder
	for i := range 60 {
		fmt.Fprintf(&through, "%sdef f():\n%s a%d = 1\n", strings.Repeat(" ", i), strings.Repeat(" ", i), i)
	}
	fmt.Fprintf(&through, "%s[", strings.Repeat(" ", 60))
	for i := range 60 {
		fmt.Fprintf(&through, "a%d,", i)
	}
	through.WriteString("]\n")
	fmt.Fprintf(&private, "class %s:\n", strings.Repeat("C", 1000))
	for i := range 20 {
		fmt.Fprintf(&private, " __a%d = __a%d\n", i, i)
	}
	for _, c := range []struct {
		name, src string
		lim       Limits
	}{
		{"scopes", strings.Repeat("lambda:", 9) + "0", Limits{Scopes: 9, Symbols: 100, MangledBytes: 1}},
		{"symbols", "a, b, c, d", Limits{Scopes: 1, Symbols: 3, MangledBytes: 1}},
		{"symbols that pass through", through.String(), Limits{Scopes: 100, Symbols: 1000, MangledBytes: 1}},
		{"private names", private.String(), Limits{Scopes: 2, Symbols: 100, MangledBytes: 10000}},
		{"no limit", "a", Limits{}},
	} {
		_, err := Analyze(parse(t, c.src), c.lim)
		if err == nil || c.lim.Scopes > 0 && !errors.Is(err, syntax.ErrLimit) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := analyze(t, c.src); err != nil {
			t.Errorf("%s under the limits of the protocol: %v", c.name, err)
		}
	}
}

// FuzzAnalyze looks for panics, and for tables in which a cell has no reader.
func FuzzAnalyze(tf *testing.F) {
	f := soak.New(tf, soak.Python()...)
	for _, src := range programs {
		f.Add(src)
	}
	for _, c := range refusals {
		f.Add(c.src)
	}
	f.AddSources("..")
	f.Fuzz(func(t *testing.T, src string) {
		mod, err := syntax.Parse([]byte(src), syntax.DefaultLimits())
		if err != nil {
			return
		}
		table, err := Analyze(mod, DefaultLimits())
		if err != nil {
			return
		}
		f.Past()
		checkScope(t, table.Module)
	})
}

// checkScope checks that every symbol is resolved, and that the cells that a
// scope wants are in the scope around it.
func checkScope(t *testing.T, s *Scope) {
	t.Helper()
	for _, sym := range s.Symbols {
		if sym.Resolution == 0 || s.Lookup(sym.Name) != sym {
			t.Errorf("%s in %s is not resolved", sym.Name, s.Name)
		}
		if (sym.Owner != nil) != (sym.Resolution == Free || sym.Has(FreeClass)) {
			t.Errorf("%s in %s: owner %v with resolution %d", sym.Name, s.Name, sym.Owner, sym.Resolution)
		}
		if sym.Owner == nil || sym.Owner == s.Parent && s.Parent.Kind == Class {
			continue
		}
		if around := s.Parent.Lookup(sym.Name); around == nil || around.Owner != sym.Owner && (s.Parent != sym.Owner || around.Resolution != Cell) {
			t.Errorf("%s in %s: the scope around does not have its cell", sym.Name, s.Name)
		}
	}
	for _, c := range s.Children {
		checkScope(t, c)
	}
}

// TestSecondBindingOfANameInATarget: CPython refuses it, at the first binding; a name that is
// in a target is looked for each time it is bound.
func TestSecondBindingOfANameInATarget(t *testing.T) {
	const src, want = "x = [((z := 0), (z := 1)) for c[z] in d]", "cannot rebind comprehension iteration variable 'z'"
	if _, err := analyze(t, src); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
