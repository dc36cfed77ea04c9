package rpc_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

// register makes runners of addresses.
func (d docket) register(t testing.TB, all ...chain.Address) {
	t.Helper()
	p := params.Default()
	b := &runners.Book{State: d.head, Params: &p, Height: 1}
	for _, a := range all {
		_, err := b.Register(a, p.Runner.StakeFloor, 0, &runners.Offer{}, func(int, int) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// seat gives a runner the nth seat of an attempt, with something to do.
func (d docket) seat(id chain.Hash, attempt, n uint8, s *jobs.Seat) {
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.SeatKey(id, attempt, n), s.Encode())
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.WhoKey(id, s.Runner), []byte{attempt, n})
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.OpenKey(s.Runner, id), []byte{})
}

// runnerDocket is a docket of a node that knows its genesis, with three runners.
func runnerDocket(t testing.TB) (d docket, s *rpc.Server, runner [3]chain.Address) {
	d, _ = newDocket(t)
	cfg := rpc.DefaultConfig()
	cfg.RequestsPerSecond = 0
	cfg.Genesis = genesis.DevnetTemplate()
	runner = [3]chain.Address{{19: 1}, {19: 2}, {19: 3}}
	d.register(t, runner[:]...)
	return d, newServer(t, cfg, d), runner
}

// TestRunnerOwes goes through the life of a seat: the head is block 100, so that what is due
// may stand in block 101.
func TestRunnerOwes(t *testing.T) {
	yes, no := &chain.Hash{1}, (*chain.Hash)(nil)
	shown := &jobs.Reveal{At: 90}
	for name, test := range map[string]struct {
		change                   func(j *jobs.Job)
		commitments              [3]*chain.Hash // of me and the others
		reputation               [3]uint64
		reveal                   *jobs.Reveal
		role, due                string // "": it is not told of
		from, by                 chain.Height
		aggregator, seats, drawn int // seats: 3 unless said; drawn: the attempt of the seat
	}{
		"one runner":                 {change: func(j *jobs.Job) { j.Runners, j.Threshold, j.CommitBy, j.GatherUntil = 1, 1, 141, 0 }, role: "alone", due: "reveal", from: 101, by: 141, aggregator: -1, seats: 1},
		"one runner has shown":       {change: func(j *jobs.Job) { j.Runners, j.Threshold = 1, 1 }, reveal: shown, seats: 1},
		"to commit":                  {role: "member", due: "commit", from: 101, by: 110, aggregator: -1},
		"the last block to commit":   {change: func(j *jobs.Job) { j.CommitBy = 101 }, role: "member", due: "commit", from: 101, by: 101, aggregator: -1},
		"too late to commit":         {change: func(j *jobs.Job) { j.CommitBy = 100 }},
		"too late, outcome is known": {change: func(j *jobs.Job) { j.Phase = jobs.Closing }},
		"others commit yet":          {commitments: [3]*chain.Hash{yes, yes, no}, role: "member", due: "wait", from: 101, by: 110, aggregator: -1},
		"too few have committed":     {change: func(j *jobs.Job) { j.CommitBy = 99 }, commitments: [3]*chain.Hash{yes, no, no}, role: "member", due: "wait", from: 101, by: 141, aggregator: -1},
		"all committed, lowest":      {commitments: [3]*chain.Hash{yes, yes, yes}, role: "aggregator", due: "aggregate", from: 101, by: 130, aggregator: 0},
		"all committed, not best":    {commitments: [3]*chain.Hash{yes, yes, yes}, reputation: [3]uint64{5, 5, 6}, role: "member", due: "reveal", from: 131, by: 141, aggregator: 2},
		"all committed, best":        {commitments: [3]*chain.Hash{yes, yes, yes}, reputation: [3]uint64{7, 5, 6}, role: "aggregator", due: "aggregate", from: 101, by: 130, aggregator: 0},
		"enough after commit_by":     {change: func(j *jobs.Job) { j.CommitBy = 100 }, commitments: [3]*chain.Hash{yes, yes, no}, reputation: [3]uint64{1, 2, 9}, role: "member", due: "reveal", from: 131, by: 141, aggregator: 1},
		"aggregator's time is over":  {change: func(j *jobs.Job) { j.CommitBy, j.GatherUntil = 90, 100 }, commitments: [3]*chain.Hash{yes, yes, no}, role: "aggregator", due: "reveal", from: 101, by: 141, aggregator: 0},
		"everybody's time":           {change: func(j *jobs.Job) { j.CommitBy, j.GatherUntil = 90, 100 }, commitments: [3]*chain.Hash{yes, yes, no}, reputation: [3]uint64{1, 2, 9}, role: "member", due: "reveal", from: 101, by: 141, aggregator: 1},
		"late results still count":   {change: func(j *jobs.Job) { j.Phase, j.CommitBy, j.GatherUntil = jobs.Closing, 90, 95 }, commitments: [3]*chain.Hash{yes, yes, yes}, reputation: [3]uint64{1, 2, 3}, role: "member", due: "reveal", from: 101, by: 141, aggregator: 2},
		"shown":                      {commitments: [3]*chain.Hash{yes, yes, yes}, reveal: shown},
		"the last block":             {change: func(j *jobs.Job) { j.CommitBy, j.GatherUntil, j.Deadline = 90, 95, 101 }, commitments: [3]*chain.Hash{yes, yes, yes}, role: "aggregator", due: "reveal", from: 101, by: 101, aggregator: 0},
		"over":                       {change: func(j *jobs.Job) { j.Deadline = 100 }, commitments: [3]*chain.Hash{yes, yes, yes}},
		"another attempt":            {change: func(j *jobs.Job) { j.Attempt = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			d, s, runner := runnerDocket(t)
			id := chain.Hash{7}
			d.putJob(id, func(j *jobs.Job) {
				if test.change != nil {
					test.change(j)
				}
			})
			spec := []byte{0xa1, 0x02}
			d.head.SetStorage(chain.AddrJobDispatcher, jobs.SpecKey(id), spec)
			if test.seats == 0 {
				test.seats = 3
			}
			for n := range test.seats {
				seat := &jobs.Seat{Runner: runner[n], Commitment: test.commitments[n], ReputationX1e9: test.reputation[n]}
				if n == 0 {
					seat.Reveal = test.reveal
				}
				d.seat(id, 0, uint8(n), seat)
			}
			got := decode[rpc.RunnerJobsReply](t, request(s, http.MethodGet, "/runner/"+runner[0].String()+"/jobs", "", nil))
			if got.Runner != runner[0].String() || got.Height != 100 || got.Next != "" {
				t.Errorf("%+v", got)
			}
			if test.due == "" {
				if len(got.Jobs) != 0 {
					t.Errorf("told of %+v", got.Jobs[0])
				}
				return
			}
			if len(got.Jobs) != 1 {
				t.Fatalf("told of %d jobs", len(got.Jobs))
			}
			one := got.Jobs[0]
			if one.Role != test.role || one.Due != test.due || one.DueFrom != test.from || one.DueBy != test.by {
				t.Errorf("%s: %s from %d by %d, want %s: %s from %d by %d", one.Role, one.Due, one.DueFrom, one.DueBy, test.role, test.due, test.from, test.by)
			}
			if (one.Aggregator == nil) != (test.aggregator < 0) || one.Aggregator != nil && *one.Aggregator != runner[test.aggregator].String() {
				t.Errorf("aggregator %v", one.Aggregator)
			}
			if one.JobID != id.String() || *one.JobSpec != "0xa102" || one.JobSpecHash != (chain.Hash{1}).String() || one.TermsHash != (chain.Hash{2}).String() ||
				one.AssignmentHeight != 41 || one.DeadlineBlock < 101 || one.JobType != "http" || one.Mode != "majority_vote" || one.Seat != 0 {
				t.Errorf("%+v", one)
			}
			bare := decode[rpc.RunnerJobsReply](t, request(s, http.MethodGet, "/runner/"+runner[0].String()+"/jobs?specs=0", "", nil))
			if len(bare.Jobs) != 1 || bare.Jobs[0].JobSpec != nil || bare.Jobs[0].Due != test.due {
				t.Errorf("without specifications: %+v", bare)
			}
		})
	}
}

// TestRunnerJobsInPages: pages of every size have each seat once, in order, and nobody else's.
func TestRunnerJobsInPages(t *testing.T) {
	d, s, runner := runnerDocket(t)
	var want []string
	for n := range byte(9) {
		id := chain.Hash{n, 31: n}
		if n == 8 {
			id = chain.Hash(bytes.Repeat([]byte{0xff}, 32))
		}
		d.putJob(id, func(j *jobs.Job) {
			if n == 4 {
				j.Deadline = 50 // over: in no page, and no page ends with it
			}
		})
		if n%3 != 2 {
			d.seat(id, 0, 0, &jobs.Seat{Runner: runner[1]})
			if n != 4 {
				want = append(want, id.String())
			}
		}
		d.seat(id, 0, 1, &jobs.Seat{Runner: runner[0]})
		d.seat(id, 0, 2, &jobs.Seat{Runner: runner[2]})
	}
	for _, limit := range []int{1, 2, 3, 5, 6, 1000} {
		var got []string
		for after, pages := "", 0; pages == 0 || after != ""; pages++ {
			target := fmt.Sprintf("/runner/%s/jobs?limit=%d&after=%s", runner[1], limit, after)
			page := decode[rpc.RunnerJobsReply](t, request(s, http.MethodGet, target, "", nil))
			if after = page.Next; len(page.Jobs) > limit || pages > 10 {
				t.Fatalf("%d jobs in page %d", len(page.Jobs), pages)
			}
			for i := range page.Jobs {
				got = append(got, page.Jobs[i].JobID)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v, want %v", limit, got, want)
		}
	}
	if got := decode[rpc.RunnerJobsReply](t, request(s, http.MethodGet, "/runner/"+runner[1].String()+"/jobs?after="+chain.Hash(bytes.Repeat([]byte{0xff}, 32)).String(), "", nil)); len(got.Jobs) != 0 || got.Next != "" {
		t.Errorf("behind the last: %+v", got)
	}
}

// TestLongSpecsEndAPage: a page ends behind a mebibyte of specifications.
func TestLongSpecsEndAPage(t *testing.T) {
	d, s, runner := runnerDocket(t)
	for n := range byte(5) {
		id := chain.Hash{n}
		d.putJob(id, func(*jobs.Job) {})
		d.seat(id, 0, 0, &jobs.Seat{Runner: runner[0]})
		d.head.SetStorage(chain.AddrJobDispatcher, jobs.SpecKey(id), make([]byte, 400<<10))
	}
	path := "/runner/" + runner[0].String() + "/jobs"
	if got := decode[rpc.RunnerJobsReply](t, request(s, http.MethodGet, path, "", nil)); len(got.Jobs) != 3 || got.Next != (chain.Hash{2}).String() {
		t.Errorf("%d jobs, next %s", len(got.Jobs), got.Next)
	}
	if got := decode[rpc.RunnerJobsReply](t, request(s, http.MethodGet, path+"?specs=0", "", nil)); len(got.Jobs) != 5 || got.Next != "" {
		t.Errorf("without specifications %d jobs, next %s", len(got.Jobs), got.Next)
	}
}

func TestBadRunnerJobs(t *testing.T) {
	d, s, runner := runnerDocket(t)
	path := "/runner/" + runner[0].String() + "/jobs"
	for target, want := range map[string]rpc.Code{
		"/runner/0x12/jobs":       rpc.CodeBadAddress,
		"/runner/active/jobs":     rpc.CodeBadAddress,
		path + "?limit=0":         rpc.CodeBadNumber,
		path + "?limit=1001":      rpc.CodeBadNumber,
		path + "?limit=-1":        rpc.CodeBadNumber,
		path + "?limit=1&limit=1": rpc.CodeBadNumber,
		path + "?specs=2":         rpc.CodeBadNumber,
		path + "?after=0x12":      rpc.CodeBadHash,
		path + "?after=%zz":       rpc.CodeBadRequest,
	} {
		wantError(t, request(s, http.MethodGet, target, "", nil), http.StatusBadRequest, want)
	}
	stranger := "/runner/" + chain.Address{9: 9}.String() + "/jobs"
	wantError(t, request(s, http.MethodGet, stranger, "", nil), http.StatusNotFound, rpc.CodeUnknownRunner)
	p := params.Default()
	p.CIP11.PollDisabled, p.CIP11.TransportEnabled = true, true
	d.SetGovernance(&rpc.Governance{Params: &p})
	wantError(t, request(s, http.MethodGet, path, "", nil), http.StatusGone, rpc.CodePollDisabled)
	_, plain := newDocket(t) // without a genesis
	wantError(t, request(plain, http.MethodGet, path, "", nil), http.StatusNotFound, rpc.CodeUnknownPath)
}

// keeper is a docket that knows what was submitted.
type keeper struct {
	docket
	pool *[]*chain.VerifiedTx
}

func (k keeper) SubmitOnly(ctx context.Context, pass func(*chain.VerifiedTx) error, bodies [][]byte, into []rpc.Verdict) ([]rpc.Verdict, error) {
	return k.docket.SubmitOnly(ctx, func(tx *chain.VerifiedTx) error {
		err := pass(tx)
		if err == nil {
			*k.pool = append(*k.pool, tx)
		}
		return err
	}, bodies, into)
}

// TestRunnerPosts: each path takes its instructions of its runner alone; the rest has a verdict
// and enters no pool.
func TestRunnerPosts(t *testing.T) { // resolution 12.76
	me, other := testKey(t, 1), testKey(t, 2)
	mine := chain.Address(me.PublicKey().Address())
	registry, verifier, dispatcher := chain.AddrRunnerRegistry, chain.AddrResultVerifier, chain.AddrJobDispatcher
	plain := chain.Address{19: 0x22}
	job := chain.Hash{3}
	type call struct {
		to      *chain.Address
		payload []byte
	}
	opcode := func(to *chain.Address, op uint64) call { return call{to, []byte{0x81, byte(op)}} }
	calls := map[string]call{
		"heartbeat":  opcode(&registry, chain.OpRunnerHeartbeat),
		"deregister": opcode(&registry, chain.OpRunnerDeregister),
		"commit":     {&verifier, chain.EncodeRequest(&chain.ResultCommit{JobID: job})},
		"reveal":     {&verifier, chain.EncodeRequest(&chain.ResultReveal{JobID: job, Result: []byte{1}})},
		"submit":     {&verifier, chain.EncodeRequest(&chain.ResultSubmit{JobID: job, Reveals: []chain.Reveal{{Result: []byte{1}}}})},
		"cancel":     {&dispatcher, chain.EncodeRequest(&chain.JobCancel{JobID: job})},
		"transfer":   {&plain, nil},
		"deploy":     {nil, []byte{0x80}},
		"garbage":    {&verifier, []byte{0xff}},
	}
	takes := map[string][]string{
		"heartbeat":          {"heartbeat"},
		"job_result_commit":  {"commit"},
		"job_result":         {"reveal", "submit"},
		"job_result_payload": {"reveal", "submit"},
	}
	for path, good := range takes {
		for name, c := range calls {
			for _, by := range []bool{true, false} {
				d, _ := newDocket(t)
				d.register(t, mine, other.PublicKey().Address())
				k := keeper{d, new([]*chain.VerifiedTx)}
				s := newServer(t, testConfig(), k)
				signer := me
				if !by {
					signer = other
				}
				d.Fund(signer.PublicKey().Address(), 1_000_000_000)
				tx := &chain.Tx{To: c.to, Payload: c.payload, ChainID: 7, CyclesLimit: 21_000, MaxFeePerCycle: 2, MaxFeePerCell: 2}
				sig := signer.Sign(tx.SigningHash())
				tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
				got := decode[rpc.SubmitReply](t, request(s, http.MethodPost, "/runner/"+mine.String()+"/"+path, "application/octet-stream", tx.AppendWire(nil)))
				want := rpc.CodeOK
				switch {
				case !slices.Contains(good, name):
					want = rpc.CodeTxInstruction
				case !by:
					want = rpc.CodeTxSender
				}
				if len(got.Results) != 1 || got.Results[0].Code != want || got.Results[0].Accepted != (want == rpc.CodeOK) || (got.Results[0].Message == "") != (want == rpc.CodeOK) {
					t.Errorf("%s to %s, by the runner %t: %+v, want %d", name, path, by, got.Results, want)
				}
				if (len(*k.pool) == 1) != (want == rpc.CodeOK) {
					t.Errorf("%s to %s, by the runner %t: %d passed", name, path, by, len(*k.pool))
				}
			}
		}
	}
}

// TestBadRunnerPosts: what /submit refuses is refused alike, and nobody's path is served who
// is no runner.
func TestBadRunnerPosts(t *testing.T) {
	d, _ := newDocket(t)
	me := testKey(t, 1)
	mine := chain.Address(me.PublicKey().Address())
	d.register(t, mine)
	s := newServer(t, testConfig(), d)
	wire := transfer(t, me, 0).AppendWire(nil)
	for _, name := range []string{"heartbeat", "job_result", "job_result_commit", "job_result_payload"} {
		path := "/runner/" + mine.String() + "/" + name
		for what, test := range map[string]struct {
			path, media string
			body        []byte
			status      int
			code        rpc.Code
		}{
			"no address":     {"/runner/0x12/" + name, "", wire, 400, rpc.CodeBadAddress},
			"no runner":      {"/runner/" + hex.EncodeToString(make([]byte, 20)) + "/" + name, "", wire, 404, rpc.CodeUnknownRunner},
			"empty":          {path, "", nil, 400, rpc.CodeBadSubmission},
			"garbage":        {path, "", []byte("garbage"), 400, rpc.CodeBadSubmission},
			"cut":            {path, "", wire[:len(wire)-1], 400, rpc.CodeBadSubmission},
			"too many":       {path, "", bytes.Repeat([]byte{0, 0, 0, 1, 0}, 51), 400, rpc.CodeBadSubmission},
			"too long":       {path, "", make([]byte, 513<<10), 413, rpc.CodeBodyTooLarge},
			"another medium": {path, "application/json", wire, 415, rpc.CodeContentType},
			"hashes=2":       {path + "?hashes=2", "", wire, 400, rpc.CodeBadNumber},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				wantError(t, request(s, http.MethodPost, test.path, test.media, test.body), test.status, test.code)
			})
		}
		w := request(s, http.MethodGet, path, "", nil)
		if w.Code != 405 || !strings.Contains(w.Header().Get("Allow"), "POST") {
			t.Errorf("GET %s: %d %s", path, w.Code, w.Header().Get("Allow"))
		}
	}
}

// payer is a lister whose client can pay for so many reads of rows.
type payer struct {
	lister
	reads int
}

// purse is the storage that such a client reads.
type purse struct {
	rpc.StorageReader
	left int
}

func (p *purse) Storage(a chain.Address, k state.StorageKey) ([]byte, error) {
	if p.left--; p.left < 0 {
		return nil, &rpc.Refusal{Status: http.StatusTooManyRequests, Code: rpc.CodeOwed, Message: "owes"}
	}
	return p.StorageReader.Storage(a, k)
}

func (p payer) ReadHead(_ context.Context, read func(rpc.StorageReader, chain.Height) error) error {
	return read(&purse{p.head, p.reads}, 100)
}

// TestPagesEndWhereTheClientOwes: what was paid for is told, with the place at which the list
// goes on; a client that can pay for nothing is refused.
func TestPagesEndWhereTheClientOwes(t *testing.T) {
	d, _, runner := runnerDocket(t)
	l := lister{d, new(rpc.JobsQuery), &rpc.JobsPage{Height: 99, Since: 1}}
	for n := range byte(4) {
		id := chain.Hash{n}
		d.putJob(id, func(j *jobs.Job) { j.Runners = 1 })
		d.seat(id, 0, 0, &jobs.Seat{Runner: runner[0]})
		l.page.Jobs = append(l.page.Jobs, rpc.ListedJob{JobPlace: rpc.JobPlace{Height: 90 - chain.Height(n)}, ID: id})
	}
	cfg := rpc.DefaultConfig()
	cfg.RequestsPerSecond = 0
	cfg.Genesis = genesis.DevnetTemplate()
	most := 0
	for reads := range 30 {
		s := newServer(t, cfg, payer{l, reads})
		w := request(s, http.MethodGet, "/runner/"+runner[0].String()+"/jobs", "", nil)
		if reads < 6 { // the record of the runner, and of the first job five rows
			wantError(t, w, http.StatusTooManyRequests, rpc.CodeOwed)
		} else if got := decode[rpc.RunnerJobsReply](t, w); len(got.Jobs) < most || len(got.Jobs) == 0 || (got.Next == "") != (len(got.Jobs) == 4) || got.Next != "" && got.Next != got.Jobs[len(got.Jobs)-1].JobID {
			t.Errorf("%d reads: %d jobs, next %q", reads, len(got.Jobs), got.Next)
		} else {
			most = len(got.Jobs)
		}
		w = request(s, http.MethodGet, "/jobs?submitter="+runner[0].String(), "", nil)
		if reads == 0 {
			wantError(t, w, http.StatusTooManyRequests, rpc.CodeOwed)
			continue
		}
		got := decode[rpc.JobsReply](t, w)
		if want := min(reads, 4); len(got.Jobs) != want || want < 4 && got.Next != l.page.Jobs[want-1].String() || want == 4 && got.Next != "" {
			t.Errorf("%d reads: %d jobs, next %q", reads, len(got.Jobs), got.Next)
		}
	}
	if most != 4 {
		t.Errorf("%d jobs at most", most)
	}
}
