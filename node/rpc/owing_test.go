package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// askAs sends a request from an address.
func askAs(s http.Handler, from, method, target string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, bytes.NewReader(body))
	r.RemoteAddr = from + ":999"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// codeOf is the code of a refusal, 0 of an answer.
func codeOf(t *testing.T, w *httptest.ResponseRecorder) rpc.Code {
	t.Helper()
	if w.Code == http.StatusOK {
		return rpc.CodeOK
	}
	var reply rpc.ErrorReply
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
		t.Fatalf("answer %d %q: %v", w.Code, w.Body.String(), err)
	}
	return reply.Code
}

// crowdedArchive has old blocks of 256 KiB, which it decodes when as many requests have come
// for them as it waits for.
type crowdedArchive struct {
	*rpctest.Chain
	gate    *sync.WaitGroup
	decoded *atomic.Int64
}

const oldBlockBytes = 256 << 10

func (a crowdedArchive) BlockByHeight(ctx context.Context, h chain.Height) (*rpc.Block, bool, error) {
	if a.gate != nil {
		a.gate.Done()
		a.gate.Wait()
	}
	if err := rpc.Bill(ctx, oldBlockBytes); err != nil {
		return nil, false, err
	}
	a.decoded.Add(oldBlockBytes)
	return a.Chain.BlockByHeight(ctx, h)
}

// TestOldBlocksAtOnceCostWhatTheyDoInTurn: many requests of one client for old blocks that come
// at the same moment get what its bucket holds and one block more, and are refused before
// anything is decoded for them; another client has its own.
func TestOldBlocksAtOnceCostWhatTheyDoInTurn(t *testing.T) {
	const crowd = 60 // fewer than the share of a client
	source := crowdedArchive{rpctest.New(), new(sync.WaitGroup), new(atomic.Int64)}
	for range crowd {
		source.Finalize()
	}
	s := newServer(t, rpc.DefaultConfig(), source)
	source.gate.Add(crowd)
	began := time.Now()
	var answers sync.WaitGroup
	var served, owing atomic.Int64
	for i := range crowd {
		answers.Go(func() {
			w := askAs(s, greedy, "GET", "/block/"+strconv.Itoa(i+1), nil)
			switch {
			case w.Code == 200:
				served.Add(1)
			case w.Code == 429 && codeOf(t, w) == rpc.CodeOwed:
				if after, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || after < 1 {
					t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
				}
				owing.Add(1)
			default:
				t.Errorf("an old block is answered with %d", w.Code)
			}
		})
	}
	answers.Wait()
	// What the rate gives is 4 KiB for each request of it, 100 at once and 100 a second.
	most := int64(float64(4<<10)*100*(1+time.Since(began).Seconds())) + 2*oldBlockBytes
	if got := source.decoded.Load(); got > most || served.Load() < 1 || served.Load()+owing.Load() != crowd {
		t.Errorf("%d bytes are decoded for a crowd of one client, at most %d; %d are served", got, most, served.Load())
	}
	alone := source
	alone.gate = nil
	s2 := newServer(t, rpc.DefaultConfig(), alone)
	for range 5 { // with a debt of the greedy one
		askAs(s2, greedy, "GET", "/block/1", nil)
	}
	if code := codeOf(t, askAs(s2, greedy, "GET", "/height", nil)); code != rpc.CodeOwed {
		t.Errorf("a client that owes is answered with %d", code)
	}
	if w := askAs(s2, honest, "GET", "/block/2", nil); w.Code != 200 {
		t.Errorf("another client is answered with %d", w.Code)
	}
}

// TestHonestClientsOweNothing: what wallets, explorers that follow the head, and programs that
// submit ask for in a second costs what it did.
func TestHonestClientsOweNothing(t *testing.T) {
	source := rpctest.New()
	source.Instant = true
	key := testKey(t, 1)
	source.Fund(key.PublicKey().Address(), 1<<50)
	s := newServer(t, rpc.DefaultConfig(), source)
	must := func(who, method, target string, body []byte) *httptest.ResponseRecorder {
		t.Helper()
		w := askAs(s, who, method, target, body)
		if w.Code != 200 {
			t.Fatalf("%s %s of %s is answered with %d: %s", method, target, who, w.Code, w.Body.String())
		}
		return w
	}
	nonce := uint64(0)
	batch := func(n int) (wire []byte, last chain.Hash) {
		for range n {
			tx := transfer(t, key, nonce)
			wire, last = tx.AppendWire(wire), chain.TxHash(tx.Encode())
			nonce++
		}
		return wire, last
	}
	wallet, explorer, waiter, load := "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"
	for range 8 {
		wire, last := batch(20)
		reply := decode[rpc.SubmitWaitReply](t, must(waiter, "POST", "/submit_wait?timeout_ms=1000", wire))
		for _, r := range reply.Results {
			if r.Code != rpc.CodeOK || r.Receipt == nil {
				t.Fatalf("a waiting client gets %+v", r)
			}
		}
		for range 3 {
			must(wallet, "GET", "/account/"+chain.Address(key.PublicKey().Address()).String(), nil)
			must(wallet, "GET", "/transaction/"+last.String()+"/receipt", nil)
			must(wallet, "GET", "/height", nil)
		}
		must(explorer, "GET", "/block/latest", nil)
		must(explorer, "GET", "/blocks?limit=50", nil)
		must(explorer, "GET", "/transaction/"+last.String(), nil)
		for range 10 {
			wire, _ := batch(1)
			must(load, "POST", "/submit", wire)
		}
	}
}

// TestReplaysArePaidFor: a stream that resumes goes as fast as its client pays for the blocks,
// also for those that are in memory and have to be encoded only.
func TestReplaysArePaidFor(t *testing.T) {
	source := fat{rpctest.New()}
	for range 200 {
		source.Finalize()
	}
	w := newTown(t, rpc.DefaultConfig(), source)
	c := w.say(greedy, "GET /events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0\r\n\r\n")
	began := time.Now()
	_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	got, _ := io.ReadAll(c)
	most := int(100*(1+time.Since(began).Seconds())/64) + 3
	if n := strings.Count(string(got), "event: block"); n < 1 || n > most {
		t.Errorf("a replay sends %d blocks of 2 MiB, want 1 to %d", n, most)
	}
	w.served("/height")
}

// fat has blocks in memory that say they are large.
type fat struct{ *rpctest.Chain }

func (f fat) BlockByHeight(ctx context.Context, h chain.Height) (*rpc.Block, bool, error) {
	b, ok, err := f.Chain.BlockByHeight(ctx, h)
	if !ok || err != nil {
		return nil, false, err
	}
	large := *b
	large.SizeBytes = 2 << 20
	return &large, true, nil
}
