package vm

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSearchAgreesWithGo compares the searches with those of the standard library on
// texts of two letters, where what is looked for begins often.
func TestSearchAgreesWithGo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		unit := make([]byte, 1+r.IntN(6))
		for i := range unit {
			unit[i] = "ab"[r.IntN(2)]
		}
		b := []byte(strings.Repeat(string(unit), n/len(unit)+1)[:n])
		for range r.IntN(4) {
			b[r.IntN(n)] = 'c'
		}
		return string(b)
	}
	for range 20_000 {
		s := text(1 + r.IntN(400))
		sub := text(1 + r.IntN(120))
		if r.IntN(2) == 0 { // mostly there
			from := r.IntN(len(s))
			sub = s[from : from+1+r.IntN(len(s)-from)]
		}
		if got, want := indexText(s, sub), strings.Index(s, sub); got != want {
			t.Fatalf("index of %q in %q: %d, want %d", sub, s, got, want)
		}
		if got, want := lastIndexText(s, sub), strings.LastIndex(s, sub); got != want {
			t.Fatalf("last index of %q in %q: %d, want %d", sub, s, got, want)
		}
		if got, want := countText(s, sub), strings.Count(s, sub); got != want {
			t.Fatalf("count of %q in %q: %d, want %d", sub, s, got, want)
		}
		n := r.IntN(4)
		if got, want := replaceText(s, sub, "xy", n), strings.Replace(s, sub, "xy", n); got != want {
			t.Fatalf("replace of %q in %q: %q, want %q", sub, s, got, want)
		}
		n = r.IntN(4) - 1
		if n == 0 {
			n = 1
		}
		got, want := splitText(s, sub, n), strings.SplitN(s, sub, n)
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("split of %q at %q: %q, want %q", s, sub, got, want)
		}
	}
}
