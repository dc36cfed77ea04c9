package chain

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

func pinNamedChecks() ([]NamedCheck, []any) {
	return []NamedCheck{
		&ExactMatchCheck{}, &SupermajorityCheck{"answer", 800_000}, &SetCheck{"tags"}, &ContainsAllCheck{[]string{"a", "b"}},
		&ContainsNoneCheck{}, &RegexCheck{"[a-z]+"}, &LengthCheck{1, 100}, &SimilarityCheck{850_000}, &PromptLeakCheck{}, &EntropyCheck{1500},
	}, []any{
		map[int]any{0: 0},
		map[int]any{0: 1, 1: "answer", 2: 800_000},
		map[int]any{0: 2, 1: "tags"},
		map[int]any{0: 3, 1: []string{"a", "b"}},
		map[int]any{0: 4, 1: []any{}},
		map[int]any{0: 5, 1: "[a-z]+"},
		map[int]any{0: 6, 1: 1, 2: 100},
		map[int]any{0: 7, 1: 850_000},
		map[int]any{0: 8},
		map[int]any{0: 9, 1: 1500},
	}
}

func pinTerms() *JobTerms {
	named, _ := pinNamedChecks()
	return &JobTerms{
		Version:         JobTermsVersion,
		ResultSchema:    ResultSchema{16 << 10, 30_000, FormatJSON, new(`{"type":"object"}`)},
		ToolchainDigest: Hash(counting(0x70, 32)), Seed: 12345,
		Snapshot:           &Snapshot{SnapshotMedian, 50_000},
		FreshnessReference: &FreshnessReference{FreshAtTime, 1_700_000_000_000, 60_000},
		Extraction:         &Extraction{ExtractJSONPath, TextMap{{"price", "$.usd"}, {"at", "$.at"}}, nil},
		BondMultiplierE6:   new(uint64(2_000_000)),
		ObjectiveChecks:    []ObjectiveCheck{&SchemaObjective{}, &MinLengthObjective{20}, &EntropyObjective{1500}, &PromptLeakObjective{}, &ModelObjective{}},
		NamedChecks:        named,
		Similarity:         &Similarity{850_000, Hash(counting(0x71, 32))},
		SecretRef:          new("broker_api_key"), InferenceConfig: pinJSON(),
		CallbackCycles: 200_000, VerifierCycles: 100_000, JudgeSteps: 50_000, VoteField: new("classification"),
	}
}

func termsForms() []form {
	_, named := pinNamedChecks()
	return []form{{
		name: "job_terms", most: MaxJobBytes, decode: decodes(DecodeJobTerms), sample: pinTerms(),
		keys: strings.Fields("version result_schema toolchain_digest seed snapshot freshness_reference extraction bond_multiplier_e6 objective_checks named_checks similarity secret_ref inference_config callback_cycles verifier_cycles judge_steps vote_field"),
		hash: func(e encoder) (string, Hash) { return "terms_hash", e.(*JobTerms).TermsHash() },
		plain: map[int]any{
			0: 1, 1: map[int]any{0: 16 << 10, 1: 30_000, 2: "json", 3: `{"type":"object"}`}, 2: counting(0x70, 32), 3: 12345,
			4: map[int]any{0: 1, 1: 50_000}, 5: map[int]any{0: 2, 1: uint64(1_700_000_000_000), 2: 60_000},
			6: map[int]any{0: 3, 1: map[string]string{"at": "$.at", "price": "$.usd"}, 2: nil}, 7: 2_000_000,
			8: []any{map[int]any{0: 0}, map[int]any{0: 1, 1: 20}, map[int]any{0: 2, 1: 1500}, map[int]any{0: 3}, map[int]any{0: 4}},
			9: named, 10: map[int]any{0: 850_000, 1: counting(0x71, 32)}, 11: "broker_api_key", 12: plainJSON(),
			13: 200_000, 14: 100_000, 15: 50_000, 16: "classification",
		},
	}}
}

// TestTermsOfNothing: what may be null is.
func TestTermsOfNothing(t *testing.T) {
	terms := &JobTerms{Version: 1, ResultSchema: ResultSchema{1, 1, FormatText, nil}, JudgeSteps: MinJudgeSteps}
	got := terms.Encode()
	want, err := otherEncoder(t).Marshal(map[int]any{
		0: 1, 1: map[int]any{0: 1, 1: 1, 2: "text", 3: nil}, 2: make([]byte, 32), 3: 0, 4: nil, 5: nil, 6: nil, 7: nil,
		8: []any{}, 9: []any{}, 10: nil, 11: nil, 12: nil, 13: 0, 14: 0, 15: 1000, 16: nil,
	})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, want %x, %v", got, want, err)
	}
	if _, err := DecodeJobTerms(got); err != nil {
		t.Error(err)
	}
}

func TestTermsRefuse(t *testing.T) {
	many := func(n int) string { return strings.Repeat("a", n) }
	object := func(size int) JSONValue { // of so many bytes, more than 100
		const head = 1 + 2 + 3
		dst := cbor.AppendText(cbor.AppendMap(nil, 1), "a")
		return cbor.AppendText(dst, many(size-head))
	}
	selectors := func(n int) (m TextMap) {
		for i := range n {
			m = append(m, TextPair{string([]byte{'a' + byte(i/26), 'a' + byte(i%26)}), ""})
		}
		return m
	}
	schema := func(change func(*ResultSchema)) func(*JobTerms) {
		return func(x *JobTerms) { change(&x.ResultSchema) }
	}
	checkRefusals(t, pinTerms, DecodeJobTerms, []refusal[JobTerms]{
		{"version 0", func(x *JobTerms) { x.Version = 1 }, func(x *JobTerms) { x.Version = 0 }, "version", nil},
		{"version 2", func(x *JobTerms) { x.Version = 1 }, func(x *JobTerms) { x.Version = 2 }, "version", nil},
		{"no bytes to return", schema(func(s *ResultSchema) { s.MaxReturnBytes = 1 }), schema(func(s *ResultSchema) { s.MaxReturnBytes = 0 }), "max_return_bytes", nil},
		{"64 KiB and one to return", schema(func(s *ResultSchema) { s.MaxReturnBytes = 65_536 }), schema(func(s *ResultSchema) { s.MaxReturnBytes = 65_537 }), "max_return_bytes", nil},
		{"no time", schema(func(s *ResultSchema) { s.ExpectedExecutionMillis = 1 }), schema(func(s *ResultSchema) { s.ExpectedExecutionMillis = 0 }), "expected_execution_ms", nil},
		{"format", schema(func(s *ResultSchema) { s.DataFormat = FormatBytes }), schema(func(s *ResultSchema) { s.DataFormat = "Text" }), "data_format", ErrDataFormat},
		{"no format", schema(func(s *ResultSchema) { s.DataFormat = FormatText }), schema(func(s *ResultSchema) { s.DataFormat = "" }), "data_format", ErrDataFormat},
		{"schema", schema(func(s *ResultSchema) { s.Schema = new(many(16 << 10)) }), schema(func(s *ResultSchema) { s.Schema = new(many(16<<10 + 1)) }), "schema", cbor.ErrTooLong},
		{"snapshot", func(x *JobTerms) { x.Snapshot.Mode = 3 }, func(x *JobTerms) { x.Snapshot.Mode = 4 }, "mode", nil},
		{"reference", func(x *JobTerms) { x.FreshnessReference.Reference = 2 }, func(x *JobTerms) { x.FreshnessReference.Reference = 3 }, "reference", nil},
		{"method", func(x *JobTerms) { x.Extraction.Method = 0 }, func(x *JobTerms) { x.Extraction.Method = 4 }, "method", nil},
		{"33 selectors", func(x *JobTerms) { x.Extraction.Selectors = selectors(32) }, func(x *JobTerms) { x.Extraction.Selectors = selectors(33) }, "selectors", cbor.ErrTooManyItems},
		{
			"9 objective checks", func(x *JobTerms) { x.ObjectiveChecks = slices.Repeat([]ObjectiveCheck{&ModelObjective{}}, 8) },
			func(x *JobTerms) { x.ObjectiveChecks = slices.Repeat([]ObjectiveCheck{&ModelObjective{}}, 9) }, "objective_checks", cbor.ErrTooManyItems,
		},
		{
			"17 named checks", func(x *JobTerms) { x.NamedChecks = slices.Repeat([]NamedCheck{&ExactMatchCheck{}}, 16) },
			func(x *JobTerms) { x.NamedChecks = slices.Repeat([]NamedCheck{&ExactMatchCheck{}}, 17) }, "named_checks", cbor.ErrTooManyItems,
		},
		{
			"more than all", func(x *JobTerms) { x.NamedChecks = []NamedCheck{&SupermajorityCheck{"a", 1_000_000}} },
			func(x *JobTerms) { x.NamedChecks = []NamedCheck{&SupermajorityCheck{"a", 1_000_001}} }, "threshold_e6", nil,
		},
		{
			"pattern", func(x *JobTerms) { x.NamedChecks = []NamedCheck{&RegexCheck{many(1024)}} },
			func(x *JobTerms) { x.NamedChecks = []NamedCheck{&RegexCheck{many(1025)}} }, "pattern", cbor.ErrTooLong,
		},
		{
			"texts of 16 KiB", func(x *JobTerms) {
				x.NamedChecks = []NamedCheck{&ContainsAllCheck{slices.Repeat([]string{many(1020)}, 16)}}
			},
			func(x *JobTerms) {
				x.NamedChecks = []NamedCheck{&ContainsAllCheck{slices.Repeat([]string{many(1021)}, 16)}}
			}, "", cbor.ErrTooLong,
		},
		{"similarity", func(x *JobTerms) { x.Similarity.ThresholdE6 = 1_000_000 }, func(x *JobTerms) { x.Similarity.ThresholdE6 = 1_000_001 }, "threshold_e6", nil},
		{"name of a secret", func(x *JobTerms) { x.SecretRef = new(many(128)) }, func(x *JobTerms) { x.SecretRef = new(many(129)) }, "secret_ref", cbor.ErrTooLong},
		{"inference config of 4 KiB", func(x *JobTerms) { x.InferenceConfig = object(4096) }, func(x *JobTerms) { x.InferenceConfig = object(4097) }, "inference_config", cbor.ErrTooLong},
		{"inference config is a list", func(x *JobTerms) { x.InferenceConfig = JSONValue{0xa0} }, func(x *JobTerms) { x.InferenceConfig = JSONValue{0x80} }, "inference_config", ErrNoObject},
		{"too few steps", func(x *JobTerms) { x.JudgeSteps = 1_000 }, func(x *JobTerms) { x.JudgeSteps = 999 }, "judge_steps", nil},
		{"too many steps", func(x *JobTerms) { x.JudgeSteps = 2_000_000 }, func(x *JobTerms) { x.JudgeSteps = 2_000_001 }, "judge_steps", nil},
		{"vote field", func(x *JobTerms) { x.VoteField = new(many(1024)) }, func(x *JobTerms) { x.VoteField = new(many(1025)) }, "vote_field", cbor.ErrTooLong},
	})
}

// TestJSONValues: every value has one form (CIP-11 §12.6).
func TestJSONValues(t *testing.T) {
	float := func(v float64) string { return string(cbor.AppendFloat(nil, v)) }
	nested := func(depth int) string { return strings.Repeat("\x81", depth) + "\x00" }
	for _, c := range []struct {
		rule, in string
		want     error
	}{
		{"null", "\xf6", nil},
		{"false", "\xf4", nil},
		{"the largest integer", "\x1b\xff\xff\xff\xff\xff\xff\xff\xff", nil},
		{"the smallest integer", "\x3b\x7f\xff\xff\xff\xff\xff\xff\xff", nil},
		{"an integer below it", "\x3b\x80\x00\x00\x00\x00\x00\x00\x00", cbor.ErrJSONNumber},
		{"half", float(0.5), nil},
		{"one as a float", float(1), cbor.ErrJSONNumber},
		{"zero as a float", float(0), cbor.ErrJSONNumber},
		{"negative zero", float(math.Copysign(0, -1)), cbor.ErrJSONNumber},
		{"-2^63 as a float", float(-(1 << 63)), cbor.ErrJSONNumber},
		{"the float below", float(math.Nextafter(-(1 << 63), math.Inf(-1))), nil},
		{"2^64 as a float", float(1 << 64), nil},
		{"the float below 2^64", float(math.Nextafter(1<<64, 0)), cbor.ErrJSONNumber},
		{"not a number", float(math.NaN()), cbor.ErrNotFinite},
		{"bytes", "\x41\x00", cbor.ErrJSONType},
		{"bytes in a list", "\x81\x40", cbor.ErrJSONType},
		{"an integer as a key", "\xa1\x00\x00", cbor.ErrJSONType},
		{"unsorted keys", "\xa2\x61b\x00\x61a\x00", cbor.ErrKeyOrder},
		{"a longer key first", "\xa2\x62aa\x00\x61b\x00", cbor.ErrKeyOrder},
		{"a key twice", "\xa2\x61a\x00\x61a\x00", cbor.ErrDuplicateKey},
		{"undefined", "\xf7", cbor.ErrSimple},
		{"30 levels", nested(30), nil},
		{"31 levels", nested(31), cbor.ErrDepth},
		{"two values", "\x00\x00", cbor.ErrTrailing},
		{"nothing", "", cbor.ErrTruncated},
		{"101 bytes", "\x78\x63" + strings.Repeat("a", 99), cbor.ErrTooLong},
	} {
		v, err := ParseJSONValue([]byte(c.in), 100)
		if !errors.Is(err, c.want) || err == nil && string(v) != c.in {
			t.Errorf("%s: %x, %v, want %v", c.rule, v, err, c.want)
		}
	}
	if !JSONValue("\xa0").IsObject() || JSONValue("\x80").IsObject() || JSONValue(nil).IsObject() {
		t.Error("another value is an object, or an object none")
	}
}

func TestTextMapIsSortedWhenWritten(t *testing.T) {
	m := TextMap{{"bb", "3"}, {"b", "2"}, {"a", "1"}}
	got := m.appendTo(nil)
	want := TextMap{{"a", "1"}, {"b", "2"}, {"bb", "3"}}
	if !bytes.Equal(got, want.appendTo(nil)) || m[0].Name != "bb" {
		t.Errorf("%x; or the caller's map was sorted: %v", got, m)
	}
	if v, ok := m.ValueOf("b"); v != "2" || !ok {
		t.Error("a pair is not found")
	}
	if _, ok := m.ValueOf("B"); ok {
		t.Error("names are not exact")
	}
}

func FuzzJobTerms(f *testing.F) { fuzzForm(f, "job_terms") }

func FuzzJSONValue(f *testing.F) {
	f.Add([]byte(pinJSON()))
	f.Add(cbor.AppendFloat(nil, 0.5))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := ParseJSONValue(b, 1<<10)
		if err == nil && !bytes.Equal(v.appendTo(nil), b) {
			t.Fatalf("%x encodes differently again", b)
		}
	})
}
