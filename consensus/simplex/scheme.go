package simplex

import (
	"errors"
	"fmt"
	"io"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// Signer makes this validator's votes. It must be deterministic: the same kind
// and proposal give the same bytes, so that a vote sent again after a restart
// is no second vote.
type Signer interface {
	Sign(k Kind, p Proposal) Vote
}

// Verifier checks what others signed and builds certificates.
// Implementations are safe for concurrent use.
type Verifier interface {
	// BadVotes returns the positions of votes whose Signature is wrong. All
	// votes have one kind and one proposal.
	BadVotes(votes []Vote) []int
	// BadSeeds returns the positions of votes whose Seed is wrong. All votes
	// are of one round.
	BadSeeds(votes []Vote) []int
	// BadIndividuals returns the positions of votes whose Individual is wrong.
	// All votes have one kind and one proposal.
	BadIndividuals(votes []Vote) []int
	// Recover combines a quorum of verified votes of one kind and proposal.
	// The result does not depend on which quorum it is.
	Recover(votes []Vote) (Certificate, error)
	// VerifyCertificate checks both signatures of c under the group key.
	VerifyCertificate(c Certificate) bool
}

// Threshold signs and verifies with BLS12-381 threshold shares: signatures in
// G1, keys in G2 (consensus uses no other scheme; the interfaces above exist
// for the simulator, which must run thousands of validator-hours).
type Threshold struct {
	set     *beacon.ValidatorSet
	self    beacon.Participant
	keys    Keys
	weights io.Reader
}

// Keys are what a validator signs with: its share of the threshold key, and
// the key that is its identity. Without a share the scheme verifies only.
type Keys struct {
	Share *bls.SecretKey
	Peer  *ed25519.PrivateKey
}

// NewThreshold returns the scheme of validator self. weights supplies the
// unpredictable factors of batch verification: crypto/rand outside tests, and
// safe for concurrent use.
func NewThreshold(set *beacon.ValidatorSet, self beacon.Participant, keys Keys, weights io.Reader) (*Threshold, error) {
	if keys.Share != nil {
		switch {
		case int(self) >= set.Len():
			return nil, fmt.Errorf("validator %d in a set of %d", self, set.Len())
		case keys.Share.PublicKey().Bytes() != set.At(self).PublicShare.Bytes():
			return nil, fmt.Errorf("key share does not belong to validator %d of the genesis", self)
		case keys.Peer == nil:
			return nil, errors.New("a key share without a peer key: votes would count nowhere")
		case chain.PeerKey(keys.Peer.PublicKey()) != set.At(self).PeerKey:
			return nil, fmt.Errorf("peer key does not belong to validator %d of the genesis", self)
		}
	}
	return &Threshold{set: set, self: self, keys: keys, weights: weights}, nil
}

// Sign returns our vote of kind k about p.
func (t *Threshold) Sign(k Kind, p Proposal) Vote {
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	subject := AppendSubject(nil, k, p)
	return Vote{
		Kind: k, Proposal: p, Signer: t.self,
		Signature:  t.keys.Share.Sign(namespace(t.set, k), subject),
		Seed:       t.keys.Share.Sign(t.set.Namespaces().Seed, p.Round.Append(nil)),
		Individual: t.keys.Peer.Sign(bls.SignedBytes(namespace(t.set, k), subject)),
	}
}

// BadIndividuals implements [Verifier].
func (t *Threshold) BadIndividuals(votes []Vote) []int {
	if len(votes) == 0 {
		return nil
	}
	k, p := votes[0].Kind, votes[0].Proposal
	msg := bls.SignedBytes(namespace(t.set, k), AppendSubject(nil, k, p))
	var bad []int
	for i := range votes {
		if !ed25519.Verify(t.set.At(votes[i].Signer).PeerKey, msg, votes[i].Individual[:]) {
			bad = append(bad, i)
		}
	}
	return bad
}

// BadVotes implements [Verifier].
func (t *Threshold) BadVotes(votes []Vote) []int {
	if len(votes) == 0 {
		return nil
	}
	k, p := votes[0].Kind, votes[0].Proposal
	sigs := make([]bls.Signature, len(votes))
	for i := range votes {
		sigs[i] = votes[i].Signature
	}
	return bls.VerifyMany(namespace(t.set, k), AppendSubject(nil, k, p), t.shares(votes), sigs, t.weights)
}

// BadSeeds implements [Verifier].
func (t *Threshold) BadSeeds(votes []Vote) []int {
	if len(votes) == 0 {
		return nil
	}
	sigs := make([]bls.Signature, len(votes))
	for i := range votes {
		sigs[i] = votes[i].Seed
	}
	return bls.VerifyMany(t.set.Namespaces().Seed, votes[0].Proposal.Round.Append(nil), t.shares(votes), sigs, t.weights)
}

// Recover implements [Verifier].
func (t *Threshold) Recover(votes []Vote) (Certificate, error) {
	quorum := t.set.Quorum()
	if len(votes) < quorum {
		return Certificate{}, fmt.Errorf("%d votes of %d needed", len(votes), quorum)
	}
	votes = votes[:quorum]
	sigs, seeds := make([]bls.Partial, quorum), make([]bls.Partial, quorum)
	for i, v := range votes {
		index := t.set.At(v.Signer).ShareIndex
		sigs[i] = bls.Partial{Index: index, Sig: v.Signature}
		seeds[i] = bls.Partial{Index: index, Sig: v.Seed}
	}
	c := Certificate{Kind: votes[0].Kind, Proposal: votes[0].Proposal}
	var err error
	if c.Signature, err = bls.Recover(quorum, sigs); err != nil {
		return Certificate{}, fmt.Errorf("recover %s: %w", c.Kind, err)
	}
	if c.Seed, err = bls.Recover(quorum, seeds); err != nil {
		return Certificate{}, fmt.Errorf("recover seed: %w", err)
	}
	return c, nil
}

// VerifyCertificate implements [Verifier].
func (t *Threshold) VerifyCertificate(c Certificate) bool {
	return t.set.VerifySeed(c.Proposal.Round, c.Seed) &&
		t.set.Group().Verify(namespace(t.set, c.Kind), AppendSubject(nil, c.Kind, c.Proposal), c.Signature)
}

func (t *Threshold) shares(votes []Vote) []*bls.PublicKey {
	keys := make([]*bls.PublicKey, len(votes))
	for i := range votes {
		keys[i] = t.set.At(votes[i].Signer).PublicShare
	}
	return keys
}

func namespace(set *beacon.ValidatorSet, k Kind) []byte {
	switch k {
	case Notarize:
		return set.Namespaces().Notarize
	case Nullify:
		return set.Namespaces().Nullify
	case Finalize:
		return set.Namespaces().Finalize
	}
	panic("simplex: no namespace for " + k.String())
}
