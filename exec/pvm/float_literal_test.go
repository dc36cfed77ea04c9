package pvm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/softfloat"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// TestFloatsAreReadOnce: a literal that takes a long division is divided out once, wherever it
// stands. It was up to three times, 78 to 188 ns a cycle.
func TestFloatsAreReadOnce(t *testing.T) {
	const literals = 64 * 8
	division := testing.AllocsPerRun(10, func() { softfloat.Parse("5e-324") })
	if division < 3 {
		t.Fatalf("%v allocations tell no division", division)
	}
	for name, src := range map[string]string{
		"a list that is no constant":  strings.Repeat("["+strings.Repeat("F,", 63)+"F,x]\n", 8),
		"a list of constants":         strings.Repeat("x in["+strings.Repeat("F,", 63)+"F]\n", 8),
		"a list after in":             strings.Repeat("x in["+strings.Repeat("F,", 63)+"F,x]\n", 8),
		"a tuple that is no constant": strings.Repeat("("+strings.Repeat("F,", 63)+"F,x)\n", 8),
		"negated":                     strings.Repeat("x in["+strings.Repeat("-F,", 63)+"F,x]\n", 8),
		"statements":                  strings.Repeat("F\n", literals),
		"conditions":                  strings.Repeat("if F:0\n", literals),
		"operands":                    strings.Repeat("x=F+x\n", literals),
		"annotations":                 strings.Repeat("x:F\n", literals),
		"patterns":                    "match x:\n" + strings.Repeat(" case {"+strings.Repeat("F:_,", 1)+"}:0\n", literals),
	} {
		allocs := func(literal string) float64 {
			text := []byte("x=0\n" + strings.ReplaceAll(src, "F", literal))
			return testing.AllocsPerRun(2, func() {
				if _, err := pvm.Compile(text, "a.py", pvm.DefaultLimits()); err != nil {
					t.Fatal(name, err)
				}
			})
		}
		if more := (allocs("5e-324") - allocs("1e-300")) / literals; more < division-1 || more > division+1 {
			t.Errorf("%s: %.1f allocations a literal, a division has %v", name, more, division)
		}
	}
}

// TestHardFloatsCostTokens: a literal that takes a long division costs two tokens more, of the
// bound as of the cycles.
func TestHardFloatsCostTokens(t *testing.T) {
	cost := func(src string) code.Cycles {
		_, spent, err := pvm.CompileWithin([]byte(src), "a.py", pvm.DefaultLimits(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return spent
	}
	more := 2 * code.DefaultCosts().Dynamic.Token
	for _, hard := range []string{"5e-324", "1.0000", "1e+023", "1_0e22"} {
		if got := cost("x="+hard+"\n") - cost("x=1e-300\n"); got != more {
			t.Errorf("%s costs %d cycles more, want %d", hard, got, more)
		}
	}
	lim := syntax.DefaultLimits()
	src := []byte("x=5e-324\n")
	for lim.Tokens = 1; ; lim.Tokens++ {
		mod, err := syntax.Parse(src, lim)
		if err == nil {
			if mod.Tokens != lim.Tokens || lim.Tokens != 7 {
				t.Errorf("%d tokens of %d", mod.Tokens, lim.Tokens)
			}
			break
		}
		if !errors.Is(err, syntax.ErrLimit) {
			t.Fatal(err)
		}
	}
}
