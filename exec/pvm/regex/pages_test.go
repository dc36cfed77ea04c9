package regex

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// randomSpans returns spans of 256 and above that are sorted and apart, most of them close
// together or at the ends of pages.
func randomSpans(rng *rand.Rand, n int) (spans []span) {
	for at := rune(256); len(spans) < n && at <= utf8.MaxRune; {
		lo := at + rune(rng.IntN(40))
		if rng.IntN(8) == 0 {
			lo = (lo + 255) &^ 255
		}
		hi := lo + rune(rng.IntN(1<<rng.IntN(12)))
		if rng.IntN(8) == 0 {
			hi |= 255
		}
		if hi = min(hi, utf8.MaxRune); lo > hi {
			break
		}
		spans, at = append(spans, span{lo, hi}), hi+2
	}
	return spans
}

// TestPagesAgree holds the pages of spans to the search among them.
func TestPagesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	compared := 0
	for range 200 {
		spans := randomSpans(rng, 1+rng.IntN(3_000))
		p := newPages(spans)
		look := func(r rune) {
			if r < 256 || r > utf8.MaxRune {
				return
			}
			if got, want := p.has(r), within(spans, r); got != want {
				t.Fatalf("%#x among %d spans: %v, want %v", r, len(spans), got, want)
			}
			compared++
		}
		for _, s := range spans {
			for d := rune(-1); d <= 1; d++ {
				look(s.lo + d)
				look(s.hi + d)
				look(s.lo + (s.hi-s.lo)/2 + d)
			}
		}
		for range 500 {
			look(rune(rng.IntN(utf8.MaxRune + 1)))
		}
	}
	if compared < 100_000 {
		t.Errorf("only %d characters compared", compared)
	}
}

// manyRanges is a class of n ranges that no two join.
func manyRanges(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		r := 0x400 + 4*rune(i)
		if r >= 0xD800 {
			r += 0x3000 // past what UTF-8 has no form for, and private use
		}
		fmt.Fprintf(&b, "%c", r)
	}
	b.WriteString("]*")
	return b.String()
}

// TestLargeClassesAreNotSearched: a step of the match pays for a test of a class, so that no
// class is searched among more than a few ranges.
func TestLargeClassesAreNotSearched(t *testing.T) {
	for _, n := range []int{pagedSpans, pagedSpans + 1, 65_000} {
		p, err := Compile(manyRanges(n), Unicode, false, DefaultLimits())
		if err != nil {
			t.Fatalf("%d ranges: %v", n, err)
		}
		c := p.repeats[0].class
		if len(c.spans) != n {
			t.Fatalf("%d ranges, want %d", len(c.spans), n)
		}
		if c.pages == nil && n > pagedSpans || c.pages != nil && n <= pagedSpans {
			t.Errorf("%d ranges have pages: %v", n, c.pages != nil)
		}
		if c.pages != nil && p.Bytes() < 8*n+c.pages.pageBytes() {
			t.Errorf("%d ranges count for %d bytes", n, p.Bytes())
		}
	}
}

// BenchmarkLargeClass matches characters that lie far apart against a class of 65,000 ranges,
// by its pages and by a search: ns/step is ns a cycle.
func BenchmarkLargeClass(b *testing.B) {
	for _, searched := range []bool{false, true} {
		p, err := Compile(manyRanges(65_000), Unicode, false, DefaultLimits())
		if err != nil {
			b.Fatal(err)
		}
		name := "pages"
		if searched {
			p.repeats[0].class.pages, name = nil, "search"
		}
		b.Run(name, func(b *testing.B) { benchmarkClass(b, p) })
	}
}

func benchmarkClass(b *testing.B, p *Program) {
	rng := rand.New(rand.NewPCG(5, 5))
	spans := p.repeats[0].class.spans
	text := make([]rune, 1<<16)
	for i := range text {
		text[i] = spans[rng.IntN(len(spans))].lo
	}
	s := Text(string(text))
	budget := Budget{Stack: 1 << 20}
	for b.Loop() {
		budget.Steps = 1 << 30
		if _, ok, err := p.FullMatch(s, 0, len(text), &budget); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(text)), "ns/step")
}
