package judge_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// TestFreshness holds data to its time at both edges of the window.
func TestFreshness(t *testing.T) {
	const at, submitted = blockMillis, blockMillis - 60_000
	maxAge := func(seconds uint64, field *string) func(*job) {
		return func(j *job) {
			j.spec.JobType = &chain.HTTPJob{Freshness: &chain.Freshness{MaxAgeSeconds: seconds, TimestampField: field}}
		}
	}
	reference := func(of chain.FreshnessOf, stamp, tolerance uint64) func(*job) {
		return func(j *job) {
			j.terms.FreshnessReference = &chain.FreshnessReference{Reference: of, TimestampMillis: stamp, ToleranceMillis: tolerance}
		}
	}
	for _, c := range []struct {
		name   string
		job    job
		millis uint64
		want   bool
	}{
		{"nothing asked", bond(), 0, true},
		{"of the block, oldest", bond(maxAge(10, nil)), at - 10_000, true},
		{"of the block, too old", bond(maxAge(10, nil)), at - 10_001, false},
		{"of the block, newest", bond(maxAge(10, nil)), at + 10_000, true},
		{"of the block, too new", bond(maxAge(10, nil)), at + 10_001, false},
		{"of a field", bond(maxAge(10, pointer("$.t"))), at, true},
		{"of a field that lacks", bond(maxAge(10, pointer("$.t"))), 0, false},
		{"any age", bond(maxAge(1<<64-1, nil)), 1, true},
		{"an age beyond 64 bits", bond(maxAge(1<<61, nil)), 1, true},
		{"block by name", bond(reference(chain.FreshAtBlock, 0, 5)), at - 5, true},
		{"block by name, too old", bond(reference(chain.FreshAtBlock, 0, 5)), at - 6, false},
		{"submission", bond(reference(chain.FreshAtSubmission, 0, 5)), submitted + 5, true},
		{"submission, too new", bond(reference(chain.FreshAtSubmission, 0, 5)), submitted + 6, false},
		{"submission, by age", bond(maxAge(1, nil), reference(chain.FreshAtSubmission, 0, 5)), submitted - 1_000, true},
		{"submission, by age, too old", bond(maxAge(1, nil), reference(chain.FreshAtSubmission, 0, 5)), submitted - 1_001, false},
		{"a moment", bond(maxAge(0, nil), reference(chain.FreshAtTime, 1_000, 5)), 995, true},
		{"a moment missed", bond(maxAge(9, nil), reference(chain.FreshAtTime, 1_000, 5)), 1_006, false},
	} {
		o := ok(0, "{}")
		o.Result.TimestampMillis = at + 3_600_000 // the source's time goes before it
		o.Result.Source = &chain.ResultSource{URL: "https://a", Status: 200, DataTimestampMillis: c.millis}
		d := judge.Verdict(question(c.job.spec, c.job.terms, o))
		if (d.Outcome == judge.Agreed) != c.want {
			t.Errorf("%s: outcome %d", c.name, d.Outcome)
		}
	}
	j := bond(maxAge(10, nil))
	o := ok(0, "{}")
	o.Result.Source = &chain.ResultSource{URL: "https://a", Status: 200}
	if d := judge.Verdict(question(j.spec, j.terms, o)); d.Outcome != judge.Agreed {
		t.Error("without a time of the data, that of the fetch counts")
	}
}

// TestSource wants to know where the data of an HTTP job comes from.
func TestSource(t *testing.T) {
	for _, c := range []struct {
		name   string
		source *chain.ResultSource
		want   judge.Outcome
	}{
		{"named", &chain.ResultSource{URL: "https://a", Status: 404}, judge.Agreed},
		{"none", nil, judge.NoAgreement},
		{"no URL", &chain.ResultSource{Status: 200}, judge.NoAgreement},
		{"no status", &chain.ResultSource{URL: "https://a"}, judge.NoAgreement},
	} {
		for _, j := range []job{bond(), none()} {
			j.spec.JobType = &chain.HTTPJob{}
			o := ok(0, "{}")
			o.Result.Source = c.source
			want := c.want
			if j.spec.Verification.Mode == chain.VerifyNone {
				want = judge.Agreed
			}
			if d := judge.Verdict(question(j.spec, j.terms, o)); d.Outcome != want {
				t.Errorf("%s, mode %d: outcome %d", c.name, j.spec.Verification.Mode, d.Outcome)
			}
		}
	}
}
