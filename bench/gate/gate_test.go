package gate

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func gives(v float64, operations int) func(context.Context, *Ground) (Figure, error) {
	return func(context.Context, *Ground) (Figure, error) { return Figure{v, operations}, nil }
}

func fails(context.Context, *Ground) (Figure, error) { return Figure{}, errors.New("a broken bench") }

func TestVerdicts(t *testing.T) {
	limits := Limits{
		"few": {Allocations, 10}, "fast": {Ratio, 2}, "gone": {Counter, 1}, "other": {Bytes, 10},
	}
	benches := []Bench{
		{Name: "few", Kind: Allocations, Measure: gives(10, 1)},
		{Name: "fast", Kind: Ratio, Measure: gives(2, 1)},
		{Name: "other", Kind: Bytes, Measure: gives(10, 1)},
	}
	for _, c := range []struct {
		name string
		edit func(list []Bench) []Bench
		red  string // part of the reason; none if nothing may be red but what is gone
	}{
		{"all within", func(l []Bench) []Bench { return l }, ""},
		{"more allocations", func(l []Bench) []Bench { l[0].Measure = gives(10.1, 1); return l }, "more work"},
		{"more bytes", func(l []Bench) []Bench { l[2].Measure = gives(11, 1); return l }, "more work"},
		{"a slow fast way", func(l []Bench) []Bench { l[1].Measure = gives(1.9, 1); return l }, "no longer fast"},
		{"no operation", func(l []Bench) []Bench { l[0].Measure = gives(0, 0); return l }, "no operation"},
		{"no number", func(l []Bench) []Bench { l[1].Measure = gives(math.NaN(), 1); return l }, "no figure"},
		{"an endless ratio", func(l []Bench) []Bench { l[1].Measure = gives(math.Inf(1), 1); return l }, "no figure"},
		{"broken", func(l []Bench) []Bench { l[0].Measure = fails; return l }, "a broken bench"},
		{"without a limit", func(l []Bench) []Bench {
			return append(l, Bench{Name: "new", Kind: Counter, Measure: gives(1, 1)})
		}, "no limit"},
		{"another kind", func(l []Bench) []Bench { l[0].Kind = Counter; return l }, "its limit is of the kind"},
		{"missing", func(l []Bench) []Bench { return l[1:] }, "without a bench"},
		{"absent", func(l []Bench) []Bench { l[1].Absent, l[1].Measure = "no such processor", fails; return l }, ""},
	} {
		l := c.edit(slices.Clone(benches))
		out := &bytes.Buffer{}
		report, err := Run(t.Context(), l, limits, nil, out)
		if err != nil {
			t.Fatal(err)
		}
		_, rows := report.Red()
		want := 1 // "gone" has no bench
		if c.red != "" {
			want = 2
		}
		if rows != want || !strings.Contains(out.String(), c.red) || strings.Count(out.String(), "RED") != rows {
			t.Errorf("%s: %d rows are red, want %d and %q:\n%s", c.name, rows, want, c.red, out)
		}
	}
	if _, err := Run(t.Context(), benches, limits, regexp.MustCompile("nothing"), &bytes.Buffer{}); err == nil {
		t.Error("a gate of no bench passes")
	}
}

func TestLimitsThatHoldNothingAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         ``,
		"another file":  `{"kind":"bars","benches":{}}`,
		"unknown field": `{"kind":"gate","benches":{"a":{"kind":"ratio","limit":1,"floor":2}}}`,
		"unknown kind":  `{"kind":"gate","benches":{"a":{"kind":"seconds","limit":1}}}`,
		"zero":          `{"kind":"gate","benches":{"a":{"kind":"bytes","limit":0}}}`,
		"negative":      `{"kind":"gate","benches":{"a":{"kind":"bytes","limit":-1}}}`,
	} {
		path := filepath.Join(t.TempDir(), "gate.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadLimits(path); !errors.Is(err, ErrLimits) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWrittenLimits: what is written is read back, holds what it was made of, and refuses
// half or twice as much.
func TestWrittenLimits(t *testing.T) {
	report := Report{Rows: []Row{
		{Name: "few", Kind: Allocations, Figure: Figure{12.345, 1}},
		{Name: "fast", Kind: Ratio, Figure: Figure{7.891, 1}},
		{Name: "away", Kind: Ratio, Absent: "no such processor"},
	}}
	limits, err := Of(&report)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gate.json")
	if err := limits.Write(path); err != nil {
		t.Fatal(err)
	}
	back, err := ReadLimits(path)
	if err != nil || len(back) != 2 {
		t.Fatalf("%v, %v", back, err)
	}
	for _, c := range []struct {
		few, fast float64
		red       int
	}{{12.345, 7.891, 0}, {24.69, 7.891, 1}, {12.345, 3, 1}, {1, 100, 0}} {
		got, err := Run(t.Context(), []Bench{
			{Name: "few", Kind: Allocations, Measure: gives(c.few, 1)},
			{Name: "fast", Kind: Ratio, Measure: gives(c.fast, 1)},
		}, back, nil, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		if _, rows := got.Red(); rows != c.red {
			t.Errorf("%g allocations and ratio %g: %d red, want %d", c.few, c.fast, rows, c.red)
		}
	}
	report.Rows[0].Figure = Figure{}
	if _, err := Of(&report); !errors.Is(err, ErrLimits) {
		t.Errorf("limits of what was not measured: %v", err)
	}
}

// TestEveryBenchHasALimit holds the committed limits to the benches, without measuring.
func TestEveryBenchHasALimit(t *testing.T) {
	limits, err := ReadLimits("../../profiles/baselines/gate.json")
	if err != nil {
		t.Fatal(err)
	}
	benches, kinds := Benches(), map[Kind]int{}
	if left := limits.without(benches); len(left) > 0 {
		t.Errorf("limits without a bench: %v", left)
	}
	seen := map[string]bool{}
	for _, b := range benches {
		if seen[b.Name] || limits[b.Name].Kind != b.Kind {
			t.Errorf("bench %s is there twice, or has no limit of its kind", b.Name)
		}
		seen[b.Name] = true
		kinds[b.Kind]++
	}
	for _, k := range Kinds() {
		if kinds[k] == 0 {
			t.Errorf("no bench is of the kind %s", k)
		}
	}
}
