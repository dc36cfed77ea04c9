package beacon

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// Participant is the position of a validator in the canonical order of its
// set. Votes name their signer by it, and the threshold polynomial is
// evaluated for it.
type Participant uint32

// Member is one validator as consensus sees it, with its key decompressed and
// checked once.
type Member struct {
	PeerKey       chain.PeerKey
	PublicShare   *bls.PublicKey
	ShareIndex    uint32
	Stake         chain.Wei
	RewardAddress chain.Address
}

// ValidatorSet is the validators of one epoch. It never changes, and it is
// safe for concurrent use.
type ValidatorSet struct {
	epoch      chain.Epoch
	members    []Member
	byPeer     map[chain.PeerKey]Participant
	stake      uint64 // of all members
	group      *bls.PublicKey
	namespaces attest.Namespaces
	beacon     chain.Hash
}

// NewValidatorSet returns the set of an epoch. It relies on the chain for the
// record as a whole and checks what consensus itself depends on: order, share
// positions, keys, and that somebody has stake. That the shares lie on the
// polynomial is for the makers of the key to prove; a wrong one cannot
// break safety, only count as absent.
func NewValidatorSet(r *epoch.Record) (*ValidatorSet, error) {
	s := &ValidatorSet{
		epoch:      r.Epoch,
		byPeer:     make(map[chain.PeerKey]Participant, len(r.Validators)),
		namespaces: attest.NewNamespaces(r.Chain),
		beacon:     r.Beacon,
	}
	if len(r.Validators) == 0 {
		return nil, errors.New("validator set is empty")
	}
	var err error
	if s.group, err = bls.ParsePublicKey(r.GroupKey[:]); err != nil {
		return nil, fmt.Errorf("group key: %w", err)
	}
	for i := range r.Validators {
		v := &r.Validators[i]
		switch {
		case i > 0 && bytes.Compare(r.Validators[i-1].PeerKey[:], v.PeerKey[:]) >= 0:
			return nil, fmt.Errorf("validator %d is not above its predecessor in peer key order", i)
		case v.ShareIndex != uint32(i):
			return nil, fmt.Errorf("validator %d has share %d", i, v.ShareIndex)
		case uint64(v.Stake) > math.MaxUint64-s.stake:
			return nil, fmt.Errorf("stakes up to validator %d exceed 64 bits", i)
		}
		key, err := bls.ParsePublicKey(v.PublicShare[:])
		if err != nil {
			return nil, fmt.Errorf("public share of validator %d: %w", i, err)
		}
		s.stake += uint64(v.Stake)
		s.byPeer[v.PeerKey] = Participant(i)
		s.members = append(s.members, Member{
			PeerKey: v.PeerKey, PublicShare: key, ShareIndex: v.ShareIndex,
			Stake: v.Stake, RewardAddress: v.RewardAddress,
		})
	}
	if s.stake == 0 {
		return nil, errors.New("no validator has stake, so none can lead")
	}
	return s, nil
}

// Epoch returns the epoch in which the set is active.
func (s *ValidatorSet) Epoch() chain.Epoch { return s.epoch }

// Len returns the number of validators, at least 1.
func (s *ValidatorSet) Len() int { return len(s.members) }

// Quorum returns how many votes certify: n - floor((n-1)/3), which is 2f+1 for
// n = 3f+1. Every validator counts once, whatever its stake.
func (s *ValidatorSet) Quorum() int { return chain.Quorum(len(s.members)) }

// At returns the validator at position p, which must be below Len.
func (s *ValidatorSet) At(p Participant) *Member { return &s.members[p] }

// Find returns the position of the validator with the given peer key.
func (s *ValidatorSet) Find(key chain.PeerKey) (Participant, bool) {
	p, ok := s.byPeer[key]
	return p, ok
}

// Group returns the threshold public key under which certificates verify.
func (s *ValidatorSet) Group() *bls.PublicKey { return s.group }

// Namespaces returns what the chain's signatures are bound to.
func (s *ValidatorSet) Namespaces() *attest.Namespaces { return &s.namespaces }

// GenesisBeacon stands for the beacon of view 0, before any round has a seed.
func (s *ValidatorSet) GenesisBeacon() chain.Hash { return s.beacon }

// VerifySeed reports whether seed is the threshold signature of round r
// (CIP-11 §9.2). It exists for nullified rounds too, and a round has only one.
func (s *ValidatorSet) VerifySeed(r Round, seed bls.Signature) bool {
	return r.Epoch == s.epoch && s.group.Verify(s.namespaces.Seed, r.Append(nil), seed)
}
