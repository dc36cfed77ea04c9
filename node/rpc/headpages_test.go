package rpc_test

import (
	"context"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

// readings is a docket that notes what requests were billed by the end of their last read of
// the head.
type readings struct {
	docket
	bytes *int
}

func (c readings) ReadHead(ctx context.Context, read func(rpc.StorageReader, chain.Height) error) error {
	err := read(c.head, 100)
	*c.bytes = rpc.Billed(ctx)
	return err
}

func (c readings) StorageAt(ctx context.Context, addr chain.Address, key state.StorageKey, _ *chain.Height) (*rpc.StorageValue, error) {
	*c.bytes = rpc.Billed(ctx)
	v, err := c.head.Storage(addr, key)
	return &rpc.StorageValue{Value: v}, err
}

// Governance is what /params and runners must not ask for: proposals hold programs.
func (c readings) Governance(context.Context) (*rpc.Governance, error) {
	panic("proposals are read for parameters")
}

// TestPagesOfTheHeadAreBilled: what pages read of the state is billed, rows that are not there
// among it.
func TestPagesOfTheHeadAreBilled(t *testing.T) {
	d, _ := newDocket(t)
	c := readings{d, new(int)}
	p := params.Default()
	d.SetGovernance(&rpc.Governance{Params: &p})
	cfg := rpc.DefaultConfig()
	cfg.Genesis = genesis.DevnetTemplate()
	s := newServer(t, cfg, c)
	id := chain.Hash{7}
	d.putJob(id, func(*jobs.Job) {})
	large := make([]byte, 3_000)
	d.head.SetStorage(chain.AddrJobDispatcher, jobs.SpecKey(id), large)
	a := chain.Address{1}.String()
	for target, want := range map[string]int{
		"/job/" + id.String() + "/terms":  3_000 + 3*64,
		"/job/" + id.String():             2 * 64,
		"/entitlement/" + id.String():     64,
		"/role/" + id.String():            64,
		"/account/" + a + "/entitlements": 2 * 64,
		"/scope/runner_pool:eu/holder":    64,
		"/runner/" + a + "/jobs":          64,
	} {
		*c.bytes = -1
		w := askAs(s, "10.0.0.1", "GET", target, nil)
		if w.Code != 200 && w.Code != 404 || *c.bytes < want {
			t.Errorf("%s: %d, %d bytes are billed, want %d at least", target, w.Code, *c.bytes, want)
		}
	}
	if w := askAs(s, "10.0.0.2", "GET", "/params", nil); w.Code != 200 {
		t.Errorf("parameters: %d %s", w.Code, w.Body.String())
	}
	for _, target := range []string{"/runner/" + a, "/runners/active", "/tokens", "/token/" + id.String()} {
		if w := askAs(s, "10.0.0.3", "GET", target, nil); w.Code != 200 && w.Code != 404 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body.String())
		}
	}
}
