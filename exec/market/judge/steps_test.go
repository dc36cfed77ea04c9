package judge_test

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// TestSteps pins what judging takes: all validators must run out of steps at the same place,
// so another number here is another chain.
func TestSteps(t *testing.T) {
	const setup = 64
	for _, c := range []struct {
		name string
		job  job
		data string
		want uint64
	}{
		{"none, bytes", none(format(chain.FormatBytes)), "abc", setup},
		{"none, text", none(format(chain.FormatText)), "abc", setup + 1},
		{"none, 17 bytes of text", none(format(chain.FormatText)), strings.Repeat("a", 17), setup + 2},
		{"none, a value", none(), `1`, setup + 1 + 1},
		{"none, values and names", none(), `{"a":[1,2],"b":null}`, setup + 2 + 5 + 2*2},
		{"whole", majority(), `"abcde"`, setup + 1 + 1 + (1 + 5)},
		{"whole bytes", majority(format(chain.FormatBytes)), "abcde", setup + 5},
		// reading 1 + 3 + 2·2; the field 4 + 1/2; its way 1 + 1 + 2; its value 1 + 2
		{"a field", majority(vote("b")), `{"a":1,"b":22}`, setup + 4 + 8 + 4 + 3},
		// the field 4 + 9/2; reading 1 + 3; the way (1+1+1) + 1; its value 1 + 1
		{"a path", majority(vote("$['a'][0]")), `{"a":[7]}`, setup + 4 + 4 + 4 + 4 + 2},
		{"min_length", bond(objective(&chain.MinLengthObjective{})), "1", setup + 2},
		{"entropy of 17 bytes", bond(objective(&chain.EntropyObjective{}), format(chain.FormatBytes)), strings.Repeat("a", 17), setup + 512 + 2},
		// reading 1 + 3 + 4; each member 1; each number 8 + its name + its digits
		{"medians", structured(committee(3, 2), checks(), shot(chain.SnapshotMedian)), `{"a":1,"bc":22}`, setup + 8 + 2 + (8 + 1 + 1) + (8 + 2 + 2)},
		{"outliers", structured(committee(3, 2), checks(), func(j *job) { snapshot(j.terms, chain.SnapshotMedian, 1) }), `{"a":1}`, setup + 1 + 2 + 1 + (8 + 1 + 1 + 512)},
	} {
		q := question(c.job.spec, c.job.terms, ok(0, c.data))
		if got := judge.Verdict(q).Steps; got != c.want {
			t.Errorf("%s: %d steps, want %d", c.name, got, c.want)
			continue
		}
		c.job.terms.JudgeSteps = c.want
		if err := judge.Accepts(c.job.spec, c.job.terms, []byte(c.data)); err != nil {
			t.Errorf("%s: with what it takes: %v", c.name, err)
		}
		c.job.terms.JudgeSteps--
		if err := judge.Accepts(c.job.spec, c.job.terms, []byte(c.data)); err == nil {
			t.Errorf("%s: is done with less than it takes", c.name)
		}
	}
}

// TestBombs lets results be as much work as 64 KiB can be: none counts, none takes more than
// its steps, and the two honest ones agree.
func TestBombs(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, (chain.MaxReturnBytes-64)/len(s)) }
	for name, bomb := range map[string]string{
		"arrays":           fill("["),
		"objects":          fill(`{"v":`),
		"closed arrays":    strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000),
		"digits":           `{"v":` + fill("9") + `}`,
		"fraction":         `{"v":0.` + fill("9") + `}`,
		"exponent":         `{"v":1e` + fill("9") + `}`,
		"exponent of ten":  `{"v":1e10000000000}`,
		"names":            `{"v":1` + fill(`,"v":1`) + `}`,
		"half pairs":       `{"v":"` + fill(`\ud800`) + `"}`,
		"escapes":          `{"v":"` + fill(`\`) + `"}`,
		"blanks":           fill(" "),
		"bytes":            fill("\x00"),
		"not UTF-8":        fill("\xc0\x80"),
		"byte order marks": fill("\ufeff"),
		"too long":         `{"v":1}` + strings.Repeat(" ", chain.MaxReturnBytes),
	} {
		for _, j := range []job{majority(vote("v")), majority(vote("$['v']"), objective(&chain.MinLengthObjective{Bytes: 1}))} {
			honest := `{"v":1}`
			d := judge.Verdict(question(j.spec, j.terms, ok(0, bomb), ok(1, honest), ok(2, honest)))
			if summary(d) != `1 [1 2] 1 {"v":1}` || len(d.Faults) > 0 || d.Panics > 0 {
				t.Errorf("%s: %.60s, faults %v", name, summary(d), d.Faults)
			}
			if d.Steps > 3*chain.MaxReturnBytes {
				t.Errorf("%s: %d steps", name, d.Steps)
			}
		}
	}
}

// TestPanics makes reading a result panic: it does not count, and that is counted.
func TestPanics(t *testing.T) {
	j := bond()
	j.spec.JobType = (*chain.HTTPJob)(nil)
	o := ok(0, "1")
	o.Result.Source = &chain.ResultSource{URL: "https://a", Status: 200}
	d := judge.Verdict(question(j.spec, j.terms, o))
	if summary(d) != "5 [] 0 " || d.Panics != 1 || d.Steps == 0 {
		t.Errorf("%s, %d panics, %d steps", summary(d), d.Panics, d.Steps)
	}
}

// TestUncheckedJobs judges jobs that Check refuses: no result counts.
func TestUncheckedJobs(t *testing.T) {
	for name, j := range map[string]job{
		"mode":          bond(mode(6)),
		"deterministic": majority(mode(chain.VerifyDeterministic)),
		"field":         majority(vote("$[*]")),
		"threshold":     majority(committee(0, 0), vote("")),
		"text fields":   majority(vote("v"), format(chain.FormatText)),
	} {
		d := judge.Verdict(question(j.spec, j.terms, ok(0, `{"v":1}`), ok(1, `{"v":1}`)))
		if d.Outcome != judge.NoAgreement || d.Panics > 0 {
			t.Errorf("%s: %s, %d panics", name, summary(d), d.Panics)
		}
	}
}
