package manifest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPatterns holds lists made ready to the plain rule, for short names of few letters, in
// which patterns often cover each other.
func TestPatterns(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	domain := func() string {
		var labels []string
		if rng.IntN(3) == 0 {
			labels = append(labels, "*")
		}
		for range rng.IntN(4) {
			labels = append(labels, []string{"a", "b", "aa"}[rng.IntN(3)])
		}
		return strings.Join(labels, ".")
	}
	covered := 0
	for range 20_000 {
		list := make([]string, rng.IntN(12))
		for i := range list {
			list[i] = domain()
		}
		host := domain()
		want := CoversAny(list, host)
		if got := PatternsOf(list).Cover(host); got != want {
			t.Fatalf("%q of %q: %v", host, list, got)
		}
		if want {
			covered++
		}
	}
	if covered < 2_000 || covered > 18_000 {
		t.Errorf("%d of 20,000 are covered", covered)
	}
}

// FuzzPatterns holds lists made ready to the plain rule.
func FuzzPatterns(f *testing.F) {
	f.Add("*.a.com b.com", "x.a.com")
	f.Add("*", "*.a")
	f.Add("*.b *.a.b", "*.a.b")
	f.Add("*b *ab ", "cab")
	f.Fuzz(func(t *testing.T, list, host string) {
		domains := strings.Split(list, " ")
		if got, want := PatternsOf(domains).Cover(host), CoversAny(domains, host); got != want {
			t.Errorf("%q of %q: %v, want %v", host, domains, got, want)
		}
	})
}

// BenchmarkOffer judges a runner of as many domains as an offer has room for, none of which
// covers the host: what candidate_cycles of a job of the web have to pay beside other filters.
func BenchmarkOffer(b *testing.B) {
	domains, host := make([]string, 256), "wwwww.host.elsewhere.example"
	for i := range domains {
		domains[i] = fmt.Sprintf("*.h%03d.elsewhere.example", i)
	}
	ready := PatternsOf(domains)
	b.Run("ready", func(b *testing.B) {
		for b.Loop() {
			if ready.Cover(host) {
				b.Fatal("covered")
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20, "ns/cycle")
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if CoversAny(domains, host) {
				b.Fatal("covered")
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20, "ns/cycle")
	})
	b.Run("make-ready", func(b *testing.B) {
		for b.Loop() {
			PatternsOf(domains)
		}
	})
}

// BenchmarkProvides compares as many domains with as many, each of which the last pattern
// covers: what candidate_cycles for each of the actor's items have to pay.
func BenchmarkProvides(b *testing.B) {
	runner, actor := make([]string, MaxListItems), make([]string, MaxListItems)
	for i := range actor {
		runner[i], actor[i] = fmt.Sprintf("*.r%03d.example", i), fmt.Sprintf("h%03d.r255.example", i)
	}
	b.Run("ready", func(b *testing.B) {
		for b.Loop() {
			if !coverAll(runner, actor) {
				b.Fatal("not covered")
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(20*MaxListItems), "ns/cycle")
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			for _, d := range actor {
				if !CoversAny(runner, d) {
					b.Fatal("not covered")
				}
			}
		}
	})
}
