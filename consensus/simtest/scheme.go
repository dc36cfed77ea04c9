package simtest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
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

// hashScheme has the shape of a threshold scheme and none of its strength:
// hashes stand for signatures, so that a run costs microseconds where curves
// cost milliseconds. Faulty players could forge with it; ours do not.
type hashScheme struct {
	self   beacon.Participant
	quorum int
}

// groupSigner stands for the group in place of a signer.
const groupSigner = ^beacon.Participant(0)

func hashSign(who beacon.Participant, domain string, msg []byte) bls.Signature {
	var index [4]byte
	binary.BigEndian.PutUint32(index[:], uint32(who))
	a := keccak.Sum256([]byte(domain), index[:], msg)
	b := keccak.Sum256(a[:])
	var s bls.Signature
	copy(s[copy(s[:], a[:]):], b[:])
	return s
}

func hashPair(who beacon.Participant, k simplex.Kind, p simplex.Proposal) (sig, seed bls.Signature) {
	return hashSign(who, k.String(), attest.AppendSubject(nil, k, p)), hashSign(who, "seed", p.Round.Append(nil))
}

func hashIndividual(who beacon.Participant, k simplex.Kind, p simplex.Proposal) simplex.Individual {
	var out simplex.Individual
	half := hashSign(who, "individual "+k.String(), attest.AppendSubject(nil, k, p))
	copy(out[copy(out[:], half[:]):], half[:])
	return out
}

func (h hashScheme) Sign(k simplex.Kind, p simplex.Proposal) simplex.Vote {
	if k == simplex.Nullify {
		p = simplex.Proposal{Round: p.Round}
	}
	v := simplex.Vote{Kind: k, Proposal: p, Signer: h.self}
	v.Signature, v.Seed = hashPair(h.self, k, p)
	v.Individual = hashIndividual(h.self, k, p)
	return v
}

func (h hashScheme) BadVotes(votes []simplex.Vote) []int {
	var bad []int
	for i, v := range votes {
		if sig, _ := hashPair(v.Signer, v.Kind, v.Proposal); sig != v.Signature {
			bad = append(bad, i)
		}
	}
	return bad
}

func (h hashScheme) BadSeeds(votes []simplex.Vote) []int {
	var bad []int
	for i, v := range votes {
		if _, seed := hashPair(v.Signer, v.Kind, v.Proposal); seed != v.Seed {
			bad = append(bad, i)
		}
	}
	return bad
}

func (h hashScheme) BadIndividuals(votes []simplex.Vote) []int {
	var bad []int
	for i, v := range votes {
		if hashIndividual(v.Signer, v.Kind, v.Proposal) != v.Individual {
			bad = append(bad, i)
		}
	}
	return bad
}

// Combine fails where the curves would: when a vote or a seed that goes into the
// certificate is bad. What seed is given takes the place of the votes' own.
func (h hashScheme) Combine(q simplex.Quorum) (simplex.Certificate, bool) {
	if len(q.Votes) < h.quorum || len(h.BadVotes(q.Votes)) > 0 || q.Seed == nil && len(h.BadSeeds(q.Votes)) > 0 {
		return simplex.Certificate{}, false
	}
	c := simplex.Certificate{Kind: q.Votes[0].Kind, Proposal: q.Votes[0].Proposal}
	c.Signature, c.Seed = hashPair(groupSigner, c.Kind, c.Proposal)
	if q.Seed != nil {
		c.Seed = *q.Seed
	}
	return c, true
}

func (h hashScheme) BadCertificates(certificates []simplex.Certificate) []int {
	var bad []int
	for i, c := range certificates {
		if sig, seed := hashPair(groupSigner, c.Kind, c.Proposal); sig != c.Signature || seed != c.Seed {
			bad = append(bad, i)
		}
	}
	return bad
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
	g := &chain.Genesis{Name: "simulation", ChainID: 1, Params: chain.DefaultParams()}
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
	set, err := beacon.NewValidatorSet(g)
	if err != nil {
		return nil, nil, err
	}
	schemes := make([]scheme, cfg.Validators)
	for i := range schemes {
		p := beacon.Participant(i)
		if !cfg.RealKeys {
			schemes[i] = hashScheme{self: p, quorum: set.Quorum()}
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
