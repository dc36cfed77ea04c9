package compile

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

var all = flag.Bool("all", false, "compile every file of Python's library instead of a sample")

// TestLibrary compiles CPython's standard library: what the parser takes, the
// compiler takes, and the code is valid. -args -all compiles every file.
func TestLibrary(t *testing.T) {
	_, files := cpython.Library(t)
	step := 1
	if !*all {
		step = 12
	}
	lim := DefaultLimits()
	lim.Syntax.SourceBytes, lim.Syntax.Tokens, lim.Syntax.Constants, lim.Syntax.TreeHeight = 8<<20, 1<<22, 1<<20, 4000
	lim.Scope.Symbols = 1 << 20
	compiled, unread, refused, instrs := 0, 0, map[string]int{}, 0
	for i := 0; i < len(files); i += step {
		src, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		o, err := Source(src, files[i], lim)
		var e *Error
		switch {
		case err == nil:
			compiled++
			instrs += count(o)
			if err := code.Verify(o); err != nil {
				t.Errorf("%s: %v", files[i], err)
			}
		case errors.As(err, &e):
			refused[e.Msg]++
			if !errors.Is(err, syntax.ErrUnsupported) {
				t.Errorf("%s: %v", files[i], err)
			}
		default:
			unread++
		}
	}
	t.Logf("%d files compiled to %d instructions, %d not taken by the parser, refused: %v", compiled, instrs, unread, refused)
	if compiled == 0 {
		t.Error("nothing was compiled")
	}
}

func count(o *code.Object) int {
	n := len(o.Instrs)
	for _, c := range o.Codes {
		n += count(c)
	}
	return n
}
