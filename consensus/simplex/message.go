package simplex

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

// Kind is what a vote or a certificate says about its view.
type Kind uint8

// The three kinds. The values are on the wire and in the journal.
const (
	Notarize Kind = 1 // this block may be the block of the view
	Nullify  Kind = 2 // the view may end without a block
	Finalize Kind = 3 // this block is notarized and I did not nullify its view
)

// String returns the kind as a word.
func (k Kind) String() string {
	switch k {
	case Notarize:
		return "notarize"
	case Nullify:
		return "nullify"
	case Finalize:
		return "finalize"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Proposal names a block and its place: the round it was proposed in, the view
// of the block it extends, and its digest. Its encoding is what notarize and
// finalize votes sign.
type Proposal struct {
	Round   beacon.Round
	Parent  chain.View // below Round.View; 0 is genesis
	Payload chain.Hash // digest of the block
}

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

// Individual is an Ed25519 signature of one validator's own peer key.
type Individual [ed25519.SignatureSize]byte

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
