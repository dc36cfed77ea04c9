package simnode

import (
	"crypto/rand"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// TestMemoVouchesForNothingElse: what one node verified stands for all, and whatever
// differs from it by a bit meets the check.
func TestMemoVouchesForNothingElse(t *testing.T) {
	dir := t.TempDir()
	g, err := setup.Deal(dir, setup.DealOptions{Validators: 4})
	if err != nil {
		t.Fatal(err)
	}
	set, err := beacon.NewValidatorSet(epoch.First(g))
	if err != nil {
		t.Fatal(err)
	}
	m := newMemo()
	nodes := make([]*checks, 4)
	for i := range nodes {
		keys, err := datadir.LoadKeys(datadir.DealtFolder(dir, i))
		if err != nil {
			t.Fatal(err)
		}
		scheme, err := simplex.NewThreshold(set, beacon.Participant(i), simplex.Keys{Share: keys.Share.Key, Peer: keys.Peer}, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = &checks{scheme, m}
	}
	p := simplex.Proposal{Round: beacon.Round{View: 7}, Payload: chain.Hash{1}}
	var votes []simplex.Vote
	for _, n := range nodes {
		votes = append(votes, n.Sign(simplex.Notarize, p))
	}
	first, ok := nodes[0].Combine(simplex.Quorum{Votes: votes[:3]})
	if !ok {
		t.Fatal("three good votes make no certificate")
	}
	if again, ok := nodes[1].Combine(simplex.Quorum{Votes: votes[1:]}); !ok || again != first {
		t.Error("another quorum makes another certificate")
	}
	other := nodes[3].Sign(simplex.Notarize, simplex.Proposal{Round: p.Round, Payload: chain.Hash{2}})
	forged := slices.Clone(votes[1:])
	forged[1].Signature = other.Signature
	if _, ok := nodes[2].Combine(simplex.Quorum{Votes: forged}); ok {
		t.Error("a vote for another block counts")
	}

	elsewhere, seedless := first, first
	elsewhere.Proposal.Payload[5] ^= 1
	seedless.Seed = first.Signature
	for range 2 { // the second time nothing may have been learned of the bad ones
		if bad := nodes[1].BadCertificates([]simplex.Certificate{first, elsewhere, first, seedless}); !slices.Equal(bad, []int{1, 3}) {
			t.Errorf("bad certificates %v, want 1 and 3", bad)
		}
		lie := votes[1]
		lie.Individual[3] ^= 1
		stolen := votes[1]
		stolen.Signer = 2
		if bad := nodes[0].BadIndividuals([]simplex.Vote{votes[1], lie, stolen, votes[2]}); !slices.Equal(bad, []int{1, 2}) {
			t.Errorf("bad individual signatures %v, want 1 and 2", bad)
		}
	}
	if len(m.certificates) != 1 || len(m.individuals) != 2 {
		t.Errorf("%d certificates and %d votes are known, want 1 and 2", len(m.certificates), len(m.individuals))
	}
}
