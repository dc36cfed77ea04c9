package simtest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/hashed"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// scheme is what a validator signs and verifies with.
type scheme interface {
	simplex.Signer
	simplex.Verifier
}

// weights is the deterministic source of batch weights. Players here do not
// know it.
type weights struct{ rng *rand.Rand }

func (w weights) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(w.rng.Uint32())
	}
	return len(b), nil
}

// committee returns the schemes of n validators and their elector. Without
// real, one dealt polynomial still makes the validator set, whose keys are
// then not used.
func committee(cfg Config) (*beacon.ValidatorSet, []scheme, error) {
	dealt := bytes.Repeat([]byte{byte(cfg.Seed), 3}, 16)
	polynomial, shares, err := bls.DealTrusted(dealt, cfg.Validators, chain.Quorum(cfg.Validators))
	if err != nil {
		return nil, nil, err
	}
	g := &genesis.Genesis{Name: "simulation", ChainID: 1, Params: params.Default()}
	g.Beacon = keccak.Sum256([]byte("genesis"), binary.BigEndian.AppendUint64(nil, cfg.Seed))
	g.GroupKey = polynomial.Group().Bytes()
	peers, err := peerKeys(cfg.Validators)
	if err != nil {
		return nil, nil, err
	}
	for i := range cfg.Validators {
		g.Validators = append(g.Validators, chain.Validator{
			PeerKey: peers[i].PublicKey(), ShareIndex: uint32(i), Stake: chain.Wei(100 + 50*i),
			PublicShare: polynomial.PublicShare(uint32(i)).Bytes(),
		})
	}
	if cfg.Rich {
		for _, v := range g.Validators[1:] { // and leads every second view
			g.Validators[0].Stake += v.Stake
		}
	}
	set, err := beacon.NewValidatorSet(epoch.First(g))
	if err != nil {
		return nil, nil, err
	}
	schemes := make([]scheme, cfg.Validators)
	for i := range schemes {
		p := beacon.Participant(i)
		if !cfg.RealKeys {
			schemes[i] = hashed.Scheme{Self: p, Quorum: set.Quorum()}
			continue
		}
		source := weights{rand.New(rand.NewPCG(cfg.Seed, uint64(i)))}
		if schemes[i], err = simplex.NewThreshold(set, p, simplex.Keys{Share: shares[i].Key, Peer: peers[i]}, source); err != nil {
			return nil, nil, err
		}
	}
	return set, schemes, nil
}

// peerKeys returns the peer keys of n validators in their canonical order.
func peerKeys(n int) ([]*ed25519.PrivateKey, error) {
	keys := make([]*ed25519.PrivateKey, n)
	for i := range keys {
		var err error
		if keys[i], err = ed25519.NewPrivateKey(bytes.Repeat([]byte{byte(i), byte(i >> 8)}, ed25519.SeedSize/2)); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(keys, func(a, b *ed25519.PrivateKey) int {
		x, y := a.PublicKey(), b.PublicKey()
		return bytes.Compare(x[:], y[:])
	})
	return keys, nil
}
