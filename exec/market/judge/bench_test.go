package judge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// BenchmarkStep measures what a step takes where results are the most work for the steps they
// pay: 50 ns is the bar (ADR 218).
func BenchmarkStep(b *testing.B) {
	const most = chain.MaxReturnBytes
	fill := func(begin, item, end string) string {
		n := (most - len(begin) - len(end)) / len(item)
		return begin + strings.TrimSuffix(strings.Repeat(item, n), ",") + end
	}
	names := func(format string) string {
		var s strings.Builder
		for i := 0; s.Len() < most-64; i++ {
			fmt.Fprintf(&s, format, (i*7_919)%10_007)
		}
		return "{" + strings.TrimSuffix(s.String(), ",") + "}"
	}
	whole := majority()
	median := structured(committee(3, 2), checks())
	snapshot(median.terms, chain.SnapshotMedian, 1_000_000)
	long := strings.Repeat("9", 400)
	var far, near strings.Builder
	for i := range 64 {
		fmt.Fprintf(&far, `"%d":%se400,`, i, long)
		fmt.Fprintf(&near, `"%d":0.%s1e-400,`, i, strings.Repeat("0", 398))
	}
	ends := []string{"{" + strings.TrimSuffix(near.String(), ",") + "}", "{" + strings.TrimSuffix(far.String(), ",") + "}"}
	deep := make([]string, chain.MaxCheckFields)
	for i := range deep {
		deep[i] = "$" + strings.Repeat("[0]", 32)
	}
	for _, c := range []struct {
		name string
		job  job
		data []string
	}{
		{"digits", whole, []string{fill("[", "1,", "]")}},
		{"fractions", whole, []string{fill("[", "0.5,", "]")}},
		{"long numbers", whole, []string{fill("[", long+"e-400,", "]")}},
		{"literals", whole, []string{fill("[", "null,", "]")}},
		{"empty arrays", whole, []string{fill("[", "[],", "]")}},
		{"deep arrays", whole, []string{fill("[", strings.Repeat("[", 60)+strings.Repeat("]", 60)+",", "]")}},
		{"blanks", whole, []string{fill("[1", " ", "]")}},
		{"letters", whole, []string{fill(`"`, "a", `"`)}},
		{"escapes", whole, []string{fill(`"`, `\u0041`, `"`)}},
		{"pairs", whole, []string{fill(`"`, `\ud83d\ude00`, `"`)}},
		{"wide letters", whole, []string{fill(`"`, "é", `"`)}},
		{"short strings", whole, []string{fill("[", `"",`, "]")}},
		{"short names", whole, []string{names(`"%d":1,`)}},
		{"alike names", whole, []string{names(`"` + strings.Repeat("a", 80) + `%05d":1,`)}},
		{"letters, none", none(), []string{fill(`"`, "a", `"`)}},
		{"escapes, none", none(), []string{fill(`"`, `\u0041`, `"`)}},
		{"pairs, none", none(), []string{fill(`"`, `\ud83d\ude00`, `"`)}},
		{"wide letters, none", none(), []string{fill(`"`, "é", `"`)}},
		{"digits, none", none(), []string{fill("[", "1,", "]")}},
		{"long numbers, none", none(), []string{fill("[", long+"e-400,", "]")}},
		{"short names, none", none(), []string{names(`"%d":1,`)}},
		{"alike names, none", none(), []string{names(`"` + strings.Repeat("a", 80) + `%05d":1,`)}},
		{"blanks, none", none(), []string{fill("[1", " ", "]")}},
		{"text, none", none(format(chain.FormatText)), []string{fill("", "é", "")}},
		{"nothing, none", none(), []string{"1"}},
		{"tiny", whole, []string{"1", "1", "1"}},
		{"bytes", majority(format(chain.FormatBytes)), []string{fill("", "é", "")}},
		{"entropy", bond(objective(&chain.EntropyObjective{MinMillibits: 1})), []string{`"` + strings.Repeat("abcdefgh", 100) + `"`}},
		{"long entropy", bond(objective(&chain.EntropyObjective{MinMillibits: 1})), []string{fill(`"`, "abcdefgh", `"`)}},
		{"deep fields", structured(checks(&chain.FieldsCheck{Fields: deep})), []string{strings.Repeat("[", 40) + strings.Repeat("]", 40)}},
		{"medians", median, []string{ends[0], ends[0], ends[0]}},
		{"distant medians", median, []string{ends[0], ends[1], ends[1]}},
		{"small medians", structured(committee(3, 2), checks(), shot(chain.SnapshotMedian)), []string{`{"a":1,"b":2}`, `{"a":1,"b":2}`, `{"a":1,"b":2}`}},
	} {
		var outputs []judge.Output
		for i, data := range c.data {
			outputs = append(outputs, ok(uint8(i), data))
		}
		q := question(c.job.spec, c.job.terms, outputs...)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var steps uint64
			for b.Loop() {
				steps += judge.Verdict(q).Steps
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(steps), "ns/step")
			b.ReportMetric(float64(steps)/float64(b.N), "steps/op")
		})
	}
}
