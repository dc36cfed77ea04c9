package ask_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs/ask"
)

// plain reads a dictionary as the documentation has its keys, out of Go's own values: no
// encoding, no bounds on work, one function a part. It shares nothing with package ask.
type plain struct {
	wrong bool
	json  bool
	a     *ask.Asked
}

// some is what a key holds that is there and not null.
func some(m d, key string) (any, bool) {
	v, ok := m[key]
	return v, ok && v != nil
}

func (p *plain) only(m d, known string) {
	for k := range m {
		if !strings.Contains(" "+known+" ", " "+k+" ") {
			p.wrong = true
		}
	}
}

func (p *plain) str(m d, key string) *string {
	v, ok := some(m, key)
	if !ok {
		return nil
	}
	s, ok := v.(string)
	if !ok {
		p.wrong = true
	}
	return &s
}

func (p *plain) must(m d, key string) string {
	s := p.str(m, key)
	if s == nil {
		p.wrong = true
		return ""
	}
	return *s
}

func (p *plain) num(m d, key string, otherwise, least, most uint64) uint64 {
	v, ok := some(m, key)
	if !ok {
		return otherwise
	}
	var n uint64
	switch v := v.(type) {
	case int:
		if v < 0 {
			p.wrong = true
		}
		n = uint64(v)
	case uint64:
		n = v
	default:
		p.wrong = true
	}
	if n < least || n > most {
		p.wrong = true
	}
	return n
}

func (p *plain) flag(m d, key string) bool {
	v, ok := some(m, key)
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		p.wrong = true
	}
	return b
}

func (p *plain) dict(m d, key string) (d, bool) {
	v, ok := some(m, key)
	if !ok {
		return d{}, false
	}
	sub, ok := v.(d)
	if !ok {
		p.wrong = true
	}
	return sub, ok
}

func (p *plain) list(m d, key string) []any {
	v, ok := some(m, key)
	if !ok {
		return nil
	}
	l, ok := v.([]any)
	if !ok {
		p.wrong = true
	}
	return l
}

func (p *plain) strs(m d, key string) []string {
	var out []string
	for _, v := range p.list(m, key) {
		s, ok := v.(string)
		if v == nil {
			p.wrong = true
		}
		if !ok {
			p.wrong = true
		}
		out = append(out, s)
	}
	return out
}

func (p *plain) hex(m d, key string, into []byte) bool {
	v, ok := some(m, key)
	if !ok {
		return false
	}
	b, isBytes := v.([]byte)
	if s, isText := v.(string); isText {
		var err error
		if b, err = hex.DecodeString(strings.TrimPrefix(s, "0x")); err != nil || !strings.HasPrefix(s, "0x") {
			p.wrong = true
			return true
		}
	} else if !isBytes {
		p.wrong = true
		return true
	}
	if len(b) != len(into) {
		p.wrong = true
	}
	copy(into, b)
	return true
}

// parts is a number by exact fractions, rounded to the nearest, the upper one of two.
func (p *plain) parts(m d, key string, scale, most uint64) *uint64 {
	v, ok := some(m, key)
	if !ok {
		return nil
	}
	r := new(big.Rat)
	switch v := v.(type) {
	case int:
		r.SetInt64(int64(v))
	case uint64:
		r.SetUint64(v)
	case float64:
		r.SetFloat64(v)
	default:
		p.wrong = true
		return new(uint64)
	}
	r.Mul(r, new(big.Rat).SetUint64(scale))
	r.Add(r, big.NewRat(1, 2))
	n := new(big.Int).Div(r.Num(), r.Denom())
	if v, ok := v.(float64); ok && v < 0 || n.Sign() < 0 || !n.IsUint64() || n.Uint64() > most {
		p.wrong = true
		return new(uint64)
	}
	return ptr(n.Uint64())
}

func (p *plain) float(m d, key string) *float64 {
	v, ok := some(m, key)
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case int:
		return ptr(float64(v))
	case uint64:
		return ptr(float64(v))
	case float64:
		return &v
	}
	p.wrong = true
	return new(float64)
}

// text is a text, or what a value is as JSON with members in canonical order.
func (p *plain) text(m d, key string) *string {
	v, ok := some(m, key)
	if !ok {
		return nil
	}
	if s, ok := v.(string); ok {
		return &s
	}
	return ptr(p.marshal(v))
}

func (p *plain) marshal(v any) string {
	switch v := v.(type) {
	case d:
		var parts []string
		for _, k := range sorted(v) {
			parts = append(parts, p.marshal(k)+":"+p.marshal(v[k]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, p.marshal(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case []byte:
		p.wrong = true
		return ""
	case string:
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(v) != nil {
			p.wrong = true
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	b, err := json.Marshal(v)
	p.wrong = p.wrong || err != nil
	return string(b)
}

const jobKeys = " type job_type bounds retry max_price tip verification tee_required freshness snapshot reply_to reply_handler" +
	" correlation_id context callback_cycles result_schema toolchain_digest seed verifier_cycles judge_steps auth timeout_blocks" +
	" required_runner_pool min_vram_gb trust_model "

// readPlain is [ask.Read] of a dictionary; nil for one that is refused.
func readPlain(m d, by *ask.Caller) *ask.Asked {
	p := &plain{a: silent(nil)}
	s, t := &p.a.Spec, &p.a.Terms
	b, _ := p.dict(m, "bounds")
	p.only(b, "max_input_tokens max_output_tokens max_wall_time_seconds max_memory_mb max_retries max_price")
	retry, again := p.dict(m, "retry")
	retries := uint64(2)
	if again {
		p.only(retry, "attempts backoff")
		retries = p.num(retry, "attempts", 2, 0, math.MaxUint32)
		p.num(retry, "backoff", 1, 1, 1)
	}
	output := uint64(2_000)
	if n, ok := m["max_tokens"].(int); ok && n > 2_000 {
		output = uint64(n)
	}
	s.Bounds = chain.ResourceBounds{
		MaxInputTokens:     uint32(p.num(b, "max_input_tokens", 4_000, 0, math.MaxUint32)),
		MaxOutputTokens:    uint32(p.num(b, "max_output_tokens", output, 0, math.MaxUint32)),
		MaxWallTimeSeconds: uint32(p.num(b, "max_wall_time_seconds", 60, 0, math.MaxUint32)),
		MaxMemoryMB:        uint32(p.num(b, "max_memory_mb", 512, 0, math.MaxUint32)),
		MaxRetries:         uint32(p.num(b, "max_retries", retries, 0, math.MaxUint32)),
	}
	_, in := some(b, "max_price")
	_, out := some(m, "max_price")
	if p.wrong = p.wrong || in && out; in {
		s.MaxPrice = chain.Wei(p.num(b, "max_price", 0, 0, math.MaxUint64))
	} else {
		s.MaxPrice = chain.Wei(p.num(m, "max_price", 100_000_000, 0, math.MaxUint64))
	}
	s.Tip = chain.Wei(p.num(m, "tip", 0, 0, math.MaxUint64))
	s.TimeoutBlocks = p.num(m, "timeout_blocks", 100, 0, math.MaxUint64)
	if pool := p.str(m, "required_runner_pool"); pool != nil {
		s.RequiredRunnerPool = []byte(*pool)
	}
	p.a.VRAM = p.num(m, "min_vram_gb", 0, 0, math.MaxUint64)
	p.job(m)
	p.verify(m)
	p.fresh(m)
	p.snapshot(m)
	p.answer(m, by)
	schema, _ := p.dict(m, "result_schema")
	p.only(schema, "max_return_bytes expected_execution_ms data_format schema")
	t.ResultSchema.MaxReturnBytes = uint32(p.num(schema, "max_return_bytes", 16<<10, 1, 64<<10))
	t.ResultSchema.ExpectedExecutionMillis = p.num(schema, "expected_execution_ms", 30_000, 1, math.MaxUint64)
	t.ResultSchema.Schema = p.text(schema, "schema")
	if p.json {
		t.ResultSchema.DataFormat = chain.FormatJSON
	}
	if f := p.str(schema, "data_format"); f != nil {
		t.ResultSchema.DataFormat = chain.DataFormat(*f)
		p.wrong = p.wrong || *f != "text" && *f != "json" && *f != "bytes"
	}
	p.declare()
	t.VerifierCycles = chain.Cycles(p.num(m, "verifier_cycles", uint64(t.VerifierCycles), 0, math.MaxUint64))
	t.JudgeSteps = p.num(m, "judge_steps", 20_000, 1_000, 2_000_000)
	p.hex(m, "toolchain_digest", t.ToolchainDigest[:])
	t.Seed = p.num(m, "seed", t.Seed, 0, math.MaxUint64)
	if auth, ok := p.dict(m, "auth"); ok {
		p.only(auth, "type secret_ref")
		if k := p.str(auth, "type"); k != nil && *k != "bearer" {
			p.wrong = true
		}
		t.SecretRef = ptr(p.must(auth, "secret_ref"))
	}
	if p.wrong {
		return nil
	}
	return p.a
}

func (p *plain) job(m d) {
	kind := p.str(m, "type")
	if k := p.str(m, "job_type"); k != nil {
		p.wrong = p.wrong || kind != nil
		kind = k
	}
	if kind == nil {
		p.wrong = true
		return
	}
	s := &p.a.Spec
	switch *kind {
	case "llm":
		p.only(m, jobKeys+"prompt system_prompt temperature max_tokens response_model model_id")
		j := &chain.LLMJob{Prompt: p.must(m, "prompt"), SystemPrompt: p.str(m, "system_prompt"), Temperature: p.float(m, "temperature"), ResponseModel: p.text(m, "response_model")}
		j.MaxTokens = uint32(p.num(m, "max_tokens", uint64(s.Bounds.MaxOutputTokens), 0, math.MaxUint32))
		p.hex(m, "model_id", j.ModelID[:])
		p.json = j.ResponseModel != nil
		s.JobType = j
	case "http", "http_extract":
		p.only(m, jobKeys+"url method headers body extraction")
		j := &chain.HTTPJob{URL: p.must(m, "url"), Method: "GET"}
		if v := p.str(m, "method"); v != nil {
			j.Method = *v
		}
		headers, _ := p.dict(m, "headers")
		for k, v := range headers {
			if v == nil {
				p.wrong = true
			}
			text, ok := v.(string)
			p.wrong = p.wrong || !ok
			j.Headers = append(j.Headers, chain.TextPair{Name: k, Value: text})
		}
		if body, ok := some(m, "body"); ok {
			if raw, isBytes := body.([]byte); isBytes {
				j.Body = append([]byte{}, raw...)
			} else {
				j.Body = append([]byte{}, *p.text(m, "body")...)
			}
		}
		p.extract(m, j, *kind == "http_extract")
		s.JobType = j
	default:
		p.wrong = true
	}
}

func (p *plain) extract(m d, j *chain.HTTPJob, needed bool) {
	v, ok := some(m, "extraction")
	p.json = ok
	if text, isText := v.(string); isText {
		j.Extraction = &text
		p.wrong = p.wrong || needed
		return
	}
	p.wrong = p.wrong || needed && !ok
	if !ok {
		return
	}
	e, isDict := v.(d)
	if !isDict {
		p.wrong = true
		return
	}
	p.only(e, "method selectors schema")
	methods := map[string]chain.ExtractionMethod{
		"css": chain.ExtractCSS, "css_selector": chain.ExtractCSS, "xpath": chain.ExtractXPath, "regex": chain.ExtractRegex, "jsonpath": chain.ExtractJSONPath,
	}
	method, known := methods[p.must(e, "method")]
	p.wrong = p.wrong || !known
	x := &chain.Extraction{Method: method, Schema: p.text(e, "schema")}
	selectors, _ := p.dict(e, "selectors")
	for k, v := range selectors {
		text, ok := v.(string)
		p.wrong = p.wrong || !ok
		x.Selectors = append(x.Selectors, chain.TextPair{Name: k, Value: text})
	}
	p.wrong = p.wrong || len(x.Selectors) > 32
	p.a.Terms.Extraction = x
}

func (p *plain) verify(m d) {
	v, t := &p.a.Spec.Verification, &p.a.Terms
	v.TEERequired = p.flag(m, "tee_required")
	x, said := p.dict(m, "verification")
	if trust := p.str(m, "trust_model"); trust != nil {
		p.wrong = p.wrong || *trust != "n_of_m"
		if _, ok := some(m, "verification"); !ok {
			v.Mode, v.Runners, v.Threshold = chain.VerifyMajorityVote, 5, 3
		}
	}
	if !said {
		return
	}
	p.only(x, "mode runners threshold tee_required required_tee_type dispute_window_blocks vote_field checks fields objective_checks bond_multiplier inference_config similarity_threshold embedding_model")
	modes := map[string]chain.VerificationMode{
		"none": 0, "economic_bond": 1, "majority_vote": 2, "structured_match": 3, "deterministic": 4, "semantic_similarity": 5, "median": 3, "majority": 2,
	}
	name := p.must(x, "mode")
	mode, known := modes[name]
	p.wrong = p.wrong || !known
	v.Mode = mode
	switch name {
	case "median":
		t.Snapshot, p.json = &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: math.MaxUint64}, true
	case "majority":
		t.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMajority}
	}
	runners, threshold := uint64(1), uint64(1)
	if mode >= chain.VerifyMajorityVote {
		runners, threshold = 5, 3
	}
	if n := p.num(x, "runners", runners, 1, 255); n != runners {
		runners, threshold = n, n/2+1
	}
	v.Runners, v.Threshold = uint8(runners), uint8(p.num(x, "threshold", threshold, 1, 255))
	if _, trusts := some(m, "trust_model"); trusts && runners == 1 {
		p.wrong = true
	}
	v.TEERequired = p.flag(x, "tee_required") || v.TEERequired
	v.RequiredTEEType = p.str(x, "required_tee_type")
	v.DisputeWindowBlocks = p.num(x, "dispute_window_blocks", 0, 0, math.MaxUint64)
	t.VoteField = p.str(x, "vote_field")
	p.json = p.json || t.VoteField != nil
	p.checks(x)
	if fields := p.strs(x, "fields"); len(fields) > 0 {
		v.Checks, p.json = append(v.Checks, &chain.FieldsCheck{Fields: fields}), true
	}
	if t.BondMultiplierE6 = p.parts(x, "bond_multiplier", 1_000_000, math.MaxUint64); t.BondMultiplierE6 == nil && mode == chain.VerifyEconomicBond {
		t.BondMultiplierE6 = ptr(uint64(2_000_000))
	}
	at := p.parts(x, "similarity_threshold", 1_000_000, 1_000_000)
	var model chain.Hash
	if named := p.hex(x, "embedding_model", model[:]); at != nil {
		t.Similarity = &chain.Similarity{ThresholdE6: uint32(*at), EmbeddingModel: model}
	} else if named || mode == chain.VerifySimilarity {
		p.wrong = true
	}
}

func (p *plain) checks(x d) {
	v, t := &p.a.Spec.Verification, &p.a.Terms
	for _, item := range p.list(x, "checks") {
		c, ok := item.(d)
		if !ok {
			p.wrong = true
			continue
		}
		known := map[string]string{
			"exact_match": "", "majority_vote": "field", "json_schema_valid": "schema", "structured_match": "fields", "numeric_tolerance": "field tolerance",
			"set_equality": "field", "contains_all": "substrings", "custom": "actor method", "supermajority_vote": "field threshold",
		}
		fn := p.must(c, "fn")
		keys, ok := known[fn]
		p.wrong = p.wrong || !ok
		p.only(c, "fn "+keys)
		p.json = p.json || strings.Contains(keys, "field") || fn == "json_schema_valid"
		switch fn {
		case "exact_match":
			t.NamedChecks = append(t.NamedChecks, &chain.ExactMatchCheck{})
		case "majority_vote":
			v.Checks = append(v.Checks, &chain.MajorityCheck{Field: p.must(c, "field")})
		case "json_schema_valid":
			check := &chain.SchemaCheck{}
			if s := p.text(c, "schema"); s != nil {
				check.Schema = *s
			}
			v.Checks = append(v.Checks, check)
		case "structured_match":
			v.Checks = append(v.Checks, &chain.FieldsCheck{Fields: p.strs(c, "fields")})
		case "numeric_tolerance":
			f := p.float(c, "tolerance")
			if f == nil {
				p.wrong = true
				f = new(float64)
			}
			v.Checks = append(v.Checks, &chain.ToleranceCheck{Field: p.must(c, "field"), Tolerance: *f})
		case "set_equality":
			t.NamedChecks = append(t.NamedChecks, &chain.SetCheck{Field: p.must(c, "field")})
		case "contains_all":
			t.NamedChecks = append(t.NamedChecks, &chain.ContainsAllCheck{Substrings: p.strs(c, "substrings")})
		case "custom":
			v.Checks = append(v.Checks, &chain.CustomCheck{Actor: p.must(c, "actor"), Method: p.must(c, "method")})
			t.VerifierCycles = 100_000
		case "supermajority_vote":
			share := p.parts(c, "threshold", 1_000_000, 1_000_000)
			if share == nil {
				p.wrong = true
				share = new(uint64)
			}
			t.NamedChecks = append(t.NamedChecks, &chain.SupermajorityCheck{Field: p.must(c, "field"), ThresholdE6: uint32(*share)})
		}
	}
}

func (p *plain) declare() {
	t := &p.a.Terms
	for _, c := range p.a.Spec.Verification.Checks {
		if c, ok := c.(*chain.SchemaCheck); ok && c.Schema == "" {
			switch {
			case t.ResultSchema.Schema != nil:
				c.Schema = *t.ResultSchema.Schema
			case t.Extraction != nil && t.Extraction.Schema != nil:
				c.Schema = *t.Extraction.Schema
			default:
				p.wrong = true
			}
		}
	}
}

func (p *plain) fresh(m d) {
	x, ok := p.dict(m, "freshness")
	if !ok {
		return
	}
	job, ok := p.a.Spec.JobType.(*chain.HTTPJob)
	if !ok {
		p.wrong = true
		return
	}
	p.only(x, "max_age_seconds cache_control timestamp_field reference timestamp_ms tolerance_ms")
	age := p.num(x, "max_age_seconds", 0, 0, math.MaxUint64/1_000)
	job.Freshness = &chain.Freshness{MaxAgeSeconds: age, CacheControl: p.str(x, "cache_control"), TimestampField: p.str(x, "timestamp_field")}
	f := &chain.FreshnessReference{ToleranceMillis: p.num(x, "tolerance_ms", age*1_000, 0, math.MaxUint64)}
	at, timed := some(x, "timestamp_ms")
	switch r := p.str(x, "reference"); {
	case r == nil, *r == "block":
		p.wrong = p.wrong || timed
	case *r == "submission":
		f.Reference, p.wrong = chain.FreshAtSubmission, p.wrong || timed
	case *r == "absolute":
		f.Reference = chain.FreshAtTime
		f.TimestampMillis = p.num(x, "timestamp_ms", 0, 1, math.MaxUint64)
		p.wrong = p.wrong || at == nil
	default:
		p.wrong = true
	}
	p.a.Terms.FreshnessReference = f
}

func (p *plain) snapshot(m d) {
	x, ok := p.dict(m, "snapshot")
	if !ok {
		return
	}
	p.only(x, "mode outlier_threshold")
	modes := map[string]chain.SnapshotMode{"first_valid": 0, "median": 1, "majority": 2, "latest": 3}
	mode, known := modes[p.must(x, "mode")]
	s := &chain.Snapshot{Mode: mode}
	p.wrong = p.wrong || !known || p.a.Terms.Snapshot != nil && p.a.Terms.Snapshot.Mode != mode
	if mode == chain.SnapshotMedian {
		s.OutlierE6, p.json = math.MaxUint64, true
	}
	if o := p.parts(x, "outlier_threshold", 1_000_000, math.MaxUint64-1); o != nil {
		s.OutlierE6 = *o
	}
	p.a.Terms.Snapshot = s
}

func (p *plain) answer(m d, by *ask.Caller) {
	cb := &p.a.Spec.Callback
	cb.CorrelationID, cb.Handler = by.Correlation, by.Handler
	if s := p.str(m, "correlation_id"); s != nil && !by.Resumes {
		cb.CorrelationID = *s
	}
	to := by.Actor
	named := p.hex(m, "reply_to", to[:])
	p.wrong = p.wrong || named && by.Resumes
	if h := p.str(m, "reply_handler"); h != nil {
		p.wrong = p.wrong || by.Handler != "" && *h != by.Handler
		cb.Handler = *h
	}
	cycles := uint64(0)
	if cb.Handler != "" {
		cb.Actor, cycles = to, 100_000
	} else if named {
		p.wrong = true
	}
	if v, ok := some(m, "context"); ok {
		cb.Context = encode(nil, v)
	}
	p.a.Terms.CallbackCycles = chain.Cycles(p.num(m, "callback_cycles", cycles, 0, math.MaxUint64))
}
