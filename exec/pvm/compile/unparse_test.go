package compile

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
)

// annotations are written in ways that Python's text of them is not.
var annotations = []string{
	"a.b [ 'c' ]", "list[int]|None", "(a+b)*c**-d**e", "-(-x)", "not (a and b) or c", "a<b<=c is not d",
	"x if y else (z if w else v)", "lambda a, /, b=1, *c, d=2, **e: (a, b)", "lambda *, k: k", "lambda *a: a", "lambda **k: k", "lambda: 1", "f(*a, k=1, **b)",
	"f(x for x in y)", "[x for x in y if z]", "{a: b for a, b in c}", "{1, 2}", "{'k': v, **w}", "(1,)", "()",
	"a[1:2, ::3]", "a[b, c]", "a[(b, c)]", "1.5", "1e400", "'it\\'s'", "b'\\x00'", "...", "f'{a!r:>{b}} {{'", "1 .real", "(a, b)",
	"a[*b]", "~a @ b // c % d", "(a | b) & c ^ d << 1 >> 2", "u'x'", "10**20", "a if b else c",
}

// TestUnparse compares text annotations with Python's.
func TestUnparse(t *testing.T) {
	src := "from __future__ import annotations\n"
	for _, a := range annotations {
		src += "def f(x: " + a + "): pass\n"
	}
	o, err := Source([]byte(src), "a.py", DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, in := range o.Instrs {
		// Two constants make each dict: the name x and the text.
		if in.Op == code.BuildDict {
			got = append(got, o.Consts[o.Instrs[i-1].Wide()].Text)
		}
	}
	out := string(cpython.Run(t, strings.ReplaceAll(src, "): pass\n", "): pass\nprint(f.__annotations__['x'])\n"), nil))
	want := strings.Split(strings.TrimSpace(out), "\n")
	if len(got) != len(want) || len(got) != len(annotations) {
		t.Fatalf("%d texts, CPython has %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s is %s, want %s", annotations[i], got[i], want[i])
		}
	}
}
