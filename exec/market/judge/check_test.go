package judge_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

type job struct {
	spec  *chain.JobSpec
	terms *chain.JobTerms
}

// majority is a job that can be judged, of three runners.
func majority(change ...func(*job)) job { return changed(chain.VerifyMajorityVote, 3, 2, change) }

// structured compares field v of two runners.
func structured(change ...func(*job)) job {
	compare := func(j *job) { fields(j.spec, "v") }
	return changed(chain.VerifyStructured, 2, 2, append([]func(*job){compare}, change...))
}

func bond(change ...func(*job)) job { return changed(chain.VerifyEconomicBond, 1, 1, change) }

func none(change ...func(*job)) job { return changed(chain.VerifyNone, 1, 1, change) }

func changed(mode chain.VerificationMode, runners, threshold uint8, change []func(*job)) job {
	var j job
	j.spec, j.terms = jobOf(mode, runners, threshold)
	for _, f := range change {
		f(&j)
	}
	return j
}

func committee(runners, threshold uint8) func(*job) {
	return func(j *job) { j.spec.Verification.Runners, j.spec.Verification.Threshold = runners, threshold }
}

func mode(m chain.VerificationMode) func(*job) {
	return func(j *job) { j.spec.Verification.Mode = m }
}

func checks(c ...chain.VerifierCheck) func(*job) {
	return func(j *job) { j.spec.Verification.Checks = c }
}

func shot(m chain.SnapshotMode) func(*job) {
	return func(j *job) { snapshot(j.terms, m, 0) }
}

func format(f chain.DataFormat) func(*job) {
	return func(j *job) { j.terms.ResultSchema.DataFormat = f }
}

func vote(field string) func(*job) { return func(j *job) { j.terms.VoteField = &field } }

func objective(c ...chain.ObjectiveCheck) func(*job) {
	return func(j *job) { j.terms.ObjectiveChecks = c }
}

func returns(most uint32) func(*job) {
	return func(j *job) { j.terms.ResultSchema.MaxReturnBytes = most }
}

func steps(n uint64) func(*job) { return func(j *job) { j.terms.JudgeSteps = n } }

var verifier = &chain.CustomCheck{Actor: "0x1111111111111111111111111111111111111111", Method: "verify"}

func sixtyFour() []string { return slices.Repeat([]string{"v"}, chain.MaxCheckFields) }

// TestCheckTakes holds the nearest valid neighbours of what TestCheckRefuses has.
func TestCheckTakes(t *testing.T) {
	for name, j := range map[string]job{
		"none":                         none(),
		"none of bytes":                none(format(chain.FormatBytes)),
		"none with a snapshot":         none(shot(chain.SnapshotMedian)),
		"bond":                         bond(),
		"bond with objective checks":   bond(objective(&chain.MinLengthObjective{Bytes: 1}, &chain.EntropyObjective{MinMillibits: 1})),
		"bond with the most entropy":   bond(objective(&chain.EntropyObjective{MinMillibits: 8_000}), format(chain.FormatBytes), returns(256)),
		"entropy of sixty-four":        bond(objective(&chain.EntropyObjective{MinMillibits: 6_000}), format(chain.FormatText), returns(64)),
		"entropy of JSON in 64 bytes":  bond(objective(&chain.EntropyObjective{MinMillibits: 5_968}), returns(64)),
		"entropy of the longest text":  bond(objective(&chain.EntropyObjective{MinMillibits: 7_924}), format(chain.FormatText)),
		"entropy in few steps":         bond(objective(&chain.EntropyObjective{MinMillibits: 1}, &chain.MinLengthObjective{Bytes: 3_392}), steps(1_000)),
		"bond with the most bytes":     bond(objective(&chain.MinLengthObjective{Bytes: 70}), returns(70)),
		"bond with a verifier":         bond(checks(verifier)),
		"majority 2 of 3":              majority(),
		"majority of text":             majority(format(chain.FormatText)),
		"majority by snapshot":         majority(shot(chain.SnapshotMajority)),
		"majority 128 of 255":          majority(committee(255, 128)),
		"majority of a path":           majority(vote("$.a[0]['b']")),
		"majority of a name":           majority(vote("classification")),
		"majority of a check":          majority(checks(&chain.MajorityCheck{Field: "v"})),
		"structured 2 of 2":            structured(),
		"structured 2 of 3":            structured(committee(3, 2)),
		"structured, first_valid":      structured(shot(chain.SnapshotFirstValid)),
		"structured, latest":           structured(shot(chain.SnapshotLatest), checks()),
		"structured, latest text":      structured(shot(chain.SnapshotLatest), checks(), format(chain.FormatText)),
		"median 2 of 3":                structured(shot(chain.SnapshotMedian), committee(3, 2)),
		"median of 64":                 structured(shot(chain.SnapshotMedian), committee(3, 2), checks(&chain.FieldsCheck{Fields: sixtyFour()})),
		"median of no field":           structured(shot(chain.SnapshotMedian), committee(3, 2), checks()),
		"structured, a verifier alone": structured(checks(verifier), format(chain.FormatText)),
		"verifier without 0x":          structured(checks(&chain.CustomCheck{Actor: verifier.Actor[2:], Method: "v"})),
		"toolchain and inference":      majority(func(j *job) { j.terms.ToolchainDigest[0], j.terms.InferenceConfig = 1, chain.JSONValue{0xa0} }),
	} {
		if err := judge.Check(j.spec, j.terms); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckRefuses names each thing that is wrong or not judged yet, by field and cause.
func TestCheckRefuses(t *testing.T) {
	http := func(field string) func(*job) {
		return func(j *job) { j.spec.JobType = &chain.HTTPJob{Freshness: &chain.Freshness{TimestampField: &field}} }
	}
	for _, c := range []struct {
		name  string
		job   job
		field string
		want  any // an error, or what is not judged
	}{
		{"deterministic", majority(mode(chain.VerifyDeterministic)), "verification.mode", "deterministic"},
		{"similarity", majority(mode(chain.VerifySimilarity)), "verification.mode", "semantic_similarity"},
		{"no mode", majority(mode(6)), "verification.mode", "this mode"},
		{"none of 0", none(committee(0, 1)), "verification.runners", judge.ErrCommittee},
		{"none of 2", none(committee(2, 1)), "verification.runners", judge.ErrCommittee},
		{"none, 0 of 1", none(committee(1, 0)), "verification.threshold", judge.ErrThreshold},
		{"bond of 2", bond(committee(2, 2)), "verification.runners", judge.ErrCommittee},
		{"bond, 2 of 1", bond(committee(1, 2)), "verification.threshold", judge.ErrThreshold},
		{"majority of 2", majority(committee(2, 2)), "verification.runners", judge.ErrCommittee},
		{"majority 1 of 3", majority(committee(3, 1)), "verification.threshold", judge.ErrThreshold},
		{"majority 2 of 4", majority(committee(4, 2)), "verification.threshold", judge.ErrThreshold},
		{"majority 4 of 3", majority(committee(3, 4)), "verification.threshold", judge.ErrThreshold},
		{"majority 127 of 255", majority(committee(255, 127)), "verification.threshold", judge.ErrThreshold},
		{"structured of 1", structured(committee(1, 1)), "verification.runners", judge.ErrCommittee},
		{"structured 1 of 2", structured(committee(2, 1)), "verification.threshold", judge.ErrThreshold},
		{"median of 2", structured(shot(chain.SnapshotMedian)), "verification.runners", judge.ErrCommittee},
		{"majority, first_valid", majority(shot(chain.SnapshotFirstValid)), "snapshot", judge.ErrNotForMode},
		{"majority, median", majority(shot(chain.SnapshotMedian)), "snapshot", judge.ErrNotForMode},
		{"majority, latest", majority(shot(chain.SnapshotLatest)), "snapshot", judge.ErrNotForMode},
		{"schema of the result", majority(func(j *job) { j.terms.ResultSchema.Schema = pointer("{}") }), "result_schema.schema", "JSON Schema"},
		{"embeddings", majority(func(j *job) { j.terms.Similarity = &chain.Similarity{} }), "similarity", "semantic_similarity"},
		{"schema check", structured(checks(&chain.SchemaCheck{})), "verification.checks[0]", "json_schema_valid"},
		{"tolerance", structured(checks(&chain.FieldsCheck{Fields: []string{"v"}}, &chain.ToleranceCheck{})), "verification.checks[1]", "numeric_tolerance"},
		{"range", structured(checks(&chain.RangeCheck{})), "verification.checks[0]", "numeric_range"},
		{"TXT", structured(checks(&chain.TXTCheck{})), "verification.checks[0]", "dns_txt"},
		{"CNAME", structured(checks(&chain.CNAMECheck{})), "verification.checks[0]", "dns_cname"},
		{"fields of one", bond(checks(&chain.FieldsCheck{Fields: []string{"v"}})), "verification.checks[0]", judge.ErrNotForMode},
		{"verifier of none", none(checks(verifier)), "verification.checks[0]", judge.ErrNotForMode},
		{"two verifiers", bond(checks(verifier, verifier)), "verification.checks[1]", judge.ErrOneCustom},
		{"verifier of 39 digits", bond(checks(&chain.CustomCheck{Actor: verifier.Actor[:41], Method: "v"})), "verification.checks[0]", judge.ErrActor},
		{"verifier without handler", bond(checks(&chain.CustomCheck{Actor: verifier.Actor})), "verification.checks[0]", judge.ErrActor},
		{"objective of none", none(objective(&chain.MinLengthObjective{})), "objective_checks[0]", judge.ErrNotForMode},
		{"entropy above eight bits", bond(objective(&chain.EntropyObjective{MinMillibits: 8_001}), format(chain.FormatBytes)), "objective_checks[0]", judge.ErrUnreachable},
		{"entropy above all numbers", bond(objective(&chain.EntropyObjective{MinMillibits: 1<<64 - 1})), "objective_checks[0]", judge.ErrUnreachable},
		{"entropy of all bytes in fewer", bond(objective(&chain.EntropyObjective{MinMillibits: 8_000}), format(chain.FormatBytes), returns(255)), "objective_checks[0]", judge.ErrUnreachable},
		{"entropy above that of sixty-four", bond(objective(&chain.EntropyObjective{MinMillibits: 6_001}), format(chain.FormatText), returns(64)), "objective_checks[0]", judge.ErrUnreachable},
		{"entropy of what is no text", bond(objective(&chain.EntropyObjective{MinMillibits: 7_925}), format(chain.FormatText)), "objective_checks[0]", judge.ErrUnreachable},
		{"entropy of what is no JSON", bond(objective(&chain.EntropyObjective{MinMillibits: 7_742})), "objective_checks[0]", judge.ErrUnreachable},
		{"entropy of JSON whose quotes are one byte", bond(objective(&chain.EntropyObjective{MinMillibits: 5_970}), returns(64)), "objective_checks[0]", judge.ErrUnreachable},
		{"entropy of more than JSON without a string", bond(objective(&chain.EntropyObjective{MinMillibits: 5_046}), returns(34)), "objective_checks[0]", judge.ErrUnreachable},
		{"entropy in too few steps", bond(objective(&chain.EntropyObjective{MinMillibits: 1}, &chain.MinLengthObjective{Bytes: 3_400}), steps(1_000)), "judge_steps", judge.ErrUnreachable},
		{"two entropies in too few steps", bond(objective(&chain.EntropyObjective{}, &chain.EntropyObjective{}), steps(1_000)), "judge_steps", judge.ErrUnreachable},
		{"length above the most", bond(objective(&chain.MinLengthObjective{}, &chain.MinLengthObjective{Bytes: 71}), returns(70)), "objective_checks[1]", judge.ErrUnreachable},
		{"schema objective", bond(objective(&chain.EntropyObjective{}, &chain.SchemaObjective{})), "objective_checks[1]", "schema_valid"},
		{"leak objective", bond(objective(&chain.PromptLeakObjective{})), "objective_checks[0]", "no_prompt_leak"},
		{"model objective", bond(objective(&chain.ModelObjective{})), "objective_checks[0]", "model"},
		{"vote of structured", structured(vote("v")), "vote_field", judge.ErrNotForMode},
		{"vote of several", majority(vote("[*].v")), "vote_field", strictjson.ErrNotSingular},
		{"vote of what may be two", majority(vote("a.b")), "vote_field", strictjson.ErrPath},
		{"vote of text", majority(vote("v"), format(chain.FormatText)), "result_schema.data_format", judge.ErrNeedsJSON},
		{"check of a wrong field", majority(checks(&chain.MajorityCheck{})), "verification.checks[0]", strictjson.ErrPath},
		{"a wrong field", structured(checks(&chain.FieldsCheck{Fields: []string{"v", "$["}})), "verification.checks[0]", strictjson.ErrPath},
		{"no field", structured(checks(&chain.FieldsCheck{})), "verification.checks[0]", judge.ErrNoFields},
		{"median of 65", structured(committee(3, 2), shot(chain.SnapshotMedian), checks(&chain.FieldsCheck{Fields: sixtyFour()}, &chain.MajorityCheck{Field: "v"})), "verification.checks", judge.ErrManyFields},
		{"no check", structured(checks()), "verification.checks", judge.ErrNoFields},
		{"no check, first_valid", structured(checks(), shot(chain.SnapshotFirstValid)), "verification.checks", judge.ErrNoFields},
		{"median of text", structured(committee(3, 2), checks(), shot(chain.SnapshotMedian), format(chain.FormatText)), "result_schema.data_format", judge.ErrNeedsJSON},
		{"fields of bytes", structured(format(chain.FormatBytes)), "result_schema.data_format", judge.ErrNeedsJSON},
		{"an age of four seconds", bond(aged(4, nil)), "job_type.freshness.max_age_seconds", judge.ErrUnreachable},
		{"no age", bond(aged(0, &chain.FreshnessReference{ToleranceMillis: 60_000})), "job_type.freshness.max_age_seconds", judge.ErrUnreachable},
		{"no tolerance", bond(fresh(&chain.FreshnessReference{})), "freshness_reference.tolerance_ms", judge.ErrUnreachable},
		{"a moment, to the millisecond below five seconds", bond(fresh(&chain.FreshnessReference{Reference: chain.FreshAtTime, TimestampMillis: 9, ToleranceMillis: 4_999})), "freshness_reference.tolerance_ms", judge.ErrUnreachable},
		{"a moment that an age does not widen", bond(aged(60, &chain.FreshnessReference{Reference: chain.FreshAtTime, TimestampMillis: 9})), "freshness_reference.tolerance_ms", judge.ErrUnreachable},
		{"time of several", none(http("$..t")), "job_type.freshness.timestamp_field", strictjson.ErrNotSingular},
	} {
		err := judge.Check(c.job.spec, c.job.terms)
		var at *chain.FieldError
		if !errors.As(err, &at) || at.Field != c.field {
			t.Errorf("%s: %v, want the field %s", c.name, err, c.field)
			continue
		}
		var unsupported *judge.UnsupportedError
		switch want := c.want.(type) {
		case error:
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", c.name, err, want)
			}
		case string:
			if !errors.As(err, &unsupported) || unsupported.What != want {
				t.Errorf("%s: %v, want %s to be named", c.name, err, want)
			}
		}
	}
}

// TestNamedChecks are refused by their names, all of them.
func TestNamedChecks(t *testing.T) {
	for what, c := range map[string]chain.NamedCheck{
		"exact_match": &chain.ExactMatchCheck{}, "supermajority_vote": &chain.SupermajorityCheck{},
		"set_equality": &chain.SetCheck{}, "contains_all": &chain.ContainsAllCheck{},
		"contains_none": &chain.ContainsNoneCheck{}, "regex_match": &chain.RegexCheck{},
		"length_bounds": &chain.LengthCheck{}, "semantic_similarity": &chain.SimilarityCheck{},
		"no_prompt_leak": &chain.PromptLeakCheck{}, "entropy_check": &chain.EntropyCheck{},
	} {
		j := majority(func(j *job) { j.terms.NamedChecks = []chain.NamedCheck{c} })
		err := judge.Check(j.spec, j.terms)
		var unsupported *judge.UnsupportedError
		if !errors.As(err, &unsupported) || unsupported.What != what {
			t.Errorf("%v, want %s to be named", err, what)
		}
	}
}

// TestCustom tells a job's verifier.
func TestCustom(t *testing.T) {
	j := structured(checks(&chain.FieldsCheck{Fields: []string{"v"}}, verifier))
	actor, handler, named := judge.Custom(j.spec)
	if !named || handler != "verify" || actor.String() != verifier.Actor {
		t.Error(actor, handler, named)
	}
	if _, _, named := judge.Custom(structured().spec); named {
		t.Error("a job without a verifier has one")
	}
}

// TestStepsBound is what a submitter pays for.
func TestStepsBound(t *testing.T) {
	for _, c := range []struct {
		job  job
		want uint64
	}{
		{none(format(chain.FormatBytes)), 0},
		{none(format(chain.FormatText)), 1},
		{bond(format(chain.FormatBytes)), 1},
		{bond(checks(verifier)), 2},
		{majority(committee(9, 5)), 9},
	} {
		if got := judge.StepsBound(c.job.spec, c.job.terms); got != c.want*chain.MaxJudgeSteps {
			t.Errorf("%d steps, want %d budgets", got, c.want)
		}
	}
}

// fresh is a job whose data must be of a time.
func fresh(ref *chain.FreshnessReference) func(*job) {
	return func(j *job) { j.terms.FreshnessReference = ref }
}

// aged is one of the web whose data may be so many seconds old.
func aged(seconds uint64, ref *chain.FreshnessReference) func(*job) {
	return func(j *job) {
		j.spec.JobType, j.terms.FreshnessReference = &chain.HTTPJob{Freshness: &chain.Freshness{MaxAgeSeconds: seconds}}, ref
	}
}

// TestFreshnessThatCanBeMet: five seconds are enough, and where nothing is judged no time is
// asked for.
func TestFreshnessThatCanBeMet(t *testing.T) {
	for name, j := range map[string]job{
		"an age of five seconds": bond(aged(5, nil)),
		"five seconds":           bond(fresh(&chain.FreshnessReference{ToleranceMillis: judge.MinFreshMillis})),
		"a moment":               bond(aged(0, &chain.FreshnessReference{Reference: chain.FreshAtTime, TimestampMillis: 9, ToleranceMillis: 5_000})),
		"none":                   none(aged(0, &chain.FreshnessReference{})),
	} {
		if err := judge.Check(j.spec, j.terms); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
