package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// TestEvidenceOutlivesTheProcess: a proof outlives the process, one case is open
// against a validator, and what does not verify under the chain's set is not
// shown after a restart (resolution 11.2).
func TestEvidenceOutlivesTheProcess(t *testing.T) {
	polynomial, shares, err := bls.DealTrusted(bytes.Repeat([]byte{5}, 32), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := ed25519.NewPrivateKey(bytes.Repeat([]byte{6}, ed25519.SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	setOf := func(name string) *beacon.ValidatorSet {
		g := &genesis.Genesis{Name: name, ChainID: 1, GroupKey: polynomial.Group().Bytes()}
		g.Validators = []chain.Validator{{PeerKey: peer.PublicKey(), Stake: 1, PublicShare: polynomial.PublicShare(0).Bytes()}}
		set, err := beacon.NewValidatorSet(epoch.First(g))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	set := setOf("test")
	voice, err := simplex.NewThreshold(set, 0, simplex.Keys{Share: shares[0].Key, Peer: peer}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	proof := func(view chain.View, other byte) attest.Evidence {
		vote := func(digest byte) simplex.Vote {
			return voice.Sign(simplex.Notarize, simplex.Proposal{Round: beacon.Round{View: view}, Payload: chain.Hash{digest}})
		}
		e, err := simplex.NewEvidence(set, vote(1), vote(other))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	dir, log := t.TempDir(), slog.New(slog.NewTextHandler(io.Discard, nil))
	open := func(set *beacon.ValidatorSet) *evidence {
		v, err := openEvidence(dir, set, newAlarms(log), log)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := open(set)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	for _, e := range []attest.Evidence{proof(3, 2), proof(3, 4), proof(5, 2)} {
		v.enqueue(e)
	}
	for end := time.Now().Add(time.Minute); v.Stats.CaseOpen.Load() < 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the proofs are not shown")
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(set)
	if got := again.All(); len(got) != 1 || got[0] != proof(3, 2) {
		t.Errorf("%d proofs after a restart, want the first of view 3", len(got))
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	other := open(setOf("another chain"))
	if n := len(other.All()); n != 0 {
		t.Errorf("%d proofs shown on another chain", n)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
}
