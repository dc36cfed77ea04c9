package rpc_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// reading is a docket that knows whether its head is held.
type reading struct {
	docket
	t    *testing.T
	held *bool
	asks *int
	left context.CancelFunc // called at the second transaction, if set
}

func (r reading) ReadHead(ctx context.Context, read func(rpc.StorageReader, chain.Height) error) error {
	*r.held = true
	defer func() { *r.held = false }()
	return r.docket.ReadHead(ctx, read)
}

func (r reading) Transaction(ctx context.Context, hash chain.Hash) (*rpc.FoundTx, bool, error) {
	if *r.held {
		r.t.Error("a block is read while the head is held")
	}
	if *r.asks++; *r.asks == 2 && r.left != nil {
		r.left()
	}
	if err := rpc.Bill(ctx, oldBlockBytes); err != nil {
		return nil, false, err
	}
	return r.docket.Transaction(ctx, hash)
}

// TestResultsAreReadBesideTheHead: the blocks that have the results of a job are read when the
// head is let go of, one after the other while the reader is there and can pay; the rest is
// asked for by its place.
func TestResultsAreReadBesideTheHead(t *testing.T) {
	d, _ := newDocket(t)
	id := chain.Hash{7}
	d.putJob(id, func(j *jobs.Job) { j.Attempt, j.CommitBy = 0, 99 })
	const seats = 20
	for n := range uint8(seats) {
		result := (&chain.RunnerResult{Version: 1, Attempt: 1, Data: []byte{n}}).Encode()
		tx := chain.Hash{1, n}
		d.txs[tx] = &chain.Tx{Payload: chain.EncodeRequest(&chain.ResultReveal{JobID: id, Result: result})}
		seat := &jobs.Seat{Runner: chain.Address{n + 1}, Reveal: &jobs.Reveal{At: 99, Tx: tx, Result: keccak.Sum256(result)}}
		d.head.SetStorage(chain.AddrJobDispatcher, jobs.SeatKey(id, 0, n), seat.Encode())
	}
	source := reading{docket: d, t: t, held: new(bool), asks: new(int)}
	path := "/job/" + id.String() + "/results"
	s := newServer(t, rpc.DefaultConfig(), source)
	part := decode[rpc.JobResultsReply](t, askAs(s, greedy, "GET", path, nil))
	if n := len(part.Results); n < 1 || n > 3 || part.TotalCount != seats || *source.asks > 3 {
		t.Errorf("a client whose rate pays for one block is told %d results of %d, out of %d blocks", n, part.TotalCount, *source.asks)
	}
	s = newServer(t, testConfig(), source)
	if whole := decode[rpc.JobResultsReply](t, request(s, "GET", path, "", nil)); len(whole.Results) != seats {
		t.Errorf("%d results", len(whole.Results))
	}
	rest := decode[rpc.JobResultsReply](t, request(s, "GET", path+"?offset=18&limit=50", "", nil))
	if len(rest.Results) != 2 || rest.Offset != 18 || rest.TotalCount != seats || rest.Results[0].Seat != 18 || *rest.Results[1].Data != "0x13" {
		t.Errorf("from 18 on: %+v", rest)
	}
	ctx, cancel := context.WithCancel(t.Context())
	source.left, *source.asks = cancel, 0
	r := httptest.NewRequest("GET", path, nil).WithContext(ctx)
	newServer(t, testConfig(), source).ServeHTTP(httptest.NewRecorder(), r)
	if *source.asks != 2 {
		t.Errorf("%d blocks are read for who left at the second", *source.asks)
	}
}
