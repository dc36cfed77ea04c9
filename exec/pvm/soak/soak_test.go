package soak

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// target is a target with rows of source.
func target(rows ...[]any) *F { return &F{words: Python(), rows: rows} }

// TestInputsFollowTheSeed: the same number gives the same input, most numbers
// give different ones, and no string grows without end.
func TestInputsFollowTheSeed(t *testing.T) {
	long := strings.Repeat("def f(x):\n    return x + 1\n", 1000)
	f, again := target([]any{long, uint32(1), []byte("ab")}, []any{"a = 1\n", uint32(2), []byte{}}), target([]any{long, uint32(1), []byte("ab")}, []any{"a = 1\n", uint32(2), []byte{}})
	seen := map[string]bool{}
	for i := range uint64(2000) {
		in := f.input(3, i)
		if !reflect.DeepEqual(in, again.input(3, i)) {
			t.Fatalf("input %d is another one the second time", i)
		}
		if n := len(in[0].(string)); n > InputLen && in[0] != long {
			t.Fatalf("input %d has %d bytes", i, n)
		}
		seen[corpusEntry(in)] = true
	}
	if len(seen) < 1000 {
		t.Errorf("only %d inputs of 2000 differ", len(seen))
	}
}

// TestMutationsKeepWhatStands: a text of few words mostly keeps its signs where
// they are, so that some mutated programs are programs.
func TestMutationsKeepWhatStands(t *testing.T) {
	const src = "def f(a, b):\n    return a + b * 2\n"
	f := target([]any{src})
	whole, changed := 0, 0
	for i := range uint64(1000) {
		s := f.input(1, i)[0].(string)
		if s != src {
			changed++
		}
		if strings.HasPrefix(s, "def ") && strings.HasSuffix(s, "\n") && strings.Count(s, "(") == strings.Count(s, ")") {
			whole++
		}
	}
	if changed < 700 || whole < 300 {
		t.Errorf("%d of 1000 changed, %d whole", changed, whole)
	}
}

func TestCorpusEntry(t *testing.T) {
	got := corpusEntry([]any{"a\n", []byte{0xff}, int64(-1), uint32(2), true})
	if want := "go test fuzz v1\nstring(\"a\\n\")\n[]byte(\"\\xff\")\nint64(-1)\nuint32(2)\nbool(true)\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSources: programs and attacks are found, the heads of attacks are not.
func TestSources(t *testing.T) {
	texts, err := Sources("../attacks")
	if err != nil || len(texts) < 50 {
		t.Fatal(len(texts), err)
	}
	for _, text := range texts {
		if strings.HasPrefix(text, "#### ") {
			t.Errorf("a head: %.60q", text)
		}
	}
}

// FuzzNothing holds the kit to the package testing: a target of it runs as one.
func FuzzNothing(tf *testing.F) {
	f := New(tf)
	if f.Soaking() != (os.Getenv("COWBOY_SOAK") != "") {
		f.Fatal("it soaks unasked")
	}
	f.Add("a", int64(1))
	f.Fuzz(func(t *testing.T, s string, n int64) {
		if len(s) > InputLen {
			t.Error(len(s))
		}
	})
}
