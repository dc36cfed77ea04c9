package ceremony_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/ceremony"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// dealt returns a complete genesis of n validators with real keys.
func dealt(t *testing.T, n int) *genesis.Genesis {
	t.Helper()
	polynomial, shares, err := bls.DealTrusted(bytes.Repeat([]byte{7}, 32), n, chain.Quorum(n))
	if err != nil {
		t.Fatal(err)
	}
	validators := make([]chain.Validator, n)
	for i := range validators {
		own, err := bls.NewSecretKey(bytes.Repeat([]byte{byte(i + 1)}, 32))
		if err != nil {
			t.Fatal(err)
		}
		validators[i] = chain.Validator{
			PeerKey: chain.PeerKey{0: byte(i + 1)}, BLSKey: own.PublicKey().Bytes(), BLSPossession: own.ProvePossession(),
			ShareIndex: shares[i].Index, PublicShare: shares[i].Key.PublicKey().Bytes(),
			Stake: 50_000 * chain.WeiPerCBY, RewardAddress: chain.Address{0: 1, 19: byte(i)},
		}
	}
	b := polynomial.Bytes()
	points := make([][96]byte, len(b)/96)
	for i := range points {
		points[i] = [96]byte(b[i*96:])
	}
	g := genesis.DevnetTemplate()
	g.Params.Machine = params.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	if err := g.Complete(validators, polynomial.Group().Bytes(), points, nil, 1); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestCheck(t *testing.T) { // resolution 11.42
	for _, n := range []int{1, 4, 7} {
		if err := ceremony.Check(dealt(t, n)); err != nil {
			t.Errorf("n=%d: %v", n, err)
		}
	}
	f := func(name, place string, want error, change func(*genesis.Genesis)) {
		t.Helper()
		g := dealt(t, 4)
		change(g)
		err := ceremony.Check(g)
		if err == nil || !strings.Contains(err.Error(), place) || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: Check = %v, want %v at %q", name, err, want, place)
		}
	}
	f("possession of another key", "validators[1].bls_possession", ceremony.ErrPossession, func(g *genesis.Genesis) {
		g.Validators[1].BLSPossession = g.Validators[0].BLSPossession
	})
	f("shares swapped", "validators[2].public_share", ceremony.ErrShare, func(g *genesis.Genesis) {
		g.Validators[2].PublicShare, g.Validators[3].PublicShare = g.Validators[3].PublicShare, g.Validators[2].PublicShare
	})
	f("polynomial changed", "validators[0].public_share", ceremony.ErrShare, func(g *genesis.Genesis) {
		g.Polynomial[1] = g.Polynomial[2]
	})
	f("key off the curve", "validators[3].bls_key", nil, func(g *genesis.Genesis) { g.Validators[3].BLSKey[50] ^= 1 })
	f("point off the curve", "polynomial", nil, func(g *genesis.Genesis) { g.Polynomial[0][50] ^= 1 })
	f("no polynomial", "polynomial", nil, func(g *genesis.Genesis) { g.Polynomial = nil })
}
