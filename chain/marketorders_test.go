package chain

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// order is a request with its row, and the request as a list that was written from the
// texts.
type order struct {
	row   string
	to    Address
	fresh func() Request // to read into
	asks  Request
	plain []any
}

func orders() []order {
	plainOf := map[string]any{}
	for _, f := range forms() {
		plainOf[f.name] = f.plain
	}
	card, able, attested := *pinRateCard(), *pinCapabilities(), pinAttestation()
	spec, terms := *pinSpecOf(pinJobs()[1].job), *pinTerms()
	result, sig := pinResult().Encode(), [65]byte(counting(1, 65))
	runner := Address(counting(0x20, 20))
	registry, dispatcher, verifier := AddrRunnerRegistry, AddrJobDispatcher, AddrResultVerifier
	return []order{
		{
			"runner_register", registry, func() Request { return new(RunnerRegister) },
			&RunnerRegister{10 * WeiPerCBY, card, able, attested, "https://runner.example.com:8443/cowboy"},
			[]any{1, uint64(10_000_000_000), plainOf["rate_card"], plainOf["capabilities"], plainOf["runner_attestation"], "https://runner.example.com:8443/cowboy"},
		},
		{
			"runner_register", registry, func() Request { return new(RunnerRegister) },
			&RunnerRegister{0, card, able, nil, "https://"},
			[]any{1, 0, plainOf["rate_card"], plainOf["capabilities"], nil, "https://"},
		},
		{"runner_heartbeat", registry, func() Request { return new(RunnerHeartbeat) }, &RunnerHeartbeat{}, []any{2}},
		{
			"runner_update", registry, func() Request { return new(RunnerUpdate) },
			&RunnerUpdate{new(Wei(7)), &card, &able, attested, new("https://a")},
			[]any{3, 7, plainOf["rate_card"], plainOf["capabilities"], plainOf["runner_attestation"], "https://a"},
		},
		{"runner_update", registry, func() Request { return new(RunnerUpdate) }, &RunnerUpdate{}, []any{3, nil, nil, nil, nil, nil}},
		{"runner_deregister", registry, func() Request { return new(RunnerDeregister) }, &RunnerDeregister{}, []any{4}},
		{"runner_unstake", registry, func() Request { return new(RunnerUnstake) }, &RunnerUnstake{5}, []any{21, 5}},
		{"runner_withdraw", registry, func() Request { return new(RunnerWithdraw) }, &RunnerWithdraw{}, []any{22}},
		{"runner_pause", registry, func() Request { return new(RunnerPause) }, &RunnerPause{true}, []any{23, true}},
		{"runner_attest", registry, func() Request { return new(RunnerAttest) }, &RunnerAttest{*attested}, []any{24, plainOf["runner_attestation"]}},
		{"runner_return", registry, func() Request { return new(RunnerReturn) }, &RunnerReturn{}, []any{25}},
		{"job_submit", dispatcher, func() Request { return new(JobSubmit) }, &JobSubmit{spec, terms}, []any{5, plainOf["job_spec_http"], plainOf["job_terms"]}},
		{"job_cancel", dispatcher, func() Request { return new(JobCancel) }, &JobCancel{pinJob}, []any{6, pinJob[:]}},
		{"result_commit", verifier, func() Request { return new(ResultCommit) }, &ResultCommit{pinJob, pinSpec}, []any{7, pinJob[:], pinSpec[:]}},
		{"result_reveal", verifier, func() Request { return new(ResultReveal) }, &ResultReveal{pinJob, result, sig}, []any{8, pinJob[:], result, sig[:]}},
		{
			"result_submit", verifier, func() Request { return new(ResultSubmit) },
			&ResultSubmit{pinJob, []Reveal{{runner, result, sig}, {Address{1}, nil, sig}}},
			[]any{9, pinJob[:], []any{[]any{runner[:], result, sig[:]}, []any{append([]byte{1}, make([]byte, 19)...), []byte{}, sig[:]}}},
		},
	}
}

// read reads the arguments of a payload for a request.
func (o *order) read(payload []byte) (Request, error) {
	r := cbor.NewReader(payload)
	n, err := r.Array(len(payload))
	if err == nil {
		_, err = r.Uint()
	}
	if err != nil || n == 0 {
		return nil, err
	}
	q := o.fresh()
	if err := ReadRequest(&r, q); err != nil {
		return nil, err
	}
	return q, r.End()
}

// TestRequestsAreTheTable: the payload of each request is the row's, a second encoder
// writes the same, and it reads again as it was.
func TestRequestsAreTheTable(t *testing.T) {
	mode := otherEncoder(t)
	var pins strings.Builder
	rows := map[string]bool{}
	for _, o := range orders() {
		payload := EncodeRequest(o.asks)
		want, err := mode.Marshal(o.plain)
		if err != nil || !bytes.Equal(payload, want) {
			t.Errorf("%s encodes as\n%x, the other encoder as\n%x, %v", o.row, payload, want, err)
		}
		ins, err := (&Tx{To: &o.to, Payload: payload}).Classify()
		if err != nil || ins.Name != o.row || ins.Opcode != o.asks.Opcode() || len(ins.Args) != len(o.plain)-1 {
			t.Errorf("%s is taken for %s with %d arguments, %v", o.row, ins.Name, len(ins.Args), err)
		}
		again, err := o.read(payload)
		if err != nil || !bytes.Equal(EncodeRequest(again), payload) {
			t.Errorf("%s reads as %+v, %v", o.row, again, err)
		}
		rows[o.row] = true
		if o.row != "job_submit" { // whose maps are pinned alone
			fmt.Fprintf(&pins, "%s %x\n", o.row, payload)
		}
	}
	checkPins(t, "testdata/vectors/market-payloads.txt", pins.String())
	for _, s := range InstructionTable() {
		half := s.To == AddrRunnerRegistry && s.Opcode < 90 && s.Opcode != OpModelPublish && s.Opcode != OpModelWithdraw ||
			s.To == AddrJobDispatcher || s.To == AddrResultVerifier && s.Opcode != OpChallenge
		if half != rows[s.Name] {
			t.Errorf("%s has a request: %v", s.Name, rows[s.Name])
		}
	}
}

func TestRequestsRefuse(t *testing.T) {
	of := map[string]*order{}
	for _, o := range orders() {
		of[o.row] = &o
	}
	f := func(rule, row, object, field string, want error, asks Request) {
		t.Helper()
		_, err := of[row].read(EncodeRequest(asks))
		refusedAs(t, row+": "+rule, err, object, field, want)
	}
	register := func(change func(*RunnerRegister)) *RunnerRegister {
		x := *of["runner_register"].asks.(*RunnerRegister)
		change(&x)
		return &x
	}
	long := endpointScheme + strings.Repeat("a", 248) // 256 bytes
	f("endpoint of 256", "runner_register", "", "", nil, register(func(x *RunnerRegister) { x.Endpoint = long }))
	f("endpoint of 257", "runner_register", "RunnerRegister", "endpoint", cbor.ErrTooLong, register(func(x *RunnerRegister) { x.Endpoint = long + "a" }))
	f("endpoint without TLS", "runner_register", "RunnerRegister", "endpoint", ErrEndpoint, register(func(x *RunnerRegister) { x.Endpoint = "http://a" }))
	f("no endpoint", "runner_register", "", "", nil, register(func(x *RunnerRegister) { x.Endpoint = "" }))
	f("no jobs at a time", "runner_register", "Capabilities", "max_concurrent_jobs", nil, register(func(x *RunnerRegister) { x.Capabilities.MaxConcurrentJobs = 0 }))
	f("endpoint without TLS", "runner_update", "RunnerUpdate", "endpoint", ErrEndpoint, &RunnerUpdate{Endpoint: new("http://a")})
	f("nothing", "runner_unstake", "RunnerUnstake", "amount", nil, &RunnerUnstake{})
	ended := *pinAttestation()
	ended.ValidUntil = 0
	f("ended before it began", "runner_attest", "RunnerAttestation", "valid_until", ErrValidity, &RunnerAttest{ended})
	submit := *of["job_submit"].asks.(*JobSubmit)
	submit.Spec.JobType = &LLMJob{}
	room := MaxJobBytes - len(submit.Spec.Encode()) - len(submit.Terms.Encode()) - 4 // longer head of the prompt
	submit.Spec.JobType = &LLMJob{Prompt: strings.Repeat("a", room)}
	f("120 KiB", "job_submit", "", "", nil, &submit)
	submit.Spec.JobType = &LLMJob{Prompt: strings.Repeat("a", room+1)}
	f("120 KiB and one", "job_submit", "JobSubmit", "", cbor.ErrTooLong, &submit)
	f("result of 100 KiB", "result_reveal", "", "", nil, &ResultReveal{Result: make([]byte, MaxResultBytes)})
	f("result of 100 KiB and one", "result_reveal", "ResultReveal", "result", cbor.ErrTooLong, &ResultReveal{Result: make([]byte, MaxResultBytes+1)})
	f("255 results", "result_submit", "", "", nil, &ResultSubmit{Reveals: make([]Reveal, 255)})
	f("256 results", "result_submit", "ResultSubmit", "reveals", cbor.ErrTooManyItems, &ResultSubmit{Reveals: make([]Reveal, 256)})
	f("no results", "result_submit", "ResultSubmit", "reveals", ErrNoReveals, &ResultSubmit{})

	sig := cbor.AppendBytes(nil, make([]byte, 64))
	hash := cbor.AppendBytes(nil, make([]byte, 32))
	_, err := of["result_reveal"].read(call(OpResultReveal, hash, []byte{0x40}, sig))
	refusedAs(t, "signature of 64 bytes", err, "ResultReveal", "runner_sig", cbor.ErrWrongLength)
	_, err = of["result_submit"].read(call(OpResultSubmit, hash, []byte{0x81, 0x80}))
	refusedAs(t, "an empty entry", err, "ResultSubmit", "reveals", cbor.ErrTruncated) // no entry has so few bytes
	_, err = of["job_submit"].read(call(OpJobSubmit, []byte{0xa0}, []byte{0xa0}))
	refusedAs(t, "empty maps", err, "JobSpec", "job_id", cbor.ErrMissingKey)
	_, err = of["runner_unstake"].read(call(OpRunnerUnstake, []byte{0xc2, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0}))
	refusedAs(t, "2^64", err, "RunnerUnstake", "amount", cbor.ErrTag)
}

// FuzzRequests reads any payload as each request of its opcode: what is taken is written
// again as it was.
func FuzzRequests(f *testing.F) {
	all := orders()
	for _, o := range all {
		f.Add(EncodeRequest(o.asks))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for i := range all {
			o := &all[i]
			ins, err := (&Tx{To: &o.to, Payload: payload}).Classify()
			if err != nil || ins.Opcode != o.asks.Opcode() {
				continue
			}
			q, err := o.read(payload)
			if err != nil {
				var named *FieldError
				if !errors.As(err, &named) {
					t.Fatalf("%s: %v names no field", o.row, err)
				}
				continue
			}
			if again := EncodeRequest(q); !bytes.Equal(again, payload) {
				t.Fatalf("%s: %x encodes again as %x", o.row, payload, again)
			}
		}
	})
}
