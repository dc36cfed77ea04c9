package ask_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs/ask"
)

// choices makes decisions out of the bytes of a fuzzer; without any left it takes the first.
type choices struct{ b []byte }

func (c *choices) below(n int) int {
	if len(c.b) == 0 {
		return 0
	}
	v := int(c.b[0])
	c.b = c.b[1:]
	return v % n
}

func pick[T any](c *choices, from ...T) T { return from[c.below(len(from))] }

// leaf is a value that fits nearly nowhere, or nearly everywhere.
func (c *choices) leaf() any {
	return pick[any](c, nil, "x", 1, 0, 3, -1, 0.85, 2.0, true, false, []byte{1}, []any{"a", "b"}, d{"a": 1}, uint64(1)<<40, "", 1e300, []any{})
}

// fill gives some keys of a vocabulary values: mostly of those that fit.
func (c *choices) fill(m d, vocabulary map[string][]any, names []string) d {
	for _, name := range names {
		switch c.below(4) {
		case 1, 2:
			m[name] = pick(c, vocabulary[name]...)
		case 3:
			if c.below(8) == 0 {
				m[name] = c.leaf()
			}
		}
	}
	return m
}

func (c *choices) check() any {
	fn := pick(c, "exact_match", "majority_vote", "json_schema_valid", "structured_match", "numeric_tolerance", "set_equality", "contains_all", "custom", "supermajority_vote", "none_such")
	m := d{"fn": fn}
	words := map[string][]any{
		"field": {"a", "$.b"}, "fields": {[]any{"a"}, []any{"a", "[*].b"}}, "schema": {d{"type": "object", "a": []any{1, -2, 0.5, nil, true, "\"é\\"}}, "{}"},
		"tolerance": {0.05, 1, 0}, "substrings": {[]any{"x"}}, "actor": {actorText}, "method": {"verify"}, "threshold": {0.6, 1, 0.6666666},
	}
	needs := map[string][]string{
		"majority_vote": {"field"}, "json_schema_valid": {"schema"}, "structured_match": {"fields"}, "numeric_tolerance": {"field", "tolerance"},
		"set_equality": {"field"}, "contains_all": {"substrings"}, "custom": {"actor", "method"}, "supermajority_vote": {"field", "threshold"},
	}
	for _, name := range needs[fn] {
		if c.below(8) != 0 {
			m[name] = pick(c, words[name]...)
		}
	}
	if c.below(16) == 1 {
		m["extra"] = 1
	}
	return m
}

// dictionary is a job that somebody might ask for, with a mistake now and then.
func (c *choices) dictionary() d {
	m := d{pick(c, "type", "job_type"): pick(c, "llm", "http", "http_extract", "llm", "http")}
	kind, _ := m["type"].(string)
	if kind == "" {
		kind, _ = m["job_type"].(string)
	}
	if kind == "llm" {
		m["prompt"] = "p"
		c.fill(m, map[string][]any{
			"system_prompt": {"s"}, "temperature": {0.7, 0, 1}, "max_tokens": {10, 9_000}, "model_id": {modelText, modelID[:]}, "response_model": {"{}", d{"type": "object"}},
		}, []string{"system_prompt", "temperature", "max_tokens", "model_id", "response_model"})
	} else {
		m["url"] = "https://a.com/"
		c.fill(m, map[string][]any{
			"method": {"POST"}, "headers": {d{"a": "b", "Accept": "c"}, d{}}, "body": {"text", []byte{1, 2}, d{"k": []any{1, 2.5}}},
			"extraction": {"$.a", d{"method": "css", "selectors": d{"p": "x"}}, d{"method": "jsonpath", "selectors": d{}, "schema": d{"type": "array"}}, d{"method": "sed"}},
			"freshness":  {d{"max_age_seconds": 30, "reference": "block"}, d{"reference": "absolute", "timestamp_ms": 7}, d{"reference": "submission", "tolerance_ms": 5, "timestamp_field": "$.t"}, d{"timestamp_ms": 7}},
		}, []string{"method", "headers", "body", "extraction", "freshness"})
	}
	c.fill(m, map[string][]any{
		"tip": {5}, "timeout_blocks": {40, 0}, "required_runner_pool": {"pool"}, "min_vram_gb": {24}, "trust_model": {"n_of_m"}, "max_price": {7, 0}, "tee_required": {true, false},
		"reply_handler": {"h"}, "reply_to": {other[:], actorText}, "correlation_id": {"c"}, "context": {d{"a": []any{1, "x", nil}}, "text", []byte{1}}, "callback_cycles": {5_000},
		"seed": {9}, "judge_steps": {5_000}, "verifier_cycles": {77}, "toolchain_digest": {id[:]}, "retry": {d{"attempts": 4, "backoff": 1}},
		"bounds":        {d{"max_input_tokens": 1, "max_output_tokens": 2, "max_wall_time_seconds": 3}, d{"max_price": 8}, d{"max_memory_mb": 0, "max_retries": 9}},
		"snapshot":      {d{"mode": "first_valid"}, d{"mode": "median", "outlier_threshold": 0.02}, d{"mode": "majority"}, d{"mode": "latest"}},
		"result_schema": {d{"max_return_bytes": 100, "data_format": "json"}, d{"schema": d{"type": "object"}}, d{"expected_execution_ms": 1, "data_format": "bytes"}},
		"auth":          {d{"type": "bearer", "secret_ref": "s"}, d{"secret_ref": "s"}},
	}, []string{
		"tip", "timeout_blocks", "required_runner_pool", "min_vram_gb", "trust_model", "max_price", "tee_required", "reply_handler", "reply_to", "correlation_id", "context",
		"callback_cycles", "seed", "judge_steps", "verifier_cycles", "toolchain_digest", "retry", "bounds", "snapshot", "result_schema", "auth",
	})
	if c.below(4) != 0 {
		v := d{"mode": pick(c, "none", "economic_bond", "majority_vote", "structured_match", "deterministic", "semantic_similarity", "median", "majority", "vote")}
		c.fill(v, map[string][]any{
			"runners": {1, 3, 5, 255}, "threshold": {1, 2, 3}, "vote_field": {"a", "$.b"}, "fields": {[]any{"a", "b"}}, "tee_required": {true}, "required_tee_type": {"sgx"},
			"dispute_window_blocks": {75}, "bond_multiplier": {2.0, 1, 0.1}, "similarity_threshold": {0.85, 1}, "embedding_model": {modelText},
		}, []string{"runners", "threshold", "vote_field", "fields", "tee_required", "required_tee_type", "dispute_window_blocks", "bond_multiplier", "similarity_threshold", "embedding_model"})
		if n := c.below(4); n > 0 {
			var list []any
			for range n {
				list = append(list, c.check())
			}
			v["checks"] = list
		}
		m["verification"] = v
	}
	if c.below(16) == 1 {
		m[fmt.Sprintf("key%d", c.below(3))] = c.leaf()
	}
	return m
}

// FuzzDictionaries: of random dictionaries the plain reader takes the same, and makes the
// same of them.
func FuzzDictionaries(f *testing.F) {
	for i := range 64 {
		f.Add(bytes.Repeat([]byte{byte(i), byte(i * 7), byte(i * 31), byte(255 - i)}, 40))
	}
	p := params.Default()
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &choices{b}
		by := pick(c, caller(), &ask.Caller{Actor: self, Handler: "h", Correlation: "own"}, &ask.Caller{Actor: self, Handler: "__continuation__", Correlation: "own", Resumes: true})
		dict := c.dictionary()
		got, err := ask.Read(encode(nil, dict), by, &p)
		want := readPlain(dict, by)
		if (err == nil) != (want != nil) {
			t.Fatalf("%v\n%v, the plain reader takes it: %v", dict, err, want != nil)
		}
		if err == nil {
			same(t, fmt.Sprint(dict), got, want)
		}
	})
}

// TestDictionariesReachBothEnds: the generator makes jobs that are taken and jobs that are
// refused, so that the comparison means something.
func TestDictionariesReachBothEnds(t *testing.T) {
	var taken, refused int
	seed := uint32(1)
	for range 2_000 {
		b := make([]byte, 120)
		for i := range b {
			seed = seed*1_664_525 + 1_013_904_223
			b[i] = byte(seed >> 24)
		}
		c := &choices{b}
		dict := c.dictionary()
		p := params.Default()
		got, err := ask.Read(encode(nil, dict), caller(), &p)
		want := readPlain(dict, caller())
		if (err == nil) != (want != nil) {
			t.Fatalf("%v\n%v, the plain reader takes it: %v", dict, err, want != nil)
		}
		if err != nil {
			refused++
			continue
		}
		taken++
		same(t, fmt.Sprint(dict), got, want)
	}
	if taken < 50 || refused < 50 {
		t.Errorf("%d taken, %d refused", taken, refused)
	}
}

// FuzzRead: whatever the bytes, the answer is a job that decodes again, or an error; and it
// is the same twice.
func FuzzRead(f *testing.F) {
	f.Add(encode(nil, d{"type": "llm", "prompt": "p"}))
	f.Add(encode(nil, d{"type": "http", "url": "https://a.com", "params": d{"q": 1}, "verification": d{"mode": "median", "checks": []any{d{"fn": "dns_txt", "fqdn": "a", "expected_value": "b"}}}}))
	f.Add(encode(nil, d{"type": "mcp", "server": "s", "tool": "t", "arguments": d{"a": []any{1.0, -0.5, d{}}}}))
	f.Add(encode(nil, d{"type": "agent", "model": "m", "query": "q"}))
	f.Add(encode(nil, d{"type": "custom", "executor_hash": id[:], "params": d{"a": 1}}))
	p := params.Default()
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := ask.Read(b, caller(), &p)
		if err != nil {
			return
		}
		spec, terms := got.Spec.Encode(), got.Terms.Encode()
		if back, err := chain.DecodeJobSpec(spec); err != nil || !bytes.Equal(back.Encode(), spec) {
			t.Fatalf("specification: %v", err)
		}
		if back, err := chain.DecodeJobTerms(terms); err != nil || !bytes.Equal(back.Encode(), terms) {
			t.Fatalf("terms: %v", err)
		}
		again, err := ask.Read(b, caller(), &p)
		if err != nil || !bytes.Equal(again.Spec.Encode(), spec) {
			t.Fatal("another answer to the same")
		}
	})
}
