package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
	"github.com/cowboy-foundation/cowboy/state"
)

// hoard is a chain whose every answer is large.
type hoard struct {
	docket
	value []byte
}

func newHoard() hoard {
	d := docket{rpctest.New(), state.NewOverlay(state.Empty{}), map[chain.Hash]*chain.Tx{}}
	const n = 60_000
	value := append([]byte{0x9a, 0, 0, n >> 8, n & 0xff}, bytes.Repeat([]byte{0xf5}, n)...) // a list of true
	d.Finalize()
	d.Fund(chain.Address{1}, 1)
	h := hoard{d, value}
	h.putJob(chain.Hash{1}, func(*jobs.Job) {})
	h.head.SetStorage(chain.AddrJobDispatcher, jobs.SpecKey(chain.Hash{1}), value)
	h.head.SetStorage(chain.AddrJobDispatcher, jobs.TermsKey(chain.Hash{1}), value)
	return h
}

func (h hoard) events() []chain.Event {
	var list []chain.Event
	for range 20 {
		list = append(list, chain.Event{Emitter: rpctest.ActorAddress, Name: "e", Data: h.value})
	}
	return list
}

func (h hoard) Receipt(context.Context, chain.Hash) (*rpc.FoundReceipt, bool, error) {
	return &rpc.FoundReceipt{Receipt: &chain.Receipt{Status: chain.StatusSucceeded, Output: h.value, Events: h.events()}, Height: 1}, true, nil
}

func (h hoard) Transaction(context.Context, chain.Hash) (*rpc.FoundTx, bool, error) {
	return nil, false, nil
}

func (h hoard) Logs(_ context.Context, q *rpc.LogQuery) (*rpc.LogPage, error) {
	page := &rpc.LogPage{}
	for i, e := range h.events() {
		at := rpc.LogPlace{Height: 1, Index: i}
		if q.After == nil || q.After.Index < i {
			page.Logs = append(page.Logs, rpc.Log{Event: e, LogPlace: at})
		}
	}
	return page, nil
}

func (h hoard) Actor(_ context.Context, q *rpc.ActorQuery) (*rpc.Actor, bool, error) {
	a := &rpc.Actor{Rent: rpc.Rent{State: "paid"}}
	for i := range 20 {
		key := state.NewStorageKey(state.VMNamespacePVM, fmt.Appendf(nil, "%02d", i))
		if key >= q.From {
			a.Entries = append(a.Entries, state.Entry{Key: key, Value: h.value})
		}
	}
	return a, true, nil
}

func (h hoard) ReadActor(context.Context, *rpc.ReadQuery) (*rpc.Trial, error) {
	return &rpc.Trial{Output: h.value, Events: h.events()}, nil
}

func (h hoard) Estimate(context.Context, *rpc.EstimateQuery) (*rpc.Trial, error) {
	return h.ReadActor(context.Background(), nil)
}

func (h hoard) StorageAt(context.Context, chain.Address, state.StorageKey, *chain.Height) (*rpc.StorageValue, error) {
	return &rpc.StorageValue{Value: h.value}, nil
}

// TestValuesArePaidFor: what answers show of the state and of receipts is paid by its bytes,
// so that a client gets few large answers a second, and no answer has more than its bytes.
func TestValuesArePaidFor(t *testing.T) {
	h := newHoard()
	hash, at := chain.Hash{1}.String(), rpctest.ActorAddress.String()
	read, quote := `{"actor":"`+at+`","handler":"get"}`, `{"sender":"`+at+`","to":"`+at+`"}`
	for n, tt := range []struct{ method, target, body string }{
		{"GET", "/transaction/" + hash + "/receipt", ""},
		{"GET", "/actor/" + at, ""},
		{"GET", "/actor/" + at + "/logs", ""},
		{"POST", "/actor/read", read},
		{"POST", "/estimate", quote},
		{"GET", "/job/" + hash + "/terms", ""},
		{"GET", "/account/" + at + "/storage/0x01", ""},
	} {
		cfg := rpc.DefaultConfig()
		cfg.RequestsPerSecond = 200
		s := newServer(t, cfg, h)
		from := fmt.Sprintf("10.0.1.%d", n)
		answers := map[rpc.Code]int{}
		for range 400 { // the price alone would let 400 by, or 50 estimates
			w := askAs(s, from, tt.method, tt.target, []byte(tt.body))
			if w.Code == 200 && w.Body.Len() > 8<<20 {
				t.Fatalf("%s: an answer of %d bytes", tt.target, w.Body.Len())
			}
			if answers[codeOf(t, w)]++; answers[rpc.CodeOwed] > 0 {
				break
			}
		}
		if answers[rpc.CodeOwed] == 0 || answers[rpc.CodeOK] == 0 || answers[rpc.CodeOK] > 100 {
			t.Errorf("%s is answered with %v", tt.target, answers)
		}
	}
}

// TestAnswersEndBehindTheirValues: lists go on from where their bytes ended, and what has no
// list shows the bytes alone.
func TestAnswersEndBehindTheirValues(t *testing.T) {
	h := newHoard()
	cfg := testConfig()
	s := newServer(t, cfg, h)
	hash, at := chain.Hash{1}.String(), rpctest.ActorAddress.String()
	receipt := decode[rpc.ReceiptReply](t, request(s, "GET", "/transaction/"+hash+"/receipt", "", nil))
	shown := 0
	for _, e := range receipt.Events {
		if len(e.Data) < len(h.value) {
			t.Fatal("an event lacks its bytes")
		}
		if string(e.Value) != "null" {
			shown += len(e.Value)
		}
	}
	if shown+len(receipt.Value) > cfg.ValueBytesMax || shown == 0 || len(receipt.Events) != 20 {
		t.Errorf("a receipt shows %d bytes of values", shown)
	}
	places, next := 0, ""
	for pages := 0; pages == 0 || next != ""; pages++ {
		logs := decode[rpc.LogsReply](t, request(s, "GET", "/actor/"+at+"/logs?after="+next, "", nil))
		for _, l := range logs.Logs {
			if l.Index != places || string(l.Value) == "null" {
				t.Fatalf("event %d is the %dth", l.Index, places)
			}
			places++
		}
		if next = logs.Next; len(logs.Logs) == 0 || len(logs.Logs)*len(logs.Logs[0].Value) > cfg.ValueBytesMax {
			t.Fatalf("a page of %d events", len(logs.Logs))
		}
	}
	if places != 20 {
		t.Errorf("%d events in all pages", places)
	}
	keys, from := map[string]bool{}, ""
	for pages := 0; pages == 0 || from != ""; pages++ {
		a := decode[rpc.ActorReply](t, request(s, "GET", "/actor/"+at+"?from="+from, "", nil))
		for k := range a.Storage {
			keys[k] = true
		}
		if from = a.StorageNext; len(a.Storage) == 0 || pages > 20 {
			t.Fatalf("a page of %d entries", len(a.Storage))
		}
	}
	if len(keys) != 20 {
		t.Errorf("%d entries in all pages", len(keys))
	}
}

// TestVerdictsAreOwed: who cannot pay for receipts has the verdicts of its submission.
func TestVerdictsAreOwed(t *testing.T) {
	h := newHoard()
	h.Instant = true
	h.Fund(testKey(t, 1).PublicKey().Address(), 1<<40)
	s := newServer(t, rpc.DefaultConfig(), h)
	var wire []byte
	for nonce := range uint64(3) {
		wire = transfer(t, testKey(t, 1), nonce).AppendWire(wire)
	}
	w := askAs(s, greedy, "POST", "/submit_wait?timeout_ms=100", wire)
	reply := decode[rpc.SubmitWaitReply](t, w)
	if len(reply.Results) != 3 || reply.Results[2].Code != rpc.CodeOK || reply.Results[2].Receipt != nil {
		t.Errorf("a submission with receipts of megabytes: %.300s", w.Body.String())
	}
	again := transfer(t, testKey(t, 1), 3).AppendWire(nil)
	if code := codeOf(t, askAs(s, greedy, "POST", "/submit", again)); code != rpc.CodeOwed {
		t.Errorf("who was shown megabytes is answered with %d", code)
	}
	if w := askAs(s, greedy, "GET", "/height", nil); w.Code != 200 {
		t.Errorf("what is owed for sending keeps from reading: %s", w.Body.String())
	}
}

// TestDebtOfReadingLeavesSending: whoever shares an address with one who reads much sends
// all the same.
func TestDebtOfReadingLeavesSending(t *testing.T) {
	h := newHoard()
	h.Fund(testKey(t, 1).PublicKey().Address(), 1<<40)
	s := newServer(t, rpc.DefaultConfig(), h)
	rpc.Owe(s, greedy)
	if code := codeOf(t, askAs(s, greedy, "GET", "/height", nil)); code != rpc.CodeOwed {
		t.Fatalf("who owes is answered with %d", code)
	}
	if w := askAs(s, greedy, "POST", "/submit", transfer(t, testKey(t, 1), 0).AppendWire(nil)); w.Code != 200 {
		t.Errorf("a submission is answered with %d: %s", w.Code, w.Body.String())
	}
}
