package results_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	own "github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/results"
)

// alone runs a job of one runner whose result is data, and returns its answer.
func alone(t *testing.T, change func(*chain.JobSpec, *chain.JobTerms), result []byte) *results.Callback {
	t.Helper()
	w, id, r := newWorld(t), chain.Hash{0x0c}, newRunner(t, 1)
	w.height = 3
	w.stakes(r, 1_000_000)
	spec, terms := asks(1, 1, 10_000, 0)
	terms.ResultSchema.MaxReturnBytes = chain.MaxReturnBytes
	change(spec, terms)
	w.assign(id, spec, terms, w.seatsOf(r))
	w.block(func() { w.must(w.reveal(id, r, result)) })
	if len(w.callbacks) != 1 {
		t.Fatalf("%d answers, %+v", len(w.callbacks), w.job(id))
	}
	var want jobs.Calls
	if w.callbacks[0].To == w.callbacks[0].Origin { // else another has ordered it
		want.Sent = 1
	}
	if c, err := jobs.ReadCalls(w.o, w.callbacks[0].To); err != nil || c != want {
		t.Errorf("%+v calls: %v", c, err)
	}
	w.until(70)
	if len(w.callbacks) != 1 || w.job(id).Phase != jobs.Ended {
		t.Errorf("%d answers in the end, %+v", len(w.callbacks), w.job(id))
	}
	return w.callbacks[0]
}

// fields decodes an answer with another decoder.
func fields(t *testing.T, payload []byte) map[string]any {
	t.Helper()
	if err := own.Scan(payload, own.DefaultLimits()); err != nil {
		t.Fatalf("an answer that is not canonical: %v\n%x", err, payload)
	}
	mode, err := cbor.DecOptions{DefaultMapType: nil}.DecMode()
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := mode.Unmarshal(payload, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestAnswers: resolution 12.55, by data_format.
func TestAnswers(t *testing.T) {
	as := func(f chain.DataFormat) func(*chain.JobSpec, *chain.JobTerms) {
		return func(_ *chain.JobSpec, terms *chain.JobTerms) { terms.ResultSchema.DataFormat = f }
	}
	for _, c := range []struct {
		format chain.DataFormat
		data   string
		want   string // encoding of the output
	}{
		{chain.FormatText, "hi", "626869"},
		{chain.FormatBytes, "\x00\xff", "4200ff"},
		{chain.FormatJSON, `{"bb": [1, -2, null, true, false], "a": "x"}`, "a2" + "6161" + "6178" + "626262" + "8501" + "21f6f5f4"},
		{chain.FormatJSON, `[1.0, 10e-1, 1.5, 18446744073709551615, -9223372036854775808]`, "850101fb3ff80000000000001bffffffffffffffff3b7fffffffffffffff"},
		{chain.FormatJSON, `[18446744073709551616, 0.1, -2.5e3, -0.0, 1e-400]`, "85fb43f0000000000000fb3fb999999999999a3909c300fb0000000000000000"},
	} {
		a := alone(t, as(c.format), resultOf(0, c.data))
		want, err := hex.DecodeString(c.want)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"output", "result"} {
			at := bytes.Index(a.Payload, own.AppendText(nil, name))
			if at < 0 || !bytes.HasPrefix(a.Payload[at+1+len(name):], want) {
				t.Errorf("%s as %s: want %x in %x", c.data, c.format, want, a.Payload)
			}
		}
		m := fields(t, a.Payload)
		if m["status"] != "done" || m["outcome"] != "ok" || m["error"] != nil || m["correlation_id"] != "c-1" || m["context"] != nil {
			t.Errorf("answer %v", m)
		}
		if id, runners := m["job_id"].([]byte), m["runners"].([]any); len(id) != 32 || len(runners) != 1 {
			t.Errorf("answer %v", m)
		}
	}
}

// TestAnswersThatDoNotFit: what is too long for a message, nests too deep, or has a number
// beyond binary64, is named by its hash and length.
func TestAnswersThatDoNotFit(t *testing.T) {
	long := strings.Repeat("x", 33_000)
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, c := range []struct {
		format chain.DataFormat
		data   string
	}{{chain.FormatText, long}, {chain.FormatJSON, deep}, {chain.FormatJSON, "-1e309"}} {
		a := alone(t, func(_ *chain.JobSpec, terms *chain.JobTerms) {
			terms.ResultSchema.DataFormat, terms.JudgeSteps = c.format, 100_000
		}, resultOf(0, c.data))
		m := fields(t, a.Payload)
		out, ok := m["output"].(map[any]any)
		hash := keccak.Sum256([]byte(c.data))
		if got, _ := out["hash"].([]byte); !ok || !bytes.Equal(got, hash[:]) || out["bytes"] != uint64(len(c.data)) || len(a.Payload) > jobs.AnswerBytes {
			t.Errorf("%.10s: %v in %d bytes", c.data, out, len(a.Payload))
		}
	}
}

// TestWhatDoesNotFitIsKept: the longest output that an answer has room for stands in it alone;
// a byte more and it is kept for whom the answer is for, whoever ordered it, until the rows of
// the job go.
func TestWhatDoesNotFitIsKept(t *testing.T) {
	longest := 0
	for _, to := range []chain.Address{{submitter}, {0xac}} {
		keptOf := func(bytes int) *jobs.Kept {
			t.Helper()
			w, id, r := newWorld(t), chain.Hash{0x0c}, newRunner(t, 1)
			w.height = 3
			w.stakes(r, 1_000_000)
			spec, terms := asks(1, 1, 10_000, 0)
			spec.Callback.Actor, terms.ResultSchema.MaxReturnBytes, terms.JudgeSteps = to, chain.MaxReturnBytes, 100_000
			w.assign(id, spec, terms, w.seatsOf(r))
			w.block(func() { w.must(w.reveal(id, r, resultOf(0, strings.Repeat("x", bytes)))) })
			if longest == 0 { // a text has three bytes before it
				longest = bytes + (jobs.AnswerBytes-len(w.callbacks[0].Payload))/2
			}
			k, err := jobs.ReadKept(w.o, id)
			w.must(err)
			w.until(70)
			if again, err := jobs.ReadKept(w.o, id); err != nil || (again != nil) != (k != nil) || w.job(id).Phase != jobs.Ended {
				t.Errorf("behind the settlement: %v, %v", again, err)
			}
			return k
		}
		if k := keptOf(1_000); k != nil {
			t.Errorf("1,000 bytes are kept: %+v", k)
		}
		if k := keptOf(longest); k != nil {
			t.Errorf("%d bytes are kept, and stand in the answer", longest)
		}
		if k := keptOf(longest + 1); k == nil || k.To != to || k.Format != chain.FormatText || len(k.Data) != longest+1 {
			t.Errorf("of %d bytes %v are kept", longest+1, k)
		}
	}
}

// TestFailuresKeepNothing: neither what nobody agrees on nor what a runner reports is kept.
func TestFailuresKeepNothing(t *testing.T) {
	w, id, r := newWorld(t), chain.Hash{0x0c}, newRunner(t, 1)
	w.height = 3
	w.stakes(r, 1_000_000)
	spec, terms := asks(1, 1, 10_000, 0)
	terms.ResultSchema.MaxReturnBytes = chain.MaxReturnBytes
	spec.Callback.Context = bytes.Repeat([]byte{1}, 16<<10)
	w.assign(id, spec, terms, w.seatsOf(r))
	w.block(func() { w.must(w.reveal(id, r, resultOf(0, "", fails(chain.OutcomeExternalFault, 1, 2)))) })
	if k, err := jobs.ReadKept(w.o, id); err != nil || k != nil || len(w.callbacks) != 1 {
		t.Errorf("%v, %v, %d answers", k, err, len(w.callbacks))
	}
}

// TestAnswerers: the verifier answers only to who asked itself (resolution 12.53).
func TestAnswerers(t *testing.T) {
	own := chain.Address{submitter}
	a := alone(t, func(spec *chain.JobSpec, _ *chain.JobTerms) { spec.Callback.Actor = own }, resultOf(0, "x"))
	if a.From != chain.AddrResultVerifier || a.To != own || a.Origin != own || a.Handler != "answered" || a.Cycles != 90_000 {
		t.Errorf("to who asked: %+v", a)
	}
	a = alone(t, func(*chain.JobSpec, *chain.JobTerms) {}, resultOf(0, "x"))
	if a.From != own || a.To == own || a.Origin != own {
		t.Errorf("to another: %+v", a)
	}
}

// TestAnswersOfFailures: an outcome that is a failure has its name as the error, and the
// context comes back as the value that it is, or as bytes.
func TestAnswersOfFailures(t *testing.T) {
	for _, c := range []struct {
		context []byte
		want    any
	}{{[]byte{0x82, 1, 2}, []any{uint64(1), uint64(2)}}, {[]byte{0xff, 1}, []byte{0xff, 1}}} {
		a := alone(t, func(spec *chain.JobSpec, _ *chain.JobTerms) { spec.Callback.Context = c.context },
			resultOf(0, "", fails(chain.OutcomeExternalFault, 1, 2)))
		m := fields(t, a.Payload)
		if m["status"] != "failed" || m["error"] != "external_fault" || m["outcome"] != "external_fault" || m["output"] != nil {
			t.Errorf("answer %v", m)
		}
		got, _ := cbor.Marshal(m["context"])
		want, _ := cbor.Marshal(c.want)
		if !bytes.Equal(got, want) {
			t.Errorf("context %v, want %v", m["context"], c.want)
		}
	}
}

// TestAnswersTakeOfTheBlocksSteps: what an answer took to write is not there for the next
// verdict of the block, which is come to in the one behind it.
func TestAnswersTakeOfTheBlocksSteps(t *testing.T) {
	for _, c := range []struct {
		number string
		closed int // in the block of the results
	}{{"7", 2}, {"1e-310", 1}} {
		w := newWorld(t)
		w.params.Job.JudgeStepsPerBlock, w.height = 10_000, 3
		data := "[" + strings.Repeat(c.number+",", 100) + "0]"
		var runners []*runner
		for n := range 2 {
			r := newRunner(t, n+1)
			runners = append(runners, r)
			w.stakes(r, 1_000_000)
			spec, terms := asks(1, 1, 10_000, 0)
			terms.ResultSchema.DataFormat, terms.ResultSchema.MaxReturnBytes, terms.JudgeSteps = chain.FormatJSON, chain.MaxReturnBytes, 5_000
			w.assign(chain.Hash{byte(n)}, spec, terms, w.seatsOf(r))
		}
		w.block(func() {
			for n, r := range runners {
				w.must(w.reveal(chain.Hash{byte(n)}, r, resultOf(0, data)))
			}
		})
		if len(w.callbacks) != c.closed {
			t.Errorf("%s: %d answers in the block of the results, want %d", c.number, len(w.callbacks), c.closed)
		}
		if w.block(func() {}); len(w.callbacks) != 2 {
			t.Errorf("%s: %d answers in the end", c.number, len(w.callbacks))
		}
	}
}

// TestLossesForSilenceAreTold: what a single runner loses for giving no sign is an event of
// the registry, as that of several is.
func TestLossesForSilenceAreTold(t *testing.T) {
	for _, lost := range []chain.Wei{0, 77} {
		w, r := newWorld(t), newRunner(t, 1)
		w.height, w.registry.lost = 3, lost
		w.stakes(r, 1_000_000)
		spec, terms := asks(1, 1, 10_000, 0)
		w.assign(chain.Hash{1}, spec, terms, w.seatsOf(r))
		w.until(3 + 41)
		var told [][]byte
		for _, e := range w.events {
			if e.Name == jobs.EventSlashed && e.Emitter == chain.AddrRunnerRegistry {
				told = append(told, e.Data)
			}
		}
		want := append(append([]byte{0x82, 0x54}, r.addr[:]...), 0x18, 77)
		if lost == 0 && len(told) != 0 || lost > 0 && (len(told) != 1 || !bytes.Equal(told[0], want)) {
			t.Errorf("%d lost: %x", lost, told)
		}
	}
}
