package simplex

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// 28 of the acceptance list: attributable_reporter_filtering. With a threshold
// scheme a quorum can compute the partial signature of anyone else, so a partial
// convicts nobody, and evidence carries none: what a contradiction exports is
// the individual signatures alone (resolution 11.3).
func TestScenario28AttributableReporterFiltering(t *testing.T) {
	schemes, set, _ := committee(t, 4)
	truth, lie := schemes[3].Sign(Notarize, p1), schemes[3].Sign(Notarize, p1b)
	e, err := NewEvidence(set, truth, lie)
	if err != nil {
		t.Fatalf("a real contradiction: %v", err)
	}
	raw := attest.AppendEvidence(nil, e)
	for _, vote := range []Vote{truth, lie} {
		for name, partial := range map[string]bls.Signature{"signature": vote.Signature, "seed": vote.Seed} {
			if bytes.Contains(raw, partial[:]) || bytes.Contains(raw, partial[8:40]) {
				t.Errorf("evidence carries the partial %s of a %s", name, vote.Kind)
			}
		}
		if !bytes.Contains(raw, vote.Individual[:]) {
			t.Error("evidence lacks an individual signature")
		}
	}

	// Good partials of the accused, whoever made them, with no word of its own.
	framed := schemes[3].Sign(Notarize, p2)
	other := prop(2, 1, 9)
	claim := schemes[3].Sign(Notarize, other)
	if bad := schemes[0].BadVotes([]Vote{claim}); len(bad) > 0 {
		t.Fatal("the partial is not good")
	}
	for name, individual := range map[string]Individual{
		"none":             {},
		"another kind's":   schemes[3].Sign(Finalize, other).Individual,
		"another signer's": schemes[2].Sign(Notarize, other).Individual,
		"another block's":  framed.Individual,
	} {
		claim.Individual = individual
		if _, err := NewEvidence(set, framed, claim); !errors.Is(err, attest.ErrEvidenceForged) {
			t.Errorf("good partials with %s individual signature convict: %v", name, err)
		}
	}
}

// The seed of a round is one, whatever kind of certificate it comes in and
// whichever 2f+1 of seven signed: all 21 quorums of each kind.
func TestSeedIsOneForEveryQuorumOfSeven(t *testing.T) {
	schemes, set, _ := committee(t, 7)
	votes := map[Kind][]Vote{}
	for k := Notarize; k <= Finalize; k++ {
		for _, s := range schemes {
			votes[k] = append(votes[k], s.Sign(k, p1))
		}
	}
	var seed bls.Signature
	quorums := 0
	for members := range 1 << 7 {
		for k := Notarize; k <= Finalize; k++ {
			var q []Vote
			for i := range 7 {
				if members>>i&1 == 1 {
					q = append(q, votes[k][i])
				}
			}
			if len(q) != set.Quorum() {
				continue
			}
			c, err := schemes[0].Recover(q)
			if err != nil {
				t.Fatal(err)
			}
			if quorums++; quorums == 1 {
				seed = c.Seed
			}
			if c.Seed != seed {
				t.Errorf("%s of the quorum %07b has another seed", k, members)
			}
		}
	}
	if quorums != 3*21 || !set.VerifySeed(p1.Round, seed) {
		t.Errorf("%d quorums", quorums)
	}
}
