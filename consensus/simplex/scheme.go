package simplex

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
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

// Verifier checks what others signed and builds certificates. It is for one
// goroutine at a time, but for BadIndividuals, which may run beside the rest.
type Verifier interface {
	// Combine makes the certificate of a quorum without a look at its votes, and
	// verifies it. It reports false if that fails: one of the votes is bad. The
	// result does not depend on which quorum it is.
	Combine(q Quorum) (Certificate, bool)
	// BadCertificates returns the positions of certificates of which a
	// signature is wrong, in ascending order.
	BadCertificates(certificates []Certificate) []int
	// BadVotes returns the positions of votes whose Signature is wrong. All
	// votes have one kind and one proposal.
	BadVotes(votes []Vote) []int
	// BadSeeds returns the positions of votes whose Seed is wrong. All votes
	// are of one round.
	BadSeeds(votes []Vote) []int
	// BadIndividuals returns the positions of votes whose Individual is wrong.
	// All votes have one kind and one proposal.
	BadIndividuals(votes []Vote) []int
}

// Threshold signs and verifies with BLS12-381 threshold shares: signatures in
// G1, keys in G2 (consensus uses no other scheme; the interfaces above exist
// for the simulator, which must run thousands of validator-hours).
type Threshold struct {
	set     *beacon.ValidatorSet
	self    beacon.Participant
	keys    Keys
	weights io.Reader

	voices    []*ed25519.KnownKey // of the peer keys, by participant
	shares    []*bls.PublicKey    // expanded once somebody cheats, by participant
	recoverer *bls.Recoverer
	points    points
	seed      seedShare
}

// seedShare is our last partial signature of a seed. It is the same in all
// votes of a round.
type seedShare struct {
	round beacon.Round
	sig   bls.Signature
}

// signerSets is how many sets of signers a [Threshold] keeps the factors of:
// those of the votes of a few views.
const signerSets = 8

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
	t := &Threshold{set: set, self: self, keys: keys, weights: weights, shares: make([]*bls.PublicKey, set.Len())}
	var err error
	if t.recoverer, err = bls.NewRecoverer(set.Quorum(), signerSets); err != nil {
		return nil, err
	}
	for i := range set.Len() {
		// A peer key that is no point of the curve is a validator that never
		// votes: its signatures have no equation to hold.
		voice, _ := ed25519.NewKnownKey(set.At(beacon.Participant(i)).PeerKey)
		t.voices = append(t.voices, voice)
	}
	return t, nil
}

// Sign returns our vote of kind k about p.
func (t *Threshold) Sign(k Kind, p Proposal) Vote {
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	if t.seed.round != p.Round || t.seed.sig == (bls.Signature{}) {
		t.seed = seedShare{p.Round, t.keys.Share.SignMessage(t.seedPoint(p.Round))}
	}
	return Vote{
		Kind: k, Proposal: p, Signer: t.self,
		Signature:  t.keys.Share.SignMessage(t.point(k, p)),
		Seed:       t.seed.sig,
		Individual: t.Individual(k, p),
	}
}

// Individual returns the part of our vote that is signed with the key of our identity.
func (t *Threshold) Individual(k Kind, p Proposal) Individual {
	return t.keys.Peer.Sign(bls.SignedBytes(t.set.Namespaces().Of(k), attest.AppendSubject(nil, k, p)))
}

// BadIndividuals implements [Verifier].
func (t *Threshold) BadIndividuals(votes []Vote) []int {
	if len(votes) == 0 {
		return nil
	}
	k, p := votes[0].Kind, votes[0].Proposal
	msg := bls.SignedBytes(t.set.Namespaces().Of(k), attest.AppendSubject(nil, k, p))
	signed := make([]ed25519.Signed, 0, len(votes))
	at := make([]int, 0, len(votes))
	var bad []int
	for i := range votes {
		voice := t.voices[votes[i].Signer]
		if voice == nil {
			bad = append(bad, i)
			continue
		}
		signed = append(signed, ed25519.Signed{Key: voice, Message: msg, Signature: votes[i].Individual[:]})
		at = append(at, i)
	}
	for _, i := range ed25519.VerifyMany(signed) {
		bad = append(bad, at[i])
	}
	slices.Sort(bad)
	return bad
}

// BadVotes implements [Verifier].
func (t *Threshold) BadVotes(votes []Vote) []int {
	if len(votes) == 0 {
		return nil
	}
	sigs := make([]bls.Signature, len(votes))
	for i := range votes {
		sigs[i] = votes[i].Signature
	}
	_, bad := bls.VerifyVotes(t.point(votes[0].Kind, votes[0].Proposal), t.publicShares(votes), sigs, bls.Options{Weights: t.weights})
	return bad
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
	_, bad := bls.VerifyVotes(t.seedPoint(votes[0].Proposal.Round), t.publicShares(votes), sigs, bls.Options{Weights: t.weights})
	return bad
}

// Combine implements [Verifier]. A single validator's certificate is its own
// signature, made with a key that was checked at the start.
func (t *Threshold) Combine(q Quorum) (Certificate, bool) {
	quorum := t.set.Quorum()
	if len(q.Votes) < quorum {
		return Certificate{}, false
	}
	votes := q.Votes[:quorum]
	c := Certificate{Kind: votes[0].Kind, Proposal: votes[0].Proposal}
	if quorum == 1 && q.Sure == 1 {
		whole, err := t.Recover(votes)
		return whole, err == nil
	}
	parts := []bls.Quorum{{Message: t.point(c.Kind, c.Proposal), Partials: t.partials(votes, func(v *Vote) bls.Signature { return v.Signature })}}
	if q.Seed == nil {
		parts = append(parts, bls.Quorum{Message: t.seedPoint(c.Proposal.Round), Partials: t.partials(votes, func(v *Vote) bls.Signature { return v.Seed })})
	}
	whole, ok := t.recoverer.RecoverVerified(t.set.Group(), parts, bls.Options{Weights: t.weights})
	if !ok {
		return Certificate{}, false
	}
	c.Signature = whole[0]
	if q.Seed != nil {
		c.Seed = *q.Seed
	} else {
		c.Seed = whole[1]
	}
	return c, true
}

// Recover combines the votes of a quorum, of one kind and proposal. Nothing is
// verified: neither they nor the result.
func (t *Threshold) Recover(votes []Vote) (Certificate, error) {
	quorum := t.set.Quorum()
	if len(votes) < quorum {
		return Certificate{}, fmt.Errorf("%d votes of %d needed", len(votes), quorum)
	}
	votes = votes[:quorum]
	c := Certificate{Kind: votes[0].Kind, Proposal: votes[0].Proposal}
	var err error
	if c.Signature, err = t.recoverer.Recover(t.partials(votes, func(v *Vote) bls.Signature { return v.Signature })); err != nil {
		return Certificate{}, fmt.Errorf("recover %s: %w", c.Kind, err)
	}
	if c.Seed, err = t.recoverer.Recover(t.partials(votes, func(v *Vote) bls.Signature { return v.Seed })); err != nil {
		return Certificate{}, fmt.Errorf("recover seed: %w", err)
	}
	return c, nil
}

// Guess returns the certificate that q makes if all its votes are good. Nothing is
// verified: it is worth as much as an equal one that was.
func (t *Threshold) Guess(q Quorum) (Certificate, bool) {
	if len(q.Votes) < t.set.Quorum() {
		return Certificate{}, false
	}
	votes := q.Votes[:t.set.Quorum()]
	c := Certificate{Kind: votes[0].Kind, Proposal: votes[0].Proposal}
	var ok bool
	if c.Signature, ok = t.recoverer.Guess(t.partials(votes, func(v *Vote) bls.Signature { return v.Signature })); !ok {
		return Certificate{}, false
	}
	if q.Seed != nil {
		c.Seed = *q.Seed
		return c, true
	}
	c.Seed, ok = t.recoverer.Guess(t.partials(votes, func(v *Vote) bls.Signature { return v.Seed }))
	return c, ok
}

func (t *Threshold) partials(votes []Vote, of func(*Vote) bls.Signature) []bls.Partial {
	out := make([]bls.Partial, len(votes))
	for i := range votes {
		out[i] = bls.Partial{Index: t.set.At(votes[i].Signer).ShareIndex, Sig: of(&votes[i])}
	}
	return out
}

// BadCertificates implements [Verifier].
func (t *Threshold) BadCertificates(certificates []Certificate) []int {
	claims := make([]bls.Certificate, 0, 2*len(certificates))
	for _, c := range certificates {
		claims = append(claims,
			bls.Certificate{Message: t.point(c.Kind, c.Proposal), Sig: c.Signature},
			bls.Certificate{Message: t.seedPoint(c.Proposal.Round), Sig: c.Seed})
	}
	refused := bls.VerifyCertificates(t.set.Group(), claims, bls.Options{Weights: t.weights, Policy: bls.Hopeful})
	var bad []int
	for i, c := range certificates {
		if c.Proposal.Round.Epoch != t.set.Epoch() || slices.Contains(refused, 2*i) || slices.Contains(refused, 2*i+1) {
			bad = append(bad, i)
		}
	}
	return bad
}

// VerifyCertificate checks both signatures of c under the group key.
func (t *Threshold) VerifyCertificate(c Certificate) bool {
	return len(t.BadCertificates([]Certificate{c})) == 0
}

// publicShares returns the public shares of the signers. They are needed only
// when somebody cheats, and then are expanded, once.
func (t *Threshold) publicShares(votes []Vote) []*bls.PublicKey {
	keys := make([]*bls.PublicKey, len(votes))
	for i := range votes {
		who := votes[i].Signer
		if t.shares[who] == nil {
			t.shares[who] = t.set.At(who).PublicShare.Expand()
		}
		keys[i] = t.shares[who]
	}
	return keys
}

// pointsKept is how many messages a [Threshold] keeps on the curve: the seeds
// and the votes of a few views.
const pointsKept = 16

// points are the messages that were last signed or checked, on the curve. A
// message is met when we sign it, when the votes come in, and again in the
// certificates of peers.
type points struct {
	list [pointsKept]pointEntry
	next int
}

type pointEntry struct {
	kind     Kind // 0: the seed of the round
	proposal Proposal
	point    *bls.Message
}

func (t *Threshold) point(k Kind, p Proposal) *bls.Message {
	return t.points.get(k, p, func() *bls.Message { return bls.HashToPoint(t.set.Namespaces().Of(k), attest.AppendSubject(nil, k, p)) })
}

func (t *Threshold) seedPoint(r beacon.Round) *bls.Message {
	return t.points.get(0, Proposal{Round: r}, func() *bls.Message { return bls.HashToPoint(t.set.Namespaces().Seed, r.Append(nil)) })
}

func (s *points) get(k Kind, p Proposal, hash func() *bls.Message) *bls.Message {
	for i := range s.list {
		if e := &s.list[i]; e.point != nil && e.kind == k && e.proposal == p {
			return e.point
		}
	}
	e := &s.list[s.next]
	s.next = (s.next + 1) % pointsKept
	*e = pointEntry{k, p, hash()}
	return e.point
}
