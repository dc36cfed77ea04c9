package simplex

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// The words that votes are made of are package attest's, where execution reads
// them too.
type (
	// Kind is what a vote or a certificate says about its view.
	Kind = attest.Kind
	// Proposal names a block and its place.
	Proposal = attest.Proposal
	// Individual is a signature of one validator's own peer key.
	Individual = attest.Individual
)

// The three kinds.
const (
	Notarize = attest.Notarize
	Nullify  = attest.Nullify
	Finalize = attest.Finalize
)

// Vote is one validator's signed word. A nullify vote is about a round only:
// Parent and Payload are zero in it.
//
// Signature and Seed make certificates. They convict nobody: any quorum of
// shares can compute the partial of anyone else. Individual does, and a vote
// without a valid one does not count here (resolution 11.3).
type Vote struct {
	Kind       Kind
	Proposal   Proposal
	Signer     beacon.Participant
	Signature  bls.Signature // partial over the proposal, or over the round for Nullify
	Seed       bls.Signature // partial over the round, the same in all three kinds
	Individual Individual    // by the signer's peer key, over what Signature signs
}

// Certificate is the word of a quorum: the recovered group signatures. It
// names no signers; it is the same bytes whichever quorum signed.
type Certificate struct {
	Kind      Kind
	Proposal  Proposal // as in [Vote]
	Signature bls.Signature
	Seed      bls.Signature // seed of the round
}

// Certification is the verdict of this node's application on a notarized
// block. It is kept in the journal, so that a restart does not change it.
type Certification struct {
	Round   beacon.Round
	Payload chain.Hash
	OK      bool
}

// Record is an entry of the journal: a [Vote] of this validator, a
// [Certificate] it accepted, or a [Certification].
type Record interface{ isRecord() }

func (Vote) isRecord()          {}
func (Certificate) isRecord()   {}
func (Certification) isRecord() {}
