package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// fakeNode is a chain of one process that checks signatures, nonces and money
// as a node does, and misbehaves on request.
type fakeNode struct {
	t        *testing.T
	url      string
	interval time.Duration // between blocks
	params   *rpc.ParamsReply

	// Misbehaviour; nil and zero mean none. The count is of the load's
	// transfers, funding not included, from 1.
	lose     func(n int) bool                   // accept and never include
	refuse   func(n int, tx *chain.Tx) rpc.Code // refuse with this code
	swallow  func(request int) bool             // take the transfers and drop the connection instead of answering
	status   func(request int) (int, rpc.Code)  // refuse the whole request
	delay    time.Duration                      // before each answer
	breakAt  uint64                             // end event streams at this height
	silent   bool                               // streams open and say nothing
	noEvents bool                               // no streams at all
	bank     chain.Address

	mu       sync.Mutex
	money    map[chain.Address]uint64
	next     map[chain.Address]uint64 // nonce behind the accepted ones
	final    map[chain.Address]uint64 // nonce behind the included ones
	pool     []poolTx
	known    map[chain.Hash]bool
	blocks   []finalBlock
	streams  map[chan finalBlock]bool
	count    int // of the load's transfers that were judged
	requests int // that carried the load's transfers
	accepted int
}

type poolTx struct {
	hash   chain.Hash
	sender chain.Address
	tx     *chain.Tx
	lost   bool
}

// devKey is the key with money on the fake chain.
var devKey = [32]byte{31: 7}

func newFakeNode(t *testing.T) *fakeNode {
	t.Helper()
	key, err := secp256k1.ParsePrivateKey(devKey[:])
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{
		t: t, interval: 20 * time.Millisecond, bank: key.PublicKey().Address(),
		money: map[chain.Address]uint64{}, next: map[chain.Address]uint64{}, final: map[chain.Address]uint64{},
		known: map[chain.Hash]bool{}, streams: map[chan finalBlock]bool{},
		params: &rpc.ParamsReply{
			Name: "fake", ChainID: 9, BlockTimeMillis: 1000, CyclesTarget: 10_000_000, CyclesCap: 20_000_000,
			MaxBlockBytes: 4 << 20, TransferIntrinsicCycles: 21_000, LaneShareBasisPoints: map[string]uint64{"user": 5000},
		},
	}
	n.money[n.bank] = 1 << 60
	mux := http.NewServeMux()
	mux.HandleFunc("GET /height", func(w http.ResponseWriter, _ *http.Request) {
		n.mu.Lock()
		defer n.mu.Unlock()
		answer(w, rpc.HeightReply{Height: uint64(len(n.blocks))})
	})
	mux.HandleFunc("GET /basefee", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, rpc.BaseFeeReply{Cycle: 1, Cell: 1, ChainID: 9})
	})
	mux.HandleFunc("GET /params", func(w http.ResponseWriter, _ *http.Request) {
		if n.params == nil {
			fail(w, http.StatusNotFound, rpc.CodeUnknownPath)
			return
		}
		answer(w, n.params)
	})
	mux.HandleFunc("GET /account/{addr}", n.serveAccount)
	mux.HandleFunc("GET /block/{height}", n.serveBlock)
	mux.HandleFunc("GET /events", n.serveEvents)
	mux.HandleFunc("POST /submit", n.serveSubmit)
	server := httptest.NewServer(mux)
	n.url = server.URL
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(n.interval):
				n.makeBlock()
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
		server.CloseClientConnections()
		server.Close()
	})
	return n
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, status int, code rpc.Code) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(rpc.ErrorReply{Code: code, Message: fmt.Sprintf("refused as code %d", code)})
}

func (n *fakeNode) serveAccount(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for addr, money := range n.money {
		if addr.String() == r.PathValue("addr") {
			answer(w, rpc.AccountReply{Nonce: n.final[addr], Spendable: chain.Wei(money)})
			return
		}
	}
	fail(w, http.StatusNotFound, rpc.CodeUnknownAccount)
}

func (n *fakeNode) serveBlock(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h, err := strconv.Atoi(r.PathValue("height"))
	if err != nil || h < 1 || h > len(n.blocks) {
		fail(w, http.StatusNotFound, rpc.CodeUnknownBlock)
		return
	}
	answer(w, n.blocks[h-1])
}

func (n *fakeNode) serveEvents(w http.ResponseWriter, r *http.Request) {
	if n.noEvents {
		fail(w, http.StatusServiceUnavailable, rpc.CodeSubscribers)
		return
	}
	blocks := make(chan finalBlock, 1000)
	n.mu.Lock()
	n.streams[blocks] = true
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.streams, blocks)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, ": hello\n\nevent: gap\ndata: {\"from\":1,\"to\":2}\n\n")
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case b := <-blocks:
			if n.silent {
				continue
			}
			if n.breakAt != 0 && b.Height == n.breakAt {
				return
			}
			text, _ := json.Marshal(b)
			fmt.Fprintf(w, "event: block\nid: %d\ndata: %s\n\n", b.Height, text)
			w.(http.Flusher).Flush()
		}
	}
}

// makeBlock includes everything that waits, except what is to be lost.
func (n *fakeNode) makeBlock() {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := finalBlock{Height: uint64(len(n.blocks)) + 1}
	for _, p := range n.pool {
		if p.lost {
			continue
		}
		b.Txs = append(b.Txs, struct {
			Hash string `json:"hash"`
		}{p.hash.String()})
		n.final[p.sender] = p.tx.Nonce + 1
		n.money[p.sender] -= uint64(p.tx.Value) + 2*21_000
		n.money[*p.tx.To] += uint64(p.tx.Value)
	}
	n.pool = nil
	n.blocks = append(n.blocks, b)
	for s := range n.streams {
		s <- b
	}
}

func (n *fakeNode) serveSubmit(w http.ResponseWriter, r *http.Request) {
	time.Sleep(n.delay)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	bodies, err := chain.DecodeWireTxs(body, MaxBatch)
	if err != nil || r.Header.Get("Content-Type") != "application/octet-stream" {
		n.t.Errorf("submission: %v, content type %q", err, r.Header.Get("Content-Type"))
		fail(w, http.StatusBadRequest, rpc.CodeBadSubmission)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	txs := make([]poolTx, len(bodies))
	for i, b := range bodies {
		txs[i] = n.decode(b)
	}
	if txs[0].sender != n.bank {
		n.requests++
		if n.status != nil {
			if status, code := n.status(n.requests); status != 0 {
				fail(w, status, code)
				return
			}
		}
	}
	var verdicts []rpc.Verdict
	for _, p := range txs {
		v := rpc.Verdict{Hash: p.hash, Code: n.judge(&p)}
		if v.Code != rpc.CodeOK {
			v.Message = fmt.Sprintf("refused: nonce %d of %s", p.tx.Nonce, p.sender)
		}
		verdicts = append(verdicts, v)
	}
	if txs[0].sender != n.bank && n.swallow != nil && n.swallow(n.requests) {
		panic(http.ErrAbortHandler)
	}
	if accept := r.Header.Get("Accept"); accept != rpc.VerdictsMedia {
		n.t.Errorf("submission wants %q", accept)
	}
	_, _ = w.Write(rpc.AppendVerdicts(nil, verdicts, r.URL.Query().Get("hashes") != "0"))
}

func (n *fakeNode) decode(body []byte) poolTx {
	tx, err := chain.DecodeTx(body)
	if err != nil {
		n.t.Fatalf("transaction: %v", err)
	}
	pub, err := secp256k1.Recover(tx.SigningHash(), secp256k1.Signature{R: tx.Signature.R, S: tx.Signature.S, YParity: tx.Signature.YParity})
	if err != nil {
		n.t.Fatalf("signature: %v", err)
	}
	return poolTx{hash: chain.TxHash(body), sender: pub.Address(), tx: tx}
}

// judge admits one transaction or says why not.
func (n *fakeNode) judge(p *poolTx) rpc.Code {
	if n.known[p.hash] {
		return rpc.CodeTxKnown
	}
	if p.sender != n.bank {
		n.count++
		if n.refuse != nil {
			if code := n.refuse(n.count, p.tx); code != rpc.CodeOK {
				return code
			}
		}
		p.lost = n.lose != nil && n.lose(n.count)
	}
	switch {
	case p.tx.ChainID != 9:
		return rpc.CodeTxChainID
	case p.tx.Nonce < n.next[p.sender]:
		return rpc.CodeNonceTooLow
	case p.tx.Nonce > n.next[p.sender]:
		return rpc.CodeNonceTooHigh
	case n.money[p.sender] < uint64(p.tx.Value)+uint64(p.tx.CyclesLimit)*uint64(p.tx.MaxFeePerCycle):
		return rpc.CodeInsufficient
	}
	n.next[p.sender]++
	n.known[p.hash] = true
	n.pool = append(n.pool, *p)
	if p.sender != n.bank {
		n.accepted++
	}
	return rpc.CodeOK
}

// quickLoad is a run of about half a second against n.
func (n *fakeNode) quickLoad() LoadConfig {
	cfg := DefaultLoadConfig()
	cfg.RPC, cfg.FundKey = n.url, devKey
	cfg.Rate, cfg.Duration, cfg.Accounts, cfg.Connections, cfg.Batch = 600, 500*time.Millisecond, 12, 3, 4
	cfg.Drain = time.Minute       // ends early unless something is lost
	cfg.LatenessMax = time.Minute // other tests share the machine
	return cfg
}

func (n *fakeNode) run(cfg LoadConfig) *LoadReport {
	n.t.Helper()
	var log strings.Builder
	r, err := Run(n.t.Context(), cfg, ".", &log)
	if err != nil {
		n.t.Fatalf("%v\n%s", err, log.String())
	}
	n.balance(r)
	return r
}

// balance checks the equations of the package comment.
func (n *fakeNode) balance(r *LoadReport) {
	n.t.Helper()
	if r.Scheduled != r.Sent+r.Skipped+r.Unsent {
		n.t.Errorf("scheduled %d is not sent %d + skipped %d + unsent %d", r.Scheduled, r.Sent, r.Skipped, r.Unsent)
	}
	if r.Sent != r.Accepted+r.Rejected+r.Unanswered {
		n.t.Errorf("sent %d is not accepted %d + rejected %d + unanswered %d", r.Sent, r.Accepted, r.Rejected, r.Unanswered)
	}
	var reasons int64
	for _, c := range r.Reasons {
		reasons += c
	}
	if reasons != r.Rejected {
		n.t.Errorf("reasons add up to %d, rejected are %d", reasons, r.Rejected)
	}
	if r.FinalizedLatency.Count != r.Finalized || r.Ack.Count != r.Accepted+r.Rejected {
		n.t.Errorf("histograms hold %d final and %d answered, counted are %d and %d", r.FinalizedLatency.Count, r.Ack.Count, r.Finalized, r.Accepted+r.Rejected)
	}
}
