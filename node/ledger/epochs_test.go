package ledger

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// nextEpoch is a second epoch of a chain, of one validator with keys of its own.
func nextEpoch(t *testing.T, f *fixture) (*epoch.Schedule, *bls.SecretKey) {
	t.Helper()
	share, err := bls.NewSecretKey(bytes.Repeat([]byte{5}, 32))
	if err != nil {
		t.Fatal(err)
	}
	v := f.genesis.Validators[0]
	v.PeerKey, v.RewardAddress, v.PublicShare = chain.PeerKey{9}, chain.Address{9}, share.PublicKey().Bytes()
	s, err := epoch.Of(f.genesis).With(&epoch.Record{
		Chain: f.genesis.Hash(), Epoch: 1, Validators: []chain.Validator{v}, GroupKey: share.PublicKey().Bytes(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, share
}

// Whoever judges a certificate, a proposer or a role takes the validators of its own
// epoch, and never another's.
func TestEpochsHaveTheirOwnSets(t *testing.T) {
	f := newFixture(t)
	s, share := nextEpoch(t, f)
	sets, err := beacon.NewSets(s)
	if err != nil {
		t.Fatal(err)
	}
	first, err := sets.At(0)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := simplex.NewEpochs(s, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(signed chain.Epoch, h *chain.Header) simplex.Certificate {
		p := simplex.Proposal{Round: roundOf(h), Parent: h.ParentView, Payload: h.Digest()}
		if signed == 0 {
			return f.certify(first, simplex.Finalize, p)
		}
		group := fixture{share: share}
		return group.certify(first, simplex.Finalize, p)
	}
	for _, tt := range []struct {
		of, signed chain.Epoch
		good       bool
	}{{0, 0, true}, {1, 1, true}, {0, 1, false}, {1, 0, false}, {2, 1, false}} {
		h := chain.Header{Version: chain.HeaderVersion, Height: 1, Epoch: tt.of, View: 4}
		block := chain.Block{Header: h}
		c := sign(tt.signed, &h)
		if got := verifier.VerifyCertificate(c); got != tt.good {
			t.Errorf("a certificate of epoch %d, signed in %d: %v", tt.of, tt.signed, got)
		}
		rec := store.BlockRecord{Height: 1, Digest: h.Digest(), Block: block.Encode(), Certificate: encoded(c)}
		var verdict *Verdict
		if err := CheckCertificates(sets, shelf{rec}, rec, rand.Reader); (err == nil) != tt.good || !tt.good && !errors.As(err, &verdict) {
			t.Errorf("a stored certificate of epoch %d, signed in %d: %v", tt.of, tt.signed, err)
		}
	}
	proposers, err := NewProposers(s)
	if err != nil {
		t.Fatal(err)
	}
	old := f.genesis.Validators[0].PeerKey
	for _, tt := range []struct {
		of   chain.Epoch
		who  chain.PeerKey
		want bool
	}{{0, old, true}, {1, chain.PeerKey{9}, true}, {0, chain.PeerKey{9}, false}, {1, old, false}, {2, old, false}} {
		h := chain.Header{Epoch: tt.of, Proposer: tt.who}
		if _, ok := proposers.keyOf(&h); ok != tt.want {
			t.Errorf("proposer %x in epoch %d: %v", tt.who[:2], tt.of, ok)
		}
		in := inputsOf(f.genesis, s, &h, chain.Hash{})
		paid := in.Proposer != chain.Address{}
		if paid != tt.want || tt.of < 2 && len(in.Validators) != 1 || tt.of == 2 && in.Validators != nil {
			t.Errorf("epoch %d has %d validators, and proposer %x is paid: %v", tt.of, len(in.Validators), tt.who[:2], paid)
		}
	}
}
