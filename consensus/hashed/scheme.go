// Package hashed signs with hashes, for simulations: what has the shape of a threshold
// scheme and none of its strength costs microseconds where curves cost milliseconds.
// Faulty players could forge with it; those of simulations do not. No node uses it.
package hashed

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Voice makes and checks the individual signatures of votes, which are what proves
// that a validator contradicted itself.
type Voice interface {
	Individual(k simplex.Kind, p simplex.Proposal) simplex.Individual
	BadIndividuals(votes []simplex.Vote) []int
}

// Scheme is what one validator signs and verifies with.
type Scheme struct {
	Self   beacon.Participant
	Quorum int
	// Voice makes the individual signatures. Nil: they are hashes too, and prove
	// nothing to anybody who has the keys of the validator set.
	Voice Voice
}

// group stands for the group in place of a signer.
const group = ^beacon.Participant(0)

func sign(who beacon.Participant, domain string, msg []byte) bls.Signature {
	var index [4]byte
	binary.BigEndian.PutUint32(index[:], uint32(who))
	a := keccak.Sum256([]byte(domain), index[:], msg)
	b := keccak.Sum256(a[:])
	var s bls.Signature
	copy(s[copy(s[:], a[:]):], b[:])
	return s
}

func pair(who beacon.Participant, k simplex.Kind, p simplex.Proposal) (sig, seed bls.Signature) {
	return sign(who, k.String(), attest.AppendSubject(nil, k, p)), sign(who, "seed", p.Round.Append(nil))
}

func individual(who beacon.Participant, k simplex.Kind, p simplex.Proposal) simplex.Individual {
	var out simplex.Individual
	half := sign(who, "individual "+k.String(), attest.AppendSubject(nil, k, p))
	copy(out[copy(out[:], half[:]):], half[:])
	return out
}

// Seed is the seed of a round.
func Seed(r beacon.Round) bls.Signature { return sign(group, "seed", r.Append(nil)) }

// Sign implements [simplex.Signer].
func (s Scheme) Sign(k simplex.Kind, p simplex.Proposal) simplex.Vote {
	if k == simplex.Nullify {
		p = simplex.Proposal{Round: p.Round}
	}
	v := simplex.Vote{Kind: k, Proposal: p, Signer: s.Self}
	v.Signature, v.Seed = pair(s.Self, k, p)
	if s.Voice != nil {
		v.Individual = s.Voice.Individual(k, p)
	} else {
		v.Individual = individual(s.Self, k, p)
	}
	return v
}

// BadVotes implements [simplex.Verifier].
func (s Scheme) BadVotes(votes []simplex.Vote) []int {
	return without(votes, func(v simplex.Vote) bool {
		sig, _ := pair(v.Signer, v.Kind, v.Proposal)
		return sig == v.Signature
	})
}

// without is the places of the votes that are not good.
func without(votes []simplex.Vote, good func(simplex.Vote) bool) []int {
	var bad []int
	for i, v := range votes {
		if !good(v) {
			bad = append(bad, i)
		}
	}
	return bad
}

// BadSeeds implements [simplex.Verifier].
func (s Scheme) BadSeeds(votes []simplex.Vote) []int {
	return without(votes, func(v simplex.Vote) bool {
		_, seed := pair(v.Signer, v.Kind, v.Proposal)
		return seed == v.Seed
	})
}

// BadIndividuals implements [simplex.Verifier].
func (s Scheme) BadIndividuals(votes []simplex.Vote) []int {
	if s.Voice != nil {
		return s.Voice.BadIndividuals(votes)
	}
	return without(votes, func(v simplex.Vote) bool { return individual(v.Signer, v.Kind, v.Proposal) == v.Individual })
}

// Combine fails where the curves would: when a vote or a seed that goes into the
// certificate is bad. What seed is given takes the place of the votes' own.
func (s Scheme) Combine(q simplex.Quorum) (simplex.Certificate, bool) {
	if len(q.Votes) < s.Quorum || len(s.BadVotes(q.Votes)) > 0 || q.Seed == nil && len(s.BadSeeds(q.Votes)) > 0 {
		return simplex.Certificate{}, false
	}
	c := simplex.Certificate{Kind: q.Votes[0].Kind, Proposal: q.Votes[0].Proposal}
	c.Signature, c.Seed = pair(group, c.Kind, c.Proposal)
	if q.Seed != nil {
		c.Seed = *q.Seed
	}
	return c, true
}

// BadCertificates implements [simplex.Verifier].
func (s Scheme) BadCertificates(certificates []simplex.Certificate) []int {
	var bad []int
	for i, c := range certificates {
		if sig, seed := pair(group, c.Kind, c.Proposal); sig != c.Signature || seed != c.Seed {
			bad = append(bad, i)
		}
	}
	return bad
}
