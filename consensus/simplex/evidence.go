package simplex

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// NewEvidence makes evidence of two votes of one validator. It fails, as
// [VerifyEvidence] would, where they prove nothing.
func NewEvidence(set *beacon.ValidatorSet, a, b Vote) (attest.Evidence, error) {
	if a.Signer != b.Signer || int(a.Signer) >= set.Len() {
		return attest.Evidence{}, attest.ErrEvidenceSigner
	}
	e := attest.NewEvidence(set.At(a.Signer).PeerKey, statement(a), statement(b))
	return e, VerifyEvidence(set, e)
}

// VerifyEvidence returns nil if e convicts its accused, a member of set, which
// is the set of the round's epoch.
func VerifyEvidence(set *beacon.ValidatorSet, e attest.Evidence) error {
	member := func(key chain.PeerKey) bool {
		_, ok := set.Find(key)
		return ok
	}
	return e.Verify(set.Epoch(), member, set.Namespaces())
}

func statement(v Vote) attest.Statement {
	return attest.Statement{Kind: v.Kind, Proposal: v.Proposal, Individual: v.Individual}
}
