package chain

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// pinJobs are one job of each kind, and what JobTypeV1 of CIP-11 §12.6 makes of each.
func pinJobs() []struct {
	name  string
	job   JobType
	plain map[int]any
} {
	id, code := Hash(counting(0x10, 32)), Hash(counting(0x11, 32))
	registry := Address(counting(0x12, 20))
	return []struct {
		name  string
		job   JobType
		plain map[int]any
	}{
		{
			"llm",
			&LLMJob{ModelID: id, Prompt: "What is the capital of France?", SystemPrompt: new(""), Temperature: new(0.7), MaxTokens: 512},
			map[int]any{0: 0, 1: id[:], 2: "What is the capital of France?", 3: "", 4: 0.7, 5: 512, 6: nil},
		},
		{
			"http",
			&HTTPJob{
				URL: "https://api.coingecko.com/api/v3/simple/price?ids=ethereum", Method: "GET",
				Headers:   TextMap{{"Accept", "application/json"}, {"X-Request-Id", "7"}, {"accept", ""}},
				Freshness: &Freshness{MaxAgeSeconds: 30, TimestampField: new("$.at")}, Extraction: new("$.ethereum.usd"),
			},
			map[int]any{
				0: 1, 1: "https://api.coingecko.com/api/v3/simple/price?ids=ethereum", 2: "GET",
				3: map[string]string{"Accept": "application/json", "accept": "", "X-Request-Id": "7"}, 4: nil,
				5: "$.ethereum.usd", 6: map[int]any{0: 30, 1: nil, 2: "$.at"},
			},
		},
		{
			"http_post",
			&HTTPJob{URL: "https://example.com/", Method: "POST", Body: []byte{}},
			map[int]any{0: 1, 1: "https://example.com/", 2: "POST", 3: map[string]string{}, 4: []byte{}, 5: nil, 6: nil},
		},
		{
			"mcp",
			&MCPJob{Server: "https://mcp.example.com", ToolName: "search", Arguments: pinJSON(), TimeoutSeconds: new(uint32(30))},
			map[int]any{0: 2, 1: "https://mcp.example.com", 2: "search", 3: plainJSON(), 4: 30},
		},
		{
			"custom",
			&CustomJob{ExecutorHash: code, Params: []byte{1, 2, 3}},
			map[int]any{0: 3, 1: code[:], 2: []byte{1, 2, 3}},
		},
		{
			"publish_chain_root",
			&ChainRootJob{SrcChainID: 1, DstChainID: 1 << 33, Height: 1000, RegistryAddress: registry},
			map[int]any{0: 4, 1: 1, 2: uint64(1) << 33, 3: 1000, 4: registry[:]},
		},
		{
			"agent",
			&AgentJob{
				Model: "a-model", Query: "find it", SystemPromptPath: new("prompts/a.txt"), SessionID: new("s"),
				MaxIterations: 8, MaxToolCallsPerIter: 4, TimeoutSeconds: 600,
			},
			map[int]any{0: 5, 1: "a-model", 2: "find it", 3: "prompts/a.txt", 4: nil, 5: "s", 6: nil, 7: 8, 8: 4, 9: 600},
		},
	}
}

// plainJSON is a value of JSON with every type.
func plainJSON() map[string]any {
	return map[string]any{
		"q": "cow", "limit": 10, "exact": true, "none": nil, "least": -3, "share": 0.5, "huge": 1e300,
		"list": []any{1, "two", []any{}}, "inner": map[string]any{"b": 1, "a": 2, "aa": 3},
	}
}

func pinJSON() JSONValue {
	dst := cbor.AppendMap(nil, 9)
	text := func(s string) { dst = cbor.AppendText(dst, s) }
	text("q")
	text("cow")
	text("huge")
	dst = cbor.AppendFloat(dst, 1e300)
	text("list")
	dst = cbor.AppendUint(cbor.AppendArray(dst, 3), 1)
	text("two")
	dst = cbor.AppendArray(dst, 0)
	text("none")
	dst = cbor.AppendNull(dst)
	text("exact")
	dst = cbor.AppendBool(dst, true)
	text("inner")
	dst = cbor.AppendMap(dst, 3)
	text("a")
	dst = cbor.AppendUint(dst, 2)
	text("b")
	dst = cbor.AppendUint(dst, 1)
	text("aa")
	dst = cbor.AppendUint(dst, 3)
	text("least")
	dst = cbor.AppendInt(dst, -3)
	text("limit")
	dst = cbor.AppendUint(dst, 10)
	text("share")
	return cbor.AppendFloat(dst, 0.5)
}

func pinChecks() ([]VerifierCheck, []any) {
	return []VerifierCheck{
		&MajorityCheck{"answer"},
		&SchemaCheck{`{"type": "object"`}, // as it was given: it need not parse
		&FieldsCheck{[]string{"b", "a"}},
		&ToleranceCheck{"price", 0.05},
		&RangeCheck{"price", -1, math.MaxFloat64},
		&CustomCheck{"0xNOTHEX", "verify_output"},
		&TXTCheck{"_cowboy.example.com", "v=1", 3},
		&CNAMECheck{"www.example.com", "example.com", 2},
	}, []any{
		map[int]any{0: 0, 1: "answer"},
		map[int]any{0: 1, 1: `{"type": "object"`},
		map[int]any{0: 2, 1: []string{"b", "a"}},
		map[int]any{0: 3, 1: "price", 2: 0.05},
		map[int]any{0: 4, 1: "price", 2: -1.0, 3: math.MaxFloat64},
		map[int]any{0: 5, 1: "0xNOTHEX", 2: "verify_output"},
		map[int]any{0: 6, 1: "_cowboy.example.com", 2: "v=1", 3: 3},
		map[int]any{0: 7, 1: "www.example.com", 2: "example.com", 3: 2},
	}
}

func pinSpecOf(job JobType) *JobSpec {
	checks, _ := pinChecks()
	return &JobSpec{
		JobID: pinJob, JobType: job, Bounds: ResourceBounds{4000, 2000, 60, 512, 2},
		Verification: Verification{
			Mode: VerifyStructured, Runners: 5, Threshold: 3, Checks: checks, TEERequired: true,
			DisputeWindowBlocks: 75, RequiredTEEType: new("tdx"),
		},
		MaxPrice: 100_000_000, Tip: 10_000_000, TimeoutBlocks: 120,
		Callback: Callback{
			Actor: Address(counting(0x22, 20)), Handler: "on_result", Payload: []byte{}, CorrelationID: "order-7", Context: []byte{0xf6},
		},
		Submitter: Address(counting(0x21, 20)), SubmittedAt: 1000, RequiredRunnerPool: []byte("eu"),
		Attachments: []VolumeAttachment{},
	}
}

func plainSpecOf(job map[int]any) map[int]any {
	_, checks := pinChecks()
	return map[int]any{
		0: pinJob[:], 1: job, 2: map[int]any{0: 4000, 1: 2000, 2: 60, 3: 512, 4: 2},
		3: map[int]any{0: 3, 1: 5, 2: 3, 3: checks, 4: true, 5: 75, 6: "tdx"},
		4: 100_000_000, 5: 10_000_000, 6: 120,
		7: map[int]any{0: counting(0x22, 20), 1: "on_result", 2: []byte{}, 3: "order-7", 4: []byte{0xf6}},
		8: counting(0x21, 20), 9: 1000, 10: []byte("eu"), 11: []any{},
	}
}

// specForms are a specification for each kind of job.
func specForms() (list []form) {
	for _, job := range pinJobs() {
		list = append(list, form{
			name: "job_spec_" + job.name, most: MaxJobBytes, decode: decodes(DecodeJobSpec),
			keys:   strings.Fields("job_id job_type bounds verification max_price tip timeout_blocks callback submitter submitted_at required_runner_pool attachments"),
			sample: pinSpecOf(job.job), plain: plainSpecOf(job.plain),
			hash: func(e encoder) (string, Hash) { return "job_spec_hash_" + job.name, e.(*JobSpec).SpecHash() },
		})
	}
	return list
}

// TestSpecOfNothing: what may be null is.
func TestSpecOfNothing(t *testing.T) {
	s := &JobSpec{JobType: &LLMJob{}}
	got := s.Encode()
	want, err := otherEncoder(t).Marshal(map[int]any{
		0: make([]byte, 32), 1: map[int]any{0: 0, 1: make([]byte, 32), 2: "", 3: nil, 4: nil, 5: 0, 6: nil},
		2: map[int]any{0: 0, 1: 0, 2: 0, 3: 0, 4: 0},
		3: map[int]any{0: 0, 1: 0, 2: 0, 3: []any{}, 4: false, 5: 0, 6: nil}, 4: 0, 5: 0, 6: 0,
		7: map[int]any{0: make([]byte, 20), 1: "", 2: nil, 3: "", 4: []byte{}}, 8: make([]byte, 20), 9: 0, 10: nil, 11: nil,
	})
	if err != nil || string(got) != string(want) {
		t.Errorf("%x, want %x, %v", got, want, err)
	}
	if _, err := DecodeJobSpec(got); err != nil {
		t.Error(err)
	}
}

func TestSpecRefuses(t *testing.T) { // market bounds; CIP-11 §12.6
	many := func(n int) string { return strings.Repeat("a", n) }
	fresh := func() *JobSpec { return pinSpecOf(pinJobs()[0].job) }
	llm := func(change func(*LLMJob)) func(*JobSpec) {
		return func(s *JobSpec) { change(s.JobType.(*LLMJob)) }
	}
	http := func(change func(*HTTPJob)) func(*JobSpec) {
		return func(s *JobSpec) {
			s.JobType = pinJobs()[1].job
			change(s.JobType.(*HTTPJob))
		}
	}
	mcp := func(change func(*MCPJob)) func(*JobSpec) {
		return func(s *JobSpec) {
			s.JobType = pinJobs()[3].job
			change(s.JobType.(*MCPJob))
		}
	}
	check := func(c VerifierCheck) func(*JobSpec) {
		return func(s *JobSpec) { s.Verification.Checks = []VerifierCheck{c} }
	}
	headers := func(n int) TextMap {
		var m TextMap
		for i := range n {
			m = append(m, TextPair{string([]byte{'a' + byte(i/26), 'a' + byte(i%26)}), ""})
		}
		return m
	}
	list := []refusal[JobSpec]{
		{"prompt above the whole", llm(func(j *LLMJob) { j.Prompt = many(MaxJobBytes - 1000) }), llm(func(j *LLMJob) { j.Prompt = many(MaxJobBytes + 1) }), "", cbor.ErrTooLong},
		{"temperature is no number", llm(func(j *LLMJob) { j.Temperature = new(math.Copysign(0, -1)) }), llm(func(j *LLMJob) { j.Temperature = new(math.NaN()) }), "temperature", cbor.ErrNotFinite},
		{"url", http(func(j *HTTPJob) { j.URL = many(2048) }), http(func(j *HTTPJob) { j.URL = many(2049) }), "url", cbor.ErrTooLong},
		{"method", http(func(j *HTTPJob) { j.Method = many(16) }), http(func(j *HTTPJob) { j.Method = many(17) }), "method", cbor.ErrTooLong},
		{"65 headers", http(func(j *HTTPJob) { j.Headers = headers(64) }), http(func(j *HTTPJob) { j.Headers = headers(65) }), "headers", cbor.ErrTooManyItems},
		{"header twice", http(func(j *HTTPJob) { j.Headers = TextMap{{"a", ""}, {"A", ""}} }), http(func(j *HTTPJob) { j.Headers = TextMap{{"a", ""}, {"a", ""}} }), "headers", cbor.ErrDuplicateKey},
		{"name of a header", http(func(j *HTTPJob) { j.Headers = TextMap{{many(256), ""}} }), http(func(j *HTTPJob) { j.Headers = TextMap{{many(257), ""}} }), "headers", cbor.ErrTooLong},
		{"value of a header", http(func(j *HTTPJob) { j.Headers = TextMap{{"a", many(4096)}} }), http(func(j *HTTPJob) { j.Headers = TextMap{{"a", many(4097)}} }), "headers", cbor.ErrTooLong},
		{"server", mcp(func(j *MCPJob) { j.Server = many(256) }), mcp(func(j *MCPJob) { j.Server = many(257) }), "server", cbor.ErrTooLong},
		{"tool", mcp(func(j *MCPJob) { j.ToolName = many(256) }), mcp(func(j *MCPJob) { j.ToolName = many(257) }), "tool_name", cbor.ErrTooLong},
		{"arguments with bytes", mcp(func(j *MCPJob) { j.Arguments = JSONValue{0x60} }), mcp(func(j *MCPJob) { j.Arguments = JSONValue{0x40} }), "arguments", cbor.ErrJSONType},
		{
			"params", func(s *JobSpec) { s.JobType = &CustomJob{Params: make([]byte, 64<<10)} },
			func(s *JobSpec) { s.JobType = &CustomJob{Params: make([]byte, 64<<10+1)} }, "params", cbor.ErrTooLong,
		},
		{"mode", func(s *JobSpec) { s.Verification.Mode = 5 }, func(s *JobSpec) { s.Verification.Mode = 6 }, "mode", nil},
		{
			"17 checks", func(s *JobSpec) { s.Verification.Checks = slices.Repeat([]VerifierCheck{&SchemaCheck{}}, 16) },
			func(s *JobSpec) { s.Verification.Checks = slices.Repeat([]VerifierCheck{&SchemaCheck{}}, 17) }, "checks", cbor.ErrTooManyItems,
		},
		{"check of 16 KiB", check(&SchemaCheck{many(16<<10 - 7)}), check(&SchemaCheck{many(16<<10 - 6)}), "", cbor.ErrTooLong},
		{"65 fields", check(&FieldsCheck{slices.Repeat([]string{"a"}, 64)}), check(&FieldsCheck{slices.Repeat([]string{"a"}, 65)}), "fields", cbor.ErrTooManyItems},
		{"path of a field", check(&MajorityCheck{many(1024)}), check(&MajorityCheck{many(1025)}), "field", cbor.ErrTooLong},
		{"path of one of several fields", check(&FieldsCheck{[]string{many(1024)}}), check(&FieldsCheck{[]string{many(1025)}}), "fields", cbor.ErrTooLong},
		{"tolerance without end", check(&ToleranceCheck{"a", math.MaxFloat64}), check(&ToleranceCheck{"a", math.Inf(1)}), "tolerance", cbor.ErrNotFinite},
		{"handler", func(s *JobSpec) { s.Callback.Handler = many(256) }, func(s *JobSpec) { s.Callback.Handler = many(257) }, "handler", cbor.ErrTooLong},
		{"correlation id", func(s *JobSpec) { s.Callback.CorrelationID = many(128) }, func(s *JobSpec) { s.Callback.CorrelationID = many(129) }, "correlation_id", cbor.ErrTooLong},
		{"context", func(s *JobSpec) { s.Callback.Context = make([]byte, 16<<10) }, func(s *JobSpec) { s.Callback.Context = make([]byte, 16<<10+1) }, "context", cbor.ErrTooLong},
		{"pool", func(s *JobSpec) { s.RequiredRunnerPool = make([]byte, 64) }, func(s *JobSpec) { s.RequiredRunnerPool = make([]byte, 65) }, "required_runner_pool", cbor.ErrTooLong},
		{"an attachment", func(s *JobSpec) { s.Attachments = nil }, func(s *JobSpec) { s.Attachments = make([]VolumeAttachment, 1) }, "attachments", cbor.ErrTooManyItems},
	}
	checkRefusals(t, fresh, DecodeJobSpec, list)
}

// TestSpecWordByWord breaks single bytes of a specification that no struct can hold.
func TestSpecWordByWord(t *testing.T) {
	good := string(pinSpecOf(&ChainRootJob{SrcChainID: 7}).Encode())
	f := func(rule, old, with, object, field string, want error) {
		t.Helper()
		if strings.Count(good, old) != 1 {
			t.Fatalf("%s: the bytes stand in it %d times", rule, strings.Count(good, old))
		}
		_, err := DecodeJobSpec([]byte(strings.Replace(good, old, with, 1)))
		refusedAs(t, rule, err, object, field, want)
	}
	kind := "\x01\xa5\x00\x04\x01\x07\x02"
	f("kind 6", kind, "\x01\xa5\x00\x06\x01\x07\x02", "JobType", "kind", nil)
	f("kind of 2^64 - 1", kind, "\x01\xa5\x00\x1b\xff\xff\xff\xff\xff\xff\xff\xff\x01\x07\x02", "JobType", "kind", nil)
	f("kind that is text", kind, "\x01\xa5\x00\x60\x01\x07\x02", "JobType", "kind", cbor.ErrWrongType)
	f("no kind", kind, "\x01\xa0", "JobType", "kind", cbor.ErrMissingKey)
	f("fields of another kind", kind, "\x01\xa5\x00\x03\x01\x07\x02", "CustomJob", "executor_hash", cbor.ErrWrongType)
	f("one field less", kind, "\x01\xa4\x00\x04\x01\x07\x02", "ChainRootJob", "registry_address", cbor.ErrMissingKey)
	f("one field more", kind, "\x01\xa6\x00\x04\x01\x07\x02", "ChainRootJob", "", cbor.ErrUnknownKey)
	f("negative chain id", kind, "\x01\xa5\x00\x04\x01\x26\x02", "ChainRootJob", "src_chain_id", cbor.ErrWrongType)
	bounds := "\xa5\x00\x19\x0f\xa0\x01"
	f("2^32 - 1 tokens are allowed", bounds, "\xa5\x00\x1a\xff\xff\xff\xff\x01", "", "", nil)
	f("2^32 tokens", bounds, "\xa5\x00\x1b\x00\x00\x00\x01\x00\x00\x00\x00\x01", "ResourceBounds", "max_input_tokens", nil)
	f("2^64 tokens as a bignum", bounds, "\xa5\x00\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01", "ResourceBounds", "max_input_tokens", cbor.ErrTag)
	f("an attachment", "\x0b\x80", "\x0b\x81\xa0", "JobSpec", "attachments", cbor.ErrTooManyItems)
	f("a short float", "\xfb\x3f\xa9\x99\x99\x99\x99\x99\x9a", "\xf9\x00\x00", "ToleranceCheck", "tolerance", cbor.ErrFloatWidth)
	f("an integer where a float stands", "\xfb\x3f\xa9\x99\x99\x99\x99\x99\x9a", "\x00", "ToleranceCheck", "tolerance", cbor.ErrWrongType)
	f("a flag that is a number", "\x04\xf5\x05\x18\x4b", "\x04\x01\x05\x18\x4b", "Verification", "tee_required", cbor.ErrWrongType)
	f("undefined for null", "\x0b\x80", "\x0b\xf7", "JobSpec", "attachments", cbor.ErrSimple)
}

func TestJobIDsOfOthers(t *testing.T) { // resolutions 5.18, 11.36
	var rest struct {
		JobIDs []struct {
			Height  Height
			Counter uint64
			Actor   string
			JobID   string `json:"job_id"`
			TxHash  string `json:"tx_hash"`
		} `json:"job_ids"`
	}
	vectors.Decode(t, "selection/rest.json", &rest)
	ofActors := 0
	for _, v := range rest.JobIDs {
		var got Hash
		if v.Actor == "" {
			got = JobID(hashOf(t, v.TxHash), v.Height)
		} else {
			got = ActorJobID(Address(unhex(t, v.Actor)), v.Counter, v.Height)
			ofActors++
		}
		if got != hashOf(t, v.JobID) {
			t.Errorf("%+v: %v", v, got)
		}
	}
	if len(rest.JobIDs) < 6 || ofActors < 3 {
		t.Errorf("%d ids, %d of actors", len(rest.JobIDs), ofActors)
	}
}

func FuzzJobSpec(f *testing.F) {
	for _, g := range specForms() {
		f.Add(g.sample.Encode())
	}
	fuzzForm(f, "job_spec_llm")
}
