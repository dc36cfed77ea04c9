package rpc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

func testKey(t testing.TB, seed byte) *secp256k1.PrivateKey {
	t.Helper()
	key, err := secp256k1.ParsePrivateKey(bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// transfer returns a signed transfer of 5 base units to 0x2222….
func transfer(t testing.TB, key *secp256k1.PrivateKey, nonce uint64) *chain.Tx {
	t.Helper()
	to := chain.Address(bytes.Repeat([]byte{0x22}, 20))
	tx := &chain.Tx{
		ChainID: rpctest.ChainID, Nonce: nonce, To: &to, Value: 5,
		CyclesLimit: 21_000, MaxFeePerCycle: 2, MaxFeePerCell: 2,
	}
	sig := key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	return tx
}

func TestDevnetPathsAreClosedElsewhere(t *testing.T) {
	cfg := testConfig()
	cfg.Devnet = false
	s := newServer(t, cfg, rpctest.New())
	wantError(t, request(s, "POST", "/faucet", "", []byte(`{"address":"`+strings.Repeat("33", 20)+`"}`)), 404, rpc.CodeDevnetOnly)
	wantError(t, request(s, "POST", "/dev/advance", "", []byte(`{"blocks":1}`)), 404, rpc.CodeDevnetOnly)
}

func TestDevnet(t *testing.T) {
	source := rpctest.New()
	cfg := testConfig()
	cfg.FaucetPerMinute = 2
	s := newServer(t, cfg, source)
	body := []byte(`{"address":"0x` + strings.Repeat("33", 20) + `"}`)
	grant := decode[rpc.FaucetReply](t, request(s, "POST", "/faucet", "application/json", body))
	if grant.AmountCBY != "5000" || grant.Amount != rpctest.FaucetWei || grant.Finality != "finalized" {
		t.Errorf("faucet %+v", grant)
	}
	decode[rpc.FaucetReply](t, request(s, "POST", "/faucet", "", body))
	w := request(s, "POST", "/faucet", "", body)
	wantError(t, w, 429, rpc.CodeFaucetLimit)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	head := decode[rpc.AdvanceReply](t, request(s, "POST", "/dev/advance", "application/json", []byte(`{"blocks":100}`)))
	if head.Height != 100 || head.TimestampMillis != rpctest.GenesisTime+100*rpctest.BlockTime {
		t.Errorf("advance %+v", head)
	}
}

func TestSubmit(t *testing.T) {
	source := rpctest.New()
	key := testKey(t, 1)
	source.Fund(key.PublicKey().Address(), 1_000_000_000)
	s := newServer(t, testConfig(), source)
	var wire []byte
	for nonce := range uint64(50) {
		wire = transfer(t, key, nonce).AppendWire(wire)
	}
	reply := decode[rpc.SubmitReply](t, request(s, "POST", "/submit", "application/octet-stream", wire))
	for i, r := range reply.Results {
		if !r.Accepted || r.Code != rpc.CodeOK {
			t.Fatalf("transaction %d: %+v", i, r)
		}
	}
	again := decode[rpc.SubmitReply](t, request(s, "POST", "/submit", "", wire))
	if len(again.Results) != 50 || again.Results[49].Code != rpc.CodeTxKnown || again.Results[49].Accepted {
		t.Errorf("repeated submission %+v", again.Results[49])
	}
	wantError(t, request(s, "POST", "/submit", "", transfer(t, key, 50).AppendWire(wire)), 400, rpc.CodeBadSubmission)

	// One bad transaction does not spoil its neighbours.
	tampered := transfer(t, key, 50)
	tampered.Value++
	mixed := transfer(t, key, 50).AppendWire(tampered.AppendWire(nil))
	two := decode[rpc.SubmitReply](t, request(s, "POST", "/submit", "", mixed))
	if two.Results[0].Accepted || !two.Results[1].Accepted {
		t.Errorf("verdicts %+v", two.Results)
	}
	if got := s.Stats.Accepted.Load(); got != 51 {
		t.Errorf("%d accepted in the statistics, want 51", got)
	}
}

func TestSubmitWait(t *testing.T) {
	source := rpctest.New()
	source.Instant = true
	key := testKey(t, 1)
	source.Fund(key.PublicKey().Address(), 1_000_000_000)
	s := newServer(t, testConfig(), source)
	wire := transfer(t, key, 0).AppendWire(nil)
	final := decode[rpc.SubmitWaitReply](t, request(s, "POST", "/submit_wait?timeout_ms=1000", "", wire))
	if r := final.Results[0].Receipt; r == nil || r.BlockHeight != 1 || r.Status != "success" {
		t.Errorf("receipt %+v", r)
	}
	repeated := decode[rpc.SubmitWaitReply](t, request(s, "POST", "/submit_wait", "", wire))
	if r := repeated.Results[0]; r.Receipt == nil || r.Code != rpc.CodeTxKnown {
		t.Errorf("repeated %+v", r)
	}
	source.Instant = false
	late := decode[rpc.SubmitWaitReply](t, request(s, "POST", "/submit_wait?timeout_ms=100", "", transfer(t, key, 1).AppendWire(nil)))
	if r := late.Results[0]; !r.Accepted || r.Receipt != nil {
		t.Errorf("unfinished %+v", r)
	}
	refused := decode[rpc.SubmitWaitReply](t, request(s, "POST", "/submit_wait?timeout_ms=10000", "", transfer(t, key, 9).AppendWire(nil)))
	if r := refused.Results[0]; r.Code != rpc.CodeNonceTooHigh {
		t.Errorf("refused %+v", r) // and it did not wait
	}
}
