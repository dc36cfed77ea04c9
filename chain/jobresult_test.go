package chain

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

func pinResult() *RunnerResult {
	return &RunnerResult{
		Version: RunnerResultVersion, Attempt: 2, Outcome: OutcomeOK, Data: []byte(`{"answer":"Paris"}`),
		Usage: RunnerUsage{120, 9, 1500, 256, 1}, TimestampMillis: 1_700_000_000_123, TEE: []byte{1, 2, 3},
		Source: &ResultSource{
			URL: "https://api.example.com/v1", Status: 200, ResponseHash: Hash(counting(0x13, 32)), TLSFingerprint: Hash(counting(0x14, 32)),
			Headers: TextMap{{"date", "Fri"}, {"etag", "7"}, {"content-type", "application/json"}}, DataTimestampMillis: 1_700_000_000_000,
		},
		Embedding: []byte{0x00, 0x01, 0xff, 0xfe},
	}
}

// pinFailure is the smallest result.
func pinFailure() *RunnerResult {
	return &RunnerResult{Version: RunnerResultVersion, Outcome: OutcomeImpossible, Detail: &ResultDetail{1, 4, "no such model"}}
}

func resultForms() []form {
	keys := strings.Fields("version attempt outcome data usage timestamp_ms tee source embedding detail")
	return []form{
		{
			name: "runner_result", most: MaxResultBytes, decode: decodes(DecodeRunnerResult), sample: pinResult(), keys: keys,
			plain: map[int]any{
				0: 1, 1: 2, 2: 0, 3: []byte(`{"answer":"Paris"}`), 4: map[int]any{0: 120, 1: 9, 2: 1500, 3: 256, 4: 1}, 5: uint64(1_700_000_000_123), 6: []byte{1, 2, 3},
				7: map[int]any{
					0: "https://api.example.com/v1", 1: 200, 2: counting(0x13, 32), 3: counting(0x14, 32),
					4: map[string]string{"content-type": "application/json", "date": "Fri", "etag": "7"}, 5: uint64(1_700_000_000_000),
				},
				8: []byte{0, 1, 255, 254}, 9: nil,
			},
			hash: func(e encoder) (string, Hash) { return "runner_result_digest", ResultDigest(7, pinJob, e.Encode()) },
		},
		{
			name: "runner_failure", most: MaxResultBytes, decode: decodes(DecodeRunnerResult), sample: pinFailure(), keys: keys,
			plain: map[int]any{
				0: 1, 1: 0, 2: 1, 3: []byte{}, 4: map[int]any{0: 0, 1: 0, 2: 0, 3: 0, 4: 0}, 5: 0, 6: nil, 7: nil, 8: nil,
				9: []any{1, 4, "no such model"},
			},
			hash: func(e encoder) (string, Hash) {
				return "runner_failure_commitment", ResultCommitment(e.Encode(), [65]byte(counting(1, 65)))
			},
		},
	}
}

func TestResultRefuses(t *testing.T) { // resolutions 12.31, 12.32
	many := func(n int) string { return strings.Repeat("a", n) }
	headers := func(n int) (m TextMap) {
		for i := range n {
			m = append(m, TextPair{string(rune('a' + i)), ""})
		}
		return m
	}
	fails := func(o Outcome, d *ResultDetail) func(*RunnerResult) {
		return func(x *RunnerResult) { x.Outcome, x.Detail = o, d }
	}
	checkRefusals(t, pinResult, DecodeRunnerResult, []refusal[RunnerResult]{
		{"version 0", func(x *RunnerResult) { x.Version = 1 }, func(x *RunnerResult) { x.Version = 0 }, "version", nil},
		{"version 2", func(x *RunnerResult) { x.Version = 1 }, func(x *RunnerResult) { x.Version = 2 }, "version", nil},
		{"outcome 4", fails(3, &ResultDetail{0, 1, ""}), fails(4, &ResultDetail{0, 1, ""}), "outcome", nil},
		{"ok with a detail", fails(0, nil), fails(0, &ResultDetail{1, 1, ""}), "detail", ErrOutcomeDetail},
		{"failure without a detail", fails(1, &ResultDetail{0, 1, ""}), fails(1, nil), "detail", ErrOutcomeDetail},
		{"more done than there was", fails(2, &ResultDetail{1, 1, ""}), fails(2, &ResultDetail{2, 1, ""}), "total", ErrDetail},
		{"nothing to do", fails(2, &ResultDetail{0, 1, ""}), fails(2, &ResultDetail{0, 0, ""}), "total", ErrDetail},
		{"text of a failure", fails(3, &ResultDetail{0, 1, many(1024)}), fails(3, &ResultDetail{0, 1, many(1025)}), "text", cbor.ErrTooLong},
		{"64 KiB + 1", func(x *RunnerResult) { x.Data = make([]byte, 64<<10) }, func(x *RunnerResult) { x.Data = make([]byte, 64<<10+1) }, "data", cbor.ErrTooLong},
		{"enclave", func(x *RunnerResult) { x.TEE = make([]byte, 16<<10) }, func(x *RunnerResult) { x.TEE = make([]byte, 16<<10+1) }, "tee", cbor.ErrTooLong},
		{"4,097 numbers", func(x *RunnerResult) { x.Embedding = make([]byte, 8192) }, func(x *RunnerResult) { x.Embedding = make([]byte, 8194) }, "embedding", cbor.ErrTooLong},
		{"half a number", func(x *RunnerResult) { x.Embedding = []byte{} }, func(x *RunnerResult) { x.Embedding = make([]byte, 3) }, "embedding", ErrEmbedding},
		{"17 headers", func(x *RunnerResult) { x.Source.Headers = headers(16) }, func(x *RunnerResult) { x.Source.Headers = headers(17) }, "headers", cbor.ErrTooManyItems},
		{"url", func(x *RunnerResult) { x.Source.URL = many(2048) }, func(x *RunnerResult) { x.Source.URL = many(2049) }, "url", cbor.ErrTooLong},
		{
			"100 KiB + 1", func(x *RunnerResult) { x.Data = make([]byte, 64<<10) },
			func(x *RunnerResult) {
				x.Data, x.TEE, x.Source.Headers = make([]byte, 64<<10), make([]byte, 16<<10), nil
				for i := range 5 {
					x.Source.Headers = append(x.Source.Headers, TextPair{string(rune('a' + i)), many(4096)})
				}
			}, "", cbor.ErrTooLong,
		},
	})
	good := pinResult().Encode()
	usage := []byte{0x04, 0xa5, 0x00, 0x18, 120}
	if bytes.Count(good, usage) != 1 {
		t.Fatal("the usage is not where it was")
	}
	wide := slices.Concat(usage[:3], []byte{0x1b, 0, 0, 0, 1, 0, 0, 0, 0})
	_, err := DecodeRunnerResult(bytes.Replace(good, usage, wide, 1))
	refusedAs(t, "2^32 tokens", err, "RunnerUsage", "input_tokens", nil)
	attempt := bytes.Replace(good, []byte{0x01, 0x02, 0x02, 0x00}, []byte{0x01, 0x19, 0x01, 0x00, 0x02, 0x00}, 1)
	_, err = DecodeRunnerResult(attempt)
	refusedAs(t, "attempt 256", err, "RunnerResult", "attempt", nil)
}

func FuzzRunnerResult(f *testing.F) {
	f.Add(pinFailure().Encode())
	fuzzForm(f, "runner_result")
}
