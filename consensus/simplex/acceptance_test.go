package simplex

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// The rows "voter" and "batcher" of the acceptance list (consensus.md §6), by
// the names that they have there. What the reference calls so is here the
// machine and the tally.

func TestVoter(t *testing.T) {
	leading := []scenario{
		{
			"no_self_propose_or_verify_after_restart: the vote goes out again",
			[]Event{own(Notarize, p1), Resumed{}},
			enter(1) + "; send notarize 1:1",
		},
		{
			"no_self_propose_or_verify_after_restart: our proposal comes back",
			[]Event{own(Notarize, p1), Resumed{}, from(self, p1)},
			"",
		},
		{
			"nullify_after_crash_in_propose_window: no vote was made, so one may be",
			[]Event{Resumed{}},
			enter(1) + "; build 1 on 0",
		},
		{
			"nullify_after_crash_in_propose_window: nothing built in time",
			[]Event{Resumed{}, timer(1, TimerLeader)},
			"keep nullify 1; send nullify 1; arm retry 1",
		},
		{
			"nullify_after_crash_in_propose_window: the nullify outlives the crash, nothing is built",
			[]Event{own(Nullify, p1), Resumed{}},
			enter(1) + "; send nullify 1; arm retry 1",
		},
		{
			"drop_our_proposal_on_conflict",
			[]Event{Resumed{}, cert(Notarize, p1b), ProposalReady{View: 1, Payload: p1.Payload}},
			"",
		},
	}
	following := []scenario{
		{
			"failed_certification_replayed_after_restart",
			[]Event{kept(Notarize, p1), verdictOn(p1, false), Resumed{}},
			enter(1),
		},
		{
			"successful_certification_replayed_after_restart",
			[]Event{kept(Notarize, p1), verdictOn(p1, true), Resumed{}},
			enter(2) + "; keep finalize 1:1; send finalize 1:1; certify 1:1 again",
		},
		{
			"only_finalization_rescues_validator: no block, and no vote gets us on",
			[]Event{Resumed{}, cert(Notarize, p1), timer(1, TimerCertification)},
			"keep nullify 1; send nullify 1; arm retry 1",
		},
		{
			"only_finalization_rescues_validator: a finalization does",
			[]Event{Resumed{}, cert(Notarize, p1), timer(1, TimerCertification), cert(Finalize, p1)},
			"keep cert finalize 1:1; send cert finalize 1:1; " + enter(2) + "; certify 1:1",
		},
		{
			"certificate_conflicts_proposal: no vote for the proposal that lost",
			[]Event{Resumed{}, from(other, p1b), cert(Notarize, p1), verified(p1b)},
			"",
		},
		{
			"certificate_conflicts_proposal: nor against its view",
			[]Event{Resumed{}, from(other, p1b), cert(Notarize, p1), Verified{View: 1, Payload: p1b.Payload}},
			"",
		},
		{
			"certificate_conflicts_proposal: the block that won gets our finalize",
			[]Event{Resumed{}, from(other, p1b), cert(Notarize, p1), verified(p1b), certified(p1)},
			"keep verdict 1:1 true; keep finalize 1:1; send finalize 1:1; " + enter(2),
		},
		{
			"late_notarization_after_nullification_still_certifies",
			[]Event{Resumed{}, null(1), cert(Notarize, p1)},
			"keep cert notarize 1:1; send cert notarize 1:1; certify 1:1",
		},
		{
			"pending_certification_nullifies_on_timeout",
			[]Event{Resumed{}, from(other, p1), verified(p1), cert(Notarize, p1), timer(1, TimerCertification)},
			"keep nullify 1; send nullify 1; arm retry 1",
		},
	}
	play(t, leader, leading)
	play(t, follower, following)
	t.Run("older_floor_ignored_for_newer_journal", func(t *testing.T) {
		m := follower() // its floor is genesis
		for _, e := range []Event{kept(Finalize, p1), kept(Notarize, p2), verdictOn(p2, true), own(Nullify, prop(4, 0, 0)), Resumed{}} {
			m.Step(e)
		}
		if m.View() != 4 {
			t.Errorf("resumes in view %d, though the journal says 4", m.View())
		}
	})
}

func TestBatcher(t *testing.T) {
	t.Run("conflicting_votes_dont_produce_invalid_certificate", func(t *testing.T) {
		tally, j := NewTally(3, allViews), new(judged)
		for who, p := range []Proposal{p1, p1, p1b, p1b} {
			tally.Add(ballotOf(beacon.Participant(who), Notarize, p))
		}
		if _, added := tally.Add(ballotOf(2, Notarize, p1)); added != Contradicted {
			t.Error("a second word of one validator passes")
		}
		if _, ok, bad, err := counted(tally, 1, Notarize, j.judge); ok || len(bad) > 0 || err != nil {
			t.Errorf("votes for two blocks: certificate %v, bad %v, %v", ok, bad, err)
		}
		tally.Add(ballotOf(4, Notarize, p1))
		c, ok, _, _ := counted(tally, 1, Notarize, j.judge)
		if !ok || c.Proposal != p1 {
			t.Errorf("three votes for one block: %v of %v", ok, c.Proposal)
		}
	})
	t.Run("votes_skipped_for_finalized_views", func(t *testing.T) {
		tally, j := NewTally(3, allViews), new(judged)
		tally.Advance(5)
		for who := range beacon.Participant(4) {
			tally.Add(ballotOf(who, Finalize, p1))
		}
		if _, ok, _, _ := counted(tally, 1, Finalize, j.judge); ok || len(tally.ballots) != 0 {
			t.Errorf("a view below the floor: certificate %v, %d ballots kept", ok, len(tally.ballots))
		}
	})
	t.Run("notarization_restores_filtered_finalizes", func(t *testing.T) {
		tally, j := NewTally(3, allViews), new(judged)
		tally.Add(ballotOf(0, Notarize, p1b)) // the leader showed us this one
		for who := beacon.Participant(1); who < 4; who++ {
			tally.Add(ballotOf(who, Finalize, p1))
		}
		tally.Close(cert(Notarize, p1).Certificate)
		if c, ok, _, _ := counted(tally, 1, Finalize, j.judge); !ok || c.Proposal != p1 {
			t.Error("finalize votes for the notarized block are lost")
		}
	})
	t.Run("leader_inactivity_reported_after_quorum_activity", func(t *testing.T) {
		for who, want := range map[string]bool{"a quorum": true, "fewer": false} {
			heard := []beacon.Participant{2, 3}
			if !want {
				heard = heard[:1]
			}
			m, skips := skipper(), false
			for _, e := range through(2, heard...) {
				for _, effect := range m.Step(e) {
					arm, ok := effect.(ArmTimer)
					skips = skips || ok && arm.Timer == TimerSkip
				}
			}
			if skips != want {
				t.Errorf("%s was heard, the leader was not: its view is given up %v, want %v", who, skips, want)
			}
		}
	})
	t.Run("nullify_finalize_conflicts_reported", func(t *testing.T) {
		tally := NewTally(3, allViews)
		tally.Add(ballotOf(2, Nullify, Proposal{Round: p1.Round}))
		c, added := tally.Add(ballotOf(2, Finalize, p1))
		if added != Contradicted || c.First.Kind != Nullify || c.Second.Kind != Finalize {
			t.Errorf("added %v: %v and %v", added, c.First.Kind, c.Second.Kind)
		}
	})
}
