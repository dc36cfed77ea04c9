package rpc_test

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

func TestRentAnswers(t *testing.T) {
	source := rpctest.New()
	s := newServer(t, testConfig(), source)
	paid, gone := chain.Address{1}, chain.Address{2}
	source.SetRent(paid, &rpc.Rent{Height: 9, State: "grace", Owed: 11, PerEpoch: 3, Bytes: 20_480, Quota: 1 << 20, EvictionAt: 99})
	source.SetRent(gone, &rpc.Rent{Height: 9, State: "dormant", Bytes: 7, Evicted: &rpc.EvictedStorage{
		Root: chain.Hash{3}, Bytes: 7, Entries: 2, Cost: 40,
		Restoring: &rpc.Restoration{By: paid, Deadline: 12, Bytes: 4, Cursor: chain.Hash{4}},
	}})
	get := func(path string) rpc.RentReply {
		return decode[rpc.RentReply](t, request(s, "GET", path, "", nil))
	}
	if r := get("/rent/" + paid.String()); r.State != "grace" || r.Owed != 11 || r.EvictionAt != 99 || r.Evicted != nil || r.Address != paid.String() {
		t.Errorf("in arrears: %+v", r)
	}
	r := get("/rent/" + gone.String()[2:])
	if r.Evicted == nil || r.Evicted.Root != (chain.Hash{3}).String() || r.Evicted.Entries != 2 || r.Evicted.Cost != 40 {
		t.Fatalf("evicted: %+v", r.Evicted)
	}
	if p := r.Evicted.Restoring; p == nil || p.By != paid.String() || p.Deadline != 12 || p.Bytes != 4 || p.Cursor != (chain.Hash{4}).String() {
		t.Errorf("restoration: %+v", p)
	}
	if body := request(s, "GET", "/rent/"+paid.String(), "", nil).Body.String(); !strings.Contains(body, `"owed":"11"`) || !strings.Contains(body, `"evicted":null`) {
		t.Errorf("amounts are strings (resolution 11.37), absent is null: %s", body)
	}
	wantError(t, request(s, "GET", "/rent/"+strings.Repeat("33", 20), "", nil), 404, rpc.CodeUnknownAccount)
	wantError(t, request(s, "GET", "/rent/0x12", "", nil), 400, rpc.CodeBadAddress)
	source.Fault = rpctest.Refused()
	wantError(t, request(s, "GET", "/rent/"+paid.String(), "", nil), 409, rpc.CodeBadRequest)
}
