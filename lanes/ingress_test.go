package lanes_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestBytesToBlock sends signed bytes through the whole ingress: pipeline,
// lanes, a packed block, and the check of that block by a second pipeline that
// has seen nothing, and by one that has the lanes alone.
func TestBytesToBlock(t *testing.T) {
	params := params.Default()
	view := state.NewOverlay(state.Empty{})
	var bodies [][]byte
	for n := range byte(5) {
		seed := keccak.Sum256([]byte{n})
		key, err := secp256k1.ParsePrivateKey(seed[:])
		if err != nil {
			t.Fatal(err)
		}
		acc := state.NewAccount()
		acc.Balance = chain.WeiPerCBY
		view.SetAccount(key.PublicKey().Address(), acc)
		for nonce := range uint64(4) {
			tx := &chain.Tx{ChainID: 1, Nonce: nonce, To: &chain.Address{0xaa}, Value: 1, CyclesLimit: 21_000, MaxFeePerCycle: 5, MaxFeePerCell: 5, TipPerCycle: 1}
			sig := key.Sign(tx.SigningHash())
			tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
			bodies = append(bodies, tx.Encode())
		}
	}
	fees := [chain.NumLanes]chain.FeePair{}
	for i := range fees {
		fees[i] = params.InitialBaseFee
	}
	l, err := lanes.New(lanes.DefaultConfig(), &params, 1, lanes.FinalizedHead{View: view, BaseFees: fees})
	if err != nil {
		t.Fatal(err)
	}
	p, err := sigverify.New(sigverify.DefaultConfig(2), l)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- l.Run(ctx) }()
	go func() { ended <- p.Run(ctx) }()

	reply := make(chan []sigverify.Verdict, 1)
	for round, want := range []error{nil, lanes.ErrKnown} {
		if err := p.Submit(bodies, func(v []sigverify.Verdict) { reply <- v }); err != nil {
			t.Fatal(err)
		}
		for i, v := range <-reply {
			if !errors.Is(v.Err, want) {
				t.Errorf("round %d, transaction %d: %v, want %v", round, i, v.Err, want)
			}
		}
	}
	req := lanes.PackRequest{Parent: view, Params: &params, BaseFees: fees, Height: 1, VRFOut: chain.Hash{1}, MaxBytes: 1 << 20}
	packed, err := l.Pack(ctx, req)
	if err != nil || len(packed.Txs) != len(bodies) {
		t.Fatalf("packed %d of %d, %v", len(packed.Txs), len(bodies), err)
	}
	cancel()
	<-ended
	<-ended

	var block [][]byte
	for _, tx := range packed.Txs {
		block = append(block, tx.Body)
	}
	for _, to := range []struct {
		lanes     sigverify.Lanes
		recovered int
	}{{nil, len(block)}, {l, 0}} {
		other, err := sigverify.New(sigverify.DefaultConfig(2), to.lanes)
		if err != nil {
			t.Fatal(err)
		}
		checked, err := other.VerifyBlock(t.Context(), block)
		if err != nil {
			t.Fatal(err)
		}
		if err := order.Check(req.VRFOut, checked); err != nil {
			t.Error(err)
		}
		for i := range checked {
			if checked[i].Sender != packed.Txs[i].Sender || checked[i].Hash != packed.Txs[i].Hash {
				t.Errorf("transaction %d: the verifier sees %s of %s", i, checked[i].Hash, checked[i].Sender)
			}
		}
		if n := other.Stats.Recovered.Load(); n != uint64(to.recovered) {
			t.Errorf("lanes %T: %d senders recovered, want %d", to.lanes, n, to.recovered)
		}
	}
}
