package rpc_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
	"github.com/cowboy-foundation/cowboy/state"
)

// docket is a chain whose head, at height 100, has jobs, and that keeps some transactions.
type docket struct {
	*rpctest.Chain
	head *state.Overlay
	txs  map[chain.Hash]*chain.Tx
}

func (d docket) ReadHead(_ context.Context, read func(rpc.StorageReader, chain.Height) error) error {
	return read(d.head, 100)
}

func (d docket) Transaction(_ context.Context, hash chain.Hash) (*rpc.FoundTx, bool, error) {
	tx := d.txs[hash]
	if tx == nil {
		return nil, false, nil
	}
	return &rpc.FoundTx{Tx: &chain.VerifiedTx{Tx: tx}, Final: true}, true, nil
}

// putJob writes a job of three runners that was submitted at 40 and drawn for at 41.
func (d docket) putJob(id chain.Hash, change func(j *jobs.Job)) *jobs.Job {
	p := params.Default()
	book := &jobs.Book{State: d.head, Params: &p, Height: 40}
	j := &jobs.Job{
		Submitter: chain.Address{9}, SubmittedAt: 40, Kind: chain.JobHTTP, Phase: jobs.Assigned, Runners: 3, Threshold: 2,
		Mode: chain.VerifyMajorityVote, MaxPrice: 1 << 60, Tip: 5, Held: 1<<60 + 5, TimeoutBlocks: 100, AssignedAt: 41,
		CommitBy: 110, GatherUntil: 130, Deadline: 141, SpecHash: chain.Hash{1}, TermsHash: chain.Hash{2},
	}
	change(j)
	book.Put(id, j)
	return j
}

func newDocket(t testing.TB) (docket, *rpc.Server) {
	d := docket{rpctest.New(), state.NewOverlay(state.Empty{}), map[chain.Hash]*chain.Tx{}}
	cfg := rpc.DefaultConfig()
	cfg.RequestsPerSecond = 0
	return d, newServer(t, cfg, d)
}

func TestJobPhases(t *testing.T) {
	d, s := newDocket(t)
	for n, test := range []struct {
		change                 func(j *jobs.Job)
		status, phase, outcome string
		moves                  chain.Height // 0: null
	}{
		{func(j *jobs.Job) { j.Phase, j.SubmittedAt = jobs.Fresh, 100 }, "pending", "waiting", "open", 101},
		{func(j *jobs.Job) { j.Phase = jobs.Fresh }, "pending", "waiting", "open", 101}, // the pass is late
		{func(*jobs.Job) {}, "assigned", "committing", "open", 111},
		{func(j *jobs.Job) { j.CommitBy = 100 }, "assigned", "committing", "open", 101},
		{func(j *jobs.Job) { j.CommitBy = 99 }, "assigned", "revealing", "open", 142},
		{func(j *jobs.Job) { j.Runners = 1 }, "assigned", "revealing", "open", 142},
		{func(j *jobs.Job) { j.Phase, j.Outcome, j.WindowEnd = jobs.Closing, jobs.OK, 160 }, "done", "closing", "ok", 161},
		{func(j *jobs.Job) { j.Phase, j.Outcome, j.WindowEnd = jobs.Closing, jobs.OK, 120 }, "done", "closing", "ok", 142},
		{func(j *jobs.Job) { j.Phase, j.Outcome = jobs.Disputed, jobs.NoAgreement }, "failed", "disputed", "no_agreement", 0},
		{func(j *jobs.Job) { j.Phase, j.Outcome = jobs.Ended, jobs.Cancelled }, "cancelled", "ended", "cancelled", 0},
		{func(j *jobs.Job) { j.Phase, j.Outcome = jobs.Ended, jobs.Timeout }, "failed", "ended", "timeout", 0},
	} {
		id := chain.Hash{1: byte(n)}
		j := d.putJob(id, test.change)
		seat := &jobs.Seat{Runner: chain.Address{1}}
		d.head.SetStorage(chain.AddrJobDispatcher, jobs.SeatKey(id, 0, 0), seat.Encode())
		got := decode[rpc.JobReply](t, request(s, http.MethodGet, "/job/"+id.String(), "", nil))
		if got.Status != test.status || got.Phase != test.phase || got.Outcome != test.outcome || got.Height != 100 ||
			(got.MovesAt == nil) != (test.moves == 0) || got.MovesAt != nil && *got.MovesAt != test.moves {
			t.Errorf("job %d: %+v, want %s %s %s moves at %d", n, got.JobStatusReply, test.status, test.phase, test.outcome, test.moves)
		}
		if got.Held != j.Held || got.JobType != "http" || got.Mode != "majority_vote" || got.Submitter != j.Submitter.String() || got.Deadline != 141 {
			t.Errorf("job %d: %+v", n, got)
		}
		if alone := decode[rpc.JobStatusReply](t, request(s, http.MethodGet, "/job/"+id.String()+"/status", "", nil)); alone.Status != got.Status || alone.JobID != got.JobID {
			t.Errorf("status alone: %+v", alone)
		}
	}
	whole := request(s, http.MethodGet, "/job/"+chain.Hash{}.String(), "", nil).Body.String()
	if !strings.Contains(whole, `"max_price":"1152921504606846976"`) {
		t.Errorf("max_price is no decimal text in %s", whole)
	}
}

func TestJobResults(t *testing.T) {
	d, s := newDocket(t)
	id := chain.Hash{7}
	d.putJob(id, func(j *jobs.Job) { j.Attempt, j.CommitBy = 1, 99 })
	encode := func(data string) []byte {
		return (&chain.RunnerResult{Version: 1, Attempt: 1, Data: []byte(data), TimestampMillis: 77}).Encode()
	}
	reveal := func(tx chain.Hash, result []byte) *jobs.Reveal {
		return &jobs.Reveal{At: 99, Tx: tx, Result: keccak.Sum256(result), Usage: jobs.Usage{WallMillis: 1_500, MemoryMB: 3}}
	}
	one, many, lost := chain.Hash{1}, chain.Hash{2}, chain.Hash{3}
	d.txs[one] = &chain.Tx{Payload: chain.EncodeRequest(&chain.ResultReveal{JobID: id, Result: encode("a")})}
	d.txs[many] = &chain.Tx{Payload: chain.EncodeRequest(&chain.ResultSubmit{JobID: id, Reveals: []chain.Reveal{{Result: encode("\xff")}, {Result: encode("b")}}})}
	seats := []*jobs.Seat{
		{Runner: chain.Address{1}, Reveal: reveal(one, encode("a")), Mark: jobs.Agrees, Cost: 5, ReputationX1e9: 50 * uint64(selection.Point)},
		{Runner: chain.Address{2}, Reveal: reveal(many, encode("b")), Commitment: &chain.Hash{5}, CommittedAt: 50},
		{Runner: chain.Address{3}, Reveal: reveal(many, encode("\xff")), Mark: jobs.Differs},
		{Runner: chain.Address{4}, Reveal: reveal(lost, encode("c"))},
		{Runner: chain.Address{5}, Silent: true},
	}
	for n, seat := range seats {
		d.head.SetStorage(chain.AddrJobDispatcher, jobs.SeatKey(id, 1, uint8(n)), seat.Encode())
	}
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.SeatKey(id, 0, 0), (&jobs.Seat{Runner: chain.Address{6}, Silent: true}).Encode())

	got := decode[rpc.JobResultsReply](t, request(s, http.MethodGet, "/job/"+id.String()+"/results", "", nil))
	if got.TotalCount != 4 || len(got.Results) != 4 {
		t.Fatalf("%d results: %+v", got.TotalCount, got)
	}
	for n, want := range []string{"0x61", "0x62", "0xff", ""} {
		r := &got.Results[n]
		if r.Runner != seats[n].Runner.String() || r.Attempt != 1 || int(r.Seat) != n || r.Usage.WallTimeSeconds != 1.5 ||
			(r.Data == nil) != (want == "") || r.Data != nil && *r.Data != want || (r.Text == nil) != (n > 1) {
			t.Errorf("result %d: %+v, want data %q", n, r, want)
		}
	}
	seen := decode[rpc.JobRunnersReply](t, request(s, http.MethodGet, "/job/"+id.String()+"/runners", "", nil))
	if len(seen.Runners) != 6 || seen.Attempt != 1 || !seen.Runners[0].Silent || seen.Runners[0].Attempt != 0 {
		t.Fatalf("runners: %+v", seen)
	}
	if a, b := &seen.Runners[1], &seen.Runners[2]; a.Mark != "agrees" || a.Cost != 5 || a.Reputation != 50 || a.RevealedAt != 99 || a.Commitment != nil ||
		b.Commitment == nil || b.CommittedAt != 50 {
		t.Errorf("seats: %+v %+v", a, b)
	}
}

// TestMarksWithoutAgreement: what is paid a share where nothing is agreed is not said to agree.
func TestMarksWithoutAgreement(t *testing.T) {
	for outcome, want := range map[jobs.Outcome]string{jobs.OK: "agrees", jobs.Impossible: "agrees", jobs.NoAgreement: "counts"} {
		d, s := newDocket(t)
		id := chain.Hash{7}
		d.putJob(id, func(j *jobs.Job) { j.Outcome, j.Phase = outcome, jobs.Closing })
		seat := &jobs.Seat{Runner: chain.Address{1}, Reveal: &jobs.Reveal{At: 99, Tx: chain.Hash{3}}, Mark: jobs.Agrees, Cost: 5}
		d.head.SetStorage(chain.AddrJobDispatcher, jobs.SeatKey(id, 0, 0), seat.Encode())
		results := decode[rpc.JobResultsReply](t, request(s, http.MethodGet, "/job/"+id.String()+"/results", "", nil)).Results
		seats := decode[rpc.JobRunnersReply](t, request(s, http.MethodGet, "/job/"+id.String()+"/runners", "", nil)).Runners
		if len(results) != 1 || results[0].Mark != want || len(seats) != 1 || seats[0].Mark != want {
			t.Errorf("outcome %d: %+v, %+v, want %s", outcome, results, seats, want)
		}
	}
}

func TestUnknownJobs(t *testing.T) {
	d, s := newDocket(t)
	id, unknown := chain.Hash{1}, chain.Hash{2}
	d.putJob(id, func(*jobs.Job) {})
	for _, rest := range []string{"", "/status", "/runners", "/results", "/verified", "/terms", "/candidates", "/candidate/" + chain.Address{}.String()} {
		wantError(t, request(s, http.MethodGet, "/job/"+unknown.String()+rest, "", nil), http.StatusNotFound, rpc.CodeUnknownJob)
		wantError(t, request(s, http.MethodGet, "/job/0x12"+rest, "", nil), http.StatusBadRequest, rpc.CodeBadHash)
	}
	for _, rest := range []string{"/candidates", "/candidate/" + chain.Address{}.String()} { // no list stands there, nor is that state kept
		wantError(t, request(s, http.MethodGet, "/job/"+id.String()+rest, "", nil), http.StatusGone, rpc.CodeCandidatesGone)
	}
	wantError(t, request(s, http.MethodGet, "/job/"+id.String()+"/candidates?limit=0", "", nil), http.StatusBadRequest, rpc.CodeBadNumber)
	wantError(t, request(s, http.MethodGet, "/job/"+id.String()+"/candidate/0x1", "", nil), http.StatusBadRequest, rpc.CodeBadAddress)
}

// billing is a docket that notes what a request was billed when its head was read.
type billing struct {
	docket
	bytes *int
}

func (b billing) ReadHead(ctx context.Context, read func(rpc.StorageReader, chain.Height) error) error {
	err := read(b.head, 100)
	*b.bytes = rpc.Billed(ctx)
	return err
}

// TestCandidatesAreBilled: a snapshot that is made again for a reader is paid by who was
// registered, whether or not they are asked for.
func TestCandidatesAreBilled(t *testing.T) {
	d, _ := newDocket(t)
	b := billing{d, new(int)}
	cfg := rpc.DefaultConfig()
	s := newServer(t, cfg, b)
	id := chain.Hash{7}
	d.putJob(id, func(*jobs.Job) {})
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.EligibleKey(id), make([]byte, 1_000))
	for _, path := range []string{"/candidates?limit=1", "/candidate/" + chain.Address{1}.String()} {
		*b.bytes = 0
		request(s, http.MethodGet, "/job/"+id.String()+path, "", nil)
		if want := 8 * 1_000 * 32; *b.bytes < want || *b.bytes > want+4<<10 { // and a few rows
			t.Errorf("%s: %d bytes were billed, want %d", path, *b.bytes, want)
		}
	}
}
