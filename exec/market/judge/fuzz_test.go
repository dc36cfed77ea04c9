package judge_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// choices turns bytes into decisions; at their end each is the first.
type choices struct{ left []byte }

func (c *choices) of(n int) int {
	if len(c.left) == 0 {
		return 0
	}
	b := c.left[0]
	c.left = c.left[1:]
	return int(b) % n
}

func pick[T any](c *choices, of ...T) T { return of[c.of(len(of))] }

// FuzzVerdict lets bytes choose a job and its results, and holds the verdict to the plain
// judge; to itself with the results in another order; and a majority that was decided early,
// with those that came late, to the one with all results.
func FuzzVerdict(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(randomChoices(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &choices{b}
		q := c.question()
		if err := judge.Check(q.Spec, q.Terms); err != nil {
			return // no chain takes such a job: TestCheck holds the refusals
		}
		d, plain := judge.Verdict(q), plainVerdict(q)
		if d.Outcome != plain.outcome || !slices.Equal(d.Seats, plain.seats) || d.Canonical != plain.canonical || d.Panics > 0 {
			t.Fatalf("%s, want %+v", summary(d), plain)
		}
		if decided := d.Outcome != judge.Undecided; decided && !slices.Equal(d.Faults, plain.faults) {
			t.Fatalf("faults %v, want %v", d.Faults, plain.faults)
		}
		if d.Outcome == judge.Agreed {
			var data any = string(d.Data)
			if q.Terms.ResultSchema.DataFormat == chain.FormatJSON {
				data, _ = plainJSON(d.Data)
			}
			if !plainEqual(data, plain.data) {
				t.Fatalf("data %s, want %v", d.Data, plain.data)
			}
		}
		if d.Steps > uint64(len(q.Outputs))*q.Terms.JudgeSteps {
			t.Fatalf("%d steps for %d results", d.Steps, len(q.Outputs))
		}
		c.shuffle(q.Outputs)
		if again := judge.Verdict(q); fmt.Sprint(again) != fmt.Sprint(d) {
			t.Fatalf("in another order: %s, was %s", summary(again), summary(d))
		}
		if q.Final && q.Spec.Verification.Mode == chain.VerifyMajorityVote {
			c.holdEarly(t, q, d)
			holdFindings(t, q)
		}
	})
}

// holdFindings lets the results of a majority come one after the other, each read once: with
// what was found before, a verdict is the same as with all results at hand, and nothing takes
// more steps than to read all of them once.
func holdFindings(t *testing.T, q *judge.Question) {
	t.Helper()
	kept, plain := *q, *q
	kept.Outputs = slices.Clone(q.Outputs)
	var steps uint64
	for n := range len(q.Outputs) + 1 {
		last := n == len(q.Outputs)
		part := min(n+1, len(q.Outputs))
		now := kept
		now.Outputs, now.Final = kept.Outputs[:part], last
		plain.Outputs, plain.Final = q.Outputs[:part], last
		d, want := judge.Verdict(&now), judge.Verdict(&plain)
		steps += d.Steps
		for i, o := range now.Outputs {
			if o.Found != nil && o.Seat == d.Canonical {
				d.Data = plain.Outputs[i].Result.Data
			}
		}
		if d.Outcome != judge.Agreed {
			d.Data = nil
		}
		if summary(d) != summary(want) || d.Key != want.Key || !slices.Equal(d.Faults, want.Faults) {
			t.Fatalf("with %d results %s, %v, read anew %s, %v", part, summary(d), d.Faults, summary(want), want.Faults)
		}
		if d.Outcome != judge.Undecided {
			break
		}
		for _, f := range d.Findings {
			i := slices.IndexFunc(kept.Outputs, func(o judge.Output) bool { return o.Seat == f.Seat })
			o := &kept.Outputs[i]
			o.Found, o.Result = &f.Finding, &chain.RunnerResult{Outcome: o.Result.Outcome}
		}
	}
	plain.Outputs, plain.Final = q.Outputs, true
	if all := judge.Verdict(&plain).Steps; steps > all {
		t.Fatalf("%d steps one after the other, %d at once", steps, all)
	}
}

// randomChoices are bytes enough for any question.
func randomChoices(seed uint64) []byte {
	rng, b := rand.New(rand.NewPCG(seed, 19)), make([]byte, 0, 512)
	for len(b) < cap(b) {
		b = binary.BigEndian.AppendUint64(b, rng.Uint64())
	}
	return b
}

// TestVerdictsOfManySeeds runs what FuzzVerdict runs on more seeds, of which enough must
// come to each outcome.
func TestVerdictsOfManySeeds(t *testing.T) {
	outcomes := map[judge.Outcome]int{}
	for seed := range uint64(5_000) {
		c := &choices{randomChoices(seed)}
		q := c.question()
		if judge.Check(q.Spec, q.Terms) != nil {
			continue
		}
		d, plain := judge.Verdict(q), plainVerdict(q)
		if d.Outcome != plain.outcome || !slices.Equal(d.Seats, plain.seats) || d.Canonical != plain.canonical {
			t.Fatalf("seed %d: %s, want %+v", seed, summary(d), plain)
		}
		outcomes[d.Outcome]++
		if q.Spec.Verification.Mode == chain.VerifyMajorityVote {
			holdFindings(t, q)
		}
	}
	for o := judge.Undecided; o <= judge.NoAgreement; o++ {
		if outcomes[o] < 5 {
			t.Errorf("outcome %d came %d times", o, outcomes[o])
		}
	}
}

func (c *choices) shuffle(outputs []judge.Output) {
	for i := range outputs {
		j := i + c.of(len(outputs)-i)
		outputs[i], outputs[j] = outputs[j], outputs[i]
	}
}

// holdEarly lets the results of a majority come one after the other.
func (c *choices) holdEarly(t *testing.T, q *judge.Question, all *judge.Decision) {
	t.Helper()
	part := *q
	part.Final = false
	for n := range len(q.Outputs) + 1 {
		part.Outputs = q.Outputs[:n]
		early := judge.Verdict(&part)
		if early.Outcome == judge.Undecided {
			continue
		}
		if early.Outcome != all.Outcome {
			t.Fatalf("with %d results %s, with all %s", n, summary(early), summary(all))
		}
		part.Outputs = q.Outputs[n:]
		seats := append(early.Seats, judge.Late(&part, early.Outcome, early.Key).Seats...)
		slices.Sort(seats)
		if !slices.Equal(seats, all.Seats) {
			t.Fatalf("with the late ones %v agree, with all %v", seats, all.Seats)
		}
		return
	}
}

// question chooses a job and its results.
func (c *choices) question() *judge.Question {
	mode := pick(c, chain.VerifyMajorityVote, chain.VerifyStructured, chain.VerifyStructured, chain.VerifyNone, chain.VerifyEconomicBond)
	runners := 1 + c.of(7)
	spec, terms := jobOf(mode, uint8(runners), uint8(min(runners, runners/2+1+c.of(2))))
	q := question(spec, terms)
	q.Final = c.of(4) > 0
	terms.ResultSchema.DataFormat = pick(c, chain.FormatJSON, chain.FormatJSON, chain.FormatJSON, chain.FormatText, chain.FormatBytes)
	if mode != chain.VerifyStructured { // a median is as long as its writer makes it
		terms.ResultSchema.MaxReturnBytes = pick[uint32](c, 65_536, 65_536, 30)
	}
	named := pick(c, []string{"v"}, []string{"v", "n"}, []string{"$"}, []string{"n"}, nil, []string{"n", "n", "m"})
	if named != nil && mode > chain.VerifyEconomicBond && terms.ResultSchema.DataFormat == chain.FormatJSON {
		if mode == chain.VerifyMajorityVote && c.of(2) == 0 {
			terms.VoteField = &named[0]
		}
		fields(spec, named...)
	}
	if c.of(4) > 0 && mode == chain.VerifyStructured {
		snapshot(terms, chain.SnapshotMode(c.of(4)), pick[uint64](c, 0, 10_000, 500_000, 1_000_000))
	}
	if c.of(4) == 3 {
		terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.MinLengthObjective{Bytes: uint64(c.of(9))}, &chain.EntropyObjective{MinMillibits: uint64(c.of(16)) * 250}}
	}
	c.freshness(q)
	for seat := range uint8(runners) {
		if c.of(8) < 7 {
			q.Outputs = append(q.Outputs, c.output(seat, spec))
		}
	}
	return q
}

func (c *choices) freshness(q *judge.Question) {
	if c.of(3) == 2 {
		job := &chain.HTTPJob{}
		if c.of(2) == 1 {
			job.Freshness = &chain.Freshness{MaxAgeSeconds: uint64(c.of(4))}
			if c.of(3) == 2 {
				job.Freshness.TimestampField = pointer("$.t")
			}
		}
		q.Spec.JobType = job
	}
	if c.of(4) == 3 {
		q.Terms.FreshnessReference = &chain.FreshnessReference{
			Reference: chain.FreshnessOf(c.of(3)), TimestampMillis: blockMillis - 1_000, ToleranceMillis: uint64(c.of(4)) * 1_000,
		}
	}
}

// output chooses a result.
func (c *choices) output(seat uint8, spec *chain.JobSpec) judge.Output {
	if c.of(6) == 5 {
		return failed(seat, pick(c, chain.OutcomeImpossible, chain.OutcomeImpossible, chain.OutcomeActorFault, chain.OutcomeExternalFault))
	}
	o := ok(seat, c.document())
	o.CommittedAt = chain.Height(100 + c.of(3))
	o.Result.TimestampMillis -= uint64(c.of(4)) * 500
	if _, isHTTP := spec.JobType.(*chain.HTTPJob); isHTTP || c.of(4) == 3 {
		o.Result.Source = &chain.ResultSource{URL: pick(c, "https://a", "https://a", "https://a", ""), Status: pick[uint16](c, 200, 404, 200, 200, 0)}
		if c.of(2) == 1 {
			o.Result.Source.DataTimestampMillis = blockMillis - uint64(c.of(8))*500
		}
	}
	return o
}

// document chooses data: few values, in many spellings.
func (c *choices) document() string {
	number := func() string {
		return pick(c, "1", "1.0", "10e-1", "2", "1.01", "0.99", "-1", "0", "-0", "1e3", "1000.5", "3e-9", "1e20")
	}
	value := func() string {
		return pick(c, "null", number(), `"a"`, `"\u0061"`, `"b"`, `[1,{"x":2}]`, `[1.0,{"x":20e-1}]`, "{}", "[]", "true")
	}
	switch c.of(12) {
	case 9:
		return number()
	case 10:
		return pick(c, "{", "", "\xff", `{"v":1,"v":1}`, "nan")
	case 11:
		return value()
	}
	members := []string{`"n":` + number(), `"v":` + pick(c, `1`, `1.00`, `1e0`, value())}
	for _, name := range []string{`"m":`, `"x":`} {
		if c.of(3) > 0 {
			members = append(members, name+pick(c, number(), value()))
		}
	}
	if c.of(2) == 1 {
		slices.Reverse(members)
	}
	return "{" + strings.Join(members, pick(c, ",", " , ")) + "}"
}

// FuzzAccepts holds what a runner is told to what is judged: data that it accepts counts, in
// each mode, and no other; and no data makes a result take more steps than it has.
func FuzzAccepts(f *testing.F) {
	for _, data := range []string{`{"v":1}`, `[1,2]`, "\xff", "", `{"v":{"v":[0]}}`, `{"v":1e400}`, "aaaa", `{"v":1,"v":2}`} {
		f.Add([]byte(data), uint16(2_000), "$.v")
	}
	f.Fuzz(func(t *testing.T, data []byte, steps uint16, field string) {
		for _, j := range []job{
			none(), none(format(chain.FormatText)), bond(objective(&chain.EntropyObjective{MinMillibits: 900}, &chain.MinLengthObjective{Bytes: 3})),
			majority(), majority(vote(field)), structured(checks(&chain.FieldsCheck{Fields: []string{field, "$"}})),
			structured(committee(3, 2), shot(chain.SnapshotMedian)), structured(committee(3, 2), checks(), shot(chain.SnapshotMedian)),
			structured(shot(chain.SnapshotLatest)), structured(shot(chain.SnapshotFirstValid)),
		} {
			if judge.Check(j.spec, j.terms) != nil {
				continue
			}
			j.terms.JudgeSteps = uint64(steps)
			alone := question(j.spec, j.terms, ok(0, string(data)))
			j.spec.Verification.Threshold = 1
			d := judge.Verdict(alone)
			err := judge.Accepts(j.spec, j.terms, data)
			if (err == nil) != (d.Outcome == judge.Agreed) || d.Panics > 0 || d.Steps > j.terms.JudgeSteps {
				t.Fatalf("the runner is told %v, the verdict is %s after %d steps, %d panics", err, summary(d), d.Steps, d.Panics)
			}
		}
	})
}
