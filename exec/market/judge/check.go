package judge

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// Reasons for which a job cannot be judged, inside a [chain.FieldError] that names the field
// of its specification or terms.
var (
	ErrCommittee  = errors.New("is not a number of runners for this mode")
	ErrThreshold  = errors.New("is not a threshold for this mode and number of runners")
	ErrNeedsJSON  = errors.New("needs data_format json")
	ErrNoFields   = errors.New("names no field to compare")
	ErrManyFields = errors.New("names more fields than a median is taken of")
	ErrNotForMode = errors.New("means nothing in this mode")
	ErrOneCustom  = errors.New("more than one custom check")
	// ErrUnreachable: every result would break it, and each runner lose stake.
	ErrUnreachable = errors.New("asks for more than a result can have")
	ErrActor       = errors.New("is not the address of an actor")
)

// UnsupportedError names what a job asks for and nobody here judges.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return e.What + " is not judged by this chain yet" }

// Check reports whether a job of these terms can be judged: modes, thresholds (resolution
// 12.14), checks, and that all fields are paths. The error is a [*chain.FieldError] whose
// cause is an [*UnsupportedError] or one of the reasons above. How many runners a job may
// have, and whether the verifier has code, is for others to say.
func Check(spec *chain.JobSpec, terms *chain.JobTerms) error {
	if err := checkCommittee(&spec.Verification, terms); err != nil {
		return err
	}
	if terms.ResultSchema.Schema != nil {
		return termsError("result_schema.schema", &UnsupportedError{"JSON Schema"})
	}
	if terms.Similarity != nil {
		return termsError("similarity", &UnsupportedError{"semantic_similarity"})
	}
	if err := checkChecks(&spec.Verification, terms); err != nil {
		return err
	}
	if err := checkFields(&spec.Verification, terms); err != nil {
		return err
	}
	return checkFreshness(spec, terms)
}

// Bytes that can stand in data, each of them another: those of UTF-8, which has no 0xc0, 0xc1 and
// none above 0xf4, and of JSON, which has no control characters but three.
const (
	bytesOfText = 256 - 13
	bytesOfJSON = bytesOfText - 29
)

// bytesBare are those of JSON without a string: ten digits, six that structure, four blanks, the
// signs, point and exponents of numbers, and what the letters of true, false and null add.
const bytesBare = 10 + 6 + 4 + 5 + 8

// entropyOfJSON is the most that n bytes of JSON can have, or a little more, in 65,536ths of a
// bit: one without a string has bytesBare different bytes, and any other a quote twice.
func entropyOfJSON(n uint64) uint64 {
	most := log2(min(bytesOfJSON, n))
	if n <= bytesBare || n > bytesOfJSON {
		return most
	}
	return max(log2(bytesBare), most+1-(2<<16)/n) // log2 rounds down
}

// reachable reports whether data that is not empty can have an entropy of so many thousandths of
// a bit in each byte: at most that of as many bytes, all of them different, as the job takes, or
// as there are in its format.
func reachable(millibits uint64, terms *chain.JobTerms) bool {
	n := uint64(terms.ResultSchema.MaxReturnBytes)
	var most uint64
	switch terms.ResultSchema.DataFormat {
	case chain.FormatText:
		most = log2(min(bytesOfText, n))
	case chain.FormatJSON:
		most = entropyOfJSON(n)
	default:
		most = log2(min(256, n))
	}
	high, want := bits.Mul64(millibits, 1<<16)
	return high == 0 && 1_000*most >= want
}

// modes are how many runners a mode needs at least (CIP-2 §9), 0 for one that is not judged.
var modes = [...]struct {
	name  string
	least uint8
}{
	chain.VerifyNone:          {"none", 1},
	chain.VerifyEconomicBond:  {"economic_bond", 1},
	chain.VerifyMajorityVote:  {"majority_vote", 3},
	chain.VerifyStructured:    {"structured_match", 2},
	chain.VerifyDeterministic: {"deterministic", 0},
	chain.VerifySimilarity:    {"semantic_similarity", 0},
}

// alone reports whether a mode is of one runner.
func alone(m chain.VerificationMode) bool {
	return m == chain.VerifyNone || m == chain.VerifyEconomicBond
}

func checkCommittee(v *chain.Verification, terms *chain.JobTerms) error {
	if int(v.Mode) >= len(modes) || modes[v.Mode].least == 0 {
		what := "this mode"
		if int(v.Mode) < len(modes) {
			what = modes[v.Mode].name
		}
		return specError("verification.mode", &UnsupportedError{what})
	}
	if alone(v.Mode) {
		switch {
		case v.Runners != 1:
			return specError("verification.runners", ErrCommittee)
		case v.Threshold != 1:
			return specError("verification.threshold", ErrThreshold)
		}
		return nil
	}
	least := modes[v.Mode].least
	if snapshotOf(terms) == chain.SnapshotMedian {
		least = 3 // resolution 12.14
	}
	switch {
	case v.Runners < least:
		return specError("verification.runners", ErrCommittee)
	case 2*int(v.Threshold) <= int(v.Runners) || v.Threshold > v.Runners:
		return specError("verification.threshold", ErrThreshold)
	case v.Mode == chain.VerifyMajorityVote && snapshotOf(terms) != chain.SnapshotMajority:
		return termsError("snapshot", ErrNotForMode)
	}
	return nil
}

// snapshotOf is the snapshot of a job of several runners: most must agree if it names none.
func snapshotOf(terms *chain.JobTerms) chain.SnapshotMode {
	if terms.Snapshot == nil {
		return chain.SnapshotMajority
	}
	return terms.Snapshot.Mode
}

func specError(field string, err error) error {
	return &chain.FieldError{Object: "JobSpec", Field: field, Err: err}
}

func termsError(field string, err error) error {
	return &chain.FieldError{Object: "JobTerms", Field: field, Err: err}
}

// checkChecks refuses the checks that are not judged, and those that a mode has no use for.
func checkChecks(v *chain.Verification, terms *chain.JobTerms) error {
	customs := 0
	// Bounded: MaxJobChecks.
	for i, c := range v.Checks {
		field := fmt.Sprintf("verification.checks[%d]", i)
		switch c := c.(type) {
		case *chain.MajorityCheck, *chain.FieldsCheck:
			if alone(v.Mode) {
				return specError(field, ErrNotForMode)
			}
		case *chain.CustomCheck:
			if v.Mode == chain.VerifyNone {
				return specError(field, ErrNotForMode)
			}
			if _, err := customOf(c); err != nil {
				return specError(field, err)
			}
			if customs++; customs > 1 {
				return specError(field, ErrOneCustom)
			}
		default:
			return specError(field, &UnsupportedError{checkName(c)})
		}
	}
	if len(terms.NamedChecks) > 0 {
		return termsError("named_checks[0]", &UnsupportedError{namedName(terms.NamedChecks[0])})
	}
	return checkObjectives(v, terms)
}

// checkObjectives refuses the objective checks that are not judged, and those that no result
// meets: each runner would lose stake, or its result would run out of steps.
func checkObjectives(v *chain.Verification, terms *chain.JobTerms) error {
	least, entropies := uint64(0), uint64(0)
	// Bounded: MaxObjectiveChecks.
	for i, c := range terms.ObjectiveChecks {
		field := fmt.Sprintf("objective_checks[%d]", i)
		meets := true
		switch c := c.(type) {
		case *chain.MinLengthObjective:
			least = max(least, c.Bytes)
			meets = c.Bytes <= uint64(terms.ResultSchema.MaxReturnBytes)
		case *chain.EntropyObjective:
			entropies++
			meets = reachable(c.MinMillibits, terms)
		default:
			return termsError(field, &UnsupportedError{objectiveName(c)})
		}
		if v.Mode == chain.VerifyNone {
			return termsError(field, ErrNotForMode)
		}
		if !meets {
			return termsError(field, ErrUnreachable)
		}
	}
	if setupSteps+entropies*entropySteps(least) > terms.JudgeSteps {
		return termsError("judge_steps", ErrUnreachable)
	}
	return nil
}

func checkName(c chain.VerifierCheck) string {
	switch c.(type) {
	case *chain.SchemaCheck:
		return "json_schema_valid"
	case *chain.ToleranceCheck:
		return "numeric_tolerance"
	case *chain.RangeCheck:
		return "numeric_range"
	case *chain.TXTCheck:
		return "dns_txt"
	case *chain.CNAMECheck:
		return "dns_cname"
	}
	return "this check"
}

func namedName(c chain.NamedCheck) string {
	names := [...]string{
		"exact_match", "supermajority_vote", "set_equality", "contains_all", "contains_none",
		"regex_match", "length_bounds", "semantic_similarity", "no_prompt_leak", "entropy_check",
	}
	if int(c.Kind()) < len(names) {
		return names[c.Kind()]
	}
	return "this check"
}

func objectiveName(c chain.ObjectiveCheck) string {
	switch c.(type) {
	case *chain.SchemaObjective:
		return "schema_valid"
	case *chain.PromptLeakObjective:
		return "no_prompt_leak"
	case *chain.ModelObjective:
		return "model"
	}
	return "this check"
}

// checkFields holds the fields that results must agree in to the grammar of paths.
func checkFields(v *chain.Verification, terms *chain.JobTerms) error {
	if terms.VoteField != nil && v.Mode != chain.VerifyMajorityVote {
		return termsError("vote_field", ErrNotForMode)
	}
	if terms.VoteField != nil {
		if _, err := strictjson.ParseField(*terms.VoteField); err != nil {
			return termsError("vote_field", err)
		}
	}
	// Bounded: MaxJobChecks, each of MaxCheckFields fields.
	for i, c := range v.Checks {
		field := fmt.Sprintf("verification.checks[%d]", i)
		switch c := c.(type) {
		case *chain.MajorityCheck:
			if _, err := strictjson.ParseField(c.Field); err != nil {
				return specError(field, err)
			}
		case *chain.FieldsCheck:
			if len(c.Fields) == 0 {
				return specError(field, ErrNoFields)
			}
			for _, f := range c.Fields { // Bounded: MaxCheckFields.
				if _, err := strictjson.ParseField(f); err != nil {
					return specError(field, err)
				}
			}
		}
	}
	return checkCompared(v, terms)
}

// checkCompared refuses jobs that compare parts of what is not JSON, or that compare nothing
// and would take whatever comes first.
func checkCompared(v *chain.Verification, terms *chain.JobTerms) error {
	if alone(v.Mode) {
		return nil
	}
	fields, snapshot := fieldsOf(v, terms), snapshotOf(terms)
	if snapshot == chain.SnapshotMedian && len(fields) > maxNumbers {
		return specError("verification.checks", ErrManyFields)
	}
	named := len(fields) > 0
	if (named || snapshot == chain.SnapshotMedian) && terms.ResultSchema.DataFormat != chain.FormatJSON {
		return termsError("result_schema.data_format", ErrNeedsJSON)
	}
	if named || v.Mode == chain.VerifyMajorityVote || snapshot == chain.SnapshotMedian || snapshot == chain.SnapshotLatest {
		return nil
	}
	if customIn(v) != nil {
		return nil
	}
	return specError("verification.checks", ErrNoFields)
}

// fieldsOf are the fields that results must agree in, as the job writes them; a majority of
// none agrees in all.
func fieldsOf(v *chain.Verification, terms *chain.JobTerms) []string {
	var fields []string
	if terms.VoteField != nil {
		fields = append(fields, *terms.VoteField)
	}
	// Bounded: MaxJobChecks.
	for _, c := range v.Checks {
		switch c := c.(type) {
		case *chain.MajorityCheck:
			fields = append(fields, c.Field)
		case *chain.FieldsCheck:
			fields = append(fields, c.Fields...)
		}
	}
	return fields
}

// MinFreshMillis is the least time, in milliseconds, that data may be away from the moment
// that a job names. With less nobody could meet it: the block of a commitment is not known
// when the data is fetched, and what nobody meets is work that is taken and not paid.
const MinFreshMillis = 5_000

// checkFreshness holds the time that data must be of to what runners can meet.
func checkFreshness(spec *chain.JobSpec, terms *chain.JobTerms) error {
	job, _ := spec.JobType.(*chain.HTTPJob)
	var wants *chain.Freshness
	if job != nil {
		wants = job.Freshness
	}
	if wants != nil && wants.TimestampField != nil {
		if _, err := strictjson.ParseField(*wants.TimestampField); err != nil {
			return specError("job_type.freshness.timestamp_field", err)
		}
	}
	if spec.Verification.Mode == chain.VerifyNone {
		return nil // nothing of it is judged
	}
	ref := terms.FreshnessReference
	switch {
	case wants != nil && (ref == nil || ref.Reference != chain.FreshAtTime):
		if millisOf(wants.MaxAgeSeconds) < MinFreshMillis {
			return specError("job_type.freshness.max_age_seconds", ErrUnreachable)
		}
	case ref != nil && ref.ToleranceMillis < MinFreshMillis:
		return termsError("freshness_reference.tolerance_ms", ErrUnreachable)
	}
	return nil
}

// Custom returns the actor that a job names as its verifier, and the handler.
func Custom(spec *chain.JobSpec) (actor chain.Address, handler string, named bool) {
	c := customIn(&spec.Verification)
	if c == nil {
		return chain.Address{}, "", false
	}
	actor, err := customOf(c)
	return actor, c.Method, err == nil
}

// customIn returns the custom check of a job, nil if it has none.
func customIn(v *chain.Verification) *chain.CustomCheck {
	// Bounded: MaxJobChecks.
	for _, c := range v.Checks {
		if custom, is := c.(*chain.CustomCheck); is {
			return custom
		}
	}
	return nil
}

// customOf reads the actor of a check: hexadecimal digits, with or without 0x.
func customOf(c *chain.CustomCheck) (a chain.Address, err error) {
	if c.Method == "" {
		return a, ErrActor
	}
	if chain.ParseHex(a[:], []byte("0x"+strings.TrimPrefix(c.Actor, "0x"))) != nil { // Bounded: MaxJobName.
		return a, ErrActor
	}
	return a, nil
}
