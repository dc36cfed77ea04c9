package simplex

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// committee returns the real schemes of n validators, dealt from a fixed seed,
// and the group key.
func committee(t testing.TB, n int) ([]*Threshold, *beacon.ValidatorSet, *genesis.Genesis) {
	t.Helper()
	polynomial, shares, err := bls.DealTrusted(bytes.Repeat([]byte{5}, 32), n, chain.Quorum(n))
	if err != nil {
		t.Fatal(err)
	}
	g := &genesis.Genesis{Name: "test", ChainID: 1, Beacon: chain.Hash{1}}
	g.GroupKey = polynomial.Group().Bytes()
	peers := peerKeys(t, n)
	for i := range n {
		g.Validators = append(g.Validators, chain.Validator{
			PeerKey: peers[i].PublicKey(), ShareIndex: uint32(i), Stake: 1,
			PublicShare: polynomial.PublicShare(uint32(i)).Bytes(),
		})
	}
	set, err := beacon.NewValidatorSet(epoch.First(g))
	if err != nil {
		t.Fatal(err)
	}
	schemes := make([]*Threshold, n)
	for i := range schemes {
		if schemes[i], err = NewThreshold(set, beacon.Participant(i), Keys{shares[i].Key, peers[i]}, rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	return schemes, set, g
}

// peerKeys returns n keys in the canonical order of validators.
func peerKeys(t testing.TB, n int) []*ed25519.PrivateKey {
	t.Helper()
	keys := make([]*ed25519.PrivateKey, n)
	for i := range keys {
		var err error
		if keys[i], err = ed25519.NewPrivateKey(bytes.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize)); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(keys, func(a, b *ed25519.PrivateKey) int {
		x, y := a.PublicKey(), b.PublicKey()
		return bytes.Compare(x[:], y[:])
	})
	return keys
}

// A certificate is the same whichever quorum signed, and its seed the same
// whatever kind of vote it came from.
func TestCertificatesDoNotDependOnTheQuorum(t *testing.T) {
	schemes, set, _ := committee(t, 4)
	var seed bls.Signature
	for _, k := range []Kind{Notarize, Nullify, Finalize} {
		var first Certificate
		for skip := range 4 {
			var votes []Vote
			for i, s := range schemes {
				if i != skip {
					votes = append(votes, s.Sign(k, p1))
				}
			}
			if b := schemes[0].BadVotes(votes); len(b) != 0 {
				t.Fatalf("%v: bad votes %v", k, b)
			}
			if b := schemes[0].BadSeeds(votes); len(b) != 0 {
				t.Fatalf("%v: bad seeds %v", k, b)
			}
			c, err := schemes[skip].Recover(votes)
			if err != nil {
				t.Fatal(err)
			}
			if skip == 0 {
				first = c
			}
			if c != first {
				t.Errorf("%v: without %d the certificate differs", k, skip)
			}
		}
		if !schemes[0].VerifyCertificate(first) || !set.VerifySeed(p1.Round, first.Seed) {
			t.Errorf("%v: certificate does not verify", k)
		}
		if seed != (bls.Signature{}) && first.Seed != seed {
			t.Errorf("%v: another seed", k)
		}
		seed = first.Seed
	}
}

// Each signature counts for its kind, round, proposal and chain alone.
func TestCertificatesDoNotTransfer(t *testing.T) {
	schemes, _, _ := committee(t, 1)
	s := schemes[0]
	c, err := s.Recover([]Vote{s.Sign(Notarize, p1)})
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, change func(*Certificate)) {
		t.Helper()
		altered := c
		change(&altered)
		if s.VerifyCertificate(altered) {
			t.Errorf("verifies with another %s", name)
		}
	}
	f("kind", func(c *Certificate) { c.Kind = Finalize })
	f("view", func(c *Certificate) { c.Proposal.Round.View++ })
	f("epoch", func(c *Certificate) { c.Proposal.Round.Epoch++ })
	f("parent", func(c *Certificate) { c.Proposal.Parent++ })
	f("digest", func(c *Certificate) { c.Proposal.Payload[31] ^= 1 })
	f("seed", func(c *Certificate) { c.Seed = c.Signature })
	f("signature", func(c *Certificate) { c.Signature = c.Seed })
	if !s.VerifyCertificate(c) {
		t.Error("the certificate itself does not verify")
	}
}

// Votes sign varint(len(ns)) ‖ ns ‖ subject with ns = "cowboy-simplex-v1" ‖
// genesis hash ‖ suffix (consensus.md §1.3, resolution 11.42).
func TestVotesSignTheNamespacedSubject(t *testing.T) {
	schemes, set, g := committee(t, 1)
	hash := g.Hash()
	f := func(k Kind, suffix string) {
		t.Helper()
		v := schemes[0].Sign(k, p1)
		ns := append(append([]byte("cowboy-simplex-v1"), hash[:]...), suffix...)
		if !set.Group().Verify(ns, attest.AppendSubject(nil, k, p1), v.Signature) {
			t.Errorf("%v does not sign under %s", k, suffix)
		}
		seed := append(append([]byte("cowboy-simplex-v1"), hash[:]...), "_SEED"...)
		if !set.Group().Verify(seed, []byte{0, 1}, v.Seed) {
			t.Errorf("%v: seed does not sign the round", k)
		}
	}
	f(Notarize, "_NOTARIZE")
	f(Nullify, "_NULLIFY")
	f(Finalize, "_FINALIZE")
}

func TestBadVotesAreFound(t *testing.T) {
	schemes, _, _ := committee(t, 4)
	votes := make([]Vote, 4)
	for i, s := range schemes {
		votes[i] = s.Sign(Finalize, p1)
	}
	votes[1].Signature = votes[2].Signature // a real partial, of another
	votes[3].Seed = bls.Signature{0xff}     // not a point
	if b := schemes[0].BadVotes(votes); len(b) != 1 || b[0] != 1 {
		t.Errorf("bad votes %v, want [1]", b)
	}
	if b := schemes[0].BadSeeds(votes); len(b) != 1 || b[0] != 3 {
		t.Errorf("bad seeds %v, want [3]", b)
	}
	if b := schemes[0].BadVotes(nil); b != nil {
		t.Errorf("of no votes %v are bad", b)
	}
}

func TestThresholdRefusesForeignKeys(t *testing.T) {
	schemes, set, _ := committee(t, 4)
	own := schemes[0].keys
	_, shares, err := bls.DealTrusted(bytes.Repeat([]byte{6}, 32), 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	f := func(rule string, self beacon.Participant, keys Keys) {
		t.Helper()
		if _, err := NewThreshold(set, self, keys, rand.Reader); err == nil {
			t.Errorf("accepted %s", rule)
		}
	}
	f("the share of another deal", 0, Keys{shares[0].Key, own.Peer})
	f("a position beyond the set", 4, own)
	f("a share without a peer key", 0, Keys{Share: own.Share})
	f("the peer key of another", 0, Keys{own.Share, schemes[1].keys.Peer})
}

// The individual signature is over the same bytes as the partial, and counts
// for its signer, kind, subject and chain alone (resolution 11.3).
func TestIndividualSignaturesAreFound(t *testing.T) {
	schemes, set, _ := committee(t, 4)
	for _, k := range []Kind{Notarize, Nullify, Finalize} {
		votes := make([]Vote, 4)
		for i, s := range schemes {
			votes[i] = s.Sign(k, p1)
		}
		if b := schemes[0].BadIndividuals(votes); len(b) != 0 {
			t.Errorf("%v: bad %v", k, b)
		}
		msg := bls.SignedBytes(set.Namespaces().Of(k), attest.AppendSubject(nil, k, p1))
		if !ed25519.Verify(set.At(2).PeerKey, msg, votes[2].Individual[:]) {
			t.Errorf("%v: the individual signature is over other bytes than the partial", k)
		}
		votes[1].Individual = votes[2].Individual
		votes[3].Individual = schemes[3].Sign(k, prop(2, 1, 1)).Individual
		if b := schemes[0].BadIndividuals(votes); !slices.Equal(b, []int{1, 3}) {
			t.Errorf("%v: bad %v, want [1 3]", k, b)
		}
	}
}

// TestCertificateFormatIsFrozen hashes the certificates of a fixed committee
// over fixed subjects. BLS is deterministic, so the hash pins codec, signed
// bytes and recovery together. A change of it is a hard fork: approve it only
// together with an ADR.
func TestCertificateFormatIsFrozen(t *testing.T) {
	const golden = "2c9e8843b93973e51e5c35a7bf9c9d09548b3366dd7be4b13fe6f17c7bd00079"
	schemes, set, _ := committee(t, 4)
	*set.Namespaces() = attest.NewNamespaces(chain.Hash{1, 2, 3}) // the genesis hash changes with every new parameter
	sum := sha256.New()
	for v := chain.View(1); v <= 8; v++ {
		for _, k := range []Kind{Notarize, Nullify, Finalize} {
			var votes []Vote
			for _, s := range schemes[1:] {
				votes = append(votes, s.Sign(k, prop(v*100, v, byte(v))))
				vote := AppendVote(nil, votes[len(votes)-1])
				sum.Write(vote[:len(vote)-len(Individual{})]) // what the certificate is made of
			}
			c, err := schemes[0].Recover(votes)
			if err != nil {
				t.Fatal(err)
			}
			sum.Write(AppendCertificate(nil, c))
		}
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != golden {
		t.Errorf("hash of votes and certificates is %s, want %s", got, golden)
	}
}
