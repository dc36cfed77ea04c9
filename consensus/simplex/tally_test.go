package simplex

import (
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// ballotOf is the vote of who; bad votes carry a mark that badMarked finds.
func ballotOf(who beacon.Participant, k Kind, p Proposal) Vote {
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	return Vote{Kind: k, Proposal: p, Signer: who}
}

func bad(v Vote) Vote {
	v.Signature = bls.Signature{0xbd}
	return v
}

func badMarked(votes []Vote) []int {
	var out []int
	for i, v := range votes {
		if v.Signature == (bls.Signature{0xbd}) {
			out = append(out, i)
		}
	}
	return out
}

func signers(votes []Vote) []beacon.Participant {
	var out []beacon.Participant
	for _, v := range votes {
		out = append(out, v.Signer)
	}
	return out
}

// Votes are verified only when a quorum is possible, then all at once
// (consensus.md §1.4).
func TestVotesWaitForAQuorum(t *testing.T) {
	tally := NewTally(3)
	calls := 0
	check := func(votes []Vote) []int { calls++; return badMarked(votes) }
	for who := range beacon.Participant(2) {
		tally.Add(ballotOf(who, Notarize, p1))
		if quorum, _ := tally.Count(1, Notarize, check); quorum != nil || calls != 0 {
			t.Fatalf("%d votes: quorum %v after %d checks", who+1, quorum, calls)
		}
	}
	tally.Add(ballotOf(3, Notarize, p1b)) // of another block
	if quorum, _ := tally.Count(1, Notarize, check); quorum != nil || calls != 0 {
		t.Fatal("votes for two blocks made a quorum")
	}
	tally.Add(ballotOf(2, Notarize, p1))
	quorum, _ := tally.Count(1, Notarize, check)
	if got := signers(quorum); !slices.Equal(got, []beacon.Participant{0, 1, 2}) || calls != 1 {
		t.Errorf("quorum of %v after %d checks", got, calls)
	}
	if again, _ := tally.Count(1, Notarize, check); len(again) != 3 || calls != 1 {
		t.Errorf("the next count has %d votes after %d checks, want the same three", len(again), calls)
	}
	tally.Close(1, Notarize)
	tally.Add(ballotOf(4, Notarize, p1))
	if quorum, _ := tally.Count(1, Notarize, check); quorum != nil || calls != 1 {
		t.Error("a closed poll was counted")
	}
}

// A bad vote costs its signer the slot and the others nothing.
func TestBadVotesAreNamedAndDropped(t *testing.T) {
	tally := NewTally(3)
	tally.AddOwn(ballotOf(0, Notarize, p1))
	tally.Add(bad(ballotOf(1, Notarize, p1)))
	tally.Add(ballotOf(2, Notarize, p1))
	quorum, culprits := tally.Count(1, Notarize, badMarked)
	if quorum != nil || !slices.Equal(culprits, []beacon.Participant{1}) {
		t.Fatalf("quorum %v, culprits %v", quorum, culprits)
	}
	if _, conflict := tally.Add(ballotOf(1, Notarize, p1)); conflict {
		t.Error("a second try after a bad vote is a conflict")
	}
	if quorum, _ := tally.Count(1, Notarize, badMarked); quorum != nil {
		t.Error("a second try after a bad vote was counted")
	}
	tally.Add(ballotOf(3, Notarize, p1))
	if quorum, _ := tally.Count(1, Notarize, badMarked); len(quorum) != 3 {
		t.Errorf("%d votes, want the three good ones", len(quorum))
	}
}

// One validator with quorum 1 needs nobody's check.
func TestOwnVoteIsAQuorumOfOne(t *testing.T) {
	tally := NewTally(1)
	tally.AddOwn(ballotOf(0, Nullify, p1))
	quorum, _ := tally.Count(1, Nullify, func([]Vote) []int { t.Error("own vote was checked"); return nil })
	if len(quorum) != 1 {
		t.Errorf("%d votes, want 1", len(quorum))
	}
}

// The first vote of a slot stays; a different one is a conflict, and cannot
// take the place of a verified vote (consensus.md §2, bug list: a second vote
// that replaces the verified one).
func TestConflicts(t *testing.T) {
	tests := []struct {
		rule   string
		first  Vote
		second Vote
		want   bool
	}{
		{"the same vote again is not one", ballotOf(1, Notarize, p1), ballotOf(1, Notarize, p1), false},
		{"two notarizes are", ballotOf(1, Notarize, p1), ballotOf(1, Notarize, p1b), true},
		{"the same with another signature is", ballotOf(1, Notarize, p1), bad(ballotOf(1, Notarize, p1)), true},
		{"two finalizes are", ballotOf(1, Finalize, p1), ballotOf(1, Finalize, p1b), true},
		{"nullify and finalize are", ballotOf(1, Nullify, p1), ballotOf(1, Finalize, p1), true},
		{"finalize and nullify are", ballotOf(1, Finalize, p1), ballotOf(1, Nullify, p1), true},
		{"notarize and nullify are not", ballotOf(1, Notarize, p1), ballotOf(1, Nullify, p1), false},
		{"notarize and finalize are not", ballotOf(1, Notarize, p1), ballotOf(1, Finalize, p1), false},
		{"votes of two validators are not", ballotOf(1, Notarize, p1), ballotOf(2, Notarize, p1b), false},
		{"votes of two views are not", ballotOf(1, Notarize, p1), ballotOf(1, Notarize, p2), false},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			tally := NewTally(2)
			tally.Add(tt.first)
			c, got := tally.Add(tt.second)
			if got != tt.want {
				t.Fatalf("conflict = %v, want %v", got, tt.want)
			}
			if got && (c.First != tt.first || c.Second != tt.second) {
				t.Errorf("conflict of %v and %v", c.First, c.Second)
			}
			tally.Add(ballotOf(9, tt.first.Kind, tt.first.Proposal))
			if quorum, _ := tally.Count(tt.first.Proposal.Round.View, tt.first.Kind, badMarked); len(quorum) != 2 {
				t.Error("the first vote no longer counts")
			}
		})
	}
}

// Dropped views cost no memory and take no votes.
func TestAdvanceDropsViews(t *testing.T) {
	tally := NewTally(1)
	for v := chain.View(1); v <= 50; v++ {
		tally.Add(ballotOf(1, Nullify, prop(v, 0, 0)))
	}
	tally.Advance(40)
	tally.Advance(1 << 40) // far ahead: a jump of the floor
	tally.Add(ballotOf(1, Nullify, prop(45, 0, 0)))
	tally.Close(45, Nullify)
	if n := len(tally.ballots); n != 0 {
		t.Errorf("%d views kept", n)
	}
	if quorum, _ := tally.Count(45, Nullify, badMarked); quorum != nil {
		t.Error("a vote of a dropped view counts")
	}
}
