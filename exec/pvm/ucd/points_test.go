package ucd

import (
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"
)

// offsetPlain is PointOffset, one code point after the other.
func offsetPlain(s string, n int) int {
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}

func checkPoints(t *testing.T, s string) {
	t.Helper()
	points := utf8.RuneCountInString(s)
	if got := CountPoints(s); got != points {
		t.Errorf("%q has %d code points, not %d", s, points, got)
	}
	for n := range points + 2 {
		if got, want := PointOffset(s, n), offsetPlain(s, n); got != want {
			t.Errorf("code point %d of %q begins at %d, not %d", n, s, want, got)
		}
	}
}

// TestPointsAgree holds the count by words to the loop over code points: for texts of each
// length around words and blocks of them, of code points of each length.
func TestPointsAgree(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	of := []string{"a", "\u007f", "\u0080", "\u07ff", "\u0800", "\uffff", "\U00010000", "\U0010ffff"}
	for _, one := range of {
		for n := range 80 {
			checkPoints(t, strings.Repeat(one, n))
		}
	}
	for range 500 {
		var b strings.Builder
		for range r.Intn(90) {
			b.WriteString(of[r.Intn(len(of))])
		}
		checkPoints(t, b.String())
	}
	checkPoints(t, strings.Repeat("a\u00e9", 300)+"\U00010000")
}

func FuzzPoints(f *testing.F) {
	f.Add("a\u00e9\u20ac\U00010000 and more than a word of it")
	f.Fuzz(func(t *testing.T, s string) { checkPoints(t, strings.ToValidUTF8(s, "\u20ac")) })
}

func BenchmarkCountPoints(b *testing.B) {
	s := strings.Repeat("a\u00e9aa\u00e9", 1000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		CountPoints(s)
	}
}
