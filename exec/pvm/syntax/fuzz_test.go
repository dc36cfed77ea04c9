package syntax

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/soak"
)

// FuzzParse feeds anything: no panic, every error typed and placed, limits
// met, and what is accepted can be checked, walked, and printed as source that
// gives the same tree.
func FuzzParse(tf *testing.F) {
	f := soak.New(tf, soak.Python()...)
	for _, c := range refusals {
		if len(c.src) < 200 {
			f.Add([]byte(c.src))
		}
	}
	for _, c := range checks {
		f.Add([]byte(c.src))
	}
	for _, c := range trees {
		f.Add([]byte(c.src))
	}
	f.AddSources("..")
	lim := DefaultLimits()
	lim.SourceBytes, lim.Tokens, lim.Depth, lim.TreeHeight, lim.Constants = 4096, 1000, 30, 40, 100
	f.Fuzz(func(t *testing.T, src []byte) {
		mod, err := Parse(src, lim)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Line < 1 || e.Col < 0 || e.Msg == "" {
				t.Fatalf("%q: %#v", src, err)
			}
			return
		}
		f.Past()
		if printed, ok := printModule(mod); ok {
			again, err := Parse([]byte(printed), roomy())
			if err != nil {
				t.Fatalf("%q printed as %q: %v", src, printed, err)
			}
			if a, b := withoutPlaces(dump(mod)), withoutPlaces(dump(again)); a != b {
				t.Fatalf("%q printed as %q:\n%s\n%s", src, printed, a, b)
			}
		}
		if err := Check(mod); err != nil && !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("%q: %#v", src, err)
		}
		literals := 0
		var walk func(n Node, height int)
		walk = func(n Node, height int) {
			if height > lim.TreeHeight {
				t.Fatalf("%q: tree higher than %d", src, lim.TreeHeight)
			}
			if _, ok := n.(*Constant); ok {
				literals++
			}
			Children(n, func(n Node) { walk(n, height+1) })
		}
		for _, s := range mod.Body {
			walk(s, 1)
		}
		if literals > lim.Constants {
			t.Fatalf("%q: %d literals", src, literals)
		}
	})
}
