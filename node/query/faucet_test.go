package query

import (
	"context"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
)

func TestFaucetPaysTheChainsIntrinsicCost(t *testing.T) {
	g := genesis.DevnetTemplate()
	var body []byte
	_, err := newFaucet(g.ChainID, faucetKey(t)).give(t.Context(), chain.Address{0xab}, 30_000, chain.FeePair{PerCycle: 1, PerCell: 1},
		func(context.Context, chain.Address) (uint64, error) { return 3, nil },
		func(_ context.Context, b []byte) error { body = b; return nil })
	if err != nil {
		t.Fatal(err)
	}
	tx, err := chain.DecodeTx(body)
	if err != nil || tx.CyclesLimit != 30_000 || tx.Nonce != 3 {
		t.Errorf("faucet signed %+v, %v", tx, err)
	}
}
