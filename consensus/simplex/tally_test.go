package simplex

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// allViews takes votes of every view.
func allViews(chain.View) bool { return true }

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

// judged is what a judge was asked about last.
type judged struct {
	calls int
	last  Quorum
}

// judge names marked votes bad and makes certificates of all others.
func (j *judged) judge(q Quorum) (Certificate, []int, error) {
	j.calls++
	j.last = q
	var out []int
	for i, v := range q.Votes[q.Sure:] {
		if v.Signature == (bls.Signature{0xbd}) {
			out = append(out, q.Sure+i)
		}
	}
	if len(out) > 0 {
		return Certificate{}, out, nil
	}
	return Certificate{Kind: q.Votes[0].Kind, Proposal: q.Votes[0].Proposal, Seed: bls.Signature{0x5e}}, nil, nil
}

// counted counts a poll, due or not.
func counted(t *Tally, v chain.View, k Kind, judge Judge) (Certificate, bool, []beacon.Participant, error) {
	n, err := t.countPoll(pollName{v, k}, judge)
	return n.Certificate, n.Made, n.Bad, err
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
	tally := NewTally(3, allViews)
	var j judged
	count := func() (Certificate, bool) {
		t.Helper()
		c, ok, bad, err := counted(tally, 1, Notarize, j.judge)
		if bad != nil || err != nil {
			t.Fatalf("bad votes of %v, error %v", bad, err)
		}
		return c, ok
	}
	for who := range beacon.Participant(2) {
		tally.Add(ballotOf(who, Notarize, p1))
		if _, ok := count(); ok || j.calls != 0 {
			t.Fatalf("%d votes: certificate %v after %d judgements", who+1, ok, j.calls)
		}
	}
	tally.Add(ballotOf(3, Notarize, p1b)) // of another block
	if _, ok := count(); ok || j.calls != 0 {
		t.Fatal("votes for two blocks made a quorum")
	}
	tally.Add(ballotOf(2, Notarize, p1))
	tally.Add(ballotOf(5, Notarize, p1)) // one more than is needed
	c, ok := count()
	if got := signers(j.last.Votes); !ok || c.Proposal != p1 || !slices.Equal(got, []beacon.Participant{0, 1, 2}) || j.calls != 1 {
		t.Errorf("%v of %v after %d judgements", c.Kind, got, j.calls)
	}
	tally.Close(c)
	tally.Add(ballotOf(4, Notarize, p1))
	if _, ok := count(); ok || j.calls != 1 {
		t.Error("a closed poll was counted")
	}
}

// A poll is in line once, by its first vote since it was counted. Votes that change
// nothing bring none into line.
func TestPollsAreDueOnce(t *testing.T) {
	tally := NewTally(2, allViews)
	var j judged
	next := func() (Certificate, bool) {
		t.Helper()
		if !tally.Due() {
			t.Fatal("nothing is due")
		}
		n, err := tally.CountNext(j.judge)
		if len(n.Bad) > 0 || err != nil || n.Judged > 1 || n.Made != (n.Judged == 1) {
			t.Fatalf("%+v, %v", n, err)
		}
		return n.Certificate, n.Made
	}
	tally.Add(ballotOf(0, Notarize, p1))
	tally.Add(ballotOf(0, Finalize, p1))
	tally.AddOwn(ballotOf(1, Notarize, p1))
	if c, ok := next(); !ok || c.Kind != Notarize {
		t.Errorf("first %v %v, want a notarization", c.Kind, ok)
	}
	if _, ok := next(); ok {
		t.Error("one vote of two makes a finalization")
	}
	tally.Add(ballotOf(0, Finalize, p1)) // again
	if tally.Due() {
		t.Error("a vote that is here already is to be counted")
	}
	tally.Close(Certificate{Kind: Notarize, Proposal: p1})
	tally.Add(ballotOf(2, Notarize, p1))
	if tally.Due() {
		t.Error("a vote of a closed poll is to be counted")
	}
	tally.Add(ballotOf(1, Finalize, p1))
	tally.Advance(p1.Round.View + 1)
	if _, ok := next(); ok || j.calls != 1 {
		t.Error("votes of a dropped view were judged")
	}
	if tally.Due() {
		t.Error("a poll is due after it was counted")
	}
}

// The seed of a round is the same whatever its votes say, so once a certificate
// told it, other kinds of votes need not bring it (resolution 1.12).
func TestASeedIsLookedAtOnce(t *testing.T) {
	tally := NewTally(1, allViews)
	var j judged
	tally.AddOwn(ballotOf(0, Notarize, p1))
	c, _, _, _ := counted(tally, 1, Notarize, j.judge)
	if j.last.Seed != nil {
		t.Error("the first quorum has a seed already")
	}
	tally.Close(c)
	tally.AddOwn(ballotOf(0, Finalize, p1))
	if _, ok, _, _ := counted(tally, 1, Finalize, j.judge); !ok || j.last.Seed == nil || *j.last.Seed != c.Seed {
		t.Error("the second quorum does not know the seed of the first")
	}
}

// A bad vote costs its signer the slot and the others nothing: what is known to
// be good stays so, and the next quorum is looked at with doubt.
func TestBadVotesAreNamedAndDropped(t *testing.T) {
	tally := NewTally(3, allViews)
	var j judged
	tally.AddOwn(ballotOf(0, Notarize, p1))
	tally.Add(bad(ballotOf(1, Notarize, p1)))
	tally.Add(ballotOf(2, Notarize, p1))
	_, ok, culprits, _ := counted(tally, 1, Notarize, j.judge)
	if ok || !slices.Equal(culprits, []beacon.Participant{1}) || j.last.Sure != 1 || j.last.Doubt {
		t.Fatalf("certificate %v, culprits %v, of %+v", ok, culprits, j.last)
	}
	if _, added := tally.Add(ballotOf(1, Notarize, p1)); added == Contradicted {
		t.Error("a second try after a bad vote is a conflict")
	}
	if _, ok, _, _ := counted(tally, 1, Notarize, j.judge); ok || j.calls != 1 {
		t.Error("a second try after a bad vote was counted")
	}
	tally.Add(ballotOf(3, Notarize, p1))
	if _, ok, _, _ := counted(tally, 1, Notarize, j.judge); !ok || j.last.Sure != 2 || !j.last.Doubt {
		t.Errorf("certificate %v of %+v, want one of three with two sure and with doubt", ok, j.last)
	}
}

// Bad votes are replaced by those that wait, in the same count.
func TestWaitingVotesReplaceBadOnes(t *testing.T) {
	tally := NewTally(3, allViews)
	var j judged
	for who := range beacon.Participant(7) {
		v := ballotOf(who, Notarize, p1)
		if who%2 == 0 {
			v = bad(v)
		}
		tally.Add(v)
	}
	_, ok, culprits, _ := counted(tally, 1, Notarize, j.judge)
	if got := signers(j.last.Votes); !ok || !slices.Equal(got, []beacon.Participant{1, 3, 5}) {
		t.Errorf("certificate %v of %v", ok, got)
	}
	if !slices.Equal(culprits, []beacon.Participant{0, 2, 4}) {
		t.Errorf("culprits %v; 6 is not needed and not looked at", culprits)
	}
}

// One validator with quorum 1 is sure of its vote.
func TestOwnVoteIsAQuorumOfOne(t *testing.T) {
	tally := NewTally(1, allViews)
	tally.AddOwn(ballotOf(0, Nullify, p1))
	var j judged
	if _, ok, _, _ := counted(tally, 1, Nullify, j.judge); !ok || j.last.Sure != 1 {
		t.Errorf("certificate %v of %+v", ok, j.last)
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
			tally := NewTally(2, allViews)
			tally.Add(tt.first)
			c, added := tally.Add(tt.second)
			got := added == Contradicted
			if got != tt.want {
				t.Fatalf("conflict = %v, want %v", got, tt.want)
			}
			if got && (c.First != tt.first || c.Second != tt.second) {
				t.Errorf("conflict of %v and %v", c.First, c.Second)
			}
			tally.Add(ballotOf(9, tt.first.Kind, tt.first.Proposal))
			var j judged
			counted(tally, tt.first.Proposal.Round.View, tt.first.Kind, j.judge)
			if len(j.last.Votes) != 2 || j.last.Votes[0] != tt.first {
				t.Error("the first vote no longer counts")
			}
		})
	}
}

// Dropped views cost no memory and take no votes.
func TestAdvanceDropsViews(t *testing.T) {
	tally := NewTally(1, allViews)
	for v := chain.View(1); v <= 50; v++ {
		tally.Add(ballotOf(1, Nullify, prop(v, 0, 0)))
	}
	tally.Advance(40)
	tally.Advance(1 << 40) // far ahead: a jump of the floor
	tally.Add(ballotOf(1, Nullify, prop(45, 0, 0)))
	tally.Close(Certificate{Kind: Nullify, Proposal: Proposal{Round: prop(45, 0, 0).Round}})
	if n := len(tally.ballots); n != 0 {
		t.Errorf("%d views kept", n)
	}
	var j judged
	if _, ok, _, _ := counted(tally, 45, Nullify, j.judge); ok {
		t.Error("a vote of a dropped view counts")
	}
}

// TestTallyViewBytes: what a view is said to take covers what Go makes of it.
func TestTallyViewBytes(t *testing.T) {
	for name, sizes := range map[string][2]uintptr{
		"slot": {unsafe.Sizeof(slot{}), 264}, "vote": {unsafe.Sizeof(Vote{}), 256},
		"subject": {unsafe.Sizeof(subject{}) + 8, 160}, "ballot": {unsafe.Sizeof(ballot{}), 256},
	} {
		if sizes[0] > sizes[1] {
			t.Errorf("a %s takes %d bytes, above the %d that are counted", name, sizes[0], sizes[1])
		}
	}
}

// Votes of finished views, and of views after the next one, are dropped before they can
// take a slot or contradict anything.
func TestTallyTakesVotesOfOpenViews(t *testing.T) {
	cfg := testConfig(fakeElector{other, other})
	cfg.Floor = Floor{View: 7}
	machine := New(cfg)
	machine.Step(Resumed{})
	tally := NewTally(3, machine.TakesVotes)
	for view, want := range map[chain.View]Added{1: TooOldOrNew, 7: TooOldOrNew, 8: Waits, 9: Waits, 10: TooOldOrNew, 1 << 40: TooOldOrNew} {
		if _, added := tally.Add(ballotOf(1, Notarize, prop(view, 0, 1))); added != want {
			t.Errorf("a vote of view %d beside final view 7 and current view %d: %v, want %v", view, machine.View(), added, want)
		}
	}
	if tally.Views() != 2 {
		t.Errorf("ballots of %d views, want 2", tally.Views())
	}
}

// The poll that made a certificate is over: nobody need close it.
func TestACertificateEndsItsPoll(t *testing.T) {
	tally := NewTally(2, allViews)
	var j judged
	tally.Add(ballotOf(0, Notarize, p1))
	tally.Add(ballotOf(1, Notarize, p1))
	if n, err := tally.CountNext(j.judge); err != nil || !n.Made {
		t.Fatalf("%+v, %v", n, err)
	}
	tally.Add(ballotOf(2, Notarize, p1))
	if tally.Due() {
		t.Error("a vote that came after the certificate is to be counted")
	}
}
