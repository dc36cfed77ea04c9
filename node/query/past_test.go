package query

import (
	"context"
	"net/netip"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

// asked is the context of a request of some client.
func asked(ctx context.Context) context.Context {
	return rpc.WithClient(ctx, netip.MustParseAddr("10.0.0.1"))
}

// walkedPast is a past of undo records.
type walkedPast struct {
	Past
	blocks int
}

func (p walkedPast) AccountAt(_ context.Context, _ chain.Height, _ chain.Address, pay func(int) error) (state.Account, bool, error) {
	return state.NewAccount(), true, pay(p.blocks)
}

func (p walkedPast) StorageAt(_ context.Context, _ chain.Height, _ chain.Address, _ state.StorageKey, pay func(int) error) ([]byte, error) {
	return nil, pay(p.blocks)
}

// TestReadersOfThePastPay: for sixteen undo records as for one lookup.
func TestReadersOfThePastPay(t *testing.T) {
	s := &Source{cfg: Config{Past: walkedPast{blocks: 160}}, hub: newHub()}
	h := chain.Height(7)
	ctx := asked(t.Context())
	if _, _, err := s.AccountAt(ctx, chain.Address{1}, h); err != nil || rpc.Billed(ctx) != 10*4<<10 {
		t.Errorf("an account: %d bytes are billed, %v", rpc.Billed(ctx), err)
	}
	ctx = asked(t.Context())
	if _, err := s.StorageAt(ctx, chain.Address{1}, "key", &h); err != nil || rpc.Billed(ctx) != 20*4<<10 {
		t.Errorf("a storage value and its account: %d bytes are billed, %v", rpc.Billed(ctx), err)
	}
}
