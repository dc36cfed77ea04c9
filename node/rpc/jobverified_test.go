package rpc_test

import (
	"net/http"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// verdict puts a job with an outcome there, and the results of its seats into transactions.
func (d docket) verdict(id chain.Hash, change func(*jobs.Job), marks []jobs.Mark, results ...string) {
	const now = 1_700_000_000_000
	d.putJob(id, func(j *jobs.Job) {
		j.SubmittedMillis = now
		j.Phase, j.Outcome, j.VerdictAt = jobs.Closing, jobs.OK, 99
		change(j)
	})
	for n, data := range results {
		encoded := (&chain.RunnerResult{Version: 1, Attempt: 1, Data: []byte(data), TimestampMillis: now, Source: &chain.ResultSource{URL: "https://a.example/price", Status: 200}}).Encode()
		tx := chain.Hash{9, byte(n)}
		d.txs[tx] = &chain.Tx{Payload: chain.EncodeRequest(&chain.ResultReveal{JobID: id, Result: encoded})}
		seat := &jobs.Seat{Runner: chain.Address{byte(n + 1)}, Reveal: &jobs.Reveal{At: 99, Tx: tx, Result: keccak.Sum256(encoded)}, Mark: marks[n], Millis: now}
		d.head.SetStorage(chain.AddrJobDispatcher, jobs.SeatKey(id, 0, uint8(n)), seat.Encode())
	}
}

// TestJobVerified: the data is that whose hash the state has, from whichever of those who
// agree, and none where no result has it.
func TestJobVerified(t *testing.T) {
	d, s := newDocket(t)
	id := chain.Hash{7}
	ask := func() rpc.JobVerifiedReply {
		return decode[rpc.JobVerifiedReply](t, request(s, http.MethodGet, "/job/"+id.String()+"/verified", "", nil))
	}
	marks := []jobs.Mark{jobs.Agrees, jobs.Differs, jobs.Agrees}
	for _, test := range []struct {
		name   string
		change func(*jobs.Job)
		data   string // "": null
	}{
		{"the canonical seat has it", func(j *jobs.Job) { j.CanonicalSeat, j.DataHash = 2, keccak.Sum256([]byte("c")) }, "0x63"},
		{"another that agrees has it", func(j *jobs.Job) { j.CanonicalSeat, j.DataHash = 2, keccak.Sum256([]byte("a")) }, "0x61"},
		{"it is of nobody who agrees", func(j *jobs.Job) { j.CanonicalSeat, j.DataHash = 0, keccak.Sum256([]byte("b")) }, ""},
		{"there is no verdict", func(j *jobs.Job) { j.Phase, j.Outcome, j.VerdictAt = jobs.Assigned, jobs.Open, 0 }, ""},
		{"nothing agrees", func(j *jobs.Job) { j.Outcome = jobs.NoAgreement }, ""},
		{"there is no data", func(*jobs.Job) {}, ""},
	} {
		d.verdict(id, test.change, marks, "a", "b", "c")
		got := ask()
		if (got.Data == nil) != (test.data == "") || got.Data != nil && *got.Data != test.data || (got.Text == nil) != (got.Data == nil) ||
			got.TotalRunners != 3 || (got.ConsensusCount == 2) != (got.Outcome == "ok") || got.JobID != id.String() {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	d.verdict(id, func(j *jobs.Job) { j.DataHash = keccak.Sum256([]byte("a")) }, marks, "a", "b", "c")
	delete(d.txs, chain.Hash{9, 0})
	if got := ask(); got.Data != nil || got.Outcome != "ok" || got.VerdictAt != 99 {
		t.Errorf("a node without the transaction: %+v", got)
	}
}

// TestKeptResultsAreVerified: what the state keeps for an actor needs no transaction.
func TestKeptResultsAreVerified(t *testing.T) {
	d, s := newDocket(t)
	id := chain.Hash{9}
	d.verdict(id, func(j *jobs.Job) { j.DataHash = keccak.Sum256([]byte("kept")) }, []jobs.Mark{jobs.Agrees}, "another")
	ask := func() rpc.JobVerifiedReply {
		return decode[rpc.JobVerifiedReply](t, request(s, http.MethodGet, "/job/"+id.String()+"/verified", "", nil))
	}
	if got := ask(); got.Data != nil {
		t.Errorf("without a row: %+v", got)
	}
	row := (&jobs.Kept{To: chain.Address{1}, Format: chain.FormatText, Data: []byte("kept")}).Encode()
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.KeptKey(id), row)
	if got := ask(); got.Text == nil || *got.Text != "kept" {
		t.Errorf("%+v", got)
	}
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.KeptKey(id), nil)
}

// TestMediansAreComputedAgain: nobody need have sent the median that a job came to.
func TestMediansAreComputedAgain(t *testing.T) {
	d, s := newDocket(t)
	id := chain.Hash{8}
	spec := &chain.JobSpec{
		JobType:      &chain.HTTPJob{URL: "https://a.example/price", Method: "GET"},
		Verification: chain.Verification{Mode: chain.VerifyStructured, Runners: 3, Threshold: 2},
		MaxPrice:     10, TimeoutBlocks: 100,
	}
	terms := &chain.JobTerms{
		Version: chain.JobTermsVersion, JudgeSteps: 1 << 20, Snapshot: &chain.Snapshot{Mode: chain.SnapshotMedian},
		ResultSchema: chain.ResultSchema{MaxReturnBytes: 1_000, ExpectedExecutionMillis: 1, DataFormat: chain.FormatJSON},
	}
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.SpecKey(id), spec.Encode())
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.TermsKey(id), terms.Encode())
	want := `{"high":30,"low":2}`
	d.verdict(id, func(j *jobs.Job) {
		j.Mode, j.DataHash = chain.VerifyStructured, keccak.Sum256([]byte(want))
	}, []jobs.Mark{jobs.Agrees, jobs.Agrees, jobs.Agrees}, `{"low":1,"high":30}`, `{"low":2,"high":50}`, `{"low":3,"high":20}`)
	got := decode[rpc.JobVerifiedReply](t, request(s, http.MethodGet, "/job/"+id.String()+"/verified", "", nil))
	if got.Text == nil || *got.Text != want {
		t.Errorf("%+v, want %s", got, want)
	}
	d.verdict(id, func(j *jobs.Job) { j.Mode, j.DataHash = chain.VerifyStructured, chain.Hash{1} },
		[]jobs.Mark{jobs.Agrees}, `{"low":1,"high":30}`)
	got = decode[rpc.JobVerifiedReply](t, request(s, http.MethodGet, "/job/"+id.String()+"/verified", "", nil))
	if got.Data != nil {
		t.Errorf("data of another hash: %+v", got)
	}
}
