package rpc_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
	"github.com/cowboy-foundation/cowboy/state"
)

// registry is a chain whose head has what was written to an overlay.
type registry struct {
	*rpctest.Chain
	head *state.Overlay
}

func (r registry) ReadHead(_ context.Context, read func(rpc.StorageReader, chain.Height) error) error {
	return read(r.head, 100)
}

func TestEntitlements(t *testing.T) { // CIP-2 §7
	source, _, _ := filled(t)
	o := state.NewOverlay(state.Empty{})
	book := &entitlements.Book{State: o, Height: 100}
	ann, ben := chain.Address{1: 1}, chain.Address{1: 2}
	pool := entitlements.Scope{Kind: entitlements.ScopePool, Name: "eu"}
	id, _, err := book.Grant(ann, &entitlements.Asked{Grantee: ben, Scope: pool, Constraints: entitlements.Constraints{From: 200, Uses: 3, Rate: &entitlements.Rate{Uses: 1, Blocks: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	role, _, err := book.CreateRole(ann, entitlements.Role{Name: "r", Scopes: []entitlements.Scope{pool}, Actions: []entitlements.Action{{}}})
	if err == nil {
		_, err = book.AssignRole(ann, role, ben)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, testConfig(), registry{source, o})
	g := decode[rpc.GrantReply](t, request(s, http.MethodGet, "/entitlement/"+id.String(), "", nil))
	if g.ID != id || g.Grantee != ben || g.Grantor != ann || g.Scope != "runner_pool:eu" || g.Action != "all" || g.InForce || !g.Constraints.Revocable ||
		g.Constraints.Uses != 3 || *g.Constraints.Rate != [2]uint64{1, 2} || g.Parent != nil {
		t.Errorf("grant %+v", g)
	}
	r := decode[rpc.RoleReply](t, request(s, http.MethodGet, "/role/"+role.String(), "", nil))
	if r.Name != "r" || r.Creator != ann || len(r.Scopes) != 1 || r.Actions[0] != "all" {
		t.Errorf("role %+v", r)
	}
	all := decode[rpc.EntitlementsReply](t, request(s, http.MethodGet, "/account/"+ben.String()+"/entitlements", "", nil))
	if len(all.Entitlements) != 1 || all.Entitlements[0].ID != id || len(all.Roles) != 1 || all.Roles[0].ID != role || all.Height != 100 {
		t.Errorf("of an account: %+v", all)
	}
	h := decode[rpc.HolderReply](t, request(s, http.MethodGet, "/scope/runner_pool:eu/holder", "", nil))
	if h.Holder == nil || *h.Holder != ann {
		t.Errorf("holder %+v", h)
	}
	if h := decode[rpc.HolderReply](t, request(s, http.MethodGet, "/scope/namespace:x/holder", "", nil)); h.Holder != nil {
		t.Errorf("holder of what nobody granted in: %s", h.Holder)
	}
	none := "0x" + strings.Repeat("00", 32)
	wantError(t, request(s, http.MethodGet, "/entitlement/"+none, "", nil), http.StatusNotFound, rpc.CodeUnknownEntitlement)
	wantError(t, request(s, http.MethodGet, "/role/"+none, "", nil), http.StatusNotFound, rpc.CodeUnknownEntitlement)
	for _, scope := range []string{"global", "actor:0x" + strings.Repeat("0a", 20)} { // others answer for these
		wantError(t, request(s, http.MethodGet, "/scope/"+scope+"/holder", "", nil), http.StatusBadRequest, rpc.CodeBadRequest)
	}
	wantError(t, request(s, http.MethodGet, "/scope/pool:x/holder", "", nil), http.StatusBadRequest, rpc.CodeBadRequest)
	for _, target := range []string{"/entitlement/xyz", "/role/12", "/account/12/entitlements"} {
		if got := request(s, http.MethodGet, target, "", nil).Code; got != http.StatusBadRequest {
			t.Errorf("%s: HTTP %d", target, got)
		}
	}
}
