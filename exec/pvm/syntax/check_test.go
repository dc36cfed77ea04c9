package syntax

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// checks are sources that Parse takes and Check refuses, as CPython's symbol
// table and compiler do.
var checks = []struct{ src, msg string }{
	{"return", "'return' outside function"},
	{"class C:\n return", "'return' outside function"},
	{"break", "'break' outside loop"},
	{"for a in b: pass\nelse: break", "'break' outside loop"},
	{"while a:\n def f(): continue", "'continue' not properly in loop"},
	{"for a in b:\n try: pass\n except* E: break", "cannot appear in an except* block"},
	{"def f():\n try: pass\n except* E: return", "cannot appear in an except* block"},
	{"try: pass\nexcept: pass\nexcept E: pass", "default 'except:' must be last"},
	{"yield", "'yield' outside function"},
	{"await x", "'await' outside function"},
	{"def f(): await x", "'await' outside async function"},
	{"async def f(): yield from x", "'yield from' inside async function"},
	{"async def f():\n yield\n return 1", "'return' with value in async generator"},
	{"def f(): [x async for x in y]", "asynchronous comprehension outside of an asynchronous function"},
	{"def f():\n async for x in y: pass", "'async for' outside async function"},
	{"def f():\n async with x: pass", "'async with' outside async function"},
	{"def f(a, a): pass", "duplicate argument 'a' in function definition"},
	{"lambda a, *, a: 1", "duplicate argument 'a' in function definition"},
	{"f(a=1, a=2)", "keyword argument repeated: a"},
	{"def f(a): global a", "name 'a' is parameter and global"},
	{"def f():\n a\n global a", "name 'a' is used prior to global declaration"},
	{"def f():\n a = 1\n global a", "name 'a' is assigned to before global declaration"},
	{"def f():\n a: int\n global a", "annotated name 'a' can't be global"},
	{"def f():\n global a\n a: int", "annotated name 'a' can't be global"},
	{"nonlocal a", "nonlocal declaration not allowed at module level"},
	{"def f(): nonlocal a", "no binding for nonlocal 'a' found"},
	{"def g():\n a = 1\n def f():\n  global a\n  nonlocal a", "name 'a' is nonlocal and global"},
	{"def f(): from a import *", "import * only allowed at module level"},
	{"x\nfrom __future__ import annotations", "from __future__ imports must occur at the beginning of the file"},
	{"from __future__ import nothing", "future feature nothing is not defined"},
	{"*a = b", "starred assignment target must be in a list or tuple"},
	{"*a, *b = c", "multiple starred expressions in assignment"},
	{"*a", "can't use starred expression here"},
	{"__debug__ = 1", "cannot assign to __debug__"},
	{"del __debug__", "cannot delete __debug__"},
	{"[(a := 1) for a in b]", "assignment expression cannot rebind comprehension iteration variable 'a'"},
	{"[a for a in (b := c)]", "assignment expression cannot be used in a comprehension iterable expression"},
	{"class C: [(a := b) for b in c]", "assignment expression within a comprehension cannot be used in a class body"},
	{"[[(a := b) for a in c] for b in d]", "assignment expression cannot rebind comprehension iteration variable 'a'"},
	{"def f(): [(yield) for a in b]", "'yield' inside list comprehension"},
	{"match a:\n case b: pass\n case c: pass", "name capture 'b' makes remaining patterns unreachable"},
	{"match a:\n case _ | 1: pass", "wildcard makes remaining patterns unreachable"},
	{"match a:\n case [b, b]: pass", "multiple assignments to name 'b' in pattern"},
	{"match a:\n case [b] | 1: pass", "alternative patterns bind different names"},
	{"match a:\n case [*b, *c]: pass", "multiple starred names in sequence pattern"},
	{"match a:\n case {1: b, True: c}: pass", "mapping pattern checks duplicate key"},
	{"match a:\n case {-2.0: b, -2: c}: pass", "mapping pattern checks duplicate key"},
	{"match a:\n case C(x=b, x=c): pass", "attribute name repeated in class pattern: x"},
	{"match a:\n case f'b': pass", "patterns may only match literals and attribute lookups"},
}

func TestChecks(t *testing.T) {
	for _, c := range checks {
		err := Check(parse(t, c.src))
		if !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%q: %v, want %q", c.src, err, c.msg)
		}
	}
}

func TestChecksAccept(t *testing.T) {
	for _, src := range []string{
		"for a in b:\n if c: break\n else: continue",
		"for a in b:\n try: pass\n except* E:\n  while c: break",
		"async def f():\n async with a: pass\n return [b async for b in c]",
		"def f(): return (a async for a in b)",
		"def f():\n a = 1\n def g():\n  nonlocal a\n  a = 2",
		"class C:\n def f(__a, _C__b): pass",
		"def f():\n if (a := b): pass\n return [c := d for d in a]",
		"def f(*args: *Ts): pass",
		"match a:\n case 1 | _: pass",
		"match a:\n case [b, 1] | [1, b] if c: pass\n case _: pass",
		"'doc'\nfrom __future__ import annotations",
		"a[*b] = [*c]",
		"match a:\n case {1.5: b, 1: c, 0.1: d, -1: e}: pass",
		"class C:\n def f(): nonlocal __class__",
		"global x\nx = 1",
		"def f():\n import x\n global x",
		"def f():\n from m import x\n def g(): nonlocal x",
	} {
		if err := Check(parse(t, src)); err != nil {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// TestCheckBoundsPrivateNames has a class name that every private name in the
// class would repeat.
func TestCheckBoundsPrivateNames(t *testing.T) {
	var src strings.Builder
	src.WriteString("class " + strings.Repeat("C", 1<<19) + ":\n")
	for i := range 1000 {
		fmt.Fprintf(&src, " __a%d = 0\n", i)
	}
	if err := Check(parse(t, src.String())); !errors.Is(err, ErrLimit) {
		t.Errorf("%v, want a limit", err)
	}
}

// TestCheckLooksForANonlocalOnce: a function that declares a name again and again asks
// once which function around it binds the name.
func TestCheckLooksForANonlocalOnce(t *testing.T) {
	c := &checker{}
	c.scope = newScope(nil, moduleScope, "")
	c.stmts(parse(t, "def f(z, y):\n def g():\n  nonlocal z"+strings.Repeat(",z,y", 100)+"\n").Body)
	declared := 0
	for _, s := range c.scopes {
		declared += len(s.nonlocals)
	}
	if declared != 2 {
		t.Errorf("two names are looked for %d times", declared)
	}
	if c.bindings(); c.err != nil {
		t.Error(c.err)
	}
}
