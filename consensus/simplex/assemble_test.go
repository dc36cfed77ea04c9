package simplex

import (
	"errors"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// counting counts what a scheme is asked.
type counting struct {
	*Threshold
	looks int
}

func (c *counting) BadVotes(v []Vote) []int { c.looks += len(v); return c.Threshold.BadVotes(v) }
func (c *counting) BadSeeds(v []Vote) []int { c.looks += len(v); return c.Threshold.BadSeeds(v) }

// A quorum is combined in the hope that all is well; only where it is not are
// single votes looked at, and each culprit named for what it did
// (consensus.md §1.4, resolution 11.3).
func TestAssemble(t *testing.T) {
	schemes, _, _ := committee(t, 7)
	tests := []struct {
		rule  string
		spoil func(q *Quorum)
		bad   []int
		looks int // votes and seeds checked one by one or searched
	}{
		{"all good", func(*Quorum) {}, nil, 0},
		{"all sure", func(q *Quorum) { q.Sure = 5 }, nil, 0},
		{"doubt", func(q *Quorum) { q.Doubt = true }, nil, 8},
		{"doubt with a known seed", func(q *Quorum) { q.Doubt = true; q.Seed = &q.Votes[0].Seed }, nil, 4},
		{"a bad vote", func(q *Quorum) { q.Votes[2].Signature = q.Votes[3].Signature }, []int{2}, 7},
		{"a bad seed", func(q *Quorum) { q.Votes[4].Seed = q.Votes[3].Seed }, []int{4}, 8},
		{"a vote and a seed of one", func(q *Quorum) {
			q.Votes[4].Seed, q.Votes[4].Signature = bls.Signature{}, bls.Signature{}
		}, []int{4}, 7},
		{"a vote and a seed of two", func(q *Quorum) {
			q.Votes[4].Seed, q.Votes[1].Signature = bls.Signature{}, bls.Signature{}
		}, []int{1, 4}, 7},
		{"a bad individual signature", func(q *Quorum) { q.Votes[3].Individual = q.Votes[2].Individual }, []int{3}, 6},
		{"everything", func(q *Quorum) {
			q.Votes[1].Individual[0]++
			q.Votes[2].Signature[0]++
			q.Votes[3].Seed[0]++
		}, []int{1, 2, 3}, 5},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			s := &counting{Threshold: schemes[0]}
			q := Quorum{Sure: 1}
			for _, other := range schemes[:5] {
				q.Votes = append(q.Votes, other.Sign(Finalize, p1))
			}
			want, err := s.Recover(q.Votes)
			if err != nil {
				t.Fatal(err)
			}
			tt.spoil(&q)
			c, bad, err := Assemble(s, q, InTurn)
			if err != nil || !slices.Equal(bad, tt.bad) {
				t.Fatalf("bad %v, want %v (%v)", bad, tt.bad, err)
			}
			if bad == nil && (c.Proposal != want.Proposal || c.Signature != want.Signature) {
				t.Error("another certificate than the votes recover")
			}
			if s.looks != tt.looks {
				t.Errorf("%d signatures looked at, want %d", s.looks, tt.looks)
			}
		})
	}
}

// conspiracy has two validators whose signatures are bad, and good in sum.
type conspiracy struct {
	*Threshold
	liars [2]beacon.Participant
}

func (c *conspiracy) lies(v *Vote) bool { return slices.Contains(c.liars[:], v.Signer) }

func (c *conspiracy) Combine(q Quorum) (Certificate, bool) {
	lies := 0
	for i := range q.Votes {
		if c.lies(&q.Votes[i]) {
			lies++
		}
	}
	return Certificate{Kind: q.Votes[0].Kind, Proposal: q.Votes[0].Proposal}, lies != 1
}

func (c *conspiracy) BadVotes(votes []Vote) (bad []int) {
	for i := range votes {
		if c.lies(&votes[i]) {
			bad = append(bad, i)
		}
	}
	return bad
}

// Two liars whose errors cancel out, one of whom lacks an individual signature,
// are both found out: if the other stayed among the sure votes, no later quorum
// would make a certificate, and nobody could be blamed for it.
func TestErrorsThatCancelOutAreFound(t *testing.T) {
	schemes, _, _ := committee(t, 7)
	s := &conspiracy{schemes[0], [2]beacon.Participant{3, 4}}
	tally := NewTally(5, allViews)
	judge := func(q Quorum) (Certificate, []int, error) {
		return Assemble(s, q, InTurn)
	}
	tally.AddOwn(schemes[0].Sign(Finalize, p1))
	for _, other := range schemes[1:] {
		v := other.Sign(Finalize, p1)
		if v.Signer == 4 {
			v.Individual[0]++
		}
		tally.Add(v)
		_, ok, bad, err := counted(tally, p1.Round.View, Finalize, judge)
		if err != nil {
			t.Fatalf("with the vote of %d: %v", v.Signer, err)
		}
		if v.Signer == 4 && !slices.Equal(bad, s.liars[:]) {
			t.Errorf("bad %v, want both liars", bad)
		}
		if want := v.Signer == 6; ok != want {
			t.Errorf("with the vote of %d: certificate %v, want %v", v.Signer, ok, want)
		}
	}
}

// A seed that is known is taken as it is, and the votes' own may be anything.
func TestAssembleTakesTheKnownSeed(t *testing.T) {
	schemes, _, _ := committee(t, 4)
	var q Quorum
	for _, s := range schemes[:3] {
		q.Votes = append(q.Votes, s.Sign(Notarize, p1))
	}
	first, ok := schemes[3].Combine(q)
	if !ok {
		t.Fatal("good votes make no certificate")
	}
	q.Seed = &first.Seed
	q.Votes[1].Seed = bls.Signature{}
	if c, bad, err := Assemble(schemes[3], q, InTurn); c != first || bad != nil || err != nil {
		t.Errorf("%v %v %v, want the same certificate", c.Kind, bad, err)
	}
}

// Public shares that do not belong to the group key are a fault of the genesis,
// and no certificate of theirs leaves.
func TestAssembleRefusesSharesOfAnotherKey(t *testing.T) {
	schemes, set, _ := committee(t, 4)
	var q Quorum
	for _, s := range schemes[:3] {
		q.Votes = append(q.Votes, s.Sign(Notarize, p1))
	}
	*set.Group() = *set.At(0).PublicShare
	if _, _, err := Assemble(schemes[3], q, InTurn); !errors.Is(err, ErrShares) {
		t.Errorf("got %v, want %v", err, ErrShares)
	}
}

// Certificates are verified together and blamed one by one.
func TestBadCertificatesAreNamed(t *testing.T) {
	schemes, _, _ := committee(t, 4)
	var list []Certificate
	for v := range 5 {
		for _, k := range []Kind{Notarize, Finalize} {
			var q Quorum
			for _, s := range schemes[:3] {
				q.Votes = append(q.Votes, s.Sign(k, prop(8, 7, byte(v))))
			}
			c, ok := schemes[3].Combine(q)
			if !ok {
				t.Fatal("good votes make no certificate")
			}
			list = append(list, c)
		}
	}
	if bad := schemes[3].BadCertificates(list); bad != nil {
		t.Errorf("bad %v of good ones", bad)
	}
	list[1].Seed[0]++
	list[4].Signature = list[5].Signature
	list[7].Proposal.Parent++
	list[9].Proposal.Round.Epoch++
	if bad := schemes[3].BadCertificates(list); !slices.Equal(bad, []int{1, 4, 7, 9}) {
		t.Errorf("bad %v, want [1 4 7 9]", bad)
	}
}
