package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// filled returns a chain of two blocks, the second with one transfer of key 1,
// a waiting transfer of its, and the hashes of both.
func filled(t testing.TB) (source *rpctest.Chain, final, waiting chain.Hash) {
	t.Helper()
	source = rpctest.New()
	key := testKey(t, 1)
	source.Fund(key.PublicKey().Address(), 1_000_000_000)
	source.Finalize()
	first, second := transfer(t, key, 0), transfer(t, key, 1)
	for i, tx := range []*chain.Tx{first, second} {
		verdicts, err := source.Submit(context.Background(), [][]byte{tx.Encode()}, nil)
		if err != nil || verdicts[0].Code != rpc.CodeOK {
			t.Fatal(verdicts, err)
		}
		if i == 0 {
			source.Finalize()
		}
	}
	return source, chain.TxHash(first.Encode()), chain.TxHash(second.Encode())
}

func TestAnswers(t *testing.T) {
	source, final, waiting := filled(t)
	s := newServer(t, testConfig(), source)
	get := func(path string) *httptest.ResponseRecorder { return request(s, "GET", path, "", nil) }
	sender := chain.Address(testKey(t, 1).PublicKey().Address())

	if h := decode[rpc.HeightReply](t, get("/height")); h.Height != 2 {
		t.Errorf("height %d, want 2", h.Height)
	}
	byHeight := decode[rpc.BlockReply](t, get("/block/2"))
	byHash := decode[rpc.BlockReply](t, get("/block/"+byHeight.Hash))
	bare := decode[rpc.BlockReply](t, get("/block/"+strings.ToUpper(byHeight.Hash[2:])))
	latest := decode[rpc.BlockReply](t, get("/block/latest"))
	if byHash.Hash != byHeight.Hash || bare.Hash != byHeight.Hash || latest.Hash != byHeight.Hash {
		t.Error("height, hash and latest name different blocks")
	}
	if len(byHeight.Txs) != 1 || byHeight.Txs[0].Hash != final.String() || byHeight.Txs[0].Sender != sender.String() ||
		byHeight.Txs[0].Lane != "user" || byHeight.TxCount != 1 || len(byHeight.BaseFees) != int(chain.NumLanes) {
		t.Errorf("block %+v", byHeight)
	}
	if byHeight.PresenceInput == "" || byHeight.ConsumedSeeds == "" || byHeight.ParentView >= byHeight.View {
		t.Errorf("inputs %q and %q, parent view %d of view %d", byHeight.PresenceInput, byHeight.ConsumedSeeds, byHeight.ParentView, byHeight.View)
	}
	list := decode[rpc.BlocksReply](t, get("/blocks?limit=1&offset=1"))
	if len(list.Blocks) != 1 || list.Blocks[0].Height != 1 || list.TotalCount != 2 {
		t.Errorf("blocks %+v", list)
	}
	if all := decode[rpc.BlocksReply](t, get("/blocks")); len(all.Blocks) != 2 {
		t.Errorf("%d blocks, want 2", len(all.Blocks))
	}
	if none := decode[rpc.BlocksReply](t, get("/blocks?offset=18446744073709551615")); len(none.Blocks) != 0 {
		t.Errorf("%d blocks beyond the genesis", len(none.Blocks))
	}
	fee := decode[rpc.BaseFeeReply](t, get("/basefee"))
	if fee.Cycle != rpctest.BaseFee || fee.ChainID != rpctest.ChainID || fee.MaxTx.Cycles != uint64(rpctest.MaxCycles) {
		t.Errorf("basefee %+v", fee)
	}
	tx := decode[rpc.TxReply](t, get("/transaction/"+final.String()))
	if tx.BlockHeight == nil || *tx.BlockHeight != 2 || tx.Value != 5 || tx.Sender != sender.String() {
		t.Errorf("transaction %+v", tx)
	}
	if tx := decode[rpc.TxReply](t, get("/transaction/"+waiting.String())); tx.BlockHeight != nil || tx.Slot != nil {
		t.Errorf("waiting transaction %+v has a place", tx)
	}
	receipt := decode[rpc.ReceiptReply](t, get("/transaction/"+final.String()[2:]+"/receipt"))
	if receipt.Status != "success" || receipt.BlockHeight != 2 || receipt.Fee != 21_000 || len(receipt.Events) != 1 {
		t.Errorf("receipt %+v", receipt)
	}
	wantError(t, get("/transaction/"+waiting.String()+"/receipt"), 404, rpc.CodeReceiptPending)
	if p := decode[rpc.PoolTxReply](t, get("/mempool/transaction/"+waiting.String())); p.State != "pending" || p.Nonce != 1 {
		t.Errorf("pool transaction %+v", p)
	}
	account := decode[rpc.AccountReply](t, get("/account/"+sender.String()))
	if account.Nonce != 1 || account.PendingNext != 2 || account.Balance != 1_000_000_000-21_000-5 || account.Height != 2 {
		t.Errorf("account %+v", account)
	}
	if !strings.Contains(get("/account/"+sender.String()).Body.String(), `"balance":"`) {
		t.Error("balance is not a string (resolution 11.37)")
	}
	proof := decode[light.Account](t, get("/proof/account/"+sender.String()))
	if !proof.Exists || len(proof.Proof) != 1 || proof.Key == (chain.Hash{}) {
		t.Errorf("proof %+v", proof)
	}
	absent := decode[light.Account](t, get("/proof/account/"+strings.Repeat("33", 20)))
	if absent.Exists || len(absent.Value) != 0 {
		t.Errorf("proof of absence %+v", absent)
	}
	if w := get("/"); w.Code != 200 || !strings.Contains(w.Body.String(), "/submit_wait") {
		t.Errorf("index %d %s", w.Code, w.Body.String())
	}
	if e := decode[rpc.EvidenceReply](t, get("/evidence")).Evidence; len(e) != 1 || e[0].View != 7 || e[0].Accused[:4] != "0xac" || e[0].Proof != "0x0102" {
		t.Errorf("evidence %+v", e)
	}
	if h := decode[rpc.HealthReply](t, get("/health")); h.Status != "ok" || h.Height != 2 || h.Reasons == nil {
		t.Errorf("health %+v", h)
	}
	if w := request(s, "HEAD", "/height", "", nil); w.Code != 200 {
		t.Errorf("HEAD answers %d", w.Code)
	}
}

func TestRefusals(t *testing.T) {
	source, _, waiting := filled(t)
	s := newServer(t, testConfig(), source)
	unknown := strings.Repeat("9f", 32)
	tests := []struct {
		rule   string
		method string
		target string
		body   string
		status int
		code   rpc.Code
	}{
		{"unknown path", "GET", "/nothing", "", 404, rpc.CodeUnknownPath},
		{"unknown path below a known one", "GET", "/height/1", "", 404, rpc.CodeUnknownPath},
		{"trailing slash", "GET", "/height/", "", 404, rpc.CodeUnknownPath},
		{"doubled slash", "GET", "//height", "", 404, rpc.CodeUnknownPath},
		{"deep path", "GET", "/" + strings.Repeat("a/", 1000), "", 404, rpc.CodeUnknownPath},
		{"empty variable", "GET", "/block/", "", 404, rpc.CodeUnknownPath},
		{"wrong method", "POST", "/height", "", 405, rpc.CodeMethodNotAllowed},
		{"invented method", "BREW", "/height", "", 405, rpc.CodeMethodNotAllowed},
		{"read of a post path", "GET", "/submit", "", 405, rpc.CodeMethodNotAllowed},
		{"unknown height", "GET", "/block/3", "", 404, rpc.CodeUnknownBlock},
		{"genesis is no block", "GET", "/block/0", "", 404, rpc.CodeUnknownBlock},
		{"largest height", "GET", "/block/18446744073709551615", "", 404, rpc.CodeUnknownBlock},
		{"height above 64 bits", "GET", "/block/18446744073709551616", "", 400, rpc.CodeBadNumber},
		{"height with sign", "GET", "/block/+1", "", 400, rpc.CodeBadNumber},
		{"negative height", "GET", "/block/-1", "", 400, rpc.CodeBadNumber},
		{"leading zero", "GET", "/block/01", "", 400, rpc.CodeBadNumber},
		{"height in hex", "GET", "/block/0x1", "", 400, rpc.CodeBadHash},
		{"unicode digits", "GET", "/block/%D9%A1", "", 400, rpc.CodeBadNumber},
		{"unknown hash", "GET", "/block/" + unknown, "", 404, rpc.CodeUnknownBlock},
		{"hash with a bad digit", "GET", "/block/" + unknown[1:] + "g", "", 400, rpc.CodeBadHash},
		{"short hash", "GET", "/transaction/0x12", "", 400, rpc.CodeBadHash},
		{"unknown transaction", "GET", "/transaction/" + unknown, "", 404, rpc.CodeUnknownTransaction},
		{"receipt of unknown transaction", "GET", "/transaction/" + unknown + "/receipt", "", 404, rpc.CodeUnknownTransaction},
		{"receipt of pending transaction", "GET", "/transaction/" + waiting.String() + "/receipt", "", 404, rpc.CodeReceiptPending},
		{"not in the pool", "GET", "/mempool/transaction/" + unknown, "", 404, rpc.CodeNotInPool},
		{"unknown account", "GET", "/account/" + strings.Repeat("33", 20), "", 404, rpc.CodeUnknownAccount},
		{"long address", "GET", "/account/" + strings.Repeat("33", 21), "", 400, rpc.CodeBadAddress},
		{"state of a height above the head", "GET", "/account/" + strings.Repeat("11", 20) + "?height=9999", "", 404, rpc.CodeUnknownBlock},
		{"state of a height not kept", "GET", "/account/" + strings.Repeat("11", 20) + "/storage/01?height=0", "", 404, rpc.CodeNoHistory},
		{"code of a height not kept", "GET", "/account/" + strings.Repeat("11", 20) + "/code?height=0", "", 404, rpc.CodeNoHistory},
		{"height is no number", "GET", "/account/" + strings.Repeat("11", 20) + "?height=x", "", 400, rpc.CodeBadNumber},
		{"height given twice", "GET", "/account/" + strings.Repeat("11", 20) + "/code?height=1&height=2", "", 400, rpc.CodeBadNumber},
		{"page of too many entries", "GET", "/account/" + strings.Repeat("11", 20) + "/storage?limit=100001", "", 400, rpc.CodeBadNumber},
		{"page of no bytes", "GET", "/account/" + strings.Repeat("11", 20) + "/storage?bytes=0", "", 400, rpc.CodeBadNumber},
		{"page from no slot", "GET", "/account/" + strings.Repeat("11", 20) + "/storage?from=zz", "", 400, rpc.CodeBadSlot},
		{"page of another root", "GET", "/account/" + strings.Repeat("11", 20) + "/storage?root=" + strings.Repeat("9f", 32), "", 409, rpc.CodeStorageMoved},
		{"no block 0 to prove", "GET", "/proof/header/0", "", 400, rpc.CodeBadNumber},
		{"header above the head", "GET", "/proof/header/9999", "", 404, rpc.CodeUnknownBlock},
		{"slot is no hex", "GET", "/proof/storage/" + strings.Repeat("11", 20) + "/0xzz", "", 400, rpc.CodeBadSlot},
		{"slot without namespace", "GET", "/proof/storage/" + strings.Repeat("11", 20) + "/0x", "", 400, rpc.CodeBadSlot},
		{"slot too long", "GET", "/proof/storage/" + strings.Repeat("11", 20) + "/" + strings.Repeat("01", 1026), "", 400, rpc.CodeBadSlot},
		{"slot with another segment", "GET", "/proof/storage/" + strings.Repeat("11", 20) + "/01/02", "", 404, rpc.CodeUnknownPath},
		{"proof of an unknown transaction", "GET", "/proof/tx/" + strings.Repeat("9f", 32), "", 404, rpc.CodeUnknownTransaction},
		{"proof of an unknown receipt", "GET", "/proof/receipt/" + strings.Repeat("9f", 32), "", 404, rpc.CodeUnknownTransaction},
		{"multi-proof of nothing", "POST", "/proof/multi", `{"accounts":[]}`, 400, rpc.CodeBadNumber},
		{"multi-proof of too many", "POST", "/proof/multi", tooManyKeys(), 400, rpc.CodeBadNumber},
		{"address is no hex", "GET", "/proof/account/" + strings.Repeat("zz", 20), "", 400, rpc.CodeBadAddress},
		{"limit 0", "GET", "/blocks?limit=0", "", 400, rpc.CodeBadNumber},
		{"limit above 1000", "GET", "/blocks?limit=1001", "", 400, rpc.CodeBadNumber},
		{"limit twice", "GET", "/blocks?limit=1&limit=2", "", 400, rpc.CodeBadNumber},
		{"limit empty", "GET", "/blocks?limit=", "", 400, rpc.CodeBadNumber},
		{"malformed query", "GET", "/blocks?limit=%zz", "", 400, rpc.CodeBadRequest},
		{"timeout too short", "POST", "/submit_wait?timeout_ms=99", "x", 400, rpc.CodeBadNumber},
		{"timeout too long", "POST", "/submit_wait?timeout_ms=10001", "x", 400, rpc.CodeBadNumber},
		{"timeout under its public name", "POST", "/submit_wait?timeout=99", "x", 400, rpc.CodeBadNumber},
		{"both timeouts", "POST", "/submit_wait?timeout=100&timeout_ms=100", "x", 400, rpc.CodeBadNumber},
		{"empty submission", "POST", "/submit", "", 400, rpc.CodeBadSubmission},
		{"truncated length", "POST", "/submit", "\x00\x00\x00", 400, rpc.CodeBadSubmission},
		{"truncated body", "POST", "/submit", "\x00\x00\x00\x20abc", 400, rpc.CodeBadSubmission},
		{"huge announced length", "POST", "/submit", "\xff\xff\xff\xffabc", 400, rpc.CodeBadSubmission},
		{"body above 512 KiB", "POST", "/submit", strings.Repeat("x", 512<<10+1), 413, rpc.CodeBodyTooLarge},
		{"faucet without body", "POST", "/faucet", "", 400, rpc.CodeBadJSON},
		{"faucet with a list", "POST", "/faucet", "[]", 400, rpc.CodeBadJSON},
		{"faucet with deep nesting", "POST", "/faucet", strings.Repeat("[", 4000), 400, rpc.CodeBadJSON},
		{"faucet with unknown field", "POST", "/faucet", `{"address":"0x","x":1}`, 400, rpc.CodeBadJSON},
		{"faucet with trailing text", "POST", "/faucet", `{"address":"` + strings.Repeat("33", 20) + `"} {}`, 400, rpc.CodeBadJSON},
		{"faucet with bad address", "POST", "/faucet", `{"address":"0x12"}`, 400, rpc.CodeBadAddress},
		{"faucet with a large body", "POST", "/faucet", `{"address":"` + strings.Repeat("3", 1<<20) + `"}`, 413, rpc.CodeBodyTooLarge},
		{"advance by nothing", "POST", "/dev/advance", `{"blocks":0}`, 400, rpc.CodeBadNumber},
		{"advance too far", "POST", "/dev/advance", `{"blocks":10001}`, 400, rpc.CodeBadNumber},
		{"advance by a negative number", "POST", "/dev/advance", `{"blocks":-1}`, 400, rpc.CodeBadJSON},
		{"advance by a fraction", "POST", "/dev/advance", `{"blocks":1.5}`, 400, rpc.CodeBadJSON},
		{"no metrics", "GET", "/metrics", "", 404, rpc.CodeUnknownPath},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			wantError(t, request(s, tt.method, tt.target, "", []byte(tt.body)), tt.status, tt.code)
		})
	}
	w := request(s, "DELETE", "/height", "", nil)
	if allow := w.Header().Get("Allow"); allow != "GET, HEAD" {
		t.Errorf("Allow is %q", allow)
	}
	wantError(t, request(s, "POST", "/submit", "application/json", []byte("{}")), 415, rpc.CodeContentType)
	wantError(t, request(s, "POST", "/faucet", "text/plain", []byte("{}")), 415, rpc.CodeContentType)
}

func TestFaultsBecomeTypedErrors(t *testing.T) {
	f := func(fault error, status int, code rpc.Code) {
		t.Helper()
		source := rpctest.New()
		source.Fault = fault
		s := newServer(t, testConfig(), source)
		wire := transfer(t, testKey(t, 1), 0).AppendWire(nil)
		hash := strings.Repeat("9f", 32)
		wantError(t, request(s, "POST", "/submit", "", wire), status, code)
		for _, path := range []string{
			"/block/1", "/block/" + hash, "/transaction/" + hash, "/transaction/" + hash + "/receipt",
			"/mempool/transaction/" + hash, "/account/" + hash[:40], "/proof/account/" + hash[:40], "/events",
		} {
			wantError(t, request(s, "GET", path, "", nil), status, code)
		}
	}
	f(errors.New("disk on fire at /secret/path"), 500, rpc.CodeInternal)
	f(fmt.Errorf("pool: %w", rpc.ErrBusy), 503, rpc.CodeBusy)
	f(rpc.ErrNotReady, 503, rpc.CodeNotReady)
	f(context.DeadlineExceeded, 504, rpc.CodeDeadline)
	f(rpctest.Refused(), 409, rpc.CodeBadRequest)
	source := rpctest.New()
	source.Fault = errors.New("disk on fire at /secret/path")
	s := newServer(t, testConfig(), source)
	if body := request(s, "GET", "/block/1", "", nil).Body.String(); strings.Contains(body, "secret") {
		t.Errorf("a fault's text reaches the client: %s", body)
	}
}

func TestReadiness(t *testing.T) {
	source := rpctest.New()
	s := newServer(t, testConfig(), source)
	if w := request(s, "GET", "/health/ready", "", nil); w.Code != 200 {
		t.Errorf("ready node answers %d", w.Code)
	}
	source.SetHealth(rpc.Health{Status: "starting", Reasons: []string{"replaying"}})
	w := request(s, "GET", "/health/ready", "", nil)
	wantError(t, w, 503, rpc.CodeNotReady)
	if !strings.Contains(w.Body.String(), "replaying") {
		t.Error("the reasons are missing")
	}
	if w := request(s, "GET", "/health", "", nil); w.Code != 200 {
		t.Errorf("/health answers %d although it answers", w.Code)
	}
}

func TestFormatCBY(t *testing.T) {
	f := func(w chain.Wei, want string) {
		t.Helper()
		if got := rpc.FormatCBY(w); got != want {
			t.Errorf("FormatCBY(%d) = %s, want %s", w, got, want)
		}
	}
	f(0, "0")
	f(1, "0.000000001")
	f(1_500_000_000, "1.5")
	f(5_000*chain.WeiPerCBY, "5000")
	f(1<<64-1, "18446744073.709551615")
}

// tooManyKeys asks for one slot more than a proof may have.
func tooManyKeys() string {
	slots := strings.Repeat(`"0x01",`, rpc.DefaultConfig().ProofKeysMax)
	return `{"accounts":[{"address":"` + strings.Repeat("11", 20) + `","slots":[` + slots[:len(slots)-1] + `]}]}`
}

// TestDeliveriesHaveReceipts: a message that waited is no transaction, but its
// block lists it and its receipt is found by its id.
func TestDeliveriesHaveReceipts(t *testing.T) {
	source, _, waiting := filled(t)
	s := newServer(t, testConfig(), source)
	id := chain.Hash{0xde, 1}
	source.Deliver(id)
	block := decode[rpc.BlockReply](t, request(s, "GET", "/block/latest", "", nil))
	if len(block.Txs) != 1 || block.Txs[0].Hash != waiting.String() || len(block.Deliveries) != 1 || block.Deliveries[0] != id.String() {
		t.Errorf("block %+v", block)
	}
	receipt := decode[rpc.ReceiptReply](t, request(s, "GET", "/transaction/"+id.String()+"/receipt", "", nil))
	if receipt.TxHash != id.String() || receipt.BlockHeight != block.Height || receipt.Slot != 1 || receipt.Status != "success" {
		t.Errorf("receipt %+v", receipt)
	}
	want := []rpc.MessageReply{
		{ID: chain.Hash{1}.String(), Depth: 1, To: chain.Address{}.String(), Status: "success", Cycles: 9},
		{ID: chain.Hash{2}.String(), Parent: 1, Depth: 2, To: chain.Address{}.String(), Status: "waits"},
		{ID: chain.Hash{3}.String(), Parent: 1, Depth: 2, To: chain.Address{}.String(), Status: "failed", Code: 20, Reason: "reverted"},
	}
	if !slices.Equal(receipt.Messages, want) || receipt.Output != "0xf6" {
		t.Errorf("output %s, messages %+v", receipt.Output, receipt.Messages)
	}
	if code := request(s, "GET", "/transaction/"+id.String(), "", nil).Code; code != http.StatusNotFound {
		t.Errorf("status %d for a transaction of that id", code)
	}
	for _, b := range decode[rpc.BlocksReply](t, request(s, "GET", "/blocks", "", nil)).Blocks {
		if b.Height == block.Height && b.TxCount != 1 {
			t.Errorf("the list counts %d transactions", b.TxCount)
		}
	}
}
