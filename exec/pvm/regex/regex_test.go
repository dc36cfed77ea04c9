package regex

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
)

func mustCompile(t testing.TB, pattern string, flags Flag) *Program {
	t.Helper()
	p, err := Compile(pattern, flags, false, DefaultLimits())
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	return p
}

// TestExponentialPatternsMeetTheBudget: patterns that would run for ages stop
// exactly when the steps are used up, and never hold more stack than allowed.
func TestExponentialPatternsMeetTheBudget(t *testing.T) {
	subject := Text(strings.Repeat("a", 60) + "!")
	for _, pattern := range []string{`(a+)+$`, `(a|a)*$`, `(a|aa)+$`, `(?:a?){60}a{60}$`, `(.*)(.*)(.*)(.*)(.*)(.*)\1x`, `(?:){16777216}`, `((a*)*)*$`} {
		b := &Budget{Steps: 200_000, Stack: 1 << 16}
		_, ok, err := mustCompile(t, pattern, 0).Search(subject, 0, subject.Len(), b)
		if ok || !errors.Is(err, ErrBudget) && !errors.Is(err, ErrStack) {
			t.Errorf("%s: %v, %v", pattern, ok, err)
		}
		if errors.Is(err, ErrBudget) && b.Steps != 0 || b.Peak > b.Stack {
			t.Errorf("%s: %d steps left, peak %d", pattern, b.Steps, b.Peak)
		}
	}
}

// TestStackIsBounded: a long subject meets the limit of the stack, not Go's.
func TestStackIsBounded(t *testing.T) {
	subject := Text(strings.Repeat("ab", 1<<18))
	b := &Budget{Steps: 1 << 40, Stack: 1 << 20}
	if _, _, err := mustCompile(t, `(?:a|b)*c`, 0).Match(subject, 0, subject.Len(), b); !errors.Is(err, ErrStack) {
		t.Fatal(err)
	}
	if b.Peak != 1<<20 {
		t.Errorf("peak %d", b.Peak)
	}
}

// TestStepsAreAFunctionOfTheRun: the same run takes the same steps with scratch
// memory that is new or used, and with exactly the steps it needs, not one less.
func TestStepsAreAFunctionOfTheRun(t *testing.T) {
	subject := Text("key = value; other=[1, 2, 3]; été = ça")
	for _, pattern := range []string{`(\w+)\s*=\s*([^;]+)`, `(?i)É(?=\w+)`, `(a|b|\[)+?1`, `(?>\w+)\W*+x`, `(?<!k)e(y|r)`, `z`} {
		p := mustCompile(t, pattern, 0)
		used := &Budget{Steps: 1 << 20, Stack: 1 << 16}
		mustCompile(t, `(((a)|.)*)x`, 0).Search(subject, 0, subject.Len(), used)
		used.Steps = 1 << 20
		g, ok, err := p.Search(subject, 0, subject.Len(), used)
		if err != nil {
			t.Fatal(err)
		}
		steps := 1<<20 - used.Steps
		exact := &Budget{Steps: steps, Stack: 1 << 16}
		h, ok2, err := p.Search(subject, 0, subject.Len(), exact)
		if err != nil || ok != ok2 || !reflect.DeepEqual(g, h) || exact.Steps != 0 {
			t.Errorf("%s: %v %v %v, %d steps left", pattern, h, ok2, err, exact.Steps)
		}
		if _, _, err := p.Search(subject, 0, subject.Len(), &Budget{Steps: steps - 1, Stack: 1 << 16}); !errors.Is(err, ErrBudget) {
			t.Errorf("%s: one step less gives %v", pattern, err)
		}
	}
}

// TestLimits: each limit is an error of its kind.
func TestLimits(t *testing.T) {
	limits := DefaultLimits()
	limits.ClassSpans = 1 << 12
	for name, pattern := range map[string]string{
		"length":  strings.Repeat("a", 1<<16+1),
		"nesting": strings.Repeat("(", 200) + strings.Repeat(")", 200),
		"groups":  strings.Repeat("()", 1<<12+1),
		"classes": strings.Repeat("[Ā-ſ]", 1000),
		"repeat":  "a{16777217}",
		"look":    strings.Repeat("(?=", 150) + strings.Repeat(")", 150),
	} {
		if _, err := Compile(pattern, IgnoreCase, false, limits); err == nil || err.Kind != Limit {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := DefaultLimits().Check(); err != nil {
		t.Error(err)
	}
	if err := (Limits{}).Check(); err == nil {
		t.Error("limits of zero pass")
	}
}

// TestEscape: what is escaped matches itself.
func TestEscape(t *testing.T) {
	const text = "a.b*c(d)[e]{f}?+-|^$\\&~# \t\n\r\v\fé"
	if got, want := Escape("a.b c-d"), `a\.b\ c\-d`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s := Text(text)
	if _, ok, err := mustCompile(t, Escape(text), Verbose).FullMatch(s, 0, s.Len(), &Budget{Steps: 1000, Stack: 1000}); !ok || err != nil {
		t.Error(ok, err)
	}
}

// FuzzPattern: no pattern and no subject makes the package panic, answers are in
// order, and the steps are those of a second run.
func FuzzPattern(tf *testing.F) {
	f := soak.New(tf, strings.Fields(`( ) [ ] [^ { } * + ? *? ++ {2,3} {,5}? {0} | ^ $ . \\ \b \B \d \w \s \A \Z \1 \g<a> (?: (?= (?! (?<= (?<! (?> (?P<a> (?P=a) (?(1) (?i) (?-i: (?x) (?s) (?m) (?a) (?L) (?u) (?# a-z A-Z 0-9 é ß \u1234 \x41 \N{DASH} a b ab`)...)
	for _, pattern := range []string{`(a|b)*?c\1`, `(?P<x>[^\W\d]+)(?(x)\b|$)`, `(?<=ab)(?!c)(?>d++)`, `(?ix) a # b`, `[]a-\d]`, `\N{DASH}`, `(?(1)a|b|c)`, `x{2,1}`} {
		f.Add(pattern, "abcabc é\n", uint32(0), false)
	}
	f.Fuzz(func(t *testing.T, pattern, subject string, flags uint32, isBytes bool) {
		p, e := Compile(pattern, Flag(flags), isBytes, DefaultLimits())
		if e != nil {
			if e.Error() == "" || e.Pos > len(pattern) {
				t.Fatalf("error %q at %d", e.Error(), e.Pos)
			}
			return
		}
		f.Past()
		if _, e := ParseReplacement(subject, p, DefaultLimits()); e != nil && e.Error() == "" {
			t.Fatal("an error without text")
		}
		s := Text(subject)
		if isBytes {
			s = Bytes([]byte(subject))
		}
		b, again := &Budget{Steps: 20_000, Stack: 1 << 14}, &Budget{Steps: 20_000, Stack: 1 << 14}
		x, y := p.Scan(s, 0, s.Len()), p.Scan(s, 0, s.Len())
		for last := 0; ; {
			g, ok, err := x.Next(b)
			h, ok2, err2 := y.Next(again)
			if ok != ok2 || err != err2 || !reflect.DeepEqual(g, h) || b.Steps != again.Steps || b.Peak > b.Stack {
				t.Fatalf("%v %v %v, then %v %v %v", g, ok, err, h, ok2, err2)
			}
			if !ok || err != nil {
				return
			}
			if g.Start() < last || g.End() < g.Start() || g.End() > s.Len() {
				t.Fatalf("%v after %d", g, last)
			}
			last = g.End()
		}
	})
}
