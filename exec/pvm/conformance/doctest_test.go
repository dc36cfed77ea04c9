package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// example is a statement of a doctest and what it shows.
type example struct{ code, want string }

// examples reads the statements of a doctest.
func examples(text string) (out []example) {
	open := false // of an example: no empty line since
	for _, l := range strings.Split(text, "\n") {
		last := len(out) - 1
		switch code, ok := strings.CutPrefix(l, ">>> "); {
		case ok:
			out, open = append(out, example{code: code}), true
		case open && strings.HasPrefix(l, "... "):
			out[last].code += "\n" + l[4:]
		case strings.TrimSpace(l) == "":
			open = false
		case open:
			out[last].want += l + "\n"
		}
	}
	return out
}

// TestIEEE754Doctest runs CPython's page on IEEE 754: what its examples show is
// shown here, of an exception its class, whose text is another in each version.
func TestIEEE754Doctest(t *testing.T) {
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{t: t, engine: pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())}
	var src strings.Builder
	list := examples(string(vectors.Read(t, "float/cpython/ieee754.txt")))
	var shown []string
	for _, e := range list {
		if strings.Contains(e.code, "import float_info") {
			e.code = "class FI:\n    epsilon = 2.0 ** -52" // sys is not in the library
		}
		if e.want == "" {
			src.WriteString(e.code + "\n")
			continue
		}
		fmt.Fprintf(&src, "try:\n    print(repr((%s)))\nexcept Exception as e:\n    print(type(e).__name__)\n", e.code)
		want := e.want
		if strings.HasPrefix(want, "Traceback") {
			lines := strings.Split(strings.TrimSpace(want), "\n")
			name, _, _ := strings.Cut(lines[len(lines)-1], ":")
			want = name + "\n"
		}
		shown = append(shown, want)
	}
	got, unfit := p.ours(src.String())
	lines := strings.SplitAfter(got, "\n")
	if unfit || len(lines) != len(shown)+1 || len(shown) < 45 {
		t.Fatalf("%d examples, %d lines: %s", len(shown), len(lines)-1, got)
	}
	for i, want := range shown {
		if lines[i] != want {
			t.Errorf("example %d: %q, want %q", i, lines[i], want)
		}
	}
}
