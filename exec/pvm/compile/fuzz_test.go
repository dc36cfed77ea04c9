package compile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// FuzzSource looks for panics and for code that is not valid or not the same
// twice.
func FuzzSource(tf *testing.F) {
	f := soak.New(tf, soak.Python()...)
	files, err := filepath.Glob("testdata/*.py")
	if err != nil || len(files) == 0 {
		f.Fatal("no programs", err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	f.Add("def f():\n while 1:\n  try: return 1\n  finally: break\n")
	f.Add("async def f():\n async with a as b, c:\n  return [x async for x in y]\n")
	f.Add("try: pass\nexcept* A as e: del e\nfinally: x\n")
	// Verify refuses text that is not UTF-8, so these must not come to it.
	f.Add("def f():\n '\\ud800'\n")
	f.Add("class C:\n '\\U0000dfff'\n")
	f.Add("'\\ud83d' '\\ude00'\n")
	f.Add("from __future__ import annotations\ndef f(x: f'\\udbff{x}'): pass\n")
	f.AddSources("..")
	f.Fuzz(func(t *testing.T, src string) {
		o, err := Source([]byte(src), "f.py", DefaultLimits())
		if err != nil {
			return
		}
		f.Past()
		if err := code.Verify(o); err != nil {
			t.Errorf("%q: %v", src, err)
		}
		again, err := Source([]byte(src), "f.py", DefaultLimits())
		if err != nil || code.Disassemble(o) != code.Disassemble(again) {
			t.Errorf("%q: not the same twice: %v", src, err)
		}
	})
}

// TestSize counts instructions of programs that a careless compiler makes grow
// faster than their source.
func TestSize(t *testing.T) {
	nest := func(head, mid, tail string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(" ", i+1) + head + "\n")
		}
		b.WriteString(strings.Repeat(" ", n+1) + mid + "\n")
		for i := n - 1; i >= 0 && tail != ""; i-- {
			b.WriteString(strings.Repeat(" ", i+1) + tail + "\n")
		}
		return b.String()
	}
	for _, c := range []struct {
		name string
		src  func(n int) string
		each int // instructions for one more level
	}{
		{"nested finally", func(n int) string { return "def f():\n" + nest("try:", "return 1", "finally: g()", n) }, 30},
		{"nested with", func(n int) string { return "def f():\n" + nest("with a:", "return 1", "", n) }, 40},
		{"long with", func(n int) string { return "def f():\n with " + strings.Repeat("a, ", n) + "a: return 1\n" }, 40},
		{"chain", func(n int) string { return "x = a" + strings.Repeat(" < a", n) + "\n" }, 4},
		{"sum", func(n int) string { return "x = a" + strings.Repeat(" + a", n) + "\n" }, 2},
		{"returns in with", func(n int) string {
			return "def f():\n with a:\n  with b:\n" + strings.Repeat("   if c: return 1\n", n)
		}, 6},
	} {
		sizes := []int{}
		for _, n := range []int{10, 20} {
			o, err := Source([]byte(c.src(n)), "f.py", DefaultLimits())
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if err := code.Verify(o); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			sizes = append(sizes, count(o))
		}
		if grown := sizes[1] - sizes[0]; grown > 10*c.each {
			t.Errorf("%s: ten more cost %d instructions, want at most %d", c.name, grown, 10*c.each)
		}
	}
}

// TestLimits meets each limit.
func TestLimits(t *testing.T) {
	many := func(n int, each string) string { return strings.Repeat(each, n) }
	names := ""
	for i := range 50 {
		names += strings.Repeat("a", i+1) + "\n"
	}
	for _, c := range []struct {
		name, src string
		set       func(*Limits)
	}{
		{"registers", "a, b, c, d, e, g = x", func(l *Limits) { l.Registers = 5 }},
		{"constants", "f(1, 2, 3, 4)", func(l *Limits) { l.Constants = 3 }},
		{"names", names, func(l *Limits) { l.Names = 49 }},
		{"instructions", many(100, "f()\n"), func(l *Limits) { l.Instructions = 200 }},
		{"code objects", many(10, "lambda: 1\n"), func(l *Limits) { l.Codes = 10 }},
		{"handlers", many(10, "try: f()\nexcept: pass\n"), func(l *Limits) { l.Handlers = 9 }},
		{"name bytes", "def " + many(1000, "f") + "():\n" + many(10, " def g(): pass\n"), func(l *Limits) { l.NameBytes = 5000 }},
	} {
		lim := DefaultLimits()
		if _, err := Source([]byte(c.src), "f.py", lim); err != nil {
			t.Errorf("%s under the limits of the protocol: %v", c.name, err)
		}
		c.set(&lim)
		if _, err := Source([]byte(c.src), "f.py", lim); !errors.Is(err, syntax.ErrLimit) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
