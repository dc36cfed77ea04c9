package judge_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// summary is a decision in a line: outcome, seats, the canonical one, data.
func summary(d *judge.Decision) string {
	return fmt.Sprintf("%d %v %d %s", d.Outcome, d.Seats, d.Canonical, d.Data)
}

// early is a question whose results are not all in.
func early(q *judge.Question) *judge.Question {
	q.Final = false
	return q
}

// TestVerdict judges by each mode, with what is just enough and just too little.
func TestVerdict(t *testing.T) {
	ask := func(j job, outputs ...judge.Output) *judge.Question { return question(j.spec, j.terms, outputs...) }
	impossible, external := chain.OutcomeImpossible, chain.OutcomeExternalFault
	first, latest, medians := shot(chain.SnapshotFirstValid), shot(chain.SnapshotLatest), shot(chain.SnapshotMedian)
	at := func(o judge.Output, committed, millis uint64) judge.Output {
		o.CommittedAt, o.Result.TimestampMillis = chain.Height(committed), millis
		return o
	}
	for _, c := range []struct {
		name string
		q    *judge.Question
		want string
	}{
		{"none", ask(none(), ok(0, `{"a":1}`)), `1 [0] 0 {"a":1}`},
		{"none is final", early(ask(none(), ok(0, `1`))), `1 [0] 0 1`},
		{"none waits", early(ask(none())), `0 [] 0 `},
		{"none, no JSON", ask(none(), ok(0, `{`)), `5 [] 0 `},
		{"none, no text", ask(none(format(chain.FormatText)), ok(0, "\xff")), `5 [] 0 `},
		{"none, bytes", ask(none(format(chain.FormatBytes)), ok(0, "\xff")), "1 [0] 0 \xff"},
		{"none, too long", ask(none(func(j *job) { j.terms.ResultSchema.MaxReturnBytes = 1 }), ok(0, "12")), `5 [] 0 `},
		{"none fails", ask(none(), failed(0, impossible)), `2 [0] 0 `},
		{"nothing", ask(none()), `5 [] 0 `},
		{"bond", ask(bond(), ok(0, `[]`)), `1 [0] 0 []`},
		{"bond, the submitter's fault", early(ask(bond(), failed(0, chain.OutcomeActorFault))), `3 [0] 0 `},
		{"bond, too short", ask(bond(objective(&chain.MinLengthObjective{Bytes: 3})), ok(0, `[]`)), `5 [] 0 `},

		{"majority", ask(majority(vote("v")), ok(0, `{"v":1,"w":0}`), ok(1, `{"v":2}`), ok(2, `{"v":1.0}`)), `1 [0 2] 0 {"v":1,"w":0}`},
		{"majority of the second", ask(majority(vote("v")), ok(0, `{"v":2}`), ok(1, `{"v":1}`), ok(2, `{"v":1e0}`)), `1 [1 2] 1 {"v":1}`},
		{"majority decides early", early(ask(majority(vote("v")), ok(1, `{"v":1}`), ok(2, `{"v":1}`))), `1 [1 2] 1 {"v":1}`},
		{"majority waits", early(ask(majority(vote("v")), ok(1, `{"v":1}`), ok(2, `{"v":2}`))), `0 [] 0 `},
		{"majority, one is in", early(ask(majority(vote("v")), ok(1, `{"v":1}`))), `0 [] 0 `},
		{"no majority", ask(majority(vote("v")), ok(0, `{"v":1}`), ok(1, `{"v":2}`), ok(2, `{"v":3}`)), `5 [0 1 2] 0 `},
		{"no majority, one does not count", ask(majority(vote("v")), ok(0, `{"v":1}`), ok(1, `{}`), ok(2, `{"v":3}`)), `5 [0 2] 0 `},
		{"no majority, one fails", ask(majority(vote("v")), failed(0, external), ok(1, `{"v":2}`), ok(2, `{"v":3}`)), `5 [1 2] 0 `},
		{"majority, the field lacks", ask(majority(vote("v")), ok(0, `{}`), ok(1, `{}`), ok(2, `{"v":1}`)), `5 [] 0 `},
		{"majority of null", ask(majority(vote("v")), ok(0, `{}`), ok(1, `{"v":null}`), ok(2, `{"v":null}`)), `1 [1 2] 1 {"v":null}`},
		{"majority of all", ask(majority(), ok(0, `{"a":1,"b":2}`), ok(1, `{"a":1}`), ok(2, `{"b":2,"a":1}`)), `1 [0 2] 0 {"a":1,"b":2}`},
		{"majority of text", ask(majority(format(chain.FormatText)), ok(0, `1`), ok(1, `1.0`), ok(2, `1`)), `1 [0 2] 0 1`},
		{"majority of what is no text", ask(majority(format(chain.FormatText)), ok(0, "\xff"), ok(1, "\xff"), ok(2, "a")), `5 [] 0 `},
		{"majority of bytes", ask(majority(format(chain.FormatBytes)), ok(0, "\xff"), ok(1, "\xff"), ok(2, "a")), "1 [0 1] 0 \xff"},
		{"majority of two fields", ask(majority(vote("v"), checks(&chain.MajorityCheck{Field: "w"})), ok(0, `{"v":1,"w":1}`), ok(1, `{"v":1,"w":2}`), ok(2, `{"v":1,"w":3}`)), `5 [0 1 2] 0 `},
		{"majority fails", ask(majority(), failed(0, impossible), ok(1, `1`), failed(2, impossible)), `2 [0 2] 0 `},
		{"majority fails early", early(ask(majority(), failed(1, external), failed(2, external))), `4 [1 2] 1 `},
		{"failures of two classes", ask(majority(), failed(0, impossible), failed(1, external), ok(2, `1`)), `5 [] 0 `},

		{"structured", ask(structured(), ok(0, `{"v":[1]}`), ok(1, `{"v":[1.0]}`)), `1 [0 1] 0 {"v":[1]}`},
		{"structured waits", early(ask(structured(committee(3, 2)), ok(0, `{"v":1}`), ok(1, `{"v":1}`))), `0 [] 0 `},
		{"structured, failures do not wait", early(ask(structured(), failed(0, impossible), failed(1, impossible))), `2 [0 1] 0 `},
		{"structured, the larger star", ask(structured(committee(5, 3)), ok(0, `{"v":1}`), ok(1, `{"v":2}`), ok(2, `{"v":2}`), ok(3, `{"v":1}`), ok(4, `{"v":2}`)), `1 [1 2 4] 1 {"v":2}`},
		{"one of three spoils what two agree on", ask(structured(committee(3, 3)), ok(0, `{"v":7}`), ok(1, `{"v":2}`), ok(2, `{"v":2}`)), `5 [1 2] 0 `},
		{"two of five spoil what three agree on", ask(majority(vote("v"), committee(5, 5)), ok(0, `{"v":2}`), ok(1, `{"v":7}`), ok(2, `{"v":2}`), ok(3, `{"v":8}`), ok(4, `{"v":2}`)), `5 [0 2 4] 0 `},
		{"two of four are not most", ask(structured(committee(4, 4)), ok(0, `{"v":2}`), ok(1, `{"v":7}`), ok(2, `{"v":2}`), ok(3, `{"v":8}`)), `5 [0 1 2 3] 0 `},
		{"two of three that count are most", ask(structured(committee(5, 3)), ok(0, `{"v":2}`), ok(1, `{"v":7}`), ok(2, `{"v":2}`), failed(3, external), ok(4, `{}`)), `5 [0 2] 0 `},
		{"most of too few", ask(structured(committee(4, 4)), ok(0, `{"v":2}`), ok(1, `{"v":2}`), ok(2, `{"v":2}`), ok(3, `{}`)), `5 [] 0 `},
		{"structured disagrees", ask(structured(), ok(0, `{"v":1}`), ok(1, `{"v":"1"}`)), `5 [0 1] 0 `},
		{"at the deadline", ask(structured(committee(3, 2)), ok(0, `{"v":1}`), ok(2, `{"v":1}`)), `1 [0 2] 0 {"v":1}`},

		{"first_valid", ask(structured(committee(3, 2), first), at(ok(0, `{"v":1,"s":0}`), 9, 0), at(ok(1, `{"v":2}`), 1, 0), at(ok(2, `{"v":1,"s":2}`), 8, 0)), `1 [0 2] 2 {"v":1,"s":2}`},
		{"first_valid, one height", ask(structured(committee(3, 2), first), at(ok(2, `{"v":1,"s":2}`), 8, 0), at(ok(1, `{"v":1,"s":1}`), 8, 0)), `1 [1 2] 1 {"v":1,"s":1}`},

		{"latest", ask(structured(latest), at(ok(0, `{"v":1}`), 1, 7), at(ok(1, `{"v":2}`), 1, 8)), `1 [0 1] 1 {"v":2}`},
		{"latest of one time", ask(structured(latest), at(ok(1, `{"v":2}`), 1, 7), at(ok(0, `{"v":1}`), 2, 7)), `1 [0 1] 0 {"v":1}`},
		{"latest, the field lacks", ask(structured(latest), at(ok(0, `{}`), 1, 7), at(ok(1, `{"v":2}`), 1, 8)), `5 [] 0 `},

		{"median", ask(structured(medians, committee(3, 2)), ok(0, `{"v":3}`), ok(1, `{"v":1e0,"x":9}`), ok(2, `{"v":2.50}`)), `1 [0 1 2] 0 {"v":2.5}`},
		{"median of four is the lower", ask(structured(medians, committee(4, 3)), ok(0, `{"v":4}`), ok(1, `{"v":1}`), ok(2, `{"v":3}`), ok(3, `{"v":2}`)), `1 [0 1 2 3] 0 {"v":2}`},
		{"median, no number", ask(structured(medians, committee(3, 2)), ok(0, `{"v":"3"}`), ok(1, `{"v":1}`), ok(2, `{"v":2}`)), `1 [1 2] 1 {"v":1}`},
		{"median of too few", ask(structured(medians, committee(3, 2)), ok(0, `{"v":"3"}`), ok(1, `{"w":1}`), ok(2, `{"v":2}`)), `5 [] 0 `},
		{"median of all members", ask(structured(medians, committee(3, 2), checks()), ok(0, `{"a":1,"b":5,"c":"x"}`), ok(1, `{"b":4,"a":2}`), ok(2, `{"a":3,"z":1}`)), `1 [0 1] 0 {"a":1,"b":4}`},
		{"median of none", ask(structured(medians, committee(3, 2), checks()), ok(0, `{"a":1}`), ok(1, `{"b":4}`), ok(2, `[1]`)), `5 [0 1] 0 `},
		{"median, one of three has other numbers", ask(structured(medians, committee(3, 3), checks()), ok(0, `{"b":1}`), ok(1, `{"a":4}`), ok(2, `{"a":9}`)), `5 [1 2] 0 `},
		{"median of the value", ask(structured(medians, committee(3, 2), checks(&chain.FieldsCheck{Fields: []string{"$"}})), ok(0, `3`), ok(1, `1`), ok(2, `2`)), `1 [0 1 2] 0 2`},
		{"median, a field twice", ask(structured(medians, committee(3, 2), checks(&chain.FieldsCheck{Fields: []string{"v", "$['v\"']", "v"}})), ok(0, `{"v":3,"v\"":1}`), ok(1, `{"v":1,"v\"":1}`)), `1 [0 1] 0 {"v":1,"$['v\"']":1}`},
	} {
		if got := summary(judge.Verdict(c.q)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestOutliers flags what lies beyond the threshold, and nothing at it.
func TestOutliers(t *testing.T) {
	j := structured(committee(5, 3), checks())
	snapshot(j.terms, chain.SnapshotMedian, 10_000) // 1 %
	four := []judge.Output{ok(0, `{"p":100,"q":1}`), ok(1, `{"p":99,"q":1}`), ok(2, `{"p":101,"q":1}`), ok(3, `{"p":100,"q":1}`)}
	for _, c := range []struct{ fifth, want string }{
		{`{"p":101.000,"q":1}`, `1 [0 1 2 3 4] 0 {"p":100,"q":1}`},
		{`{"p":101.001,"q":1}`, `1 [0 1 2 3] 0 {"p":100,"q":1}`},
		{`{"p":98.999,"q":1}`, `1 [0 1 2 3] 0 {"p":100,"q":1}`},
		{`{"p":100,"q":1.02}`, `1 [0 1 2 3] 0 {"p":100,"q":1}`},
		{`{"p":1e400,"q":1}`, `1 [0 1 2 3] 0 {"p":100,"q":1}`},
	} {
		if got := summary(judge.Verdict(question(j.spec, j.terms, append(four, ok(4, c.fifth))...))); got != c.want {
			t.Errorf("%s: %s, want %s", c.fifth, got, c.want)
		}
	}
	far := question(j.spec, j.terms, ok(0, `{"p":1}`), ok(1, `{"p":2}`), ok(2, `{"p":3}`), ok(3, `{"p":4}`), ok(4, `{"p":5}`))
	if got := summary(judge.Verdict(far)); got != "5 [0 1 2 3 4] 0 " {
		t.Errorf("all but the median are flagged, and it stands alone: %s", got)
	}
	spoiled := structured(committee(5, 5), checks())
	snapshot(spoiled.terms, chain.SnapshotMedian, 10_000)
	if got := summary(judge.Verdict(question(spoiled.spec, spoiled.terms, append(four, ok(4, `{"p":7,"q":1}`))...))); got != "5 [0 1 2 3] 0 " {
		t.Errorf("one of five spoils a median of five: %s", got)
	}
	j.terms.Snapshot.OutlierE6 = 0
	if got := summary(judge.Verdict(far)); got != `1 [0 1 2 3 4] 0 {"p":3}` {
		t.Errorf("no threshold flags none: %s", got)
	}
}

// TestManyNumbers takes medians of 64 numbers and of no more.
func TestManyNumbers(t *testing.T) {
	numbers := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%02d":1`, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	j := structured(committee(3, 2), checks(), shot(chain.SnapshotMedian))
	d := judge.Verdict(question(j.spec, j.terms, ok(0, numbers(64)), ok(1, numbers(65)), ok(2, numbers(64))))
	if summary(d) != "1 [0 2] 0 "+numbers(64) {
		t.Error(summary(d))
	}
}

// TestOneRunsOut lets one result take more steps than it has: it does not count, is no
// fault, and takes nothing from the others (resolution 12.42).
func TestOneRunsOut(t *testing.T) {
	j := majority(vote("v"), objective(&chain.MinLengthObjective{Bytes: 5}))
	j.terms.JudgeSteps = chain.MinJudgeSteps
	bomb := `{"v":1,"x":[` + strings.Repeat("1,", 2_000) + `1]}`
	d := judge.Verdict(question(j.spec, j.terms, ok(0, bomb), ok(1, `{"v":1}`), ok(2, `{"v":1}`)))
	if summary(d) != `1 [1 2] 1 {"v":1}` || len(d.Faults) > 0 || d.Steps <= chain.MinJudgeSteps || d.Steps > 3*chain.MinJudgeSteps {
		t.Errorf("%s, %v, %d steps", summary(d), d.Faults, d.Steps)
	}
	if err := judge.Accepts(j.spec, j.terms, []byte(bomb)); err == nil {
		t.Error("a runner is told that its bomb counts")
	}
}

// TestFaults finds objective failures in whatever comes of the job, and only in results that
// are ok.
func TestFaults(t *testing.T) {
	j := majority(objective(&chain.MinLengthObjective{Bytes: 4}, &chain.EntropyObjective{MinMillibits: 500}), format(chain.FormatText))
	want := []judge.Fault{{Seat: 0, Kind: judge.TooShort}, {Seat: 1, Kind: judge.TooUniform}, {Seat: 3, Kind: judge.TooUniform}}
	outputs := []judge.Output{ok(3, "b"), ok(2, "abcd"), ok(1, "aaaaaaaa"), ok(0, "ab"), failed(4, chain.OutcomeImpossible)}
	d := judge.Verdict(question(j.spec, j.terms, outputs...))
	if d.Outcome != judge.NoAgreement || !slices.Equal(d.Faults, want) {
		t.Errorf("%s, %v, want %v", summary(d), d.Faults, want)
	}
	outputs = append(outputs, failed(5, chain.OutcomeImpossible))
	if d := judge.Verdict(question(j.spec, j.terms, outputs...)); d.Outcome != judge.Impossible || !slices.Equal(d.Faults, want) {
		t.Errorf("%s, %v, want %v", summary(d), d.Faults, want)
	}
}

// TestAVerifierIsAskedOnce: enough that agree do not decide before all are in where an actor
// has a word, or it would be asked again with each result.
func TestAVerifierIsAskedOnce(t *testing.T) {
	j, asked := majority(checks(verifier)), 0
	q := question(j.spec, j.terms, ok(1, `2`), ok(2, `2`))
	q.Verifier = func(*judge.Decision) (judge.Opinion, error) { asked++; return judge.Opinion{Valid: true}, nil }
	for _, c := range []struct {
		final   bool
		outcome judge.Outcome
		asked   int
	}{{false, judge.Undecided, 0}, {true, judge.Agreed, 1}} {
		q.Final = c.final
		if d := judge.Verdict(q); d.Outcome != c.outcome || d.Waiting || asked != c.asked {
			t.Errorf("final %v: %s, asked %d times", c.final, summary(d), asked)
		}
	}
}

// TestVerifier asks an actor about what the results have come to.
func TestVerifier(t *testing.T) {
	j := majority(checks(verifier))
	asked := 0
	ask := func(say judge.Opinion, err error) string {
		q := question(j.spec, j.terms, ok(0, `1`), ok(1, `2`), ok(2, `2`))
		q.Verifier = func(agreed *judge.Decision) (judge.Opinion, error) {
			asked++
			if summary(agreed) != "1 [1 2] 1 2" {
				t.Errorf("the actor is asked about %s", summary(agreed))
			}
			return say, err
		}
		d := judge.Verdict(q)
		if d.Waiting != (d.Outcome == judge.Undecided) {
			t.Errorf("waits %v, outcome %d", d.Waiting, d.Outcome)
		}
		return fmt.Sprintf("%d %v %s", d.Outcome, d.Seats, d.Data)
	}
	j.terms.ResultSchema.MaxReturnBytes = 10
	for _, c := range []struct {
		say  judge.Opinion
		err  error
		want string
	}{
		{judge.Opinion{Valid: true}, nil, "1 [1 2] 2"},
		{judge.Opinion{Valid: true, Canonical: []byte(`{"x":3}`)}, nil, `1 [1 2] {"x":3}`},
		{judge.Opinion{Valid: true, Canonical: []byte(`{`)}, nil, "1 [1 2] 2"},
		{judge.Opinion{Valid: true, Canonical: []byte(`"123456789"`)}, nil, "1 [1 2] 2"},
		{judge.Opinion{}, nil, "6 [1 2] "},
		{judge.Opinion{Canonical: []byte(`3`)}, nil, "6 [1 2] "},
		{judge.Opinion{Valid: true}, errors.New("out of cycles"), "1 [1 2] 2"},
		{judge.Opinion{}, errors.New("raised"), "1 [1 2] 2"},
		{judge.Opinion{}, fmt.Errorf("later: %w", judge.ErrNoRoom), "0 [1 2] 2"},
	} {
		if got := ask(c.say, c.err); got != c.want {
			t.Errorf("%+v, %v: %s, want %s", c.say, c.err, got, c.want)
		}
	}
	if asked != 9 {
		t.Errorf("asked %d times", asked)
	}
	if d := judge.Verdict(question(j.spec, j.terms, ok(0, `2`), ok(1, `2`))); !d.Waiting || d.Outcome != judge.Undecided {
		t.Error("without room for the actor there is a verdict")
	}
	q := question(j.spec, j.terms, ok(0, `1`), ok(1, `2`), ok(2, `3`))
	q.Verifier = func(*judge.Decision) (judge.Opinion, error) {
		t.Error("asked about nothing")
		return judge.Opinion{}, nil
	}
	judge.Verdict(q)
}

// TestLate counts those who come after the verdict.
func TestLate(t *testing.T) {
	j := majority(vote("v"))
	d := judge.Verdict(early(question(j.spec, j.terms, ok(0, `{"v":1}`), ok(1, `{"v":1.0}`))))
	late := question(j.spec, j.terms, ok(4, `{"v":2}`), ok(3, `{"v":10e-1}`), ok(2, `{`), failed(5, chain.OutcomeImpossible))
	if got := judge.Late(late, d.Outcome, d.Key); !slices.Equal(got.Seats, []uint8{3}) {
		t.Error(got.Seats)
	}
	if got := judge.Late(late, judge.Impossible, chain.Hash{}); !slices.Equal(got.Seats, []uint8{5}) {
		t.Error(got.Seats)
	}
	if got := judge.Late(late, judge.NoAgreement, chain.Hash{}); len(got.Seats) > 0 {
		t.Error(got.Seats)
	}
	if got := judge.Late(late, judge.Undecided, d.Key); len(got.Seats) > 0 {
		t.Error("without a verdict nothing is late", got.Seats)
	}
	s := structured(checks(&chain.FieldsCheck{Fields: []string{"v"}}))
	agreed := judge.Verdict(question(s.spec, s.terms, ok(0, `{"v":1}`), ok(1, `{"v":1}`)))
	if got := judge.Late(question(s.spec, s.terms, ok(2, `{"v":1}`)), agreed.Outcome, agreed.Key); len(got.Seats) > 0 {
		t.Error("a verdict that waited for all has nobody late", got.Seats)
	}
	j.terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.MinLengthObjective{Bytes: 2}}
	if got := judge.Late(late, d.Outcome, d.Key); !slices.Equal(got.Faults, []judge.Fault{{Seat: 2, Kind: judge.TooShort}}) {
		t.Error(got.Faults)
	}
}
