package rpc_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
	"github.com/cowboy-foundation/cowboy/state"
)

// withStorage is a source with a storage of its own.
type withStorage struct {
	*rpctest.Chain
	state *state.Overlay
}

func (s withStorage) StorageAt(_ context.Context, a chain.Address, slot state.StorageKey, _ *chain.Height) (*rpc.StorageValue, error) {
	v, err := s.state.Storage(a, slot)
	return &rpc.StorageValue{Value: v}, err
}

func TestTokens(t *testing.T) { // CIP-20
	o := state.NewOverlay(state.Empty{})
	ann, ben := chain.Address{0: 1}, chain.Address{0: 2}
	var ids []token.ID
	for _, symbol := range []string{"A", "B", "C"} {
		id, err := token.Create(o, ann, &token.Token{Name: "Token " + symbol, Symbol: symbol, Supply: chain.Amount{Hi: 1, Lo: 5}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := token.Transfer(o, ids[0], ann, ben, chain.Amount{Lo: 7}); err != nil {
		t.Fatal(err)
	}
	if err := token.Freeze(o, ids[0], ann, ben, true); err != nil {
		t.Fatal(err)
	}
	cfg := rpc.DefaultConfig()
	cfg.RequestsPerSecond = 0
	s := newServer(t, cfg, withStorage{rpctest.New(), o})
	path := "/token/" + ids[0].String()
	got := decode[rpc.TokenReply](t, request(s, http.MethodGet, path, "", nil))
	if got.TokenID != ids[0].String() || got.Symbol != "A" || got.TotalSupply != (chain.Amount{Hi: 1, Lo: 5}) || *got.Owner != ann.String() || got.MaxSupply != nil {
		t.Errorf("token: %+v", got)
	}
	held := decode[rpc.TokenBalanceReply](t, request(s, http.MethodGet, path+"/balance/"+ben.String(), "", nil))
	if held.Balance != (chain.Amount{Lo: 7}) || !held.Frozen {
		t.Errorf("balance: %+v", held)
	}
	for query, want := range map[string]string{"": "ABC", "?limit=2": "AB", "?offset=1&limit=1": "B", "?offset=3": "", "?offset=18446744073709551615": ""} {
		list := decode[rpc.TokensReply](t, request(s, http.MethodGet, "/tokens"+query, "", nil))
		symbols := ""
		for _, line := range list.Tokens {
			symbols += line.Symbol
		}
		if symbols != want || list.TotalCount != 3 {
			t.Errorf("%s: %q of %d", query, symbols, list.TotalCount)
		}
	}
	for path, want := range map[string]rpc.Code{
		"/token/0x12": rpc.CodeBadHash, path + "/balance/0x12": rpc.CodeBadAddress,
		"/tokens?limit=0": rpc.CodeBadNumber, "/tokens?limit=1001": rpc.CodeBadNumber, "/tokens?offset=-1": rpc.CodeBadNumber,
	} {
		wantError(t, request(s, http.MethodGet, path, "", nil), http.StatusBadRequest, want)
	}
	unknown := "/token/" + strings.Repeat("11", 32)
	wantError(t, request(s, http.MethodGet, unknown, "", nil), http.StatusNotFound, rpc.CodeUnknownToken)
	wantError(t, request(s, http.MethodGet, unknown+"/balance/"+ben.String(), "", nil), http.StatusNotFound, rpc.CodeUnknownToken)
}
