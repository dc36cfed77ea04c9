package ask_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs/ask"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
)

// d is a dictionary as a program writes it.
type d = map[string]any

// encode writes a value in the canonical form of actor values.
func encode(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return cbor.AppendNull(dst)
	case bool:
		return cbor.AppendBool(dst, v)
	case int:
		return cbor.AppendInt(dst, int64(v))
	case uint64:
		return cbor.AppendUint(dst, v)
	case float64:
		return cbor.AppendFloat(dst, v)
	case string:
		return cbor.AppendText(dst, v)
	case []byte:
		return cbor.AppendBytes(dst, v)
	case []any:
		dst = cbor.AppendArray(dst, len(v))
		for _, item := range v {
			dst = encode(dst, item)
		}
		return dst
	case d:
		dst = cbor.AppendMap(dst, len(v))
		for _, name := range sorted(v) {
			dst = encode(cbor.AppendText(dst, name), v[name])
		}
		return dst
	}
	panic("no value of an actor")
}

func sorted(v d) []string {
	var names []string
	for name := range v {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return names
}

var (
	self  = chain.Address{1, 2, 3}
	other = chain.Address{4, 5, 6}
	id    = chain.Hash{7, 8, 9}
)

func caller() *ask.Caller { return &ask.Caller{Actor: self, Correlation: "own"} }

func read(t *testing.T, dict d, by *ask.Caller) (*ask.Asked, error) {
	t.Helper()
	p := params.Default()
	return ask.Read(encode(nil, dict), by, &p)
}

// silent is what a job has that says nothing but its kind.
func silent(job chain.JobType) *ask.Asked {
	a := new(ask.Asked)
	a.Spec = chain.JobSpec{
		JobType: job, Bounds: chain.ResourceBounds{MaxInputTokens: 4_000, MaxOutputTokens: 2_000, MaxWallTimeSeconds: 60, MaxMemoryMB: 512, MaxRetries: 2},
		Verification: chain.Verification{Runners: 1, Threshold: 1}, MaxPrice: 100_000_000, TimeoutBlocks: 100,
		Callback: chain.Callback{CorrelationID: "own", Context: []byte{}},
	}
	a.Terms = chain.JobTerms{
		Version: 1, JudgeSteps: 20_000,
		ResultSchema: chain.ResultSchema{MaxReturnBytes: 16 << 10, ExpectedExecutionMillis: 30_000, DataFormat: chain.FormatText},
	}
	return a
}

func llm(change func(*chain.LLMJob)) *ask.Asked {
	j := &chain.LLMJob{Prompt: "...", MaxTokens: 2_000}
	change(j)
	return silent(j)
}

func page(url string) *ask.Asked { return silent(&chain.HTTPJob{URL: url, Method: "GET"}) }

// answered is a job whose answer goes to a handler.
func answered(a *ask.Asked, to chain.Address, handler string) *ask.Asked {
	a.Spec.Callback.Actor, a.Spec.Callback.Handler = to, handler
	a.Terms.CallbackCycles = 100_000
	return a
}

func with(a *ask.Asked, change func(*chain.JobSpec, *chain.JobTerms)) *ask.Asked {
	change(&a.Spec, &a.Terms)
	return a
}

func jsonData(_ *chain.JobSpec, t *chain.JobTerms) { t.ResultSchema.DataFormat = chain.FormatJSON }

func ptr[T any](v T) *T { return &v }

// The model and the actor that the whitepaper writes as "0x...".
var (
	modelText = "0x" + strings.Repeat("ab", 32)
	actorText = "0x" + strings.Repeat("cd", 20)
	modelID   = chain.Hash(bytes.Repeat([]byte{0xab}, 32))
)

const disclosures = "https://disclosures.house.gov/x"

// TestWhitepaperDictionaries: every job_spec of the whitepaper has the form that is written
// here beside it.
func TestWhitepaperDictionaries(t *testing.T) { // resolutions 12.56, 12.57
	schema := d{"type": "object", "required": []any{"a"}}
	schemaText := `{"type":"object","required":["a"]}`
	for _, tt := range []struct {
		name string
		dict d
		want *ask.Asked
	}{
		{
			"the trading bot's message to RUNNER",
			d{
				"job_type": "llm", "prompt": "...", "reply_to": other[:], "reply_handler": "handle_analysis_result",
				"context": d{"original_price": 149, "request_block": 7},
			},
			with(answered(llm(func(*chain.LLMJob) {}), other, "handle_analysis_result"), func(s *chain.JobSpec, _ *chain.JobTerms) {
				s.Callback.Context = encode(nil, d{"original_price": 149, "request_block": 7})
			}),
		},
		{
			"correlation and timeout",
			d{"job_type": "llm", "prompt": "...", "correlation_id": "0xabc", "reply_handler": "r"},
			with(answered(llm(func(*chain.LLMJob) {}), self, "r"), func(s *chain.JobSpec, _ *chain.JobTerms) { s.Callback.CorrelationID = "0xabc" }),
		},
		{
			"resource bounds",
			d{
				"type": "llm", "model_id": modelText, "prompt": "...", "trust_model": "n_of_m", "tee_required": false,
				"bounds": d{
					"max_input_tokens": 4000, "max_output_tokens": 2000, "max_wall_time_seconds": 60, "max_memory_mb": 512,
					"max_retries": 2, "max_price": 100_000_000,
				},
			},
			with(llm(func(j *chain.LLMJob) { j.ModelID = modelID }), func(s *chain.JobSpec, _ *chain.JobTerms) {
				s.Verification = chain.Verification{Mode: chain.VerifyMajorityVote, Runners: 5, Threshold: 3}
			}),
		},
		{
			"priority tips",
			d{"type": "llm", "prompt": "...", "max_price": 100_000_000, "tip": 10_000_000},
			with(llm(func(*chain.LLMJob) {}), func(s *chain.JobSpec, _ *chain.JobTerms) { s.Tip = 10_000_000 }),
		},
		{
			"mode none",
			d{"type": "llm", "prompt": "...", "verification": d{"mode": "none"}},
			llm(func(*chain.LLMJob) {}),
		},
		{
			"economic_bond",
			d{"type": "llm", "prompt": "...", "result_schema": d{"schema": schema}, "verification": d{
				"mode": "economic_bond", "bond_multiplier": 2.0, "objective_checks": []any{"schema_valid", "min_length", "no_prompt_leak"},
			}},
			with(llm(func(*chain.LLMJob) {}), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.Verification.Mode = chain.VerifyEconomicBond
				terms.BondMultiplierE6 = ptr(uint64(2_000_000))
				terms.ObjectiveChecks = []chain.ObjectiveCheck{&chain.SchemaObjective{}, &chain.MinLengthObjective{Bytes: 1}, &chain.PromptLeakObjective{}}
				terms.ResultSchema.Schema, terms.ResultSchema.DataFormat = &schemaText, chain.FormatJSON
			}),
		},
		{
			"majority_vote",
			d{"type": "llm", "prompt": "...", "verification": d{"mode": "majority_vote", "runners": 5, "threshold": 3, "vote_field": "classification"}},
			with(llm(func(*chain.LLMJob) {}), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.Verification = chain.Verification{Mode: chain.VerifyMajorityVote, Runners: 5, Threshold: 3}
				terms.VoteField = ptr("classification")
				jsonData(s, terms)
			}),
		},
		{
			"structured_match",
			d{"type": "llm", "prompt": "...", "verification": d{
				"mode": "structured_match", "runners": 3, "threshold": 2,
				"checks": []any{
					d{"fn": "json_schema_valid", "schema": schema},
					d{"fn": "structured_match", "fields": []any{"entity_name", "entity_type"}},
					d{"fn": "numeric_tolerance", "field": "confidence", "tolerance": 0.05},
				},
			}},
			with(llm(func(*chain.LLMJob) {}), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.Verification = chain.Verification{Mode: chain.VerifyStructured, Runners: 3, Threshold: 2, Checks: []chain.VerifierCheck{
					&chain.SchemaCheck{Schema: schemaText}, &chain.FieldsCheck{Fields: []string{"entity_name", "entity_type"}},
					&chain.ToleranceCheck{Field: "confidence", Tolerance: 0.05},
				}}
				jsonData(s, terms)
			}),
		},
		{
			"deterministic",
			d{"type": "llm", "prompt": "...", "toolchain_digest": id[:], "verification": d{
				"mode": "deterministic", "runners": 3, "threshold": 3, "tee_required": true,
				"inference_config": d{"temperature": 0, "seed": 12345, "framework": "vllm@0.4"},
			}},
			with(llm(func(*chain.LLMJob) {}), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.Verification = chain.Verification{Mode: chain.VerifyDeterministic, Runners: 3, Threshold: 3, TEERequired: true}
				terms.ToolchainDigest, terms.Seed = id, 12345
				terms.InferenceConfig = encode(nil, d{"temperature": 0, "seed": 12345, "framework": "vllm@0.4"})
			}),
		},
		{
			"semantic_similarity",
			d{"type": "llm", "prompt": "...", "verification": d{
				"mode": "semantic_similarity", "runners": 3, "threshold": 2, "similarity_threshold": 0.85, "embedding_model": modelText,
			}},
			with(llm(func(*chain.LLMJob) {}), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.Verification = chain.Verification{Mode: chain.VerifySimilarity, Runners: 3, Threshold: 2}
				terms.Similarity = &chain.Similarity{ThresholdE6: 850_000, EmbeddingModel: modelID}
			}),
		},
		{
			"custom verifier",
			d{"type": "llm", "prompt": "...", "result_schema": d{"schema": schema}, "verification": d{
				"mode":   "structured_match",
				"checks": []any{d{"fn": "json_schema_valid"}, d{"fn": "custom", "actor": actorText, "method": "verify_output"}},
			}},
			with(llm(func(*chain.LLMJob) {}), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.Verification = chain.Verification{Mode: chain.VerifyStructured, Runners: 5, Threshold: 3, Checks: []chain.VerifierCheck{
					&chain.SchemaCheck{Schema: schemaText}, &chain.CustomCheck{Actor: actorText, Method: "verify_output"},
				}}
				terms.ResultSchema.Schema, terms.VerifierCycles = &schemaText, 100_000
				jsonData(s, terms)
			}),
		},
		{
			"freshness",
			d{"type": "http", "url": "https://api.exchange.com/price/BTC", "freshness": d{
				"max_age_seconds": 10, "timestamp_field": "$.data.timestamp", "reference": "block",
			}},
			with(page("https://api.exchange.com/price/BTC"), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.JobType.(*chain.HTTPJob).Freshness = &chain.Freshness{MaxAgeSeconds: 10, TimestampField: ptr("$.data.timestamp")}
				terms.FreshnessReference = &chain.FreshnessReference{Reference: chain.FreshAtBlock, ToleranceMillis: 10_000}
			}),
		},
		{
			"snapshot first_valid",
			d{"type": "http", "url": "https://a.com", "snapshot": d{"mode": "first_valid"}},
			with(page("https://a.com"), func(_ *chain.JobSpec, terms *chain.JobTerms) {
				terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotFirstValid}
			}),
		},
		{
			"snapshot median",
			d{"type": "http", "url": "https://a.com", "snapshot": d{"mode": "median", "outlier_threshold": 0.02}},
			with(page("https://a.com"), func(s *chain.JobSpec, terms *chain.JobTerms) {
				terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: 20_000}
				jsonData(s, terms)
			}),
		},
		{
			"http_extract",
			d{
				"type": "http_extract", "url": disclosures,
				"extraction": d{
					"method": "css_selector", "selectors": d{"representative": "div.member-name::text", "ticker": "td.asset-ticker::text"},
					"schema": d{"type": "array", "items": d{"type": "object", "properties": d{"ticker": d{"type": "string"}}}},
				},
				"verification": d{"mode": "structured_match", "runners": 3, "threshold": 2, "fields": []any{"[*].ticker", "[*].transaction_type"}},
			},
			with(page(disclosures), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.Verification = chain.Verification{Mode: chain.VerifyStructured, Runners: 3, Threshold: 2, Checks: []chain.VerifierCheck{
					&chain.FieldsCheck{Fields: []string{"[*].ticker", "[*].transaction_type"}},
				}}
				terms.Extraction = &chain.Extraction{
					Method:    chain.ExtractCSS,
					Selectors: chain.TextMap{{Name: "ticker", Value: "td.asset-ticker::text"}, {Name: "representative", Value: "div.member-name::text"}},
					Schema:    ptr(`{"type":"array","items":{"type":"object","properties":{"ticker":{"type":"string"}}}}`),
				}
				jsonData(s, terms)
			}),
		},
		{
			"secrets",
			d{
				"type": "http", "url": "https://api.broker.com/portfolio", "auth": d{"type": "bearer", "secret_ref": "broker_api_key"},
				"verification": d{"mode": "economic_bond", "tee_required": true},
			},
			with(page("https://api.broker.com/portfolio"), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.Verification.Mode, s.Verification.TEERequired = chain.VerifyEconomicBond, true
				terms.BondMultiplierE6, terms.SecretRef = ptr(uint64(2_000_000)), ptr("broker_api_key")
			}),
		},
		{
			"price feed oracle",
			d{
				"type": "http", "url": "https://api.coingecko.com/api/v3/simple/price?ids=bitcoin&vs_currencies=usd",
				"freshness":    d{"max_age_seconds": 30, "reference": "block"},
				"extraction":   d{"method": "jsonpath", "selectors": d{"price": "$.bitcoin.usd"}},
				"snapshot":     d{"mode": "median", "outlier_threshold": 0.01},
				"verification": d{"mode": "median", "runners": 5, "threshold": 3},
			},
			with(page("https://api.coingecko.com/api/v3/simple/price?ids=bitcoin&vs_currencies=usd"), func(s *chain.JobSpec, terms *chain.JobTerms) {
				s.JobType.(*chain.HTTPJob).Freshness = &chain.Freshness{MaxAgeSeconds: 30}
				s.Verification = chain.Verification{Mode: chain.VerifyStructured, Runners: 5, Threshold: 3}
				terms.FreshnessReference = &chain.FreshnessReference{ToleranceMillis: 30_000}
				terms.Extraction = &chain.Extraction{Method: chain.ExtractJSONPath, Selectors: chain.TextMap{{Name: "price", Value: "$.bitcoin.usd"}}}
				terms.Snapshot = &chain.Snapshot{Mode: chain.SnapshotMedian, OutlierE6: 10_000}
				jsonData(s, terms)
			}),
		},
	} {
		got, err := read(t, tt.dict, caller())
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		same(t, tt.name, got, tt.want)
		err = judge.Check(&got.Spec, &got.Terms)
		if want := notJudged[tt.name]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the judge says %v, want %q", tt.name, err, want)
		}
	}
}

// notJudged is what the judge refuses of the whitepaper's jobs, by name.
var notJudged = map[string]string{
	"economic_bond":       "JSON Schema",
	"structured_match":    "json_schema_valid",
	"deterministic":       "deterministic",
	"semantic_similarity": "semantic_similarity",
	"custom verifier":     "JSON Schema",
	"http_extract":        "several values",
}

func same(t *testing.T, name string, got, want *ask.Asked) {
	t.Helper()
	if !bytes.Equal(got.Spec.Encode(), want.Spec.Encode()) {
		t.Errorf("%s: specification\n got %+v of %+v\nwant %+v of %+v", name, got.Spec, got.Spec.JobType, want.Spec, want.Spec.JobType)
	}
	if !bytes.Equal(got.Terms.Encode(), want.Terms.Encode()) {
		t.Errorf("%s: terms\n got %+v\nwant %+v", name, got.Terms, want.Terms)
	}
	if got.VRAM != want.VRAM {
		t.Errorf("%s: memory %d, want %d", name, got.VRAM, want.VRAM)
	}
}

// TestSpellings: two spellings of a job have one form.
func TestSpellings(t *testing.T) {
	for _, tt := range []struct {
		name     string
		one, two d
		by2      *ask.Caller
	}{
		{"type", d{"type": "llm", "prompt": "p"}, d{"job_type": "llm", "prompt": "p"}, nil},
		{"price", d{"type": "llm", "prompt": "p", "max_price": 5}, d{"type": "llm", "prompt": "p", "bounds": d{"max_price": 5}}, nil},
		{"tool", d{"type": "mcp", "server": "s", "tool": "t"}, d{"type": "mcp", "server": "s", "tool_name": "t", "arguments": d{}}, nil},
		{"null", d{"type": "llm", "prompt": "p"}, d{"type": "llm", "prompt": "p", "temperature": nil, "bounds": nil, "no such key": nil}, nil},
		{"hash", d{"type": "llm", "prompt": "p", "model_id": modelText}, d{"type": "llm", "prompt": "p", "model_id": modelID[:]}, nil},
		{"address", d{"type": "llm", "prompt": "p", "reply_to": actorText, "reply_handler": "h"}, d{"type": "llm", "prompt": "p", "reply_to": bytes.Repeat([]byte{0xcd}, 20), "reply_handler": "h"}, nil},
		{"handler", d{"type": "llm", "prompt": "p", "reply_handler": "h"}, d{"type": "llm", "prompt": "p"}, &ask.Caller{Actor: self, Handler: "h", Correlation: "own"}},
		{"query", d{"type": "http", "url": "https://a.com/x?a=1&n=3&q=b%20c"}, d{"type": "http", "url": "https://a.com/x?a=1", "params": d{"q": "b c", "n": 3}}, nil},
		{"body", d{"type": "http", "url": "https://a.com", "body": "{\"a\":1.5}"}, d{"type": "http", "url": "https://a.com", "body": d{"a": 1.5}}, nil},
		{"majority", d{"type": "http", "url": "https://a.com", "verification": d{"mode": "majority", "vote_field": "s"}}, d{"type": "http", "url": "https://a.com", "snapshot": d{"mode": "majority"}, "verification": d{"mode": "majority_vote", "vote_field": "s", "runners": 5, "threshold": 3}}, nil},
		{"threshold", d{"type": "llm", "prompt": "p", "verification": d{"mode": "structured_match", "runners": 4}}, d{"type": "llm", "prompt": "p", "verification": d{"mode": "structured_match", "runners": 4, "threshold": 3}}, nil},
		{"whole floats of arguments", d{"type": "mcp", "server": "s", "tool": "t", "arguments": d{"n": 3.0}}, d{"type": "mcp", "server": "s", "tool": "t", "arguments": d{"n": 3}}, nil},
		{"retry", d{"type": "llm", "prompt": "p", "retry": d{"attempts": 3, "backoff": 1}}, d{"type": "llm", "prompt": "p", "bounds": d{"max_retries": 3}}, nil},
		{"tokens raise their bound", d{"type": "llm", "prompt": "p", "max_tokens": 9_000}, d{"type": "llm", "prompt": "p", "max_tokens": 9_000, "bounds": d{"max_output_tokens": 9_000}}, nil},
	} {
		by := tt.by2
		if by == nil {
			by = caller()
		}
		one, err := read(t, tt.one, caller())
		two, err2 := read(t, tt.two, by)
		if tt.name == "null" { // a key of no meaning is refused whatever it holds
			if err2 == nil {
				t.Error("a key of no meaning passes if it is null")
			}
			delete(tt.two, "no such key")
			two, err2 = read(t, tt.two, by)
		}
		if err != nil || err2 != nil {
			t.Errorf("%s: %v, %v", tt.name, err, err2)
			continue
		}
		same(t, tt.name, two, one)
	}
}

// TestContinuationKeepsItsName: a handler that waits is found by its own correlation.
func TestContinuationKeepsItsName(t *testing.T) {
	by := &ask.Caller{Actor: self, Handler: "__continuation__", Correlation: "own", Resumes: true}
	got, err := read(t, d{"type": "llm", "prompt": "p", "correlation_id": "mine"}, by)
	if err != nil || got.Spec.Callback.CorrelationID != "own" || got.Spec.Callback.Handler != "__continuation__" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, extra := range []d{{"reply_to": other[:]}, {"reply_handler": "h"}} {
		extra["type"], extra["prompt"] = "llm", "p"
		if _, err := read(t, extra, by); err == nil {
			t.Errorf("%v sends the answer elsewhere", extra)
		}
	}
}

// TestRefusedKeys: what is wrong is named by its key.
func TestRefusedKeys(t *testing.T) { // resolution 12.56: unknown keys are refused by name
	job := func(extra d) d {
		out := d{"type": "llm", "prompt": "p"}
		for k, v := range extra {
			out[k] = v
		}
		return out
	}
	verified := func(v d) d { return job(d{"verification": v}) }
	checked := func(c d) d {
		return verified(d{"mode": "structured_match", "checks": []any{d{"fn": "exact_match"}, c}})
	}
	for _, tt := range []struct {
		dict d
		key  string
		is   error
	}{
		{d{}, "type", ask.ErrMissing},
		{d{"type": "llm"}, "prompt", ask.ErrMissing},
		{d{"type": "LLM", "prompt": "p"}, "type", nil},
		{d{"type": "llm", "job_type": "llm", "prompt": "p"}, "job_type", ask.ErrTwice},
		{job(d{"url": "https://a.com"}), "url", ask.ErrUnknownKey},
		{job(d{"promt": "p"}), "promt", ask.ErrUnknownKey},
		{job(d{"max_price": 1, "bounds": d{"max_price": 1}}), "max_price", ask.ErrTwice},
		{job(d{"max_price": -1}), "max_price", nil},
		{job(d{"max_price": 1.5}), "max_price", nil},
		{job(d{"bounds": d{"max_tokens": 1}}), "bounds.max_tokens", ask.ErrUnknownKey},
		{job(d{"bounds": d{"max_memory_mb": uint64(1) << 32}}), "bounds.max_memory_mb", ask.ErrRange},
		{job(d{"bounds": []any{}}), "bounds", nil},
		{job(d{"reply_to": other[:]}), "reply_handler", ask.ErrMissing},
		{job(d{"reply_to": "0x12"}), "reply_to", nil},
		{job(d{"trust_model": "tee"}), "trust_model", ask.ErrRange},
		{job(d{"trust_model": "n_of_m", "verification": d{"mode": "none"}}), "trust_model", ask.ErrRange},
		{job(d{"freshness": d{"max_age_seconds": 1}}), "freshness", ask.ErrRange},
		{job(d{"retry": d{"attempts": 2, "backoff": 4}}), "retry.backoff", ask.ErrRange},
		{job(d{"auth": d{"type": "basic", "secret_ref": "s"}}), "auth.type", ask.ErrRange},
		{job(d{"auth": d{}}), "auth.secret_ref", ask.ErrMissing},
		{job(d{"snapshot": d{"mode": "newest"}}), "snapshot.mode", nil},
		{job(d{"judge_steps": 999}), "judge_steps", ask.ErrRange},
		{verified(d{}), "verification.mode", ask.ErrMissing},
		{verified(d{"mode": "vote"}), "verification.mode", nil},
		{verified(d{"mode": "none", "runners": 256}), "verification.runners", ask.ErrRange},
		{verified(d{"mode": "none", "quorum": 2}), "verification.quorum", ask.ErrUnknownKey},
		{verified(d{"mode": "semantic_similarity"}), "verification.similarity_threshold", ask.ErrMissing},
		{verified(d{"mode": "semantic_similarity", "similarity_threshold": 1.1}), "verification.similarity_threshold", ask.ErrRange},
		{verified(d{"mode": "economic_bond", "objective_checks": []any{"entropy"}}), "verification.objective_checks[0].min_entropy", ask.ErrMissing},
		{verified(d{"mode": "economic_bond", "objective_checks": []any{"beauty"}}), "verification.objective_checks[0].fn", nil},
		{checked(d{"fn": "looks_good"}), "verification.checks[1].fn", nil},
		{checked(d{"fn": "json_schema_valid"}), "verification.checks[0].schema", ask.ErrMissing},
		{checked(d{"fn": "custom", "actor": actorText}), "verification.checks[1].method", ask.ErrMissing},
		{checked(d{"fn": "numeric_range", "field": "f", "min": 0, "max": 1, "step": 1}), "verification.checks[1].step", ask.ErrUnknownKey},
		{job(d{"verification": d{"mode": "median", "runners": 5}, "snapshot": d{"mode": "latest"}}), "snapshot.mode", ask.ErrTwice},
		{d{"type": "http", "url": "https://a.com", "params": d{"x": []any{}}}, "params.x", nil},
		{d{"type": "http", "url": "https://a.com#f", "params": d{"x": 1}}, "params", nil},
		{d{"type": "http", "url": "https://a.com", "headers": d{"x": 1}}, "headers.x", nil},
		{d{"type": "http_extract", "url": "https://a.com"}, "extraction", ask.ErrMissing},
		{d{"type": "http", "url": "https://a.com", "extraction": d{"method": "sed", "selectors": d{}}}, "extraction.method", nil},
		{d{"type": "http", "url": "https://a.com", "freshness": d{"reference": "absolute"}}, "freshness.timestamp_ms", ask.ErrMissing},
		{d{"type": "custom", "params": "x"}, "executor_hash", ask.ErrMissing},
		{d{"type": "mcp", "server": "s", "tool": "t", "arguments": d{"b": []byte{1}}}, "arguments", nil},
		{d{"type": "http", "url": "https://a.com/" + strings.Repeat("x", 2_048)}, "", cbor.ErrTooLong},
		{job(d{"context": strings.Repeat("x", 16<<10)}), "", cbor.ErrTooLong},
		{job(d{"result_schema": d{"data_format": "xml"}}), "", chain.ErrDataFormat},
	} {
		_, err := read(t, tt.dict, caller())
		var wrong *ask.KeyError
		if !errors.As(err, &wrong) || wrong.Key != tt.key || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%v: %v, want one of key %q that is %v", tt.dict, err, tt.key, tt.is)
		}
	}
}

// TestOddDictionaries: bytes that are no dictionary are refused as a whole.
func TestOddDictionaries(t *testing.T) {
	p := params.Default()
	for _, b := range [][]byte{nil, {0x80}, {0xa1}, {0xa1, 0x01, 0x01}, encode(nil, "llm"), append(encode(nil, d{"type": "llm", "prompt": "p"}), 0), bytes.Repeat([]byte{0x60}, ask.MaxBytes+1)} {
		if _, err := ask.Read(b, caller(), &p); err == nil {
			t.Errorf("%x passes", b[:min(len(b), 20)])
		}
	}
	many := d{"type": "llm", "prompt": "p"}
	for i := range 64 {
		many["k"+strings.Repeat("k", i)] = 1
	}
	if _, err := read(t, many, caller()); err == nil {
		t.Error("65 keys pass")
	}
}

func TestMillionths(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  uint64
	}{
		{0, 0},
		{1, 1_000_000},
		{0.85, 850_000},
		{0.1, 100_000},
		{1e-6, 1},
		{5e-7, 0},
		{4e-7, 0},
		{5e-324, 0},
		{1.0, 1_000_000},
		{0.9999995, 1_000_000},
		{math.SmallestNonzeroFloat64, 0},
		{math.Copysign(0, -1), 0},
	} {
		got, err := read(t, d{"type": "llm", "prompt": "p", "verification": d{"mode": "semantic_similarity", "similarity_threshold": tt.value}}, caller())
		if err != nil || got.Terms.Similarity.ThresholdE6 != uint32(tt.want) {
			t.Errorf("%v: %+v, %v", tt.value, got, err)
		}
	}
	for _, tt := range []struct {
		value any
		want  uint64
	}{{1e12, 1_000_000_000_000_000_000}, {18_000_000_000_000, 18_000_000_000_000_000_000}, {2.5, 2_500_000}} {
		got, err := read(t, d{"type": "llm", "prompt": "p", "verification": d{"mode": "economic_bond", "bond_multiplier": tt.value}}, caller())
		if err != nil || *got.Terms.BondMultiplierE6 != tt.want {
			t.Errorf("%v: %+v, %v", tt.value, got, err)
		}
	}
	for _, v := range []any{-1, -0.5, 1e14, 1e300, uint64(math.MaxUint64), "2", true} {
		if _, err := read(t, d{"type": "llm", "prompt": "p", "verification": d{"mode": "economic_bond", "bond_multiplier": v}}, caller()); err == nil {
			t.Errorf("%v passes", v)
		}
	}
}

// TestCallerIsText: the handler and the correlation that a call brings go into the job's
// record as those of the dictionary do, which are text that was read.
func TestCallerIsText(t *testing.T) { // ADR 243
	p := params.Default()
	for _, by := range []*ask.Caller{
		{Actor: self, Handler: "a\xed\xa0\x80", Correlation: "own"},
		{Actor: self, Handler: "h", Correlation: "\xff"},
	} {
		if _, err := ask.Read(encode(nil, d{"type": "llm", "prompt": "p"}), by, &p); !errors.Is(err, cbor.ErrUTF8) {
			t.Errorf("%q, %q: %v", by.Handler, by.Correlation, err)
		}
	}
}
